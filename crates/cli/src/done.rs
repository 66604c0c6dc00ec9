//! What was done with an archive, for people and for programs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Map, Value, json};

pub(crate) struct Done {
    file: String,
    mode: &'static str,
    begun: Instant,
    /// Lines that were asked for by naming the subcommand.
    pub(crate) lines: Vec<String>,
    /// What was made.
    pub(crate) output: Option<PathBuf>,
    /// Bytes of content worked on; 0 where a rate would mean nothing.
    pub(crate) bytes: u64,
    /// What the line of `-v` says between the name and the rate.
    pub(crate) words: Option<String>,
    /// Whether `--json` has said everything already.
    pub(crate) silent: bool,
    more: Map<String, Value>,
}

impl Done {
    /// `mode` is the word on the command line. The clock runs from here.
    pub(crate) fn new(file: &Path, mode: &'static str) -> Done {
        Done {
            file: file.display().to_string(),
            mode,
            begun: Instant::now(),
            lines: Vec::new(),
            output: None,
            bytes: 0,
            words: None,
            silent: false,
            more: Map::new(),
        }
    }

    /// The file that is worked on.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.more.insert(key.into(), value.into());
    }

    /// The line of `-v`.
    pub(crate) fn summary(&self) -> Option<String> {
        let words = self.words.as_ref()?;
        let rate = match self.bytes {
            0 => String::new(),
            n => format!(", {:.0} MB/s", n as f64 / 1e6 / self.begun.elapsed().as_secs_f64().max(1e-9)),
        };
        let target = self.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
        Some(format!("{}: {words}{rate}{target}", self.file))
    }

    /// The object of `--json`.
    pub(crate) fn record(&self) -> Option<Value> {
        if self.silent {
            return None;
        }
        let mut value = json!({
            "file": self.file,
            "status": "ok",
            "mode": self.mode,
            "seconds": self.begun.elapsed().as_secs_f64(),
        });
        if let Some(output) = &self.output {
            value["output"] = json!(output.display().to_string());
        }
        self.more.iter().for_each(|(key, more)| value[key] = more.clone());
        Some(value)
    }
}

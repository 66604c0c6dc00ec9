//! The summary of a processed file: its line of `-v` and its object of `--json`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value, json};

pub(crate) struct RunSummary {
    file: String,
    mode: &'static str,
    begun: Instant,
    /// The subcommand's regular output, printed without `--json`.
    pub(crate) lines: Vec<String>,
    /// The file written.
    pub(crate) output: Option<PathBuf>,
    /// Content bytes processed; 0 omits the rate.
    pub(crate) bytes: u64,
    /// The part of the `-v` line between the name and the rate.
    pub(crate) text: Option<String>,
    /// Suppresses the object, where `--json` has printed everything already.
    pub(crate) silent: bool,
    more: Map<String, Value>,
}

impl RunSummary {
    /// Starts the clock. `mode` is the subcommand's name.
    pub(crate) fn new(file: &Path, mode: &'static str) -> RunSummary {
        RunSummary {
            file: file.display().to_string(),
            mode,
            begun: Instant::now(),
            lines: Vec::new(),
            output: None,
            bytes: 0,
            text: None,
            silent: false,
            more: Map::new(),
        }
    }

    /// The file processed.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Serialize) {
        self.more.insert(key.into(), json!(value));
    }

    /// Adds all fields of a struct.
    pub(crate) fn extend(&mut self, fields: impl Serialize) {
        if let Value::Object(fields) = json!(fields) {
            self.more.extend(fields);
        }
    }

    /// The line of `-v`.
    pub(crate) fn line(&self) -> Option<String> {
        let text = self.text.as_ref()?;
        let rate = match self.bytes {
            0 => String::new(),
            n => format!(", {:.0} MB/s", n as f64 / 1e6 / self.begun.elapsed().as_secs_f64().max(1e-9)),
        };
        let target = self.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
        Some(format!("{}: {text}{rate}{target}", self.file))
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

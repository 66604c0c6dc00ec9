//! The summary of a processed file: its line of `-v` and its object of `--json`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Map, Value, json};

/// What a subcommand did with a file, for the messages about it.
pub(crate) struct RunSummary {
    file: String,
    mode: &'static str,
    begun: Instant,
    /// Time that the work took. `None` until [`stop`](Self::stop) is called.
    took: Option<Duration>,
    /// The subcommand's regular output, printed only without `--json`.
    pub(crate) lines: Vec<String>,
    /// The file or folder written.
    pub(crate) output: Option<PathBuf>,
    /// Bytes of content processed, for the rate. With 0, no rate is printed.
    pub(crate) bytes: u64,
    /// The part of the line of `-v` between the name and the rate. With `None` there is no line.
    pub(crate) text: Option<String>,
    /// Whether there is no object of `--json`, because the subcommand has printed everything
    /// already.
    pub(crate) silent: bool,
    /// Further keys of the object of `--json`.
    more: Map<String, Value>,
}

impl RunSummary {
    /// Makes a summary of the work on `file`, which begins now. `mode` is the subcommand's name.
    pub(crate) fn new(file: &Path, mode: &'static str) -> RunSummary {
        RunSummary {
            file: file.display().to_string(),
            mode,
            begun: Instant::now(),
            took: None,
            lines: Vec::new(),
            output: None,
            bytes: 0,
            text: None,
            silent: false,
            more: Map::new(),
        }
    }

    /// The name of the file processed.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Ends the measured time, which otherwise ends when the summary is printed.
    pub(crate) fn stop(&mut self) {
        self.took = Some(self.begun.elapsed());
    }

    /// The time that the work took, or has taken so far, in seconds.
    fn seconds(&self) -> f64 {
        self.took.unwrap_or_else(|| self.begun.elapsed()).as_secs_f64()
    }

    /// Sets a key of the object of `--json`.
    pub(crate) fn set(&mut self, key: &str, value: impl Serialize) {
        self.more.insert(key.into(), json!(value));
    }

    /// Adds all fields of a struct to the object of `--json`.
    pub(crate) fn extend(&mut self, fields: impl Serialize) {
        if let Value::Object(fields) = json!(fields) {
            self.more.extend(fields);
        }
    }

    /// The line of `-v`: the file, [`text`](Self::text), the rate, and the file written. Returns
    /// `None` without a text.
    pub(crate) fn line(&self) -> Option<String> {
        let text = self.text.as_ref()?;
        let rate = match self.bytes {
            0 => String::new(),
            n => format!(", {:.0} MB/s", n as f64 / 1e6 / self.seconds().max(1e-9)),
        };
        let target = self.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
        Some(format!("{}: {text}{rate}{target}", self.file))
    }

    /// The object of `--json`. Returns `None` if the summary is [`silent`](Self::silent).
    pub(crate) fn record(&self) -> Option<Value> {
        if self.silent {
            return None;
        }
        let mut value = json!({
            "file": self.file,
            "status": "ok",
            "mode": self.mode,
            "seconds": self.seconds(),
        });
        if let Some(output) = &self.output {
            value["output"] = json!(output.display().to_string());
        }
        self.more.iter().for_each(|(key, more)| value[key] = more.clone());
        Some(value)
    }
}

//! Summary of an operand: its regular output, the line of `-v` and the object of `--json`.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::operand::Operand;

/// The subcommands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Encode,
    Decode,
    Info,
    Tune,
    Verify,
}

impl Mode {
    /// The word on the command line.
    fn name(self) -> &'static str {
        match self {
            Mode::Encode => "encode",
            Mode::Decode => "decode",
            Mode::Info => "info",
            Mode::Tune => "tune",
            Mode::Verify => "verify",
        }
    }

    fn makes_output(self) -> bool {
        matches!(self, Mode::Encode | Mode::Decode)
    }
}

/// A processed file.
pub(super) struct FileSummary {
    name: String,
    mode: Mode,
    begun: Instant,
    /// The subcommand's regular output.
    pub(super) lines: Vec<String>,
    /// Parameters that the user has to keep.
    pub(super) note: Option<String>,
    pub(super) output: Option<PathBuf>,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    /// More of what `--json` prints.
    pub(super) more: Map<String, Value>,
    seconds: f64,
}

impl FileSummary {
    pub(super) fn new(operand: &Operand, mode: Mode) -> FileSummary {
        FileSummary {
            name: operand.name(),
            mode,
            begun: Instant::now(),
            lines: Vec::new(),
            note: None,
            output: None,
            bytes_in: 0,
            bytes_out: 0,
            more: Map::new(),
            seconds: 0.0,
        }
    }

    /// Stops the clock.
    pub(super) fn end(mut self) -> FileSummary {
        self.seconds = self.begun.elapsed().as_secs_f64();
        self
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.more.insert(key.into(), value.into());
    }

    /// Adds all entries of an object.
    pub(super) fn extend(&mut self, object: Value) {
        if let Value::Object(entries) = object {
            self.more.extend(entries);
        }
    }

    /// A line about the file made, or about the operand if none was.
    pub(super) fn named(&self, what: &str) -> String {
        let output = self.output.as_ref().map(|path| path.display().to_string());
        format!("{}: {what}", output.as_ref().unwrap_or(&self.name))
    }

    /// The line of `-v`, if there is more to say than was asked for.
    pub(super) fn line(&self) -> Option<String> {
        let FileSummary { name, bytes_in, bytes_out, .. } = self;
        match self.mode {
            Mode::Encode | Mode::Decode => {}
            Mode::Verify => return Some(format!("{name}: OK")),
            Mode::Info | Mode::Tune => return None,
        }
        let raw = *bytes_in.max(bytes_out);
        let percent = 100.0 * *bytes_in.min(bytes_out) as f64 / raw.max(1) as f64;
        let rate = raw as f64 / 1e6 / self.seconds.max(1e-9);
        let target = self.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
        Some(format!("{name}: {bytes_in} -> {bytes_out} bytes ({percent:.1}%), {rate:.0} MB/s{target}"))
    }

    /// The object of `--json`.
    pub(super) fn record(&self) -> Value {
        let mut value = json!({
            "file": self.name,
            "status": "ok",
            "mode": self.mode.name(),
            "bytes_in": self.bytes_in,
            "seconds": self.seconds,
        });
        if self.mode.makes_output() {
            value["output"] = json!(self.output.as_ref().map(|path| path.display().to_string()));
            value["bytes_out"] = json!(self.bytes_out);
        }
        self.more.iter().for_each(|(key, more)| value[key] = more.clone());
        value
    }
}

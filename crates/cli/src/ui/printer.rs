//! Prints messages: errors, warnings, regular output, lines of `-v` and objects of `--json`.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::sys::closed;
use crate::ui::error::CliError;
use crate::ui::signals;
use crate::ui::verbosity::VerbosityArgs;

/// Prints messages to the stream that their kind and the options ask for.
pub(crate) struct Printer {
    /// Whether warnings and notes are suppressed, as by `-q`.
    pub(crate) quiet: bool,
    /// Whether a line is printed for each file processed, as by `-v`.
    pub(crate) verbose: bool,
    /// Whether JSON objects are printed instead of regular output, as by `--json`.
    pub(crate) json: bool,
    /// Whether standard output carries data, so that lines and JSON objects go to standard error.
    pub(crate) stdout_is_data: bool,
}

impl Printer {
    /// Makes a printer with the options of the command line. `stdout_is_data` says that standard
    /// output carries data.
    pub(crate) fn new(verbosity: &VerbosityArgs, stdout_is_data: bool) -> Printer {
        let VerbosityArgs { verbose, quiet, json } = *verbosity;
        Printer { quiet, verbose, json, stdout_is_data }
    }

    /// Prints a line of regular output, on standard error if standard output carries data. With
    /// `--json`, does nothing.
    pub(crate) fn line(&self, line: impl Display) {
        match (self.json, self.stdout_is_data) {
            (true, _) => {}
            (false, true) => to_stderr(line),
            (false, false) => to_stdout(line),
        }
    }

    /// Prints the line of an error of a file, without its JSON object. The line about a skipped
    /// file is a warning, which `-q` suppresses.
    pub(crate) fn error(&self, file: &str, error: &CliError) {
        if !(self.quiet && matches!(error, CliError::Skipped(_))) {
            to_stderr(short(format!("linerate: {file}: {error}")));
        }
    }

    /// Prints an error of a file: a line as of [`error`](Self::error), and with `--json` an object.
    pub(crate) fn failed(&self, file: &str, error: &CliError) {
        self.error(file, error);
        self.record(&failure(file, error, json!({})));
    }

    /// Prints a warning or note about a file, unless `-q` is given.
    pub(crate) fn warning(&self, file: &str, message: &dyn Display) {
        if !self.quiet {
            to_stderr(short(format!("linerate: {file}: {message}")));
        }
    }

    /// Prints the line about a file that was processed, if `-v` is given.
    pub(crate) fn done(&self, line: impl Display) {
        if self.verbose {
            to_stderr(line);
        }
    }

    /// Prints a JSON object on one line, on standard error if standard output carries data. Without
    /// `--json`, does nothing.
    pub(crate) fn record(&self, value: &Value) {
        match (self.json, self.stdout_is_data) {
            (false, _) => {}
            (true, true) => to_stderr(value),
            (true, false) => to_stdout(value),
        }
    }
}

/// The JSON object of an error of a file, with the keys of the object `more`.
pub(crate) fn failure(file: &str, error: &CliError, more: Value) -> Value {
    let mut value = more;
    value["file"] = json!(file);
    value["status"] = json!(if matches!(error, CliError::Skipped(_)) { "skipped" } else { "failed" });
    value["kind"] = json!(error.kind());
    value["error"] = json!(error.to_string());
    value["offset"] = json!(error.offset());
    value
}

/// Cuts the middle out of a line of more than 8 KiB, since a name in an archive may have millions
/// of bytes. Keeps 2 KiB from each end.
fn short(line: String) -> String {
    const KEPT: usize = 2048;
    if line.len() <= 4 * KEPT {
        return line;
    }
    let boundary = |from: usize| (from..).find(|&at| line.is_char_boundary(at)).unwrap_or(line.len());
    format!("{} ... {}", &line[..boundary(KEPT)], &line[boundary(line.len() - KEPT)..])
}

/// Whether a line of regular output could not be written.
static STDOUT_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether [`to_stdout`] has failed, which makes the exit status 1.
pub(crate) fn stdout_failed() -> bool {
    STDOUT_FAILED.load(Ordering::Relaxed)
}

/// Prints a line of regular output. A closed pipe ends the program. Of other errors the first is
/// printed, and all make the exit status 1.
pub(crate) fn to_stdout(line: impl Display) {
    let written = closed::check_stdout().and_then(|()| writeln!(io::stdout(), "{}", one_line(&line)));
    match written.map_err(CliError::stdout_write) {
        Ok(()) => {}
        Err(CliError::ClosedPipe) => signals::exit_by_sigpipe(),
        Err(_) if STDOUT_FAILED.swap(true, Ordering::Relaxed) => {}
        Err(error) => to_stderr(format_args!("linerate: {error}")),
    }
}

/// Prints a line to standard error. Errors are ignored, since they cannot be reported anywhere
/// else.
pub(crate) fn to_stderr(line: impl Display) {
    let _ = writeln!(io::stderr(), "{}", one_line(&line));
}

/// Replaces control characters by question marks, since a file's name may contain line ends and
/// terminal escapes.
pub(crate) fn one_line(line: &impl Display) -> String {
    line.to_string().replace(char::is_control, "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_lose_their_middle() {
        assert_eq!(short("line".into()), "line");
        let long = format!("front{}back", "é".repeat(1_000_000));
        let short = short(long);
        assert!(short.starts_with("fronté") && short.ends_with("éback") && short.len() < 5000);
    }
}

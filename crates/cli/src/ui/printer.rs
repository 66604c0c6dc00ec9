//! Prints messages: errors, warnings, `-v` lines and `--json` objects.

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
    /// Suppress warnings.
    pub(crate) quiet: bool,
    /// Print a line for each file processed.
    pub(crate) verbose: bool,
    /// Print a JSON object for each file.
    pub(crate) json: bool,
    /// Standard output carries data, so JSON goes to standard error.
    pub(crate) stdout_is_data: bool,
}

impl Printer {
    /// A printer with the options of the command line.
    pub(crate) fn new(verbosity: &VerbosityArgs, stdout_is_data: bool) -> Printer {
        let VerbosityArgs { verbose, quiet, json } = *verbosity;
        Printer { quiet, verbose, json, stdout_is_data }
    }

    /// Prints a line of regular output, on standard error if standard output carries data.
    pub(crate) fn line(&self, line: impl Display) {
        match (self.json, self.stdout_is_data) {
            (true, _) => {}
            (false, true) => to_stderr(line),
            (false, false) => to_stdout(line),
        }
    }

    /// Prints the line of an error, without its JSON object.
    pub(crate) fn error(&self, file: &str, error: &CliError) {
        if !(self.quiet && matches!(error, CliError::Skipped(_))) {
            to_stderr(short(format!("linerate: {file}: {error}")));
        }
    }

    /// Prints an error: a line, and a JSON object.
    pub(crate) fn failed(&self, file: &str, error: &CliError) {
        self.error(file, error);
        self.record(&failure(file, error, json!({})));
    }

    pub(crate) fn warning(&self, file: &str, message: &dyn Display) {
        if !self.quiet {
            to_stderr(short(format!("linerate: {file}: {message}")));
        }
    }

    pub(crate) fn done(&self, line: impl Display) {
        if self.verbose {
            to_stderr(line);
        }
    }

    /// Prints one JSON object on one line.
    pub(crate) fn record(&self, value: &Value) {
        match (self.json, self.stdout_is_data) {
            (false, _) => {}
            (true, true) => to_stderr(value),
            (true, false) => to_stdout(value),
        }
    }
}

/// The JSON object of an error, with the keys of `more`.
pub(crate) fn failure(file: &str, error: &CliError, more: Value) -> Value {
    let mut value = more;
    value["file"] = json!(file);
    value["status"] = json!(if matches!(error, CliError::Skipped(_)) { "skipped" } else { "failed" });
    value["kind"] = json!(error.kind());
    value["error"] = json!(error.to_string());
    value["offset"] = json!(error.offset());
    value
}

/// Cuts the middle out of a very long line, since a name in an archive may have millions of bytes.
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

/// Prints a line of regular output. A closed pipe ends the program; the first other error is
/// printed.
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

/// Replaces control characters, since a file's name may contain line ends and terminal escapes.
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

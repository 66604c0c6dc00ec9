//! Lines for people and for programs: errors, warnings, and what was done.

use std::fmt::Display;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::signals;

/// How much to say, and where.
pub(crate) struct Reporter {
    /// No warnings.
    pub(crate) quiet: bool,
    /// A line for each file that was done.
    pub(crate) verbose: bool,
    /// A JSON object for each file.
    pub(crate) json: bool,
    /// Standard output carries data, so JSON goes to standard error.
    pub(crate) stdout_is_data: bool,
}

impl Reporter {
    /// The line of a failure, without an object.
    pub(crate) fn complain(&self, file: &str, failure: &Failure) {
        if !(self.quiet && matches!(failure, Failure::Skipped(_))) {
            to_stderr(short(format!("linerate: {file}: {failure}")));
        }
    }

    /// A file that was not done: a line, and an object.
    pub(crate) fn failed(&self, file: &str, failure: &Failure) {
        self.failed_with(file, failure, &[]);
    }

    /// As [`failed`](Self::failed), with more in the object.
    pub(crate) fn failed_with(&self, file: &str, failure: &Failure, more: &[(&str, Value)]) {
        self.complain(file, failure);
        let mut value = json!({
            "file": file,
            "status": if matches!(failure, Failure::Skipped(_)) { "skipped" } else { "failed" },
            "kind": failure.kind(),
            "error": failure.to_string(),
            "at": failure.at(),
        });
        more.iter().for_each(|(key, more)| value[*key] = more.clone());
        self.record(&value);
    }

    pub(crate) fn warning(&self, file: &str, what: &dyn Display) {
        if !self.quiet {
            to_stderr(short(format!("linerate: {file}: {what}")));
        }
    }

    pub(crate) fn done(&self, line: impl Display) {
        if self.verbose {
            to_stderr(line);
        }
    }

    /// One JSON object on one line.
    pub(crate) fn record(&self, value: &Value) {
        match (self.json, self.stdout_is_data) {
            (false, _) => {}
            (true, true) => to_stderr(value),
            (true, false) => to_stdout(value),
        }
    }
}

/// Without the middle of a line that nobody would read: a name in an archive may have millions of bytes.
fn short(line: String) -> String {
    const KEPT: usize = 2048;
    if line.len() <= 4 * KEPT {
        return line;
    }
    let boundary = |from: usize| (from..).find(|&at| line.is_char_boundary(at)).unwrap_or(line.len());
    format!("{} ... {}", &line[..boundary(KEPT)], &line[boundary(line.len() - KEPT)..])
}

/// A line that was asked for. Ends the program if nobody reads it.
pub(crate) fn to_stdout(line: impl Display) {
    match writeln!(io::stdout(), "{}", one_line(&line)).map_err(Failure::writing_stdout) {
        Ok(()) => {}
        Err(Failure::ClosedPipe) => signals::die_of_closed_pipe(),
        Err(failure) => to_stderr(format_args!("linerate: {failure}")),
    }
}

/// A line to standard error. If that is closed there is nobody left to tell.
pub(crate) fn to_stderr(line: impl Display) {
    let _ = writeln!(io::stderr(), "{}", one_line(&line));
}

/// A file's name may hold line ends and terminal commands. Neither belongs into a line of ours.
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

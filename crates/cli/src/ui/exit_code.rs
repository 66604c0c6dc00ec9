//! The exit statuses that all subcommands share.

use std::process::ExitCode;

use crate::ui::error::CliError;
use linerate_core::Kind;

/// The table of exit statuses in the help and the manual.
pub(crate) const HELP: &str = "\
Exit status:
  0  everything was done
  1  reading or writing failed, a request was refused, or several statuses apply
  2  the command line was wrong
  3  an input is damaged or not in a known format
  4  a limit of the command line or the reader was exceeded, or memory ran out
  5  done, with warnings: a file was skipped, or trailing garbage was ignored

A closed pipe on standard output ends the program by SIGPIPE (141 in a shell). After Ctrl-C or another
signal the program removes incomplete files, then ends by that signal (130 in a shell). A second signal
ends it at once.";

/// Exit status of a wrong command line; clap uses the same one.
pub(crate) const USAGE: u8 = 2;

/// Exit status of errors of the system, of refusals, and of errors of different statuses.
const FAILED: u8 = 1;
/// Exit status of an input that is damaged or not in a known format.
const DAMAGED: u8 = 3;
/// Exit status of a limit that was exceeded.
const LIMIT: u8 = 4;
/// Exit status of warnings without errors.
const WARNED: u8 = 5;

/// The exit status of a single error.
fn status(error: &CliError) -> u8 {
    match error {
        CliError::Skipped(_) => WARNED,
        CliError::Data { kind: Kind::Limit, .. } => LIMIT,
        CliError::Data { .. } => DAMAGED,
        CliError::Refused(_) | CliError::Read { .. } | CliError::Io { .. } | CliError::ClosedPipe => FAILED,
    }
}

/// Combines the results of several files into one exit status: the status of their errors if that
/// is the same for all, 1 for errors of different statuses, 5 for warnings without errors, else 0.
#[derive(Default)]
pub(crate) struct ExitStatus {
    /// The exit status of the errors so far, without skipped files; `None` if there are none.
    failed: Option<u8>,
    warned: bool,
}

impl ExitStatus {
    pub(crate) fn warn(&mut self) {
        self.warned = true;
    }

    pub(crate) fn fail(&mut self, error: &CliError) {
        match (status(error), self.failed) {
            (WARNED, _) => self.warned = true,
            (status, None) => self.failed = Some(status),
            (status, Some(before)) if status == before => {}
            _ => self.failed = Some(FAILED),
        }
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.failed.unwrap_or(if self.warned { WARNED } else { 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_of(errors: &[CliError]) -> Option<u8> {
        let mut exit_status = ExitStatus::default();
        errors.iter().for_each(|f| exit_status.fail(f));
        exit_status.failed
    }

    #[test]
    fn equal_statuses_are_kept_and_different_ones_become_failed() {
        let damaged = || CliError::data(Kind::Corrupt, 0, "x");
        let limit = || CliError::data(Kind::Limit, 0, "x");
        let skipped = || CliError::Skipped("x".into());
        assert_eq!(status_of(&[]), None);
        assert_eq!(status_of(&[skipped()]), None);
        assert_eq!(status_of(&[damaged(), skipped(), damaged()]), Some(DAMAGED));
        assert_eq!(status_of(&[limit()]), Some(LIMIT));
        assert_eq!(status_of(&[damaged(), limit()]), Some(FAILED));
    }
}

//! Exit statuses, the same for every subcommand.

use std::process::ExitCode;

use crate::failure::Failure;
use linerate_core::Kind;

/// What the help and the manual say about them.
pub(crate) const HELP: &str = "\
Exit status:
  0  everything was done
  1  a file could not be read or written, or files failed for different reasons
  2  the command line was wrong
  3  an input is damaged or not in a known format
  4  a limit set on the command line was exceeded
  5  done, with warnings: a file was skipped, or trailing garbage was ignored

A closed pipe on standard output ends the program by SIGPIPE (141 in a shell). A signal such as Ctrl-C ends
it by that signal (130 in a shell), once files that were begun have been removed; a second one does at once.";

/// The command line was wrong; clap uses the same.
pub(crate) const USAGE: u8 = 2;

const FAILED: u8 = 1;
const DAMAGED: u8 = 3;
const LIMIT: u8 = 4;
const WARNED: u8 = 5;

fn status(failure: &Failure) -> u8 {
    match failure {
        Failure::Skipped(_) => WARNED,
        Failure::Data { kind: Kind::Limit, .. } => LIMIT,
        Failure::Data { .. } => DAMAGED,
        Failure::Refused(_) | Failure::Read { .. } | Failure::Other { .. } | Failure::ClosedPipe => FAILED,
    }
}

/// Gathers what became of several files into one status.
#[derive(Default)]
pub(crate) struct Tally {
    failed: Option<u8>,
    warned: bool,
}

impl Tally {
    pub(crate) fn warn(&mut self) {
        self.warned = true;
    }

    pub(crate) fn fail(&mut self, failure: &Failure) {
        match (status(failure), self.failed) {
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

    fn status_of(failures: &[Failure]) -> Option<u8> {
        let mut tally = Tally::default();
        failures.iter().for_each(|f| tally.fail(f));
        tally.failed
    }

    #[test]
    fn one_reason_keeps_its_status_and_several_become_one() {
        let damaged = || Failure::data(Kind::Corrupt, 0, "x");
        let limit = || Failure::data(Kind::Limit, 0, "x");
        let skipped = || Failure::Skipped("x".into());
        assert_eq!(status_of(&[]), None);
        assert_eq!(status_of(&[skipped()]), None);
        assert_eq!(status_of(&[damaged(), skipped(), damaged()]), Some(DAMAGED));
        assert_eq!(status_of(&[limit()]), Some(LIMIT));
        assert_eq!(status_of(&[damaged(), limit()]), Some(FAILED));
    }
}

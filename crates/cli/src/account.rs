//! What became of archives and of their entries: said line by line, counted for the exit status.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::done::Done;
use crate::exit::Tally;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::{Reporter, to_stdout};
use crate::say::SayArgs;
use crate::signals;

pub(crate) struct Account {
    reporter: Reporter,
    tally: Tally,
}

impl Account {
    /// With `stdout_is_data`, what is said goes to standard error.
    pub(crate) fn new(say: &SayArgs, stdout_is_data: bool) -> Account {
        let reporter = Reporter { quiet: say.quiet, verbose: say.verbose, json: say.json, stdout_is_data };
        Account { reporter, tally: Tally::default() }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.reporter.json
    }

    /// Works on one archive after another.
    pub(crate) fn each(
        mut self,
        archives: &[PathBuf],
        mut work: impl FnMut(&Path, &mut Account) -> Result<Done, Failure>,
    ) -> ExitCode {
        for archive in archives {
            let outcome = work(archive, &mut self);
            self.archive_is(archive, outcome);
        }
        self.tally.code()
    }

    /// Works on one archive.
    pub(crate) fn one(
        mut self,
        archive: &Path,
        work: impl FnOnce(&mut Account) -> Result<Done, Failure>,
    ) -> ExitCode {
        let outcome = work(&mut self);
        self.archive_is(archive, outcome);
        self.tally.code()
    }

    fn archive_is(&mut self, archive: &Path, outcome: Result<Done, Failure>) {
        match outcome {
            Ok(done) => self.done(&done),
            Err(failure) => self.failed(&archive.display().to_string(), failure),
        }
    }

    /// Something of a file that was not done. A closed pipe ends the program.
    pub(crate) fn failed(&mut self, file: &str, failure: Failure) {
        self.failed_with(file, failure, &[]);
    }

    /// As [`failed`](Self::failed), with more to tell programs.
    pub(crate) fn failed_with(&mut self, file: &str, failure: Failure, more: &[(&str, Value)]) {
        if matches!(failure, Failure::ClosedPipe) {
            signals::die_of_closed_pipe();
        }
        self.tally.fail(&failure);
        self.reporter.failed_with(file, &failure, more);
    }

    fn done(&self, done: &Done) {
        if !self.reporter.json {
            done.lines.iter().for_each(to_stdout);
        }
        if let Some(summary) = done.summary() {
            self.reporter.done(summary);
        }
        if let Some(record) = done.record() {
            self.reporter.record(&record);
        }
    }

    /// An entry that was not done, while others may be. A closed pipe ends the program.
    pub(crate) fn entry_failed(&mut self, archive: &str, entry: &str, failure: Failure) {
        if matches!(failure, Failure::ClosedPipe) {
            signals::die_of_closed_pipe();
        }
        let (kind, at) = (failure.kind(), failure.at());
        let words = failure.to_string();
        self.tally.fail(&failure);
        self.reporter.complain(archive, &failure.within(entry));
        self.reporter.record(&json!({
            "file": archive,
            "entry": entry,
            "status": "failed",
            "kind": kind,
            "error": words,
            "at": at,
        }));
    }

    /// Something worth knowing that is no failure.
    pub(crate) fn note(&self, archive: &str, what: &str) {
        self.reporter.warning(archive, &what);
    }

    /// The exit status of a warning, of what was noted already.
    pub(crate) fn warned(&mut self) {
        self.tally.warn();
    }

    /// As [`note`](Self::note), with the exit status of a warning.
    pub(crate) fn warn(&mut self, archive: &str, what: &str) {
        self.warned();
        self.note(archive, what);
    }

    /// A JSON object, if those are wanted.
    pub(crate) fn record(&self, value: &Value) {
        self.reporter.record(value);
    }

    /// A bar for people, of so many bytes.
    pub(crate) fn progress(&self, name: &str, total: Option<u64>) -> Progress {
        Progress::new(!self.reporter.quiet && !self.reporter.json, name, total)
    }
}

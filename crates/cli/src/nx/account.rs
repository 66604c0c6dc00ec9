//! What became of archives and of their entries: said line by line, counted for the exit status.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use super::args::SayArgs;
use super::done::Done;
use crate::exit::Tally;
use crate::failure::Failure;
use crate::report::{Reporter, to_stdout};
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
            Err(Failure::ClosedPipe) => signals::die_of_closed_pipe(),
            Err(failure) => {
                self.tally.fail(&failure);
                self.reporter.failed(&archive.display().to_string(), &failure);
            }
        }
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

    /// A JSON object, if those are wanted.
    pub(crate) fn record(&self, value: &Value) {
        self.reporter.record(value);
    }
}

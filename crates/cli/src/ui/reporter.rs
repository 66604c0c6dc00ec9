//! Reports the result of each file and entry, and combines the results into the exit status.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::ui::error::CliError;
use crate::ui::exit_code::ExitStatus;
use crate::ui::printer::Printer;
use crate::ui::progress::{Activity, Progress};
use crate::ui::signals;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;

pub(crate) struct Reporter {
    printer: Printer,
    exit_status: ExitStatus,
}

impl Reporter {
    /// With `stdout_is_data`, lines and JSON go to standard error.
    pub(crate) fn new(verbosity: &VerbosityArgs, stdout_is_data: bool) -> Reporter {
        Reporter { printer: Printer::new(verbosity, stdout_is_data), exit_status: ExitStatus::default() }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.printer.json
    }

    /// Processes files in order.
    pub(crate) fn each(
        mut self,
        files: &[PathBuf],
        mut work: impl FnMut(&Path, &mut Reporter) -> Result<RunSummary, CliError>,
    ) -> ExitCode {
        for file in files {
            let result = work(file, &mut self);
            self.report(file, result);
        }
        self.exit_status.code()
    }

    /// Processes one file.
    pub(crate) fn one(
        mut self,
        file: &Path,
        work: impl FnOnce(&mut Reporter) -> Result<RunSummary, CliError>,
    ) -> ExitCode {
        let result = work(&mut self);
        self.report(file, result);
        self.exit_status.code()
    }

    fn report(&mut self, file: &Path, result: Result<RunSummary, CliError>) {
        match result {
            Ok(summary) => self.done(&summary),
            Err(error) => self.failed(&file.display().to_string(), error),
        }
    }

    /// Reports an error of a file. A closed pipe ends the program.
    pub(crate) fn failed(&mut self, file: &str, error: CliError) {
        self.failed_with(file, error, &[]);
    }

    /// As [`failed`](Self::failed), with more keys for `--json`.
    pub(crate) fn failed_with(&mut self, file: &str, error: CliError, more: &[(&str, Value)]) {
        if matches!(error, CliError::ClosedPipe) {
            signals::exit_by_sigpipe();
        }
        self.exit_status.fail(&error);
        self.printer.failed_with(file, &error, more);
    }

    fn done(&self, summary: &RunSummary) {
        summary.lines.iter().for_each(|line| self.printer.line(line));
        if let Some(line) = summary.line() {
            self.printer.done(line);
        }
        if let Some(record) = summary.record() {
            self.printer.record(&record);
        }
    }

    /// Reports an error of one entry of an archive. A closed pipe ends the program.
    pub(crate) fn entry_failed(&mut self, archive: &str, entry: &str, error: CliError) {
        if matches!(error, CliError::ClosedPipe) {
            signals::exit_by_sigpipe();
        }
        let (kind, offset, message) = (error.kind(), error.offset(), error.to_string());
        self.exit_status.fail(&error);
        self.printer.error(archive, &error.in_file(entry));
        self.printer.record(&json!({
            "file": archive,
            "entry": entry,
            "status": "failed",
            "kind": kind,
            "error": message,
            "offset": offset,
        }));
    }

    /// Prints a note; the exit status stays as it is.
    pub(crate) fn note(&self, file: &str, message: &str) {
        self.printer.warning(file, &message);
    }

    /// Sets the exit status of a warning that has been printed.
    pub(crate) fn warned(&mut self) {
        self.exit_status.warn();
    }

    /// As [`note`](Self::note), with the exit status of a warning.
    pub(crate) fn warn(&mut self, file: &str, message: &str) {
        self.warned();
        self.note(file, message);
    }

    /// Prints a JSON object if `--json` is given.
    pub(crate) fn record(&self, value: &Value) {
        self.printer.record(value);
    }

    /// A line that says what is being done.
    pub(crate) fn activity(&self, name: &str) -> Activity {
        Activity::new(!self.printer.quiet && !self.printer.json, name)
    }

    /// A progress bar of `total` bytes, or without an end.
    pub(crate) fn progress(&self, name: &str, total: Option<u64>) -> Progress {
        Progress::new(!self.printer.quiet && !self.printer.json, name, total)
    }
}

//! Reports the result of each file, and errors of entries in a file, and combines the results into
//! the exit status.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::ui::error::CliError;
use crate::ui::exit_code::ExitStatus;
use crate::ui::printer::{Printer, failure};
use crate::ui::progress::{Activity, Label, Progress, SharedProgress, Show, Watch};
use crate::ui::signals;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;

/// Prints the results of a subcommand and remembers the exit status.
pub(crate) struct Reporter {
    printer: Printer,
    exit_status: ExitStatus,
    /// Warnings about the file being processed, for its JSON object.
    warnings: Vec<String>,
}

impl Reporter {
    /// Makes a reporter. With `stdout_is_data`, its lines and JSON objects go to standard error,
    /// since standard output carries data.
    pub(crate) fn new(verbosity: &VerbosityArgs, stdout_is_data: bool) -> Reporter {
        Reporter {
            printer: Printer::new(verbosity, stdout_is_data),
            exit_status: ExitStatus::default(),
            warnings: Vec::new(),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.printer.json
    }

    /// Processes files in order, also after an error, and reports the result of each. Returns the
    /// exit status.
    pub(crate) fn each(
        mut self,
        files: &[PathBuf],
        mut work: impl FnMut(&Path, &mut Reporter) -> Result<RunSummary, CliError>,
    ) -> ExitCode {
        for file in files {
            let result = work(file, &mut self);
            self.report(&file.display().to_string(), result);
        }
        self.code()
    }

    /// Processes one file and reports the result. Returns the exit status.
    pub(crate) fn one(
        mut self,
        file: &Path,
        work: impl FnOnce(&mut Reporter) -> Result<RunSummary, CliError>,
    ) -> ExitCode {
        let result = work(&mut self);
        self.report(&file.display().to_string(), result);
        self.code()
    }

    /// Reports the result of a file, and forgets its warnings.
    pub(crate) fn report(&mut self, file: &str, result: Result<RunSummary, CliError>) {
        match result {
            Ok(summary) => self.done(&summary),
            Err(error) => self.failed(file, error),
        }
        self.warnings.clear();
    }

    /// The exit status of all results reported so far.
    pub(crate) fn code(&self) -> ExitCode {
        self.exit_status.code()
    }

    /// Reports an error of a file. A closed pipe ends the program.
    pub(crate) fn failed(&mut self, file: &str, error: CliError) {
        self.failed_with(file, error, json!({}));
    }

    /// As [`failed`](Self::failed), but the error's JSON object also gets the keys of the object
    /// `more`.
    pub(crate) fn failed_with(&mut self, file: &str, error: CliError, more: Value) {
        self.fail(&error);
        self.printer.error(file, &error);
        self.printer.record(&failure(file, &error, more));
    }

    /// Records an error for the exit status. A closed pipe ends the program.
    fn fail(&mut self, error: &CliError) {
        if matches!(error, CliError::ClosedPipe) {
            signals::exit_by_sigpipe();
        }
        self.exit_status.fail(error);
    }

    /// Prints the summary of a file that was processed: its lines, its line of `-v` and its object
    /// of `--json`.
    fn done(&self, summary: &RunSummary) {
        summary.lines.iter().for_each(|line| self.printer.line(line));
        if let Some(line) = summary.line() {
            self.printer.done(line);
        }
        if let Some(mut record) = summary.record() {
            if !self.warnings.is_empty() {
                record["status"] = json!("warning");
                record["warnings"] = json!(self.warnings);
            }
            self.printer.record(&record);
        }
    }

    /// Reports an error of the file at `path` in an archive or folder. A closed pipe ends the
    /// program.
    pub(crate) fn entry_failed(&mut self, archive: &str, path: &str, error: CliError) {
        self.part_failed(archive, ("path", path), error);
    }

    /// Reports an error of one key of a block file. A closed pipe ends the program.
    pub(crate) fn key_failed(&mut self, file: &str, key: &str, error: CliError) {
        self.part_failed(file, ("key", key), error);
    }

    /// Reports an error of an entry of `archive`. The error's JSON object has the entry under the
    /// key `name`.
    fn part_failed(&mut self, archive: &str, (name, entry): (&str, &str), error: CliError) {
        self.fail(&error);
        let object = failure(archive, &error, json!({ name: entry }));
        self.printer.error(archive, &error.in_file(entry));
        self.printer.record(&object);
    }

    /// Prints a note about a file, unless `-q` is given. A note does not change the exit status.
    pub(crate) fn note(&self, file: &str, message: &str) {
        self.printer.warning(file, &message);
    }

    /// Records for the exit status that there is a warning, without printing one.
    pub(crate) fn warned(&mut self) {
        self.exit_status.warn();
    }

    /// Prints a warning, unless `-q` is given, and records it for the exit status and for the
    /// file's JSON object.
    pub(crate) fn warn(&mut self, file: &str, message: &str) {
        self.warned();
        self.note(file, message);
        self.warnings.push(message.to_owned());
    }

    /// Prints a JSON object if `--json` is given.
    pub(crate) fn record(&self, value: &Value) {
        self.printer.record(value);
    }

    /// Makes a line, or JSON objects, that show the current step of the work on `name`, once the
    /// work has lasted a second.
    pub(crate) fn activity(&self, name: &str) -> Activity {
        Activity::new(self.show(), name)
    }

    /// Makes a line on a terminal that a thread keeps up to date by the text that `tell` returns,
    /// for work that is not measured in bytes.
    pub(crate) fn watch(&self, name: &str, tell: impl Fn() -> String + Send + 'static) -> Watch {
        Watch::new(self.show(), name, tell)
    }

    /// Makes the progress of a file or archive. `total` is the number of bytes to process, if it is
    /// known.
    pub(crate) fn progress(&self, file: &str, total: Option<u64>) -> Progress {
        Progress::new(self.show(), Label::File(file.into()), total)
    }

    /// Makes the progress of a file that many threads add to. `total` is the number of bytes to
    /// process, if it is known.
    pub(crate) fn shared_progress(&self, file: &Path, total: Option<u64>) -> SharedProgress {
        SharedProgress::new(self.progress(&file.display().to_string(), total))
    }

    /// Makes the progress of a step such as `reading`. `total` is the number of bytes to process,
    /// if it is known.
    pub(crate) fn step(&self, name: &'static str, total: Option<u64>) -> Progress {
        Progress::new(self.show(), Label::Step(name), total)
    }

    /// How progress is shown, by `-q`, `--json` and standard error.
    fn show(&self) -> Show {
        Show::of(self.printer.quiet, self.printer.json)
    }
}

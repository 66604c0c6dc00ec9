//! A run over several operands, as `gzip` and `zstd` do it: each is processed, its output committed, its result printed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::ui::error::CliError;
use crate::ui::exit_code::ExitStatus;
use crate::ui::output::{self, Output};
use crate::ui::output_file::{self, Work};
use crate::ui::printer::Printer;
use crate::ui::signals;

/// An input.
pub(crate) enum Operand {
    Stdin,
    /// Given on the command line.
    Named(PathBuf),
    /// Found below a folder.
    Found(PathBuf),
}

impl Operand {
    /// The operand of an argument; `-` is standard input.
    pub(crate) fn from_argument(path: &Path) -> Operand {
        if is_stdin(path) { Operand::Stdin } else { Operand::Named(path.to_owned()) }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Operand::Stdin => "stdin".into(),
            Operand::Named(path) | Operand::Found(path) => path.display().to_string(),
        }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Operand::Stdin => None,
            Operand::Named(path) | Operand::Found(path) => Some(path),
        }
    }
}

/// Whether an argument is standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Result of an operand; `totals` are those of the subcommand.
pub(crate) struct FileSummary<T> {
    pub(crate) name: String,
    /// The file written, if any.
    pub(crate) output: Option<PathBuf>,
    pub(crate) seconds: f64,
    pub(crate) warnings: Vec<String>,
    pub(crate) totals: T,
}

impl<T> FileSummary<T> {
    pub(crate) fn new(operand: &Operand, totals: T) -> Self {
        FileSummary { name: operand.name(), output: None, seconds: 0.0, warnings: Vec::new(), totals }
    }

    /// The value of `status` in JSON.
    pub(crate) fn status(&self) -> &'static str {
        if self.warnings.is_empty() { "ok" } else { "warning" }
    }
}

/// A run over several operands, and its results.
pub(crate) struct Session {
    pub(crate) printer: Printer,
    exit_status: ExitStatus,
}

impl Session {
    pub(crate) fn new(printer: Printer) -> Self {
        Session { printer, exit_status: ExitStatus::default() }
    }

    /// Processes operands on so many threads. Calls `done` with each result, in the order of the operands, after its
    /// warnings have been printed.
    pub(crate) fn process<O: Send, T: Send>(
        &mut self,
        threads: usize,
        operands: impl Iterator<Item = O>,
        work: impl Fn(O) -> Work<FileSummary<T>> + Sync,
        mut done: impl FnMut(&Printer, &FileSummary<T>),
    ) {
        output_file::each(threads, operands, work, |name, result| match result {
            Ok(Some((mut summary, committed))) => {
                summary.output = committed.output;
                summary.warnings.extend(committed.warning);
                for warning in &summary.warnings {
                    self.exit_status.warn();
                    self.printer.warning(&summary.name, warning);
                }
                done(&self.printer, &summary);
            }
            Ok(None) => {}
            Err(CliError::ClosedPipe) => signals::exit_by_sigpipe(),
            Err(error) => self.failed(&name, &error),
        });
    }

    pub(crate) fn failed(&mut self, name: &str, error: &CliError) {
        self.exit_status.fail(error);
        self.printer.failed(name, error);
    }

    pub(crate) fn code(&self) -> ExitCode {
        self.exit_status.code()
    }
}

/// Opens the output of an operand: standard output, or the file at `path`.
pub(crate) fn open_output(to_stdout: bool, path: Option<&Path>, force: bool) -> Result<Output, CliError> {
    if to_stdout {
        return output::stdout().map(Output::Stdout).map_err(CliError::stdout_write);
    }
    match path {
        Some(path) => Output::at(path, force),
        None => Err(CliError::Refused("there is no name for the output".into())),
    }
}

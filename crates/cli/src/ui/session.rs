//! The run of `gzip`, `zstd` and `rice` over their operands: processes several at the same time,
//! commits their outputs and prints their results in order.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard};

use linerate_core::lock;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::ui::error::CliError;
use crate::ui::exit_code::ExitStatus;
use crate::ui::operands::{Arguments, Operand};
use crate::ui::output::{self, Output};
use crate::ui::output_file::{self, Committed, Work};
use crate::ui::printer::Printer;
use crate::ui::signals;

/// The operation on the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    Compress,
    Decompress,
    Test,
    List,
    /// Decompress, and write an index instead of the content. Only `gzip` has this operation.
    Index,
}

impl Mode {
    /// Whether the operation writes compressed or decompressed data for each operand, by default to
    /// a file.
    pub(crate) fn makes_files(self) -> bool {
        matches!(self, Mode::Compress | Mode::Decompress)
    }
}

/// What was done with an operand, for the messages about it, with the totals `T` of the subcommand.
#[derive(Serialize)]
pub(crate) struct FileSummary<T> {
    #[serde(rename = "file")]
    pub(crate) name: String,
    /// The file written, if any.
    #[serde(serialize_with = "displayed")]
    pub(crate) output: Option<PathBuf>,
    pub(crate) seconds: f64,
    pub(crate) warnings: Vec<String>,
    #[serde(flatten)]
    pub(crate) totals: T,
}

/// Serializes a path as messages show it, even if it is not UTF-8.
fn displayed<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.display().to_string()).serialize(serializer)
}

impl<T> FileSummary<T> {
    /// Makes the summary of an operand, without output and warnings, and with a time of 0.
    pub(crate) fn new(operand: &Operand, totals: T) -> Self {
        FileSummary { name: operand.name(), output: None, seconds: 0.0, warnings: Vec::new(), totals }
    }

    /// The line of `-v`. `bytes` is the text about the bytes read and written; `content` is the
    /// number of bytes of content, for the speed.
    pub(crate) fn line(&self, bytes: &str, content: u64) -> String {
        let rate = content as f64 / 1e6 / self.seconds.max(1e-9);
        let target = self.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
        format!("{}: {bytes}, {rate:.0} MB/s{target}", self.name)
    }
}

impl<T: Serialize> FileSummary<T> {
    /// The object of `--json`.
    pub(crate) fn record(&self, mode: Mode) -> Value {
        let mut value = json!(self);
        value["mode"] = json!(mode);
        value["status"] = json!(if self.warnings.is_empty() { "ok" } else { "warning" });
        value
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

    /// Processes operands as [`process_each`] does. Errors are reported; other results are passed
    /// to `done`, in the order of the operands, after their warnings are printed.
    pub(crate) fn process<T: Send>(
        &mut self,
        threads: impl Fn() -> usize,
        arguments: &Arguments<'_>,
        work: impl Fn(&Operand, bool) -> Work<FileSummary<T>> + Sync,
        mut done: impl FnMut(&Printer, &FileSummary<T>),
    ) {
        process_each(threads, self.printer.stdout_is_data, arguments, work, |name, result| match result {
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

    /// Prints an error of an operand, and records it for the exit status.
    pub(crate) fn failed(&mut self, name: &str, error: &CliError) {
        self.exit_status.fail(error);
        self.printer.failed(name, error);
    }

    /// The exit status of all results so far.
    pub(crate) fn code(&self) -> ExitCode {
        self.exit_status.code()
    }
}

/// Processes operands on several threads, or on one if `stdout_is_data`, and commits their outputs.
/// `threads` tells the number of threads, and is called only if a group may have several operands.
/// The second argument of `work` is whether no other operand is processed at the same time.
/// `report` is called on this thread with each name and result, in the order of the operands.
pub(crate) fn process_each<D: Send>(
    threads: impl Fn() -> usize,
    stdout_is_data: bool,
    arguments: &Arguments<'_>,
    work: impl Fn(&Operand, bool) -> Work<D> + Sync,
    mut report: impl FnMut(String, Result<Option<(D, Committed)>, CliError>),
) {
    for operands in arguments.groups() {
        let is_one = operands.size_hint().1 == Some(1);
        if !is_one {
            keep_freed_memory();
        }
        // One thread writes to standard output, in the order of the operands.
        let threads = if is_one || stdout_is_data { 1 } else { threads() };
        let work = |operand| match operand {
            Ok(operand) => work(&operand, threads == 1),
            Err((name, error)) => Work { name, result: Err(error) },
        };
        output_file::each(threads, operands, work, &mut report);
    }
}

/// Makes glibc keep up to twice [`FREED`] bytes of freed memory per thread for the next file. By
/// default it returns the buffers of a file to the system, and gets new pages for those of the next
/// one, which takes as long as compressing a small file. glibc raises its limits when a block of
/// this size is freed (mallopt(3), M_MMAP_THRESHOLD). Other allocators are not changed.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(FREED)));
}

/// Size of a block that is larger than the buffers for a file of [`SMALL`] bytes.
const FREED: usize = 4 << 20;

/// Largest file, in bytes, that is processed at the same time as others: a larger one uses all
/// threads, and waits for its turn.
const SMALL: u64 = 1 << 20;

/// Waits until no other large file is processed, since a large one uses all threads, and keeps
/// later ones waiting until the returned guard is dropped. Returns `None` at once for a file of up
/// to [`SMALL`] bytes, and for one that is processed `alone`. `bytes` is the size of the file.
pub(crate) fn wait_for_turn(alone: bool, bytes: u64) -> Option<MutexGuard<'static, ()>> {
    static LARGE: Mutex<()> = Mutex::new(());
    (!alone && bytes > SMALL).then(|| lock(&LARGE))
}

/// Opens the output of an operand: standard output, or the file at `path`, which replaces an
/// existing file only with `force`.
pub(crate) fn open_output(to_stdout: bool, path: Option<&Path>, force: bool) -> Result<Output, CliError> {
    if to_stdout {
        return output::stdout().map(Output::Stdout);
    }
    match path {
        Some(path) => Output::at(path, force),
        None => Err(CliError::Refused("the output has no name; -o names it".into())),
    }
}

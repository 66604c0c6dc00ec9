//! `linerate gzip`: compresses and decompresses files and streams with the deflate engine.

mod args;
mod bgzf;
mod decode;
mod file;
mod header;
mod names;
mod walk;

use std::collections::HashSet;
use std::io::{IsTerminal, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

pub(crate) use self::args::Args;
use self::args::Mode;
use self::file::{FileSummary, Operand};
use crate::ui::error::CliError;
use crate::ui::exit_code::{self, ExitStatus};
use crate::ui::output_file::{self, Work};
use crate::ui::printer::{Printer, to_stderr, to_stdout};
use crate::ui::signals;

pub(crate) fn run(args: &Args) -> ExitCode {
    if let Err(message) = check_usage(args) {
        to_stderr(format_args!("linerate: {message}"));
        return ExitCode::from(exit_code::USAGE);
    }
    let no_files = args.files.is_empty();
    let stdout_is_data = args.writes_stdout(no_files || args.files.iter().any(|f| is_stdin(f)));
    let printer = Printer::new(&args.verbosity, stdout_is_data);
    let mut session = Session { args, printer, exit_status: ExitStatus::default(), listed: false };
    for group in groups(args) {
        match group {
            Group::Files(operands) => session.process(operands.into_iter().map(Ok)),
            Group::Folder(path) => session.process(walk::files_below(path).map(|found| match found {
                Ok(file) => Ok(Operand::Found(file)),
                Err((folder, error)) => Err((folder.display().to_string(), error)),
            })),
        }
    }
    session.exit_status.code()
}

/// Operands that can be processed in parallel, since none is the output of another.
enum Group<'a> {
    Files(Vec<Operand>),
    /// All files below a folder.
    Folder(&'a Path),
}

fn groups(args: &Args) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    for path in &args.files {
        let is_folder = args.recursive && !is_stdin(path) && path.is_dir();
        // A file that is named twice is processed twice, the second time as the first has left it.
        if is_folder || !seen.insert(path) {
            groups.push(Group::Files(std::mem::take(&mut files)));
            seen = HashSet::from([path]);
        }
        if is_folder {
            groups.push(Group::Folder(path));
        } else {
            files.push(if is_stdin(path) { Operand::Stdin } else { Operand::Named(path.clone()) });
        }
    }
    if args.files.is_empty() {
        files.push(Operand::Stdin);
    }
    groups.push(Group::Files(files));
    groups
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Checks that clap cannot express.
fn check_usage(args: &Args) -> Result<(), &'static str> {
    let reads_stdin = args.files.is_empty() || args.files.iter().any(|f| is_stdin(f));
    if args.output.is_some() && args.files.len() > 1 {
        return Err("-o takes a single input file");
    }
    match args.mode() {
        _ if args.force => Ok(()),
        Mode::Compress if args.writes_stdout(reads_stdin) && stdout().is_terminal() => {
            Err("compressed data is not written to a terminal; -f does it, -h shows help")
        }
        Mode::Decompress | Mode::Test | Mode::List if reads_stdin && stdin().is_terminal() => {
            Err("compressed data is not read from a terminal; -f does it, -h shows help")
        }
        _ => Ok(()),
    }
}

/// A run over several files, and its results.
struct Session<'a> {
    args: &'a Args,
    printer: Printer,
    exit_status: ExitStatus,
    /// Whether the header of the list has been printed.
    listed: bool,
}

impl Session<'_> {
    /// Processes operands in parallel. One may be an error of finding it.
    fn process(&mut self, operands: impl Iterator<Item = Result<Operand, (String, CliError)>>) {
        let args = self.args;
        let is_one = operands.size_hint().1 == Some(1);
        // Standard output is written in the order of the operands, by one thread.
        let threads = if is_one || self.printer.stdout_is_data { 1 } else { args.threads.threads };
        let process = |operand| match operand {
            Ok(operand) => file::work(args, &operand, threads == 1),
            Err((name, error)) => Work { name, result: Err(error) },
        };
        output_file::each(threads, operands, process, |name, result| match result {
            Ok(Some((mut summary, committed))) => {
                summary.output = committed.output;
                summary.warnings.extend(committed.warning);
                self.done(&summary);
            }
            Ok(None) => {}
            Err(CliError::ClosedPipe) => signals::exit_by_sigpipe(),
            Err(error) => self.failed(&name, &error),
        });
    }

    fn failed(&mut self, name: &str, error: &CliError) {
        self.exit_status.fail(error);
        self.printer.failed(name, error);
    }

    fn done(&mut self, summary: &FileSummary) {
        for warning in &summary.warnings {
            self.exit_status.warn();
            self.printer.warning(&summary.name, warning);
        }
        match self.args.mode() {
            Mode::List if !self.args.verbosity.json => self.list(summary),
            Mode::List => {}
            Mode::Test => self.printer.done(format_args!("{}: OK", summary.name)),
            Mode::Compress | Mode::Decompress => self.printer.done(verbose_line(summary)),
        }
        self.printer.record(&record(self.args, summary));
    }

    fn list(&mut self, summary: &FileSummary) {
        if !self.listed && !self.args.verbosity.quiet {
            to_stdout(format_args!("{:>15} {:>15} {:>7}  name", "compressed", "uncompressed", "ratio"));
        }
        self.listed = true;
        let (small, large) = (summary.bytes_in, summary.bytes_out);
        let ratio = large as f64 / small.max(1) as f64;
        to_stdout(format_args!("{small:>15} {large:>15} {ratio:>7.3}  {}", summary.name));
    }
}

/// The line of `-v`.
fn verbose_line(summary: &FileSummary) -> String {
    let percent = 100.0 * summary.bytes_out as f64 / summary.bytes_in.max(1) as f64;
    let rate = summary.bytes_in as f64 / 1e6 / summary.seconds.max(1e-9);
    let target = summary.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
    format!(
        "{}: {} -> {} bytes ({percent:.1}%), {rate:.0} MB/s{target}",
        summary.name, summary.bytes_in, summary.bytes_out
    )
}

/// The object of `--json`.
fn record(args: &Args, summary: &FileSummary) -> Value {
    let mode = match args.mode() {
        Mode::Compress => "compress",
        Mode::Decompress => "decompress",
        Mode::Test => "test",
        Mode::List => "list",
    };
    let mut value = json!({
        "file": summary.name,
        "status": if summary.warnings.is_empty() { "ok" } else { "warning" },
        "mode": mode,
        "format": summary.format,
        "output": summary.output.as_ref().map(|path| path.display().to_string()),
        "bytes_in": summary.bytes_in,
        "bytes_out": summary.bytes_out,
        "seconds": summary.seconds,
        "warnings": summary.warnings,
    });
    if args.mode() == Mode::Compress {
        value["level"] = json!(args.level.0 as u8);
        value["threads"] = json!(args.threads.threads);
        if summary.format != "bgzf" {
            value["block"] = json!(args.block);
            value["history"] = json!(args.history);
        }
    }
    value
}

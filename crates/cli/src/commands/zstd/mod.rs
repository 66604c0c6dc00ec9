//! `linerate zstd`: decompresses, checks and lists zstd files and streams.

mod args;
mod decode;
mod file;
mod list;
mod names;

use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::process::ExitCode;

use linerate_zstd::Dictionary;
use serde_json::{Value, json};

pub(crate) use self::args::Args;
use self::args::Mode;
use self::file::{FileSummary, Operand};
use crate::ui::error::CliError;
use crate::ui::exit_code::{self, ExitStatus};
use crate::ui::output_file;
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
    let mut session =
        Session { args, dictionary: None, printer, exit_status: ExitStatus::default(), listed: false };
    if let Err((name, error)) = session.load_dictionary() {
        session.failed(&name, &error);
        return session.exit_status.code();
    }
    let stdin = no_files.then_some(Operand::Stdin);
    let named = args.files.iter().map(|path| match is_stdin(path) {
        true => Operand::Stdin,
        false => Operand::Named(path.clone()),
    });
    session.process(stdin.into_iter().chain(named));
    session.exit_status.code()
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
    if !args.force && reads_stdin && stdin().is_terminal() {
        return Err("compressed data is not read from a terminal; -f does it, -h shows help");
    }
    Ok(())
}

/// A run over several files, and its results.
struct Session<'a> {
    args: &'a Args,
    dictionary: Option<Dictionary<'static>>,
    printer: Printer,
    exit_status: ExitStatus,
    /// Whether the header of the list has been printed.
    listed: bool,
}

impl Session<'_> {
    fn load_dictionary(&mut self) -> Result<(), (String, CliError)> {
        let Some(path) = &self.args.dictionary else { return Ok(()) };
        let load = || {
            let bytes = std::fs::read(path).map_err(CliError::io("cannot open"))?;
            Dictionary::new(&bytes).map_err(|e| CliError::data(e.kind, e.offset, e.message))
        };
        self.dictionary = Some(load().map_err(|error| (path.display().to_string(), error))?);
        Ok(())
    }

    fn process(&mut self, operands: impl Iterator<Item = Operand>) {
        let (args, dictionary) = (self.args, self.dictionary.take());
        let process = |operand| file::work(args, dictionary.as_ref(), &operand);
        output_file::each(1, operands, process, |name, result| match result {
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
            Mode::Decompress => self.printer.done(verbose_line(summary)),
        }
        self.printer.record(&record(self.args, summary));
    }

    fn list(&mut self, summary: &FileSummary) {
        if !self.listed && !self.args.verbosity.quiet {
            to_stdout(format_args!(
                "{:>7} {:>7} {:>15} {:>15} {:>7} {:>6}  name",
                "frames", "skipped", "compressed", "uncompressed", "ratio", "check"
            ));
        }
        self.listed = true;
        let small = summary.totals.bytes_in;
        let (large, ratio) = match summary.totals.bytes_out {
            Some(large) => (large.to_string(), format!("{:.3}", large as f64 / small.max(1) as f64)),
            None => ("-".into(), "-".into()),
        };
        let check = if summary.totals.checked { "XXH64" } else { "none" };
        let (frames, skipped) = (summary.totals.frames, summary.totals.skipped);
        to_stdout(format_args!(
            "{frames:>7} {skipped:>7} {small:>15} {large:>15} {ratio:>7} {check:>6}  {}",
            summary.name
        ));
    }
}

/// The line of `-v`.
fn verbose_line(summary: &FileSummary) -> String {
    let large = summary.totals.bytes_out.unwrap_or(0);
    let rate = large as f64 / 1e6 / summary.seconds.max(1e-9);
    let target = summary.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
    format!("{}: {} -> {large} bytes, {rate:.0} MB/s{target}", summary.name, summary.totals.bytes_in)
}

/// The object of `--json`.
fn record(args: &Args, summary: &FileSummary) -> Value {
    json!({
        "file": summary.name,
        "status": if summary.warnings.is_empty() { "ok" } else { "warning" },
        "mode": args.mode().name(),
        "format": "zstd",
        "output": summary.output.as_ref().map(|path| path.display().to_string()),
        "frames": summary.totals.frames,
        "skippable_frames": summary.totals.skipped,
        "checksum": summary.totals.checked,
        "window": summary.totals.window,
        "bytes_in": summary.totals.bytes_in,
        "bytes_out": summary.totals.bytes_out,
        "seconds": summary.seconds,
        "warnings": summary.warnings,
    })
}

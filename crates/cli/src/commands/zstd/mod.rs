//! `linerate zstd`: decompresses, checks and lists zstd files and streams.

mod args;
mod decode;
mod file;
mod list;
mod names;

use std::io::{IsTerminal, stdin};
use std::process::ExitCode;

use linerate_zstd::Dictionary;
use serde_json::{Value, json};

pub(crate) use self::args::Args;
use self::args::Mode;
use self::list::Totals;
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::printer::{Printer, to_stderr, to_stdout};
use crate::ui::session::{FileSummary, Operand, Session, is_stdin};

pub(crate) fn run(args: &Args) -> ExitCode {
    if let Err(message) = check_usage(args) {
        to_stderr(format_args!("linerate: {message}"));
        return ExitCode::from(exit_code::USAGE);
    }
    let no_files = args.files.is_empty();
    let stdout_is_data = args.writes_stdout(no_files || args.files.iter().any(|f| is_stdin(f)));
    let printer = Printer::new(&args.verbosity, stdout_is_data);
    let mut session = Session::new(printer);
    let dictionary = match load_dictionary(args) {
        Ok(dictionary) => dictionary,
        Err((name, error)) => {
            session.failed(&name, &error);
            return session.code();
        }
    };
    let stdin = no_files.then_some(Operand::Stdin);
    let operands = stdin.into_iter().chain(args.files.iter().map(|path| Operand::from_argument(path)));
    let work = |operand| file::work(args, dictionary.as_ref(), &operand);
    let mut listed = false;
    session.process(1, operands, work, |printer, summary| done(args, printer, &mut listed, summary));
    session.code()
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

/// The dictionary of `-D`, or the name of its file and why it cannot be used.
fn load_dictionary(args: &Args) -> Result<Option<Dictionary<'static>>, (String, CliError)> {
    let Some(path) = &args.dictionary else { return Ok(None) };
    let load = || {
        let bytes = std::fs::read(path).map_err(CliError::io("cannot open"))?;
        Dictionary::new(&bytes).map_err(|e| CliError::data(e.kind, e.offset, e.message))
    };
    load().map(Some).map_err(|error| (path.display().to_string(), error))
}

fn done(args: &Args, printer: &Printer, listed: &mut bool, summary: &FileSummary<Totals>) {
    match args.mode() {
        Mode::List if !args.verbosity.json => list(args, listed, summary),
        Mode::List => {}
        Mode::Test => printer.done(format_args!("{}: OK", summary.name)),
        Mode::Decompress => printer.done(verbose_line(summary)),
    }
    printer.record(&record(args, summary));
}

/// Prints the row of a file; before the first one the header, if `listed` is false.
fn list(args: &Args, listed: &mut bool, summary: &FileSummary<Totals>) {
    if !*listed && !args.verbosity.quiet {
        to_stdout(format_args!(
            "{:>7} {:>7} {:>15} {:>15} {:>7} {:>6}  name",
            "frames", "skipped", "compressed", "uncompressed", "ratio", "check"
        ));
    }
    *listed = true;
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

/// The line of `-v`.
fn verbose_line(summary: &FileSummary<Totals>) -> String {
    let large = summary.totals.bytes_out.unwrap_or(0);
    let rate = large as f64 / 1e6 / summary.seconds.max(1e-9);
    let target = summary.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
    format!("{}: {} -> {large} bytes, {rate:.0} MB/s{target}", summary.name, summary.totals.bytes_in)
}

/// The object of `--json`.
fn record(args: &Args, summary: &FileSummary<Totals>) -> Value {
    json!({
        "file": summary.name,
        "status": summary.status(),
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

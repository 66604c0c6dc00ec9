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
use self::file::Totals;
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::output_file::Work;
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
    let mut listed = false;
    for group in groups(args) {
        match group {
            Group::Files(operands) => process(args, &mut session, &mut listed, operands.into_iter().map(Ok)),
            Group::Folder(path) => {
                let found = walk::files_below(path).map(|found| match found {
                    Ok(file) => Ok(Operand::Found(file)),
                    Err((folder, error)) => Err((folder.display().to_string(), error)),
                });
                process(args, &mut session, &mut listed, found);
            }
        }
    }
    session.code()
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
            files.push(Operand::from_argument(path));
        }
    }
    if args.files.is_empty() {
        files.push(Operand::Stdin);
    }
    groups.push(Group::Files(files));
    groups
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

/// Processes operands in parallel. One may be an error of finding it. `listed` is whether the header of the list has been
/// printed.
fn process(
    args: &Args,
    session: &mut Session,
    listed: &mut bool,
    operands: impl Iterator<Item = Result<Operand, (String, CliError)>>,
) {
    let is_one = operands.size_hint().1 == Some(1);
    // Standard output is written in the order of the operands, by one thread.
    let threads = if is_one || session.printer.stdout_is_data { 1 } else { args.threads.threads };
    let work = |operand| match operand {
        Ok(operand) => file::work(args, &operand, threads == 1),
        Err((name, error)) => Work { name, result: Err(error) },
    };
    session.process(threads, operands, work, |printer, summary| done(args, printer, listed, summary));
}

fn done(args: &Args, printer: &Printer, listed: &mut bool, summary: &FileSummary<Totals>) {
    match args.mode() {
        Mode::List if !args.verbosity.json => list(args, listed, summary),
        Mode::List => {}
        Mode::Test => printer.done(format_args!("{}: OK", summary.name)),
        Mode::Compress | Mode::Decompress => printer.done(verbose_line(summary)),
    }
    printer.record(&record(args, summary));
}

fn list(args: &Args, listed: &mut bool, summary: &FileSummary<Totals>) {
    if !*listed && !args.verbosity.quiet {
        to_stdout(format_args!("{:>15} {:>15} {:>7}  name", "compressed", "uncompressed", "ratio"));
    }
    *listed = true;
    let (small, large) = (summary.totals.bytes_in, summary.totals.bytes_out);
    let ratio = large as f64 / small.max(1) as f64;
    to_stdout(format_args!("{small:>15} {large:>15} {ratio:>7.3}  {}", summary.name));
}

/// The line of `-v`.
fn verbose_line(summary: &FileSummary<Totals>) -> String {
    let percent = 100.0 * summary.totals.bytes_out as f64 / summary.totals.bytes_in.max(1) as f64;
    let rate = summary.totals.bytes_in as f64 / 1e6 / summary.seconds.max(1e-9);
    let target = summary.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
    format!(
        "{}: {} -> {} bytes ({percent:.1}%), {rate:.0} MB/s{target}",
        summary.name, summary.totals.bytes_in, summary.totals.bytes_out
    )
}

/// The object of `--json`.
fn record(args: &Args, summary: &FileSummary<Totals>) -> Value {
    let mode = match args.mode() {
        Mode::Compress => "compress",
        Mode::Decompress => "decompress",
        Mode::Test => "test",
        Mode::List => "list",
    };
    let mut value = json!({
        "file": summary.name,
        "status": summary.status(),
        "mode": mode,
        "format": summary.totals.format,
        "output": summary.output.as_ref().map(|path| path.display().to_string()),
        "bytes_in": summary.totals.bytes_in,
        "bytes_out": summary.totals.bytes_out,
        "seconds": summary.seconds,
        "warnings": summary.warnings,
    });
    if args.mode() == Mode::Compress {
        value["level"] = json!(args.level.0 as u8);
        value["threads"] = json!(args.threads.threads);
        if summary.totals.format != "bgzf" {
            value["block"] = json!(args.block);
            value["history"] = json!(args.history);
        }
    }
    value
}

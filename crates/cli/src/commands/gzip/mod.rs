//! `linerate gzip`: compresses files and streams with `linerate-deflate`, and decompresses them
//! with `linerate-inflate`.

mod args;
mod bgzf;
mod container;
mod decode;
mod endpoints;
mod file;
mod header;
mod index;
mod names;
mod range;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

pub(crate) use self::args::Args;
use self::file::Totals;
use crate::ui::exit_code;
use crate::ui::inputs;
use crate::ui::operands::{self, Arguments};
use crate::ui::printer::{Printer, to_stderr, to_stdout};
use crate::ui::session::{FileSummary, Mode, Session};

pub(crate) fn run(args: &Args) -> ExitCode {
    if let Err(message) = check_usage(args) {
        to_stderr(format_args!("linerate: {message}"));
        return ExitCode::from(exit_code::USAGE);
    }
    // Outputs are opened before the index is read, and must not replace it.
    if let Some(path) = &args.index_file {
        inputs::keep(path);
    }
    let stdout_is_data = args.writes_stdout(operands::read_stdin(&args.files));
    let mut session = Session::new(Printer::new(&args.verbosity, stdout_is_data));
    let mut listed = false;
    let without_suffix = |path: &Path| names::without_suffix(path, args.suffix.as_deref());
    session.process(
        || args.threads.count(),
        &Arguments { files: &args.files, recursive: args.recursive, without_suffix: &without_suffix },
        |operand, alone| file::work(args, operand, alone),
        |printer, summary| done(args, printer, &mut listed, summary),
    );
    session.code()
}

/// Checks what clap cannot express about the command line. The error is a message about its use.
fn check_usage(args: &Args) -> Result<(), &'static str> {
    let reads_stdin = operands::read_stdin(&args.files);
    if args.output.is_some() && args.files.len() > 1 {
        return Err("-o takes a single input file");
    }
    if args.range.is_some()
        && args.output.is_none()
        && !args.stdout
        && args.files.iter().any(|path| !operands::is_stdin(path))
    {
        return Err("--range needs -c or -o FILE");
    }
    if args.index_file.is_some() && (args.mode() == Mode::Compress || args.files.len() != 1) {
        return Err("--index-file is for decompressing a single file");
    }
    if args.force {
        return Ok(());
    }
    let compresses = matches!(args.mode(), Mode::Compress | Mode::Index);
    let reads_compressed = args.mode() != Mode::Compress;
    operands::refuse_terminal(reads_compressed && reads_stdin, compresses && args.writes_stdout(reads_stdin))
}

fn done(args: &Args, printer: &Printer, listed: &mut bool, summary: &FileSummary<Totals>) {
    match args.mode() {
        Mode::List if !args.verbosity.json => list(args, listed, summary),
        Mode::List => {}
        Mode::Test => printer.done(format_args!("{}: OK", summary.name)),
        mode @ (Mode::Compress | Mode::Decompress | Mode::Index) => printer.done(verbose_line(mode, summary)),
    }
    if printer.json {
        printer.record(&record(args, summary));
    }
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

/// The line that `-v` prints about an operand: the bytes read and written, and the speed by
/// content.
fn verbose_line(mode: Mode, summary: &FileSummary<Totals>) -> String {
    let Totals { bytes_in, bytes_out, .. } = summary.totals;
    let percent = 100.0 * bytes_out as f64 / bytes_in.max(1) as f64;
    let content = if mode == Mode::Compress { bytes_in } else { bytes_out };
    summary.line(&format!("{bytes_in} -> {bytes_out} bytes ({percent:.1}%)"), content)
}

/// The object that `--json` prints about an operand.
fn record(args: &Args, summary: &FileSummary<Totals>) -> Value {
    let mut value = summary.record(args.mode());
    if args.mode() == Mode::Compress {
        value["level"] = json!(args.level.0 as u8);
        value["threads"] = json!(args.threads.count());
        if summary.totals.format != "bgzf" {
            value["block"] = json!(args.block);
            value["history"] = json!(args.uses_history());
        }
        value["rsyncable"] = json!(args.rsyncable);
    }
    value
}

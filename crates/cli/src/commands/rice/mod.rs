//! `linerate rice`: encode and decode arrays of waveforms.

mod args;
mod chunk_reader;
mod chunk_writer;
mod decode;
mod dtype;
mod encode;
mod info;
mod input;
mod names;
mod npy;
mod operand;
mod parameters;
mod piece;
mod reader;
mod shape;
mod stream_reader;
mod stream_writer;
mod summary;
mod tune;
mod verify;

use std::io::{IsTerminal, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use linerate_rice::Filter;
use linerate_rice::v2::MAX_SEGMENT;

pub(crate) use self::args::Args;
use self::args::{DecodeArgs, EncodeArgs, RiceCommand, Segment, TargetArgs, VerifyArgs};
use self::dtype::Dtype;
use self::operand::Operand;
use self::summary::FileSummary;
use crate::ui::error::CliError;
use crate::ui::exit_code::{self, ExitStatus};
use crate::ui::printer::{Printer, to_stderr, to_stdout};
use crate::ui::signals;
use crate::ui::verbosity::VerbosityArgs;

pub(crate) fn run(args: &Args) -> ExitCode {
    match &args.command {
        RiceCommand::Encode(args) => match check_encode(args) {
            Ok(()) => {
                let target = Some(&args.target);
                each(&args.work.files, &args.work.verbosity, target, |operand| encode::process(args, operand))
            }
            Err(what) => usage(what),
        },
        RiceCommand::Decode(args) => match check_decode(args) {
            Ok(()) => {
                let target = Some(&args.target);
                each(&args.work.files, &args.work.verbosity, target, |operand| decode::process(args, operand))
            }
            Err(what) => usage(what),
        },
        RiceCommand::Info(args) => {
            each(&args.files, &args.verbosity, None, |operand| info::process(args, operand))
        }
        RiceCommand::Tune(args) => match check_filter(Some(args.filter)) {
            Ok(()) => {
                each(&args.work.files, &args.work.verbosity, None, |operand| tune::process(args, operand))
            }
            Err(what) => usage(what),
        },
        RiceCommand::Verify(args) => match check_verify(args) {
            Ok(()) => {
                each(&args.work.files, &args.work.verbosity, None, |operand| verify::process(args, operand))
            }
            Err(what) => usage(what),
        },
    }
}

fn usage(what: &str) -> ExitCode {
    to_stderr(format_args!("linerate: {what}"));
    ExitCode::from(exit_code::USAGE)
}

fn operands(files: &[PathBuf]) -> Vec<Operand> {
    match files {
        [] => vec![Operand::Stdin],
        files => files.iter().map(|path| Operand::of(path)).collect(),
    }
}

fn reads_stdin(files: &[PathBuf]) -> bool {
    operands(files).iter().any(|operand| operand.path().is_none())
}

/// Whether any output goes to standard output.
fn writes_stdout(files: &[PathBuf], target: &TargetArgs) -> bool {
    target.is_stdout(reads_stdin(files))
}

fn check_target(files: &[PathBuf], target: &TargetArgs) -> Result<(), &'static str> {
    if target.output.is_some() && files.len() > 1 {
        return Err("-o takes a single input file");
    }
    if !target.force && writes_stdout(files, target) && stdout().is_terminal() {
        return Err("binary data is not written to a terminal; -f does it, -h shows help");
    }
    if !target.force && reads_stdin(files) && stdin().is_terminal() {
        return Err("binary data is not read from a terminal; -f does it, -h shows help");
    }
    Ok(())
}

/// Checks that clap cannot express.
fn check_encode(args: &EncodeArgs) -> Result<(), &'static str> {
    check_target(&args.work.files, &args.target)?;
    let v1 = args.version.v1;
    check_filter(args.filter)?;
    if v1 && matches!(args.raw.dtype, Some(Dtype::I32 | Dtype::U32)) {
        return Err("a v1 chunk holds 16-bit samples");
    }
    let complete = args.raw.shape.as_ref().is_some_and(|shape| shape.closed().is_some());
    if v1 && args.raw.dtype.is_some() && !complete && reads_stdin(&args.work.files) {
        return Err("a v1 chunk of raw samples from a pipe needs a complete --shape");
    }
    match args.segment {
        Segment::All if !v1 => Err("only a v1 chunk can be one segment as a whole"),
        Segment::Given(n) if !v1 && n.get() > MAX_SEGMENT => {
            Err("a segment of a v2 file has at most 65536 samples")
        }
        _ => Ok(()),
    }
}

fn check_filter(filter: Option<Filter>) -> Result<(), &'static str> {
    match filter {
        Some(filter) if !filter.is_lossless() => {
            Err("a filter whose first coefficient is not 1 or -1 would lose data")
        }
        _ => Ok(()),
    }
}

fn check_verify(args: &VerifyArgs) -> Result<(), &'static str> {
    let against_stdin = args.against.as_deref().is_some_and(|path| Operand::of(path).path().is_none());
    match against_stdin && reads_stdin(&args.work.files) {
        true => Err("standard input cannot be both the file and the original"),
        false => Ok(()),
    }
}

fn check_decode(args: &DecodeArgs) -> Result<(), &'static str> {
    check_target(&args.work.files, &args.target)?;
    match args.dtype {
        Some(_) if args.chunk.params().is_none() => Err("a v2 file knows the type of its samples"),
        Some(Dtype::I32 | Dtype::U32) => Err("a v1 chunk holds 16-bit samples"),
        _ => Ok(()),
    }
}

/// Processes operands in order, and reports each.
fn each(
    files: &[PathBuf],
    verbosity: &VerbosityArgs,
    target: Option<&TargetArgs>,
    mut process: impl FnMut(&Operand) -> Result<FileSummary, CliError>,
) -> ExitCode {
    let stdout_is_data = target.is_some_and(|target| writes_stdout(files, target));
    let printer = Printer::new(verbosity, stdout_is_data);
    let mut exit_status = ExitStatus::default();
    for operand in operands(files) {
        match process(&operand) {
            Ok(summary) => report(&printer, &summary),
            Err(CliError::ClosedPipe) => signals::exit_by_sigpipe(),
            Err(error) => {
                exit_status.fail(&error);
                printer.failed(&operand.name(), &error);
            }
        }
    }
    exit_status.code()
}

fn report(printer: &Printer, summary: &FileSummary) {
    if !printer.json {
        summary.lines.iter().for_each(to_stdout);
        match &summary.note {
            Some(note) if !printer.quiet && printer.stdout_is_data => to_stderr(summary.named(note)),
            Some(note) if !printer.quiet => to_stdout(summary.named(note)),
            _ => {}
        }
    }
    if let Some(line) = summary.line() {
        printer.done(line);
    }
    printer.record(&summary.record());
}

//! `linerate rice`: encodes and decodes arrays of waveforms.

mod array_args;
mod chunk_args;
mod decode;
mod encode;
mod info;
pub(crate) mod names;
mod operand;
mod parameters;
mod tune;
mod verify;
mod work_args;

use std::io::{IsTerminal, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use self::work_args::{TargetArgs, WorkArgs};
use crate::ui::printer::to_stderr;
use crate::ui::{exit_code, operands};

const NOTES: &str = "\
Examples:
  linerate rice encode run7.npy              make run7.rice
  linerate rice encode -r takes              make takes/*.wav.rice, and those of folders below
  linerate rice decode run7.rice             make run7.npy
  linerate rice verify *.rice                checksums, without an original

Formats:
  v2, suffix .rice, describes itself: it states the type of its samples (16 or 32 bits) and the length
  of a row, and has checksums. Each segment has its own predictor, and each block of 32 samples its own
  Rice parameter.

  v1, suffix .drc, is the whole array as one chunk of HDF5 filter 32025 (Delta-Rice): 16-bit samples,
  without shape, parameters or checksum. Its parameters are the filter's cd_values: `encode` prints
  them, and `decode` needs them.

Arrays:
  Arrays are .npy files or, with --dtype, raw little-endian samples. They are coded in pieces, so an
  array may be larger than memory, but a segment must fit.

WAV files:
  WAV files with integers of 8 to 32 bits are coded with their headers: `decode` restores them byte for
  byte.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: RiceCommand,
}

#[derive(Subcommand, Debug)]
enum RiceCommand {
    /// Encode arrays of samples
    ///
    /// FILE.npy becomes FILE.rice, or FILE.drc with --v1; any other FILE keeps its suffix before
    /// the new one. FILE itself is kept.
    Encode(Box<encode::EncodeArgs>),
    /// Decode to .npy files, to raw samples, or to the WAV files that were encoded
    Decode(Box<decode::DecodeArgs>),
    /// Print the headers of encoded files, without decoding them
    Info(Box<info::InfoArgs>),
    /// Find the parameters that make a v1 chunk smallest
    Tune(Box<tune::TuneArgs>),
    /// Decode and check files, or compare them with the original; write nothing
    Verify(Box<verify::VerifyArgs>),
}

pub(crate) fn run(args: &Args) -> ExitCode {
    match &args.command {
        RiceCommand::Encode(args) => encode::run(args),
        RiceCommand::Decode(args) => decode::run(args),
        RiceCommand::Info(args) => info::run(args),
        RiceCommand::Tune(args) => tune::run(args),
        RiceCommand::Verify(args) => verify::run(args),
    }
}

/// Prints an error in the command line that clap cannot detect. Returns the exit status.
fn usage_error(message: &str) -> ExitCode {
    to_stderr(format_args!("linerate: {message}"));
    ExitCode::from(exit_code::USAGE)
}

/// Whether any output goes to standard output.
fn writes_stdout(files: &[PathBuf], target: &TargetArgs) -> bool {
    target.is_stdout(operands::read_stdin(files))
}

/// Refuses `-o` for several files, and reading and writing binary data on a terminal without `-f`.
fn check_target(work: &WorkArgs, target: &TargetArgs) -> Result<(), &'static str> {
    let files = &work.files;
    if target.output.is_some() && (files.len() > 1 || work.recursive) {
        return Err("-o takes a single input file");
    }
    if !target.force && writes_stdout(files, target) && stdout().is_terminal() {
        return Err("binary data is not written to a terminal; -o FILE writes it to a file, -f forces it");
    }
    if !target.force && operands::read_stdin(files) && stdin().is_terminal() {
        return Err("binary data is not read from a terminal; name a file, or force it with -f");
    }
    Ok(())
}

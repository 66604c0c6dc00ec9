//! `linerate rice decode`: decodes files to arrays, or to the WAV files that were encoded.

use std::process::ExitCode;

use linerate_core::Kind;
use linerate_rice::file::{ChunkReader, Input, NpyHeader, PartialShape, Piece, StreamReader};
use linerate_rice::v2::{ElementType, Shape};
use linerate_rice::{Options, Params};

use super::array_args::{element_type, partial_shape};
use super::chunk_args::ChunkArgs;
use super::operand::{self, Job, Parts, Sink};
use super::work_args::{TargetArgs, WorkArgs};
use super::{check_target, names, parameters, usage_error, writes_stdout};
use crate::ui::error::{CliError, engine_error};
use crate::ui::output_file::FinishedOutput;
use crate::ui::progress::Progress;
use crate::ui::summary::RunSummary;
use crate::ui::{exit_code, size};

const EXAMPLES: &str = "\
Examples:
  linerate rice decode run7.rice                                        make run7.npy
  linerate rice decode --raw < run7.rice | hexdump -d
  linerate rice decode --cd-values 8,7000 --shape -1,7000 run7.drc      make run7.npy
  linerate rice decode --cd-values 8,7000 --raw -o - a.drc | head -c 14K > a.raw
  linerate rice decode --m 32 --segment 8192 --dtype u16 a.drc          16-bit unsigned samples";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(super) struct DecodeArgs {
    #[command(flatten)]
    chunk: ChunkArgs,

    /// Type of the samples of a v1 chunk, i16 or u16 [default: i16]
    #[arg(long, value_name = "TYPE", value_parser = element_type())]
    dtype: Option<ElementType>,

    /// Shape of the array; the first axis may be -1. By default a v2 file gets the shape of the
    /// array that was encoded, and a v1 chunk one axis. With this option, an encoded WAV file
    /// becomes an array
    #[arg(long, value_name = "ROWS,SAMPLES", value_parser = partial_shape, allow_hyphen_values = true)]
    shape: Option<PartialShape>,

    /// Write raw little-endian samples without a header
    #[arg(long)]
    raw: bool,

    /// Fail when the samples or the WAV file take more bytes than this; K, M and G are multiples of
    /// 1024
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    max_output: Option<u64>,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    work: WorkArgs,
}

pub(super) fn run(args: &DecodeArgs) -> ExitCode {
    match check(args) {
        Ok(()) => {
            let to_stdout = writes_stdout(&args.work.files, &args.target);
            let threads = || args.work.threads.count();
            args.work.process_each(&names::ENCODED, threads, to_stdout, |job| process(args, job))
        }
        Err(message) => usage_error(message),
    }
}

/// Checks what clap cannot express about the command line. The error is a message about its use.
fn check(args: &DecodeArgs) -> Result<(), &'static str> {
    check_target(&args.work, &args.target)?;
    match args.dtype {
        Some(_) if args.chunk.params().is_none() => {
            Err("--dtype is for v1 chunks; a v2 file states the type of its samples")
        }
        Some(ElementType::I32 | ElementType::U32) => {
            Err("a v1 chunk holds 16-bit samples; --dtype must be i16 or u16")
        }
        _ => Ok(()),
    }
}

fn process(args: &DecodeArgs, job: &Job<'_>) -> Result<(RunSummary, FinishedOutput), CliError> {
    let (input, meta) = operand::open(job.operand)?;
    let share = job.share(&input);
    let mut summary = job.summary("decode");
    let options = share.options();
    let progress = job.progress(input.file_len());
    let open_sink =
        |meta, ending| Sink::open(&args.target, job.operand, meta, |path| names::decoded(path, ending));
    let array = if args.raw { names::Decoded::Raw } else { names::Decoded::Npy };
    let (found, sink) = match args.chunk.params() {
        Some(params) => {
            let mut sink = open_sink(meta, array)?;
            let found = sink.fill(&share, |parts| {
                decode_v1(args, &params, input, options, parts, progress, &mut summary)
            })?;
            (found, sink)
        }
        None => {
            let mut streams =
                StreamReader::new(input, options).max_output(args.max_output.unwrap_or(u64::MAX));
            let is_wav = !args.raw && args.shape.is_none() && streams.is_wav().map_err(engine_error)?;
            let mut sink = open_sink(meta, if is_wav { names::Decoded::Wav } else { array })?;
            let found = sink.fill(&share, |parts| match is_wav {
                true => decode_wav(streams, parts, progress, &mut summary),
                false => decode_v2(args, streams, parts, progress, &mut summary),
            })?;
            (found, sink)
        }
    };
    summary.set("dtype", found.element.name());
    summary.set("samples", found.shape.samples());
    summary.set("shape", found.shape.axes());
    summary.set("threads", args.work.threads.count());
    let output = sink.finish(&mut summary)?;
    Ok((summary, output))
}

/// Writes the WAV file that was encoded. Returns the type and shape of its samples.
fn decode_wav(
    mut streams: StreamReader,
    parts: &mut Parts<'_>,
    mut progress: Progress,
    summary: &mut RunSummary,
) -> Result<NpyHeader, CliError> {
    while let Some(part) = streams.next_file_part().map_err(engine_error)? {
        parts.put(part)?;
        progress.update(streams.position());
    }
    let seen = streams.seen();
    summary.set("format", "v2");
    summary.set("original", "wav");
    summary.set("streams", seen.map(|seen| seen.streams));
    summary.bytes = streams.position();
    let element = seen.map_or(ElementType::I16, |seen| seen.element);
    Ok(NpyHeader { element, shape: seen.map_or(Shape::from_rows(0, None), |seen| seen.shape()) })
}

fn decode_v1(
    args: &DecodeArgs,
    params: &Params,
    input: Input,
    options: Options,
    parts: &mut Parts<'_>,
    mut progress: Progress,
    summary: &mut RunSummary,
) -> Result<NpyHeader, CliError> {
    summary.set("format", "v1");
    summary.extend(parameters::record(params));
    let mut chunk = ChunkReader::new(input, params, options).map_err(engine_error)?;
    let samples = chunk.samples();
    let shape = shape(args, Shape::from_rows(samples, None))?;
    if args.max_output.is_some_and(|max| samples * 2 > max) {
        return Err(CliError::data(Kind::Limit, 0, "the output takes more bytes than the limit"));
    }
    let header = NpyHeader { element: args.dtype.unwrap_or(ElementType::I16), shape };
    if !args.raw {
        parts.put(Piece::Bytes(&header.to_bytes()))?;
    }
    while let Some(bytes) = chunk.next_bytes().map_err(engine_error)? {
        parts.put(Piece::Bytes(bytes))?;
        progress.update(chunk.position());
    }
    summary.bytes = chunk.position();
    Ok(header)
}

fn decode_v2(
    args: &DecodeArgs,
    mut streams: StreamReader,
    parts: &mut Parts<'_>,
    mut progress: Progress,
    summary: &mut RunSummary,
) -> Result<NpyHeader, CliError> {
    // The header of an .npy file states the shape, so the number of samples must be known before
    // the first sample is written, unless the complete shape is given. To know it, a pipe is read
    // to its end first.
    let given = args.shape.and_then(|shape| shape.shape());
    let (element, early) = match streams.is_seekable() || !args.raw && given.is_none() {
        true => {
            let totals = streams.totals().map_err(engine_error)?;
            (totals.element, Some(shape(args, totals.shape())?))
        }
        false => (streams.first().map_err(engine_error)?.element, given),
    };
    if let (Some(shape), false) = (early, args.raw) {
        parts.put(Piece::Bytes(&NpyHeader { element, shape }.to_bytes()))?;
    }
    while let Some(part) = streams.next_part().map_err(engine_error)? {
        parts.put(part)?;
        progress.update(streams.position());
    }
    // At least one stream was seen, since an input without streams is an error above.
    let seen = streams.seen();
    let shape = shape(args, seen.map_or(Shape::from_rows(0, None), |seen| seen.shape()))?;
    summary.set("format", "v2");
    summary.set("streams", seen.map(|seen| seen.streams));
    summary.bytes = streams.position();
    Ok(NpyHeader { element, shape })
}

/// The shape of `--shape`, or else the file's shape. Fails if the file has another number of
/// samples than `--shape` says.
fn shape(args: &DecodeArgs, found: Shape) -> Result<Shape, CliError> {
    let samples = found.samples().unwrap_or(u64::MAX);
    match &args.shape {
        None => Ok(found),
        Some(choice) => choice.for_samples(samples).ok_or_else(|| {
            CliError::Refused(format!("its {samples} samples do not have the shape {choice}"))
        }),
    }
}

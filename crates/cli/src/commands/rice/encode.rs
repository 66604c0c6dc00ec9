//! `linerate rice encode`: encodes arrays and WAV files.

use std::fs::Metadata;
use std::num::NonZeroU32;
use std::process::ExitCode;

use linerate_rice::file::{
    ArrayReader, ChunkEncoder, ChunkOptions, Input, Piece, SegmentChoice, StreamEncoder, WavEncoder,
};
use linerate_rice::v2::{ElementType, MAX_CHANNELS, MAX_SEGMENT, StreamOptions};
use linerate_rice::{Error, Filter, Kind, Options, Params};

use super::array_args::ArrayArgs;
use super::chunk_args::{check_filter, filter, known_rice_parameter, segment};
use super::operand::{self, Job, Parts, Share, Sink};
use super::work_args::{TargetArgs, WorkArgs};
use super::{check_target, names, parameters, usage_error, writes_stdout};
use crate::ui::error::{CliError, engine_error};
use crate::ui::exit_code;
use crate::ui::operands::read_stdin;
use crate::ui::output_file::FinishedOutput;
use crate::ui::progress::Progress;
use crate::ui::summary::RunSummary;

const EXAMPLES: &str = "\
Examples:
  linerate rice encode run7.npy                        make run7.rice
  linerate rice encode take1.wav                       make take1.wav.rice, headers included
  linerate rice encode -r takes                        encode every .npy and .wav file below takes
  linerate rice encode -p4 --verify big.npy            use 4 threads, decode and compare each piece
  linerate rice encode --dtype i16 --shape -1,7000 a.raw
  daq | linerate rice encode --dtype u16 -o run8.rice  encode a pipe until it ends
  linerate rice encode --v1 run7.npy                   make run7.drc, print its cd_values
  linerate rice encode --v1 --m 8 --segment 7000 a.npy  with the parameters of an HDF5 file";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(super) struct EncodeArgs {
    #[command(flatten)]
    version: VersionArgs,

    #[command(flatten)]
    raw: ArrayArgs,

    /// Rice parameter of a v1 chunk: a power of two from 2 to 32768, or `auto` (the default) for
    /// the one that makes the chunk smallest. Of a pipe, only the first 16 MiB count for this, or
    /// the first segment if it is longer
    #[arg(long, value_name = "M", value_parser = rice_parameter, requires = "v1")]
    m: Option<RiceParameter>,

    /// Samples per segment, which can be decoded alone: a number (at most 65536 in v2), or `auto`.
    /// With --v1 also `row`, or `all` (-1) for the whole array. `auto` makes each row a segment,
    /// joins short rows, and cuts long ones (with --v1 only a single long row)
    #[arg(long, value_name = "N", default_value = "auto", value_parser = segment, allow_hyphen_values = true)]
    segment: SegmentChoice,

    /// Channels of a v2 file, 1 to 1024: each row (the last axis) holds one sample of each channel,
    /// such as the leads of an ECG or stereo sound. By default, without --segment, rows of 2 to 512
    /// samples are tried both ways
    #[arg(long, value_name = "N", value_parser = channels, conflicts_with = "v1")]
    channels: Option<NonZeroU32>,

    /// Accept a v1 chunk that is larger than its samples by more than 2 % or 64 bytes, whichever is more
    #[arg(long, requires = "v1")]
    allow_expansion: bool,

    /// Coefficients of the filter of a v1 chunk; the first must be 1 or -1 [default: 1,-1]
    #[arg(
        long,
        value_name = "C0,C1,..",
        value_parser = filter,
        allow_hyphen_values = true,
        requires = "v1"
    )]
    filter: Option<Filter>,

    /// Decode each piece after encoding it, and compare it with the input
    #[arg(long)]
    verify: bool,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    work: WorkArgs,
}

fn channels(text: &str) -> Result<NonZeroU32, String> {
    let number = text.parse().ok().filter(|n: &NonZeroU32| n.get() <= MAX_CHANNELS);
    number.ok_or_else(|| "not a number from 1 to 1024".into())
}

/// The format to write, v1 or v2: the last of the two options counts.
#[derive(clap::Args, Debug)]
struct VersionArgs {
    /// Write one chunk of HDF5 filter 32025, suffix .drc
    #[arg(long, overrides_with = "v2")]
    v1: bool,

    /// Write a self-describing file, suffix .rice (the default)
    #[arg(long, overrides_with = "v1")]
    v2: bool,
}

/// The value of `--m`: a Rice parameter, or `None` for the one that makes the chunk smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RiceParameter(Option<u32>);

fn rice_parameter(text: &str) -> Result<RiceParameter, String> {
    match text {
        "auto" => Ok(RiceParameter(None)),
        _ => match known_rice_parameter(text)? {
            1 => Err("m = 1 can be decoded but not encoded; use 2 or more".into()),
            m => Ok(RiceParameter(Some(m))),
        },
    }
}

pub(super) fn run(args: &EncodeArgs) -> ExitCode {
    match check(args) {
        Ok(()) => {
            let to_stdout = writes_stdout(&args.work.files, &args.target);
            let suffixes: &[&str] = if args.version.v1 { &names::TO_ENCODE_V1 } else { &names::TO_ENCODE };
            let threads = || args.work.threads.count();
            args.work.process_each(suffixes, threads, to_stdout, |job| process(args, job))
        }
        Err(message) => usage_error(message),
    }
}

/// Checks what clap cannot express about the command line. The error is a message about its use.
fn check(args: &EncodeArgs) -> Result<(), &'static str> {
    check_target(&args.work, &args.target)?;
    let v1 = args.version.v1;
    args.filter.as_ref().map_or(Ok(()), check_filter)?;
    if v1 && matches!(args.raw.dtype, Some(ElementType::I32 | ElementType::U32)) {
        return Err("a v1 chunk holds 16-bit samples; --dtype must be i16 or u16");
    }
    let is_complete = args.raw.shape.is_some_and(|shape| shape.shape().is_some());
    if v1 && args.raw.dtype.is_some() && !is_complete && read_stdin(&args.work.files) {
        return Err("to encode raw samples from a pipe with --v1, give the complete --shape");
    }
    match args.segment {
        SegmentChoice::All if !v1 => {
            Err("--segment all needs --v1; a segment of a v2 file has at most 65536 samples")
        }
        SegmentChoice::Row if !v1 => Err(
            "--segment row needs --v1; for v2, `auto` makes each row a segment, joins short rows and cuts \
                 long ones",
        ),
        SegmentChoice::Samples(n) if !v1 && n.get() > MAX_SEGMENT => {
            Err("a segment of a v2 file has at most 65536 samples; give a smaller --segment")
        }
        _ => Ok(()),
    }
}

fn process(args: &EncodeArgs, job: &Job<'_>) -> Result<(RunSummary, FinishedOutput), CliError> {
    let (mut input, meta) = operand::open(job.operand)?;
    let share = job.share(&input);
    let mut summary = job.summary("encode");
    if args.raw.is_wav(&mut input)? {
        return encode_wav(args, input, &share, meta, job, summary);
    }
    let array = args.raw.open(input)?;
    let suffix = if args.version.v1 { names::CHUNK } else { names::STREAMS };
    let mut sink = Sink::open(&args.target, job.operand, meta, |path| names::encoded(path, suffix))?;
    let progress = job.progress(array.input_len());
    let options = share.options();
    let params = sink.fill(&share, |parts| match args.version.v1 {
        true => encode_v1(args, array, options, parts, progress, &mut summary).map(Some),
        false => encode_v2(args, array, options, parts, progress, &mut summary).map(|()| None),
    })?;
    summary.set("threads", args.work.threads.count());
    let output = sink.finish(&mut summary)?;
    // The chunk does not contain its parameters, so the user must keep them.
    if let Some(params) = params.filter(|_| !args.work.verbosity.quiet) {
        let made =
            summary.output.as_ref().map_or_else(|| job.operand.name(), |path| path.display().to_string());
        summary.lines.push(format!("{made}: cd_values {}", parameters::signed(&params)));
    }
    Ok((summary, output))
}

fn encode_v1(
    args: &EncodeArgs,
    array: ArrayReader,
    options: Options,
    parts: &mut Parts<'_>,
    mut progress: Progress,
    summary: &mut RunSummary,
) -> Result<Params, CliError> {
    let settings = ChunkOptions::new()
        .m(args.m.and_then(|m| m.0))
        .segment(args.segment)
        .filter(args.filter.unwrap_or(Filter::DELTA))
        .allow_expansion(args.allow_expansion)
        .verify(args.verify);
    let mut encoder = ChunkEncoder::new(array, &settings, options).map_err(engine_error)?;
    while let Some(bytes) = encoder.next_bytes().map_err(engine_error)? {
        parts.put(Piece::Bytes(bytes))?;
        progress.update(encoder.array().position());
    }
    summary.set("format", "v1");
    summary.extend(parameters::record(encoder.params()));
    describe(encoder.array(), summary)?;
    Ok(*encoder.params())
}

fn encode_v2(
    args: &EncodeArgs,
    array: ArrayReader,
    options: Options,
    parts: &mut Parts<'_>,
    mut progress: Progress,
    summary: &mut RunSummary,
) -> Result<(), CliError> {
    // A stream records the length of a row in 32 bits. The length of a longer row is left out.
    let row = array.row().and_then(|row| NonZeroU32::new(u32::try_from(row).ok()?));
    let settings = stream_options(args).row(row);
    check_channels(args, &array)?;
    let mut encoder = StreamEncoder::new(array, settings, options).verify(args.verify);
    while let Some(part) = encoder.next_part().map_err(engine_error)? {
        parts.put(part)?;
        progress.update(encoder.array().position());
    }
    summary.set("format", "v2");
    let first = encoder.first();
    summary.set("segment", first.map(|first| first.segment));
    summary.set("channels", first.map(|first| first.channels));
    summary.set("streams", encoder.streams());
    describe(encoder.array(), summary)
}

fn stream_options(args: &EncodeArgs) -> StreamOptions {
    let segment = match args.segment {
        SegmentChoice::Samples(n) => Some(n),
        SegmentChoice::Auto | SegmentChoice::Row | SegmentChoice::All => None,
    };
    StreamOptions::new().segment(segment).channels(args.channels)
}

/// Encodes a WAV file with all of its bytes, so that decoding restores it byte for byte.
fn encode_wav(
    args: &EncodeArgs,
    input: Input,
    share: &Share,
    meta: Option<Metadata>,
    job: &Job<'_>,
    mut summary: RunSummary,
) -> Result<(RunSummary, FinishedOutput), CliError> {
    if args.version.v1 {
        return Err(CliError::Refused("a v1 chunk cannot hold a WAV file; leave out --v1".into()));
    }
    let mut progress = job.progress(input.file_len());
    let encoder = WavEncoder::new(input, stream_options(args), share.options()).map_err(engine_error)?;
    let mut encoder = encoder.verify(args.verify);
    let mut sink = Sink::open(&args.target, job.operand, meta, |path| names::encoded(path, names::STREAMS))?;
    let mut streams = 0u64;
    sink.fill(share, |parts| {
        while let Some(part) = encoder.next_part().map_err(engine_error)? {
            parts.put(part)?;
            streams += 1;
            progress.update(encoder.position());
        }
        Ok(())
    })?;
    summary.set("format", "v2");
    summary.set("original", "wav");
    summary.set("streams", streams);
    summary.set("dtype", encoder.element().name());
    summary.set("shape", encoder.shape().axes());
    summary.set("samples", encoder.samples());
    summary.set("threads", args.work.threads.count());
    summary.bytes = encoder.position();
    let output = sink.finish(&mut summary)?;
    Ok((summary, output))
}

/// Fails if `--channels` is more than 1 and rows do not have one sample for each channel.
fn check_channels(args: &EncodeArgs, array: &ArrayReader) -> Result<(), CliError> {
    let Some(channels) = args.channels.filter(|n| n.get() > 1) else { return Ok(()) };
    match array.row() == Some(channels.get().into()) {
        true => Ok(()),
        false => Err(engine_error(Error::new(
            Kind::BadArgument,
            0,
            "the rows do not have --channels samples each; --shape sets the length of a row",
        ))),
    }
}

/// Adds type, shape and number of samples of the array to the summary, and the bytes that were read
/// of the input.
fn describe(array: &ArrayReader, summary: &mut RunSummary) -> Result<(), CliError> {
    let element = array.element();
    summary.set("dtype", element.name());
    summary.set("shape", array.shape().map_err(engine_error)?.axes());
    summary.set("samples", array.samples_read());
    summary.bytes = array.start() + array.samples_read() * element.bytes() as u64;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_1_to_1024() {
        assert_eq!(channels("15"), Ok(NonZeroU32::new(15).unwrap()));
        for bad in ["0", "1025", "-1", "x", ""] {
            assert!(channels(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rice_parameter_is_auto_or_a_power_of_two_from_2() {
        assert_eq!(rice_parameter("auto"), Ok(RiceParameter(None)));
        assert_eq!(rice_parameter("32"), Ok(RiceParameter(Some(32))));
        for bad in ["1", "0", "12", "65536", "", "x"] {
            assert!(rice_parameter(bad).is_err(), "{bad}");
        }
    }
}

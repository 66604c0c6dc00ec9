//! `linerate rice info`: prints the headers of encoded files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use linerate_rice::file::{ChunkReader, Input, StreamHeader, StreamReader, StreamTotals};
use linerate_rice::{Options, Params};
use serde_json::{Value, json};

use super::chunk_args::ChunkArgs;
use super::{operand, parameters};
use crate::ui::error::{CliError, engine_error};
use crate::ui::exit_code;
use crate::ui::operands::Operand;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;

const EXAMPLES: &str = "\
Examples:
  linerate rice info run7.rice                         type, shape, sizes, streams
  linerate rice info --cd-values 8,7000 run7.drc       segments and words; check their lengths
  linerate rice info --json --cd-values 8,7000 *.drc";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(super) struct InfoArgs {
    #[command(flatten)]
    chunk: ChunkArgs,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Encoded files; without any, or for `-`, standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &InfoArgs) -> ExitCode {
    let mut reporter = Reporter::new(&args.verbosity, false);
    let stdin = [PathBuf::from("-")];
    for path in if args.files.is_empty() { &stdin } else { args.files.as_slice() } {
        let operand = Operand::from_argument(path);
        reporter.report(&operand.name(), process(args, &operand));
    }
    reporter.code()
}

fn process(args: &InfoArgs, operand: &Operand) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(Path::new(&operand.name()), "info");
    let (input, _) = operand::open(operand)?;
    summary.lines.push(format!("file        {}", operand.name()));
    match args.chunk.params() {
        Some(params) => info_v1(&params, input, &mut summary)?,
        None => info_v2(input, &mut summary)?,
    }
    Ok(summary)
}

/// Summarizes a v1 chunk from the lengths of its segments, without decoding their samples.
fn info_v1(params: &Params, input: Input, summary: &mut RunSummary) -> Result<(), CliError> {
    let mut chunk = ChunkReader::new(input, params, Options::new()).map_err(engine_error)?;
    let (samples, segments) = (chunk.samples(), chunk.segments());
    let (mut words, mut least, mut most) = (0u64, u32::MAX, 0);
    while let Some(segment) = chunk.skip_segment().map_err(engine_error)? {
        words += u64::from(segment.words);
        least = least.min(segment.words);
        most = most.max(segment.words);
    }
    let least = least.min(most);
    let bytes = chunk.position();
    summary.lines.extend([
        "format      v1: a chunk of HDF5 filter 32025".into(),
        format!("samples     {samples} of 16 bits, {} bytes", samples * 2),
        format!("bytes       {bytes} ({:.2} %)", percent(bytes, samples * 2)),
        format!("segments    {segments}"),
        format!("words       {words} of 32 bits, {least} to {most} per segment"),
        format!("cd_values   {}, as given", parameters::signed(params)),
    ]);
    summary.set("bytes_in", bytes);
    summary.set("format", "v1");
    summary.extend(parameters::record(params));
    summary.set("samples", samples);
    summary.set("segments", segments);
    summary.set("words", json!({ "all": words, "least": least, "most": most }));
    Ok(())
}

/// Summarizes a v2 file from the headers of its streams, without decoding their segments.
fn info_v2(input: Input, summary: &mut RunSummary) -> Result<(), CliError> {
    let mut streams = StreamReader::new(input, Options::new());
    let (headers, totals) = streams.headers().map_err(engine_error)?;
    let (samples, bytes) = (totals.samples, streams.position());
    let raw = samples.saturating_mul(totals.element.bytes() as u64);
    let segments: u64 = headers.iter().map(|header| header.segments).sum();
    let shape = totals.shape();
    summary.lines.extend([
        "format      v2".into(),
        format!("type        {}", totals.element.name()),
        format!("shape       {shape}"),
        format!("original    {}", original(&totals)),
        format!("samples     {samples}, {raw} bytes"),
        format!("bytes       {bytes} ({:.2} %)", percent(bytes, raw)),
        format!("channels    {}", channels(&headers)),
        format!("segments    {segments}"),
        format!("streams     {}", totals.streams),
        format!("{:>15} {:>15} {:>15} {:>10} {:>10}", "offset", "bytes", "samples", "segments", "of each"),
    ]);
    summary.lines.extend(headers.iter().map(|header| {
        let StreamHeader { offset, bytes, samples, segments, segment, .. } = header;
        format!("{offset:>15} {bytes:>15} {samples:>15} {segments:>10} {segment:>10}")
    }));
    summary.set("bytes_in", bytes);
    summary.set("format", "v2");
    summary.set("dtype", totals.element.name());
    summary.set("shape", shape.axes());
    summary.set("original_bytes", totals.wav_bytes());
    summary.set("samples", samples);
    summary.set("segments", segments);
    summary.set("streams", headers.iter().map(record).collect::<Vec<_>>());
    Ok(())
}

/// Says what was encoded: an array, or a WAV file and its size.
fn original(totals: &StreamTotals) -> String {
    totals.wav_bytes().map_or("an array".into(), |bytes| format!("a WAV file of {bytes} bytes"))
}

/// The number of channels of the streams, or words: `none` if rows hold no channels, `not in all
/// streams` if the streams have different numbers.
fn channels(headers: &[StreamHeader]) -> String {
    let first = headers.first().map_or(1, |header| header.channels);
    match headers.iter().all(|header| header.channels == first) {
        true if first == 1 => "none".into(),
        true => first.to_string(),
        false => "not in all streams".into(),
    }
}

fn record(header: &StreamHeader) -> Value {
    json!({
        "offset": header.offset,
        "bytes": header.bytes,
        "samples": header.samples,
        "row": header.row,
        "channels": header.channels,
        "segment": header.segment,
        "segments": header.segments,
        "file_bytes": header.file_bytes,
    })
}

fn percent(bytes: u64, raw: u64) -> f64 {
    100.0 * bytes as f64 / raw.max(1) as f64
}

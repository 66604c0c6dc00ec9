//! `linerate rice info`: what an encoded file says about itself.

use linerate_rice::Params;
use serde_json::{Value, json};

use super::args::InfoArgs;
use super::chunk_reader::Walk;
use super::operand::Operand;
use super::parameters;
use super::reader::Reader;
use super::stream_reader::{Head, Streams};
use super::summary::{FileSummary, Mode};
use crate::ui::error::CliError;

pub(crate) fn process(args: &InfoArgs, operand: &Operand) -> Result<FileSummary, CliError> {
    let mut summary = FileSummary::new(operand, Mode::Info);
    let (reader, _) = operand.open()?;
    summary.lines.push(format!("file        {}", operand.name()));
    match args.chunk.params() {
        Some(params) => v1(&params, reader, &mut summary)?,
        None => v2(reader, &mut summary)?,
    }
    Ok(summary.end())
}

/// Walks over the lengths of a chunk. No payload is read.
fn v1(params: &Params, mut reader: Reader, summary: &mut FileSummary) -> Result<(), CliError> {
    let mut walk = Walk::new(&mut reader, params)?;
    let (samples, segments) = (walk.samples(), walk.segments());
    let (mut words, mut least, mut most) = (0u64, u32::MAX, 0);
    while let Some(found) = walk.next()? {
        words += u64::from(found.words);
        least = least.min(found.words);
        most = most.max(found.words);
        walk.skip(&found)?;
    }
    let least = least.min(most);
    let bytes = walk.at();
    summary.lines.extend([
        "format      v1: a chunk of HDF5 filter 32025".into(),
        format!("samples     {samples} of 16 bits, {} bytes", samples * 2),
        format!("bytes       {bytes} ({:.2} %)", percent(bytes, samples * 2)),
        format!("segments    {segments}"),
        format!("words       {words} of 32 bits, {least} to {most} per segment"),
        format!("cd_values   {}, as given", parameters::signed(params)),
    ]);
    summary.bytes_in = bytes;
    summary.set("format", "v1");
    summary.extend(parameters::record(params));
    summary.set("samples", samples);
    summary.set("segments", segments);
    summary.set("words", json!({ "all": words, "least": least, "most": most }));
    Ok(())
}

/// Walks over the heads of streams. No segment is read.
fn v2(reader: Reader, summary: &mut FileSummary) -> Result<(), CliError> {
    let mut streams = Streams::new(reader);
    let mut heads: Vec<Head> = Vec::new();
    let totals = streams.heads(&mut |head| heads.push(*head))?;
    let (samples, bytes) = (totals.samples, streams.at());
    let raw = samples.saturating_mul(totals.dtype.bytes());
    let segments: u64 = heads.iter().map(|head| head.segments).sum();
    let shape = totals.shape();
    summary.lines.extend([
        "format      v2".into(),
        format!("type        {}", totals.dtype.name()),
        format!("shape       {shape}"),
        format!("samples     {samples}, {raw} bytes"),
        format!("bytes       {bytes} ({:.2} %)", percent(bytes, raw)),
        format!("segments    {segments}"),
        format!("streams     {}", totals.streams),
        format!("{:>15} {:>15} {:>15} {:>10} {:>10}", "offset", "bytes", "samples", "segments", "of each"),
    ]);
    summary.lines.extend(heads.iter().map(|head| {
        let Head { at, bytes, samples, segments, segment, .. } = head;
        format!("{at:>15} {bytes:>15} {samples:>15} {segments:>10} {segment:>10}")
    }));
    summary.bytes_in = bytes;
    summary.set("format", "v2");
    summary.set("dtype", totals.dtype.name());
    summary.set("shape", shape.0);
    summary.set("samples", samples);
    summary.set("segments", segments);
    summary.set("streams", heads.iter().map(record).collect::<Vec<_>>());
    Ok(())
}

fn record(head: &Head) -> Value {
    json!({
        "offset": head.at,
        "bytes": head.bytes,
        "samples": head.samples,
        "row": head.row,
        "segment": head.segment,
        "segments": head.segments,
    })
}

fn percent(bytes: u64, raw: u64) -> f64 {
    100.0 * bytes as f64 / raw.max(1) as f64
}

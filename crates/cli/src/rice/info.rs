//! `linerate rice info`: what an encoded file says about itself.

use linerate_rice::Params;
use serde_json::{Value, json};

use super::args::InfoArgs;
use super::chunk_reader::Walk;
use super::done::{Done, Mode};
use super::operand::Operand;
use super::parameters;
use super::reader::Reader;
use super::stream_reader::{Head, Streams};
use crate::failure::Failure;

pub(crate) fn process(args: &InfoArgs, operand: &Operand) -> Result<Done, Failure> {
    let mut done = Done::new(operand, Mode::Info);
    let (reader, _) = operand.open()?;
    done.lines.push(format!("file        {}", operand.name()));
    match args.chunk.params() {
        Some(params) => v1(&params, reader, &mut done)?,
        None => v2(reader, &mut done)?,
    }
    Ok(done.end())
}

/// Walks over the lengths of a chunk. No payload is read.
fn v1(params: &Params, mut reader: Reader, done: &mut Done) -> Result<(), Failure> {
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
    done.lines.extend([
        "format      v1: a chunk of HDF5 filter 32025".into(),
        format!("samples     {samples} of 16 bits, {} bytes", samples * 2),
        format!("bytes       {bytes} ({:.2} %)", percent(bytes, samples * 2)),
        format!("segments    {segments}"),
        format!("words       {words} of 32 bits, {least} to {most} per segment"),
        format!("cd_values   {}, as given", parameters::signed(params)),
    ]);
    done.bytes_in = bytes;
    done.set("format", "v1");
    done.extend(parameters::record(params));
    done.set("samples", samples);
    done.set("segments", segments);
    done.set("words", json!({ "all": words, "least": least, "most": most }));
    Ok(())
}

/// Walks over the heads of streams. No segment is read.
fn v2(reader: Reader, done: &mut Done) -> Result<(), Failure> {
    let mut streams = Streams::new(reader);
    let mut heads: Vec<Head> = Vec::new();
    let summary = streams.heads(&mut |head| heads.push(*head))?;
    let (samples, bytes) = (summary.samples, streams.at());
    let raw = samples.saturating_mul(summary.dtype.bytes());
    let segments: u64 = heads.iter().map(|head| head.segments).sum();
    let shape = summary.shape();
    done.lines.extend([
        "format      v2".into(),
        format!("type        {}", summary.dtype.name()),
        format!("shape       {shape}"),
        format!("samples     {samples}, {raw} bytes"),
        format!("bytes       {bytes} ({:.2} %)", percent(bytes, raw)),
        format!("segments    {segments}"),
        format!("streams     {}", summary.streams),
        format!("{:>15} {:>15} {:>15} {:>10} {:>10}", "offset", "bytes", "samples", "segments", "of each"),
    ]);
    done.lines.extend(heads.iter().map(|head| {
        let Head { at, bytes, samples, segments, segment, .. } = head;
        format!("{at:>15} {bytes:>15} {samples:>15} {segments:>10} {segment:>10}")
    }));
    done.bytes_in = bytes;
    done.set("format", "v2");
    done.set("dtype", summary.dtype.name());
    done.set("shape", shape.0);
    done.set("samples", samples);
    done.set("segments", segments);
    done.set("streams", heads.iter().map(record).collect::<Vec<_>>());
    Ok(())
}

fn record(head: &Head) -> Value {
    json!({
        "at": head.at,
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

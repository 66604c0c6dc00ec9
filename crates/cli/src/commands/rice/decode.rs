//! `linerate rice decode`: a file to an array.

use bytemuck::cast_slice;
use linerate_core::Kind;
use linerate_rice::Params;

use super::args::DecodeArgs;
use super::chunk_reader::{self, Walk};
use super::dtype::{Dtype, Word, with_type};
use super::npy::Header;
use super::operand::{Operand, Sink};
use super::reader::Reader;
use super::shape::Shape;
use super::stream_reader::Streams;
use super::summary::{FileSummary, Mode};
use super::{names, parameters};
use crate::ui::error::CliError;
use crate::ui::progress::Progress;

pub(crate) fn process(args: &DecodeArgs, operand: &Operand) -> Result<FileSummary, CliError> {
    let mut summary = FileSummary::new(operand, Mode::Decode);
    let (reader, meta) = operand.open()?;
    let mut sink = Sink::open(&args.target, operand, &meta, |path| names::decoded(path, args.raw))?;
    let verbosity = &args.work.verbosity;
    let mut progress = Progress::new(!verbosity.quiet && !verbosity.json, &operand.name(), reader.len());
    let found = match args.chunk.params() {
        Some(params) => v1(args, &params, reader, &mut sink, &mut progress, &mut summary)?,
        None => v2(args, reader, &mut sink, &mut progress, &mut summary)?,
    };
    drop(progress);
    summary.set("dtype", found.dtype.name());
    summary.set("samples", found.shape.samples());
    summary.set("shape", found.shape.0);
    summary.set("threads", args.work.threads.threads);
    summary.bytes_out = sink.bytes;
    summary.output = sink.finish()?;
    Ok(summary.end())
}

fn v1(
    args: &DecodeArgs,
    params: &Params,
    mut reader: Reader,
    sink: &mut Sink,
    progress: &mut Progress,
    summary: &mut FileSummary,
) -> Result<Header, CliError> {
    summary.set("format", "v1");
    summary.extend(parameters::record(params));
    let walk = Walk::new(&mut reader, params)?;
    let dtype = args.dtype.unwrap_or(Dtype::I16);
    let shape = shape(args, Shape(vec![walk.samples()]))?;
    check_limit(args, walk.samples() * dtype.bytes(), 0)?;
    let header = Header { dtype, shape };
    if !args.raw {
        sink.put(&header.bytes())?;
    }
    chunk_reader::decode_all(walk, params, args.work.exec(), &mut |samples, used| {
        progress.update(used);
        put(sink, samples)
    })?;
    summary.bytes_in = reader.at();
    Ok(header)
}

fn v2(
    args: &DecodeArgs,
    reader: Reader,
    sink: &mut Sink,
    progress: &mut Progress,
    summary: &mut FileSummary,
) -> Result<Header, CliError> {
    let mut streams = Streams::new(reader);
    // How many samples there are must be known before the first is written, unless no header
    // needs it or the shape is given. A pipe is then read to its end first.
    let given = args.shape.as_ref().and_then(|shape| shape.closed());
    let (dtype, early) = match (streams.is_regular() || !args.raw && given.is_none(), given) {
        (true, _) => {
            let totals = streams.totals()?;
            (totals.dtype, Some(shape(args, totals.shape())?))
        }
        (false, given) => (streams.first()?.dtype, given),
    };
    if let (Some(shape), false) = (&early, args.raw) {
        sink.put(&Header { dtype, shape: shape.clone() }.bytes())?;
    }
    while let Some(stream) = streams.next()? {
        let samples = streams.seen().map_or(0, |seen| seen.samples);
        check_limit(args, samples.saturating_mul(dtype.bytes()), stream.head.at)?;
        with_type!(dtype, T => stream.decode::<T>(args.work.exec(), &mut |samples| put(sink, samples)))?;
        progress.update(streams.at());
    }
    // A stream at least was seen: without one there are no totals.
    let seen = streams.seen();
    let shape = shape(args, seen.map_or(Shape(vec![0]), |seen| seen.shape()))?;
    summary.set("format", "v2");
    summary.set("streams", seen.map(|seen| seen.streams));
    summary.bytes_in = streams.at();
    Ok(Header { dtype, shape })
}

/// The shape asked for, or else that of the file.
fn shape(args: &DecodeArgs, found: Shape) -> Result<Shape, CliError> {
    let samples = found.samples().unwrap_or(u64::MAX);
    match &args.shape {
        None => Ok(found),
        Some(choice) => choice.for_samples(samples).ok_or_else(|| {
            CliError::Refused(format!("its {samples} samples do not have the shape {choice}"))
        }),
    }
}

fn check_limit(args: &DecodeArgs, bytes: u64, at: u64) -> Result<(), CliError> {
    match args.max_output {
        Some(most) if bytes > most => {
            let what = format!("its {bytes} bytes of samples exceed the limit of {most} bytes");
            Err(CliError::data(Kind::Limit, at, what))
        }
        _ => Ok(()),
    }
}

/// Writes samples as files have them.
fn put<T: Word>(sink: &mut Sink, samples: &mut [T]) -> Result<(), CliError> {
    samples.iter_mut().for_each(|sample| *sample = sample.little_endian());
    sink.put(cast_slice(samples))
}

//! `linerate rice decode`: a file to an array.

use bytemuck::cast_slice;
use linerate_core::Kind;
use linerate_rice::Params;

use super::args::DecodeArgs;
use super::chunk_reader::{self, Walk};
use super::done::{Done, Mode};
use super::dtype::{Dtype, Word, with_type};
use super::npy::Header;
use super::operand::{Operand, Sink};
use super::reader::Reader;
use super::shape::Shape;
use super::stream_reader::Streams;
use super::{names, parameters};
use crate::failure::Failure;
use crate::progress::Progress;

pub(crate) fn process(args: &DecodeArgs, operand: &Operand) -> Result<Done, Failure> {
    let mut done = Done::new(operand, Mode::Decode);
    let (reader, meta) = operand.open()?;
    let mut sink = Sink::open(&args.target, operand, &meta, |path| names::decoded(path, args.raw))?;
    let say = &args.work.say;
    let mut progress = Progress::new(!say.quiet && !say.json, &operand.name(), reader.len());
    let found = match args.chunk.params() {
        Some(params) => v1(args, &params, reader, &mut sink, &mut progress, &mut done)?,
        None => v2(args, reader, &mut sink, &mut progress, &mut done)?,
    };
    drop(progress);
    done.set("dtype", found.dtype.name());
    done.set("samples", found.shape.samples());
    done.set("shape", found.shape.0);
    done.set("threads", args.work.threads);
    done.bytes_out = sink.bytes;
    done.output = sink.finish()?;
    Ok(done.end())
}

fn v1(
    args: &DecodeArgs,
    params: &Params,
    mut reader: Reader,
    sink: &mut Sink,
    progress: &mut Progress,
    done: &mut Done,
) -> Result<Header, Failure> {
    done.set("format", "v1");
    done.extend(parameters::record(params));
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
    done.bytes_in = reader.at();
    Ok(header)
}

fn v2(
    args: &DecodeArgs,
    reader: Reader,
    sink: &mut Sink,
    progress: &mut Progress,
    done: &mut Done,
) -> Result<Header, Failure> {
    let mut streams = Streams::new(reader);
    // How many samples there are must be known before the first is written, unless no header
    // needs it or the shape is given. A pipe is then read to its end first.
    let given = args.shape.as_ref().and_then(|shape| shape.closed());
    let (dtype, early) = match (streams.is_regular() || !args.raw && given.is_none(), given) {
        (true, _) => {
            let summary = streams.summary()?;
            (summary.dtype, Some(shape(args, summary.shape())?))
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
    // A stream at least was seen: without one there is no summary.
    let seen = streams.seen();
    let shape = shape(args, seen.map_or(Shape(vec![0]), |seen| seen.shape()))?;
    done.set("format", "v2");
    done.set("streams", seen.map(|seen| seen.streams));
    done.bytes_in = streams.at();
    Ok(Header { dtype, shape })
}

/// The shape asked for, or else that of the file.
fn shape(args: &DecodeArgs, found: Shape) -> Result<Shape, Failure> {
    let samples = found.samples().unwrap_or(u64::MAX);
    match &args.shape {
        None => Ok(found),
        Some(choice) => choice
            .for_samples(samples)
            .ok_or_else(|| Failure::Refused(format!("its {samples} samples do not have the shape {choice}"))),
    }
}

fn check_limit(args: &DecodeArgs, bytes: u64, at: u64) -> Result<(), Failure> {
    match args.max_output {
        Some(most) if bytes > most => {
            let what = format!("its {bytes} bytes of samples exceed the limit of {most} bytes");
            Err(Failure::data(Kind::Limit, at, what))
        }
        _ => Ok(()),
    }
}

/// Writes samples as files have them.
fn put<T: Word>(sink: &mut Sink, samples: &mut [T]) -> Result<(), Failure> {
    samples.iter_mut().for_each(|sample| *sample = sample.little_endian());
    sink.put(cast_slice(samples))
}

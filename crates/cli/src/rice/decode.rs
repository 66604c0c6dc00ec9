//! `linerate rice decode`: a file to an array.

use bytemuck::cast_slice;
use linerate_core::Kind;
use linerate_rice::Params;

use super::args::DecodeArgs;
use super::array::{Dtype, Shape, Word};
use super::chunk::{self, Walk};
use super::done::Done;
use super::npy::Header;
use super::operand::{Operand, Sink};
use super::reader::Reader;
use super::{names, parameters};
use crate::failure::Failure;
use crate::progress::Progress;

pub(crate) fn process(args: &DecodeArgs, operand: &Operand) -> Result<Done, Failure> {
    let mut done = Done::new(operand, "decode");
    let (mut reader, meta) = operand.open()?;
    let mut sink = Sink::open(&args.target, operand, &meta, |path| names::decoded(path, args.raw))?;
    let say = &args.work.say;
    let mut progress = Progress::new(!say.quiet && !say.json, &operand.name(), reader.len());
    let params = args.chunk.params().unwrap_or_default();
    v1(args, &params, &mut reader, &mut sink, &mut progress, &mut done)?;
    drop(progress);
    done.set("threads", args.work.threads);
    done.bytes_in = reader.at();
    done.bytes_out = sink.bytes;
    done.output = sink.finish()?;
    Ok(done.end())
}

fn v1(
    args: &DecodeArgs,
    params: &Params,
    reader: &mut Reader,
    sink: &mut Sink,
    progress: &mut Progress,
    done: &mut Done,
) -> Result<(), Failure> {
    let walk = Walk::new(reader, params)?;
    let dtype = args.dtype.unwrap_or(Dtype::I16);
    let shape = shape(args, walk.samples(), None)?;
    check_limit(args, walk.samples() * dtype.bytes())?;
    done.set("format", "v1");
    done.extend(parameters::record(params));
    done.set("dtype", dtype.name());
    done.set("samples", walk.samples());
    done.set("shape", shape.0.clone());
    if !args.raw {
        sink.put(&Header { dtype, shape }.bytes())?;
    }
    chunk::decode_all(walk, params, args.work.exec(), &mut |samples, used| {
        progress.update(used);
        put(sink, samples)
    })
}

/// The shape asked for, or else rows as the file has them.
fn shape(args: &DecodeArgs, samples: u64, row: Option<u64>) -> Result<Shape, Failure> {
    match &args.shape {
        None => Ok(Shape::of(samples, row)),
        Some(choice) => choice
            .for_samples(samples)
            .ok_or_else(|| Failure::Refused(format!("its {samples} samples do not have the shape {choice}"))),
    }
}

fn check_limit(args: &DecodeArgs, bytes: u64) -> Result<(), Failure> {
    match args.max_output {
        Some(most) if bytes > most => {
            let what = format!("its {bytes} bytes of samples exceed the limit of {most} bytes");
            Err(Failure::data(Kind::Limit, 0, what))
        }
        _ => Ok(()),
    }
}

/// Writes samples as files have them.
fn put<T: Word>(sink: &mut Sink, samples: &mut [T]) -> Result<(), Failure> {
    samples.iter_mut().for_each(|sample| *sample = sample.little_endian());
    sink.put(cast_slice(samples))
}

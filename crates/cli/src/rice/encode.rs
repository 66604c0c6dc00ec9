//! `linerate rice encode`: an array to a file.

use linerate_rice::Params;

use super::args::EncodeArgs;
use super::chunk::{self, Wanted};
use super::done::Done;
use super::input::Input;
use super::operand::{Operand, Sink};
use super::{names, parameters};
use crate::failure::Failure;
use crate::progress::Progress;

pub(crate) fn process(args: &EncodeArgs, operand: &Operand) -> Result<Done, Failure> {
    let mut done = Done::new(operand, "encode");
    let (reader, meta) = operand.open()?;
    let mut input = Input::open(reader, &args.raw)?;
    let mut sink = Sink::open(&args.target, operand, &meta, |path| names::encoded(path, names::CHUNK))?;
    let say = &args.work.say;
    let mut progress = Progress::new(!say.quiet && !say.json, &operand.name(), input.len());
    let params = v1(args, &mut input, &mut sink, &mut progress)?;
    drop(progress);
    done.note = Some(format!("cd_values {}", parameters::signed(&params)));
    done.set("format", "v1");
    done.extend(parameters::record(&params));
    done.set("dtype", input.dtype().name());
    done.set("shape", input.final_shape()?.0);
    done.set("samples", input.read());
    done.set("threads", args.work.threads);
    done.bytes_in = input.start() + input.read() * input.dtype().bytes();
    done.bytes_out = sink.bytes;
    done.output = sink.finish()?;
    Ok(done.end())
}

fn v1(
    args: &EncodeArgs,
    input: &mut Input,
    sink: &mut Sink,
    progress: &mut Progress,
) -> Result<Params, Failure> {
    let wanted = Wanted { m: args.m, segment: args.segment, filter: args.filter };
    chunk::encode(input, &wanted, args.work.exec(), args.verify, &mut |bytes, used| {
        progress.update(used);
        sink.put(bytes)
    })
}

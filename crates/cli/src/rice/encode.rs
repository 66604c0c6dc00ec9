//! `linerate rice encode`: an array to a file.

use std::num::NonZeroU32;

use linerate_rice::Filter;
use linerate_rice::v2::Settings;

use super::args::{Auto, EncodeArgs, Segment};
use super::chunk_writer::{self, Wanted};
use super::done::{Done, Mode};
use super::dtype::with_type;
use super::input::Input;
use super::operand::{Operand, Sink};
use super::piece::Put;
use super::{names, parameters, stream_writer};
use crate::failure::Failure;
use crate::progress::Progress;

pub(crate) fn process(args: &EncodeArgs, operand: &Operand) -> Result<Done, Failure> {
    let mut done = Done::new(operand, Mode::Encode);
    let (reader, meta) = operand.open()?;
    let mut input = Input::open(reader, &args.raw)?;
    let suffix = if args.version.v1 { names::CHUNK } else { names::STREAMS };
    let mut sink = Sink::open(&args.target, operand, &meta, |path| names::encoded(path, suffix))?;
    let say = &args.work.say;
    let mut progress = Progress::new(!say.quiet && !say.json, &operand.name(), input.len());
    let mut put = |bytes: &[u8], used| {
        progress.update(used);
        sink.put(bytes)
    };
    match args.version.v1 {
        true => v1(args, &mut input, &mut put, &mut done)?,
        false => v2(args, &mut input, &mut put, &mut done)?,
    }
    drop(progress);
    done.set("dtype", input.dtype().name());
    done.set("shape", input.final_shape()?.0);
    done.set("samples", input.read());
    done.set("threads", args.work.threads);
    done.bytes_in = input.start() + input.read() * input.dtype().bytes();
    done.bytes_out = sink.bytes;
    done.output = sink.finish()?;
    Ok(done.end())
}

fn v1(args: &EncodeArgs, input: &mut Input, put: Put<'_>, done: &mut Done) -> Result<(), Failure> {
    let wanted = Wanted {
        m: args.m.unwrap_or(Auto::Auto),
        segment: args.segment,
        filter: args.filter.unwrap_or(Filter::DELTA),
        allow_expansion: args.allow_expansion,
    };
    let params = chunk_writer::encode(input, &wanted, args.work.exec(), args.verify, put)?;
    done.note = Some(format!("cd_values {}", parameters::signed(&params)));
    done.set("format", "v1");
    done.extend(parameters::record(&params));
    Ok(())
}

fn v2(args: &EncodeArgs, input: &mut Input, put: Put<'_>, done: &mut Done) -> Result<(), Failure> {
    let segment = match args.segment {
        Segment::Given(n) => Some(n),
        Segment::Auto | Segment::Row | Segment::All => None,
    };
    // A row longer than a stream can note is not noted.
    let row = input.row().and_then(|row| NonZeroU32::new(u32::try_from(row).ok()?));
    let settings = Settings::new(segment).with_row(row);
    let (exec, verify) = (args.work.exec(), args.verify);
    let streams =
        with_type!(input.dtype(), T => stream_writer::encode::<T>(input, &settings, exec, verify, put))?;
    done.set("format", "v2");
    done.set("segment", settings.segment());
    done.set("streams", streams);
    Ok(())
}

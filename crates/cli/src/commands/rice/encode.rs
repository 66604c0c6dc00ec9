//! `linerate rice encode`: an array to a file.

use std::num::NonZeroU32;

use linerate_rice::Filter;
use linerate_rice::v2::StreamOptions;

use super::args::{Auto, EncodeArgs, Segment};
use super::chunk_writer::{self, Wanted};
use super::dtype::with_type;
use super::input::Input;
use super::operand::{Operand, Sink};
use super::piece::Put;
use super::summary::{FileSummary, Mode};
use super::{names, parameters, stream_writer};
use crate::ui::error::CliError;
use crate::ui::progress::Progress;

pub(crate) fn process(args: &EncodeArgs, operand: &Operand) -> Result<FileSummary, CliError> {
    let mut summary = FileSummary::new(operand, Mode::Encode);
    let (reader, meta) = operand.open()?;
    let mut input = Input::open(reader, &args.raw)?;
    let suffix = if args.version.v1 { names::CHUNK } else { names::STREAMS };
    let mut sink = Sink::open(&args.target, operand, &meta, |path| names::encoded(path, suffix))?;
    let verbosity = &args.work.verbosity;
    let mut progress = Progress::new(!verbosity.quiet && !verbosity.json, &operand.name(), input.len());
    let mut put = |bytes: &[u8], used| {
        progress.update(used);
        sink.put(bytes)
    };
    match args.version.v1 {
        true => v1(args, &mut input, &mut put, &mut summary)?,
        false => v2(args, &mut input, &mut put, &mut summary)?,
    }
    drop(progress);
    summary.set("dtype", input.dtype().name());
    summary.set("shape", input.final_shape()?.0);
    summary.set("samples", input.read());
    summary.set("threads", args.work.threads.threads);
    summary.bytes_in = input.start() + input.read() * input.dtype().bytes();
    summary.bytes_out = sink.bytes;
    summary.output = sink.finish()?;
    Ok(summary.end())
}

fn v1(args: &EncodeArgs, input: &mut Input, put: Put<'_>, summary: &mut FileSummary) -> Result<(), CliError> {
    let wanted = Wanted {
        m: args.m.unwrap_or(Auto::Auto),
        segment: args.segment,
        filter: args.filter.unwrap_or(Filter::DELTA),
        allow_expansion: args.allow_expansion,
    };
    let params = chunk_writer::encode(input, &wanted, args.work.exec(), args.verify, put)?;
    summary.note = Some(format!("cd_values {}", parameters::signed(&params)));
    summary.set("format", "v1");
    summary.extend(parameters::record(&params));
    Ok(())
}

fn v2(args: &EncodeArgs, input: &mut Input, put: Put<'_>, summary: &mut FileSummary) -> Result<(), CliError> {
    let segment = match args.segment {
        Segment::Given(n) => Some(n),
        Segment::Auto | Segment::Row | Segment::All => None,
    };
    // A row longer than a stream can note is not noted.
    let row = input.row().and_then(|row| NonZeroU32::new(u32::try_from(row).ok()?));
    let settings = StreamOptions::new().segment(segment).row(row);
    let (exec, verify) = (args.work.exec(), args.verify);
    let streams =
        with_type!(input.dtype(), T => stream_writer::encode::<T>(input, &settings, exec, verify, put))?;
    summary.set("format", "v2");
    summary.set("segment", settings.segment_len());
    summary.set("streams", streams);
    Ok(())
}

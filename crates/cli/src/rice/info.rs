//! `linerate rice info`: what an encoded file says about itself.

use linerate_rice::Params;
use serde_json::json;

use super::args::InfoArgs;
use super::chunk::Walk;
use super::done::Done;
use super::operand::Operand;
use super::parameters;
use super::reader::Reader;
use crate::failure::Failure;

pub(crate) fn process(args: &InfoArgs, operand: &Operand) -> Result<Done, Failure> {
    let mut done = Done::new(operand, "info");
    let (mut reader, _) = operand.open()?;
    let params = args.chunk.params().unwrap_or_default();
    v1(&params, &mut reader, &mut done)?;
    done.bytes_in = reader.at();
    Ok(done.end())
}

/// Walks over the lengths of a chunk. No payload is read.
fn v1(params: &Params, reader: &mut Reader, done: &mut Done) -> Result<(), Failure> {
    let mut walk = Walk::new(reader, params)?;
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
    let raw = samples * 2;
    let percent = 100.0 * bytes as f64 / raw.max(1) as f64;
    done.lines = vec![
        format!("format      v1: a chunk of HDF5 filter 32025"),
        format!("samples     {samples} of 16 bits, {raw} bytes"),
        format!("chunk       {bytes} bytes ({percent:.2} %)"),
        format!("segments    {segments}"),
        format!("words       {words} of 32 bits, {least} to {most} per segment"),
        format!("cd_values   {}, as given", parameters::signed(params)),
    ];
    done.set("format", "v1");
    done.extend(parameters::record(params));
    done.set("samples", samples);
    done.set("segments", segments);
    done.set("words", json!({ "all": words, "least": least, "most": most }));
    Ok(())
}

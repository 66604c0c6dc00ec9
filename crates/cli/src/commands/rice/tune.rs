//! `linerate rice tune`: finds the parameters that make a v1 chunk smallest, and prints the size
//! for every m.

use std::num::NonZeroU32;
use std::process::ExitCode;

use linerate_core::parallel_map;
use linerate_rice::file::SegmentChoice;
use linerate_rice::{Filter, Options, Params, encoded_len, tune};
use serde_json::json;

use super::array_args::ArrayArgs;
use super::chunk_args::{check_filter, filter, segment};
use super::operand::{self, Job};
use super::work_args::WorkArgs;
use super::{names, parameters, usage_error};
use crate::ui::error::{CliError, engine_error};
use crate::ui::exit_code;
use crate::ui::output::Output;
use crate::ui::output_file::FinishedOutput;
use crate::ui::summary::RunSummary;

const EXAMPLES: &str = "\
Examples:
  linerate rice tune run7.npy                          a table of sizes, and options of h5repack
  linerate rice tune --json --segment 1000 run7.npy
  linerate rice tune --dtype i16 --shape -1,7000 a.raw";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(super) struct TuneArgs {
    #[command(flatten)]
    raw: ArrayArgs,

    /// Samples per segment: a number, `row`, `all` (-1) for the whole array, or `auto`, which makes
    /// each row a segment, joins short rows and cuts a single long one
    #[arg(long, value_name = "N", default_value = "auto", value_parser = segment, allow_hyphen_values = true)]
    segment: SegmentChoice,

    /// Coefficients of the filter that the table is for
    #[arg(long, value_name = "C0,C1,..", default_value = "1,-1", value_parser = filter, allow_hyphen_values = true)]
    filter: Filter,

    #[command(flatten)]
    work: WorkArgs,
}

pub(super) fn run(args: &TuneArgs) -> ExitCode {
    match check_filter(&args.filter) {
        Ok(()) => {
            let threads = || args.work.threads.count();
            args.work.process_each(&names::TO_ENCODE_V1, threads, false, |job| {
                let summary = process(args, job)?;
                Ok((summary, FinishedOutput::without_source(Output::Nowhere)))
            })
        }
        Err(message) => usage_error(message),
    }
}

/// Parameters, and the exact size of the chunk that they make, in bytes.
struct Size {
    params: Params,
    bytes: u64,
}

fn process(args: &TuneArgs, job: &Job<'_>) -> Result<RunSummary, CliError> {
    let (input, _) = operand::open(job.operand)?;
    let share = job.share(&input);
    let mut summary = job.summary("tune");
    let mut array = args.raw.open(input)?;
    let segment = args.segment.for_array(&array).map_err(engine_error)?;
    let shape = array.shape().map_err(engine_error)?;
    let (element, start) = (array.element(), array.start());
    let samples = array.whole::<i16>().map_err(engine_error)?;
    let sizes = sizes(samples, segment, &args.filter, share.threads)?;
    let best = sizes.iter().min_by_key(|size| size.bytes);
    let other = tune::best_filter(samples, segment);
    let other = Size { params: other, bytes: bytes(samples, &other)? };
    let raw = samples.len() as u64 * 2;
    let percent = |bytes: u64| 100.0 * bytes as f64 / raw.max(1) as f64;

    let segment_name = segment.map_or("all".to_owned(), |n| n.to_string());
    let filter_name = parameters::taps(&args.filter);
    summary.lines.push(format!(
        "{}: {shape} {}, {raw} bytes; segment {segment_name}, filter {filter_name}",
        job.operand.name(),
        element.name()
    ));
    summary.lines.push(format!("{:>7} {:>15} {:>7}", "m", "bytes", "%"));
    for size in &sizes {
        let mark = if best.is_some_and(|best| best.params == size.params) { "  best" } else { "" };
        let (m, bytes) = (size.params.m(), size.bytes);
        summary.lines.push(format!("{m:>7} {bytes:>15} {:>7.2}{mark}", percent(bytes)));
    }
    for (what, size) in best.map(|best| ("best m", best)).into_iter().chain([("best filter", &other)]) {
        summary.lines.push(format!(
            "{what}: {} bytes ({:.2} %) with --cd-values {} (h5repack -f {})",
            size.bytes,
            percent(size.bytes),
            parameters::signed(&size.params),
            parameters::h5repack(&size.params)
        ));
    }

    summary.set("bytes_in", start + raw);
    summary.set("dtype", element.name());
    summary.set("shape", shape.axes());
    summary.set("samples", samples.len());
    summary.set("segment", segment);
    summary.set("filter", args.filter.taps());
    let table = sizes.iter().map(|size| json!({ "m": size.params.m(), "bytes": size.bytes }));
    summary.set("sizes", table.collect::<Vec<_>>());
    let record = |size: &Size| {
        let mut record = parameters::record(&size.params);
        record["bytes"] = json!(size.bytes);
        record["h5repack"] = json!(parameters::h5repack(&size.params));
        record
    };
    summary.set("best", best.map(record));
    summary.set("best_filter", record(&other));
    Ok(summary)
}

/// Computes the size of the chunk for every m that can be encoded, 2 to 32768, on several threads.
fn sizes(
    samples: &[i16],
    segment: Option<NonZeroU32>,
    filter: &Filter,
    threads: usize,
) -> Result<Vec<Size>, CliError> {
    let params = (1..16).map(|k| Params::new(1 << k, segment).map(|p| p.with_filter(*filter)));
    let params: Vec<Params> = params.collect::<Result<_, _>>().map_err(engine_error)?;
    let size = |params| Ok(Size { params, bytes: bytes(samples, &params)? });
    parallel_map(threads, params, || size).into_iter().collect()
}

fn bytes(samples: &[i16], params: &Params) -> Result<u64, CliError> {
    encoded_len(params, samples, Options::new()).map_err(engine_error)
}

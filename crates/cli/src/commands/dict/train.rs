//! `linerate dict train`: trains a dictionary from samples.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueHint;
use linerate_dict::{SIZES, Search, SearchResult, Training};
use linerate_zstd::Dictionary;
use serde_json::{Value, json};

use super::samples::{SampleArgs, Sampler, Samples, files_of};
use super::savings::Totals;
use crate::ui::error::{CliError, engine_error};
use crate::ui::format::{ratio, rounded};
use crate::ui::output_args::{self, OutputArgs};
use crate::ui::progress::SharedProgress;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, inputs, size};

const EXAMPLES: &str = "\
Examples:
  linerate dict train --lines rows.json -o rows.dict           8 KiB, for blocks of 4 KiB
  linerate dict train --search --expect 2G tables -o t.dict    the best size for 2 GiB of data
  linerate dict train --search -n --json tables                print the table of sizes only
  linerate dict train -b 0 --small-tables messages/* -o m.dict  each file is a sample
  zstd -D rows.dict block                                      other programs use it, too";

/// Default bytes of a dictionary.
const DEFAULT_SIZE: &str = "8K";
/// Maximum bytes of a dictionary.
pub(super) const MAX_DICTIONARY: u64 = 64 << 20;

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct TrainArgs {
    /// Maximum bytes of the dictionary
    #[arg(short = 's', long, value_name = "SIZE", default_value = DEFAULT_SIZE, value_parser = size::parse)]
    size: u64,

    /// Try several sizes, and choose the one with the smallest sum of blocks and dictionary; write
    /// nothing if no size saves bytes
    #[arg(long, conflicts_with = "size")]
    search: bool,

    /// The sizes to try [default: 1K,2K,4K,8K,16K,32K,64K,110K]
    #[arg(long, value_name = "SIZES", requires = "search", value_delimiter = ',', value_parser = size::parse)]
    sizes: Vec<u64>,

    /// Bytes of data that will be compressed with the dictionary [default: all data that samples
    /// are taken from]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    expect: Option<u64>,

    /// Use tables of half the size: cold blocks decode faster, but blocks get up to 1.3 % larger
    #[arg(long)]
    small_tables: bool,

    /// zstd level that blocks will be compressed at, -7 to 22
    #[arg(long, value_name = "LEVEL", default_value_t = 3, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    level: i32,

    #[command(flatten)]
    samples: SampleArgs,

    /// Maximum bytes of samples, evenly distributed over the files
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size::parse)]
    max_samples: u64,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Files and folders with samples; `-` is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::AnyPath)]
    files: Vec<PathBuf>,
}

impl TrainArgs {
    fn sizes(&self) -> Vec<usize> {
        match (self.search, self.sizes.as_slice()) {
            (false, _) => vec![self.size as usize],
            (true, []) => SIZES.to_vec(),
            (true, sizes) => sizes.iter().map(|&size| size as usize).collect(),
        }
    }
}

pub(crate) fn run(args: &TrainArgs) -> Result<ExitCode, String> {
    if let Some(size) = args.sizes.iter().chain([&args.size]).find(|&&size| size > MAX_DICTIONARY) {
        return Err(format!("a size of {size} bytes is too large; a dictionary has at most 64M"));
    }
    let name = args.files.first().cloned().unwrap_or_default();
    Ok(Reporter::new(&args.verbosity, args.output.is_stdout()).one(&name, |reporter| process(args, reporter)))
}

fn process(args: &TrainArgs, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    args.files.iter().for_each(|path| inputs::keep_operand(path));
    args.output.check()?;
    let mut summary = RunSummary::new(&args.files[0], "train");
    let samples = read(args, reporter)?;
    let blocks = samples.list();
    let progress = SharedProgress::new(reporter.step("training", None));
    let search = Search::new(&args.sizes())
        .small_tables(args.small_tables)
        .level(args.level)
        .expected_bytes(args.expect.unwrap_or(samples.seen))
        .threads(args.threads.count());
    let found = search.run_with_progress(&blocks, &|bytes| progress.add(bytes)).map_err(engine_error)?;
    drop(progress);
    describe(args, &samples, &found, &mut summary);
    let dictionary = match (&found.dictionary, args.search) {
        (Some(dictionary), _) => dictionary.clone(),
        // With a given size, the dictionary is written even if it saves nothing.
        (None, false) => {
            warn(args, &found, reporter);
            train(args, &blocks)?
        }
        (None, true) => {
            warn(args, &found, reporter);
            summary.set("dictionary", Value::Null);
            return Ok(summary);
        }
    };
    let measured = Dictionary::measure(&dictionary).map_err(engine_error)?;
    summary.set(
        "dictionary",
        json!({
            "bytes": dictionary.len(),
            "id": measured.id(),
            "content": measured.content_len(),
            "tables": measured.compact_len(),
        }),
    );
    if let Some(path) = args.output.path() {
        output_args::write(path, args.output.force, &dictionary)?;
        summary.output = Some(path.to_owned());
    }
    let (bytes, tables) = (dictionary.len(), measured.compact_len());
    summary.text = Some(format!("{} samples -> {bytes} bytes, tables of {tables}", blocks.len()));
    Ok(summary)
}

/// Warns if the dictionary of the given size, or the best one of a search, saves no more than its
/// own bytes.
fn warn(args: &TrainArgs, found: &SearchResult, reporter: &mut Reporter) {
    let Some(best) = found.candidates.iter().min_by_key(|candidate| candidate.total) else { return };
    let remedy = match (best.savings.with >= best.savings.without, args.expect) {
        _ if args.search => "nothing is written",
        (true, _) => "blocks get no smaller with it, so compress without one",
        (false, None) => "if it will serve more data than these files, give --expect SIZE",
        (false, Some(_)) => "compress without one, or try --search",
    };
    let (content, with, without) = (found.expected, best.total, found.without);
    let totals = Totals { content, measured: content, with, includes_dictionary: true, without };
    if let Some(warning) = totals.warning(remedy) {
        reporter.warn(&args.files[0].display().to_string(), &warning);
    }
}

fn read(args: &TrainArgs, reporter: &Reporter) -> Result<Samples, CliError> {
    let files = files_of(&args.files)?;
    let mut sampler = Sampler::new(&args.samples, args.max_samples, &files)?;
    let progress = SharedProgress::new(reporter.step("reading", sampler.total()));
    for file in &files {
        let added = sampler.add(file, &|bytes| progress.add(bytes));
        added.map_err(|e| if *file == args.files[0] { e } else { e.in_file(&file.display().to_string()) })?;
    }
    Ok(sampler.finish())
}

fn train(args: &TrainArgs, blocks: &[&[u8]]) -> Result<Vec<u8>, CliError> {
    Training::new(args.size as usize)
        .small_tables(args.small_tables)
        .level(args.level)
        .train(blocks)
        .map_err(engine_error)
}

fn describe(args: &TrainArgs, samples: &Samples, found: &SearchResult, summary: &mut RunSummary) {
    let count = samples.list().len();
    summary.set("samples", count);
    summary.set("sample_bytes", samples.bytes());
    summary.set("bytes", samples.seen);
    summary.set("level", args.level);
    summary.set("small_tables", args.small_tables);
    summary.set("expected", found.expected);
    summary
        .set("without", json!({ "bytes": found.without, "ratio": rounded(found.expected, found.without) }));
    summary.lines.push(format!(
        "{count} samples of {} bytes from {}; expected {} bytes come to {} without a dictionary, ratio {:.3}",
        samples.bytes(),
        samples.seen,
        found.expected,
        found.without,
        ratio(found.expected, found.without)
    ));
    summary.lines.push(format!(
        "{:>10} {:>10} {:>8} {:>8} {:>14} {:>8}",
        "size", "dictionary", "tables", "ratio", "with its bytes", "ratio"
    ));
    let mut candidates = Vec::new();
    for (i, candidate) in found.candidates.iter().enumerate() {
        let savings = &candidate.savings;
        let best = if found.best == Some(i) { "  best" } else { "" };
        summary.lines.push(format!(
            "{:>10} {:>10} {:>8} {:>8.3} {:>14} {:>8.3}{best}",
            candidate.size,
            savings.dictionary,
            savings.tables,
            savings.ratio_of_blocks(),
            candidate.total,
            ratio(found.expected, candidate.total)
        ));
        candidates.push(json!({
            "size": candidate.size,
            "dictionary": savings.dictionary,
            "tables": savings.tables,
            "ratio_of_blocks": rounded(savings.content as u64, savings.with as u64),
            "total": candidate.total,
            "ratio": rounded(found.expected, candidate.total),
            "best": found.best == Some(i),
        }));
    }
    summary.set("sizes", candidates);
}

//! `linerate dict train`: a dictionary from samples.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueHint;
use linerate_dict::{Found, SIZES, Search, Training};
use linerate_zstd::Dictionary;
use serde_json::{Value, json};

use super::samples::{SampleArgs, Sampler, Samples, files_of};
use super::watch::Watch;
use crate::account::Account;
use crate::done::Done;
use crate::failure::Failure;
use crate::figures::{failure, ratio, rounded};
use crate::say::SayArgs;
use crate::target::{self, TargetArgs};
use crate::threads::ThreadArgs;
use crate::{exit, size};

const EXAMPLES: &str = "\
Examples:
  linerate dict train --lines rows.json -o rows.dict           8 KiB, for blocks of 4 KiB
  linerate dict train --search --expect 2G tables -o t.dict    the size that pays best for 2 GiB
  linerate dict train --search -n --json tables                only the table of sizes
  linerate dict train -B 0 --small-tables messages/* -o m.dict  a sample is a file, small tables
  zstd -D rows.dict block                                      other programs take it, too";

/// Bytes of a dictionary unless told.
const SIZE: &str = "8K";
/// Bytes of the largest dictionary that is made.
pub(super) const MOST: u64 = 64 << 20;

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
pub(crate) struct TrainArgs {
    /// Bytes of the dictionary, at most
    #[arg(short = 's', long, value_name = "SIZE", default_value = SIZE, value_parser = size::parse)]
    size: u64,

    /// Try several sizes, and take the one with which blocks and dictionary together are smallest
    #[arg(long, conflicts_with = "size")]
    search: bool,

    /// The sizes to try [default: 1K,2K,4K,8K,16K,32K,64K,110K]
    #[arg(long, value_name = "SIZES", requires = "search", value_delimiter = ',', value_parser = size::parse)]
    sizes: Vec<u64>,

    /// Bytes of data that the dictionary will serve [default: those of the files]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    expect: Option<u64>,

    /// Make tables of half the size: faster to read when they are cold, blocks get up to 1 % larger
    #[arg(long)]
    small_tables: bool,

    /// The level of zstd that blocks will be compressed at, -7 to 22
    #[arg(short = 'l', long, value_name = "LEVEL", default_value_t = 3, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    level: i32,

    #[command(flatten)]
    samples: SampleArgs,

    /// Bytes of samples to use, taken evenly
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size::parse)]
    max_samples: u64,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    say: SayArgs,

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
    if let Some(size) = args.sizes.iter().chain([&args.size]).find(|&&size| size > MOST) {
        return Err(format!("a dictionary of {size} bytes is too large: at most 64M"));
    }
    let name = args.files.first().cloned().unwrap_or_default();
    Ok(Account::new(&args.say, false).one(&name, |account| process(args, account)))
}

fn process(args: &TrainArgs, account: &mut Account) -> Result<Done, Failure> {
    args.target.check()?;
    let mut done = Done::new(&args.files[0], "train");
    let samples = read(args, account)?;
    let blocks = samples.list();
    let watch = Watch::new(account, "training", None);
    let search = Search::new(&args.sizes())
        .with_small_tables(args.small_tables)
        .with_level(args.level)
        .for_bytes(args.expect.unwrap_or(samples.seen))
        .with_threads(args.threads.threads);
    let found = search.watched(&blocks, &|bytes| watch.add(bytes)).map_err(failure)?;
    drop(watch);
    tell(args, &samples, &found, &mut done);
    let dictionary = match (found.dictionary, args.search) {
        (Some(dictionary), _) => dictionary,
        // It was asked for, whether it pays or not.
        (None, false) => train(args, &blocks)?,
        (None, true) => {
            account.warn(&args.files[0].display().to_string(), "no size pays: nothing is written");
            done.set("dictionary", Value::Null);
            return Ok(done);
        }
    };
    let measured = Dictionary::measure(&dictionary).map_err(failure)?;
    done.set(
        "dictionary",
        json!({
            "bytes": dictionary.len(),
            "id": measured.id(),
            "content": measured.content_len(),
            "tables": measured.compact_len(),
        }),
    );
    if let Some(path) = args.target.path() {
        target::write(path, args.target.force, &dictionary)?;
        done.output = Some(path.to_owned());
    }
    let (bytes, tables) = (dictionary.len(), measured.compact_len());
    done.words = Some(format!("{} samples -> {bytes} bytes, tables of {tables}", blocks.len()));
    Ok(done)
}

fn read(args: &TrainArgs, account: &Account) -> Result<Samples, Failure> {
    let files = files_of(&args.files)?;
    let mut sampler = Sampler::new(&args.samples, args.max_samples, &files)?;
    let watch = Watch::new(account, "reading", sampler.total());
    for file in &files {
        let added = sampler.add(file, &|bytes| watch.add(bytes));
        added.map_err(|e| if *file == args.files[0] { e } else { e.within(&file.display().to_string()) })?;
    }
    Ok(sampler.finish())
}

fn train(args: &TrainArgs, blocks: &[&[u8]]) -> Result<Vec<u8>, Failure> {
    Training::new(args.size as usize).with_small_tables(args.small_tables).train(blocks).map_err(failure)
}

fn tell(args: &TrainArgs, samples: &Samples, found: &Found, done: &mut Done) {
    let count = samples.list().len();
    done.set("samples", count);
    done.set("sample_bytes", samples.bytes());
    done.set("bytes", samples.seen);
    done.set("level", args.level);
    done.set("small_tables", args.small_tables);
    done.set("expected", found.expected);
    done.set("without", json!({ "bytes": found.without, "ratio": rounded(found.expected, found.without) }));
    done.lines.push(format!(
        "{count} samples of {} bytes from {}; expected {} bytes come to {} without a dictionary, ratio {:.3}",
        samples.bytes(),
        samples.seen,
        found.expected,
        found.without,
        ratio(found.expected, found.without)
    ));
    done.lines.push(format!(
        "{:>10} {:>10} {:>8} {:>8} {:>14} {:>8}",
        "size", "dictionary", "tables", "ratio", "with its bytes", "ratio"
    ));
    let mut candidates = Vec::new();
    for (i, candidate) in found.candidates.iter().enumerate() {
        let gain = &candidate.gain;
        let best = if found.best == Some(i) { "  best" } else { "" };
        done.lines.push(format!(
            "{:>10} {:>10} {:>8} {:>8.3} {:>14} {:>8.3}{best}",
            candidate.size,
            gain.dictionary,
            gain.tables,
            gain.ratio_of_blocks(),
            candidate.total,
            ratio(found.expected, candidate.total)
        ));
        candidates.push(json!({
            "size": candidate.size,
            "dictionary": gain.dictionary,
            "tables": gain.tables,
            "ratio_of_blocks": rounded(gain.content as u64, gain.with as u64),
            "total": candidate.total,
            "ratio": rounded(found.expected, candidate.total),
            "best": found.best == Some(i),
        }));
    }
    done.set("sizes", candidates);
}

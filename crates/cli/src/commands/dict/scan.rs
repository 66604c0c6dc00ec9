//! `linerate dict scan`: prints records in the order of their keys.

use std::ops::Bound;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueHint;

use super::blockfile::{PackArg, open_blocks};
use super::keys::{KeyArgs, prefix_end};
use super::rows::{RowArgs, Rows};
use crate::ui::error::{CliError, engine_error};
use crate::ui::exit_code;
use crate::ui::reporter::Reporter;
use crate::ui::size;
use crate::ui::summary::RunSummary;

const EXAMPLES: &str = "\
Examples:
  linerate dict scan rows.blocks                           all values, one per line
  linerate dict scan --prefix user-1 --json rows.blocks    keys and values as JSON objects
  linerate dict scan --from b --to d --keys rows.blocks    keys from b up to, but without, d
  linerate dict scan --records rows.blocks > rows.rec      length-prefixed records";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    range: RangeArgs,

    /// Print keys only
    #[arg(long = "keys", conflicts_with = "records")]
    only_keys: bool,

    #[command(flatten)]
    rows: RowArgs,

    #[command(flatten)]
    pack: PackArg,

    /// The block file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
}

/// The keys to print: a range of them or those with a prefix, and a maximum number of records.
#[derive(clap::Args, Debug)]
pub(crate) struct RangeArgs {
    /// Begin with this key, or the first after it
    #[arg(long, value_name = "KEY")]
    from: Option<String>,

    /// End before this key
    #[arg(long, value_name = "KEY")]
    to: Option<String>,

    /// Print only keys that begin with PREFIX
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["from", "to"])]
    pub(crate) prefix: Option<String>,

    /// Print at most N records; K and M mean thousands and millions
    #[arg(long, value_name = "N", value_parser = size::count(0..=u64::MAX))]
    pub(crate) limit: Option<u64>,
}

/// A range of keys: from `from`, which is included, to `to`, which is not. `None` is no bound.
pub(crate) struct Range {
    pub(crate) from: Option<Vec<u8>>,
    pub(crate) to: Option<Vec<u8>>,
}

impl RangeArgs {
    pub(crate) fn range(&self, keys: &KeyArgs) -> Result<Range, String> {
        if let Some(prefix) = &self.prefix {
            let prefix = keys.parse(prefix)?;
            return Ok(Range { to: prefix_end(&prefix), from: Some(prefix) });
        }
        let parse = |key: &Option<String>| key.as_ref().map(|key| keys.parse(key)).transpose();
        Ok(Range { from: parse(&self.from)?, to: parse(&self.to)? })
    }
}

impl Range {
    fn bounds(self) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
        let from = self.from.map_or(Bound::Unbounded, Bound::Included);
        (from, self.to.map_or(Bound::Unbounded, Bound::Excluded))
    }
}

pub(crate) fn run(args: &ScanArgs) -> Result<ExitCode, String> {
    let range = args.range.range(&args.rows.keys)?;
    Ok(Reporter::new(&args.rows.verbosity, true).one(&args.file, |_| process(args, range)))
}

fn process(args: &ScanArgs, range: Range) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.file, "scan");
    summary.silent = true;
    let file = open_blocks(&args.file, &args.pack)?;
    let mut rows = Rows::new(&args.rows)?;
    let printed = print(args, &file, range, &mut rows);
    // If the file is damaged, the records before the damage are still printed.
    rows.finish()?;
    printed.map(|()| summary)
}

fn print(
    args: &ScanArgs,
    file: &linerate_dict::BlockFile,
    range: Range,
    rows: &mut Rows<'_>,
) -> Result<(), CliError> {
    let mut reader = file.reader();
    let mut scan = file.scan(&mut reader, range.bounds());
    for _ in 0..args.range.limit.unwrap_or(u64::MAX) {
        match scan.next_record().map_err(engine_error)? {
            Some((key, _)) if args.only_keys => rows.write_key(key)?,
            Some((key, value)) => rows.write(key, value)?,
            None => break,
        }
    }
    Ok(())
}

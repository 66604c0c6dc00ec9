//! Arguments of `linerate-bench cold`, and the run.

#[cfg(feature = "plot")]
use std::path::PathBuf;

use super::case::{grouped, kib};
use super::row::Row;
use super::{BenchOptions, Case, Data, Kind, SWEEP, measure, published_cases, summary, table};
use crate::filter::parse_bytes;
use crate::output::{Output, OutputArgs, progress};

/// Text after the options in the help.
pub const EXAMPLES: &str = "\
Without --block, --dict, --count, --sweep and --quick, the cases of the tables that were published before are
measured, in about 20 minutes: blocks of 1, 4 and 8 KiB, dictionaries of 4, 8, 12 and 110 KiB, 1,245 to 30,000 of
them. Cases for which there is not enough memory are left out.

Examples:
  linerate-bench cold --quick                              one case for rows and for text, some seconds
  linerate-bench cold                                      all published cases
  linerate-bench cold --data my.log --block 4K --count 10000
  linerate-bench cold --sweep --data json --svg plots      from 1 to 30,000 dictionaries, drawn

SIZE is a number of bytes, or with K or M a multiple of 1024.";

/// Options of the measurement, and where the results go.
#[derive(clap::Args, Clone, Debug)]
pub struct ColdArgs {
    /// json (generated log rows), text ($LINERATE_CORPORA/silesia/dickens, or else text that the program
    /// carries), or files
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "json,text")]
    data: Vec<String>,
    /// Sizes of blocks [default: 4K]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = block)]
    block: Vec<usize>,
    /// Sizes of dictionaries [default: 8K]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = dictionary)]
    dict: Vec<usize>,
    /// Numbers of dictionaries, all different [default: 2500]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: Vec<u32>,
    /// 1, 2, 8, 30, 100, 300, 1000, 2500, 10000 and 30000 dictionaries
    #[arg(long, conflicts_with = "count")]
    sweep: bool,
    /// One small case and few rounds
    #[arg(long, conflicts_with_all = ["block", "dict", "count", "sweep"])]
    quick: bool,
    /// The level at which libzstd compresses
    #[arg(long, value_name = "N", default_value_t = 3, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    level: i32,
    /// Dictionaries with tables of sequences of half the size
    #[arg(long)]
    small_tables: bool,
    /// Passes of each contender over all blocks [default: 7, with --quick 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Jobs of a batch
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
    /// Least content per round; reached with several blocks per dictionary if necessary
    #[arg(long, value_name = "SIZE", default_value = "8M", value_parser = least)]
    least: usize,
    /// Seed of the choice of data and of the order of blocks
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The core to run on [default: the last one allowed]
    #[arg(long, value_name = "N")]
    core: Option<usize>,
    #[command(flatten)]
    output: OutputArgs,
    /// Draw the results into this folder: bars for the cases, lines from few to many dictionaries
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

fn block(text: &str) -> Result<usize, String> {
    within(text, 256, 128 << 10)
}

fn dictionary(text: &str) -> Result<usize, String> {
    within(text, 1 << 10, 1 << 20)
}

fn least(text: &str) -> Result<usize, String> {
    within(text, 0, 1 << 30)
}

fn within(text: &str, least: usize, most: usize) -> Result<usize, String> {
    match parse_bytes(text).map(usize::try_from)? {
        Ok(n) if (least..=most).contains(&n) => Ok(n),
        _ => Err(format!("`{text}`: not from {} to {}", kib(least), kib(most))),
    }
}

/// Measures, prints a table for each case and one of all, and keeps them.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &ColdArgs) -> Result<(), String> {
    let mut output = args.output.open::<Row>()?;
    let options = args.options();
    let datas = args.data.iter().map(|name| Data::find(name)).collect::<Result<Vec<_>, _>>()?;
    match (args.core, crate::pin(args.core)) {
        (Some(wanted), None) => return Err(format!("cannot run on core {wanted}")),
        (_, core) => progress(&core.map_or_else(String::new, |n| format!("core {n}"))),
    }
    let cases: Vec<(&Data, Case)> = datas
        .iter()
        .flat_map(|data| args.cases(data.kind).into_iter().map(move |case| (data, case)))
        .collect();
    for (i, (data, case)) in cases.iter().enumerate() {
        if args.is_default()
            && let Err(why) = super::need::check(case, options.least)
        {
            progress("");
            eprintln!("left out: {} blocks of {}: {why}", data.kind.name(), kib(case.block));
            continue;
        }
        let on_step = |what: &str| match what {
            "" => progress(""),
            _ => progress(&format!("{}: {what}", bar(i, cases.len()))),
        };
        let rows = measure(data, case, &options, on_step)?;
        output.show(&format!("{}\n", table(&rows)))?;
        output.add(rows)?;
    }
    args.finish(&output, cases.len())
}

impl ColdArgs {
    fn is_default(&self) -> bool {
        self.block.is_empty() && self.dict.is_empty() && self.count.is_empty() && !self.sweep && !self.quick
    }

    fn options(&self) -> BenchOptions {
        let rounds = self.rounds.unwrap_or(if self.quick { 3 } else { 7 });
        BenchOptions {
            level: self.level,
            small_tables: self.small_tables,
            rounds: rounds.into(),
            batch: self.batch.into(),
            seed: self.seed,
            least: self.least,
            trained: if self.quick { 2 } else { BenchOptions::default().trained },
            ..BenchOptions::default()
        }
    }

    fn cases(&self, kind: Kind) -> Vec<Case> {
        if self.is_default() {
            return published_cases(kind);
        }
        let or = |list: &[usize], usual: usize| if list.is_empty() { vec![usual] } else { list.to_vec() };
        let counts: Vec<usize> = match self.sweep {
            true => SWEEP.to_vec(),
            false => or(&self.count.iter().map(|&n| n as usize).collect::<Vec<_>>(), 2500),
        };
        let mut cases = Vec::new();
        for &block in &or(&self.block, 4 << 10) {
            for &dictionary in &or(&self.dict, 8 << 10) {
                cases.extend(counts.iter().map(|&count| Case { block, dictionary, count }));
            }
        }
        cases
    }

    fn finish(&self, output: &Output<'_, Row>, cases: usize) -> Result<(), String> {
        if cases > 1 {
            output.show(&summary(output.rows()))?;
        }
        #[cfg(feature = "plot")]
        if let Some(folder) = &self.svg {
            output.show(&format!("\n{}", super::draw::draw(output.rows(), folder)?))?;
        }
        output.finish()
    }
}

/// How many of all cases are done.
fn bar(done: usize, all: usize) -> String {
    const WIDTH: usize = 20;
    let full = WIDTH * done / all.max(1);
    format!("[{}{}] {} of {}", "=".repeat(full), " ".repeat(WIDTH - full), grouped(done + 1), grouped(all))
}

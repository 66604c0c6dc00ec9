//! The shape "cold": small zstd blocks decoded through thousands of dictionaries, each of which
//! leaves the CPU caches before its next use. It measures our decoder and libzstd's, with hot and
//! with cold dictionaries, in CPU time of one thread.

mod case;
mod contenders;
mod data;
mod dictionaries;
mod generated;
mod need;
mod opening;
mod sizes;
mod work;

use std::cell::RefCell;
use std::sync::Arc;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use linerate_dict::{HugePages, Id, Store};

pub use self::case::Case;
use self::case::{dictionaries as dictionaries_of, kib, size};
use self::contenders::{CHOICES, CONTENDERS, Contender as Row, Library, Requests, Tools};
pub use self::data::{Data, Kind};
use self::opening::DictionaryList;
use self::work::Work;
use crate::harness::filter::parse_bytes;
use crate::harness::{Clock, Common, Contender, Rounds, measure as harness, message, progress, row, same};
use crate::kernel::zstd::Digested;
use crate::records::Measurement;

/// Numbers of dictionaries of `--sweep`, from hot to cold.
const SWEEP: [u32; 10] = [1, 2, 8, 30, 100, 300, 1000, 2500, 10_000, 30_000];
/// Cases of the default run, for which others published figures (`records/published.jsonl`): KiB of
/// a block, KiB of a dictionary, number of dictionaries. Those after the first [`OF_ALL`] are for
/// text alone, with the numbers that zstd's largeNbDicts uses.
const CASES: [(usize, usize, usize); 22] = [
    (1, 8, 2500),
    (1, 8, 30_000),
    (4, 8, 2500),
    (4, 8, 30_000),
    (8, 8, 2500),
    (8, 8, 30_000),
    (4, 110, 2500),
    (4, 110, 30_000),
    (4, 4, 2500),
    (4, 12, 2500),
    (1, 4, 9954),
    (1, 8, 9954),
    (1, 12, 9954),
    (1, 110, 9954),
    (4, 4, 2489),
    (4, 8, 2489),
    (4, 12, 2489),
    (4, 110, 2489),
    (8, 4, 1245),
    (8, 8, 1245),
    (8, 12, 1245),
    (8, 110, 1245),
];
/// Number of cases that every kind of data has: the first ones of [`CASES`].
const OF_ALL: usize = 10;
/// Seed for the places of the data that are used, and for the order of blocks and dictionaries.
const SEED: u64 = 1;
/// Maximum number of blocks that are decoded before each timed pass, untimed: the last ones of the
/// pass.
const WARMUP_BLOCKS: usize = 4096;

/// Options of `linerate-bench cold`.
#[derive(Args, Clone, Debug)]
pub struct ColdArgs {
    /// json, log, sqlite, protobuf (generated), text ($LINERATE_CORPORA/silesia/dickens, or else
    /// text that the program carries), or files [default: json,text; with --sizes the first five]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    data: Vec<String>,
    /// Measure sizes instead of speeds, at levels 1, 3, 6 and 9 with dictionaries of linerate and
    /// libzstd and without; and the time of training
    #[arg(long, conflicts_with_all = ["count", "sweep", "small_tables", "batch", "least", "level"])]
    sizes: bool,
    /// Sizes of blocks [default: those of published figures, or 4K beside --dict, --count, --sweep
    /// or --quick; with --sizes 1K,4K,16K]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = |text: &str| within(text, 256, 128 << 10))]
    block: Vec<usize>,
    /// Sizes of dictionaries [default: those of published figures, or 8K beside --block, --count,
    /// --sweep or --quick; with --sizes 2K,4K,8K,16K, with --quick only the first]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = |text: &str| within(text, 1 << 10, 1 << 20))]
    dict: Vec<usize>,
    /// Numbers of dictionaries, all different [default: those of published figures, or 2500 beside
    /// --block, --dict or --quick]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: Vec<u32>,
    /// Measure 1, 2, 8, 30, 100, 300, 1000, 2500, 10000 and 30000 dictionaries; with --quick the
    /// first five numbers
    #[arg(long, conflicts_with = "count")]
    sweep: bool,
    #[command(flatten)]
    options: ColdOptions,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// How one case is measured.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ColdOptions {
    /// The level at which libzstd compresses
    #[arg(long, value_name = "N", default_value_t = 3, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    pub level: i32,
    /// Use dictionaries whose sequence tables have half the size
    #[arg(long)]
    pub small_tables: bool,
    /// Number of jobs in a batch
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = RangedU64ValueParser::<usize>::new().range(1..=65_535))]
    pub batch: usize,
    /// Content of a round in bytes, unless one block for each dictionary has more; with few
    /// dictionaries, each has several blocks
    #[arg(long, value_name = "SIZE", default_value = "8M", value_parser = |text: &str| within(text, 0, 1 << 30))]
    pub least: usize,
    /// Number of trained dictionaries. Every dictionary has the tables of one of them.
    #[arg(skip = 8usize)]
    pub trained: usize,
    /// Whether opening all dictionaries is also measured.
    #[arg(skip = true)]
    pub opening: bool,
}

impl Default for ColdOptions {
    fn default() -> Self {
        ColdOptions { level: 3, small_tables: false, batch: 64, least: 8 << 20, trained: 8, opening: true }
    }
}

fn within(text: &str, least: usize, most: usize) -> Result<usize, String> {
    match parse_bytes(text).map(usize::try_from)? {
        Ok(n) if (least..=most).contains(&n) => Ok(n),
        _ => Err(format!("`{text}`: not from {} to {}", kib(least), kib(most))),
    }
}

/// Measures each case of each kind of data, or with `--sizes` sizes of blocks.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &ColdArgs) -> Result<(), String> {
    let mut output = args.common.open_pinned()?;
    let usual: &[&str] = if args.sizes { &sizes::DATA } else { &["json", "text"] };
    let named: Vec<&str> = args.data.iter().map(String::as_str).collect();
    let named = if named.is_empty() { usual } else { &named[..] };
    let all = named.iter().map(|name| Data::find(name)).collect::<Result<Vec<_>, _>>()?;
    if args.sizes {
        let or =
            |list: &[usize], usual: &[usize]| if list.is_empty() { usual.to_vec() } else { list.to_vec() };
        let usual = if args.common.quick { &sizes::DICTIONARIES[..1] } else { &sizes::DICTIONARIES[..] };
        let (dictionaries, blocks) = (or(&args.dict, usual), or(&args.block, &sizes::BLOCKS));
        for data in &all {
            for &dictionary in &dictionaries {
                output
                    .add("Sizes of blocks with dictionaries", sizes::measure(data, dictionary, &blocks)?)?;
            }
        }
        return output.finish();
    }
    let mut options = args.options.clone();
    if args.common.quick {
        options.trained = 2;
    }
    for data in &all {
        for case in args.cases(data.kind) {
            if let (true, Err(why)) = (args.is_default(), need::check(&case, options.least)) {
                eprintln!("left out: {} blocks of {}: {why}", data.kind.name(), kib(case.block));
                continue;
            }
            let found = measure(data, &case, &options, args.common.rounds(7))?;
            let said = sentence(&found);
            output.add("Blocks and their dictionaries, CPU time of one thread", found)?;
            if let Some(sentence) = said {
                output.say(&format!("{sentence}\n"))?;
            }
        }
    }
    output.finish()
}

impl ColdArgs {
    fn is_default(&self) -> bool {
        self.block.is_empty()
            && self.dict.is_empty()
            && self.count.is_empty()
            && !self.sweep
            && !self.common.quick
    }

    fn cases(&self, kind: Kind) -> Vec<Case> {
        if self.is_default() {
            let count = if kind == Kind::Text { CASES.len() } else { OF_ALL };
            let case = |&(block, dictionary, count)| Case {
                block: block << 10,
                dictionary: dictionary << 10,
                count,
            };
            return CASES[..count].iter().map(case).collect();
        }
        let or = |list: &[usize], usual: usize| if list.is_empty() { vec![usual] } else { list.to_vec() };
        let sweep = if self.common.quick { &SWEEP[..5] } else { &SWEEP[..] };
        let counts: &[u32] = if self.sweep { sweep } else { &self.count };
        let counts = or(&counts.iter().map(|&n| n as usize).collect::<Vec<_>>(), 2500);
        let mut cases = Vec::new();
        for &block in &or(&self.block, 4 << 10) {
            for &dictionary in &or(&self.dict, 8 << 10) {
                cases.extend(counts.iter().map(|&count| Case { block, dictionary, count }));
            }
        }
        cases
    }
}

/// Names of the contenders: library, choice of dictionaries, and way to call.
pub fn names() -> Vec<String> {
    let batch = ColdOptions::default().batch;
    let name = |row: &Row| format!("{}, {}, {}", row.library.name(), row.mode, row.calls.name(batch));
    CONTENDERS.iter().map(name).collect()
}

/// Measures one case: first, if the options say so, opening a store in each way, then decoding.
/// Before decoding is timed, the content of every block is verified with every contender.
///
/// # Errors
/// A sentence, if memory or data are not sufficient, or a decoder fails or returns other content.
pub fn measure(
    data: &Data,
    case: &Case,
    options: &ColdOptions,
    rounds: usize,
) -> Result<Vec<Measurement>, String> {
    need::check(case, options.least)?;
    progress(&format!("{}, {}: training", kib(case.block), dictionaries_of(case.count, case.dictionary)));
    let list = Arc::new(DictionaryList(dictionaries::make(data, case, options)?));
    let dictionaries = &list.0;
    let blank = |shape: &str, library: Library, mode: &str| {
        let row = row(shape, data.kind.name(), library.name())
            .param("block", size(case.block))
            .param("dictionary", size(case.dictionary))
            .param("count", case.count)
            .param("level", options.level)
            .param("tables", if options.small_tables { "small" } else { "full" })
            .param("mode", mode);
        if data.kind == Kind::Json { row } else { row.param("text", data.name.as_str()) }
    };
    let blank_open = |library: Library, mode: &str| blank("cold-open", library, mode);
    let opened = match options.opening {
        true => opening::measure(data, case, options, &list, rounds, &blank_open)?,
        false => Vec::new(),
    };

    let store = Store::new();
    let insert = |bytes: &Vec<u8>| store.insert(bytes).map_err(message);
    let ids = dictionaries.iter().map(insert).collect::<Result<Vec<Id>, _>>()?;
    let digested: Option<Vec<Digested<'_>>> = dictionaries.iter().map(|bytes| Digested::new(bytes)).collect();
    let digested = digested.ok_or("libzstd has no memory")?;
    let requests = |choice| {
        let work = Work::new(data, case, choice, (&store, &ids), options)?;
        Ok(Requests::new(work, &ids, &digested, dictionaries))
    };
    let all: Vec<_> = CHOICES.into_iter().map(requests).collect::<Result<_, String>>()?;
    let of = |row: &Row| &all[CHOICES.iter().position(|choice| *choice == row.choice).unwrap_or_default()];
    let tools = RefCell::new(Tools::new(&store, dictionaries, case.block, options.batch)?);
    for row in &CONTENDERS {
        check(row, of(row), &mut tools.borrow_mut())?;
    }
    let contenders = CONTENDERS.iter().map(|row| {
        let requests = of(row);
        let measurement = blank("cold", row.library, row.mode)
            .param("calls", row.calls.name(options.batch))
            .exact("ratio", requests.work.ratio())
            .size("beside", beside(row.library, &store, &digested, dictionaries));
        let measurement = match (row.library, store.stats().huge_pages) {
            (Library::Linerate, HugePages::Refused) => measurement.param("huge_pages", "refused"),
            _ => measurement,
        };
        let tools = &tools;
        let turn = move |_| {
            let tools = &mut tools.borrow_mut();
            let first = requests.work.len().saturating_sub(WARMUP_BLOCKS);
            requests.pass(row, first, tools, &mut |_, _| Ok(()))?;
            Clock::Thread.time(|| requests.pass(row, 0, tools, &mut |_, _| Ok(()))).map(|((), time)| time)
        };
        let contender =
            Contender::new(measurement, turn).bytes(requests.work.bytes).units(requests.work.len());
        contender.by("speed_by_hot", row.hot).by("speed_by_none", row.none)
    });
    let mut found = harness(contenders.collect(), Rounds::parts(rounds, 1))?;
    found.extend(opened);
    Ok(found)
}

/// Decodes every block once with one contender and compares the content.
fn check(row: &Row, requests: &Requests<'_>, tools: &mut Tools<'_>) -> Result<(), String> {
    let mut seen = 0;
    let mut on_content = |i: usize, content: &[u8]| {
        seen += 1;
        same(content, requests.work.content(i))
    };
    let done = requests.pass(row, 0, tools, &mut on_content);
    let message = |what: String| format!("{} {} {}: {what}", row.library.name(), row.mode, row.calls.name(0));
    done.map_err(message)?;
    match requests.work.len() {
        all if seen == all => Ok(()),
        all => Err(message(format!("{seen} of {all} blocks came out"))),
    }
}

/// Bytes of memory that a library takes for each dictionary beside the dictionary itself.
fn beside(library: Library, store: &Store, theirs: &[Digested<'_>], dictionaries: &[Vec<u8>]) -> usize {
    let count = dictionaries.len().max(1);
    match library {
        Library::Libzstd => theirs.iter().map(Digested::memory).sum::<usize>() / count,
        Library::Linerate => {
            let stats = store.stats();
            let own: usize = dictionaries.iter().map(Vec::len).sum();
            (stats.raw_bytes + stats.table_bytes + stats.slot_bytes).saturating_sub(own) / count
        }
    }
}

/// Summarises one case in a sentence; `None` if a measurement that the sentence needs is missing.
pub fn sentence(found: &[Measurement]) -> Option<String> {
    let metric = |m: &Measurement, name: &str| m.metrics.get(name).map(|figure| figure.median);
    let of = |library: &str, mode: &str, calls: &str| {
        let is = |m: &&Measurement| {
            let calls_of = m.params.get("calls").and_then(|v| v.as_str()).unwrap_or_default();
            m.shape == "cold"
                && m.contender == library
                && m.params["mode"] == mode
                && calls_of.starts_with(calls)
        };
        found
            .iter()
            .filter(is)
            .max_by(|a, b| metric(a, "speed").unwrap_or(0.0).total_cmp(&metric(b, "speed").unwrap_or(0.0)))
    };
    let speed = |m: &Measurement| metric(m, "speed");
    let (stock, best) = (of("libzstd", "cold", "single")?, of("libzstd", "cold", "")?);
    let (batch, single) = (of("linerate", "cold", "batch")?, of("linerate", "cold", "single")?);
    let share = |m: &Measurement| metric(m, "speed_by_hot").map(|share| 100.0 * share);
    Some(format!(
        "{} blocks of {} whose dictionaries are in no cache: libzstd decodes {:.0} MB/s, {:.0} % of its speed \
         with a hot dictionary; its best way ({}) reaches {:.0} MB/s. linerate in batches decodes {:.0} MB/s, \
         {:.0} % of its own hot speed and {:.2} times libzstd's best; one by one {:.2} times.",
        stock.data,
        stock.params["block"].as_str()?,
        speed(stock)?,
        share(stock)?,
        best.params["calls"].as_str()?,
        speed(best)?,
        speed(batch)?,
        share(batch)?,
        speed(batch)? / speed(best)?,
        speed(single)? / speed(best)?,
    ))
}

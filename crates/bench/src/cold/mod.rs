//! The shape "cold": small blocks decoded through thousands of dictionaries, each evicted from the CPU
//! caches before its next use. Ours and libzstd, hot and cold, in CPU time of one thread.

#[cfg(feature = "command")]
pub mod args;
mod case;
mod contenders;
mod data;
mod dictionaries;
#[cfg(feature = "plot")]
mod draw;
mod need;
mod opening;
mod plan;
mod published;
mod rounds;
pub mod row;
mod table;
mod work;

use std::sync::Arc;

use linerate_dict::{HugePages, Id, Store};

pub use self::case::Case;
use self::case::kib;
use self::contenders::{CHOICES, Calls, Contender, Library, Requests, Tools};
pub use self::data::{Data, Kind};
use self::opening::DictionaryList;
pub use self::plan::{SWEEP, published_cases};
pub use self::published::{PUBLISHED, Published, SOURCE};
use self::rounds::Times;
use self::row::Row;
pub use self::table::{sentence, summary, table};
use self::work::Work;
use crate::kernel::zstd::Digested;
use crate::stats;

/// Options of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchOptions {
    /// The level at which libzstd compresses.
    pub level: i32,
    /// Whether dictionaries have small tables of sequences.
    pub small_tables: bool,
    /// Passes of each contender over all blocks.
    pub rounds: usize,
    /// Jobs of a batch.
    pub batch: usize,
    /// Seed of the choice of data and of the order of blocks.
    pub seed: u64,
    /// Trained dictionaries; the others share the tables of one of these.
    pub trained: usize,
    /// Least content per round, in bytes; reached with several blocks per dictionary if necessary.
    pub least: usize,
    /// Whether to measure opening a store as well.
    pub opening: bool,
}

impl Default for BenchOptions {
    fn default() -> Self {
        BenchOptions {
            level: 3,
            small_tables: false,
            rounds: 7,
            batch: 64,
            seed: 1,
            trained: 8,
            least: 8 << 20,
            opening: true,
        }
    }
}

/// Measures one case after verifying every block with every contender. Returns a row per contender, then
/// one per way to open a store.
///
/// # Errors
/// A sentence: there is not enough memory or data, or a decoder failed.
pub fn measure(
    data: &Data,
    case: &Case,
    options: &BenchOptions,
    mut progress: impl FnMut(&str),
) -> Result<Vec<Row>, String> {
    need::check(case, options.least)?;
    let name = format!(
        "{}, {} blocks, {}",
        data.kind.name(),
        kib(case.block),
        case::dictionaries(case.count, case.dictionary)
    );
    let mut report = |what: &str| progress(&format!("{name}: {what}"));
    report("training");
    let dictionary_list = Arc::new(DictionaryList(dictionaries::make(data, case, options)?));
    let dictionaries = &dictionary_list.0;
    let openings = match options.opening {
        true => {
            report("opening");
            opening::measure(data, case, options, &dictionary_list)?
        }
        false => Vec::new(),
    };
    report("compressing");
    let store = Store::new();
    let insert = |bytes: &Vec<u8>| store.insert(bytes).map_err(|e| e.to_string());
    let ids = dictionaries.iter().map(insert).collect::<Result<Vec<Id>, _>>()?;
    let digested: Option<Vec<Digested<'_>>> = dictionaries.iter().map(|bytes| Digested::new(bytes)).collect();
    let digested = digested.ok_or("libzstd has no memory")?;
    let requests = |choice| {
        let work = Work::new(data, case, choice, (&store, &ids), options)?;
        Ok(Requests::new(work, &ids, &digested, dictionaries))
    };
    let all: Vec<_> = CHOICES.into_iter().map(requests).collect::<Result<_, String>>()?;
    let of = |contender: &Contender| {
        &all[CHOICES.iter().position(|choice| *choice == contender.choice).unwrap_or_default()]
    };
    let mut tools = Tools::new(&store, dictionaries, case.block, options.batch)?;
    report("checking");
    rounds::check(of, &mut tools)?;
    let times = rounds::time(of, &mut tools, options.rounds, |round| {
        report(&format!("round {} of {}", round + 1, options.rounds));
    })?;
    progress("");

    let blank = Row {
        level: options.level,
        tables: if options.small_tables { "small" } else { "full" },
        seed: options.seed,
        ..Row::blank(data, case)
    };
    let beside = |library| beside(library, &store, &digested, dictionaries);
    let published = Published::of(data.kind, case);
    let row = |i: usize| {
        let contender = &times[i].contender;
        let row = decoded(&times, i, of(contender), options.batch, &blank);
        Row {
            beside_bytes: Some(beside(contender.library)),
            huge_pages: if contender.library == Library::Linerate { pages(&store) } else { "" },
            ..with_published(row, contender, published)
        }
    };
    let rows = (0..times.len()).map(row);
    let opened = openings.iter().map(|opening| {
        let row = timed(&opening.rounds, 1, &blank);
        let (contender, version) = (opening.library.name(), opening.library.version());
        Row { measure: "open", contender, version, mode: opening.mode, blocks: 1, ..row }
    });
    Ok(rows.chain(opened).collect())
}

/// The row of a contender.
fn decoded(times: &[Times], i: usize, requests: &Requests<'_>, batch: usize, blank: &Row) -> Row {
    let Times { contender, rounds } = &times[i];
    let best = |at: usize| stats::best(&times[at].rounds).unwrap_or_default();
    let by = |at: usize| best(at).as_secs_f64() / best(i).as_secs_f64();
    let pairs = times[contender.hot].rounds.iter().zip(rounds);
    let ratios = pairs.map(|(hot, own)| hot.as_secs_f64() / own.as_secs_f64()).collect();
    let work = &requests.work;
    let speed = |time| stats::speed(work.bytes, time);
    Row {
        measure: "cold",
        contender: contender.library.name(),
        version: contender.library.version(),
        mode: contender.mode,
        calls: contender.calls.name(batch),
        blocks: work.len(),
        ratio: Some(work.ratio()),
        best_mbs: stats::best(rounds).map(speed),
        median_mbs: stats::median(rounds).map(speed),
        share: Some(by(contender.hot)),
        share_median: Some(stats::middle(ratios)),
        vs_none: Some(by(contender.none)),
        ..timed(rounds, work.len(), blank)
    }
}

fn timed(rounds: &[std::time::Duration], blocks: usize, blank: &Row) -> Row {
    let us = |time: Option<std::time::Duration>| {
        time.unwrap_or_default().as_secs_f64() * 1e6 / blocks.max(1) as f64
    };
    Row {
        rounds: rounds.len(),
        best_us: us(stats::best(rounds)),
        median_us: us(stats::median(rounds)),
        ..blank.clone()
    }
}

/// Bytes held for each dictionary beside its own.
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

fn pages(store: &Store) -> &'static str {
    match store.stats().huge_pages {
        HugePages::Off => "off",
        HugePages::Advised => "advised",
        HugePages::Refused => "refused",
    }
}

fn with_published(row: Row, contender: &Contender, published: Option<&Published>) -> Row {
    let Some(published) = published else { return row };
    let percent = match (contender.library, contender.mode, contender.calls) {
        (Library::Libzstd, "hot", _) => Some(100.0),
        (Library::Libzstd, "none", _) => published.none,
        (Library::Libzstd, "cold", Calls::Single) => Some(published.cold),
        (Library::Libzstd, "cold", Calls::Burst) => published.burst,
        (Library::Libzstd, "cold", Calls::Copy) => published.copy,
        (Library::Libzstd, "cold", Calls::Raw) => published.raw,
        (Library::Libzstd, _, Calls::Sorted) => published.sorted,
        (Library::Linerate, "cold", Calls::Batch) => published.ahead,
        (Library::Linerate, _, Calls::Sorted) => published.sorted_ahead,
        _ => None,
    };
    Row {
        published_mbs: percent.map(|percent| published.hot * percent / 100.0),
        published_share: percent.map(|percent| percent / 100.0),
        ..row
    }
}

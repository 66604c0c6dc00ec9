//! A measurement of the shape "bytes": the contenders, and a record of each.

use std::fmt::Write;

use crate::corpus::Corpus;
use crate::environment as env;
use crate::filter::{Chunk, Filter};
use crate::record::Record;
use crate::table::{Entry, Loaded, table};
use crate::{measure, stats, verify};

/// Bases of comparison, the first that is available.
const BASES: [&str; 3] = ["libslz deflate", "ISA-L 1 deflate", "zlib-rs 1 deflate"];

/// Contenders and a corpus, ready to measure.
pub struct Session<'c> {
    corpus: &'c Corpus,
    entries: Vec<Entry>,
    loaded: Vec<Loaded>,
    absent: Vec<(String, String)>,
    base: usize,
    blank: Record,
}

impl<'c> Session<'c> {
    /// Makes the contenders that the filter admits, and the base of comparison: the one that
    /// `base` names, or the first available of the usual ones.
    ///
    /// # Errors
    /// A sentence, if there is no such base.
    pub fn new(corpus: &'c Corpus, only: &Filter, base: Option<&str>) -> Result<Self, String> {
        let base = choose_base(base)?;
        let blank = blank("bytes", corpus);
        let mut session = Session { corpus, entries: vec![], loaded: vec![], absent: vec![], base: 0, blank };
        for entry in table() {
            let label = entry.label();
            if label != base && !only.admits(&label) {
                continue;
            }
            match (entry.make)() {
                Ok(contender) => {
                    if label == base {
                        session.base = session.loaded.len();
                    }
                    session.entries.push(entry);
                    session.loaded.push(contender);
                }
                Err(why) => session.absent.push((label, why)),
            }
        }
        Ok(session)
    }

    /// Checks every contender's output at this chunk size, then times all of them.
    ///
    /// # Errors
    /// What a contender says, or that its output does not decode to its input.
    pub fn measure(
        &mut self,
        chunk: Chunk,
        rounds: usize,
        progress: impl Fn(&str),
    ) -> Result<Vec<Record>, String> {
        let files = &self.corpus.files;
        let labels: Vec<_> = self.entries.iter().map(Entry::label).collect();
        let mut sizes = Vec::new();
        for (contender, label) in self.loaded.iter_mut().zip(&labels) {
            progress(&format!("{chunk} chunks: checking {label}"));
            let size = verify::encode_and_check(&mut **contender, files, chunk.size());
            sizes.push(size.map_err(|e| format!("{label}: {e}"))?);
        }
        let shown = |round| progress(&format!("{chunk} chunks: round {} of {rounds}", round + 1));
        let times = measure::run(&mut self.loaded, files, chunk.size(), rounds, shown)
            .map_err(|(index, e)| format!("{}: {e}", labels[index]))?;
        progress("");
        let bytes = self.corpus.bytes();
        let speeds: Vec<_> = times.iter().map(|t| Speeds::of(bytes, t)).collect();
        let one = |i| self.record(i, chunk, &sizes, &speeds, rounds);
        Ok((0..self.loaded.len()).map(one).collect())
    }

    fn record(&self, i: usize, chunk: Chunk, sizes: &[usize], speeds: &[Speeds], rounds: usize) -> Record {
        let (entry, contender) = (&self.entries[i], &self.loaded[i]);
        Record {
            chunk: chunk.to_string(),
            contender: entry.name.clone(),
            version: contender.version(),
            format: entry.format.into(),
            ratio: self.corpus.bytes() as f64 / sizes[i] as f64,
            best_mbs: speeds[i].best,
            median_mbs: speeds[i].median,
            base: self.base(),
            speed_vs_base: speeds[i].best / speeds[self.base].best,
            ratio_vs_base: sizes[self.base] as f64 / sizes[i] as f64,
            state_bytes: contender.state_bytes(),
            scratch_bytes: contender.scratch_bytes(),
            rounds,
            ..self.blank.clone()
        }
    }

    /// The label of the base of comparison.
    pub fn base(&self) -> String {
        self.entries[self.base].label()
    }

    /// One line for each contender that was asked for but is not available here.
    pub fn absent(&self) -> String {
        self.absent.iter().fold(String::new(), |mut text, (label, why)| {
            let _ = writeln!(text, "{label}: not available: {why}");
            text
        })
    }
}

struct Speeds {
    best: f64,
    median: f64,
}

impl Speeds {
    fn of(bytes: usize, times: &[std::time::Duration]) -> Self {
        let speed = |time: Option<_>| time.map_or(0.0, |t| stats::speed(bytes, t));
        Speeds { best: speed(stats::best(times)), median: speed(stats::median(times)) }
    }
}

/// A record with what is the same for all contenders.
pub(crate) fn blank(shape: &str, corpus: &Corpus) -> Record {
    Record {
        shape: shape.into(),
        date: env::date(),
        cpu: env::cpu(),
        rustc: env::rustc().into(),
        linerate: env::linerate(),
        corpus: corpus.name.clone(),
        bytes: corpus.bytes(),
        files: corpus.files.len(),
        command: env::command(),
        ..Record::default()
    }
}

/// The label of the contender that `wanted` names, by its label or by its name alone; without a
/// wish, the first of [`BASES`] that is available.
fn choose_base(wanted: Option<&str>) -> Result<String, String> {
    let entries = table();
    let found = match wanted {
        Some(w) => {
            let is = |e: &&Entry| e.label().eq_ignore_ascii_case(w) || e.name.eq_ignore_ascii_case(w);
            entries.iter().find(is).ok_or_else(|| format!("no contender is named `{w}`; see `list`"))?
        }
        None => {
            let usual = BASES.iter().filter_map(|base| entries.iter().find(|e| e.label() == *base));
            usual.into_iter().find(|e| (e.make)().is_ok()).ok_or("no base of comparison is available")?
        }
    };
    match (found.make)() {
        Ok(_) => Ok(found.label()),
        Err(why) => Err(format!("{}: not available: {why}", found.label())),
    }
}

/// All contenders, with version or the reason for their absence.
pub fn list() -> String {
    table().iter().fold(String::new(), |mut text, entry| {
        let state = match (entry.make)() {
            Ok(contender) => contender.version(),
            Err(why) => format!("not available: {why}"),
        };
        let _ = writeln!(text, "{:24}{state}", entry.label());
        text
    })
}

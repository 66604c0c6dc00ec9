//! Who decodes, and how.

use linerate_dict::{Decoder, Id, Job, Order, Store};

use super::work::{Choice, Work};
use crate::kernel::zstd::{Context, Digested, With};

/// Jobs of a batch that is to be sorted by dictionary.
pub(crate) const SORTED: usize = 4096;
/// How many blocks ahead libzstd's dictionaries are asked for, where they are.
const AHEAD: usize = 2;

/// A decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// `linerate-dict`.
    Linerate,
    /// libzstd.
    Libzstd,
}

impl Who {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Who::Linerate => "linerate",
            Who::Libzstd => "libzstd",
        }
    }

    pub(crate) fn version(self) -> String {
        match self {
            Who::Linerate => format!("{} {}", env!("CARGO_PKG_VERSION"), linerate_core::cpu::tier().name()),
            Who::Libzstd => zstd_safe::version_string().into(),
        }
    }
}

/// How blocks get to a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// One by one.
    Single,
    /// In batches, in the order in which they come.
    Batch,
    /// In batches of 4096, in the order of their dictionaries.
    Sorted,
    /// One by one; the memory of a dictionary is asked for two blocks ahead.
    Burst,
    /// One by one, with the bytes of the dictionary instead of its tables.
    Raw,
}

/// What is measured: a row of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contender {
    /// Who decodes.
    pub(crate) who: Who,
    /// Which dictionaries: `hot`, `two`, `none`, `cold`, or `random` for sorted batches.
    pub(crate) mode: &'static str,
    /// How the blocks come.
    pub(crate) calls: Calls,
    pub(crate) choice: Choice,
    /// Place of its own hot row.
    pub(crate) hot: usize,
    /// Place of its own row without dictionaries.
    pub(crate) none: usize,
}

const fn row(
    who: Who,
    mode: &'static str,
    choice: Choice,
    calls: Calls,
    (hot, none): (usize, usize),
) -> Contender {
    Contender { who, mode, calls, choice, hot, none }
}

/// All contenders; what is hot comes first.
pub(crate) const CONTENDERS: [Contender; 15] = [
    row(Who::Linerate, "hot", Choice::Hot, Calls::Single, (0, 3)),
    row(Who::Linerate, "hot", Choice::Hot, Calls::Batch, (1, 4)),
    row(Who::Linerate, "two", Choice::Two, Calls::Single, (0, 3)),
    row(Who::Linerate, "none", Choice::Nothing, Calls::Single, (0, 3)),
    row(Who::Linerate, "none", Choice::Nothing, Calls::Batch, (1, 4)),
    row(Who::Linerate, "cold", Choice::Cold, Calls::Single, (0, 3)),
    row(Who::Linerate, "cold", Choice::Cold, Calls::Batch, (1, 4)),
    row(Who::Linerate, "random", Choice::Random, Calls::Sorted, (1, 4)),
    row(Who::Libzstd, "hot", Choice::Hot, Calls::Single, (8, 10)),
    row(Who::Libzstd, "two", Choice::Two, Calls::Single, (8, 10)),
    row(Who::Libzstd, "none", Choice::Nothing, Calls::Single, (8, 10)),
    row(Who::Libzstd, "cold", Choice::Cold, Calls::Single, (8, 10)),
    row(Who::Libzstd, "cold", Choice::Cold, Calls::Burst, (8, 10)),
    row(Who::Libzstd, "random", Choice::Random, Calls::Sorted, (8, 10)),
    row(Who::Libzstd, "cold", Choice::Cold, Calls::Raw, (8, 10)),
];

/// Each choice once.
pub(crate) const CHOICES: [Choice; 5] =
    [Choice::Hot, Choice::Two, Choice::Nothing, Choice::Cold, Choice::Random];

/// Is told the number of a request and what its block decoded to.
pub(crate) type See<'a> = &'a mut dyn FnMut(usize, &[u8]) -> Result<(), String>;

/// What all contenders share: contexts, and room for what they decode.
pub(crate) struct Tools {
    decoder: Decoder,
    context: Context,
    rooms: Vec<u8>,
    block: usize,
    batch: usize,
}

impl Tools {
    pub(crate) fn new(store: &Store, block: usize, batch: usize) -> Result<Tools, String> {
        let context = Context::new().ok_or("libzstd has no memory")?;
        let rooms = vec![0; block * batch.max(SORTED)];
        Ok(Tools { decoder: Decoder::new(store), context, rooms, block, batch })
    }
}

/// The requests of one choice, with the dictionaries that each decoder calls by other names.
pub(crate) struct Requests<'a> {
    pub(crate) work: Work<'a>,
    ids: Vec<Id>,
    digested: Vec<Option<&'a Digested<'a>>>,
    raw: Vec<&'a [u8]>,
    numbers: Vec<u32>,
}

impl<'a> Requests<'a> {
    pub(crate) fn new(work: Work<'a>, ids: &[Id], digested: &'a [Digested<'a>], raw: &'a [Vec<u8>]) -> Self {
        let of = |i: Option<usize>| (i.map_or(Id::NONE, |i| ids[i]), i.map(|i| &digested[i]));
        let (ids, digested) = work.dictionaries().map(of).unzip();
        let raw = work.dictionaries().map(|i| i.map_or(&[][..], |i| &raw[i])).collect();
        let numbers = work.dictionaries().map(|i| i.map_or(0, |i| i as u32)).collect();
        Requests { work, ids, digested, raw, numbers }
    }

    /// Decodes the requests from `first` on.
    pub(crate) fn pass(
        &self,
        contender: &Contender,
        first: usize,
        tools: &mut Tools,
        see: See<'_>,
    ) -> Result<(), String> {
        match (contender.who, contender.calls) {
            (Who::Linerate, Calls::Batch) => self.batches(first, tools.batch, Order::AsGiven, tools, see),
            (Who::Linerate, Calls::Sorted) => self.batches(first, SORTED, Order::ByDictionary, tools, see),
            (Who::Linerate, _) => self.single(first, tools, see),
            (Who::Libzstd, Calls::Sorted) => self.theirs_sorted(first, tools, see),
            (Who::Libzstd, calls) => self.theirs(calls, first, tools, see),
        }
    }

    fn single(&self, first: usize, tools: &mut Tools, see: See<'_>) -> Result<(), String> {
        let out = &mut tools.rooms[..tools.block];
        for (i, &id) in self.ids.iter().enumerate().skip(first) {
            let n = tools.decoder.decode(id, self.work.frame(i), out).map_err(|e| e.to_string())?;
            see(i, &out[..n])?;
        }
        Ok(())
    }

    fn batches(
        &self,
        first: usize,
        size: usize,
        order: Order,
        tools: &mut Tools,
        see: See<'_>,
    ) -> Result<(), String> {
        for start in (first..self.ids.len()).step_by(size) {
            let all = start..self.ids.len().min(start + size);
            let rooms = tools.rooms.chunks_exact_mut(tools.block);
            let job = |(i, room)| Job::new(self.ids[i], self.work.frame(i), room);
            let mut jobs: Vec<Job<'_>> = all.zip(rooms).map(job).collect();
            tools.decoder.decode_batch(&mut jobs, order);
            for (i, job) in jobs.iter().enumerate() {
                let n = job.result.map_err(|e| e.to_string())?;
                see(start + i, &job.dst[..n])?;
            }
        }
        Ok(())
    }

    fn theirs(&self, calls: Calls, first: usize, tools: &mut Tools, see: See<'_>) -> Result<(), String> {
        let out = &mut tools.rooms[..tools.block];
        for (i, digested) in self.digested.iter().enumerate().skip(first) {
            if calls == Calls::Burst
                && let Some(Some(coming)) = self.digested.get(i + AHEAD)
            {
                coming.burst();
            }
            let with = match digested {
                Some(_) if calls == Calls::Raw => With::Raw(self.raw[i]),
                Some(digested) => With::Digested(digested),
                None => With::Nothing,
            };
            let n = tools.context.decode(with, self.work.frame(i), out)?;
            see(i, &out[..n])?;
        }
        Ok(())
    }

    fn theirs_sorted(&self, first: usize, tools: &mut Tools, see: See<'_>) -> Result<(), String> {
        let mut order = Vec::with_capacity(SORTED);
        for start in (first..self.ids.len()).step_by(SORTED) {
            order.clear();
            order.extend(start as u32..self.ids.len().min(start + SORTED) as u32);
            order.sort_unstable_by_key(|&i| self.numbers[i as usize]);
            for &i in &order {
                let i = i as usize;
                let with = self.digested[i].map_or(With::Nothing, With::Digested);
                let out = &mut tools.rooms[(i - start) * tools.block..][..tools.block];
                let n = tools.context.decode(with, self.work.frame(i), out)?;
                see(i, &out[..n])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_refers_to_its_own_hot_one() {
        for contender in CONTENDERS {
            let [hot, none] = [contender.hot, contender.none].map(|at| CONTENDERS[at]);
            assert_eq!(
                (hot.who, hot.mode, none.who, none.mode),
                (contender.who, "hot", contender.who, "none")
            );
            let batch =
                |calls| matches!(calls, Calls::Batch | Calls::Sorted) && contender.who == Who::Linerate;
            assert_eq!(batch(hot.calls), batch(contender.calls));
        }
    }
}

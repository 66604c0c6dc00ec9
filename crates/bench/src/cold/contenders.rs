//! Contenders of the shape "cold": a library, a choice of dictionaries, and a way to call it.

use linerate_dict::{Decoder, Id, Job, Order, Store};

use super::work::{Choice, Work};
use crate::harness::message;
use crate::kernel::zstd::{Context, Digested, HotCopies, With, prefetch_all};

/// Number of jobs in a batch that is sorted by dictionary.
pub(crate) const SORTED: usize = 4096;
/// Number of blocks by which libzstd's dictionaries and compressed blocks are prefetched ahead.
const AHEAD: usize = 2;

/// A decoder library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// `linerate-dict`.
    Linerate,
    /// libzstd.
    Libzstd,
}

impl Library {
    /// Name of the library in records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Library::Linerate => "linerate",
            Library::Libzstd => "libzstd",
        }
    }
}

/// How a decoder is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// A call for each block.
    Single,
    /// A call for each batch of blocks, in the given order.
    Batch,
    /// Batches of 4,096 blocks, ordered by dictionary: a call for each batch or, of libzstd, for
    /// each block.
    Sorted,
    /// A call for each block. Before it, the dictionary and the compressed block of the call after
    /// the next are prefetched.
    Burst,
    /// A call for each block, before which the dictionary's tables and content are copied to one
    /// place, which stays in the cache.
    Copy,
    /// As `Copy`, with the source of the copy and the compressed block prefetched, as in `Burst`.
    CopyBurst,
    /// A call for each block, which gets the bytes of the dictionary instead of its tables.
    Raw,
    /// As `Raw`, with the bytes of the dictionary copied to one place before each block.
    RawCopy,
    /// As `RawCopy`, with the source of the copy and the compressed block prefetched, as in
    /// `Burst`.
    RawCopyBurst,
}

impl Calls {
    /// Name of the way to call in records. `batch` is the number of jobs in a batch that is not
    /// sorted.
    pub(crate) fn name(self, batch: usize) -> String {
        match self {
            Calls::Single => "single".into(),
            Calls::Batch => format!("batch {batch}"),
            Calls::Sorted => format!("sorted {SORTED}"),
            Calls::Burst => "burst".into(),
            Calls::Copy => "copy".into(),
            Calls::CopyBurst => "copy burst".into(),
            Calls::Raw => "raw".into(),
            Calls::RawCopy => "raw copy".into(),
            Calls::RawCopyBurst => "raw copy burst".into(),
        }
    }
}

/// A contender: a library, called in one way with one choice of dictionaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contender {
    /// The decoder.
    pub(crate) library: Library,
    /// Name of the choice of dictionaries in records: `hot`, `two`, `none`, `cold`, or `random` for
    /// sorted batches.
    pub(crate) mode: &'static str,
    /// How the decoder is called.
    pub(crate) calls: Calls,
    pub(crate) choice: Choice,
    /// Index in [`CONTENDERS`] of the contender with hot dictionaries to compare with.
    pub(crate) hot: usize,
    /// Index in [`CONTENDERS`] of the contender without dictionaries to compare with.
    pub(crate) none: usize,
}

const fn row(
    library: Library,
    mode: &'static str,
    choice: Choice,
    calls: Calls,
    (hot, none): (usize, usize),
) -> Contender {
    Contender { library, mode, calls, choice, hot, none }
}

/// All contenders: those of Linerate, then those of libzstd, the hot ones of each library first.
pub(crate) const CONTENDERS: [Contender; 19] = [
    row(Library::Linerate, "hot", Choice::Hot, Calls::Single, (0, 3)),
    row(Library::Linerate, "hot", Choice::Hot, Calls::Batch, (1, 4)),
    row(Library::Linerate, "two", Choice::Two, Calls::Single, (0, 3)),
    row(Library::Linerate, "none", Choice::Nothing, Calls::Single, (0, 3)),
    row(Library::Linerate, "none", Choice::Nothing, Calls::Batch, (1, 4)),
    row(Library::Linerate, "cold", Choice::Cold, Calls::Single, (0, 3)),
    row(Library::Linerate, "cold", Choice::Cold, Calls::Batch, (1, 4)),
    row(Library::Linerate, "random", Choice::Random, Calls::Sorted, (1, 4)),
    row(Library::Libzstd, "hot", Choice::Hot, Calls::Single, (8, 10)),
    row(Library::Libzstd, "two", Choice::Two, Calls::Single, (8, 10)),
    row(Library::Libzstd, "none", Choice::Nothing, Calls::Single, (8, 10)),
    row(Library::Libzstd, "cold", Choice::Cold, Calls::Single, (8, 10)),
    row(Library::Libzstd, "cold", Choice::Cold, Calls::Burst, (8, 10)),
    row(Library::Libzstd, "random", Choice::Random, Calls::Sorted, (8, 10)),
    row(Library::Libzstd, "cold", Choice::Cold, Calls::Copy, (8, 10)),
    row(Library::Libzstd, "cold", Choice::Cold, Calls::CopyBurst, (8, 10)),
    row(Library::Libzstd, "cold", Choice::Cold, Calls::Raw, (8, 10)),
    row(Library::Libzstd, "cold", Choice::Cold, Calls::RawCopy, (8, 10)),
    row(Library::Libzstd, "cold", Choice::Cold, Calls::RawCopyBurst, (8, 10)),
];

/// All choices of dictionaries, each once.
pub(crate) const CHOICES: [Choice; 5] =
    [Choice::Hot, Choice::Two, Choice::Nothing, Choice::Cold, Choice::Random];

/// A function that is called with the index of a request and its decoded content.
pub(crate) type OnContent<'a> = &'a mut dyn FnMut(usize, &[u8]) -> Result<(), String>;

/// Decoders, contexts and output buffers that all contenders share.
pub(crate) struct Tools<'a> {
    decoder: Decoder,
    context: Context,
    copies: HotCopies<'a>,
    buffers: Vec<u8>,
    block: usize,
    batch: usize,
}

impl<'a> Tools<'a> {
    pub(crate) fn new(
        store: &Store,
        dictionaries: &'a [Vec<u8>],
        block: usize,
        batch: usize,
    ) -> Result<Tools<'a>, String> {
        let context = Context::new().ok_or("libzstd has no memory")?;
        let copies = HotCopies::new(dictionaries).ok_or("libzstd refuses a dictionary")?;
        let buffers = vec![0; block * batch.max(SORTED)];
        Ok(Tools { decoder: Decoder::new(store), context, copies, buffers, block, batch })
    }
}

/// Requests to decode with one choice of dictionaries, and the dictionary of each request in the
/// form that each library takes.
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

    /// Decodes the requests from index `first` to the last in the way of a contender, and calls
    /// `on_content` for each of them.
    pub(crate) fn pass(
        &self,
        contender: &Contender,
        first: usize,
        tools: &mut Tools<'_>,
        on_content: OnContent<'_>,
    ) -> Result<(), String> {
        match (contender.library, contender.calls) {
            (Library::Linerate, Calls::Batch) => {
                self.batches(first, tools.batch, Order::AsGiven, tools, on_content)
            }
            (Library::Linerate, Calls::Sorted) => {
                self.batches(first, SORTED, Order::ByDictionary, tools, on_content)
            }
            (Library::Linerate, _) => self.single(first, tools, on_content),
            (Library::Libzstd, Calls::Sorted) => self.theirs_sorted(first, tools, on_content),
            (Library::Libzstd, calls) => self.theirs(calls, first, tools, on_content),
        }
    }

    fn single(&self, first: usize, tools: &mut Tools<'_>, on_content: OnContent<'_>) -> Result<(), String> {
        let out = &mut tools.buffers[..tools.block];
        for (i, &id) in self.ids.iter().enumerate().skip(first) {
            let n = tools.decoder.decode(id, self.work.frame(i), out).map_err(message)?;
            on_content(i, &out[..n])?;
        }
        Ok(())
    }

    fn batches(
        &self,
        first: usize,
        size: usize,
        order: Order,
        tools: &mut Tools<'_>,
        on_content: OnContent<'_>,
    ) -> Result<(), String> {
        for start in (first..self.ids.len()).step_by(size) {
            let all = start..self.ids.len().min(start + size);
            let buffers = tools.buffers.chunks_exact_mut(tools.block);
            let job = |(i, buffer)| Job::new(self.ids[i], self.work.frame(i), buffer);
            let mut jobs: Vec<Job<'_>> = all.zip(buffers).map(job).collect();
            tools.decoder.decode_batch(&mut jobs, order);
            for (i, job) in jobs.iter().enumerate() {
                let n = job.result.map_err(message)?;
                on_content(start + i, &job.dst[..n])?;
            }
        }
        Ok(())
    }

    fn theirs(
        &self,
        calls: Calls,
        first: usize,
        tools: &mut Tools<'_>,
        on_content: OnContent<'_>,
    ) -> Result<(), String> {
        let Tools { copies, context, buffers, block, .. } = tools;
        let out = &mut buffers[..*block];
        for (i, digested) in self.digested.iter().enumerate().skip(first) {
            if matches!(calls, Calls::Burst | Calls::CopyBurst | Calls::RawCopyBurst)
                && let Some(Some(coming)) = self.digested.get(i + AHEAD)
            {
                let number = self.numbers[i + AHEAD] as usize;
                match calls {
                    Calls::CopyBurst => copies.prefetch_digested(number),
                    Calls::RawCopyBurst => copies.prefetch_raw(number),
                    _ => coming.prefetch(),
                }
                prefetch_all(self.work.frame(i + AHEAD));
            }
            let number = self.numbers[i] as usize;
            let with = match (digested, calls) {
                (None, _) => With::Nothing,
                (Some(_), Calls::Copy | Calls::CopyBurst) => copies.copy_digested(number),
                (Some(_), Calls::RawCopy | Calls::RawCopyBurst) => copies.copy_raw(number),
                (Some(_), Calls::Raw) => With::Raw(self.raw[i]),
                (Some(digested), _) => With::Digested(digested),
            };
            let n = context.decode(with, self.work.frame(i), out)?;
            on_content(i, &out[..n])?;
        }
        Ok(())
    }

    fn theirs_sorted(
        &self,
        first: usize,
        tools: &mut Tools<'_>,
        on_content: OnContent<'_>,
    ) -> Result<(), String> {
        let mut order = Vec::with_capacity(SORTED);
        for start in (first..self.ids.len()).step_by(SORTED) {
            order.clear();
            order.extend(start as u32..self.ids.len().min(start + SORTED) as u32);
            order.sort_unstable_by_key(|&i| self.numbers[i as usize]);
            for &i in &order {
                let i = i as usize;
                let with = self.digested[i].map_or(With::Nothing, With::Digested);
                let out = &mut tools.buffers[(i - start) * tools.block..][..tools.block];
                let n = tools.context.decode(with, self.work.frame(i), out)?;
                on_content(i, &out[..n])?;
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
                (hot.library, hot.mode, none.library, none.mode),
                (contender.library, "hot", contender.library, "none")
            );
            let batch = |calls| {
                matches!(calls, Calls::Batch | Calls::Sorted) && contender.library == Library::Linerate
            };
            assert_eq!(batch(hot.calls), batch(contender.calls));
        }
    }
}

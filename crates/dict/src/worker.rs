//! Per-thread decoding: one block is decoded while the memory of the next one is prefetched.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{
    self as zstd, Dictionary, ExpandedHuffman, Format, MAX_TABLES, Options, PrefetchQueue, RequiredParts,
    Scratch,
};

use crate::id::Id;
use crate::kernel::{Digested, Pin, fetch};
use crate::stats::Counters;
use crate::store::Shared;

/// Content of larger dictionaries is not prefetched as a whole, only the lines that the block copies from,
/// once they are known.
const SMALL_CONTENT: usize = 16 << 10;

/// Recently used dictionaries, assumed to be in the CPU caches.
const RECENT: usize = 4;

pub(crate) struct Worker {
    scratch: Scratch,
    /// Buffer for tables that are built for one block.
    tables: Box<[u64]>,
    /// Huffman codes of the dictionary `codes_of`, unless that is `Id::NONE`.
    codes: ExpandedHuffman,
    codes_of: Id,
    recent: [Id; RECENT],
    /// Index in `recent` to be replaced next.
    turn: usize,
    pub(crate) counters: Counters,
}

/// A block whose dictionary is pinned.
pub(crate) struct Ready<'a> {
    id: Id,
    pin: Option<Pin<'a>>,
    needs: RequiredParts,
    /// Whether the dictionary is assumed not to be in the CPU caches.
    cold: bool,
    /// Whether its content was prefetched, or need not be.
    content: bool,
}

impl Worker {
    pub(crate) fn new() -> Self {
        Worker {
            scratch: Scratch::new(),
            tables: vec![0; MAX_TABLES.div_ceil(8)].into(),
            codes: ExpandedHuffman::new(),
            codes_of: Id::NONE,
            recent: [Id::NONE; RECENT],
            turn: 0,
            counters: Counters::default(),
        }
    }

    /// Pins the dictionary of a block.
    #[inline]
    pub(crate) fn open<'a>(&mut self, shared: &'a Shared, id: Id, block: &[u8]) -> Result<Ready<'a>> {
        let pin = shared.open(id)?;
        let cold = !self.recent.contains(&id);
        if cold {
            self.recent[self.turn] = id;
            self.turn = (self.turn + 1) % RECENT;
        }
        Ok(Ready { id, pin, needs: RequiredParts::from_frame(block, Format::Standard), cold, content: !cold })
    }

    /// Decodes a block, prefetching the lines in `next` meanwhile.
    pub(crate) fn decode(
        &mut self,
        ready: &Ready<'_>,
        block: &[u8],
        dst: &mut [u8],
        next: &mut PrefetchQueue,
    ) -> Result<usize> {
        let Worker { scratch, tables, codes, codes_of, counters, .. } = self;
        let dictionary = match ready.pin.as_ref().map(|pin| (pin, pin.digested())) {
            None => None,
            Some((_, Some(digested))) => {
                counters.with_tables += 1;
                if ready.needs.huffman && *codes_of != ready.id && digested.digest.is_trained() {
                    *codes_of = Id::NONE;
                    codes.expand(&digested.digest, digested.tables)?;
                    *codes_of = ready.id;
                }
                Some(digested.with(codes))
            }
            Some((pin, None)) => {
                counters.without_tables += 1;
                Some(Dictionary::tables_into(pin.bytes(), bytemuck::cast_slice_mut(tables))?)
            }
        };
        let decoder = zstd::Decoder::new(Options::new().two_phase(!ready.content));
        counters.prefetched_lines += next.lines() as u64;
        let sizes = decoder.decode_prefetching(scratch, dictionary.as_ref(), block, dst, next)?;
        if sizes.read != block.len() {
            return Err(Error::new(Kind::Corrupt, sizes.read as u64, "bytes follow the frame of a block"));
        }
        Ok(sizes.written)
    }

    /// Counts a block and its result.
    pub(crate) fn count(&mut self, result: &Result<usize>) {
        self.counters.blocks += 1;
        self.counters.errors += u64::from(result.is_err());
    }
}

impl Ready<'_> {
    /// Enqueues prefetches of what the block requires of its dictionary.
    pub(crate) fn list(&mut self, next: &mut PrefetchQueue) {
        let Some(Digested { digest, tables, content }) = digested(&self.pin).filter(|_| self.cold) else {
            return;
        };
        // The piece enqueued last is prefetched first.
        if self.needs.content && content.len() <= SMALL_CONTENT {
            next.enqueue(content);
            self.content = true;
        }
        self.needs.enqueue_prefetch(&digest, tables, next);
    }

    /// Prefetches the tables immediately, for a first block with no previous block to hide the latency, and
    /// enqueues the content.
    pub(crate) fn hurry(&mut self, own: &mut PrefetchQueue) {
        if let Some(digested) = digested(&self.pin).filter(|_| self.cold) {
            fetch(digested.tables);
            if digested.content.len() <= SMALL_CONTENT {
                own.enqueue(digested.content);
                self.content = true;
            }
        }
    }
}

fn digested<'a>(pin: &'a Option<Pin<'_>>) -> Option<Digested<'a>> {
    pin.as_ref()?.digested()
}

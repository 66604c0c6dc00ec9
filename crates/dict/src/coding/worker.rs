//! Decodes blocks of one thread: one block is decoded while the memory of the next one is
//! prefetched.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{
    self as zstd, Dictionary, ExpandedHuffman, Format, MAX_TABLES, Options, PrefetchQueue, RequiredParts,
    Scratch,
};

use crate::id::Id;
use crate::prefetch::read_ahead;
use crate::stats::Counters;
use crate::store::shared::Shared;
use crate::sys::{Digested, Pin};

/// Largest content that is prefetched as a whole, in bytes. Of larger contents, only the lines that
/// the block copies from are prefetched, once they are known.
const SMALL_CONTENT: usize = 16 << 10;

/// Number of recently used dictionaries that are assumed to be in the CPU caches.
const RECENT: usize = 4;

pub(crate) struct Worker {
    scratch: Scratch,
    /// Buffer for tables that are built for one block.
    tables: Box<[u64]>,
    /// Expanded Huffman table of the dictionary `huffman_of`, unless that is `Id::NONE`.
    huffman: ExpandedHuffman,
    huffman_of: Id,
    recent: [Id; RECENT],
    /// Index in `recent` that is replaced next.
    next_recent: usize,
    pub(crate) counters: Counters,
}

/// A block whose dictionary is pinned.
pub(crate) struct Ready<'a> {
    id: Id,
    pin: Option<Pin<'a>>,
    required: RequiredParts,
    /// Whether the dictionary is assumed not to be in the CPU caches.
    cold: bool,
    /// Whether the content was prefetched, or need not be.
    content: bool,
}

impl Worker {
    pub(crate) fn new() -> Self {
        Worker {
            scratch: Scratch::new(),
            tables: vec![0; MAX_TABLES.div_ceil(8)].into(),
            huffman: ExpandedHuffman::new(),
            huffman_of: Id::NONE,
            recent: [Id::NONE; RECENT],
            next_recent: 0,
            counters: Counters::default(),
        }
    }

    /// Pins the dictionary of a block, after reading it and building its tables if necessary.
    #[inline]
    pub(crate) fn open<'a>(&mut self, shared: &'a Shared, id: Id, block: &[u8]) -> Result<Ready<'a>> {
        let pin = shared.open(id)?;
        let cold = !self.recent.contains(&id);
        if cold {
            self.recent[self.next_recent] = id;
            self.next_recent = (self.next_recent + 1) % RECENT;
        }
        Ok(Ready {
            id,
            pin,
            required: RequiredParts::from_frame(block, Format::Standard),
            cold,
            content: !cold,
        })
    }

    /// Decodes a block, and prefetches the lines in `next` meanwhile.
    pub(crate) fn decode(
        &mut self,
        ready: &Ready<'_>,
        block: &[u8],
        dst: &mut [u8],
        next: &mut PrefetchQueue,
    ) -> Result<usize> {
        let Worker { scratch, tables, huffman, huffman_of, counters, .. } = self;
        let dictionary = match ready.pin.as_ref().map(|pin| (pin, pin.digested())) {
            None => None,
            Some((_, Some(digested))) => {
                counters.with_tables += 1;
                if ready.required.huffman && *huffman_of != ready.id && digested.digest.is_trained() {
                    *huffman_of = Id::NONE;
                    huffman.expand(&digested.digest, digested.tables)?;
                    *huffman_of = ready.id;
                }
                Some(digested.with(huffman))
            }
            Some((pin, None)) => {
                counters.without_tables += 1;
                Some(Dictionary::tables_into(pin.bytes(), bytemuck::cast_slice_mut(tables))?)
            }
        };
        let decoder = zstd::FrameDecoder::new(Options::new().two_phase(!ready.content));
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
    /// Enqueues prefetches of the dictionary's tables and, if it is small, of its content, as far
    /// as the block requires them, unless the dictionary is assumed to be in the CPU caches.
    pub(crate) fn enqueue_prefetch(&mut self, next: &mut PrefetchQueue) {
        let Some(Digested { digest, tables, content }) = digested(&self.pin).filter(|_| self.cold) else {
            return;
        };
        // The piece enqueued last is prefetched first.
        if self.required.content && content.len() <= SMALL_CONTENT {
            next.enqueue(content);
            self.content = true;
        }
        self.required.enqueue_prefetch(&digest, tables, next);
    }

    /// Reads the required tables and a small content immediately, for a block with no previous one
    /// to hide the latency, unless they are assumed to be in the CPU caches.
    pub(crate) fn read_ahead(&mut self) {
        if let Some(digested) = digested(&self.pin).filter(|_| self.cold) {
            let tables = self.required.range(&digested.digest, digested.tables);
            let whole = self.required.content && digested.content.len() <= SMALL_CONTENT;
            self.content |= whole;
            read_ahead([tables, if whole { digested.content } else { &[] }]);
        }
    }
}

fn digested<'a>(pin: &'a Option<Pin<'_>>) -> Option<Digested<'a>> {
    pin.as_ref()?.digested()
}

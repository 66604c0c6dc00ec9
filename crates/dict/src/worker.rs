//! One thread's part: decoding one block while the memory of the next is fetched.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{
    self as zstd, Dictionary, ExpandedHuffman, Format, MAX_TABLES, Options, PrefetchQueue, RequiredParts,
    Scratch,
};

use crate::id::Id;
use crate::kernel::{Digested, Pin, fetch};
use crate::stats::Counters;
use crate::store::Shared;

/// Of larger dictionaries, not all content is fetched ahead, but the lines that the block copies
/// from, once they are known.
const SMALL_CONTENT: usize = 16 << 10;

/// Dictionaries used last whose memory is taken to be at hand.
const RECENT: usize = 4;

pub(crate) struct Worker {
    scratch: Scratch,
    /// Room for the tables of a dictionary that are not kept.
    tables: Box<[u64]>,
    /// The codes of the dictionary `codes_of`, if it is one.
    codes: ExpandedHuffman,
    codes_of: Id,
    recent: [Id; RECENT],
    /// Where the next one goes.
    turn: usize,
    pub(crate) counters: Counters,
}

/// A block whose dictionary is pinned.
pub(crate) struct Ready<'a> {
    id: Id,
    pin: Option<Pin<'a>>,
    needs: RequiredParts,
    /// Whether the memory of the dictionary is not taken to be at hand.
    cold: bool,
    /// Whether its content was asked for, or need not be.
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

    /// Opens the dictionary of a block.
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

    /// Decodes a block, asking for the lines of `next` meanwhile.
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

    /// Counts a block and what became of it.
    pub(crate) fn count(&mut self, result: &Result<usize>) {
        self.counters.blocks += 1;
        self.counters.errors += u64::from(result.is_err());
    }
}

impl Ready<'_> {
    /// Lists what a block needs of its dictionary.
    pub(crate) fn list(&mut self, next: &mut PrefetchQueue) {
        let Some(Digested { digest, tables, content }) = digested(&self.pin).filter(|_| self.cold) else {
            return;
        };
        // The last piece is asked for first.
        if self.needs.content && content.len() <= SMALL_CONTENT {
            next.enqueue(content);
            self.content = true;
        }
        self.needs.enqueue_prefetch(&digest, tables, next);
    }

    /// Asks for what it needs of the tables at once, for who has no block to decode meanwhile, and lists
    /// the content.
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

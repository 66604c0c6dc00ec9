//! One thread's part: decoding one block while the memory of the next is fetched.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{self as zstd, Dictionary, MAX_TABLES, Options, Prefetch, Scratch};

use crate::kernel::{Pin, fetch};
use crate::stats::Tally;

/// Of larger dictionaries, not all content is fetched ahead, but the lines that the block copies
/// from, once they are known.
const SMALL_CONTENT: usize = 16 << 10;

pub(crate) struct Worker {
    scratch: Scratch,
    /// Room for the tables of a dictionary that are not kept.
    tables: Box<[u64]>,
    pub(crate) tally: Tally,
}

impl Worker {
    pub(crate) fn new() -> Self {
        let tables = vec![0; MAX_TABLES.div_ceil(8)].into();
        Worker { scratch: Scratch::new(), tables, tally: Tally::default() }
    }

    /// Decodes a block with the dictionary of `pin`, asking for the lines of `next` meanwhile.
    pub(crate) fn decode(
        &mut self,
        pin: Option<&Pin<'_>>,
        block: &[u8],
        dst: &mut [u8],
        next: &mut Prefetch,
    ) -> Result<usize> {
        let Worker { scratch, tables, tally } = self;
        let dictionary = match pin.map(|pin| (pin, pin.dictionary())) {
            None => None,
            Some((_, Some(digested))) => {
                tally.with_tables += 1;
                Some(digested)
            }
            Some((pin, None)) => {
                tally.without_tables += 1;
                Some(Dictionary::tables_into(pin.bytes(), bytemuck::cast_slice_mut(tables))?)
            }
        };
        let large = dictionary.as_ref().is_some_and(|d| d.content().len() > SMALL_CONTENT);
        let decoder = zstd::Decoder::new(Options::new().with_two_phase(large));
        tally.lines += next.lines() as u64;
        let sizes = decoder.decode_prefetching(scratch, dictionary.as_ref(), block, dst, next)?;
        if sizes.read != block.len() {
            return Err(Error::new(Kind::Corrupt, sizes.read as u64, "bytes follow the frame of a block"));
        }
        Ok(sizes.written)
    }

    /// Counts a block and what became of it.
    pub(crate) fn count(&mut self, result: &Result<usize>) {
        self.tally.blocks += 1;
        self.tally.errors += u64::from(result.is_err());
    }
}

/// Lists what a block and its dictionary have in memory.
pub(crate) fn list(next: &mut Prefetch, pin: Option<&Pin<'_>>, block: &[u8]) {
    // The last piece is asked for first.
    if let Some(dictionary) = pin.and_then(Pin::dictionary) {
        let content = dictionary.content();
        if content.len() <= SMALL_CONTENT {
            next.add(content);
        }
        next.add(dictionary.tables());
    }
    next.add(block);
}

/// Asks for all tables of a dictionary at once, for who has no block to decode meanwhile.
pub(crate) fn hurry(pin: &Pin<'_>) {
    if let Some(dictionary) = pin.dictionary() {
        fetch(dictionary.tables());
    }
}

//! The dictionary segment: zstd dictionaries, and the blocks that use them.
//!
//! The payload is a u64 (from the lowest bit up: last block 22 bits, mapping count 22, dictionary
//! count 8, has hashes 1); an index per mapping (u8); a run length per mapping (u8); padding to 4
//! bytes; the size of each dictionary (u32); if there are hashes, padding to 8 bytes and the
//! XXH3-64 of each dictionary (u64); the dictionaries. The mappings assign dictionaries to blocks
//! 0, 1, 2 ... in order. Blocks with index 255, and blocks after the last mapping, have no
//! dictionary.

use linerate_core::{Error, Kind, Result};

use super::header::{bits, u32_at, u64_at};
use super::segment::{self, Sizes};
use crate::block::memory::copied;
use crate::format::hash::HashKind;
use crate::format::limits::Limits;

/// Maximum number of dictionaries.
pub(crate) const MAX_DICTIONARIES: usize = 254;

const SIZES: Sizes = Sizes { compressed: 27, content: 28, may_be_stored: true };

/// The index that means no dictionary.
const NONE: u8 = 255;

/// Maximum number of mappings, and maximum number of the last block.
const MAX_MAPPINGS: usize = (1 << 22) - 1;

/// The dictionaries of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dictionaries {
    /// The dictionaries, at most 254. Each is a trained dictionary or plain bytes.
    pub dictionaries: Vec<Vec<u8>>,
    /// The index of each block's dictionary. Blocks after the end of the list have none.
    pub of_block: Vec<Option<u8>>,
    /// Whether the segment had hashes of the dictionaries, which were checked. Hashes are always
    /// written.
    pub hashed: bool,
}

impl Dictionaries {
    /// Returns the index of a block's dictionary.
    pub fn for_block(&self, block: usize) -> Option<u8> {
        self.of_block.get(block).copied().flatten()
    }

    /// Returns the bytes of a dictionary by index.
    pub fn get(&self, index: u8) -> Option<&[u8]> {
        self.dictionaries.get(usize::from(index)).map(Vec::as_slice)
    }

    /// Parses the segment after offset `from`. Also returns its end offset.
    pub(super) fn parse(
        head: &[u8],
        from: usize,
        blocks: u32,
        limits: &Limits,
    ) -> Result<(Dictionaries, usize)> {
        let segment = segment::parse(head, from, SIZES, limits, |word| match bits(word, 55, 4) {
            0 => Ok(()),
            _ => Err(Error::new(Kind::Unsupported, 0, "dictionaries of an unknown version")),
        })?;
        let found = Dictionaries::parse_payload(&segment.payload, blocks as usize)
            .map_err(|e| e.with_offset(from.next_multiple_of(8) as u64))?;
        Ok((found, segment.end))
    }

    fn parse_payload(payload: &[u8], blocks: usize) -> Result<Dictionaries> {
        let mut rest = Rest { payload, at: 0 };
        let word = u64_at(rest.take(8)?, 0);
        let last_block = bits(word, 0, 22) as usize;
        let mappings = bits(word, 22, 22) as usize;
        let count = bits(word, 44, 8) as usize;
        let hashed = bits(word, 52, 1) == 1;
        if count > MAX_DICTIONARIES {
            return Err(Error::corrupt("more than 254 dictionaries"));
        }
        let (indices, runs) = (rest.take(mappings)?, rest.take(mappings)?);
        let of_block = expand_runs(indices, runs, count, blocks)?;
        // Some writers store the number of blocks instead of the number of the last block.
        if last_block != of_block.len() && last_block + 1 != of_block.len() {
            return Err(Error::corrupt("dictionaries that do not end at the last block that is stated"));
        }
        rest.align(4);
        let sizes = rest.take(4 * count)?;
        let hashes = if hashed {
            rest.align(8);
            rest.take(8 * count)?
        } else {
            &[]
        };
        let mut dictionaries = Vec::with_capacity(count);
        for i in 0..count {
            let dictionary = rest.take(u32_at(sizes, 4 * i) as usize)?;
            if hashed && HashKind::Xxh3.hash_bytes(dictionary) != u64_at(hashes, 8 * i) {
                return Err(Error::corrupt("a dictionary that does not match its hash"));
            }
            dictionaries.push(copied(dictionary, 0)?);
        }
        match rest.at == payload.len() {
            true => Ok(Dictionaries { dictionaries, of_block, hashed }),
            false => Err(Error::corrupt("bytes after the last dictionary")),
        }
    }

    /// Appends the segment.
    #[cfg(feature = "pack")]
    pub(super) fn write(&self, blocks: usize, out: &mut Vec<u8>) -> Result<()> {
        let payload = self.payload(blocks)?;
        segment::write(&payload, SIZES, 0, out)
    }

    #[cfg(feature = "pack")]
    fn payload(&self, blocks: usize) -> Result<Vec<u8>> {
        let bad = |what| Error::new(Kind::BadArgument, 0, what);
        let limit = |what| Error::new(Kind::Limit, 0, what);
        let count = self.dictionaries.len();
        if count > MAX_DICTIONARIES {
            return Err(limit("the format holds 254 dictionaries"));
        }
        let last = self.of_block.iter().rposition(Option::is_some);
        let used = &self.of_block[..last.map_or(0, |last| last + 1)];
        if used.len() > blocks {
            return Err(bad("a dictionary for a block that is not there"));
        }
        if used.iter().flatten().any(|index| usize::from(*index) >= count) {
            return Err(bad("a block of a dictionary that is not there"));
        }
        let runs: Vec<&[Option<u8>]> =
            used.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(usize::from(u8::MAX))).collect();
        let last = last.unwrap_or(0);
        if runs.len() > MAX_MAPPINGS || last > MAX_MAPPINGS {
            return Err(limit("the format holds dictionaries for 4194304 blocks"));
        }
        let word = 1 << 52 | (count as u64) << 44 | (runs.len() as u64) << 22 | last as u64;
        let mut out = word.to_le_bytes().to_vec();
        out.extend(runs.iter().map(|run| run[0].unwrap_or(NONE)));
        // Runs are split into parts of at most 255 blocks.
        out.extend(runs.iter().map(|run| run.len() as u8));
        out.resize(out.len().next_multiple_of(4), 0);
        for dictionary in &self.dictionaries {
            let size = u32::try_from(dictionary.len()).map_err(|_| limit("a dictionary of 4 GiB or more"))?;
            out.extend_from_slice(&size.to_le_bytes());
        }
        out.resize(out.len().next_multiple_of(8), 0);
        for dictionary in &self.dictionaries {
            out.extend_from_slice(&HashKind::Xxh3.hash_bytes(dictionary).to_le_bytes());
        }
        self.dictionaries.iter().for_each(|dictionary| out.extend_from_slice(dictionary));
        Ok(out)
    }
}

/// Expands the mappings to one index per block.
fn expand_runs(indices: &[u8], runs: &[u8], count: usize, blocks: usize) -> Result<Vec<Option<u8>>> {
    let mut of_block = Vec::new();
    for (&index, &run) in indices.iter().zip(runs) {
        if run == 0 {
            return Err(Error::corrupt("dictionaries for a run of no blocks"));
        }
        if index != NONE && usize::from(index) >= count {
            return Err(Error::corrupt("blocks of a dictionary that is not there"));
        }
        // Checked before allocating.
        if of_block.len() + usize::from(run) > blocks {
            return Err(Error::corrupt("dictionaries for more blocks than there are"));
        }
        of_block.resize(of_block.len() + usize::from(run), (index != NONE).then_some(index));
    }
    Ok(of_block)
}

/// The unread rest of the payload.
struct Rest<'a> {
    payload: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(len);
        let bytes = end.and_then(|end| self.payload.get(self.at..end));
        self.at = self.at.saturating_add(len);
        bytes.ok_or(Error::corrupt("dictionaries that end early"))
    }

    fn align(&mut self, to: usize) {
        self.at = self.at.next_multiple_of(to);
    }
}

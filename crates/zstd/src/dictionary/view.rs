//! Dictionaries as decoders use them: tables and content, owned or in memory of the caller.

use alloc::boxed::Box;
use alloc::vec;

use linerate_core::{Error, Kind, Result};

use crate::dictionary::digest::{Digest, SLACK};
use crate::dictionary::expanded_huffman::ExpandedHuffman;
use crate::dictionary::parse::{Parsed, is_trained, raw_digest};
use crate::entropy::fse::{self, Cell};
use crate::entropy::huffman::{CanonicalTree, HuffmanTable};
use crate::entropy::tables::{FseTable, RepeatOffsets, SequenceField};
use crate::output::HistorySegment;
use crate::prefetch::PrefetchQueue;

/// Memory that holds the tables, and the content unless it is outside.
enum Region<'a> {
    /// In units of `u64`, to align the tables.
    Owned(Box<[u64]>),
    Borrowed(&'a [u8]),
    /// Compact tables, and the expanded Huffman table.
    Compact(&'a [u8], &'a ExpandedHuffman),
}

/// A digested dictionary.
///
/// A trained dictionary has at most 9 KiB of tables beside its content; a raw content dictionary
/// has none. In a region that has both, the tables precede the content. They do not depend on their
/// address, so you can move a region, or keep many in an arena.
pub struct Dictionary<'a> {
    digest: Digest,
    region: Region<'a>,
    /// The content, if it is outside the region.
    outside: Option<&'a [u8]>,
}

/// Allocates at least `len` zeroed bytes, aligned to 8.
fn words(len: usize) -> Box<[u64]> {
    vec![0; len.div_ceil(8)].into()
}

impl Dictionary<'static> {
    /// Digests a dictionary and copies its content. If `bytes` do not begin with the magic number
    /// of trained dictionaries, or are fewer than 8, they are raw content.
    ///
    /// # Errors
    /// Returns [`Kind::Truncated`] or [`Kind::Corrupt`] for a damaged trained dictionary, and
    /// [`Kind::Limit`] for content of 4 GiB or more.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        if !is_trained(bytes) {
            return Self::raw(bytes);
        }
        let parsed = Parsed::read(bytes)?;
        let mut region = words(parsed.digest.region_len());
        parsed.fill(bytemuck::cast_slice_mut(&mut region));
        Ok(Dictionary { digest: parsed.digest, region: Region::Owned(region), outside: None })
    }

    /// Copies `content` as raw content, even if it begins like a trained dictionary.
    ///
    /// # Errors
    /// Returns [`Kind::Limit`] for 4 GiB or more.
    pub fn raw(content: &[u8]) -> Result<Self> {
        let digest = raw_digest(content)?;
        let mut region = words(digest.region_len());
        bytemuck::cast_slice_mut(&mut region)[..content.len()].copy_from_slice(content);
        Ok(Dictionary { digest, region: Region::Owned(region), outside: None })
    }
}

/// Writes the tables and the content of a dictionary to `region`.
fn fill(bytes: &[u8], region: &mut [u8]) -> Result<Digest> {
    if is_trained(bytes) {
        let parsed = Parsed::read(bytes)?;
        check_region(&parsed.digest, region)?;
        parsed.fill(region);
        return Ok(parsed.digest);
    }
    let digest = raw_digest(bytes)?;
    check_region(&digest, region)?;
    region[..bytes.len()].copy_from_slice(bytes);
    Ok(digest)
}

fn check_region(digest: &Digest, region: &[u8]) -> Result<()> {
    check_capacity(digest.region_len(), region)
}

fn check_capacity(needed: usize, region: &[u8]) -> Result<()> {
    if region.len() < needed {
        return Err(Error::new(Kind::OutputTooSmall, 0, "the region is too small for the dictionary"));
    }
    if !region.as_ptr().cast::<Cell>().is_aligned() {
        return Err(Error::new(
            Kind::BadArgument,
            0,
            "the region of a dictionary is not aligned to four bytes",
        ));
    }
    Ok(())
}

impl<'a> Dictionary<'a> {
    /// Parses a dictionary without building its tables. The returned [`Digest`] has the sizes that
    /// the other constructors need.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`].
    pub fn measure(bytes: &[u8]) -> Result<Digest> {
        if is_trained(bytes) { Ok(Parsed::read(bytes)?.digest) } else { raw_digest(bytes) }
    }

    /// Digests a dictionary and borrows its content.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`].
    pub fn by_reference(bytes: &'a [u8]) -> Result<Self> {
        if !is_trained(bytes) {
            return Self::raw_by_reference(bytes);
        }
        let parsed = Parsed::read(bytes)?;
        let mut region = words(parsed.digest.tables_len());
        parsed.build(bytemuck::cast_slice_mut(&mut region));
        Ok(Dictionary { digest: parsed.digest, region: Region::Owned(region), outside: Some(parsed.content) })
    }

    /// Borrows `content` as raw content, even if it begins like a trained dictionary. Nothing is
    /// allocated.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::raw`].
    pub fn raw_by_reference(content: &'a [u8]) -> Result<Self> {
        Ok(Dictionary { digest: raw_digest(content)?, region: Region::Borrowed(&[]), outside: Some(content) })
    }

    /// Digests a dictionary into memory of the caller: the first [`Digest::region_len`] bytes of
    /// `region` become its tables and a copy of its content. Keep the [`digest`](Self::digest) to
    /// recreate the dictionary with [`view`](Self::view) without holding the borrow. A region that
    /// is aligned to 64 bytes is fastest.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`], [`Kind::OutputTooSmall`] if `region` is too
    /// small, and [`Kind::BadArgument`] if it is not aligned to four bytes.
    pub fn digest_into(bytes: &[u8], region: &'a mut [u8]) -> Result<Self> {
        let digest = fill(bytes, region)?;
        Ok(Dictionary { digest, region: Region::Borrowed(region), outside: None })
    }

    /// Digests a dictionary, borrows its content, and builds its tables in memory of the caller:
    /// the first [`Digest::tables_len`] bytes of `tables`.
    ///
    /// # Errors
    /// Returns the errors of [`digest_into`](Self::digest_into).
    pub fn tables_into(bytes: &'a [u8], tables: &'a mut [u8]) -> Result<Self> {
        if !is_trained(bytes) {
            return Self::raw_by_reference(bytes);
        }
        let parsed = Parsed::read(bytes)?;
        check_capacity(parsed.digest.tables_len(), tables)?;
        parsed.build(tables);
        Ok(Dictionary {
            digest: parsed.digest,
            region: Region::Borrowed(tables),
            outside: Some(parsed.content),
        })
    }

    /// Writes compact tables to the first [`Digest::compact_len`] bytes of `tables`. A decoder
    /// needs an [`ExpandedHuffman`] to use them.
    ///
    /// # Errors
    /// Returns the errors of [`digest_into`](Self::digest_into).
    pub fn compact_into(bytes: &[u8], tables: &mut [u8]) -> Result<Digest> {
        if !is_trained(bytes) {
            return raw_digest(bytes);
        }
        let parsed = Parsed::read(bytes)?;
        check_capacity(parsed.digest.compact_len(), tables)?;
        parsed.build_compact(tables);
        Ok(parsed.digest)
    }

    /// Makes a dictionary from the region that [`digest_into`](Self::digest_into) filled, or from a
    /// copy of the region. Validates every cell of its tables.
    ///
    /// # Errors
    /// Returns [`Kind::OutputTooSmall`] and [`Kind::BadArgument`] like
    /// [`digest_into`](Self::digest_into), and [`Kind::Corrupt`] if the tables are not valid.
    pub fn view(digest: Digest, region: &'a [u8]) -> Result<Self> {
        check_region(&digest, region)?;
        let dictionary = Self::unverified(digest, region);
        if !dictionary.is_sound() {
            return Err(Error::new(Kind::Corrupt, 0, "the tables of a dictionary were changed"));
        }
        Ok(dictionary)
    }

    pub(crate) fn unverified(digest: Digest, region: &'a [u8]) -> Self {
        Dictionary { digest, region: Region::Borrowed(region), outside: None }
    }

    /// Makes a dictionary from compact tables, and content outside them.
    pub(crate) fn compact(
        digest: Digest,
        tables: &'a [u8],
        codes: &'a ExpandedHuffman,
        content: &'a [u8],
    ) -> Self {
        Dictionary { digest, region: Region::Compact(tables, codes), outside: Some(content) }
    }

    /// Returns whether every cell is valid: no state leads out of its table.
    fn is_sound(&self) -> bool {
        let tables = [SequenceField::LiteralLength, SequenceField::MatchLength, SequenceField::Offset]
            .map(|field| (field, self.table(field)));
        let sound = |(field, table): (SequenceField, Option<FseTable<'_>>)| {
            let codes = field.extra_bits();
            table.is_none_or(|table| {
                table.cells.iter().all(|&cell| {
                    fse::state_bits(cell) <= table.log
                        && fse::base_state(cell) + (1 << fse::state_bits(cell)) <= 1 << table.log
                        && codes
                            .get(fse::code(cell) as usize)
                            .is_some_and(|&extra| fse::extra_bits(cell) == extra.into())
                })
            })
        };
        // Each code fills a run of equal cells, `1 << (log - bits)` of them.
        let codes = |table: HuffmanTable<'_>| {
            let mut rest = table.cells;
            while let Some(&first) = rest.first() {
                let bits = u32::from(first & 0xff);
                if !(1..=table.log).contains(&bits) {
                    return false;
                }
                let Some((run, after)) = rest.split_at_checked(table.cells.len() >> bits) else {
                    return false;
                };
                if run.iter().any(|&cell| cell != first) {
                    return false;
                }
                rest = after;
            }
            true
        };
        tables.into_iter().all(sound) && self.huffman().is_none_or(codes)
    }

    /// The digest, from which [`view`](Self::view) recreates the dictionary.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Dictionary_ID; 0 for raw content.
    pub fn id(&self) -> u32 {
        self.digest.id
    }

    /// Returns whether the dictionary is a trained one, with tables.
    pub(crate) fn is_trained(&self) -> bool {
        self.digest.is_trained()
    }

    /// The content, which is the history before the beginning of a frame.
    pub fn content(&self) -> &[u8] {
        match self.outside {
            Some(content) => content,
            None => &self.region()[self.digest.tables_len()..][..self.digest.content_len()],
        }
    }

    /// The tables in memory order: literal lengths, match lengths, offsets, Huffman codes. Compact
    /// tables begin with the canonical Huffman tree instead.
    pub fn tables(&self) -> &[u8] {
        match self.region {
            Region::Compact(tables, _) => &tables[..self.digest.compact_len()],
            _ => &self.region()[..self.digest.tables_len()],
        }
    }

    /// Enqueues the cache lines of the tables and of the last `content_len` bytes of the content.
    pub fn enqueue_prefetch(&self, queue: &mut PrefetchQueue, content_len: usize) {
        queue.enqueue(self.tables());
        let content = self.content();
        queue.enqueue(&content[content.len().saturating_sub(content_len)..]);
    }

    /// Size of tables and digest in bytes, without the content.
    pub fn memory(&self) -> usize {
        self.tables().len() + size_of::<Digest>()
    }

    fn region(&self) -> &[u8] {
        match &self.region {
            Region::Owned(words) => bytemuck::cast_slice(words),
            Region::Borrowed(bytes) | Region::Compact(bytes, _) => bytes,
        }
    }

    /// The content, with the readable bytes after it.
    pub(crate) fn piece(&self) -> HistorySegment<'_> {
        let all = match self.outside {
            Some(content) => content,
            None => &self.region()[self.digest.tables_len()..][..self.digest.content_len() + SLACK],
        };
        HistorySegment::new(all, self.digest.content_len())
    }

    pub(crate) fn repeats(&self) -> RepeatOffsets {
        self.digest.repeats
    }

    pub(crate) fn table(&self, field: SequenceField) -> Option<FseTable<'_>> {
        if !self.is_trained() {
            return None;
        }
        let (mut at, log) = self.digest.fse_table(field);
        if let Region::Compact(..) = self.region {
            at += CanonicalTree::LEN;
        }
        Some(FseTable { cells: bytemuck::cast_slice(&self.region()[at..at + (4 << log)]), log })
    }

    pub(crate) fn huffman(&self) -> Option<HuffmanTable<'_>> {
        if !self.is_trained() {
            return None;
        }
        if let Region::Compact(_, codes) = self.region {
            return codes.table();
        }
        let log = u32::from(self.digest.logs[3]);
        let end = self.digest.tables_len();
        Some(HuffmanTable { cells: bytemuck::cast_slice(&self.region()[end - (2 << log)..end]), log })
    }
}

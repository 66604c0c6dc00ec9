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

/// Where tables and content stand.
enum Region<'a> {
    /// Words, so that the tables are aligned.
    Owned(Box<[u64]>),
    Borrowed(&'a [u8]),
    /// FrameTables that are compact, and their codes.
    Compact(&'a [u8], &'a ExpandedHuffman),
}

/// A digested dictionary.
///
/// A trained one has tables, at most 9 KiB beside its content; raw content has none. The tables lie
/// directly before the content and nothing in them depends on where they are, so a region of memory
/// may be moved, or be one of many in an arena.
pub struct Dictionary<'a> {
    digest: Digest,
    region: Region<'a>,
    /// The content, if it does not stand in the region.
    outside: Option<&'a [u8]>,
}

/// Words that hold `len` bytes.
fn words(len: usize) -> Box<[u64]> {
    vec![0; len.div_ceil(8)].into()
}

impl Dictionary<'static> {
    /// Digests a dictionary and keeps a copy of its content: a trained one if it begins with their
    /// magic number, else raw content.
    ///
    /// # Errors
    /// [`Kind::Truncated`] or [`Kind::Corrupt`] for a trained one that is damaged, [`Kind::Limit`]
    /// for 4 GiB.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        let digest = Self::measure(bytes)?;
        let mut region = words(digest.region_len());
        fill(bytes, bytemuck::cast_slice_mut(&mut region))?;
        Ok(Dictionary { digest, region: Region::Owned(region), outside: None })
    }

    /// Takes all of `content` as raw content, whatever it begins with, and keeps a copy.
    ///
    /// # Errors
    /// [`Kind::Limit`] for 4 GiB.
    pub fn raw(content: &[u8]) -> Result<Self> {
        let digest = raw_digest(content)?;
        let mut region = words(digest.region_len());
        bytemuck::cast_slice_mut(&mut region)[..content.len()].copy_from_slice(content);
        Ok(Dictionary { digest, region: Region::Owned(region), outside: None })
    }
}

/// Lays a dictionary out in `region`.
fn fill(bytes: &[u8], region: &mut [u8]) -> Result<Digest> {
    let (digest, content) = if is_trained(bytes) {
        let parsed = Parsed::read(bytes)?;
        check_region(&parsed.digest, region)?;
        parsed.build(region);
        (parsed.digest, parsed.content)
    } else {
        let digest = raw_digest(bytes)?;
        check_region(&digest, region)?;
        (digest, bytes)
    };
    let at = digest.tables_len();
    region[at..at + content.len()].copy_from_slice(content);
    Ok(digest)
}

fn check_region(digest: &Digest, region: &[u8]) -> Result<()> {
    check_room(digest.region_len(), region)
}

fn check_room(needed: usize, region: &[u8]) -> Result<()> {
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
    /// Reads what [`digest_into`](Self::digest_into) would return, to learn how much room it needs.
    ///
    /// # Errors
    /// As [`Dictionary::new`].
    pub fn measure(bytes: &[u8]) -> Result<Digest> {
        if is_trained(bytes) { Ok(Parsed::read(bytes)?.digest) } else { raw_digest(bytes) }
    }

    /// As [`Dictionary::new`], but the content stays where it is.
    ///
    /// # Errors
    /// As [`Dictionary::new`].
    pub fn by_reference(bytes: &'a [u8]) -> Result<Self> {
        if !is_trained(bytes) {
            return Self::raw_by_reference(bytes);
        }
        let parsed = Parsed::read(bytes)?;
        let mut region = words(parsed.digest.tables_len());
        parsed.build(bytemuck::cast_slice_mut(&mut region));
        Ok(Dictionary { digest: parsed.digest, region: Region::Owned(region), outside: Some(parsed.content) })
    }

    /// As [`Dictionary::raw`], but the content stays where it is: nothing is allocated.
    ///
    /// # Errors
    /// As [`Dictionary::raw`].
    pub fn raw_by_reference(content: &'a [u8]) -> Result<Self> {
        Ok(Dictionary { digest: raw_digest(content)?, region: Region::Borrowed(&[]), outside: Some(content) })
    }

    /// As [`Dictionary::new`], into memory of the caller, of field
    /// [`Digest::region_len`] bytes are used. Keep the [`digest`](Self::digest) to make the
    /// dictionary again with [`view`](Self::view) without holding the borrow.
    ///
    /// # Errors
    /// As [`Dictionary::new`]; [`Kind::OutputTooSmall`] if `region` is, and [`Kind::BadArgument`] if
    /// it is not aligned to four bytes. Lines of 64 bytes serve best.
    pub fn digest_into(bytes: &[u8], region: &'a mut [u8]) -> Result<Self> {
        let digest = fill(bytes, region)?;
        Ok(Dictionary { digest, region: Region::Borrowed(region), outside: None })
    }

    /// As [`Dictionary::by_reference`], with the tables in memory of the caller, of field
    /// [`Digest::tables_len`] bytes are used.
    ///
    /// # Errors
    /// As [`digest_into`](Self::digest_into).
    pub fn tables_into(bytes: &'a [u8], tables: &'a mut [u8]) -> Result<Self> {
        if !is_trained(bytes) {
            return Self::raw_by_reference(bytes);
        }
        let parsed = Parsed::read(bytes)?;
        check_room(parsed.digest.tables_len(), tables)?;
        parsed.build(tables);
        Ok(Dictionary {
            digest: parsed.digest,
            region: Region::Borrowed(tables),
            outside: Some(parsed.content),
        })
    }

    /// Makes the tables of a dictionary as [`tables_into`](Self::tables_into), but compact:
    /// [`Digest::compact_len`] bytes of `tables` are used, and to decode with them takes [`ExpandedHuffman`].
    ///
    /// # Errors
    /// As [`digest_into`](Self::digest_into).
    pub fn compact_into(bytes: &[u8], tables: &mut [u8]) -> Result<Digest> {
        if !is_trained(bytes) {
            return raw_digest(bytes);
        }
        let parsed = Parsed::read(bytes)?;
        check_room(parsed.digest.compact_len(), tables)?;
        parsed.build_compact(tables);
        Ok(parsed.digest)
    }

    /// The dictionary that `region`, or what was copied there, holds. Each cell of its tables is
    /// checked, field reads all of them.
    ///
    /// # Errors
    /// [`Kind::OutputTooSmall`] and [`Kind::BadArgument`] as [`digest_into`](Self::digest_into),
    /// [`Kind::Corrupt`] if the tables are not such as a digest makes.
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

    /// With tables that are compact, and content that stands elsewhere.
    pub(crate) fn compact(
        digest: Digest,
        tables: &'a [u8],
        codes: &'a ExpandedHuffman,
        content: &'a [u8],
    ) -> Self {
        Dictionary { digest, region: Region::Compact(tables, codes), outside: Some(content) }
    }

    /// Whether no state leads out of its table.
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
        // Each code fills cells in a row, all alike, as many as its bits leave.
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

    /// What is known of it beside its tables and its content.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Its number; 0 for raw content.
    pub fn id(&self) -> u32 {
        self.digest.id
    }

    /// Whether it was trained, and so has tables.
    pub fn is_trained(&self) -> bool {
        self.digest.is_trained()
    }

    /// What matches may copy from before the beginning of a frame.
    pub fn content(&self) -> &[u8] {
        match self.outside {
            Some(content) => content,
            None => &self.region()[self.digest.tables_len()..][..self.digest.content_len()],
        }
    }

    /// The tables, as they lie in memory: literal lengths, match lengths, offsets, Huffman codes.
    pub fn tables(&self) -> &[u8] {
        match self.region {
            Region::Compact(tables, _) => &tables[..self.digest.compact_len()],
            _ => &self.region()[..self.digest.tables_len()],
        }
    }

    /// Adds the tables and the last `content_len` bytes of the content to the queue.
    pub fn enqueue_prefetch(&self, queue: &mut PrefetchQueue, content_len: usize) {
        queue.enqueue(self.tables());
        let content = self.content();
        queue.enqueue(&content[content.len().saturating_sub(content_len)..]);
    }

    /// Bytes that it holds beside its content, on the heap, in the caller's memory and in itself.
    pub fn memory(&self) -> usize {
        self.tables().len() + size_of::<Digest>()
    }

    fn region(&self) -> &[u8] {
        match &self.region {
            Region::Owned(words) => bytemuck::cast_slice(words),
            Region::Borrowed(bytes) | Region::Compact(bytes, _) => bytes,
        }
    }

    /// The content, and what may be read behind it.
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
        let (mut at, log) = self.digest.place(field);
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

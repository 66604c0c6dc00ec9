//! Dictionaries, digested once: compact tables with the content behind them.

use alloc::boxed::Box;
use alloc::vec;

use linerate_core::{Error, Kind, Result};

use crate::expanded_huffman::ExpandedHuffman;
use crate::fse::{self, Cell, Counts};
use crate::huffman::{self, Tree, Weights};
use crate::kernel;
use crate::output::Piece;
use crate::prefetch::PrefetchQueue;
use crate::scratch::Form;
use crate::sequences::{Repeats, Table, Which};
use crate::tables::HuffmanTable;

/// First four bytes of a trained dictionary, little-endian.
const MAGIC: u32 = 0xec30_a437;
/// Bytes that may be read behind the content, so that copies from it need not be exact.
pub(crate) const SLACK: usize = 32;
/// The most bytes that the compact tables of one dictionary take.
pub const MAX_COMPACT: usize = MAX_TABLES - 2 * huffman::MAX_CELLS + Tree::LEN;
/// The most bytes that the tables of one dictionary take: 9 KiB.
pub const MAX_TABLES: usize = 4
    * ((1 << Which::LiteralLength.max_log())
        + (1 << Which::MatchLength.max_log())
        + (1 << Which::Offset.max_log()))
    + 2 * huffman::MAX_CELLS;
const _: () = assert!(MAX_TABLES <= 9 << 10);

/// What is known of a digested dictionary beside its tables and its content: the 24 bytes that an
/// index over many of them keeps for each, so that [`Dictionary::view`] finds its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    id: u32,
    content: u32,
    repeats: Repeats,
    /// Of the tables of literal lengths, match lengths, offsets, and of Huffman codes, which is 0 if
    /// there are none of them.
    logs: [u8; 4],
}

const _: () = assert!(size_of::<Digest>() == 24);

/// That of raw content of no bytes.
impl Default for Digest {
    fn default() -> Self {
        Digest { id: 0, content: 0, repeats: Repeats::START, logs: [0; 4] }
    }
}

impl Digest {
    /// The dictionary's number; 0 for raw content.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Bytes of content.
    pub fn content_len(&self) -> usize {
        self.content as usize
    }

    /// Whether it was trained, and so has tables.
    pub fn is_trained(&self) -> bool {
        self.logs[3] != 0
    }

    /// Logarithms of the cells of its tables: literal lengths, match lengths, offsets, Huffman codes.
    /// All are 0 for raw content.
    pub fn logs(&self) -> [u8; 4] {
        self.logs
    }

    /// Bytes of the tables: at most [`MAX_TABLES`], and 0 for raw content.
    pub fn tables_len(&self) -> usize {
        if !self.is_trained() {
            return 0;
        }
        let [ll, ml, of, huffman] = self.logs;
        4 * ((1 << ll) + (1 << ml) + (1 << of)) + (2 << huffman)
    }

    /// Bytes of the tables when they are compact: at most 5400, and 0 for raw content.
    pub fn compact_len(&self) -> usize {
        if self.is_trained() { Tree::LEN + self.tables_len() - self.codes_len() } else { 0 }
    }

    /// Bytes of the table of Huffman codes.
    fn codes_len(&self) -> usize {
        2 << self.logs[3]
    }

    /// The parts of compact tables: Huffman codes, and the tables of literal lengths, match lengths and
    /// offsets. None for raw content.
    pub(crate) fn parts<'a>(&self, compact: &'a [u8]) -> Option<[&'a [u8]; 4]> {
        let (tree, mut rest) = compact.split_at_checked(Tree::LEN)?;
        let mut parts = [tree; 4];
        for (part, log) in parts[1..].iter_mut().zip(self.logs) {
            (*part, rest) = rest.split_at_checked(4 << log)?;
        }
        Some(parts)
    }

    /// Bytes that [`Dictionary::digest_into`] needs for tables and content.
    pub fn region_len(&self) -> usize {
        self.tables_len() + self.content_len() + SLACK
    }

    /// First byte and logarithm of a table of sequences.
    fn place(&self, which: Which) -> (usize, u32) {
        let [ll, ml, of, _] = self.logs;
        match which {
            Which::LiteralLength => (0, ll.into()),
            Which::MatchLength => (4 << ll, ml.into()),
            Which::Offset => ((4 << ll) + (4 << ml), of.into()),
        }
    }
}

/// Where tables and content stand.
enum Region<'a> {
    /// Words, so that the tables are aligned.
    Owned(Box<[u64]>),
    Borrowed(&'a [u8]),
    /// Tables that are compact, and their codes.
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

/// A trained dictionary, read but not laid out.
struct Parsed<'a> {
    digest: Digest,
    weights: Weights,
    counts: [Counts<64>; 3],
    content: &'a [u8],
}

const CUT_OFF: Error = Error::new(Kind::Truncated, 0, "a dictionary is cut off");

impl<'a> Parsed<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self> {
        let id = bytes.get(4..8).ok_or(CUT_OFF)?;
        let id = u32::from_le_bytes(id.try_into().expect("four bytes"));
        let mut at = 8;
        let mut weights = Weights::new();
        at += weights.read(&bytes[at..]).map_err(|e| e.shifted(at as u64))?;
        let mut counts = [const { Counts::new() }; 3];
        for which in [Which::Offset, Which::MatchLength, Which::LiteralLength] {
            let symbols = which.extra_bits().len();
            let into = &mut counts[which as usize];
            at += into.read(&bytes[at..], which.max_log(), symbols - 1).map_err(|e| e.shifted(at as u64))?;
        }
        let (repeats, content) = bytes[at..].split_at_checked(12).ok_or(CUT_OFF.shifted(at as u64))?;
        let repeat = |i: usize| u32::from_le_bytes(repeats[i..i + 4].try_into().expect("four bytes"));
        let repeats = Repeats([repeat(0), repeat(4), repeat(8)]);
        if repeats.0.iter().any(|&offset| offset == 0 || offset as usize > content.len()) {
            return Err(Error::new(
                Kind::Corrupt,
                at as u64,
                "a repeat offset of a dictionary is outside its content",
            ));
        }
        let log = |which| counts[which as usize].log as u8;
        let logs =
            [log(Which::LiteralLength), log(Which::MatchLength), log(Which::Offset), weights.log as u8];
        let digest = Digest { id, content: content_len(content)?, repeats, logs };
        Ok(Parsed { digest, weights, counts, content })
    }

    /// Lays the tables out from the beginning of `region`.
    fn build(&self, region: &mut [u8]) {
        let end = self.digest.tables_len();
        let (sequences, codes) = region[..end].split_at_mut(end - self.digest.codes_len());
        self.build_sequences(sequences);
        let form = Form::Fast(linerate_core::cpu::tier());
        let mut tree = Tree::NONE;
        kernel::build::huffman(form, &self.weights, &mut tree, bytemuck::cast_slice_mut(codes));
    }

    /// Lays the tables out compactly from the beginning of `region`.
    fn build_compact(&self, region: &mut [u8]) {
        let (tree, sequences) = region[..self.digest.compact_len()].split_at_mut(Tree::LEN);
        if let Ok(tree) = tree.try_into() {
            self.weights.tree().write(tree);
        }
        self.build_sequences(sequences);
    }

    fn build_sequences(&self, region: &mut [u8]) {
        let form = Form::Fast(linerate_core::cpu::tier());
        for which in [Which::LiteralLength, Which::MatchLength, Which::Offset] {
            let (at, log) = self.digest.place(which);
            let cells: &mut [Cell] = bytemuck::cast_slice_mut(&mut region[at..at + (4 << log)]);
            kernel::build::fse(form, &self.counts[which as usize], which.extra_bits(), cells);
        }
    }
}

fn content_len(content: &[u8]) -> Result<u32> {
    content.len().try_into().map_err(|_| Error::new(Kind::Limit, 0, "a dictionary has 4 GiB or more"))
}

fn is_trained(bytes: &[u8]) -> bool {
    bytes.len() >= 8 && bytes.starts_with(&MAGIC.to_le_bytes())
}

fn raw_digest(content: &[u8]) -> Result<Digest> {
    Ok(Digest { content: content_len(content)?, ..Digest::default() })
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

    /// As [`Dictionary::new`], into memory of the caller, of which
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

    /// As [`Dictionary::by_reference`], with the tables in memory of the caller, of which
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
    /// checked, which reads all of them.
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
        let tables =
            [Which::LiteralLength, Which::MatchLength, Which::Offset].map(|which| (which, self.table(which)));
        let sound = |(which, table): (Which, Option<Table<'_>>)| {
            let codes = which.extra_bits();
            table.is_none_or(|table| {
                table.cells.iter().all(|&cell| {
                    fse::bits(cell) <= table.log
                        && fse::base(cell) + (1 << fse::bits(cell)) <= 1 << table.log
                        && codes
                            .get(fse::code(cell) as usize)
                            .is_some_and(|&extra| fse::extra(cell) == extra.into())
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
    pub(crate) fn piece(&self) -> Piece<'_> {
        let all = match self.outside {
            Some(content) => content,
            None => &self.region()[self.digest.tables_len()..][..self.digest.content_len() + SLACK],
        };
        Piece::new(all, self.digest.content_len())
    }

    pub(crate) fn repeats(&self) -> Repeats {
        self.digest.repeats
    }

    pub(crate) fn table(&self, which: Which) -> Option<Table<'_>> {
        if !self.is_trained() {
            return None;
        }
        let (mut at, log) = self.digest.place(which);
        if let Region::Compact(..) = self.region {
            at += Tree::LEN;
        }
        Some(Table { cells: bytemuck::cast_slice(&self.region()[at..at + (4 << log)]), log })
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

//! Writes block files from sorted records.

use std::io::{BufWriter, Write};
use std::path::Path;

use linerate_core::{Error, Kind, Result};
use linerate_io::{AtomicFile, Existing};
use linerate_zstd::Dictionary;

use super::block::BlockBuilder;
use super::layout::{
    BlockEntry, Counts, DictionaryPlace, DictionaryReference, Extent, Footer, Header, LeafEntry, MAX_CONTENT,
    MAX_DICTIONARY, separator,
};
use super::options::{BlockFileOptions, DictionaryChoice};
use crate::coding::encoder::Encoder;
use crate::files::fields::hash;
use crate::files::output::{commit, create, write_error};
use crate::id::Id;
use crate::store::Store;
use crate::train::samples::{extrapolate, subsample};
use crate::train::savings::{Savings, SizeMeter};
use crate::train::training::Training;

/// Target size of an index block, in bytes.
const INDEX_BLOCK: usize = 4096;
/// Maximum number of bytes of blocks that a trained dictionary is measured with. More would hardly
/// change the choice.
const MAX_MEASURED_BYTES: usize = 2 << 20;
/// Number of bytes after which the share of blocks that are compared is halved, and again after as
/// many more.
const SAMPLED_BYTES: usize = 1 << 20;
/// Maximum length of a key, in bytes.
pub(super) const MAX_KEY_LEN: usize = (1 << 16) - 1;
/// Maximum length of a value, in bytes.
pub(super) const MAX_VALUE_LEN: usize = 32 << 20;
const _: () = assert!(MAX_KEY_LEN + MAX_VALUE_LEN + INDEX_BLOCK < MAX_CONTENT);

const fn refused(what: &'static str) -> Error {
    Error::new(Kind::BadArgument, 0, what)
}

const FAILED: Error = refused("an earlier write to the block file failed");

/// Writes a block file from records in ascending key order. Memory holds one block, one index
/// block, the root index (about 40 bytes for a hundred blocks), and, to train a dictionary, the
/// first records.
///
/// ```
/// use linerate_dict::blocks::{BlockFile, Builder, BlockFileOptions};
/// use linerate_dict::{Input, Store};
///
/// let mut builder = Builder::in_memory(BlockFileOptions::new())?;
/// builder.add(b"ann", b"7")?;
/// builder.add(b"bob", b"12")?;
/// let file = BlockFile::open_input(Input::memory(builder.into_bytes()?), &Store::new())?;
/// assert_eq!(file.get(&mut file.reader(), b"bob")?, Some(&b"12"[..]));
/// # Ok::<(), linerate_dict::Error>(())
/// ```
pub struct Builder {
    out: Out,
    /// Number of bytes written.
    at: u64,
    options: BlockFileOptions,
    block: BlockBuilder,
    /// Separator before the current block.
    lower_bound: Vec<u8>,
    /// The last key; `None` before the first record.
    last: Option<Vec<u8>>,
    phase: Phase,
    leaf: BlockBuilder,
    leaf_lower_bound: Vec<u8>,
    root: BlockBuilder,
    counts: Counts,
    savings: Option<Savings>,
    trained_with: u64,
    /// Whether a write failed. Nothing may be written after that.
    failed: bool,
}

enum Out {
    File(Box<BufWriter<AtomicFile>>),
    Memory(Vec<u8>),
}

/// A block that is not compressed yet.
struct PendingBlock {
    lower_bound: Vec<u8>,
    content: Vec<u8>,
    records: u32,
}

enum Phase {
    /// Collects blocks to train a dictionary with.
    Sampling {
        cuts: Vec<PendingBlock>,
        bytes: usize,
    },
    Writing(Box<BlockCompressor>),
}

/// Compares blocks with a given dictionary and without. It compares all blocks until 1 MiB was
/// compared, then every second one until 2 MiB were, then every fourth one, and so on.
struct Sample {
    meter: SizeMeter,
    stride: u64,
    savings: Savings,
}

impl Sample {
    fn new(dictionary: &[u8], level: i32) -> Result<Sample> {
        let savings = Savings::measure(dictionary, &[], level)?;
        Ok(Sample { meter: SizeMeter::new(level)?, stride: 1, savings })
    }

    /// Adds the block with this number, which the dictionary compresses to `with` bytes, if it is
    /// one of the blocks to compare.
    fn add(&mut self, number: u64, content: &[u8], with: usize) -> Result<()> {
        if number.is_multiple_of(self.stride) {
            let before = self.savings.content / SAMPLED_BYTES;
            self.savings.content += content.len();
            self.savings.with += with;
            self.savings.without += self.meter.compressed_len(&[content], None)?;
            if self.savings.content / SAMPLED_BYTES > before {
                self.stride *= 2;
            }
        }
        Ok(())
    }
}

struct BlockCompressor {
    header: Header,
    encoder: Encoder,
    id: Id,
    buffer: Vec<u8>,
    /// Measures what a given dictionary saves. `None` for a trained one, and without a dictionary.
    sample: Option<Sample>,
}

/// Result of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Numbers of records, blocks and bytes.
    pub counts: Counts,
    /// The dictionary.
    pub dictionary: DictionaryReference,
    /// Savings of a given dictionary on a sample of the blocks, or of a trained one on at most 2
    /// MiB of the blocks it was trained with, even if it was omitted because it saves no more than
    /// its own bytes. `None` if no dictionary was given or trained.
    pub savings: Option<Savings>,
    /// Number of uncompressed bytes of the blocks from which a dictionary was trained. If it saves no
    /// more than its own bytes there, it is omitted. 0 if none was to be trained.
    pub trained_with: u64,
    /// Length of the file in bytes.
    pub len: u64,
}

impl Builder {
    /// Creates a builder of a file, which replaces an existing one when it is
    /// [finished](Self::finish). Dropping the builder discards the file.
    ///
    /// # Errors
    /// Returns [`Kind::Write`] if the file cannot be created or written, [`Kind::BadArgument`] for
    /// invalid options, the errors of [`Store::insert`] for a given dictionary, and [`Kind::Limit`]
    /// for an embedded dictionary of more than 64 MiB, and if libzstd is out of memory.
    pub fn create(path: impl AsRef<Path>, options: BlockFileOptions) -> Result<Builder> {
        check(&options)?;
        Self::new(Out::File(Box::new(create(path.as_ref(), Existing::Replace)?)), options)
    }

    /// Creates a builder in memory.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create), without those of files.
    pub fn in_memory(options: BlockFileOptions) -> Result<Builder> {
        check(&options)?;
        Self::new(Out::Memory(Vec::new()), options)
    }

    fn new(out: Out, options: BlockFileOptions) -> Result<Builder> {
        let mut builder = Builder {
            out,
            at: 0,
            options,
            block: BlockBuilder::default(),
            lower_bound: Vec::new(),
            last: None,
            phase: Phase::Sampling { cuts: Vec::new(), bytes: 0 },
            leaf: BlockBuilder::default(),
            leaf_lower_bound: Vec::new(),
            root: BlockBuilder::default(),
            counts: Counts::default(),
            savings: None,
            trained_with: 0,
            failed: false,
        };
        let (place, bytes) = match std::mem::take(&mut builder.options.dictionary) {
            train @ DictionaryChoice::Train { .. } => {
                builder.options.dictionary = train;
                return Ok(builder);
            }
            DictionaryChoice::None => (DictionaryPlace::None, Vec::new()),
            DictionaryChoice::Embedded(bytes) => (DictionaryPlace::Embedded, bytes),
            DictionaryChoice::External { id, bytes } => (DictionaryPlace::External(id), bytes),
        };
        builder.begin(place, &bytes)?;
        Ok(builder)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for a key that is not greater than the previous one or longer
    /// than 65,535 bytes, or if an earlier write failed, and [`Kind::Limit`] for a value longer
    /// than 32 MiB. After these errors the builder is unchanged. Also returns [`Kind::Write`] if
    /// the file cannot be written, and [`Kind::Limit`] if libzstd runs out of memory or the index
    /// exceeds 64 MiB. After these errors the file cannot be finished.
    pub fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.failed {
            return Err(FAILED);
        }
        if key.len() > MAX_KEY_LEN {
            return Err(refused("the key is longer than 65535 bytes"));
        }
        if value.len() > MAX_VALUE_LEN {
            return Err(Error::new(Kind::Limit, 0, "the value is larger than 32 MiB"));
        }
        match &self.last {
            Some(last) if key == &last[..] => return Err(refused("duplicate key")),
            Some(last) if key < &last[..] => return Err(refused("keys are not in ascending order")),
            _ => {}
        }
        let size = self.options.block_size as usize;
        let full = self.block.len() + BlockBuilder::max_record_len(key.len(), value.len()) > size;
        if self.block.count() > 0 && full {
            let lower_bound = separator(self.block.last_key(), key).to_vec();
            self.failed = true;
            self.cut(lower_bound)?;
            self.failed = false;
        }
        self.block.add(key, value);
        let last = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
        self.counts.records += 1;
        self.counts.key_bytes += key.len() as u64;
        self.counts.value_bytes += value.len() as u64;
        Ok(())
    }

    /// Ends a block. `next` separates it from the next block.
    fn cut(&mut self, next: Vec<u8>) -> Result<()> {
        let records = self.block.count() as u32;
        let lower_bound = std::mem::replace(&mut self.lower_bound, next);
        let cut = PendingBlock { lower_bound, content: self.block.finish(), records };
        match &mut self.phase {
            Phase::Writing(_) => self.write(&cut),
            Phase::Sampling { cuts, bytes } => {
                *bytes += cut.content.len();
                cuts.push(cut);
                if *bytes >= self.options.sample_bytes { self.train() } else { Ok(()) }
            }
        }
    }

    /// Trains a dictionary with the blocks so far, and writes the blocks.
    fn train(&mut self) -> Result<()> {
        let Phase::Sampling { cuts, .. } = &mut self.phase else { return Ok(()) };
        let cuts = std::mem::take(cuts);
        if let DictionaryChoice::Train { size, small_tables } = self.options.dictionary {
            let samples: Vec<&[u8]> = cuts.iter().map(|cut| &cut.content[..]).collect();
            self.trained_with = samples.iter().map(|sample| sample.len() as u64).sum();
            let level = self.options.level;
            let training = Training::new(size.min(MAX_DICTIONARY)).small_tables(small_tables).level(level);
            let trained = match training.train(&samples) {
                Ok(dictionary) => Some(dictionary),
                // The samples are too few to train with, so the blocks are compressed without a
                // dictionary.
                Err(error) if error.kind == Kind::BadArgument => None,
                Err(error) => return Err(error),
            };
            let compared = trained.map(|bytes| compare(bytes, &samples, level)).transpose()?;
            self.savings = compared.as_ref().map(|(_, savings)| *savings);
            match compared.and_then(|(dictionary, _)| dictionary) {
                Some(bytes) => self.begin(DictionaryPlace::Embedded, &bytes)?,
                None => self.begin(DictionaryPlace::None, &[])?,
            }
        }
        cuts.iter().try_for_each(|cut| self.write(cut))
    }

    /// Writes the header and the embedded dictionary, which precede the blocks.
    fn begin(&mut self, place: DictionaryPlace, bytes: &[u8]) -> Result<()> {
        let store = Store::new();
        let mut id = Id::NONE;
        let mut dictionary = DictionaryReference::NONE;
        if place != DictionaryPlace::None {
            // The store refuses a dictionary of 4 GiB or more, so its length fits 32 bits.
            id = store.insert(bytes)?;
            let zstd_id = Dictionary::measure(bytes)?.id();
            dictionary = DictionaryReference { place, len: bytes.len() as u32, zstd_id, hash: hash(bytes) };
        }
        let BlockFileOptions { block_size, level, checksums, .. } = self.options;
        let header = Header { checksums, block_size, level, dictionary };
        self.put(&header.write())?;
        if place == DictionaryPlace::Embedded {
            self.put(bytes)?;
        }
        let encoder = Encoder::new(&store).level(level)?;
        let trained = matches!(self.options.dictionary, DictionaryChoice::Train { .. });
        let sample = (!trained && id != Id::NONE).then(|| Sample::new(bytes, level)).transpose()?;
        self.phase =
            Phase::Writing(Box::new(BlockCompressor { header, encoder, id, buffer: Vec::new(), sample }));
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.out {
            Out::File(file) => file.write_all(bytes).map_err(|e| write_error(&e))?,
            Out::Memory(memory) => memory.extend_from_slice(bytes),
        }
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn write(&mut self, cut: &PendingBlock) -> Result<()> {
        let Phase::Writing(compressor) = &mut self.phase else { return Ok(()) };
        compressor.buffer.resize(Encoder::bound(cut.content.len()), 0);
        let len = compressor.encoder.encode(compressor.id, &cut.content, &mut compressor.buffer)?;
        if let Some(sample) = &mut compressor.sample {
            sample.add(self.counts.blocks, &cut.content, len)?;
        }
        let buffer = std::mem::take(&mut compressor.buffer);
        let sum = if compressor.header.checksums { hash(&cut.content) } else { 0 };
        let extent = Extent { at: self.at, len: len as u32, hash: sum };
        self.put(&buffer[..len])?;
        if let Phase::Writing(compressor) = &mut self.phase {
            compressor.buffer = buffer;
        }
        self.counts.blocks += 1;
        self.counts.content_bytes += cut.content.len() as u64;
        self.counts.stored_bytes += len as u64;
        let place = BlockEntry { extent, content: cut.content.len() as u32, records: cut.records };
        if self.leaf.count() > 0
            && self.leaf.len() + BlockBuilder::max_record_len(cut.lower_bound.len(), BlockEntry::LEN)
                > INDEX_BLOCK
        {
            self.end_leaf()?;
        }
        if self.leaf.count() == 0 {
            self.leaf_lower_bound.clone_from(&cut.lower_bound);
        }
        self.leaf.add(&cut.lower_bound, &place.write());
        Ok(())
    }

    /// Writes an index block, between blocks of records.
    fn end_leaf(&mut self) -> Result<()> {
        let blocks = self.leaf.count() as u32;
        let bytes = self.leaf.finish();
        let extent = Extent { at: self.at, len: bytes.len() as u32, hash: hash(&bytes) };
        self.put(&bytes)?;
        self.counts.index_blocks += 1;
        self.counts.index_bytes += bytes.len() as u64;
        self.root.add(&self.leaf_lower_bound, &LeafEntry { extent, blocks }.write());
        if self.root.len() > MAX_CONTENT {
            return Err(Error::new(Kind::Limit, 0, "the index of the block file exceeds 64 MiB"));
        }
        Ok(())
    }

    fn end(&mut self) -> Result<Summary> {
        if self.failed {
            return Err(FAILED);
        }
        if self.block.count() > 0 {
            self.cut(Vec::new())?;
        }
        self.train()?;
        if self.leaf.count() > 0 {
            self.end_leaf()?;
        }
        let bytes = self.root.finish();
        let root = Extent { at: self.at, len: bytes.len() as u32, hash: hash(&bytes) };
        self.put(&bytes)?;
        self.counts.index_bytes += bytes.len() as u64;
        let Phase::Writing(compressor) = &self.phase else { return Err(FAILED) };
        let header = compressor.header;
        let savings = self.savings.or(compressor.sample.as_ref().map(|sample| sample.savings));
        let len = self.at + Footer::LEN as u64;
        let header_checksum = crate::files::fields::u64_at(&header.write(), Header::LEN - 8);
        self.put(&Footer { root, counts: self.counts, len, header: header_checksum }.write())?;
        Ok(Summary {
            counts: self.counts,
            dictionary: header.dictionary,
            savings,
            trained_with: self.trained_with,
            len,
        })
    }

    /// Writes the remaining parts, and gives the file its name. A file that replaces another is
    /// synced to the disk before that.
    ///
    /// # Errors
    /// Returns [`Kind::Write`] if the file cannot be written, [`Kind::Limit`] if libzstd runs out
    /// of memory or the index exceeds 64 MiB, and [`Kind::BadArgument`] if an earlier write failed.
    pub fn finish(mut self) -> Result<Summary> {
        let summary = self.end()?;
        if let Out::File(file) = self.out {
            commit(*file)?;
        }
        Ok(summary)
    }

    /// Writes the remaining parts, and returns the bytes of a builder [in memory](Self::in_memory).
    ///
    /// # Errors
    /// Returns the errors of [`finish`](Self::finish), and [`Kind::BadArgument`] for a builder of a
    /// file, which is then discarded.
    pub fn into_bytes(mut self) -> Result<Vec<u8>> {
        self.end()?;
        match self.out {
            Out::Memory(bytes) => Ok(bytes),
            Out::File(_) => Err(refused("the builder writes a file, not memory")),
        }
    }
}

/// Compares a trained dictionary with none, on at most [`MAX_MEASURED_BYTES`] of the blocks.
/// Returns no dictionary if the blocks without it are no larger than the blocks with it plus its
/// own bytes.
fn compare(trained: Vec<u8>, blocks: &[&[u8]], level: i32) -> Result<(Option<Vec<u8>>, Savings)> {
    let all: usize = blocks.iter().map(|block| block.len()).sum();
    let savings = Savings::measure(&trained, &subsample(blocks, MAX_MEASURED_BYTES), level)?;
    let total = |bytes: usize| extrapolate(bytes, savings.content, all as u64);
    let pays = total(savings.with) + (trained.len() as u64) < total(savings.without);
    Ok((pays.then_some(trained), savings))
}

fn check(options: &BlockFileOptions) -> Result<()> {
    let size = options.block_size as usize;
    if !(16..=MAX_CONTENT / 2).contains(&size) {
        return Err(refused("the block size is not between 16 bytes and 32 MiB"));
    }
    if !(-7..=zstd_safe::max_c_level()).contains(&options.level) {
        return Err(refused("the compression level is not between -7 and 22"));
    }
    match &options.dictionary {
        DictionaryChoice::Embedded(bytes) if bytes.len() > MAX_DICTIONARY => {
            Err(Error::new(Kind::Limit, 0, "the embedded dictionary is larger than 64 MiB"))
        }
        _ => Ok(()),
    }
}

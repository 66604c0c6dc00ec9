//! [`Sst`]: opens files.

use std::path::Path;

use linerate_core::{Error, Kind, Result};

use super::block::{Cursor, Layout};
use super::bytes::Bytes;
use super::checksum::Checksum;
use super::footer::{FOOTER, Footer};
use super::handle::Handle;
use super::index::{IndexEncoding, IndexKind, Partition, partitions};
use super::options::SstOptions;
use super::order::KeyOrder;
use super::properties::Properties;
use super::ranges::{self, RangeDeletion};
use super::reader::Reader;
use crate::files::input::Input;
use crate::id::Id;
use crate::prefetch::prefetch;
use crate::store::Store;

/// Length of the shortest dictionary that zstd and the store use, in bytes. Other codecs use
/// shorter ones, too.
const SHORTEST: usize = 8;

const NO_INDEX: Error = Error::new(Kind::Corrupt, 0, "the file has no handle of its index");
const NO_PROPERTIES: Error = Error::new(Kind::Corrupt, 0, "the file has no handle of its properties");

/// An open SST file. Threads may share it.
///
/// The index is in memory, except that partitions are read when they are needed, and then kept. The
/// dictionary is in the store that the file was opened with, and is released on drop.
pub struct Sst {
    pub(super) input: Input,
    pub(super) options: SstOptions,
    pub(super) footer: Footer,
    pub(super) properties: Handle,
    pub(super) order: KeyOrder,
    pub(super) encoding: IndexEncoding,
    pub(super) index: Box<[u8]>,
    /// Offset of the index.
    pub(super) index_at: u64,
    pub(super) partitions: Vec<Partition>,
    pub(super) dictionary: Option<Dictionary>,
    ranges: Vec<RangeDeletion>,
    store: Store,
}

/// The dictionary of a file.
pub(super) struct Dictionary {
    pub(super) handle: Handle,
    /// ID of the dictionary. `Id::NONE` if it is too short for zstd.
    pub(super) id: Id,
    /// Bytes of the dictionary if it is too short for zstd.
    pub(super) short: Vec<u8>,
}

/// Handles in the metaindex.
#[derive(Default)]
struct Names {
    properties: Option<Handle>,
    index: Option<Handle>,
    dictionary: Option<Handle>,
    ranges: Option<Handle>,
}

impl Sst {
    /// Opens a file with default options. To open many files, [`Reader::open`] is faster.
    ///
    /// # Errors
    /// Returns [`Kind::Read`] if the file cannot be read; [`Kind::Truncated`] or [`Kind::Corrupt`]
    /// if it is not an SST file, or its footer, metaindex, properties, index, dictionary or range
    /// deletions are damaged; [`Kind::Unsupported`] for a version, index or compression that is not
    /// supported; and [`Kind::Limit`] if a part exceeds its limit or the store is full.
    pub fn open(path: impl AsRef<Path>, store: &Store) -> Result<Sst> {
        Reader::new(store).open(path, SstOptions::new())
    }

    /// Opens a file in memory with default options.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>, store: &Store) -> Result<Sst> {
        Reader::new(store).open_bytes(bytes, SstOptions::new())
    }

    /// Returns the format version, 2 to 7.
    pub fn format_version(&self) -> u32 {
        self.footer.version
    }

    /// Returns the checksum kind of the blocks.
    pub fn checksum(&self) -> Checksum {
        self.footer.checksum
    }

    /// Returns the order of the keys.
    pub fn key_order(&self) -> KeyOrder {
        self.order
    }

    /// Returns the kind of the index.
    pub fn index_kind(&self) -> IndexKind {
        self.encoding.kind
    }

    /// Returns the length of the file in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.input.len()
    }

    /// Returns the ID of the dictionary in the store. Returns `None` without a dictionary, and for
    /// one of fewer than eight bytes, which zstd ignores.
    pub fn dictionary(&self) -> Option<Id> {
        self.dictionary.as_ref().map(|dictionary| dictionary.id).filter(|id| *id != Id::NONE)
    }

    /// Returns the range deletions, in file order.
    pub fn range_deletions(&self) -> &[RangeDeletion] {
        &self.ranges
    }

    /// Returns the store that has the dictionary.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Prefetches the memory of an index search. Small indexes are prefetched as a whole. Of
    /// others, the end, with restart points, is prefetched, and the middle, near which the search
    /// starts.
    pub(super) fn prefetch_index(&self) {
        const SMALL: usize = 2 << 10;
        let (index, len) = (&self.index, self.index.len());
        if len <= SMALL {
            return prefetch(&index[..]);
        }
        prefetch(&index[len - SMALL / 4..]);
        prefetch(&index[len / 2]);
    }

    /// Prefetches the first 8 KiB of a block, if the file is in memory.
    pub(super) fn prefetch_block(&self, handle: Handle) {
        const SMALL: u64 = 8 << 10;
        if let Some(bytes) = self.input.view(handle.offset, handle.size.min(SMALL) as usize) {
            prefetch(bytes);
        }
    }

    pub(super) fn load(input: Input, options: SstOptions, reader: &mut Reader) -> Result<Sst> {
        let footer = read_footer(&input)?;
        let store = reader.store().clone();
        // No block is read with a dictionary before the dictionary is set.
        let mut sst = Sst {
            input,
            options,
            footer,
            properties: Handle::default(),
            order: KeyOrder::Unknown,
            encoding: IndexEncoding { kind: IndexKind::BinarySearch, user_keys: false, delta: false },
            index: Box::default(),
            index_at: 0,
            partitions: Vec::new(),
            dictionary: None,
            ranges: Vec::new(),
            store,
        };
        let names = sst.read_names(reader)?;
        sst.properties = names.properties.ok_or(NO_PROPERTIES)?;
        let properties = reader.properties(&sst)?;
        sst.read_index_encoding(&properties)?;
        let index = names.index.or(sst.footer.index).ok_or(NO_INDEX)?;
        sst.index = reader.plain(&sst, index)?.into();
        sst.index_at = index.offset;
        sst.split_index().map_err(|e| e.shifted(index.offset))?;
        if let Some(handle) = names.ranges {
            let limit = sst.options.block_limit;
            sst.ranges =
                ranges::parse(reader.plain(&sst, handle)?, limit).map_err(|e| e.shifted(handle.offset))?;
        }
        if let Some(handle) = names.dictionary {
            sst.dictionary = Some(insert_dictionary(reader.plain(&sst, handle)?, handle, &sst.store)?);
        }
        Ok(sst)
    }

    fn read_names(&self, reader: &mut Reader) -> Result<Names> {
        let mut names = Names::default();
        for (name, handle) in reader.meta_blocks(self)? {
            match &name[..] {
                b"rocksdb.properties" => names.properties = Some(handle),
                b"rocksdb.index" => names.index = Some(handle),
                b"rocksdb.compression_dict" => names.dictionary = Some(handle),
                b"rocksdb.range_del" => names.ranges = Some(handle),
                _ => {}
            }
        }
        Ok(names)
    }

    /// Reads the encoding of the index from the properties.
    fn read_index_encoding(&mut self, properties: &Properties) -> Result<()> {
        let unknown = Error::new(Kind::Unsupported, self.properties.offset, "the index kind is not known");
        let kind = properties.fixed("rocksdb.block.based.table.index.type").unwrap_or(0);
        let yes = |name| properties.number(name).is_some_and(|number| number != 0);
        self.encoding = IndexEncoding {
            kind: u32::try_from(kind).ok().and_then(IndexKind::from_number).ok_or(unknown)?,
            user_keys: yes("rocksdb.index.key.is.user.key"),
            delta: yes("rocksdb.index.value.is.delta.encoded"),
        };
        self.order = KeyOrder::from_name(properties.get("rocksdb.comparator").unwrap_or_default());
        Ok(())
    }

    fn split_index(&mut self) -> Result<()> {
        let layout = Layout::parse_index(&self.index)?;
        if self.encoding.kind == IndexKind::Partitioned {
            self.partitions = partitions(&layout, self.encoding, self.input.len())?;
        }
        Ok(())
    }
}

impl Drop for Sst {
    fn drop(&mut self) {
        if let Some(id) = self.dictionary() {
            // This fails only if a caller has released the dictionary, too.
            let _ = self.store.release(id);
        }
    }
}

impl std::fmt::Debug for Sst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sst")
            .field("footer", &self.footer)
            .field("encoding", &self.encoding)
            .finish_non_exhaustive()
    }
}

fn read_footer(input: &Input) -> Result<Footer> {
    let at = input.len().checked_sub(FOOTER as u64);
    let at = at.ok_or(Error::new(Kind::Truncated, input.len(), "the file is shorter than a footer"))?;
    Footer::parse(&input.array(at)?, at)
}

fn insert_dictionary(bytes: &[u8], handle: Handle, store: &Store) -> Result<Dictionary> {
    if bytes.len() < SHORTEST {
        return Ok(Dictionary { handle, id: Id::NONE, short: bytes.to_vec() });
    }
    let id = store.insert(bytes).map_err(|e| e.with_offset(handle.offset))?;
    Ok(Dictionary { handle, id, short: Vec::new() })
}

/// Returns names and handles of a metaindex.
pub(super) fn names(content: &[u8]) -> Result<Vec<(Vec<u8>, Handle)>> {
    /// Maximum number of bytes that names and handles take in memory. RocksDB writes a dozen short
    /// names.
    const MAX_BYTES: usize = 1 << 20;
    let mut cursor = Cursor::new(&Layout::parse(content)?);
    let (mut name, mut all, mut kept) = (Vec::new(), Vec::new(), 0);
    while let Some(value) = cursor.next(&mut name)? {
        kept += name.len() + size_of::<(Vec<u8>, Handle)>();
        if kept > MAX_BYTES {
            return Err(Error::new(Kind::Limit, 0, "the metaindex exceeds 1 MiB"));
        }
        all.push((name.clone(), Handle::read(&mut Bytes(value))?));
    }
    Ok(all)
}

//! What a file says of itself.

use linerate_core::{Error, Kind, Result};

use super::block::{Layout, Walk};
use super::bytes::Bytes;

/// The most bytes of names and values that are kept.
const MOST: usize = 16 << 20;

/// A name, and what is said under it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Property {
    /// Such as `rocksdb.num.entries`.
    pub name: Vec<u8>,
    /// Text, or a number as [`Properties::number`] reads it.
    pub value: Vec<u8>,
}

/// The properties of a file, by name, in the order in which they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    all: Vec<Property>,
}

impl Properties {
    pub(super) fn parse(content: &[u8]) -> Result<Properties> {
        let mut walk = Walk::new(&Layout::parse(content)?);
        let (mut name, mut all, mut kept) = (Vec::new(), Vec::new(), 0);
        while let Some(value) = walk.next(&mut name)? {
            kept += name.len() + value.len();
            if kept > MOST {
                return Err(Error::new(Kind::Limit, 0, "the properties of the file exceed 16 MiB"));
            }
            all.push(Property { name: name.clone(), value: value.to_vec() });
        }
        Ok(Properties { all })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Property> {
        self.all.iter()
    }

    /// The value under a name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.all.iter().find(|property| property.name == name.as_bytes()).map(|found| &found.value[..])
    }

    /// The number under a name, if it is one: seven bits to a byte.
    pub fn number(&self, name: &str) -> Option<u64> {
        let mut bytes = Bytes(self.get(name)?);
        let number = bytes.varint64().ok()?;
        bytes.0.is_empty().then_some(number)
    }

    /// The text under a name; empty if there is none.
    pub fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(self.get(name).unwrap_or_default()).into_owned()
    }

    /// The number under a name, four or eight bytes.
    pub(super) fn fixed(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            value @ [_, _, _, _] => Bytes(value).u32().ok().map(u64::from),
            value => Some(u64::from_le_bytes(value.try_into().ok()?)),
        }
    }

    fn count(&self, name: &str) -> u64 {
        self.number(name).unwrap_or(0)
    }

    /// Entries, deletions and operands included, range deletions not.
    pub fn entries(&self) -> u64 {
        // RocksDB counts a range deletion as an entry, too.
        self.count("rocksdb.num.entries").saturating_sub(self.range_deletions())
    }

    /// Deletions among the entries.
    pub fn deletions(&self) -> u64 {
        // A range deletion is counted as a deletion, too.
        self.count("rocksdb.deleted.keys").saturating_sub(self.range_deletions())
    }

    /// Merge operands among the entries.
    pub fn merge_operands(&self) -> u64 {
        self.count("rocksdb.merge.operands")
    }

    /// Range deletions.
    pub fn range_deletions(&self) -> u64 {
        self.count("rocksdb.num.range-deletions")
    }

    /// Data blocks. RocksDB 10 says fewer, often none, in files with a dictionary.
    pub fn data_blocks(&self) -> u64 {
        self.count("rocksdb.num.data.blocks")
    }

    /// Bytes of the data blocks as stored.
    pub fn data_bytes(&self) -> u64 {
        self.count("rocksdb.data.size")
    }

    /// Bytes of all keys before compression, with eight for each.
    pub fn raw_key_bytes(&self) -> u64 {
        self.count("rocksdb.raw.key.size")
    }

    /// Bytes of all values before compression.
    pub fn raw_value_bytes(&self) -> u64 {
        self.count("rocksdb.raw.value.size")
    }

    /// RocksDB's name of the compression that was wanted; blocks may be stored otherwise.
    pub fn compression(&self) -> String {
        self.text("rocksdb.compression")
    }

    /// The name of the order of keys.
    pub fn comparator(&self) -> String {
        self.text("rocksdb.comparator")
    }
}

//! The properties block.

use linerate_core::{Error, Kind, Result};

use super::block::{Cursor, Layout};
use super::bytes::Bytes;

/// Maximum number of bytes of names and values.
const MAX_BYTES: usize = 16 << 20;

/// A property.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Property {
    /// Name, such as `rocksdb.num.entries`.
    pub name: Vec<u8>,
    /// Value: text, or an integer for [`Properties::number`].
    pub value: Vec<u8>,
}

/// The properties of a file, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    all: Vec<Property>,
}

impl Properties {
    pub(super) fn parse(content: &[u8]) -> Result<Properties> {
        let mut cursor = Cursor::new(&Layout::parse(content)?);
        let (mut name, mut all, mut kept) = (Vec::new(), Vec::new(), 0);
        while let Some(value) = cursor.next(&mut name)? {
            kept += name.len() + value.len();
            if kept > MAX_BYTES {
                return Err(Error::new(Kind::Limit, 0, "the properties of the file exceed 16 MiB"));
            }
            all.push(Property { name: name.clone(), value: value.to_vec() });
        }
        Ok(Properties { all })
    }

    /// Returns all properties.
    pub fn iter(&self) -> impl Iterator<Item = &Property> {
        self.all.iter()
    }

    /// Returns the value of a property.
    pub(super) fn get(&self, name: &str) -> Option<&[u8]> {
        self.all.iter().find(|property| property.name == name.as_bytes()).map(|found| &found.value[..])
    }

    /// Returns the value of a property, if it is a LEB128 integer.
    pub fn number(&self, name: &str) -> Option<u64> {
        let mut bytes = Bytes(self.get(name)?);
        let number = bytes.varint64().ok()?;
        bytes.0.is_empty().then_some(number)
    }

    /// Returns the value of a property as text, which is empty if the property is missing.
    fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(self.get(name).unwrap_or_default()).into_owned()
    }

    /// Returns the value of a property, if it is an integer of four or eight bytes.
    pub(super) fn fixed(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            value @ [_, _, _, _] => Bytes(value).u32().ok().map(u64::from),
            value => Some(u64::from_le_bytes(value.try_into().ok()?)),
        }
    }

    fn count(&self, name: &str) -> u64 {
        self.number(name).unwrap_or(0)
    }

    /// Returns the number of entries, including deletions and merge operands, without range
    /// deletions.
    pub fn entries(&self) -> u64 {
        // RocksDB counts a range deletion as an entry, too.
        self.count("rocksdb.num.entries").saturating_sub(self.range_deletions())
    }

    /// Returns the number of deletions among the entries.
    pub fn deletions(&self) -> u64 {
        // RocksDB counts a range deletion as a deletion, too.
        self.count("rocksdb.deleted.keys").saturating_sub(self.range_deletions())
    }

    /// Returns the number of merge operands among the entries.
    pub fn merge_operands(&self) -> u64 {
        self.count("rocksdb.merge.operands")
    }

    /// Returns the number of range deletions.
    pub fn range_deletions(&self) -> u64 {
        self.count("rocksdb.num.range-deletions")
    }

    /// Returns the number of data blocks. RocksDB 10 and 11 state fewer, often none, in files that
    /// they train a dictionary for, whether one results or not.
    pub fn data_blocks(&self) -> u64 {
        self.count("rocksdb.num.data.blocks")
    }

    /// Returns the number of uncompressed bytes of all keys, including the eight bytes of sequence
    /// number and type of each, and the keys of range deletions.
    pub fn raw_key_bytes(&self) -> u64 {
        self.count("rocksdb.raw.key.size")
    }

    /// Returns the number of uncompressed bytes of all values, including the end keys of range
    /// deletions.
    pub fn raw_value_bytes(&self) -> u64 {
        self.count("rocksdb.raw.value.size")
    }

    /// Returns RocksDB's name of the configured compression. Blocks may be stored uncompressed.
    fn compression(&self) -> String {
        self.text("rocksdb.compression")
    }

    /// Returns the compatibility name of the compression manager that wrote the file. Only format
    /// version 7 has it. `BuiltinV2` is RocksDB's own, and the name is empty for a file that was
    /// not to be compressed. Only custom managers have block types that other managers do not read.
    pub fn compression_manager(&self) -> Option<String> {
        self.compression().split_once(';').map(|(name, _)| name.to_owned())
    }

    /// Returns the configured level, or `None` if it is not stated, or is the default of the
    /// compression.
    pub fn compression_level(&self) -> Option<i32> {
        /// RocksDB's `kDefaultCompressionLevel`.
        const DEFAULT: i32 = 32767;
        let level = self.compression_option("level")?;
        i32::try_from(level).ok().filter(|&level| level != DEFAULT)
    }

    /// Returns whether the options asked for a dictionary. There may still be none.
    pub(super) fn was_to_have_a_dictionary(&self) -> bool {
        self.compression_option("max_dict_bytes").is_some_and(|bytes| bytes != 0)
    }

    /// Returns an option of the compression. Some options are signed; others have 32 bits without a
    /// sign.
    fn compression_option(&self, name: &str) -> Option<i64> {
        let options = self.text("rocksdb.compression_options");
        let mut pairs = options.split(';').filter_map(|option| option.trim().split_once('='));
        pairs.find(|(key, _)| *key == name)?.1.parse().ok()
    }
}

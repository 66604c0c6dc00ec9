//! The order of keys (RocksDB's comparators).

use std::cmp::Ordering;

use linerate_core::{Error, Kind, Result};

/// Order of the user keys in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyOrder {
    /// Ascending bytewise, RocksDB's default.
    Bytewise,
    /// Descending bytewise.
    Reverse,
    /// A custom comparator: the file can be scanned, but not searched.
    Unknown,
}

impl KeyOrder {
    /// Converts the name of RocksDB's comparator.
    pub(super) fn from_name(name: &[u8]) -> KeyOrder {
        match name {
            b"leveldb.BytewiseComparator" => KeyOrder::Bytewise,
            b"rocksdb.ReverseBytewiseComparator" => KeyOrder::Reverse,
            _ => KeyOrder::Unknown,
        }
    }

    /// Returns an error if keys cannot be compared.
    pub(super) fn check(self) -> Result<()> {
        match self {
            KeyOrder::Unknown => Err(Error::new(
                Kind::Unsupported,
                0,
                "the keys are in the order of a custom comparator, which is not known",
            )),
            _ => Ok(()),
        }
    }

    /// Compares two keys. With an unknown order all are equal.
    #[inline]
    pub(super) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            KeyOrder::Bytewise => a.cmp(b),
            KeyOrder::Reverse => b.cmp(a),
            KeyOrder::Unknown => Ordering::Equal,
        }
    }
}

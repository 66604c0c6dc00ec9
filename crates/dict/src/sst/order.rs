//! The order of keys.

use std::cmp::Ordering;

use linerate_core::{Error, Kind, Result};

/// The order of user keys in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyOrder {
    /// Rising bytes, RocksDB's default.
    Bytewise,
    /// Falling bytes.
    Reverse,
    /// That of a program, which only the program knows: nothing can be searched, but all be scanned.
    Unknown,
}

impl KeyOrder {
    /// By the name of RocksDB's comparator.
    pub(super) fn of_name(name: &[u8]) -> KeyOrder {
        match name {
            b"leveldb.BytewiseComparator" => KeyOrder::Bytewise,
            b"rocksdb.ReverseBytewiseComparator" => KeyOrder::Reverse,
            _ => KeyOrder::Unknown,
        }
    }

    /// The error if keys cannot be compared.
    pub(super) fn check(self) -> Result<()> {
        match self {
            KeyOrder::Unknown => Err(Error::new(
                Kind::Unsupported,
                0,
                "the keys are in an order that only the program knows which wrote them",
            )),
            _ => Ok(()),
        }
    }

    /// Which of two keys comes first; an unknown order calls all equal.
    #[inline]
    pub(super) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            KeyOrder::Bytewise => a.cmp(b),
            KeyOrder::Reverse => b.cmp(a),
            KeyOrder::Unknown => Ordering::Equal,
        }
    }
}

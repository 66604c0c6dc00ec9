//! Entries: user key, sequence number, type and value.

use linerate_core::{Error, Kind, Result};

/// Number of bytes of sequence number and type after each user key.
pub(super) const TAIL: usize = 8;

const SHORT_KEY: Error = Error::new(Kind::Corrupt, 0, "an internal key is shorter than eight bytes");

/// Type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// The deletion of a key.
    Deletion,
    /// A value.
    Value,
    /// An operand of the application's merge operator, to be applied to older entries.
    Merge,
    /// The deletion of a key that was written once.
    SingleDeletion,
    /// The deletion of a range of keys.
    RangeDeletion,
    /// The position of the value in a blob file.
    BlobIndex,
    /// Another type, by its number.
    Other(u8),
}

impl EntryKind {
    pub(super) const fn from_number(number: u8) -> EntryKind {
        match number {
            0 => EntryKind::Deletion,
            1 => EntryKind::Value,
            2 => EntryKind::Merge,
            7 => EntryKind::SingleDeletion,
            0x0f => EntryKind::RangeDeletion,
            0x11 => EntryKind::BlobIndex,
            other => EntryKind::Other(other),
        }
    }

    /// Returns whether the entry deletes the key.
    pub const fn is_deletion(self) -> bool {
        matches!(self, EntryKind::Deletion | EntryKind::SingleDeletion | EntryKind::RangeDeletion)
    }

    /// Returns a name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            EntryKind::Deletion => "deletion",
            EntryKind::Value => "value",
            EntryKind::Merge => "merge",
            EntryKind::SingleDeletion => "single deletion",
            EntryKind::RangeDeletion => "range deletion",
            EntryKind::BlobIndex => "blob index",
            EntryKind::Other(_) => "other",
        }
    }
}

/// An entry of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// The user key.
    pub key: &'a [u8],
    /// Sequence number: higher is later. 0 in files made for ingestion.
    pub sequence: u64,
    /// Type of the entry.
    pub kind: EntryKind,
    /// The value, operand or blob index; empty for deletions.
    pub value: &'a [u8],
}

impl<'a> Entry<'a> {
    #[inline]
    pub(super) fn new(internal: &'a [u8], value: &'a [u8]) -> Result<Entry<'a>> {
        let (key, tail) = split(internal)?;
        Ok(Entry { key, sequence: tail >> 8, kind: EntryKind::from_number(tail as u8), value })
    }
}

/// Splits an internal key into the user key and its tail, which has the sequence number and type.
#[inline]
pub(super) fn split(internal: &[u8]) -> Result<(&[u8], u64)> {
    let (key, tail) = internal.split_last_chunk::<TAIL>().ok_or(SHORT_KEY)?;
    Ok((key, u64::from_le_bytes(*tail)))
}

//! One entry: a user's key, when it was written, and what.

use linerate_core::{Error, Kind, Result};

/// Number and type behind each user key.
pub(super) const TAIL: usize = 8;

const SHORT_KEY: Error = Error::new(Kind::Corrupt, 0, "a key is shorter than the eight bytes behind each");

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// The key was deleted.
    Deletion,
    /// A value.
    Value,
    /// An operand for the program's merge operator, to be applied to what older entries say.
    Merge,
    /// The key, written once, was deleted.
    SingleDeletion,
    /// The key was deleted with all others of a range.
    RangeDeletion,
    /// Where the value stands in a blob file.
    BlobIndex,
    /// Another one, by its number.
    Other(u8),
}

impl EntryKind {
    pub(super) const fn of_number(number: u8) -> EntryKind {
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

    /// Whether it says that the key is gone.
    pub const fn is_deletion(self) -> bool {
        matches!(self, EntryKind::Deletion | EntryKind::SingleDeletion | EntryKind::RangeDeletion)
    }

    /// A name in lower case.
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
    /// The user's key.
    pub key: &'a [u8],
    /// When it was written: higher is later. 0 in files that were made to be ingested.
    pub sequence: u64,
    /// What was written.
    pub kind: EntryKind,
    /// The value, operand or blob index; empty for deletions.
    pub value: &'a [u8],
}

impl<'a> Entry<'a> {
    #[inline]
    pub(super) fn new(internal: &'a [u8], value: &'a [u8]) -> Result<Entry<'a>> {
        let (key, tail) = split(internal)?;
        Ok(Entry { key, sequence: tail >> 8, kind: EntryKind::of_number(tail as u8), value })
    }
}

/// The user's part of an internal key, and the number in its tail.
#[inline]
pub(super) fn split(internal: &[u8]) -> Result<(&[u8], u64)> {
    let (key, tail) = internal.split_last_chunk::<TAIL>().ok_or(SHORT_KEY)?;
    Ok((key, u64::from_le_bytes(*tail)))
}

//! Where a block stands.

use linerate_core::Result;

use super::bytes::Bytes;

/// Type and checksum behind each block.
pub(super) const TRAILER: usize = 5;

/// Where a block stands in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Handle {
    /// Its first byte.
    pub offset: u64,
    /// Bytes of it as stored, without the five of its trailer.
    pub size: u64,
}

impl Handle {
    pub(super) const fn new(offset: u64, size: u64) -> Self {
        Handle { offset, size }
    }

    pub(super) fn read(bytes: &mut Bytes<'_>) -> Result<Handle> {
        Ok(Handle { offset: bytes.varint64()?, size: bytes.varint64()? })
    }

    /// The first byte behind it and its trailer, unless there can be none.
    pub(super) fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.size)?.checked_add(TRAILER as u64)
    }
}

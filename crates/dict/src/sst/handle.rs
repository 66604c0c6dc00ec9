//! Block handles.

use linerate_core::Result;

use super::bytes::Bytes;

/// Number of bytes of type and checksum after each block.
pub(super) const TRAILER: usize = 5;

/// Position of a block in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Handle {
    /// Offset of the block's first byte.
    pub offset: u64,
    /// Number of stored bytes, without the trailer of five bytes.
    pub size: u64,
}

impl Handle {
    pub(super) const fn new(offset: u64, size: u64) -> Self {
        Handle { offset, size }
    }

    pub(super) fn read(bytes: &mut Bytes<'_>) -> Result<Handle> {
        Ok(Handle { offset: bytes.varint64()?, size: bytes.varint64()? })
    }

    /// Returns the end of the block's trailer, unless it overflows.
    pub(super) fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.size)?.checked_add(TRAILER as u64)
    }
}

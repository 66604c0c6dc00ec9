//! Block handles.

use linerate_core::Result;

use super::bytes::Bytes;

/// Bytes of type and checksum after each block.
pub(super) const TRAILER: usize = 5;

/// Position of a block in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Handle {
    /// Offset of its first byte.
    pub offset: u64,
    /// Stored bytes, without its trailer of five bytes.
    pub size: u64,
}

impl Handle {
    pub(super) const fn new(offset: u64, size: u64) -> Self {
        Handle { offset, size }
    }

    pub(super) fn read(bytes: &mut Bytes<'_>) -> Result<Handle> {
        Ok(Handle { offset: bytes.varint64()?, size: bytes.varint64()? })
    }

    /// The end of its trailer, unless it overflows.
    pub(super) fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.size)?.checked_add(TRAILER as u64)
    }
}

//! Working memory that a session needs only while it decodes.

use crate::payload::Payload;
use crate::stats::Lease;

/// Working memory of one thread, used by its sessions in turn. No message depends on its content.
///
/// It holds the buffer of the last payload: up to 1 MiB for good, and more for some time after a
/// larger payload. Once a format was used it also holds at most 320 KiB for zstd and 16 KiB for
/// zlib.
#[derive(Default)]
pub struct Scratch {
    pub(crate) payload: Payload,
    zstd: Option<linerate_zstd::Scratch>,
    inflate: Option<Box<linerate_inflate::Scratch>>,
    /// The lease of the ring buffer that takes the records of messages, if they are recorded.
    pub(crate) stats: Option<Lease>,
}

impl Scratch {
    /// Creates a scratch that has allocated nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) const fn empty() -> Self {
        Scratch { payload: Payload::new(), zstd: None, inflate: None, stats: None }
    }

    /// The payload buffer and the scratch of zstd.
    pub(crate) fn for_zstd(&mut self) -> (&mut Payload, &mut linerate_zstd::Scratch) {
        (&mut self.payload, self.zstd.get_or_insert_with(linerate_zstd::Scratch::new))
    }

    /// The payload buffer, and the scratch of zlib, gzip and raw deflate.
    pub(crate) fn for_zlib(&mut self) -> (&mut Payload, &mut linerate_inflate::Scratch) {
        (&mut self.payload, self.inflate.get_or_insert_with(Box::default))
    }

    /// Frees the part of the payload buffer above 1 MiB. The last payload may be lost.
    pub fn trim(&mut self) {
        self.payload.trim();
    }

    /// Upper bound of the number of bytes held on the heap.
    pub fn memory(&self) -> usize {
        let zstd = if self.zstd.is_some() { linerate_zstd::Scratch::MAX_MEMORY } else { 0 };
        let inflate = if self.inflate.is_some() { size_of::<linerate_inflate::Scratch>() } else { 0 };
        self.payload.memory() + zstd + inflate
    }
}

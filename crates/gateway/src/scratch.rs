//! What sessions need only while they decode.

use crate::inflate::Tables;
use crate::payload::Payload;

/// Buffers for the sessions of one thread, one after the other. Nothing in them is of use to the next
/// message.
///
/// It holds the last payload, up to 1 MiB for good and more for a while after larger ones, 320 KiB at
/// most for zstd and 8 KB for zlib once a session with them was decoded.
#[derive(Default)]
pub struct Scratch {
    pub(crate) payload: Payload,
    zstd: Option<linerate_zstd::Scratch>,
    tables: Option<Box<Tables>>,
}

impl Scratch {
    /// Empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) const fn empty() -> Self {
        Scratch { payload: Payload::new(), zstd: None, tables: None }
    }

    /// The buffers of both.
    pub(crate) fn for_zstd(&mut self) -> (&mut Payload, &mut linerate_zstd::Scratch) {
        (&mut self.payload, self.zstd.get_or_insert_with(linerate_zstd::Scratch::new))
    }

    /// The buffers of both.
    pub(crate) fn for_zlib(&mut self) -> (&mut Payload, &mut Tables) {
        (&mut self.payload, self.tables.get_or_insert_with(|| Box::new(Tables::new())))
    }

    /// Gives back at once what only a large message needed. The last payload is gone then.
    pub fn trim(&mut self) {
        self.payload.trim();
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let zstd = if self.zstd.is_some() { linerate_zstd::Scratch::MAX_MEMORY } else { 0 };
        let tables = if self.tables.is_some() { size_of::<Tables>() } else { 0 };
        self.payload.memory() + zstd + tables
    }
}

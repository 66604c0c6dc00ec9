//! Compresses dictionaries with each other.
//!
//! Each dictionary is compressed with the first of its cluster, if that is smaller than alone. To
//! read a dictionary, at most two pieces of the file are read, and the base is likely to be cached.

use zstd_safe::{CCtx, CDict};

use super::codec::{Decompressor, prefix};
use super::index::Storage;

/// The first dictionary of a cluster.
pub(super) struct Base {
    pub(super) id: u64,
    bytes: Vec<u8>,
    prepared: Option<CDict<'static>>,
}

impl Base {
    pub(super) fn new(id: u64, bytes: Vec<u8>, level: i32) -> Base {
        let prepared = CDict::try_create(prefix(&bytes), level);
        Base { id, bytes, prepared }
    }
}

/// Compresses dictionaries.
pub(super) struct Compressor {
    context: CCtx<'static>,
    level: i32,
    buffer: Vec<u8>,
    decompressor: Decompressor,
}

impl Compressor {
    pub(super) fn new(level: i32) -> Compressor {
        Compressor { context: CCtx::create(), level, buffer: Vec::new(), decompressor: Decompressor::new() }
    }

    /// Returns the smallest stored form of a dictionary, and its bytes.
    pub(super) fn compress<'a>(&'a mut self, bytes: &'a [u8], base: Option<&Base>) -> (Storage, &'a [u8]) {
        let bound = zstd_safe::compress_bound(bytes.len());
        self.buffer.resize(2 * bound, 0);
        let (alone, with) = self.buffer.split_at_mut(bound);
        let mut best = (Storage::Uncompressed, bytes.len());
        if let Ok(len) = self.context.compress(alone, bytes, self.level)
            && len < best.1
        {
            best = (Storage::Compressed, len);
        }
        let prepared = base.and_then(|base| Some((base.id, base.prepared.as_ref()?)));
        if let Some((id, prepared)) = prepared
            && let Ok(len) = self.context.compress_using_cdict(with, bytes, prepared)
            && len < best.1
        {
            best = (Storage::CompressedWith(id), len);
        }
        let (stored, base) = match best.0 {
            Storage::Uncompressed => return (Storage::Uncompressed, bytes),
            Storage::Compressed => (&self.buffer[..best.1], None),
            Storage::CompressedWith(_) => (&self.buffer[bound..][..best.1], base.map(|base| &base.bytes[..])),
        };
        // Verify by decompression, because a lost dictionary is lost data.
        match self.decompressor.decompress(stored, base, bytes.len()) {
            Ok(again) if again == bytes => (best.0, stored),
            _ => (Storage::Uncompressed, bytes),
        }
    }
}

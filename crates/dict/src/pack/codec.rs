//! Decompresses dictionaries that are compressed with each other.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{self as zstd, Dictionary, Scratch};

/// Returns the part of a dictionary that serves as base: everything after its first eight bytes,
/// which are magic number and Dictionary_ID in a trained dictionary.
pub(super) fn prefix(base: &[u8]) -> &[u8] {
    base.get(8..).unwrap_or_default()
}

/// Decompresses dictionaries.
pub(super) struct Decompressor {
    scratch: Scratch,
}

impl Decompressor {
    pub(super) fn new() -> Decompressor {
        Decompressor { scratch: Scratch::new() }
    }

    /// Decompresses the frame `stored` to a dictionary of `len` bytes.
    pub(super) fn decompress(&mut self, stored: &[u8], base: Option<&[u8]>, len: usize) -> Result<Vec<u8>> {
        let base = base.map(|base| Dictionary::raw_by_reference(prefix(base))).transpose()?;
        let mut out = vec![0; len];
        let decoder = zstd::FrameDecoder::new(zstd::Options::new());
        let written = decoder.decode(&mut self.scratch, base.as_ref(), stored, &mut out)?;
        if written != len {
            return Err(Error::new(
                Kind::Corrupt,
                0,
                "a dictionary of the pack differs from its length in the index",
            ));
        }
        Ok(out)
    }
}

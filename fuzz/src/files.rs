//! Reads and writes little-endian fields and hashes of dictionary packs and block files.

use linerate_dict::content_hash;

/// Reads the u64 at `offset`.
pub(crate) fn field(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(bytes[offset..offset + 8].try_into().expect("eight bytes"))
}

pub(crate) fn put(bytes: &mut [u8], offset: usize, value: u64) {
    bytes[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
}

/// Writes the hash of all bytes but the last eight into the last eight.
pub(crate) fn seal(bytes: &mut [u8]) {
    let offset = bytes.len() - 8;
    let hash = content_hash(&bytes[..offset]);
    put(bytes, offset, hash);
}

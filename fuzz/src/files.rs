//! Fields of the files of dictionaries and blocks, little-endian, and their hashes.

use linerate_dict::content_hash;

/// The number in the eight bytes at `at`.
pub(crate) fn field(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

pub(crate) fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// Puts the hash of all bytes before the last eight into those.
pub(crate) fn seal(bytes: &mut [u8]) {
    let at = bytes.len() - 8;
    let hash = content_hash(&bytes[..at]);
    put(bytes, at, hash);
}

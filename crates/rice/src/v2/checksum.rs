//! The checksum of headers, shape records and segments.

use twox_hash::XxHash3_64;

/// The low 32 bits of XXH3-64 without a seed.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    XxHash3_64::oneshot(bytes) as u32
}

//! The checksum of headers, records and segments.

use twox_hash::XxHash3_64;

/// Returns the low 32 bits of XXH3-64 with seed 0.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    XxHash3_64::oneshot(bytes) as u32
}

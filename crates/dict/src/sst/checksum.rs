//! Checksums of blocks. A file uses one kind.

use twox_hash::{XxHash3_64, XxHash32, XxHash64};

/// The kind of checksum of a file's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Checksum {
    /// No checksum.
    None,
    /// CRC-32C, masked.
    Crc32c,
    /// XXH32.
    Xxh32,
    /// The low half of XXH64.
    Xxh64,
    /// The low half of XXH3 of all bytes but the last, which is mixed in separately.
    Xxh3,
}

impl Checksum {
    /// Converts the number in the footer.
    pub(super) fn from_number(number: u8) -> Option<Checksum> {
        use Checksum::*;
        [None, Crc32c, Xxh32, Xxh64, Xxh3].get(usize::from(number)).copied()
    }

    /// Returns the name that RocksDB's tools use.
    pub const fn name(self) -> &'static str {
        match self {
            Checksum::None => "none",
            Checksum::Crc32c => "crc32c",
            Checksum::Xxh32 => "xxhash",
            Checksum::Xxh64 => "xxhash64",
            Checksum::Xxh3 => "xxh3",
        }
    }

    /// Computes the checksum of a block, whose last byte is its compression type.
    pub(super) fn of(self, bytes: &[u8]) -> u32 {
        match self {
            Checksum::None => 0,
            // The CRC is masked, because a CRC over bytes that contain CRCs is weak.
            Checksum::Crc32c => crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8),
            Checksum::Xxh32 => XxHash32::oneshot(0, bytes),
            Checksum::Xxh64 => XxHash64::oneshot(0, bytes) as u32,
            Checksum::Xxh3 => match bytes.split_last() {
                Some((&last, rest)) => {
                    XxHash3_64::oneshot(rest) as u32 ^ u32::from(last).wrapping_mul(0x6b90_83d9)
                }
                None => XxHash3_64::oneshot(bytes) as u32,
            },
        }
    }
}

/// Returns a number that is added to the checksum of a block at `offset`, so that a block from
/// another position or file is detected. `base` is 0 in files below version 6.
pub(super) fn context(base: u32, offset: u64) -> u32 {
    if base == 0 { 0 } else { base ^ (offset as u32).wrapping_add((offset >> 32) as u32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashes have published values, in the forms of this format.
    #[test]
    fn published_hash_values_match() {
        assert_eq!(Checksum::Xxh32.of(b""), 0x02cc_5d05);
        assert_eq!(Checksum::Xxh64.of(b""), 0x51d8_e999);
        assert_eq!(Checksum::Xxh3.of(b"\0"), 0x38d3_94c2);
        assert_eq!(Checksum::Xxh3.of(b"\x02"), 0x38d3_94c2 ^ 0xd721_07b2);
        let crc: u32 = 0xe306_9283;
        assert_eq!(Checksum::Crc32c.of(b"123456789"), crc.rotate_right(15).wrapping_add(0xa282_ead8));
        assert_eq!(Checksum::None.of(b"123456789"), 0);
        assert_eq!(Checksum::from_number(5), None);
    }

    #[test]
    fn the_offset_changes_the_checksum_if_there_is_a_base() {
        assert_eq!(context(0, 77), 0);
        assert_eq!(context(5, 0x1_0000_0002), 5 ^ 3);
    }
}

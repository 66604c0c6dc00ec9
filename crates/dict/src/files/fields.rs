//! Fixed-offset little-endian fields, varints and checksums of the file formats.

use twox_hash::XxHash3_64;

/// Hash in all file formats of this crate: XXH3, 64 bits, seed 0.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// Reads two bytes at `at`. This and the functions up to [`has_valid_checksum`] panic if bytes are
/// out of bounds.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().expect("two bytes"))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

pub(crate) fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

/// Writes the hash of all but the last eight bytes into the last eight.
pub(crate) fn put_checksum(bytes: &mut [u8]) {
    let at = bytes.len() - 8;
    let sum = hash(&bytes[..at]);
    put(bytes, at, &sum.to_le_bytes());
}

/// Returns whether the last eight bytes are the hash of those before.
pub(crate) fn has_valid_checksum(bytes: &[u8]) -> bool {
    let at = bytes.len() - 8;
    u64_at(bytes, at) == hash(&bytes[..at])
}

/// Appends an integer as LEB128: seven bits per byte, the lowest first. All bytes but the last have
/// the top bit set.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a LEB128 integer at `at`, and advances `at`. Returns `None` if the bytes end, or the
/// integer has more than 32 bits or five bytes.
pub(crate) fn varint(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(value).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_round_trip() {
        for value in [0, 1, 127, 128, 16_383, 16_384, 1 << 28, u32::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            let mut at = 0;
            assert_eq!((varint(&bytes, &mut at), at), (Some(value), bytes.len()));
            assert_eq!(varint(&bytes[..bytes.len() - 1], &mut 0), None);
        }
        assert_eq!(varint(&[0xff, 0xff, 0xff, 0xff, 0x10], &mut 0), None);
        assert_eq!(varint(&[0x80; 9], &mut 0), None);
    }

    #[test]
    fn a_flipped_bit_fails_the_checksum() {
        let mut bytes = [7; 24];
        put_checksum(&mut bytes);
        assert!(has_valid_checksum(&bytes));
        for bit in 0..8 * bytes.len() {
            let mut other = bytes;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!has_valid_checksum(&other));
        }
    }
}

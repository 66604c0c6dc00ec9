//! Numbers in files: little-endian, at fixed places.

use twox_hash::XxHash3_64;

/// The hash that all files of this crate use: XXH3, 64 bits, seed 0.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The two bytes at `at`, which must be there, as must those of the functions below.
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

/// Puts the hash of all bytes before the last eight into those.
pub(crate) fn seal(bytes: &mut [u8]) {
    let at = bytes.len() - 8;
    let sum = hash(&bytes[..at]);
    put(bytes, at, &sum.to_le_bytes());
}

/// Whether the last eight bytes are the hash of those before.
pub(crate) fn is_sealed(bytes: &[u8]) -> bool {
    let at = bytes.len() - 8;
    u64_at(bytes, at) == hash(&bytes[..at])
}

/// Appends a number, seven bits to a byte, the low ones first; all bytes but the last have the high
/// bit set.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads such a number at `at` and moves `at` behind it. None if the bytes end, or it has more than
/// 32 bits.
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
    fn varints_come_back() {
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
    fn seals_break() {
        let mut bytes = [7; 24];
        seal(&mut bytes);
        assert!(is_sealed(&bytes));
        for bit in 0..8 * bytes.len() {
            let mut other = bytes;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_sealed(&other));
        }
    }
}

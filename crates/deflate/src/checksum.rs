//! CRC-32 and Adler-32 (by `crc32fast` and `simd-adler32`), and combining the checksums of two
//! parts.
//!
//! Both follow zlib's incremental convention: you pass the previous value and get the updated one.

/// The CRC-32 of an empty input.
pub const CRC32_START: u32 = 0;
/// The Adler-32 of an empty input.
pub const ADLER32_START: u32 = 1;

/// Returns the CRC-32 (reflected polynomial 0xEDB88320) of the data that `so_far` covers, followed
/// by `data`.
///
/// ```
/// use linerate_deflate::checksum::{crc32, CRC32_START};
/// assert_eq!(crc32(CRC32_START, b"123456789"), 0xCBF4_3926);
/// ```
pub fn crc32(so_far: u32, data: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(so_far);
    hasher.update(data);
    hasher.finalize()
}

/// Returns the CRC-32 of A followed by B, from their CRC-32s and the length of B in bytes.
pub fn crc32_combine(a: u32, b: u32, b_len: u64) -> u32 {
    let mut joined = crc32fast::Hasher::new_with_initial(a);
    joined.combine(&crc32fast::Hasher::new_with_initial_len(b, b_len));
    joined.finalize()
}

/// Returns the Adler-32 of the data that `so_far` covers, followed by `data`.
///
/// ```
/// use linerate_deflate::checksum::{adler32, ADLER32_START};
/// assert_eq!(adler32(ADLER32_START, b"Wikipedia"), 0x11E6_0398);
/// ```
pub fn adler32(so_far: u32, data: &[u8]) -> u32 {
    let mut hasher = simd_adler32::Adler32::from_checksum(so_far);
    hasher.write(data);
    hasher.finish()
}

/// Returns the Adler-32 of A followed by B, from their Adler-32s and the length of B in bytes.
///
/// Adler-32 has a = 1 + the sum of the bytes, and b = the sum of all running values of a. Appending
/// B adds B's sums, and each of B's `b_len` running values of a starts from A's a rather than from
/// 1.
pub fn adler32_combine(a: u32, b: u32, b_len: u64) -> u32 {
    const MOD: u64 = 65_521;
    let (a_low, a_high) = (u64::from(a & 0xffff), u64::from(a >> 16));
    let (b_low, b_high) = (u64::from(b & 0xffff), u64::from(b >> 16));
    let shift = (a_low + MOD - 1) % MOD;
    let low = (shift + b_low) % MOD;
    let high = (a_high + b_high + (b_len % MOD) * shift) % MOD;
    (high << 16 | low) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of RFC 1950, section 8.2, byte by byte.
    fn adler32_by_definition(data: &[u8]) -> u32 {
        let (mut a, mut b) = (1u32, 0u32);
        for &byte in data {
            a = (a + u32::from(byte)) % 65_521;
            b = (b + a) % 65_521;
        }
        b << 16 | a
    }

    fn crc32_by_definition(data: &[u8]) -> u32 {
        !data.iter().fold(!0u32, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |c, _| (c >> 1) ^ ((c & 1) * 0xEDB8_8320))
        })
    }

    #[test]
    fn published_values_match() {
        assert_eq!(crc32(0, b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(0, b"abc"), 0x3524_41C2);
        assert_eq!(adler32(1, b"Wikipedia"), 0x11E6_0398);
        assert_eq!(adler32(1, b"abc"), 0x024D_0127);
    }

    #[test]
    fn checksums_match_the_definition_at_every_length_and_alignment() {
        let data: Vec<u8> =
            (0..1100u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8 | 0x80).collect();
        let step = if cfg!(miri) { 15 } else { 1 };
        for start in (0..16).step_by(step) {
            for len in (0..70).step_by(step).chain([255, 256, 1000, 1024]) {
                let piece = &data[start..start + len];
                let (crc, adler) = (crc32(0, piece), adler32(1, piece));
                assert_eq!(crc, crc32_by_definition(piece));
                assert_eq!(adler, adler32_by_definition(piece));
                let (a, b) = piece.split_at(len * start / 16);
                assert_eq!(crc32_combine(crc32(0, a), crc32(0, b), b.len() as u64), crc);
                assert_eq!(crc32(crc32(0, a), b), crc);
                assert_eq!(adler32_combine(adler32(1, a), adler32(1, b), b.len() as u64), adler);
                assert_eq!(adler32(adler32(1, a), b), adler);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "long")]
    fn combining_wraps_at_the_modulus() {
        let data = vec![0xff; 200_000];
        let (a, b) = data.split_at(65_600);
        assert_eq!(adler32_combine(adler32(1, a), adler32(1, b), b.len() as u64), adler32(1, &data));
        assert_eq!(crc32_combine(crc32(0, a), crc32(0, b), b.len() as u64), crc32(0, &data));
    }
}

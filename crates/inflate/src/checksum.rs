//! CRC-32 and Adler-32, by `crc32fast` and `simd-adler32`.

/// The CRC-32 of an empty input.
pub(crate) const CRC32_START: u32 = 0;
/// The Adler-32 of an empty input.
pub(crate) const ADLER32_START: u32 = 1;

pub(crate) fn crc32(so_far: u32, data: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(so_far);
    hasher.update(data);
    hasher.finalize()
}

pub(crate) fn adler32(so_far: u32, data: &[u8]) -> u32 {
    let mut hasher = simd_adler32::Adler32::from_checksum(so_far);
    hasher.write(data);
    hasher.finish()
}

/// Returns the CRC-32 of A followed by B, from their CRC-32s and the length of B in bytes.
#[cfg(feature = "std")]
pub(crate) fn crc32_combine(a: u32, b: u32, b_len: u64) -> u32 {
    let mut joined = crc32fast::Hasher::new_with_initial(a);
    joined.combine(&crc32fast::Hasher::new_with_initial_len(b, b_len));
    joined.finalize()
}

/// Returns the Adler-32 of A followed by B, from their Adler-32s and the length of B in bytes. Each
/// of B's sums starts from A's sum of bytes instead of 1.
#[cfg(feature = "std")]
pub(crate) fn adler32_combine(a: u32, b: u32, b_len: u64) -> u32 {
    const MOD: u64 = 65_521;
    let halves = |sum: u32| (u64::from(sum & 0xffff), u64::from(sum >> 16));
    let ((a_low, a_high), (b_low, b_high)) = (halves(a), halves(b));
    let shift = (a_low + MOD - 1) % MOD;
    let (low, high) = ((shift + b_low) % MOD, (a_high + b_high + b_len % MOD * shift) % MOD);
    (high << 16 | low) as u32
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn combined_checksums_equal_those_of_the_whole() {
        let data: Vec<u8> =
            (0..200_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8 | 0x80).collect();
        for cut in [0, 1, 7, 65_520, 65_521, 65_522, 131_072, data.len()] {
            let (a, b) = data.split_at(cut);
            let len = b.len() as u64;
            assert_eq!(crc32_combine(crc32(0, a), crc32(0, b), len), crc32(0, &data));
            assert_eq!(adler32_combine(adler32(1, a), adler32(1, b), len), adler32(1, &data));
        }
    }
}

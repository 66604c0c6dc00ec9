//! CRC-32 and Adler-32, by `crc32fast` and `simd-adler32`.

/// The CRC-32 of no bytes.
pub(crate) const CRC32_START: u32 = 0;
/// The Adler-32 of no bytes.
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

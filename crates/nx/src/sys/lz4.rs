//! Raw LZ4 blocks through the reference library (lz4-sys).

use core::ffi::{c_char, c_int};

use lz4_sys::{LZ4_compress_HC, LZ4_compress_default, LZ4_decompress_safe};

unsafe extern "C" {
    // In the same library, but not declared by lz4-sys.
    fn LZ4_decompress_safe_partial(
        source: *const c_char,
        target: *mut c_char,
        source_len: c_int,
        target_len: c_int,
        capacity: c_int,
    ) -> c_int;
}

/// A length as C's `int`.
fn int(len: usize) -> Option<c_int> {
    c_int::try_from(len).ok()
}

/// The number of output bytes, or `None` for a negative error code.
fn count(code: c_int) -> Option<usize> {
    usize::try_from(code).ok()
}

/// Decodes a whole block into `out` and returns its length. `None` if it is damaged or longer than `out`.
pub(crate) fn decompress(block: &[u8], out: &mut [u8]) -> Option<usize> {
    let (from, to) = (int(block.len())?, int(out.len())?);
    // SAFETY: both pointers are of slices of the lengths given, which do not overlap; the function
    // reads and writes nothing beyond them whatever the bytes are.
    count(unsafe { LZ4_decompress_safe(block.as_ptr().cast(), out.as_mut_ptr().cast(), from, to) })
}

/// Decodes the first `out.len()` bytes of a block. `None` if that part is damaged.
pub(crate) fn decompress_prefix(block: &[u8], out: &mut [u8]) -> Option<usize> {
    let (from, to) = (int(block.len())?, int(out.len())?);
    let (source, target) = (block.as_ptr().cast(), out.as_mut_ptr().cast());
    // SAFETY: as in `decompress`; the wanted length is the capacity.
    count(unsafe { LZ4_decompress_safe_partial(source, target, from, to, to) })
}

/// Compresses `bytes` at level 1 to 12: below 3 with the fast compressor, from 3 on with LZ4-HC.
/// `None` if the result does not fit `out`.
pub(crate) fn compress(bytes: &[u8], out: &mut [u8], level: i32) -> Option<usize> {
    let (from, to) = (int(bytes.len())?, int(out.len())?);
    let (source, target) = (bytes.as_ptr().cast(), out.as_mut_ptr().cast());
    let written = if level < 3 {
        // SAFETY: both pointers are of slices of the lengths given, which do not overlap.
        unsafe { LZ4_compress_default(source, target, from, to) }
    } else {
        // SAFETY: the same.
        unsafe { LZ4_compress_HC(source, target, from, to, level) }
    };
    count(written).filter(|written| *written > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_round_trip_whole_and_as_prefixes() {
        let bytes: Vec<u8> = (0..100_000u32).map(|i| (i / 7 % 251) as u8).collect();
        for level in [1, 3, 9, 12] {
            let mut block = vec![0; bytes.len()];
            let len = compress(&bytes, &mut block, level).unwrap();
            block.truncate(len);
            assert!(len < bytes.len() / 4);
            let mut out = vec![0; bytes.len()];
            assert_eq!(decompress(&block, &mut out), Some(bytes.len()));
            assert!(out == bytes);
            for wanted in [0, 1, 17, 70_001, bytes.len()] {
                let mut out = vec![0; wanted];
                assert_eq!(decompress_prefix(&block, &mut out), Some(wanted));
                assert!(out == bytes[..wanted]);
            }
            assert_eq!(decompress(&block, &mut out[..99_999]), None);
            assert_eq!(compress(&bytes, &mut block[..10], level), None);
        }
    }

    #[test]
    fn damaged_block_is_an_error() {
        let mut out = [0; 64];
        assert_eq!(decompress(&[0xF0], &mut out), None);
        assert_eq!(decompress(&[0x10, b'a', 9, 9, 0x50], &mut out), None, "an offset before the start");
        assert_eq!(decompress_prefix(&[0x10, b'a', 9, 9, 0x50], &mut out), None);
    }
}

//! Compresses and decompresses raw LZ4 blocks through the reference library (lz4-sys).

use core::ffi::c_int;

use lz4_sys::{LZ4_compress_HC, LZ4_compress_default, LZ4_decompress_safe};

/// Converts a length to C's `int`.
fn int(len: usize) -> Option<c_int> {
    c_int::try_from(len).ok()
}

/// Converts a result of liblz4 to the number of output bytes; `None` if it is a negative error
/// code.
fn count(code: c_int) -> Option<usize> {
    usize::try_from(code).ok()
}

/// Compresses `bytes` at level 1 to 12: levels 1 and 2 use the fast compressor, levels 3 to 12
/// LZ4-HC. `None` if the result does not fit `out`, `bytes` are more than liblz4 takes (almost
/// 2 GiB), or memory runs out.
pub(crate) fn compress(bytes: &[u8], out: &mut [u8], level: i32) -> Option<usize> {
    let (from, to) = (int(bytes.len())?, int(out.len())?);
    let (source, target) = (bytes.as_ptr().cast(), out.as_mut_ptr().cast());
    let written = if level < 3 {
        // SAFETY: both pointers are of slices of the lengths given, which do not overlap.
        unsafe { LZ4_compress_default(source, target, from, to) }
    } else {
        // SAFETY: as for `LZ4_compress_default`.
        unsafe { LZ4_compress_HC(source, target, from, to, level) }
    };
    count(written).filter(|written| *written > 0)
}

/// Decodes a whole block into `out` and returns its length. `None` if the block is damaged or
/// longer than `out`, if its last five bytes are not literals, as the format requires, or if a
/// slice has 2 GiB or more.
pub(crate) fn decompress(block: &[u8], out: &mut [u8]) -> Option<usize> {
    let (from, to) = (int(block.len())?, int(out.len())?);
    // SAFETY: both pointers are of slices of the lengths given, which do not overlap. The function
    // reads and writes nothing outside of them, whatever the block holds.
    count(unsafe { LZ4_decompress_safe(block.as_ptr().cast(), out.as_mut_ptr().cast(), from, to) })
}

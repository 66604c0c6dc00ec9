//! liblz4's decoder of blocks.
#![allow(unsafe_code)]

use lz4_sys::LZ4_decompress_safe;

/// Decodes a whole block into `out` and returns its length. `None` if it is damaged or longer than `out`.
pub(crate) fn decompress(block: &[u8], out: &mut [u8]) -> Option<usize> {
    let (from, to) = (i32::try_from(block.len()).ok()?, i32::try_from(out.len()).ok()?);
    // SAFETY: both pointers are of slices of the lengths given, which do not overlap.
    let len = unsafe { LZ4_decompress_safe(block.as_ptr().cast(), out.as_mut_ptr().cast(), from, to) };
    usize::try_from(len).ok()
}

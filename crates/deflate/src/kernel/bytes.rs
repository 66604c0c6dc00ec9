//! Views 16-bit words as bytes, because a session keeps its index and its ring in one allocation.

/// Returns the bytes of `words`, for writing.
pub(crate) fn bytes_mut(words: &mut [u16]) -> &mut [u8] {
    // SAFETY: the memory is borrowed as long as the result lives; bytes need no alignment, and any
    // bytes are valid words.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

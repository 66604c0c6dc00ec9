//! Words as bytes: a session keeps its index and its ring in one allocation.

/// The bytes of `words`, to write.
pub(crate) fn bytes_mut(words: &mut [u16]) -> &mut [u8] {
    // SAFETY: the memory is borrowed as long as the result; bytes need no alignment, and any are valid words.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

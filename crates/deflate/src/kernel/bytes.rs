//! Words as bytes: a session keeps its index and its ring in one allocation.

/// The bytes of `words`.
pub(crate) fn bytes(words: &[u16]) -> &[u8] {
    // SAFETY: the memory is borrowed as long as the result; bytes need no alignment.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// The bytes of `words`, to write.
pub(crate) fn bytes_mut(words: &mut [u16]) -> &mut [u8] {
    // SAFETY: as in `bytes`, and any bytes are valid words.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

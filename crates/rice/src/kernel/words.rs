//! The same 16-bit words as signed ones.

/// The words as `i16`, bit for bit.
pub(crate) fn signed(words: &[u16]) -> &[i16] {
    // SAFETY: u16 and i16 have one size and alignment, and every bit pattern is valid in both.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
}

/// The words as `i16`, bit for bit, to be written.
pub(crate) fn signed_mut(words: &mut [u16]) -> &mut [i16] {
    // SAFETY: as for `signed`; the borrow is handed on, so there is one way to the words.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
}

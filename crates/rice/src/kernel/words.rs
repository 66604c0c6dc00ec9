//! Samples seen as other types of the same size, or as bytes.

/// A type that is nothing but bits: every pattern is valid, and there is no padding.
///
/// # Safety
/// Just that. Two such types of one size have one alignment.
#[cfg_attr(not(feature = "alloc"), expect(unreachable_pub, reason = "public through version 2"))]
pub unsafe trait Bits: Copy {}

// SAFETY: integers.
unsafe impl Bits for u16 {}
// SAFETY: as above.
unsafe impl Bits for i16 {}
// SAFETY: as above.
unsafe impl Bits for u32 {}
// SAFETY: as above.
unsafe impl Bits for i32 {}

/// The words as another type, bit for bit.
pub(crate) fn cast<A: Bits, B: Bits>(words: &[A]) -> &[B] {
    const { assert!(size_of::<A>() == size_of::<B>() && align_of::<A>() == align_of::<B>()) };
    // SAFETY: one size, one alignment, and every bit pattern is valid.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
}

/// The words as another type, bit for bit, to be written.
pub(crate) fn cast_mut<A: Bits, B: Bits>(words: &mut [A]) -> &mut [B] {
    const { assert!(size_of::<A>() == size_of::<B>() && align_of::<A>() == align_of::<B>()) };
    // SAFETY: as for `cast`; the borrow is handed on, so there is one way to the words.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
}

/// The words as little-endian bytes: as they lie in memory, where that is their order.
#[cfg(feature = "alloc")]
pub(crate) fn little_endian<A: Bits>(words: &[A]) -> alloc::borrow::Cow<'_, [u8]> {
    let bytes = bytes(words);
    if cfg!(target_endian = "little") {
        return bytes.into();
    }
    let swapped = bytes.chunks(size_of::<A>()).flat_map(|word| word.iter().rev().copied());
    swapped.collect::<alloc::vec::Vec<u8>>().into()
}

/// The words as they lie in memory.
#[cfg(feature = "alloc")]
fn bytes<A: Bits>(words: &[A]) -> &[u8] {
    // SAFETY: words without padding are bytes.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

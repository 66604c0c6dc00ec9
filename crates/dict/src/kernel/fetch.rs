//! Cache lines, asked for.

use linerate_core::{LINE, fetch_line};

/// Asks for the lines of `value`.
#[inline]
pub(crate) fn fetch<T: ?Sized>(value: &T) {
    let start = core::ptr::from_ref(value).cast::<u8>() as usize;
    (start & !(LINE - 1)..start + size_of_val(value)).step_by(LINE).for_each(fetch_line);
}

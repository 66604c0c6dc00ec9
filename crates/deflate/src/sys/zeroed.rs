//! Allocates large values zeroed on the heap, instead of copying them from the stack.

use alloc::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use alloc::boxed::Box;

use crate::block::optimal::Optimal;
use crate::{FastScratch, Scratch};

/// Types whose `new` is all zero bytes.
///
/// # Safety
/// All bytes zero must be a valid value.
pub(crate) unsafe trait Zeroed: Sized {}

// SAFETY: the fields are integers, an `Option<&Builtin>`, which is `None` when zero, as Rust
// guarantees, and an `Option<Tier>`, which is checked below to be `None` when zero.
unsafe impl Zeroed for FastScratch {}
// SAFETY: as above, and the `Option<Box>` is `None` when zero, as Rust guarantees.
unsafe impl Zeroed for Scratch {}
// SAFETY: integers only.
unsafe impl Zeroed for Optimal {}
// SAFETY: integers only.
#[cfg(test)]
unsafe impl Zeroed for crate::kernel::span::Span {}
// SAFETY: integers only.
#[cfg(test)]
unsafe impl Zeroed for crate::kernel::binary_trees::TreeTables {}

// `Tier` starts at 1, so the niche for `None` is 0.
const _: () = {
    let none: Option<linerate_core::Tier> = None;
    // SAFETY: a byte-sized enum is read as its byte.
    assert!(unsafe { core::mem::transmute::<Option<linerate_core::Tier>, u8>(none) } == 0);
};

pub(crate) fn boxed<T: Zeroed>() -> Box<T> {
    let layout = Layout::new::<T>();
    const { assert!(size_of::<T>() > 0) };
    // SAFETY: the layout is that of `T` and not empty; all bytes zero is a valid `T` by its trait;
    // the pointer came from the global allocator, with which `Box` frees it.
    unsafe {
        let place = alloc_zeroed(layout).cast::<T>();
        if place.is_null() {
            handle_alloc_error(layout);
        }
        Box::from_raw(place)
    }
}

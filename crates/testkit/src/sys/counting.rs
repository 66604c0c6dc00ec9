//! An allocator that counts: `#[global_allocator] static ALLOCATOR: Counting = Counting;`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with [`held`] and [`allocations`].
pub struct Counting;

thread_local! {
    /// Below zero, wrapping, in a thread that frees what others allocated.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Bytes allocated by this thread less those it freed. Other threads, such as that of the test runner, allocate meanwhile.
pub fn held() -> usize {
    HELD.get()
}

/// Allocations of this thread so far; growing one is another.
pub fn allocations() -> usize {
    ALLOCATIONS.get()
}

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get().wrapping_add(layout.size()));
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps this function's contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub(layout.size()));
        // SAFETY: the caller keeps this function's contract, which is the same.
        unsafe { System.dealloc(at, layout) }
    }
}

//! An allocator that counts allocations: `#[global_allocator] static ALLOCATOR: Counting =
//! Counting;`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

/// The system's allocator with counts, which [`held`] and [`allocations`] return. It can also
/// [`refuse`] large allocations.
pub struct Counting;

thread_local! {
    /// Bytes that the thread has allocated less those that it has freed. Wraps below zero in a
    /// thread that frees memory of other threads.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Bytes that this thread has allocated and not freed. Allocations of other threads, such as the
/// test runner's, do not count.
pub fn held() -> usize {
    HELD.get()
}

/// Number of allocations of this thread so far. Resizing an allocation counts as another one.
pub fn allocations() -> usize {
    ALLOCATIONS.get()
}

/// Calls `work`. Meanwhile, allocations of this thread of more than `largest` bytes fail.
pub fn refuse<T>(largest: usize, work: impl FnOnce() -> T) -> T {
    LARGEST.set(largest);
    let result = work();
    LARGEST.set(usize::MAX);
    result
}

// SAFETY: every call is forwarded to the system's allocator, or returns null, which means that
// there is no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST.get() {
            return ptr::null_mut();
        }
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

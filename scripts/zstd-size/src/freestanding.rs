//! What a program without std needs besides: C's allocator, and a panic handler that ends the
//! program.

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use core::ptr::null_mut;

struct Malloc;

// SAFETY: C's allocator keeps the contract: `malloc` aligns to 16 bytes, `posix_memalign` to more.
unsafe impl GlobalAlloc for Malloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= 16 {
            // SAFETY: malloc takes any size.
            return unsafe { libc::malloc(layout.size()).cast() };
        }
        let mut at = null_mut();
        // SAFETY: an alignment is a power of two, here above that of a pointer.
        match unsafe { libc::posix_memalign(&mut at, layout.align(), layout.size()) } {
            0 => at.cast(),
            _ => null_mut(),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= 16 {
            // SAFETY: calloc takes any size.
            return unsafe { libc::calloc(1, layout.size()).cast() };
        }
        // SAFETY: the caller keeps this function's contract, which is the same.
        let at = unsafe { self.alloc(layout) };
        if !at.is_null() {
            // SAFETY: the memory was allocated above with this size.
            unsafe { at.write_bytes(0, layout.size()) };
        }
        at
    }

    unsafe fn dealloc(&self, at: *mut u8, _: Layout) {
        // SAFETY: the caller passes memory from one of the functions above, which C allocated.
        unsafe { libc::free(at.cast()) }
    }
}

#[global_allocator]
static MALLOC: Malloc = Malloc;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: abort takes nothing and ends the program.
    unsafe { libc::abort() }
}

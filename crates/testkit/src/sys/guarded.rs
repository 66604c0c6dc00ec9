//! Buffers between two guard pages: a read or write in one of these pages ends the process at once
//! (SIGSEGV), also in assembly and in libraries in C.

use std::io::Error;
use std::ptr::null_mut;
use std::slice::from_raw_parts_mut;

/// Readable and writable memory with a guard page on either side.
pub struct Guarded {
    /// The first of the usable bytes, at the start of a page.
    start: *mut u8,
    /// Number of usable bytes, a multiple of the page size.
    len: usize,
    /// Bytes of a page.
    page: usize,
}

impl Guarded {
    /// Maps memory for at least `n` bytes.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn new(n: usize) -> Self {
        // SAFETY: the call only returns a constant of the system.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a page size");
        let len = n.next_multiple_of(page).max(page);
        // SAFETY: a new private mapping at an address of the system's choice.
        let all = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(null_mut(), len + 2 * page, libc::PROT_NONE, flags, -1, 0)
        };
        assert!(all != libc::MAP_FAILED, "mmap: {}", Error::last_os_error());
        // SAFETY: one page into a mapping of two pages more than `len`.
        let start = unsafe { all.cast::<u8>().add(page) };
        // SAFETY: these pages are part of the mapping above, which nothing else uses yet.
        let done = unsafe { libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE) };
        assert!(done == 0, "mprotect: {}", Error::last_os_error());
        Guarded { start, len, page }
    }

    /// The last `n` bytes of the memory: the guard page follows them.
    pub fn last(&mut self, n: usize) -> &mut [u8] {
        assert!(n <= self.len);
        // SAFETY: within the usable pages, which live as long as the borrow of `self`, and which
        // only this borrow can reach.
        unsafe { from_raw_parts_mut(self.start.add(self.len - n), n) }
    }

    /// The first `n` bytes of the memory: the guard page precedes them.
    pub fn first(&mut self, n: usize) -> &mut [u8] {
        assert!(n <= self.len);
        // SAFETY: within the usable pages, which live as long as the borrow of `self`, and which
        // only this borrow can reach.
        unsafe { from_raw_parts_mut(self.start, n) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`, to which no borrow is left.
        let done = unsafe { libc::munmap(self.start.sub(self.page).cast(), self.len + 2 * self.page) };
        debug_assert!(done == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_up_to_both_guard_pages_is_usable() {
        for n in [0, 1, 4095, 4096, 4097, 100_000] {
            let mut memory = Guarded::new(n);
            memory.last(n).fill(7);
            assert!(memory.last(n).iter().all(|&byte| byte == 7));
            memory.first(n).fill(9);
            assert!(memory.first(n).iter().all(|&byte| byte == 9));
        }
    }
}

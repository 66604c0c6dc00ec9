//! Anonymous memory mappings between guard pages, in huge pages if available. On systems other than
//! Unix, memory of the allocator without guard pages.

use core::ptr::NonNull;

use crate::stats::HugePages;

/// Size and alignment of huge pages, in bytes.
pub(crate) const HUGE: usize = 2 << 20;

/// Zeroed memory.
pub(crate) struct Mapping {
    /// First usable byte, a multiple of [`HUGE`].
    start: NonNull<u8>,
    /// Number of usable bytes.
    len: usize,
    /// The whole mapping, with guard pages and the slack for alignment.
    whole: (NonNull<u8>, usize),
    pub(crate) huge: HugePages,
}

// SAFETY: it owns its memory, which is not bound to a thread.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference only gives access to address and length.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(unix)]
mod unix {
    use core::ffi::c_void;
    use core::ptr::{NonNull, null_mut};

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    use super::{HUGE, Mapping};
    use crate::stats::HugePages;

    impl Mapping {
        /// Maps `len` bytes, which must be more than 0. Returns `None` if the system has no memory
        /// or address space for them.
        pub(crate) fn new(len: usize, huge: bool) -> Option<Mapping> {
            let page = rustix::param::page_size();
            let pages = len.checked_next_multiple_of(page)?;
            // Room for two guard pages, and slack for the alignment.
            let all = pages.checked_add(HUGE + 2 * page)?;
            // SAFETY: a new private mapping at an address of the system's choice.
            let base = unsafe { mmap_anonymous(null_mut(), all, ProtFlags::empty(), MapFlags::PRIVATE) };
            let base = NonNull::new(base.ok()?.cast::<u8>())?;
            let gap = (base.as_ptr() as usize + page).next_multiple_of(HUGE) - base.as_ptr() as usize;
            // SAFETY: `gap` is at most `HUGE + page`, so at least `pages` bytes and one page follow
            // it.
            let start = unsafe { base.add(gap) };
            let mut mapping = Mapping { start, len, whole: (base, all), huge: HugePages::Off };
            let at = start.as_ptr().cast::<c_void>();
            // SAFETY: these pages are part of the mapping above, which nothing else uses yet.
            unsafe { mprotect(at, pages, MprotectFlags::READ | MprotectFlags::WRITE) }.ok()?;
            if huge {
                mapping.huge = advise(at, pages);
            }
            Some(mapping)
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            let (base, all) = self.whole;
            // SAFETY: this is exactly the mapping that `new` made, and every user of a part holds a
            // reference to it.
            let done = unsafe { munmap(base.as_ptr().cast(), all) };
            debug_assert!(done.is_ok());
        }
    }

    #[cfg(target_os = "linux")]
    fn advise(at: *mut c_void, len: usize) -> HugePages {
        // SAFETY: the advice does not change the content of the memory.
        let taken = unsafe { rustix::mm::madvise(at, len, rustix::mm::Advice::LinuxHugepage) };
        // The system accepts the advice even if it is configured to ignore it.
        let never = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
            .is_ok_and(|choice| choice.contains("[never]"));
        if taken.is_ok() && !never { HugePages::Advised } else { HugePages::Refused }
    }

    #[cfg(not(target_os = "linux"))]
    fn advise(_: *mut c_void, _: usize) -> HugePages {
        HugePages::Refused
    }
}

#[cfg(not(unix))]
mod other {
    use core::ptr::NonNull;
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    use super::{HUGE, Mapping};
    use crate::stats::HugePages;

    impl Mapping {
        /// Allocates `len` bytes, which must be more than 0. Returns `None` if memory is exhausted.
        pub(crate) fn new(len: usize, huge: bool) -> Option<Mapping> {
            let layout = Layout::from_size_align(len, HUGE).ok()?;
            // SAFETY: the layout is not empty.
            let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
            let huge = if huge { HugePages::Refused } else { HugePages::Off };
            Some(Mapping { start, len, whole: (start, len), huge })
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            let (base, len) = self.whole;
            let layout = Layout::from_size_align(len, HUGE).expect("the layout of `new`");
            // SAFETY: the memory was allocated in `new` with this layout.
            unsafe { dealloc(base.as_ptr(), layout) };
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Returns the permissions of an address.
    fn permissions(address: usize) -> String {
        // The names of mapped files need not be UTF-8.
        let maps = std::fs::read("/proc/self/maps").unwrap();
        let maps = String::from_utf8_lossy(&maps);
        let hex = |s: &str| usize::from_str_radix(s, 16).unwrap();
        let at = |line: &&str| {
            let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
            (hex(from)..hex(to)).contains(&address)
        };
        maps.lines().find(at).and_then(|line| line.split(' ').nth(1)).unwrap_or("not there").to_owned()
    }

    #[test]
    fn guard_pages_on_both_sides_are_inaccessible() {
        for (len, huge) in [(1, false), (4096, true), (HUGE, true), (3 * HUGE + 5, true)] {
            let mapping = Mapping::new(len, huge).unwrap();
            let start = mapping.start().as_ptr() as usize;
            let end = (start + len).next_multiple_of(rustix::param::page_size());
            assert_eq!((start % HUGE, mapping.len()), (0, len));
            assert_eq!([start - 1, end].map(permissions), ["---p", "---p"]);
            assert_eq!([start, end - 1].map(permissions), ["rw-p", "rw-p"]);
        }
    }
}

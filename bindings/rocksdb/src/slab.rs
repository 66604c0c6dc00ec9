//! Memory for dictionaries: a slab allocator (Bonwick 1994) whose slabs are huge pages. A block of a file that was not read
//! lately misses the TLB once for its dictionary, instead of once for each of its pages.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// Size and alignment of a slab: a huge page.
const SLAB: Layout = match Layout::from_size_align(2 << 20, 2 << 20) {
    Ok(layout) => layout,
    Err(_) => panic!("2 MiB are a power of two"),
};
/// Lengths are rounded up to this, so that few lengths differ and freed memory fits again.
const UNIT: usize = 512;

/// The slabs of the process.
static SLABS: Mutex<Slabs> = Mutex::new(Slabs { live: BTreeMap::new(), free: BTreeMap::new(), end: (0, 0) });

struct Slabs {
    /// Allocations in each slab, by its address.
    live: BTreeMap<usize, usize>,
    /// Addresses of freed allocations, by length in units.
    free: BTreeMap<usize, Vec<usize>>,
    /// Memory of the newest slab that was never allocated: its first address, and the address after it.
    end: (usize, usize),
}

/// Memory in a slab, aligned to [`UNIT`].
pub(crate) struct Allocation {
    at: NonNull<u8>,
    len: usize,
}

/// Bytes that an allocation of `len` bytes takes.
pub(crate) const fn rounded(len: usize) -> usize {
    len.next_multiple_of(UNIT)
}

impl Allocation {
    /// Allocates `len` bytes, at most a slab, of unspecified content. `None` if memory is exhausted.
    pub(crate) fn new(len: usize) -> Option<Allocation> {
        let len = rounded(len);
        let mut slabs = SLABS.lock().unwrap_or_else(PoisonError::into_inner);
        let at = NonNull::new(slabs.take(len)? as *mut u8)?;
        *slabs.live.entry(slab_of(at)).or_default() += 1;
        Some(Allocation { at, len })
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.at
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let mut slabs = SLABS.lock().unwrap_or_else(PoisonError::into_inner);
        slabs.free.entry(self.len).or_default().push(self.at.as_ptr() as usize);
        let slab = slab_of(self.at);
        let Some(live) = slabs.live.get_mut(&slab) else { return };
        *live -= 1;
        if *live == 0 {
            slabs.release(slab);
        }
    }
}

/// Address of the slab of an allocation.
fn slab_of(at: NonNull<u8>) -> usize {
    at.as_ptr() as usize & !(SLAB.size() - 1)
}

impl Slabs {
    /// Address of `len` bytes that nobody uses.
    fn take(&mut self, len: usize) -> Option<usize> {
        if let Some(at) = self.free.get_mut(&len).and_then(Vec::pop) {
            return Some(at);
        }
        if self.end.1 - self.end.0 < len {
            // SAFETY: the layout is not empty.
            let slab = NonNull::new(unsafe { alloc(SLAB) })?;
            advise(slab);
            let start = slab.as_ptr() as usize;
            self.end = (start, start + SLAB.size());
        }
        let at = self.end.0;
        self.end.0 += len;
        Some(at)
    }

    /// Returns a slab without allocations to the system.
    fn release(&mut self, slab: usize) {
        let end = slab + SLAB.size();
        self.live.remove(&slab);
        self.free.retain(|_, freed| {
            freed.retain(|at| !(slab..end).contains(at));
            !freed.is_empty()
        });
        if self.end.1 == end {
            self.end = (0, 0);
        }
        // SAFETY: allocated by `take` with this layout. Nobody uses a part, and no list has an address of it any more.
        unsafe { dealloc(slab as *mut u8, SLAB) };
    }
}

/// Asks for a huge page. Without one the slab is as good as other memory.
#[cfg(target_os = "linux")]
fn advise(slab: NonNull<u8>) {
    // SAFETY: the advice does not change the content of the slab.
    let _ = unsafe { rustix::mm::madvise(slab.as_ptr().cast(), SLAB.size(), rustix::mm::Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: NonNull<u8>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_disjoint_and_slabs_are_freed() {
        let mut random = 1u64;
        let mut held: Vec<(Allocation, u8)> = Vec::new();
        for step in 0..5000u32 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if random >> 33 & 7 < 3 && !held.is_empty() {
                let (allocation, byte) = held.swap_remove((random >> 40) as usize % held.len());
                // SAFETY: the allocation has this many bytes, written when it was made.
                let bytes = unsafe { std::slice::from_raw_parts(allocation.start().as_ptr(), allocation.len) };
                assert!(bytes.iter().all(|&b| b == byte));
            } else {
                let allocation = Allocation::new(1 + (random >> 40) as usize % 22_000).unwrap();
                // SAFETY: nobody else has these bytes: the test.
                unsafe { allocation.start().as_ptr().write_bytes(step as u8, allocation.len) };
                held.push((allocation, step as u8));
            }
        }
        assert!(SLABS.lock().unwrap().live.len() > 2);
        held.clear();
        let slabs = SLABS.lock().unwrap();
        assert!(slabs.live.is_empty() && slabs.free.is_empty() && slabs.end == (0, 0));
    }
}

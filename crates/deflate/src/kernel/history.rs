//! The bytes before a message, in the ring buffer where a session or a dictionary keeps them.
//!
//! A message of a few hundred bytes leaves no time to copy 32 KiB of history next to it, so a
//! search compares the message with the bytes of the ring.

#[cfg(feature = "alloc")]
use linerate_core::{CACHE_LINE, prefetch_line};

#[cfg(feature = "alloc")]
use super::isa::read32;
use super::isa::read64;
use super::matcher::MAX_MATCH;

/// Number of bytes after the end of a ring, so that 16 bytes can be compared at any place. They
/// repeat the beginning of the ring if the history continues there.
pub(crate) const OVERLAP: usize = 16;

/// Length of the longest message whose candidates are prefetched before the search. If thousands of
/// connections take turns, neither tables nor windows are in a cache, and a search waits for one
/// candidate after the other.
#[cfg(feature = "alloc")]
pub(crate) const MAX_FETCHED: usize = 4 << 10;
/// Spacing of the positions whose candidates are prefetched.
#[cfg(feature = "alloc")]
pub(crate) const FETCH_STEP: usize = 2;

/// Minimum size of a ring in bytes. With [`OVERLAP`] a match of any length can be read in it.
pub(crate) const MIN_RING: usize = 256;
const _: () = assert!(MIN_RING + OVERLAP > MAX_MATCH);

/// The last bytes before a message. Byte n of the session is at n modulo the size of the ring.
#[derive(Clone, Copy)]
pub(crate) struct History<'a> {
    /// The ring, whose size is a power of two of at least [`MIN_RING`], and [`OVERLAP`] bytes. A
    /// history without bytes may have a smaller ring.
    ring: &'a [u8],
    /// Number of bytes of the history, at most the size of the ring.
    len: usize,
    /// The position number of the message's first byte, modulo 2^16.
    end: u16,
}

impl History<'_> {
    /// A history without bytes.
    pub(crate) const NONE: History<'static> = History { ring: &[0; 1 + OVERLAP], len: 0, end: 0 };

    /// Returns the number of bytes of the history.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the place in the ring of the byte that is `back` bytes before the message.
    #[inline(always)]
    fn place(&self, back: usize) -> usize {
        usize::from(self.end).wrapping_sub(back) & (self.ring.len() - OVERLAP - 1)
    }

    /// Returns the address of the byte that is `back` bytes before the message. 16 bytes can be
    /// read there; bytes after the end of the history are meaningless.
    #[inline(always)]
    pub(crate) fn at(&self, back: usize) -> *const u8 {
        self.ring.as_ptr().wrapping_add(self.place(back))
    }

    /// Returns the address of the byte with position number `number`. If fewer than `count` bytes
    /// can be read there, it returns another address where they can. `count` is at most
    /// [`MAX_MATCH`].
    #[inline(always)]
    pub(crate) fn readable(&self, number: usize, count: usize) -> *const u8 {
        let place = number & (self.ring.len() - OVERLAP - 1);
        self.ring.as_ptr().wrapping_add(place.min(self.ring.len().saturating_sub(count)))
    }

    /// Returns how many bytes of the history, beginning `back` bytes before the message, are
    /// contiguous in memory.
    #[inline(always)]
    pub(crate) fn contiguous(&self, back: usize) -> usize {
        back.min(self.ring.len() - self.place(back))
    }

    /// Returns the length of the match between `here` and the history `back` bytes before the
    /// message: at most `most`, and no byte of the message itself. The first `length` bytes are
    /// known to be equal.
    ///
    /// # Safety
    /// `most` bytes must be readable at `here`; `back` must be at most [`len`](Self::len).
    #[inline(always)]
    pub(crate) unsafe fn extend(&self, here: *const u8, back: usize, length: usize, most: usize) -> usize {
        let most = most.min(back);
        let first = most.min(self.contiguous(back));
        // SAFETY: `first` bytes are contiguous, and the caller vouches for the message.
        let length = unsafe { common(here, self.at(back), length.min(first), first) };
        if length < first || length == most {
            return length;
        }
        // SAFETY: the rest continues at the beginning of the ring and is shorter than the ring.
        unsafe { length + common(here.wrapping_add(length), self.at(back - length), 0, most - length) }
    }
}

#[cfg(feature = "alloc")]
impl<'a> History<'a> {
    /// Creates the history of the `len` bytes before position number `end` in a ring. If they
    /// continue at the beginning of the ring, the [`OVERLAP`] bytes after its end must repeat its
    /// beginning.
    pub(crate) fn new(ring: &'a [u8], len: usize, end: u16) -> Self {
        let size = ring.len() - OVERLAP;
        assert!(size.is_power_of_two() && size >= MIN_RING && len <= size);
        let history = History { ring, len, end };
        debug_assert!(history.place(len) + len <= size || ring[size..] == ring[..OVERLAP]);
        history
    }

    /// Returns the position number of the message's first byte, modulo 2^16.
    #[inline(always)]
    pub(crate) fn end(&self) -> u16 {
        self.end
    }

    /// Prefetches the whole ring.
    pub(crate) fn fetch(&self) {
        for line in self.ring.chunks(CACHE_LINE) {
            prefetch_line(line.as_ptr() as usize);
        }
    }

    /// Calls `enter` for each position that has 4 bytes, with its position number modulo 2^16 and
    /// these bytes.
    #[inline(always)]
    pub(crate) fn for_each(&self, mut enter: impl FnMut(u16, u32)) {
        for back in (4..=self.len).rev() {
            // SAFETY: 4 bytes can be read in the ring.
            enter(self.end.wrapping_sub(back as u16), unsafe { read32(self.at(back)) });
        }
    }
}

/// Returns the length of the common prefix of `most` bytes at `a` and `b`. The first `length` bytes
/// are known to be equal.
///
/// # Safety
/// `most` bytes must be readable at both.
#[inline(always)]
unsafe fn common(a: *const u8, b: *const u8, mut length: usize, most: usize) -> usize {
    // SAFETY: reads stay below `most`.
    unsafe {
        while length + 8 <= most {
            let differ = read64(a.wrapping_add(length)) ^ read64(b.wrapping_add(length));
            if differ != 0 {
                return length + (differ.trailing_zeros() / 8) as usize;
            }
            length += 8;
        }
        while length < most && *a.wrapping_add(length) == *b.wrapping_add(length) {
            length += 1;
        }
    }
    length
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;

    /// Returns a ring with the bytes of position numbers up to `end`. Each byte is the low byte of
    /// its number times 7.
    fn ring(end: usize) -> [u8; MIN_RING + OVERLAP] {
        let mut ring = [0; MIN_RING + OVERLAP];
        for number in end - MIN_RING..end {
            ring[number % MIN_RING] = (number * 7) as u8;
        }
        ring.copy_within(..OVERLAP, MIN_RING);
        ring
    }

    #[test]
    fn matches_continue_at_the_beginning_of_the_ring_and_end_with_the_history() {
        for end in [MIN_RING, MIN_RING + 1, MIN_RING + 100, 70_000] {
            let ring = ring(end);
            let history = History::new(&ring, MIN_RING, end as u16);
            for back in 1..=MIN_RING {
                let mut message: Vec<u8> = (end - back..end + MIN_RING).map(|n| (n * 7) as u8).collect();
                let length = |message: &[u8], most: usize| {
                    assert!(most <= message.len());
                    // SAFETY: the message has `most` bytes, and the history `back`.
                    unsafe { history.extend(message.as_ptr(), back, 0, most) }
                };
                assert_eq!(length(&message, MIN_RING), back, "{end} {back}");
                assert_eq!(length(&message, back / 2), back / 2, "{end} {back}");
                message[back / 3] ^= 1;
                assert_eq!(length(&message, MIN_RING), back / 3, "{end} {back}");
            }
        }
    }

    #[test]
    fn for_each_gives_the_bytes_of_each_position_for_any_start_of_the_ring() {
        for end in [MIN_RING, MIN_RING + 3, 70_000] {
            let ring = ring(end);
            let mut numbers = Vec::new();
            History::new(&ring, 200, end as u16).for_each(|number, word| {
                let first = word.to_le_bytes()[0];
                assert_eq!(word.to_le_bytes(), [0, 7, 14, 21].map(|more| first.wrapping_add(more)));
                assert_eq!(first, (usize::from(number) * 7) as u8);
                numbers.push(number);
            });
            let expected: Vec<u16> = (end - 200..end - 3).map(|number| number as u16).collect();
            assert_eq!(numbers, expected);
        }
    }

    #[test]
    fn readable_leaves_count_bytes_for_any_number() {
        let ring = ring(MIN_RING);
        let history = History::new(&ring, MIN_RING, MIN_RING as u16);
        for number in 0..2 * MIN_RING {
            for count in [1, 4, OVERLAP, OVERLAP + 1, MAX_MATCH] {
                let place = history.readable(number, count) as usize - ring.as_ptr() as usize;
                assert!(place + count <= ring.len());
                assert!(place == number % MIN_RING || number % MIN_RING + count > ring.len());
            }
        }
    }
}

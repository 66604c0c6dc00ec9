//! The window of a stream: the last bytes of its output, which matches refer to.

use linerate_core::{Error, Kind, Result};

use crate::unit::Unit;

/// Base-2 logarithm of the size of the largest window, 32 KiB.
pub(crate) const MAX_WINDOW_BITS: u8 = 15;
/// Size of the largest window, in bytes.
#[cfg(feature = "std")]
pub(crate) const WINDOW: usize = 1 << MAX_WINDOW_BITS;
/// The 16-bit unit that marks the oldest byte of a window whose bytes are unknown. Lower units are
/// bytes.
#[cfg(feature = "std")]
pub(crate) const FIRST_MARKER: u16 = 256;
/// Base-2 logarithm of the size of the smallest window, 256 bytes.
pub(crate) const MIN_WINDOW_BITS: u8 = 8;

/// The memory of a window.
enum Memory<'m> {
    /// Grows with the output up to the size of the window.
    #[cfg(feature = "alloc")]
    Growing(alloc::vec::Vec<u8>),
    /// Belongs to the caller.
    Borrowed(&'m mut [u8]),
}

/// The last bytes of a stream's output, up to the size of the window: 256 bytes to 32 KiB.
///
/// A [`StreamDecoder`](crate::StreamDecoder) has its own window. If you use a
/// [`BlockDecoder`](crate::BlockDecoder), append the output to the window before you drop the
/// buffer that holds it.
pub struct Window<'m> {
    /// Linear until it is full, then a ring buffer.
    memory: Memory<'m>,
    /// Number of bytes of output held.
    len: u16,
    /// Index of the oldest byte of a full ring buffer.
    at: u16,
    bits: u8,
}

impl<'m> Window<'m> {
    /// Creates a window of 2^`bits` bytes on the heap, with `bits` 8 to 15. Its memory grows with
    /// the output, by doubling, up to that size.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if `bits` is not 8 to 15.
    #[cfg(feature = "alloc")]
    pub const fn new(bits: u8) -> Result<Self> {
        if bits < MIN_WINDOW_BITS || bits > MAX_WINDOW_BITS {
            return Err(BAD_SIZE);
        }
        Ok(Window { memory: Memory::Growing(alloc::vec::Vec::new()), len: 0, at: 0, bits })
    }

    /// Creates an empty window in memory of the caller, whose earlier content does not matter.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] unless the length is a power of two from 256 bytes to 32 KiB.
    pub const fn in_memory(memory: &'m mut [u8]) -> Result<Self> {
        let bits = memory.len().trailing_zeros() as u8;
        if !memory.len().is_power_of_two() || bits < MIN_WINDOW_BITS || bits > MAX_WINDOW_BITS {
            return Err(BAD_SIZE);
        }
        Ok(Window { memory: Memory::Borrowed(memory), len: 0, at: 0, bits })
    }

    /// Returns the size of the window, in bytes.
    pub(crate) fn size(&self) -> usize {
        1 << self.bits
    }

    /// Returns the number of bytes that the window holds.
    pub(crate) fn len(&self) -> usize {
        self.len.into()
    }

    /// Forgets the content. The memory stays.
    pub fn clear(&mut self) {
        (self.len, self.at) = (0, 0);
    }

    /// Returns the number of bytes on the heap.
    pub fn memory(&self) -> usize {
        match &self.memory {
            #[cfg(feature = "alloc")]
            Memory::Growing(bytes) => bytes.capacity(),
            Memory::Borrowed(_) => 0,
        }
    }

    /// Appends output, and forgets the oldest bytes beyond the window's size.
    ///
    /// # Errors
    /// Returns [`Kind::Limit`] if memory runs out. The window is then unchanged.
    pub fn push(&mut self, output: &[u8]) -> Result<()> {
        let (size, len, at) = (self.size(), self.len(), usize::from(self.at));
        let output = &output[output.len().saturating_sub(size)..];
        let (linear, round) = output.split_at(output.len().min(size - len));
        let bytes = self.memory.up_to(len + linear.len(), size)?;
        bytes[len..].copy_from_slice(linear);
        let (first, second) = round.split_at(round.len().min(bytes.len() - at));
        bytes[at..at + first.len()].copy_from_slice(first);
        bytes[..second.len()].copy_from_slice(second);
        self.len = bytes.len() as u16;
        self.at = ((at + round.len()) & (size - 1)) as u16;
        Ok(())
    }

    /// Returns the content, for matches.
    pub(crate) fn history(&self) -> History<'_> {
        let bytes = match &self.memory {
            #[cfg(feature = "alloc")]
            Memory::Growing(bytes) => bytes,
            Memory::Borrowed(bytes) => &bytes[..self.len.into()],
        };
        History { bytes: &bytes[..self.len.into()], at: self.at.into() }
    }
}

/// Creates the format's largest window, 32 KiB, on the heap.
#[cfg(feature = "alloc")]
impl Default for Window<'static> {
    fn default() -> Self {
        Window { memory: Memory::Growing(alloc::vec::Vec::new()), len: 0, at: 0, bits: MAX_WINDOW_BITS }
    }
}

const BAD_SIZE: Error =
    Error::new(Kind::BadArgument, 0, "the size of a window is not a power of two from 256 bytes to 32 KiB");

impl Memory<'_> {
    /// Returns the first `len` bytes. Memory on the heap grows to them if necessary. `len` must be
    /// at most `size`, the size of the window.
    fn up_to(&mut self, len: usize, size: usize) -> Result<&mut [u8]> {
        let _ = size;
        match self {
            #[cfg(feature = "alloc")]
            Memory::Growing(bytes) => {
                if bytes.len() < len {
                    if bytes.capacity() < len {
                        // Doubles, but never exceeds the window.
                        let wanted = len.next_power_of_two().clamp(size.min(1 << 10), size);
                        let no_memory = Error::new(Kind::Limit, 0, "out of memory for the window");
                        bytes.try_reserve_exact(wanted - bytes.len()).map_err(|_| no_memory)?;
                    }
                    bytes.resize(len, 0);
                }
                Ok(&mut bytes[..len])
            }
            Memory::Borrowed(bytes) => Ok(&mut bytes[..len]),
        }
    }
}

/// The bytes before an output buffer: a ring buffer of at most 32 KiB.
#[derive(Clone, Copy)]
pub(crate) struct History<'w> {
    bytes: &'w [u8],
    /// Index of the oldest byte.
    at: usize,
}

impl<'w> History<'w> {
    /// An empty history.
    pub(crate) const EMPTY: History<'static> = History { bytes: &[], at: 0 };

    /// Returns the last 32 KiB of a dictionary.
    pub(crate) fn of_dictionary(dictionary: &'w [u8]) -> Self {
        let last = dictionary.len().saturating_sub(1 << MAX_WINDOW_BITS);
        History { bytes: &dictionary[last..], at: 0 }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns `len` bytes that begin `back` bytes before the end, and `slack` arbitrary bytes
    /// after them, or `None` if the history has not all of them in one piece. `back` must be at
    /// most [`len`](Self::len).
    #[inline(always)]
    pub(crate) fn contiguous(&self, back: usize, len: usize, slack: usize) -> Option<&'w [u8]> {
        // The newest byte is before `at`, or is the last one of the buffer if `at` is 0.
        let start = self.at + self.bytes.len() - back;
        let start = if start >= self.bytes.len() { start - self.bytes.len() } else { start };
        if len <= back { self.bytes.get(start..start + len + slack) } else { None }
    }

    /// Copies the bytes that begin `back` bytes before the end into `into`, and returns how many
    /// there were. `back` must be at most [`len`](Self::len).
    pub(crate) fn copy<U: Unit>(&self, back: usize, into: &mut [U]) -> usize {
        let len = into.len().min(back);
        let (new, old) = self.bytes.split_at(self.at);
        let after_old = back.saturating_sub(new.len());
        let from_old = &old[old.len() - after_old..];
        let (first, second) = into[..len].split_at_mut(from_old.len().min(len));
        U::copy_bytes(&from_old[..first.len()], first);
        let from_new = &new[new.len() - (back - after_old)..];
        U::copy_bytes(&from_new[..second.len()], second);
        len
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;

    /// Compares the window with a copy of all output.
    #[test]
    fn window_holds_the_last_bytes_of_the_output() {
        // Miri takes minutes for the larger windows.
        let sizes: &[u8] = if cfg!(miri) { &[8] } else { &[8, 11, 15] };
        for &bits in sizes {
            let size = 1 << bits;
            let mut own = vec![7; size];
            compare(Window::new(bits).unwrap(), size, size);
            compare(Window::in_memory(&mut own).unwrap(), size, 0);
        }
    }

    fn compare(mut window: Window<'_>, size: usize, max_memory: usize) {
        let mut all: Vec<u8> = Vec::new();
        let mut seed = 3u32;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as usize % n
        };
        for round in 0..400 {
            let len = if round % 50 == 49 { random(3 * size) } else { random(700) };
            let more: Vec<u8> = (0..len).map(|_| random(256) as u8).collect();
            window.push(&more).unwrap();
            all.extend(&more);
            assert_eq!(window.len(), all.len().min(size));
            assert!(window.memory() <= max_memory);
            let history = window.history();
            for _ in 0..20 {
                let back = 1 + random(history.len().max(1)).min(history.len().max(1) - 1);
                if history.len() == 0 {
                    continue;
                }
                let mut into = vec![0; random(300)];
                let n = history.copy(back, &mut into);
                assert_eq!(n, into.len().min(back));
                assert_eq!(into[..n], all[all.len() - back..][..n]);
                if let Some(piece) = history.contiguous(back, into.len(), 7) {
                    assert_eq!((&piece[..n], piece.len()), (&into[..n], into.len() + 7));
                }
            }
        }
        window.clear();
        window.push(b"abc").unwrap();
        assert_eq!((window.len(), window.history().contiguous(3, 3, 0)), (3, Some(&b"abc"[..])));
    }

    #[test]
    fn windows_of_other_sizes_are_refused() {
        for bits in [0, 7, 16, 255] {
            assert_eq!(Window::new(bits).err().map(|e| e.kind), Some(Kind::BadArgument));
        }
        for len in [0, 128, 300, 1 << 16] {
            let mut memory = vec![0; len];
            assert_eq!(Window::in_memory(&mut memory).err().map(|e| e.kind), Some(Kind::BadArgument));
        }
    }
}

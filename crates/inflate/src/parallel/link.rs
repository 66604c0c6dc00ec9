//! The state that passes from chunk to chunk: where a chunk ends, and the window there. With it the
//! worker of the next chunk replaces its markers by bytes. It begins with the window that it sends
//! on, so that each chunk waits only for 32 KiB of the previous one.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::chunk::Chunk;
use super::finder::Place;
use crate::sparse_window::SparseWindow;
use crate::window::{FIRST_MARKER, History, WINDOW};

/// The element that begins after a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A block at this bit of the input. The flag tells whether the bits that share a byte with the
    /// end of the chunk are all zero, as in the header of a stored block.
    Block(u64, bool),
    /// A gzip member at this byte.
    Member(u64),
    /// Neither a block nor a member is known to begin after the chunk.
    Unknown,
}

/// The state of the stream after a chunk.
pub(super) struct State {
    pub(super) next: Next,
    pub(super) is_gzip: bool,
    /// The last output, up to 32 KiB. Empty before a member, whose matches refer to nothing before
    /// it.
    pub(super) window: Vec<u8>,
}

impl State {
    /// Returns whether a chunk may begin at `start`, in a piece at offset `origin`.
    pub(super) fn is_before(&self, start: Place, is_gzip: bool, (origin, piece): (u64, &[u8])) -> bool {
        let byte_before = |at: u64| piece.get((at - 1 - origin) as usize).copied();
        self.is_gzip == is_gzip && self.next.is(start, byte_before)
    }
}

/// Creates the two ends of a chunk's link to the next.
pub(super) fn link() -> (Sender<State>, Receiver<State>) {
    channel()
}

impl Next {
    /// Returns whether this element begins at `place`. `byte_before` returns the byte before a
    /// stored block's length.
    pub(super) fn is(self, place: Place, byte_before: impl FnOnce(u64) -> Option<u8>) -> bool {
        match (self, place) {
            (Next::Block(bit, _), Place::Dynamic(start)) => bit == start,
            (Next::Member(at), Place::Member(start)) => at == start,
            (Next::Block(bit, is_zero), Place::Stored(at)) => {
                // The three bits of the header and the padding are all zero.
                let bits = (8 * at).wrapping_sub(bit);
                (3..11).contains(&bits) && is_zero && (bits < 8 || byte_before(at) == Some(0))
            }
            _ => false,
        }
    }
}

/// The window before a chunk, from an index, and which of its bytes the chunk's matches refer to.
pub(super) struct KnownWindow {
    pub(super) bytes: Vec<u8>,
    /// Tells for each byte of the 32 KiB, oldest first, whether matches may refer to it.
    referred: Vec<bool>,
}

impl KnownWindow {
    pub(super) fn new(window: &SparseWindow, referred: Vec<bool>) -> Self {
        KnownWindow { bytes: window.to_vec(), referred }
    }

    /// Returns whether the bytes that matches refer to are the same as in the content before the
    /// chunk.
    fn is_part_of(&self, before: &[u8]) -> bool {
        let byte = |window: &[u8], back: usize| window.len().checked_sub(back).map(|at| window[at]);
        let mut referred = self.referred.iter().zip((1..=WINDOW).rev()).filter(|(referred, _)| **referred);
        referred.all(|(_, back)| {
            let byte_before = byte(before, back);
            byte_before.is_some() && byte_before == byte(&self.bytes, back)
        })
    }
}

impl Chunk {
    /// Sets the window before the chunk. Returns false if the index has another window, or if the
    /// chunk refers to more output than there is.
    pub(super) fn set_window(&self, resolver: &mut Resolver, before: &[u8]) -> bool {
        let is_known = self.window.as_ref().is_none_or(|window| window.is_part_of(before));
        is_known && resolver.set_window(before, &self.buffers.marked[self.marked.clone()])
    }

    /// Resolves the markers with the state before the chunk, and sends the state after it. If the
    /// chunk does not begin there, or its window is another one, this does nothing, and the sender
    /// is left to the calling thread.
    pub(super) fn resolve(&mut self, resolver: &mut Resolver, before: &State, check: fn(&[u8]) -> u32) {
        let (Some(start), Some(last)) = (self.start, self.segments.last()) else { return };
        if !before.is_before(start, self.is_gzip, (self.piece.at, &self.piece.bytes)) {
            return;
        }
        if !self.set_window(resolver, &before.window) {
            return;
        }
        let marked = &self.buffers.marked[self.marked.clone()];
        let next = if last.blocks.is_before_block() {
            let ahead = last.blocks.ahead();
            Next::Block(8 * last.to - u64::from(ahead), last.blocks.bits_ahead() == 0)
        } else if last.blocks.is_at_end() && self.is_gzip {
            Next::Member(last.to + TRAILER)
        } else {
            Next::Unknown
        };
        let plain = &self.buffers.plain[last.plain.clone()];
        let window = match next {
            Next::Member(_) => Vec::new(),
            _ if self.segments.len() > 1 => resolver.window(&[], &[], plain),
            _ => resolver.window(&before.window, marked, plain),
        };
        let Some(after) = self.after.take() else { return };
        // If the next chunk was dropped, nobody receives the state.
        let _ = after.send(State { next, is_gzip: self.is_gzip, window });
        resolver.resolve(marked, &mut self.buffers.resolved);
        self.marked_check = Some(check(&self.buffers.resolved[..marked.len()]));
    }
}

/// Size of the trailer of a gzip member, in bytes.
pub(super) const TRAILER: u64 = 8;

/// Number of units that are resolved together.
const GROUP: usize = 8;

/// Replaces markers by the bytes of a window.
pub(super) struct Resolver {
    /// The byte for each unit.
    table: Box<[u8; 1 << 16]>,
}

impl Default for Resolver {
    fn default() -> Self {
        let mut table = Box::new([0; 1 << 16]);
        (0..=255).for_each(|byte| table[usize::from(byte)] = byte);
        Resolver { table }
    }
}

impl Resolver {
    /// Sets the window for units. Returns false if they refer to more than the window has.
    pub(super) fn set_window(&mut self, window: &[u8], marked: &[u16]) -> bool {
        let end = usize::from(FIRST_MARKER) + WINDOW;
        let oldest = end - window.len();
        let is_before = |unit: &u16| (FIRST_MARKER.into()..oldest).contains(&usize::from(*unit));
        if window.len() < WINDOW && marked.iter().any(is_before) {
            return false;
        }
        self.table[oldest..end].copy_from_slice(window);
        true
    }

    /// Returns the last 32 KiB of `before`, the bytes of the units `marked`, and `plain` in a row.
    pub(super) fn window(&self, before: &[u8], marked: &[u16], plain: &[u8]) -> Vec<u8> {
        let plain = &plain[plain.len().saturating_sub(WINDOW)..];
        let marked = &marked[marked.len().saturating_sub(WINDOW - plain.len())..];
        let before = &before[before.len().saturating_sub(WINDOW - plain.len() - marked.len())..];
        let mut window = Vec::with_capacity(before.len() + marked.len() + plain.len());
        window.extend_from_slice(before);
        window.extend(marked.iter().map(|&unit| self.table[usize::from(unit)]));
        window.extend_from_slice(plain);
        window
    }

    /// Writes the bytes of units to the beginning of `resolved`, which grows if necessary.
    pub(super) fn resolve(&self, marked: &[u16], resolved: &mut Vec<u8>) {
        if resolved.len() < marked.len() {
            resolved.reserve_exact(marked.len() - resolved.len());
            resolved.resize(marked.len(), 0);
        }
        let (blocks, rest) = marked.as_chunks::<GROUP>();
        let (to, to_rest) = resolved[..marked.len()].as_chunks_mut::<GROUP>();
        for (units, bytes) in blocks.iter().zip(to) {
            resolve_group(&self.table, units, bytes);
        }
        for (&unit, byte) in rest.iter().zip(to_rest) {
            *byte = self.table[usize::from(unit)];
        }
    }
}

fn resolve_group(table: &[u8; 1 << 16], units: &[u16; GROUP], bytes: &mut [u8; GROUP]) {
    // This writes one word instead of eight bytes.
    let byte = |i: usize| u64::from(table[usize::from(units[i])]) << (8 * i);
    *bytes = (0..GROUP).fold(0, |word, i| word | byte(i)).to_le_bytes();
}

/// Returns the bytes of a history.
pub(super) fn bytes_of(history: History<'_>) -> Vec<u8> {
    let mut bytes = vec![0; history.len()];
    history.copy(history.len(), &mut bytes);
    bytes
}

//! Level 1 in a session: one pass from a short message to bits, with the fixed trees (RFC 1951,
//! section 3.2.6).
//!
//! A message of a few hundred bytes leaves no time for work that is done once per message. So the
//! window is not copied next to the message: candidates are compared in the ring where the session
//! keeps them. The positions of the message go straight into the session's index. There are no
//! tokens and no symbol counts.
//!
//! Four positions are probed with one branch, as in [`search`](super::search). The longest match is
//! then extended backwards over the literals of its probe, because an index this small has often
//! lost the position where a repetition begins.

use core::hint::select_unpredictable;

use linerate_core::{CACHE_LINE, prefetch_line};

use super::dispatch::Kernel;
use super::history::{FETCH_STEP, OVERLAP};
use super::indexed::{hash, shift_for};
use super::isa::{Isa, read32};
use super::matcher::{MAX_MATCH, MIN_MATCH};
use super::search::{PROBE_WIDTH, opaque};
use super::token_bits::{BitBuffer, Literals};
use crate::coding::builtin::fixed_tables;

/// Size in bytes of the longest message encoded in this way. Longer messages gain from trees of
/// their own.
pub(crate) const MAX_QUICK: usize = 4 << 10;
/// Number of bytes before a message in its buffer. A wide read may include them, but the result
/// does not depend on them.
pub(crate) const BEFORE: usize = 4;
/// Number of bytes after a message in its buffer, read when a probe is near the end. All are zero,
/// because their hashes decide which slots of the index are overwritten, and the output must not
/// depend on what the buffer held before.
pub(crate) const BEHIND: usize = 16;
/// Maximum size of a block in bytes: 9 bits for each byte, header and end, and the width of a
/// store.
pub(crate) const MAX_BLOCK: usize = MAX_QUICK * 9 / 8 + 32;
/// Size in bytes of the buffers for a message and its block.
pub(crate) const STAGING: usize = BEFORE + MAX_QUICK + BEHIND + MAX_BLOCK;

/// Spacing of the positions inserted inside a match.
const INSIDE_STEP: usize = 3;

/// Encodes a message as one block.
pub(crate) struct Quick<'a> {
    /// The message, with [`BEFORE`] bytes in front and [`BEHIND`] zero bytes after it, so that wide
    /// reads at either end need no check.
    pub(crate) buffer: &'a [u8],
    /// Positions by hash, modulo 2^16. An empty slot is 0, which is also the session's first byte.
    pub(crate) index: &'a mut [u16],
    /// The window, whose size is a power of two, and [`OVERLAP`] bytes. Byte n of the session is at
    /// n modulo the window.
    pub(crate) ring: &'a [u8],
    /// Position number of the message's first byte, counted from the session's beginning.
    pub(crate) position: u32,
    pub(crate) out: &'a mut [u8; MAX_BLOCK],
    /// The bits pending before the block, and their number, at most 7.
    pub(crate) pending: (u64, u32),
}

/// A block in `out`: the number of its whole bytes, then the pending bits after them and their
/// number.
pub(crate) struct Block {
    pub(crate) bytes: usize,
    pub(crate) pending: (u64, u32),
}

impl Kernel for Quick<'_> {
    type Output = Block;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Block {
        let Quick { buffer, index, ring, position, out, pending } = self;
        let window = ring.len() - OVERLAP;
        let len = buffer.len() - BEFORE - BEHIND;
        assert!(window.is_power_of_two() && index.len().is_power_of_two() && len <= MAX_QUICK);
        let (mask, shift, base) = (window - 1, shift_for(index.len()), position as u16);
        let is_dense = window <= 2 * index.len();
        let tables = fixed_tables();
        let message = buffer.as_ptr().wrapping_add(BEFORE);
        let (slots, ring) = (index.as_mut_ptr(), ring.as_ptr());
        let start = out.as_mut_ptr();
        let mut out = BitBuffer { next: start, acc: pending.0, len: pending.1 };
        out.put_bits(0b010, 3);
        let mut at = 0;
        // SAFETY: hashes are below the length of the index. A probe begins at least 4 bytes before
        // the end, so BEHIND is enough to read 16 bytes at each position; in the ring OVERLAP is
        // enough. Longer matches are limited to message and history. A byte takes at most 9 bits,
        // for which MAX_BLOCK has room.
        unsafe {
            if is_dense {
                for line in (0..window).step_by(CACHE_LINE) {
                    prefetch_line(ring.wrapping_add(line) as usize);
                }
            } else {
                for ahead in (0..len).step_by(4 * FETCH_STEP) {
                    for k in 0..4 {
                        let word = read32(message.add(ahead + k * FETCH_STEP));
                        let candidate = *slots.add(hash(word, shift));
                        prefetch_line(ring.wrapping_add(usize::from(candidate) & mask) as usize);
                    }
                }
            }
            if position == 0 && len > 0 {
                // The first byte of the session is a literal, because an empty slot means position
                // 0, which is not before it.
                out.put(tables.literal(u32::from(*message)));
                at = 1;
            }
            while at + MIN_MATCH <= len {
                let here = message.add(at);
                let words = [0, 1, 2, 3].map(|k| read32(here.add(k)));
                // Returns the address of a candidate: in the message if it is before position k,
                // else in the ring.
                let locate = |candidate: u16, k: usize| {
                    let offset = usize::from(candidate.wrapping_sub(base));
                    let place = usize::from(candidate) & mask;
                    select_unpredictable(
                        offset < at + k,
                        message.wrapping_add(offset),
                        ring.wrapping_add(place),
                    )
                };
                let mut candidates = [0; PROBE_WIDTH];
                let mut has_match = false;
                for k in 0..PROBE_WIDTH {
                    let slot = slots.add(hash(words[k], shift));
                    candidates[k] = *slot;
                    *slot = base.wrapping_add((at + k) as u16);
                    has_match |= read32(locate(candidates[k], k)) == words[k];
                }
                let literals = Literals::new(words[0], tables);
                if opaque(u32::from(has_match)) != 0 {
                    // The score consists of, from the top, 2 length + 3 - k, then k, then the
                    // candidate. Another byte of length is worth two more literals before the
                    // match.
                    let score = |k: usize| {
                        let length = I::common16(here.add(k), locate(candidates[k], k));
                        let length = u64::from(opaque(length as u32));
                        (length << 33) + ((3 - k as u64) << 32 | (k as u64) << 16 | u64::from(candidates[k]))
                    };
                    let best = score(0).max(score(1)).max(score(2).max(score(3)));
                    let (k, candidate) = ((best >> 16) as usize & 3, best as u16);
                    let mut length = ((best >> 32) as usize + k - 3) / 2;
                    let (first, here, from) = (at + k, here.add(k), locate(candidate, k));
                    let in_message = usize::from(candidate.wrapping_sub(base));
                    let (offset, distance, room) = if in_message < first {
                        (in_message, first - in_message, MAX_MATCH)
                    } else {
                        // A match in the ring ends at the end of the history or of the ring.
                        let place = usize::from(candidate) & mask;
                        let left = (usize::from(base.wrapping_sub(candidate).wrapping_sub(1)) & mask) + 1;
                        (place, first + left, left.min(window + OVERLAP - place))
                    };
                    // A candidate in the ring may have left the window since the message began.
                    let most = if distance <= window { room.min(len - first) } else { 0 };
                    while length >= 16 && length < most {
                        // The last 16 bytes overlap the ones before.
                        let next = length.min(most - 16);
                        let more = I::common16(here.add(next), from.add(next));
                        length = next + more;
                        if more < 16 {
                            break;
                        }
                    }
                    length = length.min(most);
                    if length >= MIN_MATCH {
                        let before =
                            || (read32(here.sub(4)) ^ read32(from.sub(4))).leading_zeros() as usize / 8;
                        let more = if offset < 4 { 0 } else { before().min(k) };
                        let (k, length) = (k - more, (length + more).min(MAX_MATCH));
                        out.put(literals.before(k).then(tables.length(length)));
                        out.store();
                        let (value, n) = tables.distance(distance);
                        out.put_bits(value, n);
                        out.store();
                        let inside = at + PROBE_WIDTH;
                        at += k + length;
                        if is_dense {
                            for inside in (inside..at).step_by(INSIDE_STEP) {
                                let word = read32(message.add(inside));
                                *slots.add(hash(word, shift)) = base.wrapping_add(inside as u16);
                            }
                        }
                        continue;
                    }
                }
                out.put(literals.all());
                out.store();
                at += PROBE_WIDTH;
            }
            for i in at..len {
                out.put(tables.literal(u32::from(*message.add(i))));
            }
            // The end of the block is seven zero bits.
            out.put_bits(0, 7);
            out.store();
            Block { bytes: out.next.offset_from(start) as usize, pending: (out.acc, out.len) }
        }
    }
}

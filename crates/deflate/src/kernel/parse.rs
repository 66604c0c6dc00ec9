//! The parse of levels 2 and 3: bytes to tokens.
//!
//! What bounds a parse is mispredicted branches, about two for each match: "is there one" and "how
//! long is it". So two positions are looked at per iteration with one branch for both, the choice
//! between them is arithmetic, and the length comes from one 32-byte compare.

use super::isa::{Isa, Kernel, read32, read64};
use super::matcher::{MAX_DISTANCE, MAX_MATCH, MIN_MATCH, TABLE_BITS, Table};
use super::token::{CAPACITY, NONE, Tokens, distance_symbol};

/// Bytes that must follow a position for the main loop: two positions, 32 compared after each.
const LOOKAHEAD: usize = 40;

#[inline(always)]
fn hash(word: u32) -> usize {
    (word.wrapping_mul(0x9E37_79B1) >> (32 - TABLE_BITS)) as usize
}

/// Makes the positions of `history`, the start of a call's buffer, known to the table.
pub(crate) fn insert_history(table: &mut Table, history: &[u8], first: u16) {
    for (i, bytes) in history.windows(MIN_MATCH).enumerate() {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        table.slots[hash(word)] = first.wrapping_add(i as u16);
    }
}

/// One block's parse, from `start` until the tokens are full or the input ends.
pub(crate) struct Parse<'a> {
    pub(crate) table: &'a mut Table,
    pub(crate) tokens: &'a mut Tokens,
    /// History and input of the call.
    pub(crate) buffer: &'a [u8],
    /// The number of the position at the start of `buffer`.
    pub(crate) first: u16,
    pub(crate) start: usize,
}

impl Kernel for Parse<'_> {
    type Output = usize;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> usize {
        // SAFETY: the caller vouches for the tier.
        unsafe { self.pairs::<I>() }
    }
}

/// Room to write tokens and count their symbols.
struct Sink<'a> {
    next: *mut u32,
    firsts: &'a mut [u16; super::token::FIRSTS],
    seconds: &'a mut [u16; super::token::SECONDS],
}

impl Sink<'_> {
    /// Writes a token and keeps it only if `keep` is 1.
    ///
    /// # Safety
    /// There must be room for it; `first` and `second` must be in range.
    #[inline(always)]
    unsafe fn push_if(&mut self, keep: usize, first: u32, second: u32, extra: u32) {
        // SAFETY: as the caller vouches.
        unsafe {
            *self.next = first | second << 9 | extra << 18;
            self.next = self.next.add(keep);
            *self.firsts.get_unchecked_mut(first as usize) += keep as u16;
            *self.seconds.get_unchecked_mut(second as usize) += keep as u16;
        }
    }
}

impl Parse<'_> {
    #[inline(always)]
    unsafe fn pairs<I: Isa>(self) -> usize {
        let Parse { table, tokens, buffer, first, start } = self;
        let (base, end) = (buffer.as_ptr(), buffer.len());
        let slots = &mut table.slots;
        // SAFETY: `len` is within the list.
        let list_start = tokens.list.as_mut_ptr();
        let list_full = unsafe { list_start.add(CAPACITY) };
        let mut sink = Sink {
            next: unsafe { list_start.add(tokens.len) },
            firsts: &mut tokens.firsts,
            seconds: &mut tokens.seconds,
        };
        let first = first as usize;
        let mut pos = start;
        let mut anchor = start;
        unsafe {
            while pos + LOOKAHEAD <= end && sink.next < list_full {
                let word = read64(base.add(pos));
                let (w0, w1) = (word as u32, (word >> 8) as u32);
                let here = (first + pos) as u16;
                let slot0 = slots.get_unchecked_mut(hash(w0));
                let d0 = here.wrapping_sub(*slot0) as usize;
                *slot0 = here;
                let slot1 = slots.get_unchecked_mut(hash(w1));
                let d1 = here.wrapping_add(1).wrapping_sub(*slot1) as usize;
                *slot1 = here.wrapping_add(1);
                let reach = pos.min(MAX_DISTANCE);
                let in0 = d0.wrapping_sub(1) < reach;
                let in1 = d1.wrapping_sub(1) < reach;
                let d0 = if in0 { d0 } else { 0 };
                let d1 = if in1 { d1 } else { 0 };
                let p0 = base.add(pos);
                let p1 = base.add(pos + 1);
                let hit0 = in0 & (read32(p0.sub(d0)) == w0);
                let hit1 = in1 & (read32(p1.sub(d1)) == w1);
                if !(hit0 | hit1) {
                    sink.push_if(1, w0 & 0xff, 32 + (w1 & 0xff), 0);
                    pos += 2;
                    let skip = (pos - anchor) >> 6;
                    if skip != 0 {
                        let skip = skip.min(16);
                        for _ in 0..skip {
                            if pos + LOOKAHEAD <= end {
                                sink.push_if(1, *base.add(pos) as u32, 32 + *base.add(pos + 1) as u32, 0);
                                pos += 2;
                            }
                        }
                    }
                    continue;
                }
                let l0 = if hit0 { I::common32(p0, p0.sub(d0)) } else { 0 };
                let l1 = if hit1 { I::common32(p1, p1.sub(d1)) } else { 0 };
                let later = l1 > l0;
                sink.push_if(later as usize, w0 & 0xff, NONE, 0);
                let d = if later { d1 } else { d0 };
                let mut len = if later { l1 } else { l0 };
                pos += later as usize;
                if len == 32 {
                    len = extend(base, pos, d, end);
                }
                let (symbol, extra) = distance_symbol(d as u32);
                sink.push_if(1, 256 - 3 + len as u32, symbol, extra);
                let last = pos + len - 2;
                let here = (first + pos) as u16;
                *slots.get_unchecked_mut(hash(read32(base.add(last.min(end - 4))))) =
                    (first + last.min(end - 4)) as u16;
                let _ = here;
                pos += len;
                anchor = pos;
            }
            // The last bytes, one at a time and never reading past the end.
            while pos < end && sink.next < list_full {
                let mut len = 0;
                let mut d = 0;
                if pos + MIN_MATCH <= end {
                    let word = read32(base.add(pos));
                    let here = (first + pos) as u16;
                    let slot = slots.get_unchecked_mut(hash(word));
                    d = here.wrapping_sub(*slot) as usize;
                    *slot = here;
                    if d.wrapping_sub(1) < pos.min(MAX_DISTANCE) && read32(base.add(pos - d)) == word {
                        len = extend_from(base, pos, d, end, 4);
                    }
                }
                if len == 0 {
                    sink.push_if(1, *base.add(pos) as u32, NONE, 0);
                    pos += 1;
                } else {
                    let (symbol, extra) = distance_symbol(d as u32);
                    sink.push_if(1, 256 - 3 + len as u32, symbol, extra);
                    pos += len;
                }
            }
            tokens.len = sink.next.offset_from(list_start) as usize;
        }
        pos
    }
}

#[inline(always)]
unsafe fn extend(base: *const u8, pos: usize, d: usize, end: usize) -> usize {
    // SAFETY: as the caller vouches.
    unsafe { extend_from(base, pos, d, end, 32) }
}

/// Length of the match at `pos` with distance `d`, `len` bytes of which are known to agree.
#[inline(always)]
unsafe fn extend_from(base: *const u8, pos: usize, d: usize, end: usize, mut len: usize) -> usize {
    let most = MAX_MATCH.min(end - pos);
    // SAFETY: reads stay below `pos + most <= end`.
    unsafe {
        while len + 8 <= most {
            let differ = read64(base.add(pos + len)) ^ read64(base.add(pos + len - d));
            if differ != 0 {
                return len + (differ.trailing_zeros() / 8) as usize;
            }
            len += 8;
        }
        while len < most && *base.add(pos + len) == *base.add(pos + len - d) {
            len += 1;
        }
    }
    len
}

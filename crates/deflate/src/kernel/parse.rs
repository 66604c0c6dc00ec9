//! The parse of levels 2 and 3: bytes to tokens.
//!
//! What bounds a parse is mispredicted branches, about two for each match: "is there one" and "how
//! long is it". So two positions are looked at per iteration with one branch for both, the choice
//! between them is arithmetic, and the length comes from one 32-byte compare.

use super::isa::{Isa, Kernel, read32, read64};
use super::matcher::{LAST_NUMBER, MAX_DISTANCE, MAX_MATCH, MIN_MATCH, REBASE, TABLE_BITS, Table};
use super::token::{CAPACITY, NONE, Tokens, distance_symbol};

/// Bytes that must follow a position for the main loop: two positions, 32 compared after each.
const LOOKAHEAD: usize = 40;
const RUN: usize = 64;

#[inline(always)]
fn hash(word: u32) -> usize {
    (word.wrapping_mul(0x9E37_79B1) >> (32 - TABLE_BITS)) as usize
}

/// Makes the positions of `history`, the start of a call's buffer, known to the table.
pub(crate) fn insert_history(table: &mut Table, history: &[u8], first: u32) {
    for (i, bytes) in history.windows(MIN_MATCH).enumerate() {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        table.slots[hash(word)] = (first + i as u32) as u16;
    }
}

/// One block's parse, from `start` until the tokens are full or the input ends.
pub(crate) struct Parse<'a> {
    pub(crate) table: &'a mut Table,
    pub(crate) tokens: &'a mut Tokens,
    /// History and input of the call.
    pub(crate) buffer: &'a [u8],
    /// The number of the position at the start of `buffer`.
    /// Lowered when numbers run out.
    pub(crate) first: &'a mut u32,
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
        let list_start = tokens.list.as_mut_ptr();
        let mut sink = Sink {
            next: unsafe { list_start.add(tokens.len) },
            firsts: &mut tokens.firsts,
            seconds: &mut tokens.seconds,
        };
        let mut pos = start;
        unsafe {
            if pos == 0 && end > 0 {
                // Nothing can be before it, and every later position has a candidate.
                if LOOKAHEAD <= end {
                    table.slots[hash(read32(base))] = *first as u16;
                }
                sink.push_if(1, *base as u32, NONE, 0);
                pos = 1;
            }
            loop {
                let room = CAPACITY.saturating_sub(sink.next.offset_from(list_start) as usize);
                let mut stop = end.saturating_sub(LOOKAHEAD).min(pos + 2 * room);
                if pos >= stop {
                    break;
                }
                let mut here = first.wrapping_add(pos as u32);
                if here >= LAST_NUMBER {
                    table.rebase();
                    *first = first.wrapping_sub(REBASE);
                    here -= REBASE;
                }
                let mut here = here as usize;
                let origin = base.wrapping_add(pos).wrapping_sub(here);
                let slots = &mut table.slots;
                stop = stop.min(pos + (LAST_NUMBER as usize - here));
                let lowest = here.saturating_sub(pos);
                let number_end = here + (end - pos);
                let stop = here + (stop - pos);
                let mut run_limit = here + RUN;
                while here < stop {
                    let word = read64(origin.wrapping_add(here));
                    let low = lowest.max(here.saturating_sub(MAX_DISTANCE - 3));
                    let w = [word as u32, (word >> 8) as u32, (word >> 16) as u32, (word >> 24) as u32];
                    let mut c = [0usize; 4];
                    for i in 0..4 {
                        let slot = slots.get_unchecked_mut(hash(w[i]));
                        c[i] = (*slot as usize).max(low);
                        *slot = (here + i) as u16;
                    }
                    let mut m = 0u32;
                    for i in 0..4 {
                        m |= u32::from(read32(origin.wrapping_add(c[i])) == w[i]) << i;
                    }
                    if barrier(m) == 0 {
                        sink.push_if(1, w[0] & 0xff, 32 + (w[1] & 0xff), 0);
                        sink.push_if(1, w[2] & 0xff, 32 + (w[3] & 0xff), 0);
                        here += 4;
                        if here > run_limit {
                            let skip = ((here - run_limit) / RUN + 1).min(16);
                            for _ in 0..skip {
                                if here < stop {
                                    let p = origin.wrapping_add(here);
                                    sink.push_if(1, *p as u32, 32 + *p.add(1) as u32, 0);
                                    here += 2;
                                }
                            }
                        }
                        continue;
                    }
                    let p = origin.wrapping_add(here);
                    let mut best = 0;
                    for i in 0..4 {
                        let len = I::common32(p.add(i), origin.wrapping_add(c[i]));
                        best = (len * 4 + 3 - i).max(best);
                    }
                    let k = 3 - (best & 3);
                    let mut len = best >> 2;
                    sink.push_if((k >> 1) & 1, w[0] & 0xff, 32 + (w[1] & 0xff), 0);
                    sink.push_if(k & 1, (word >> (8 * (k & 2)) & 0xff) as u32, NONE, 0);
                    let d = here + k - c[k];
                    here += k;
                    if len == 32 {
                        len = extend(origin, here, d, number_end);
                    }
                    let (symbol, extra) = distance_symbol(d as u32);
                    sink.push_if(1, 256 - 3 + len as u32, symbol, extra);
                    here += len;
                    // A match may end with the input: 4 bytes must be left to read.
                    let behind = (here - 2).min(number_end - 4);
                    *slots.get_unchecked_mut(hash(read32(origin.wrapping_add(behind)))) = behind as u16;
                    run_limit = here + RUN;
                }
                pos = origin.wrapping_add(here).offset_from(base) as usize;
            }
            // The last bytes, one at a time and never reading past the end.
            while pos < end && (sink.next.offset_from(list_start) as usize) < CAPACITY {
                let mut len = 0;
                let mut d = 0;
                if pos + MIN_MATCH <= end {
                    let word = read32(base.add(pos));
                    let here = first.wrapping_add(pos as u32);
                    let reach = pos.min(MAX_DISTANCE) as u32;
                    let slot = table.slots.get_unchecked_mut(hash(word));
                    d = here.wrapping_sub(u32::from(*slot)).min(reach) as usize;
                    *slot = here as u16;
                    if read32(base.add(pos - d)) == word {
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

/// Hides from the compiler where `x` comes from, so that it branches on it once instead of once
/// on each of its parts.
#[inline(always)]
fn barrier(mut x: u32) -> u32 {
    // SAFETY: an empty instruction sequence.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!("/* {0:e} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags))
    };
    x
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
            let differ = read64(base.wrapping_add(pos + len)) ^ read64(base.wrapping_add(pos + len - d));
            if differ != 0 {
                return len + (differ.trailing_zeros() / 8) as usize;
            }
            len += 8;
        }
        while len < most && *base.wrapping_add(pos + len) == *base.wrapping_add(pos + len - d) {
            len += 1;
        }
    }
    len
}

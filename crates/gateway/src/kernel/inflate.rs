//! Literals and matches of a deflate block, as long as there is room on both sides.
//!
//! Input and output are checked once for each round, which refills the bits twice and writes at most three
//! literals or a match behind two. What does not fit ends here with the symbol before it, and the careful
//! loop, of which this is a faster form, goes on.

use core::ptr::copy_nonoverlapping;

use linerate_core::Tier;

use crate::inflate::{
    Bits, DISTANCE_ROOT, History, MAX_MATCH, SYMBOL_ROOT, Tables, bits, code_bits, is_end, is_literal,
    is_special, is_table, sum, value,
};

/// Bytes of a copy's step, which may go so far beyond its end.
const STEP: usize = 16;
/// Bytes of input that a round may look at.
const IN_ROUND: usize = 16;
/// Bytes of output that a round may write.
const OUT_ROUND: usize = 2 + MAX_MATCH + STEP;

/// Decodes what fits from `bits` in `src` to `at` in `out`. Returns whether the block has ended.
pub(crate) fn inflate(
    tables: &Tables,
    history: &History,
    src: &[u8],
    bits: &mut Bits,
    out: &mut [u8],
    at: &mut usize,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if linerate_core::cpu::tier() >= Tier::Avx2 {
        // SAFETY: the tier says that the CPU has these features.
        return unsafe { wide(tables, history, src, bits, out, at) };
    }
    rounds(tables, history, src, bits, out, at)
}

/// The loop compiled for shifts and masks by a register, and 16-byte copies.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn wide(
    tables: &Tables,
    history: &History,
    src: &[u8],
    bits: &mut Bits,
    out: &mut [u8],
    at: &mut usize,
) -> bool {
    rounds(tables, history, src, bits, out, at)
}

#[inline(always)]
fn rounds(
    tables: &Tables,
    history: &History,
    src: &[u8],
    place: &mut Bits,
    out: &mut [u8],
    at: &mut usize,
) -> bool {
    let (Some(last_in), Some(last_out)) = (src.len().checked_sub(IN_ROUND), out.len().checked_sub(OUT_ROUND))
    else {
        return false;
    };
    // No more than the bounds of the tables, which the compiler then need not check.
    let symbol_root = tables.symbol_root.min(SYMBOL_ROOT);
    let distance_root = tables.distance_root.min(DISTANCE_ROOT);
    place.settle();
    let mut b = *place;
    let mut o = *at;
    if b.at > last_in {
        return false;
    }
    // SAFETY: there are sixteen bytes.
    unsafe { refill(&mut b, src) };
    let mut cell = tables.symbols[index(b.buffer, symbol_root)];
    // At the beginning of a round there are 56 bits or more, of which `cell` is the first code.
    while b.at <= last_in && o <= last_out {
        let mut before = b;
        consume(&mut b, bits(cell));
        // Codes in the first table have ten bits or fewer: two literals leave enough for a length.
        if is_literal(cell) {
            // SAFETY: three bytes at most, and `o` leaves room for them.
            unsafe { *out.get_unchecked_mut(o) = value(cell) as u8 };
            o += 1;
            cell = tables.symbols[index(b.buffer, symbol_root)];
            before = b;
            consume(&mut b, bits(cell));
            if is_literal(cell) {
                // SAFETY: as above.
                unsafe { *out.get_unchecked_mut(o) = value(cell) as u8 };
                o += 1;
                cell = tables.symbols[index(b.buffer, symbol_root)];
                before = b;
                consume(&mut b, bits(cell));
                if is_literal(cell) {
                    // SAFETY: as above.
                    unsafe { *out.get_unchecked_mut(o) = value(cell) as u8 };
                    o += 1;
                    // SAFETY: a round refills twice at most, each time moving by at most eight bytes and
                    // looking at eight, and at its beginning there are sixteen.
                    unsafe { refill(&mut b, src) };
                    cell = tables.symbols[index(b.buffer, symbol_root)];
                    continue;
                }
            }
        }
        let mut inner = before.buffer;
        if is_special(cell) {
            if is_table(cell) {
                inner = b.buffer;
                cell = tables.symbols[value(cell) as usize + index(inner, code_bits(cell))];
                consume(&mut b, bits(cell));
                if is_literal(cell) {
                    // SAFETY: as above: this is the third at most.
                    unsafe { *out.get_unchecked_mut(o) = value(cell) as u8 };
                    o += 1;
                    // SAFETY: as above.
                    unsafe { refill(&mut b, src) };
                    cell = tables.symbols[index(b.buffer, symbol_root)];
                    continue;
                }
            }
            if is_special(cell) {
                let ended = is_end(cell);
                (*place, *at) = (if ended { b } else { before }, o);
                place.settle();
                return ended;
            }
        }
        let length = sum(cell, inner);
        // SAFETY: as above, the first time.
        unsafe { refill(&mut b, src) };
        let mut inner = b.buffer;
        let mut far = tables.distances[index(inner, distance_root)];
        consume(&mut b, bits(far));
        if is_table(far) {
            inner = b.buffer;
            far = tables.distances[value(far) as usize + index(inner, code_bits(far))];
            consume(&mut b, bits(far));
        }
        let distance = sum(far, inner);
        if is_special(far) || distance > o + history.len() {
            b = before;
            break;
        }
        // The next code is looked up before the copy, which it need not wait for.
        // SAFETY: as above, the second time.
        unsafe { refill(&mut b, src) };
        cell = tables.symbols[index(b.buffer, symbol_root)];
        if distance <= o {
            // SAFETY: the distance is at least 1 and within what was written, and behind `o` there is room
            // for the longest match and a step.
            unsafe { copy(out, o, distance, length) };
        } else if let Some(piece) = history.piece(distance - o, length, STEP) {
            // SAFETY: the piece is as long, and so is the room, as above.
            unsafe { bring(piece.as_ptr(), out.as_mut_ptr().add(o), length) };
        } else {
            let done = history.copy(distance - o, &mut out[o..o + length]);
            for i in o + done..o + length {
                out[i] = out[i - distance];
            }
        }
        o += length;
    }
    (*place, *at) = (b, o);
    place.settle();
    false
}

#[inline(always)]
fn index(buffer: u64, bits: u32) -> usize {
    (buffer & ((1 << bits) - 1)) as usize
}

#[inline(always)]
fn consume(b: &mut Bits, count: u32) {
    b.buffer >>= count;
    b.count = b.count.wrapping_sub(count);
}

/// Fills the buffer to 56 bits or more. Bits above `count` may already be those that come next, which
/// does no harm: the same ones are put there again.
///
/// # Safety
/// `src` has eight bytes at `b.at`.
#[inline(always)]
unsafe fn refill(b: &mut Bits, src: &[u8]) {
    debug_assert!(b.at + 8 <= src.len() && b.count < 64);
    // SAFETY: the caller vouches.
    let word = unsafe { src.as_ptr().add(b.at).cast::<u64>().read_unaligned() };
    b.buffer |= u64::from_le(word) << b.count;
    b.at += (63 - b.count as usize) / 8;
    b.count |= 56;
}

/// Copies `length` bytes from `distance` before `at`, which may be some of those it writes.
///
/// # Safety
/// `distance` is from 1 to `at`, and `out` has `length + STEP` bytes at `at`.
#[inline(always)]
unsafe fn copy(out: &mut [u8], at: usize, distance: usize, length: usize) {
    debug_assert!(distance >= 1 && distance <= at && at + length + STEP <= out.len());
    // SAFETY: reads end before `at + length + STEP - distance`, writes before `at + length + STEP`; no
    // step reads what it writes itself, since its size is at most the distance.
    unsafe {
        let mut to = out.as_mut_ptr().add(at);
        let end = to.add(length);
        let mut from = to.sub(distance);
        if distance >= STEP {
            bring(from, to, length);
        } else if distance >= 8 {
            while to < end {
                copy_nonoverlapping(from, to, 8);
                (from, to) = (from.add(8), to.add(8));
            }
        } else {
            while to < end {
                *to = *from;
                (from, to) = (from.add(1), to.add(1));
            }
        }
    }
}

/// Copies `length` bytes and up to a step more.
///
/// # Safety
/// Both sides have `length + STEP` bytes, and `to` is a step or more behind `from`, or elsewhere.
#[inline(always)]
unsafe fn bring(mut from: *const u8, mut to: *mut u8, length: usize) {
    // SAFETY: the caller vouches; no step reads what it writes.
    unsafe {
        let end = to.add(length);
        loop {
            copy_nonoverlapping(from, to, STEP);
            (from, to) = (from.add(STEP), to.add(STEP));
            if to >= end {
                break;
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use linerate_testkit::sys::guarded::Guarded;

    /// Random codes between forbidden pages: whatever they say, nothing is touched outside, and what comes
    /// is the same in a large buffer.
    #[test]
    fn nothing_is_touched_beside_input_and_output() {
        let mut seed = 1u64;
        let mut random = |end: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % end
        };
        let tables = Tables::agreed();
        let (mut input, mut output) = (Guarded::new(4096), Guarded::new(4096));
        let mut far = 0;
        for round in 0..3000 {
            let mut history = History::default();
            let before: Vec<u8> =
                (0..random(if round % 50 == 0 { 70_000 } else { 300 })).map(|i| i as u8).collect();
            history.push(&before).unwrap();
            let src: Vec<u8> = (0..random(300)).map(|_| random(256) as u8).collect();
            let (len, from) = (random(1500), random(20));
            let mut results = Vec::new();
            for last in [true, false] {
                let src = {
                    let to = if last { input.last(src.len()) } else { input.first(src.len()) };
                    to.copy_from_slice(&src);
                    &*to
                };
                let out = if last { output.last(len) } else { output.first(len) };
                out.fill(0);
                let (mut bits, mut at) = (Bits::default(), from.min(len));
                let ended = inflate(tables, &history, src, &mut bits, out, &mut at);
                assert!(at <= out.len() && bits.at <= src.len());
                results.push((ended, bits, out[..at].to_vec()));
            }
            assert!(results[0] == results[1], "{round}");
            far += usize::from(results[0].2.len() > 200);
        }
        assert!(far > 100, "{far}");
    }
}

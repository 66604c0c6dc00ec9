//! Literals and matches of a deflate block, far from the ends of input and output.
//!
//! Bounds are checked once per iteration, which refills the bit buffer twice and writes at most three literals,
//! or two literals and a match. Near the ends, and for invalid codes, the loop stops before the symbol, and the
//! checked loop (`block_decoder.rs`) continues. Caller's contract: `Codes` were made by `tables`, whose promise about
//! indexes it relies on, and `bits` is a position in `src`; both are checked types, so every call is safe.

use core::ptr::copy_nonoverlapping;

use linerate_core::Tier;

use crate::bits::Bits;
use crate::block_decoder::Symbols;
use crate::codes::{
    Entry, MAX_MATCH, base_plus_extra, bits, code_bits, is_end, is_literal, is_special, is_subtable, value,
};

/// Bytes per step of a copy, which may write up to this many bytes past its end.
const STEP: usize = 16;
/// Input bytes that an iteration may read.
const INPUT_SLACK: usize = 16;
/// Output bytes that an iteration may write.
const OUTPUT_SLACK: usize = 2 + MAX_MATCH + STEP;

/// Decodes symbols from `position` in `symbols.src` to `out[*at..]` as far as the slack allows. Returns whether the block
/// has ended.
pub(crate) fn decode(
    tier: Tier,
    symbols: &Symbols<'_>,
    position: &mut Bits,
    out: &mut [u8],
    at: &mut usize,
) -> bool {
    #[cfg(all(target_arch = "x86_64", feature = "std", not(feature = "small")))]
    if tier >= Tier::Avx2 {
        // SAFETY: the tier implies that the CPU has these features.
        return unsafe { avx2(symbols, position, out, at) };
    }
    let _ = tier;
    decode_loop(symbols, position, out, at)
}

/// The loop compiled for BMI shifts and masks, and 16-byte copies.
#[cfg(all(target_arch = "x86_64", feature = "std", not(feature = "small")))]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn avx2(symbols: &Symbols<'_>, position: &mut Bits, out: &mut [u8], at: &mut usize) -> bool {
    decode_loop(symbols, position, out, at)
}

#[inline(always)]
fn decode_loop(symbols: &Symbols<'_>, position: &mut Bits, out: &mut [u8], at: &mut usize) -> bool {
    let Symbols { codes, history, max_distance, src } = *symbols;
    let (Some(last_in), Some(last_out)) =
        (src.len().checked_sub(INPUT_SLACK), out.len().checked_sub(OUTPUT_SLACK))
    else {
        return false;
    };
    let (litlen_root, distance_root) = (codes.litlen_root, codes.distance_root);
    let mut b = *position;
    let mut o = *at;
    if b.at > last_in {
        return false;
    }
    // SAFETY: there are sixteen bytes at `b.at`, as just checked.
    unsafe { refill(&mut b, src) };
    let mut entry = entry_at(codes.litlen, index(b.buffer, litlen_root));
    // At the beginning of an iteration the buffer has at least 56 bits, and `entry` is that of the first code.
    while b.at <= last_in && o <= last_out {
        let mut before = b;
        consume(&mut b, bits(entry));
        // Codes in the primary table have at most ten bits: two literals leave enough for a length.
        if is_literal(entry) {
            // SAFETY: at most three bytes, and `o <= last_out` leaves `OUTPUT_SLACK`.
            unsafe { *out.get_unchecked_mut(o) = value(entry) as u8 };
            o += 1;
            entry = entry_at(codes.litlen, index(b.buffer, litlen_root));
            before = b;
            consume(&mut b, bits(entry));
            if is_literal(entry) {
                // SAFETY: as above.
                unsafe { *out.get_unchecked_mut(o) = value(entry) as u8 };
                o += 1;
                entry = entry_at(codes.litlen, index(b.buffer, litlen_root));
                before = b;
                consume(&mut b, bits(entry));
                if is_literal(entry) {
                    // SAFETY: as above.
                    unsafe { *out.get_unchecked_mut(o) = value(entry) as u8 };
                    o += 1;
                    // SAFETY: an iteration refills at most twice, each time advancing by at most eight bytes and
                    // reading eight; at its beginning there are sixteen (`b.at <= last_in`).
                    unsafe { refill(&mut b, src) };
                    entry = entry_at(codes.litlen, index(b.buffer, litlen_root));
                    continue;
                }
            }
        }
        let mut inner = before.buffer;
        if is_special(entry) {
            if is_subtable(entry) {
                inner = b.buffer;
                entry = entry_at(codes.litlen, value(entry) as usize + index(inner, code_bits(entry)));
                consume(&mut b, bits(entry));
                if is_literal(entry) {
                    // SAFETY: as above: this is at most the third literal.
                    unsafe { *out.get_unchecked_mut(o) = value(entry) as u8 };
                    o += 1;
                    // SAFETY: as above.
                    unsafe { refill(&mut b, src) };
                    entry = entry_at(codes.litlen, index(b.buffer, litlen_root));
                    continue;
                }
            }
            if is_special(entry) {
                let ended = is_end(entry);
                (*position, *at) = (if ended { b } else { before }, o);
                position.unread_bytes();
                return ended;
            }
        }
        let length = base_plus_extra(entry, inner);
        // SAFETY: as above, the first refill.
        unsafe { refill(&mut b, src) };
        let mut inner = b.buffer;
        let mut distance_entry = entry_at(codes.distances, index(inner, distance_root));
        consume(&mut b, bits(distance_entry));
        if is_subtable(distance_entry) {
            inner = b.buffer;
            let at = value(distance_entry) as usize + index(inner, code_bits(distance_entry));
            distance_entry = entry_at(codes.distances, at);
            consume(&mut b, bits(distance_entry));
        }
        let distance = base_plus_extra(distance_entry, inner);
        if is_special(distance_entry) || distance > o + history.len() || distance > max_distance {
            b = before;
            break;
        }
        // The next code is looked up before the copy, so that it does not wait for it.
        // SAFETY: as above, the second refill.
        unsafe { refill(&mut b, src) };
        entry = entry_at(codes.litlen, index(b.buffer, litlen_root));
        if distance <= o {
            // SAFETY: the distance is at least 1 and at most `o`, and after `o` there is space for the longest
            // match and a step (`OUTPUT_SLACK`).
            unsafe { copy(out, o, distance, length) };
        } else if let Some(piece) = history.contiguous(distance - o, length, STEP) {
            // SAFETY: `piece` has `length + STEP` bytes, and so has the output, as above.
            unsafe { copy_steps(piece.as_ptr(), out.as_mut_ptr().add(o), length) };
        } else {
            let done = history.copy(distance - o, &mut out[o..o + length]);
            for i in o + done..o + length {
                out[i] = out[i - distance];
            }
        }
        o += length;
    }
    (*position, *at) = (b, o);
    position.unread_bytes();
    false
}

/// An entry of a table.
#[inline(always)]
fn entry_at(table: &[Entry], index: usize) -> Entry {
    debug_assert!(index < table.len());
    // SAFETY: `tables` promises for `Codes` that every such index is inside.
    unsafe { *table.get_unchecked(index) }
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

/// Fills the buffer to at least 56 bits. Bits above `count` may already be those that follow; the same bits
/// are ORed in again.
///
/// # Safety
/// `src` has eight bytes at `b.at`.
#[inline(always)]
unsafe fn refill(b: &mut Bits, src: &[u8]) {
    debug_assert!(b.at + 8 <= src.len() && b.count < 64);
    // SAFETY: the caller guarantees eight bytes at `b.at`.
    let word = unsafe { src.as_ptr().add(b.at).cast::<u64>().read_unaligned() };
    b.buffer |= u64::from_le(word) << b.count;
    b.at += (63 - b.count as usize) / 8;
    b.count |= 56;
}

/// Copies `length` bytes from `distance` before `at`; source and destination may overlap.
///
/// # Safety
/// `distance` is from 1 to `at`, and `out` has `length + STEP` bytes at `at`.
#[inline(always)]
unsafe fn copy(out: &mut [u8], at: usize, distance: usize, length: usize) {
    debug_assert!(distance >= 1 && distance <= at && at + length + STEP <= out.len());
    // SAFETY: reads end before `at + length + STEP - distance`, writes before `at + length + STEP`; the two
    // sides of a step do not overlap, since its size is at most the distance.
    unsafe {
        let mut to = out.as_mut_ptr().add(at);
        let end = to.add(length);
        let mut from = to.sub(distance);
        if distance >= STEP {
            copy_steps(from, to, length);
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

/// Copies `length` bytes in steps of [`STEP`], up to a step too many.
///
/// # Safety
/// Both sides have `length + STEP` bytes, and `to` is at least a step after `from`, or in other memory.
#[inline(always)]
unsafe fn copy_steps(mut from: *const u8, mut to: *mut u8, length: usize) {
    // SAFETY: the caller guarantees the bytes; the two sides of a step do not overlap.
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

#[cfg(all(test, unix, not(miri), feature = "alloc"))]
mod tests {
    use super::*;
    use crate::tables::FIXED;
    use crate::window::Window;
    use linerate_testkit::sys::guarded::Guarded;

    /// Random codes between guard pages: no access outside, and the same result at both ends of the buffer.
    #[test]
    fn random_input_stays_within_its_buffers() {
        let mut seed = 1u64;
        let mut random = |end: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % end
        };
        let tiers: Vec<Tier> = Tier::ALL.into_iter().filter(|tier| tier.is_supported()).collect();
        let (mut input, mut output) = (Guarded::new(4096), Guarded::new(4096));
        let mut far = 0;
        for round in 0..3000 {
            let mut window = Window::new(15).unwrap();
            let before: Vec<u8> =
                (0..random(if round % 50 == 0 { 70_000 } else { 300 })).map(|i| i as u8).collect();
            window.push(&before).unwrap();
            let src: Vec<u8> = (0..random(300)).map(|_| random(256) as u8).collect();
            let (len, from) = (random(1500), random(20));
            let mut results = Vec::new();
            for (last, tier) in
                [true, false].into_iter().flat_map(|last| tiers.iter().map(move |&tier| (last, tier)))
            {
                let src = {
                    let to = if last { input.last(src.len()) } else { input.first(src.len()) };
                    to.copy_from_slice(&src);
                    &*to
                };
                let out = if last { output.last(len) } else { output.first(len) };
                out.fill(0);
                let (mut bits, mut at) = (Bits::default(), from.min(len));
                let symbols = Symbols { codes: FIXED, history: window.history(), max_distance: 1 << 15, src };
                let ended = decode(tier, &symbols, &mut bits, out, &mut at);
                assert!(at <= out.len() && bits.at <= src.len());
                results.push((ended, bits, out[..at].to_vec()));
            }
            assert!(results.iter().all(|result| *result == results[0]), "{round}");
            far += usize::from(results[0].2.len() > 200);
        }
        assert!(far > 100, "{far}");
    }
}

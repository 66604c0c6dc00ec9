//! Decodes literals and matches of a deflate block, far from the ends of input and output.
//!
//! Bounds are checked once per iteration. An iteration refills the bit buffer at most twice. It
//! writes at most three entries of literals, or two entries of literals, another literal and a
//! match. Near the ends, and for invalid codes, the loop stops before the symbol, and the checked
//! loop (`block_decoder.rs`) continues. Every call is safe: only `tables` makes `Codes`, and
//! guarantees that their indexes are inside; `Bits` are a position in `src`.

use core::ptr::copy_nonoverlapping;
use core::slice::from_raw_parts_mut;

use linerate_core::Tier;

use crate::bits::Bits;
use crate::block_decoder::Symbols;
use crate::codes::{
    self, DISTANCE_ROOT, Entry, LITLEN_ROOT, MAX_LEN, MAX_MATCH, SHORT_ROOT, bits, code_bits, is_end,
    is_literal, is_special, is_subtable, value,
};
use crate::unit::Unit;
use crate::window::History;

/// Number of bytes per step of a copy. A copy may write up to two steps past its end.
const STEP: usize = 16;
/// Maximum number of input bytes that an iteration reads.
const INPUT_SLACK: usize = 16;
/// Maximum number of output units that an iteration writes.
const OUTPUT_SLACK: usize = 5 + MAX_MATCH + 2 * STEP;

/// Decodes symbols from `position` in `symbols.src` to `out[*at..]`, as far as the slack allows.
/// Returns whether the block has ended.
pub(crate) fn decode<U: Unit>(
    tier: Tier,
    symbols: &Symbols<'_>,
    position: &mut Bits,
    out: &mut [U],
    at: &mut usize,
) -> bool {
    #[cfg(all(target_arch = "x86_64", feature = "std", not(feature = "small")))]
    if tier >= Tier::Avx2 {
        // SAFETY: the tier implies that the CPU has these features.
        return unsafe { avx2(symbols, position, out, at) };
    }
    // These are read only by the AVX2 form, which this build may lack.
    let _ = (tier, symbols.codes.has_pairs);
    if !cfg!(feature = "small") && symbols.codes.is_short() {
        decode_loop::<false, false, SHORT_ROOT, U>(symbols, position, out, at)
    } else {
        decode_loop::<false, true, LITLEN_ROOT, U>(symbols, position, out, at)
    }
}

/// The hot loop, compiled for BMI shifts and masks and for 16-byte copies.
#[cfg(all(target_arch = "x86_64", feature = "std", not(feature = "small")))]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn avx2<U: Unit>(symbols: &Symbols<'_>, position: &mut Bits, out: &mut [U], at: &mut usize) -> bool {
    match (symbols.codes.is_short(), symbols.codes.has_pairs) {
        (true, _) => decode_loop::<true, false, SHORT_ROOT, U>(symbols, position, out, at),
        (false, true) => decode_loop::<true, true, LITLEN_ROOT, U>(symbols, position, out, at),
        (false, false) => decode_loop::<true, false, LITLEN_ROOT, U>(symbols, position, out, at),
    }
}

/// A bit buffer over an input. Only the low eight bits of `count` are valid, because whole entries
/// are subtracted from it.
#[derive(Clone, Copy)]
struct Reader {
    buffer: u64,
    count: u32,
    /// The next byte to load.
    next: *const u8,
}

impl Reader {
    /// Consumes the code of an entry with its extra bits.
    #[inline(always)]
    fn consume(&mut self, entry: Entry) {
        // The low six bits of an entry are enough, because its low eight hold at most 28.
        self.buffer >>= entry & 63;
        self.count = self.count.wrapping_sub(entry);
    }

    /// Fills the buffer to at least 56 bits. Bits above `count` may already be loaded; then the
    /// same bits are ORed in again.
    ///
    /// # Safety
    /// Eight bytes must be readable at `self.next`.
    #[inline(always)]
    unsafe fn refill(&mut self) {
        // SAFETY: the caller guarantees eight bytes; `next` advances by at most seven.
        unsafe {
            let word = self.next.cast::<u64>().read_unaligned();
            self.buffer |= u64::from_le(word) << (self.count & 63);
            self.next = self.next.add(7).sub(self.count as usize >> 3 & 7);
        }
        self.count |= 56;
    }

    /// Returns the position in the input, in bits from its beginning. It is negative in bits that
    /// are left from an earlier input.
    fn position(&self, src: &[u8]) -> i64 {
        8 * (self.next.addr() as i64 - src.as_ptr().addr() as i64) - i64::from(self.count & 63)
    }
}

/// Returns the bits of the input from `position`, which must not be before the position of `start`.
#[inline(never)]
fn seek(start: Bits, position: i64, src: &[u8]) -> Bits {
    let mut bits = start;
    let mut skip = (position - (8 * start.at as i64 - i64::from(start.count))) as u64;
    if skip > start.count.into() {
        skip -= u64::from(start.count);
        bits = Bits { buffer: 0, count: 0, at: start.at + (skip / 8) as usize };
        skip %= 8;
        if skip > 0 {
            bits.refill(src);
        }
    }
    bits.buffer >>= skip;
    bits.count -= skip as u32;
    bits.unread_bytes();
    bits
}

#[inline(always)]
fn decode_loop<const BMI2: bool, const PAIRS: bool, const ROOT: u32, U: Unit>(
    symbols: &Symbols<'_>,
    position: &mut Bits,
    out: &mut [U],
    at: &mut usize,
) -> bool {
    let Symbols { codes, history, max_distance, src } = *symbols;
    let (Some(last_in), Some(last_out)) =
        (src.len().checked_sub(INPUT_SLACK), out.len().checked_sub(OUTPUT_SLACK))
    else {
        return false;
    };
    position.unread_bytes();
    if position.at > last_in || *at > last_out {
        return false;
    }
    let litlen = |buffer: u64| entry_at(codes.litlen(), index(buffer, ROOT));
    let start = out.as_mut_ptr();
    // SAFETY: `position.at`, `last_in`, `*at` and `last_out` are at most the lengths of their
    // slices, as just checked.
    let (next, last_in, mut to, last_out) = unsafe {
        let next = src.as_ptr().add(position.at);
        (next, src.as_ptr().add(last_in), start.add(*at), start.add(last_out))
    };
    let mut b = Reader { buffer: position.buffer, count: position.count, next };
    // SAFETY: sixteen bytes are readable at `next`, as just checked.
    unsafe { b.refill() };
    let mut entry = litlen(b.buffer);
    // At the beginning of an iteration the buffer has at least 56 bits, and `entry` is the entry of
    // the first code in it. At most two entries of literals, all in the primary table, precede an
    // entry with a length. Entries are looked up before a refill, which then runs while they are
    // loaded.
    const { assert!(2 * LITLEN_ROOT + MAX_LEN + 5 + DISTANCE_ROOT <= 56) };
    const { assert!(3 * LITLEN_ROOT + LITLEN_ROOT <= 56 && MAX_LEN + 13 + LITLEN_ROOT <= 56) };
    // The position in the input, whether the block has ended, and how many literals must be taken
    // back from the output.
    let (stop, ended, undone) = loop {
        if b.next > last_in || to > last_out {
            break (b.position(src), false, 0);
        }
        let mut before = b.buffer;
        b.consume(entry);
        if is_literal(entry) {
            // SAFETY: literals take at most six units, and `to <= last_out` leaves `OUTPUT_SLACK`;
            // this also covers the writes below.
            unsafe { put::<PAIRS, U>(&mut to, entry) };
            entry = litlen(b.buffer);
            before = b.buffer;
            b.consume(entry);
            if is_literal(entry) {
                // SAFETY: as above.
                unsafe { put::<PAIRS, U>(&mut to, entry) };
                entry = litlen(b.buffer);
                before = b.buffer;
                b.consume(entry);
                if is_literal(entry) {
                    entry = {
                        // SAFETY: as above.
                        unsafe { put::<PAIRS, U>(&mut to, entry) };
                        litlen(b.buffer)
                    };
                    // SAFETY: an iteration refills at most twice, and each refill reads eight bytes
                    // and advances by at most seven. At its beginning sixteen are readable (`b.next
                    // <= last_in`).
                    unsafe { b.refill() };
                    continue;
                }
            }
        }
        if is_special(entry) {
            if is_subtable(entry) {
                before = b.buffer;
                entry = in_subtable(codes.litlen(), entry, before);
                b.consume(entry);
                if is_literal(entry) {
                    // SAFETY: as above; this is at most the third entry, and the first refill.
                    unsafe {
                        put::<PAIRS, U>(&mut to, entry);
                        entry = litlen(b.buffer);
                        b.refill();
                    }
                    continue;
                }
            }
            if is_special(entry) {
                let ended = is_end(entry);
                // Invalid codes are in the primary table.
                break (b.position(src) - if ended { 0 } else { i64::from(bits(entry)) }, ended, 0);
            }
        }
        if PAIRS {
            // SAFETY: as above; this is at most the fifth unit. For an entry without a literal `to`
            // does not advance.
            unsafe {
                to.write(codes::literal(entry).into());
                to = to.add(codes::before(entry));
            }
        }
        let length = codes::length(entry, extra::<BMI2>(entry, before));
        let mut distance_entry = entry_at(codes.distances(), index(b.buffer, DISTANCE_ROOT));
        // SAFETY: as above, the first refill.
        unsafe { b.refill() };
        let mut inner = b.buffer;
        b.consume(distance_entry);
        if is_special(distance_entry) {
            if !is_subtable(distance_entry) {
                break (
                    b.position(src) - i64::from(codes.match_bits(entry, distance_entry)),
                    false,
                    codes::before(entry),
                );
            }
            inner = b.buffer;
            distance_entry = in_subtable(codes.distances(), distance_entry, inner);
            b.consume(distance_entry);
        }
        let distance = codes::distance(distance_entry, extra::<BMI2>(distance_entry, inner));
        // The next code is looked up before the copy, so that the lookup does not wait for the
        // copy.
        let next_entry = litlen(b.buffer);
        let done = (to.addr() - start.addr()) / size_of::<U>();
        if distance > max_distance.min(done) {
            if distance > max_distance.min(done + history.len()) {
                break (
                    b.position(src) - i64::from(codes.match_bits(entry, distance_entry)),
                    false,
                    codes::before(entry),
                );
            }
            // Nearly all matches of a short message are in the history, so this path has no call.
            match history.contiguous(distance - done, length.max(STEP), STEP) {
                // SAFETY: `piece` has `length + STEP` bytes and at least two steps, and so has the
                // output (`OUTPUT_SLACK`).
                Some(piece) if size_of::<U>() == 1 => unsafe {
                    copy_steps(piece.as_ptr(), to.cast(), length)
                },
                // SAFETY: `distance - done` is at most the history's length, and the output has
                // space for the longest match after `done`.
                _ => unsafe { copy_history(&history, start, done, distance, length) },
            }
        } else {
            // SAFETY: the distance is from 1 to `done`, and the output has space as above.
            unsafe { copy(to.cast(), distance * size_of::<U>(), length * size_of::<U>()) };
        }
        entry = next_entry;
        // SAFETY: as above; this is the second refill, and the match ends within the output.
        unsafe {
            b.refill();
            to = to.add(length);
        }
    };
    *at = (to.addr() - start.addr()) / size_of::<U>() - undone;
    *position = seek(*position, stop, src);
    ended
}

/// Writes the literals of an entry.
///
/// # Safety
/// Two units must be writable at `to`.
#[inline(always)]
unsafe fn put<const PAIRS: bool, U: Unit>(to: &mut *mut U, entry: Entry) {
    const { assert!(size_of::<U::Pair>() == 2 * size_of::<U>()) };
    // SAFETY: the caller guarantees the units.
    unsafe {
        if PAIRS {
            to.cast::<U::Pair>().write_unaligned(U::pair(value(entry) as u16));
            *to = to.add(1 + codes::before(entry));
        } else {
            to.write(codes::literal(entry).into());
            *to = to.add(1);
        }
    }
}

/// Returns an entry of a table.
#[inline(always)]
fn entry_at(table: &[Entry], index: usize) -> Entry {
    debug_assert!(index < table.len());
    // SAFETY: `tables` guarantees for `Codes` that every such index is inside.
    unsafe { *table.get_unchecked(index) }
}

#[inline(always)]
fn index(buffer: u64, bits: u32) -> usize {
    (buffer & ((1 << bits) - 1)) as usize
}

/// Returns the entry for `buffer` in the subtable that `entry` refers to.
#[inline(always)]
fn in_subtable(table: &[Entry], entry: Entry, buffer: u64) -> Entry {
    entry_at(table, value(entry) as usize + index(buffer, code_bits(entry)))
}

/// Like [`codes::extra`], for entries of bases. The result for other entries is meaningless.
#[inline(always)]
fn extra<const BMI2: bool>(entry: Entry, buffer: u64) -> usize {
    #[cfg(target_arch = "x86_64")]
    if BMI2 {
        // SAFETY: `BMI2` is set only for CPUs with this instruction, which uses the lowest eight
        // bits of an entry.
        let both = unsafe { core::arch::x86_64::_bzhi_u32(buffer as u32, entry) };
        return both.wrapping_shr(entry >> 8) as usize;
    }
    // There are at most 28 bits. The shift uses five bits, the highest of which is zero.
    ((buffer & ((1 << (entry & 63)) - 1)) as u32).wrapping_shr(entry >> 8) as usize
}

/// Copies `length` bytes from `distance` bytes before `to`, and may write up to two steps after
/// them. Source and destination may overlap.
///
/// # Safety
/// `distance` bytes, at least 1, must precede `to`, and `length + 2 * STEP` bytes must be writable
/// there.
#[inline(always)]
unsafe fn copy(to: *mut u8, distance: usize, length: usize) {
    debug_assert!(distance >= 1);
    // SAFETY: writes end before `length + STEP` or `3 * STEP`, and reads before them.
    unsafe {
        let from = to.sub(distance);
        if distance >= STEP {
            copy_steps(from, to, length);
            return;
        }
        // Multiplication makes the first step. Later steps copy from a multiple of the distance
        // back that is at least as long as a step.
        let first = if distance == 1 {
            REPEAT[1].wrapping_mul(u128::from(*from))
        } else {
            let bytes = u128::from_le(from.cast::<u128>().read_unaligned());
            REPEAT[distance].wrapping_mul(bytes & ((1 << (8 * distance)) - 1))
        };
        to.cast::<u128>().write_unaligned(first.to_le());
        if length > STEP {
            let period = usize::from(PERIOD[distance]);
            copy_steps(to.add(STEP).sub(period), to.add(STEP), length - STEP);
        }
    }
}

/// The smallest multiple of each distance that is at least as long as a step.
static PERIOD: [u8; STEP] = {
    let mut periods = [STEP as u8; STEP];
    let mut distance = 1;
    while distance < STEP {
        periods[distance] = (distance * STEP.div_ceil(distance)) as u8;
        distance += 1;
    }
    periods
};

/// Factors by which multiplication repeats the lowest `index` bytes of a word throughout it.
static REPEAT: [u128; STEP] = {
    let mut factors = [0; STEP];
    let mut distance = 1;
    while distance < STEP {
        let mut at = 0;
        while at < STEP {
            factors[distance] |= 1 << (8 * at);
            at += distance;
        }
        distance += 1;
    }
    factors
};

/// Copies a match that begins in the history, `distance` units before `at`, where
/// [`History::contiguous`] finds no piece of it with enough slack, or units differ from bytes.
///
/// # Safety
/// `start` must have `at + length` units, and `distance - at` must be from 1 to the length of the
/// history.
#[cold]
#[inline(never)]
unsafe fn copy_history<U: Unit>(
    history: &History<'_>,
    start: *mut U,
    at: usize,
    distance: usize,
    length: usize,
) {
    debug_assert!(distance > at && distance - at <= history.len());
    // SAFETY: the caller guarantees `at + length` units from `start`; nothing else refers to the
    // output during this call.
    let out = unsafe { from_raw_parts_mut(start, at + length) };
    let done = history.copy(distance - at, &mut out[at..at + length]);
    for i in at + done..at + length {
        out[i] = out[i - distance];
    }
}

/// Copies `length` bytes in steps of [`STEP`], at least two. It also copies the bytes from `length`
/// to the end of the last step.
///
/// # Safety
/// Both sides must have `length + STEP` bytes and at least two steps, and `to` must be at least a
/// step after `from`, or in other memory.
#[inline(always)]
unsafe fn copy_steps(mut from: *const u8, mut to: *mut u8, length: usize) {
    // SAFETY: the caller guarantees the bytes; the two sides of a step do not overlap.
    unsafe {
        let end = to.add(length);
        // Most matches end within two steps, which need no branch on the length.
        copy_nonoverlapping(from, to, STEP);
        copy_nonoverlapping(from.add(STEP), to.add(STEP), STEP);
        while to.add(2 * STEP) < end {
            (from, to) = (from.add(STEP), to.add(STEP));
            copy_nonoverlapping(from.add(STEP), to.add(STEP), STEP);
        }
    }
}

#[cfg(all(test, unix, not(miri), feature = "alloc"))]
mod tests {
    use core::ops::Range;

    use super::*;
    use crate::lengths::PackedLengths;
    use crate::pairs::MIN_INPUT;
    use crate::tables::{FIXED, Tables, next};
    use crate::window::Window;
    use linerate_testkit::sys::guarded::Guarded;

    /// Decodes random codes between guard pages. There is no access outside, and the result is the
    /// same at both ends of the buffer.
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
                // SAFETY: any bytes are valid units.
                let (_, units, _) = unsafe { out.align_to_mut::<u16>() };
                units.fill(0);
                let alone = Symbols { history: History::EMPTY, ..symbols };
                let (mut bits, mut at) = (Bits::default(), from.min(units.len()));
                decode(tier, &alone, &mut bits, units, &mut at);
                assert!(at <= units.len() && bits.at <= src.len());
            }
            assert!(results.iter().all(|result| *result == results[0]), "{round}");
            far += usize::from(results[0].2.len() > 200);
        }
        assert!(far > 100, "{far}");
    }

    /// Sets the lengths of unused `symbols`, beginning with the first, so that their code is
    /// complete.
    fn complete(lengths: &mut PackedLengths, symbols: Range<usize>) {
        let used = symbols.clone().map(|symbol| lengths.get(symbol)).filter(|&len| len > 0);
        let mut left = (1 << MAX_LEN) - used.map(|len| 1 << (MAX_LEN - len)).sum::<u32>();
        for symbol in symbols {
            if let Some(bit) = left.checked_ilog2() {
                lengths.set(symbol, MAX_LEN - bit);
                left -= 1 << bit;
            }
        }
    }

    /// Returns the bit-reversed code of a symbol among `symbols`, and its length.
    fn code_of(lengths: &PackedLengths, symbols: Range<usize>, symbol: usize) -> (u32, u32) {
        let mut order: Vec<_> = symbols.map(|at| (lengths.get(at), at)).filter(|code| code.0 > 0).collect();
        order.sort_unstable();
        let before = order.iter().take_while(|code| code.1 != symbol);
        (before.fold(0, |code, &(len, _)| next(code, len)), lengths.get(symbol))
    }

    /// Packs codes into bytes, followed by enough bytes for the loop to continue.
    fn packed(codes: impl IntoIterator<Item = (u32, u32)>) -> Vec<u8> {
        let (mut bytes, mut at) = (vec![0; 200], 0);
        for (code, len) in codes {
            (0..len).for_each(|bit| {
                bytes[(at + bit as usize) / 8] |= ((code >> bit & 1) as u8) << ((at + bit as usize) % 8)
            });
            at += len as usize;
        }
        bytes
    }

    /// The loop stops before a match that is too far away or has no distance code: at its length,
    /// or at the literal that shares an entry with the length. Length codes of more than 11 bits,
    /// or 9 in short blocks, and distance codes of more than 8 bits are in subtables.
    #[test]
    fn loop_stops_exactly_before_invalid_matches_for_any_code_lengths() {
        const BEFORE: usize = 20;
        const LONG: usize = b'b' as usize;
        const SHORT: usize = b'a' as usize;
        let lens = [(257, 3), (269, 4), (261, 10), (258, 11), (273, 11), (259, 12), (274, 12), (260, 15)];
        let far = [(29, 1), (28, 8), (27, 9), (26, 10), (25, 15)];
        let mut window = Window::new(15).unwrap();
        // The window is shorter than the distances of the invalid matches.
        window.push(&[0; 100]).unwrap();
        for (has_code, input) in [true, false].into_iter().flat_map(|has| [(has, MIN_INPUT), (has, 0)]) {
            let mut lengths = PackedLengths::new();
            (lengths.symbols, lengths.distances) = (286, if has_code { 30 } else { 1 });
            lengths.set(SHORT, 1);
            lengths.set(LONG, LITLEN_ROOT);
            lengths.set(256, 5);
            lens.iter().for_each(|&(symbol, len)| lengths.set(symbol, len));
            complete(&mut lengths, 0..286);
            if has_code {
                far.iter().for_each(|&(symbol, len)| lengths.set(286 + symbol, len));
                complete(&mut lengths, 286..316);
            } else {
                lengths.set(286, 1);
            }
            let mut tables = Tables::new();
            tables.restore(&lengths, input).unwrap();
            let is_short = input == 0;
            assert_eq!((tables.codes().has_pairs, tables.codes().is_short()), (!is_short, is_short));
            let litlen = |symbol| code_of(&lengths, 0..286, symbol);
            for (length, len) in lens {
                for (symbol, _) in &far[..if has_code { far.len() } else { 1 }] {
                    let distance = if has_code { code_of(&lengths, 286..316, 286 + symbol) } else { (1, 1) };
                    let literals = [litlen(LONG); BEFORE].into_iter().chain([litlen(SHORT)]);
                    let extra = (0, bits(codes::LITLEN[length]));
                    let src = packed(literals.chain([litlen(length), extra, distance]));
                    for tier in Tier::ALL.into_iter().filter(|tier| tier.is_supported()) {
                        let (mut position, mut out, mut at) = (Bits::default(), [0u8; 1000], 0);
                        let symbols = Symbols {
                            codes: tables.codes(),
                            history: window.history(),
                            max_distance: 1 << 15,
                            src: &src,
                        };
                        assert!(!decode(tier, &symbols, &mut position, &mut out, &mut at));
                        let what = format!("{tier:?}, length {length} and distance {symbol}");
                        let shares_entry = !is_short && len < LITLEN_ROOT;
                        assert_eq!(at, BEFORE + usize::from(!shares_entry), "{what}");
                        let read = BEFORE * LITLEN_ROOT as usize + (at - BEFORE);
                        assert_eq!(8 * position.at - position.count as usize, read, "{what}");
                    }
                }
            }
        }
    }
}

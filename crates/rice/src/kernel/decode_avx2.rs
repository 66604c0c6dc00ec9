//! Decodes up to eight or sixteen segments at once, one per 32-bit lane of AVX2 registers.
//!
//! As in [`super::decode_avx512`], each step decodes one sample of every segment without branching
//! on the code. Steps of two groups of eight are interleaved to overlap their latencies.

use core::arch::x86_64::*;
use core::array::from_fn;

use super::code::ESCAPE_BITS;
use super::decode_scalar::{Lane, Position};

/// Number of segments per register.
const GROUP: usize = 8;

/// Number of samples of each segment that are buffered before they are written.
const TILE: usize = 16;

/// Decodes as many whole tiles as the shortest lane has. There may be at most sixteen lanes, of
/// similar length. `None` if a code has more than eight zeros.
///
/// # Safety
/// The CPU must support the AVX2 tier.
pub(super) unsafe fn decode(lanes: &mut [Lane], k: u32, delta: bool) -> Option<()> {
    // SAFETY: as the caller vouches.
    unsafe {
        match (lanes.len() <= GROUP, delta) {
            (true, true) => run::<1, true>(lanes, k),
            (true, false) => run::<1, false>(lanes, k),
            (false, true) => run::<2, true>(lanes, k),
            (false, false) => run::<2, false>(lanes, k),
        }
    }
}

/// The state of eight segments.
#[derive(Clone, Copy)]
struct Streams {
    /// The next 32 bits.
    next: __m256i,
    /// The bits after `next`, left-justified, with zeros below.
    after: __m256i,
    /// Number of valid bits in `next` and `after` together: 32..=64.
    valid: __m256i,
    /// The word after the bits in `next` and `after`.
    word: __m256i,
    /// Index of `word`, counted from the first payload on.
    index: __m256i,
    /// The last sample decoded, in both halves of the lane.
    last: __m256i,
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run<const GROUPS: usize, const DELTA: bool>(lanes: &mut [Lane], k: u32) -> Option<()> {
    let base = lanes[0].readable.as_ptr();
    let last_word = _mm256_set1_epi32((lanes[0].readable.len() / 4) as i32 - 1);
    let samples = lanes.iter().map(|l| l.out.len()).min()?;
    // Lanes without a segment decode the first one again, to the same output.
    let lane = |g: usize, l: usize| Some(GROUP * g + l).filter(|&i| i < lanes.len()).unwrap_or(0);
    let start = |i: usize| ((lanes[i].offset - lanes[0].offset) / 4) as i32;
    let starts: [[i32; GROUP]; GROUPS] = from_fn(|g| from_fn(|l| start(lane(g, l))));
    let lane_of: [[usize; GROUP]; GROUPS] = from_fn(|g| from_fn(|l| lane(g, l)));
    let mut outs = [core::ptr::null_mut(); 2 * GROUP];
    outs.iter_mut().zip(&mut *lanes).for_each(|(out, lane)| *out = lane.out.as_mut_ptr());
    let outs = lane_of.map(|lanes| lanes.map(|i| outs[i]));
    // The index is clamped to the last word of the chunk. A valid payload uses no bit after its
    // end, so any readable word will do there.
    let gather = |index: __m256i| {
        let index = _mm256_min_epu32(index, last_word);
        // SAFETY: 0 <= index <= last_word, in words of `lanes[0].readable`.
        unsafe { _mm256_i32gather_epi32::<4>(base.cast(), index) }
    };
    let zero = _mm256_setzero_si256();
    let one = _mm256_set1_epi32(1);
    let mut groups = starts.map(|starts| {
        // SAFETY: eight 32-bit words.
        let index = unsafe { _mm256_loadu_si256(starts.as_ptr().cast()) };
        let second = _mm256_add_epi32(index, one);
        let third = _mm256_add_epi32(second, one);
        Streams {
            next: gather(index),
            after: gather(second),
            valid: _mm256_set1_epi32(64),
            word: gather(third),
            index: third,
            last: zero,
        }
    });

    let exponent_to_len = _mm256_set1_epi32(136 + k as i32);
    let exponent_to_high = _mm256_set1_epi32(134);
    let escape_more = _mm256_set1_epi32(ESCAPE_BITS as i32 - 9 - k as i32);
    let k_lanes = _mm_cvtsi32_si128(k as i32);
    let word_bits = _mm256_set1_epi32(32);
    let few = _mm256_set1_epi32(33);
    // The smallest value of the first nine bits of any code: 0 if one has more than eight zeros.
    let mut least = _mm256_set1_epi32(-1);
    let step = |s: &mut Streams, least: &mut __m256i| {
        // Converted to a float, the first nine bits have the exponent 135 minus the number of zeros
        // before the first 1 bit.
        let nine = _mm256_srli_epi32::<23>(s.next);
        let exponent = _mm256_srli_epi32::<23>(_mm256_castps_si256(_mm256_cvtepi32_ps(nine)));
        *least = _mm256_min_epu32(*least, nine);
        let escapes = _mm256_cmpeq_epi32(nine, one);
        let len = _mm256_sub_epi32(exponent_to_len, exponent);
        let len = _mm256_add_epi32(len, _mm256_and_si256(escapes, escape_more));
        let back = _mm256_sub_epi32(word_bits, len);
        // The shift leaves the code at the low end: its one, then k bits, or 16 for an escape. The
        // one is worth 2^k, so adding (q - 1) 2^k gives z. An escape is cut to its low 16 bits.
        let code = _mm256_srlv_epi32(s.next, back);
        let high = _mm256_sll_epi32(_mm256_sub_epi32(exponent_to_high, exponent), k_lanes);
        let z = _mm256_add_epi32(code, _mm256_andnot_si256(escapes, high));

        let next = _mm256_or_si256(_mm256_sllv_epi32(s.next, len), _mm256_srlv_epi32(s.after, back));
        let after = _mm256_sllv_epi32(s.after, len);
        let valid = _mm256_sub_epi32(s.valid, len);
        // Shifts by 32 or more and by negative counts give zero, so that `word` is added only where
        // at most 32 bits are left.
        let short = _mm256_sub_epi32(word_bits, valid);
        s.next = _mm256_or_si256(next, _mm256_srlv_epi32(s.word, valid));
        s.after = _mm256_or_si256(after, _mm256_sllv_epi32(s.word, short));
        let taken = _mm256_cmpgt_epi32(few, valid);
        s.valid = _mm256_add_epi32(valid, _mm256_and_si256(taken, word_bits));
        s.index = _mm256_sub_epi32(s.index, taken);
        // The word is needed only in the next step, so the latency of loading it is hidden.
        s.word = gather(s.index);
        z
    };
    let ones = _mm256_set1_epi16(1);
    let second_of_each = _mm256_setr_epi8(
        2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15, 2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14,
        15, 14, 15,
    );
    // Two samples per lane, the first in its low half.
    let two_steps = |s: &mut Streams, least: &mut __m256i| {
        let first = step(s, least);
        let second = _mm256_slli_epi32::<16>(step(s, least));
        let z = _mm256_blend_epi16::<0xaa>(first, second);
        let sign = _mm256_sub_epi16(zero, _mm256_and_si256(z, ones));
        let y = _mm256_xor_si256(_mm256_srli_epi16::<1>(z), sign);
        if !DELTA {
            return y;
        }
        let sums = _mm256_add_epi16(y, _mm256_slli_epi32::<16>(y));
        let x = _mm256_add_epi16(sums, s.last);
        s.last = _mm256_shuffle_epi8(x, second_of_each);
        x
    };

    let mut done = 0;
    while samples - done >= TILE {
        let mut tiles = [[zero; TILE / 2]; GROUPS];
        for i in 0..TILE / 2 {
            for (tile, s) in tiles.iter_mut().zip(&mut groups) {
                tile[i] = two_steps(s, &mut least);
            }
        }
        for (tile, outs) in tiles.into_iter().zip(outs) {
            for (row, out) in transpose(tile).into_iter().zip(outs) {
                // SAFETY: `samples` is at most the length of each `out`, and 16 of them remain.
                unsafe { _mm256_storeu_si256(out.add(done).cast(), row) };
            }
        }
        done += TILE;
    }
    if _mm256_movemask_epi8(_mm256_cmpeq_epi32(least, zero)) != 0 {
        return None;
    }
    for ((s, starts), lanes) in groups.iter().zip(starts).zip(lanes.chunks_mut(GROUP)) {
        let [index, valid, last] = [s.index, s.valid, s.last].map(|v| {
            let mut to = [0i32; GROUP];
            // SAFETY: eight 32-bit words.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), v) };
            to
        });
        for (l, lane) in lanes.iter_mut().enumerate() {
            // In a corrupt chunk this may be past the end of the chunk. The scalar decoder, which
            // continues from here, rejects that.
            let bit = (index[l] - starts[l]) as usize * 32 - valid[l] as usize;
            lane.at = Position { bit, sample: done, last: last[l] as i16 };
        }
    }
    Some(())
}

/// Transposes eight rows of eight 32-bit words.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose(r: [__m256i; 8]) -> [__m256i; 8] {
    let pairs = |a, b| (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let quads = |(a, b), (c, d)| {
        let (first, second) = (_mm256_unpacklo_epi64(a, c), _mm256_unpackhi_epi64(a, c));
        [first, second, _mm256_unpacklo_epi64(b, d), _mm256_unpackhi_epi64(b, d)]
    };
    // In both arrays, 128-bit half i of register j is column 4i + j of four rows.
    let upper = quads(pairs(r[0], r[1]), pairs(r[2], r[3]));
    let lower = quads(pairs(r[4], r[5]), pairs(r[6], r[7]));
    from_fn(|column| {
        let (a, b) = (upper[column % 4], lower[column % 4]);
        if column < 4 {
            _mm256_permute2x128_si256::<0x20>(a, b)
        } else {
            _mm256_permute2x128_si256::<0x31>(a, b)
        }
    })
}

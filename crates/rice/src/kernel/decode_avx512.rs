//! Decodes up to sixteen segments at once, one per 32-bit lane of AVX-512 registers.
//!
//! Each step decodes one sample of every segment without branching on the code, so long codes and
//! escapes cost no more than short ones.

use core::arch::x86_64::*;
use core::array::from_fn;

use super::code::{ESCAPE, ESCAPE_BITS};
use super::decode_scalar::{BATCH, Lane, Position};
use super::transpose_avx512::transpose;

/// Number of samples of each segment that are buffered before they are written. They fill a cache
/// line.
const TILE: usize = 32;

/// Decodes as many samples of each lane as the shortest lane has. There may be at most sixteen
/// lanes, of similar length. `None` if a code has more than eight zeros.
///
/// # Safety
/// The CPU must support the AVX-512 tier.
pub(super) unsafe fn decode(lanes: &mut [Lane], k: u32, delta: bool) -> Option<()> {
    // SAFETY: as the caller vouches.
    unsafe { if delta { run::<true>(lanes, k) } else { run::<false>(lanes, k) } }
}

/// The state of sixteen segments.
struct Streams {
    /// The word that holds the next bit, and the two words after it.
    words: [__m512i; 3],
    /// The next bit within its word: 0..=31.
    bit: __m512i,
    /// Index of the first of `words`, counted from the first payload on.
    index: __m512i,
    /// The last sample.
    last: __m512i,
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn run<const DELTA: bool>(lanes: &mut [Lane], k: u32) -> Option<()> {
    let base = lanes[0].readable.as_ptr();
    let last_word = _mm512_set1_epi32((lanes[0].readable.len() / 4) as i32 - 1);
    let samples = lanes.iter().map(|l| l.out.len()).min()?;
    // Lanes without a segment decode the first one again, to the same output.
    let lane_of: [usize; BATCH] = from_fn(|l| if l < lanes.len() { l } else { 0 });
    let starts = lane_of.map(|l| ((lanes[l].offset - lanes[0].offset) / 4) as i32);
    // The index is clamped to the last word of the chunk. A valid payload uses no bit after its
    // end, so any readable word will do there.
    let gather = |words: __m512i, mask: u16, index: __m512i| {
        let index = _mm512_min_epu32(index, last_word);
        // SAFETY: 0 <= index <= last_word, in words of `lanes[0].readable`.
        unsafe { _mm512_mask_i32gather_epi32::<4>(words, mask, index, base.cast()) }
    };
    let ones = _mm512_set1_epi32(1);
    let zero = _mm512_setzero_si512();
    // SAFETY: sixteen 32-bit words.
    let index = unsafe { _mm512_loadu_si512(starts.as_ptr().cast()) };
    let second = _mm512_add_epi32(index, ones);
    let words = [
        gather(zero, u16::MAX, index),
        gather(zero, u16::MAX, second),
        gather(zero, u16::MAX, _mm512_add_epi32(second, ones)),
    ];
    let mut s = Streams { words, bit: zero, index, last: zero };

    let escape = _mm512_set1_epi32(ESCAPE as i32);
    let escape_bits = _mm512_set1_epi32(ESCAPE_BITS as i32);
    let k_and_one = _mm512_set1_epi32(k as i32 + 1);
    let k_lanes = _mm_cvtsi32_si128(k as i32);
    let word_bits = _mm512_set1_epi32(32);
    let two = _mm512_set1_epi32(2);
    let mut bad = 0u16;
    let step = |s: &mut Streams, bad: &mut u16| {
        let window = _mm512_shldv_epi32(s.words[0], s.words[1], s.bit);
        let q = _mm512_lzcnt_epi32(window);
        let escapes = _mm512_cmpge_epu32_mask(q, escape);
        *bad |= _mm512_cmpgt_epu32_mask(q, escape);
        let len = _mm512_mask_mov_epi32(_mm512_add_epi32(q, k_and_one), escapes, escape_bits);
        // The shift leaves the code at the low end: its one, then k bits, or 16 for an escape. The
        // one is worth 2^k, so adding (q - 1) 2^k gives z. An escape is cut to its low 16 bits.
        let code = _mm512_srlv_epi32(window, _mm512_sub_epi32(word_bits, len));
        let high = _mm512_sll_epi32(_mm512_sub_epi32(q, ones), k_lanes);
        let z = _mm512_mask_add_epi32(code, !escapes, code, high);
        let sign = _mm512_sub_epi32(zero, _mm512_and_si512(z, ones));
        let half = _mm512_srli_epi32::<1>(_mm512_and_si512(z, _mm512_set1_epi32(0xffff)));
        let y = _mm512_xor_si512(half, sign);
        s.last = if DELTA { _mm512_add_epi32(s.last, y) } else { y };
        // A code is shorter than a word, so at most one word boundary is crossed.
        let bit = _mm512_add_epi32(s.bit, len);
        let crossed = _mm512_cmpge_epu32_mask(bit, word_bits);
        s.bit = _mm512_and_si512(bit, _mm512_set1_epi32(31));
        s.words[0] = _mm512_mask_mov_epi32(s.words[0], crossed, s.words[1]);
        s.words[1] = _mm512_mask_mov_epi32(s.words[1], crossed, s.words[2]);
        s.index = _mm512_mask_add_epi32(s.index, crossed, s.index, ones);
        // The word is needed only when the next boundary is crossed, so the latency of loading it
        // is hidden.
        s.words[2] = gather(s.words[2], crossed, _mm512_add_epi32(s.index, two));
        s.last
    };

    let mut out = [core::ptr::null_mut(); BATCH];
    out.iter_mut().zip(&mut *lanes).for_each(|(out, lane)| *out = lane.out.as_mut_ptr());
    let out = lane_of.map(|l| out[l]);
    let low_half = _mm512_set1_epi32(0xffff);
    let mut done = 0;
    while samples - done >= TILE {
        let mut tile = [zero; TILE / 2];
        for pair in &mut tile {
            let first = _mm512_and_si512(step(&mut s, &mut bad), low_half);
            let second = _mm512_slli_epi32::<16>(step(&mut s, &mut bad));
            *pair = _mm512_or_si512(first, second);
        }
        for (out, row) in out.iter().zip(transpose(tile)) {
            // SAFETY: `samples` is at most the length of each `out`, and 32 of them remain.
            unsafe { _mm512_storeu_si512(out.add(done).cast(), row) };
        }
        done += TILE;
    }
    while done < samples {
        let mut x = [0i32; BATCH];
        // SAFETY: sixteen 32-bit words.
        unsafe { _mm512_storeu_si512(x.as_mut_ptr().cast(), step(&mut s, &mut bad)) };
        // SAFETY: `done` is below the length of each `out`.
        out.iter().zip(x).for_each(|(out, x)| unsafe { *out.add(done) = x as i16 });
        done += 1;
    }
    if bad != 0 {
        return None;
    }
    let [index, bit, last] = [s.index, s.bit, s.last].map(|v| {
        let mut to = [0i32; BATCH];
        // SAFETY: sixteen 32-bit words.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), v) };
        to
    });
    for (l, lane) in lanes.iter_mut().enumerate() {
        // In a corrupt chunk this may be past the end of the chunk. The scalar decoder, which
        // continues from here, rejects that.
        let bit = (index[l] - starts[l]) as usize * 32 + bit[l] as usize;
        lane.at = Position { bit, sample: done, last: last[l] as i16 };
    }
    Some(())
}

//! Decodes blocks of 32-bit words of version 2 in AVX2 registers, 8 samples in each of four.

use core::arch::x86_64::*;

use super::blocks_scalar::{Blocks, PADDED, unpack as unpack_portably, with_padding};
use crate::v2::element::Word;
use crate::v2::{BLOCK, ESCAPE, blocks};

/// Largest number of bits that a shift by up to 7 leaves in a 32-bit lane.
const MAX_BITS: u32 = 25;

/// Shuffles that unpack 8 values of k bits: the lower four from one load of 16 bytes, the upper four from another, which
/// begins with the byte of the first of them. Each 32-bit lane takes the bytes that hold its value, then shifts it to its
/// low end.
struct Unpacking {
    bytes: [u8; 32],
    shift: [u32; 8],
}

static UNPACKING: [Unpacking; MAX_BITS as usize + 1] = {
    let mut all = [const { Unpacking { bytes: [0; 32], shift: [0; 8] } }; MAX_BITS as usize + 1];
    let mut k = 0;
    while k <= MAX_BITS as usize {
        let mut i = 0;
        while i < 8 {
            let bit = if i < 4 { i * k } else { (i - 4) * k + 4 * k % 8 };
            all[k].shift[i] = (bit % 8) as u32;
            let mut j = 0;
            while j < 4 {
                all[k].bytes[4 * i + j] = (bit / 8 + j) as u8;
                j += 1;
            }
            i += 1;
        }
        k += 1;
    }
    all
};

/// 32 samples, in order.
type Samples = [__m256i; 4];

/// Decodes as [`blocks_scalar`](super::blocks_scalar) does. Words must have 32 bits.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode<W: Word, const ORDER: u8>(job: Blocks<W>) -> Option<()> {
    assert!(W::BITS == 32);
    let Blocks { modes, fixed, escapes, positions, centre, step, out } = job;
    let mut escapes = escapes.as_chunks::<4>().0.iter();
    let (mut fixed, mut code) = (fixed, 0);
    let zero = _mm256_setzero_si256();
    let one_byte = _mm256_set1_epi8(1);
    let escape = _mm256_set1_epi8(ESCAPE as i8);
    let mut worst = zero;
    let mut sums = Sums { last: zero, slope: zero };
    let affine = Affine { centre: _mm256_set1_epi32(centre.get() as i32), step: step.get() as i32 };
    for (out, &mode) in out.chunks_mut(BLOCK).zip(modes) {
        let n = out.len();
        let k = u32::from(mode.saturating_sub(1));
        let bytes = blocks::fixed_bytes(mode, n);
        let mut z = if bytes == 0 { [zero; 4] } else { with_padding(fixed, bytes, |b| unpack(b, k)) };
        fixed = &fixed[bytes..];
        if blocks::has_unary::<W>(mode) {
            let positions: &[u8; BLOCK + 1] = positions.from(code).first_chunk()?;
            // SAFETY: 33 bytes, of which 32 are read from the first and from the second on.
            let (before, here) = unsafe {
                (
                    _mm256_loadu_si256(positions.as_ptr().cast()),
                    _mm256_loadu_si256(positions.as_ptr().add(1).cast()),
                )
            };
            let q = _mm256_sub_epi8(here, _mm256_add_epi8(before, one_byte));
            let q = if n == BLOCK { q } else { _mm256_and_si256(q, first_bytes(n)) };
            worst = _mm256_max_epu8(worst, q);
            let (low, high) = (_mm256_castsi256_si128(q), _mm256_extracti128_si256::<1>(q));
            let mut quotients = [
                _mm256_cvtepu8_epi32(low),
                _mm256_cvtepu8_epi32(_mm_bsrli_si128::<8>(low)),
                _mm256_cvtepu8_epi32(high),
                _mm256_cvtepu8_epi32(_mm_bsrli_si128::<8>(high)),
            ];
            let mut escaped = _mm256_movemask_epi8(_mm256_cmpeq_epi8(q, escape)) as u32;
            if escaped != 0 {
                let mut all = store(quotients);
                while escaped != 0 {
                    all[escaped.trailing_zeros() as usize] = u32::from_le_bytes(*escapes.next()?);
                    escaped &= escaped - 1;
                }
                quotients = load(&all);
            }
            let k = _mm_cvtsi32_si128(k as i32);
            z = [0, 1, 2, 3].map(|i| _mm256_or_si256(z[i], _mm256_sll_epi32(quotients[i], k)));
            code += n;
        }
        let residual = z.map(|z| {
            let sign = _mm256_sub_epi32(zero, _mm256_and_si256(z, _mm256_set1_epi32(1)));
            _mm256_xor_si256(_mm256_srli_epi32::<1>(z), sign)
        });
        let samples = match ORDER {
            0 => residual.map(|r| affine.of(r)),
            1 => residual.map(|r| affine.of(sums.first(r))),
            2 => residual.map(|r| affine.of(sums.second(r))),
            _ => residual,
        };
        let samples = store(samples);
        match out.first_chunk_mut::<BLOCK>() {
            Some(out) => *out = samples.map(|x| W::of(x.into())),
            None => out.iter_mut().zip(samples).for_each(|(out, x)| *out = W::of(x.into())),
        }
    }
    let above = _mm256_subs_epu8(worst, escape);
    (_mm256_testz_si256(above, above) == 1 && escapes.next().is_none()).then_some(())
}

/// A mask of the first `n` bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn first_bytes(n: usize) -> __m256i {
    let counting: [u8; 32] = core::array::from_fn(|i| i as u8);
    // SAFETY: 32 bytes.
    let counting = unsafe { _mm256_loadu_si256(counting.as_ptr().cast()) };
    _mm256_cmpgt_epi8(_mm256_set1_epi8(n as i8), counting)
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(samples: Samples) -> [u32; BLOCK] {
    let mut all = [0; BLOCK];
    for (to, from) in all.as_chunks_mut::<8>().0.iter_mut().zip(samples) {
        // SAFETY: 8 words of 32 bits.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), from) };
    }
    all
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(all: &[u32; BLOCK]) -> Samples {
    // SAFETY: four times 8 words of 32 bits.
    [0, 8, 16, 24].map(|i| unsafe { _mm256_loadu_si256(all.as_ptr().add(i).cast()) })
}

/// Unpacks 32 values of `k` bits.
#[target_feature(enable = "avx2")]
#[inline]
fn unpack(bytes: &[u8; PADDED], k: u32) -> Samples {
    const { assert!(PADDED >= 3 * MAX_BITS as usize + MAX_BITS as usize / 2 + 16) };
    if k > MAX_BITS {
        let mut all = [0u32; BLOCK];
        unpack_portably(bytes, k, &mut all);
        return load(&all);
    }
    let k = k as usize;
    let unpacking = &UNPACKING[k];
    // SAFETY: 32 bytes each.
    let (by_bytes, by_shift) = unsafe {
        (
            _mm256_loadu_si256(unpacking.bytes.as_ptr().cast()),
            _mm256_loadu_si256(unpacking.shift.as_ptr().cast()),
        )
    };
    let mask = _mm256_set1_epi32((1 << k) - 1);
    [0, 1, 2, 3].map(|i| {
        // SAFETY: k is at most MAX_BITS, so 16 bytes from 3 k + k / 2 on are within PADDED.
        let (low, high) = unsafe {
            let at = bytes.as_ptr().add(i * k);
            (_mm_loadu_si128(at.cast()), _mm_loadu_si128(at.add(k / 2).cast()))
        };
        let lanes = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), by_bytes);
        _mm256_and_si256(_mm256_srlv_epi32(lanes, by_shift), mask)
    })
}

/// The map from a segment's own scale to samples: `centre` + `step` x scaled.
struct Affine {
    centre: __m256i,
    step: i32,
}

impl Affine {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(&self, scaled: __m256i) -> __m256i {
        let scaled =
            if self.step == 1 { scaled } else { _mm256_mullo_epi32(scaled, _mm256_set1_epi32(self.step)) };
        _mm256_add_epi32(scaled, self.centre)
    }
}

/// Running sums, as 8 equal lanes.
struct Sums {
    last: __m256i,
    slope: __m256i,
}

impl Sums {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn first(&mut self, residual: __m256i) -> __m256i {
        let sum = _mm256_add_epi32(prefix_sum(residual), self.last);
        self.last = last_lane(sum);
        sum
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn second(&mut self, residual: __m256i) -> __m256i {
        let slopes = _mm256_add_epi32(prefix_sum(residual), self.slope);
        self.slope = last_lane(slopes);
        self.first(slopes)
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn last_lane(x: __m256i) -> __m256i {
    _mm256_permutevar8x32_epi32(x, _mm256_set1_epi32(7))
}

/// In each 32-bit lane the sum of the lanes up to it.
#[target_feature(enable = "avx2")]
#[inline]
fn prefix_sum(x: __m256i) -> __m256i {
    // Within each 128 bits.
    let x = _mm256_add_epi32(x, _mm256_bslli_epi128::<4>(x));
    let x = _mm256_add_epi32(x, _mm256_bslli_epi128::<8>(x));
    // Then the total of the lower 128 to the upper.
    let lower = _mm256_permute2x128_si256::<0x08>(x, x);
    _mm256_add_epi32(x, _mm256_shuffle_epi32::<0xff>(lower))
}

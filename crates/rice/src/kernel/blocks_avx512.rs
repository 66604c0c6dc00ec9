//! Decodes blocks of version 2 in AVX-512 registers, 32 samples in each.

use core::arch::x86_64::*;

use super::blocks_scalar::Blocks;
use crate::v2::element::Word;
use crate::v2::{BLOCK, ESCAPE, blocks};

/// How to unpack 32 values of k bits: each 64-bit lane takes the 8 bytes that hold four of them,
/// then each of its 16-bit lanes takes 16 bits that begin with its value.
struct Unpacking {
    bytes: [u8; 64],
    bits: [u8; 64],
}

static UNPACKING: [Unpacking; 17] = {
    let mut all = [const { Unpacking { bytes: [0; 64], bits: [0; 64] } }; 17];
    let mut k = 0;
    while k <= 16 {
        let mut i = 0;
        while i < 64 {
            let (group, within) = (i / 8, i % 8);
            let first = group * 4 * k / 8;
            all[k].bytes[i] = ((first + within) % 64) as u8;
            let bit = (4 * group + within / 2) * k - 8 * first;
            all[k].bits[i] = ((bit + 8 * (within % 2)) % 64) as u8;
            i += 1;
        }
        k += 1;
    }
    all
};

/// Decodes as [`blocks_scalar`](super::blocks_scalar) does. Words must have 16 bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn decode<W: Word, const ORDER: u8>(job: Blocks<W>) -> Option<()> {
    assert!(W::BITS == 16);
    let Blocks { modes, fixed, escapes, positions, centre, step, out } = job;
    let mut escapes = escapes.as_chunks::<2>().0.iter();
    let (mut fixed, mut code) = (fixed, 0);
    let zero = _mm512_setzero_si512();
    let one = _mm512_set1_epi16(1);
    let one_byte = _mm256_set1_epi8(1);
    let escape = _mm256_set1_epi8(ESCAPE as i8);
    let mut worst = _mm256_setzero_si256();
    let mut sums = Sums { last: zero, slope: zero };
    let affine = Affine { centre: _mm512_set1_epi16(centre.get() as i16), step: step.get() as i16 };
    for (out, &mode) in out.chunks_mut(BLOCK).zip(modes) {
        let lanes = u32::MAX >> (BLOCK - out.len());
        let k = u32::from(mode.saturating_sub(1));
        let (bytes, rest) = fixed.split_at(blocks::fixed_bytes(mode, out.len()));
        fixed = rest;
        // SAFETY: the mask limits the load to `bytes`, which has at most 64 bytes.
        let packed = unsafe {
            _mm512_maskz_loadu_epi8(_bzhi_u64(u64::MAX, bytes.len() as u32), bytes.as_ptr().cast())
        };
        let unpacking = &UNPACKING[k as usize];
        // SAFETY: 64 bytes each.
        let (by_bytes, by_bits) = unsafe {
            (
                _mm512_loadu_si512(unpacking.bytes.as_ptr().cast()),
                _mm512_loadu_si512(unpacking.bits.as_ptr().cast()),
            )
        };
        let apart = _mm512_multishift_epi64_epi8(by_bits, _mm512_permutexvar_epi8(by_bytes, packed));
        let low = _mm512_and_si512(apart, _mm512_set1_epi16(((1u32 << k) - 1) as i16));
        let mut z = low;
        if blocks::has_unary::<W>(mode) {
            let positions: &[u8; BLOCK + 1] = positions.from(code).first_chunk()?;
            // SAFETY: 33 bytes: 32 are read from the first on, and 32 from the second on.
            let (before, here) = unsafe {
                (
                    _mm256_loadu_si256(positions.as_ptr().cast()),
                    _mm256_loadu_si256(positions.as_ptr().add(1).cast()),
                )
            };
            let q = _mm256_maskz_sub_epi8(lanes, here, _mm256_add_epi8(before, one_byte));
            worst = _mm256_max_epu8(worst, q);
            let mut high = _mm512_cvtepu8_epi16(q);
            let mut escaped = _mm256_cmpeq_epi8_mask(q, escape);
            if escaped != 0 {
                let mut all = [0u16; BLOCK];
                // SAFETY: 64 bytes.
                unsafe { _mm512_storeu_si512(all.as_mut_ptr().cast(), high) };
                while escaped != 0 {
                    all[escaped.trailing_zeros() as usize] = u16::from_le_bytes(*escapes.next()?);
                    escaped &= escaped - 1;
                }
                // SAFETY: 64 bytes.
                high = unsafe { _mm512_loadu_si512(all.as_ptr().cast()) };
            }
            z = _mm512_or_si512(low, _mm512_sll_epi16(high, _mm_cvtsi32_si128(k as i32)));
            code += out.len();
        }
        let sign = _mm512_sub_epi16(zero, _mm512_and_si512(z, one));
        let residual = _mm512_xor_si512(_mm512_srli_epi16::<1>(z), sign);
        let samples = match ORDER {
            0 => affine.of(residual),
            1 => affine.of(sums.first(residual)),
            2 => affine.of(sums.second(residual)),
            _ => residual,
        };
        // SAFETY: the mask limits the store to `out`.
        unsafe { _mm512_mask_storeu_epi16(out.as_mut_ptr().cast(), lanes, samples) };
    }
    let above = _mm256_cmpgt_epu8_mask(worst, escape);
    (above == 0 && escapes.next().is_none()).then_some(())
}

/// Maps values in a segment's own scale to samples: `centre` + `step` * value.
struct Affine {
    centre: __m512i,
    step: i16,
}

impl Affine {
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn of(&self, scaled: __m512i) -> __m512i {
        let scaled =
            if self.step == 1 { scaled } else { _mm512_mullo_epi16(scaled, _mm512_set1_epi16(self.step)) };
        _mm512_add_epi16(scaled, self.centre)
    }
}

/// Running sums of a fixed predictor, each in all 32 lanes.
struct Sums {
    last: __m512i,
    slope: __m512i,
}

impl Sums {
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn first(&mut self, residual: __m512i) -> __m512i {
        let sum = _mm512_add_epi16(prefix_sum(residual), self.last);
        self.last = last_lane(sum);
        sum
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn second(&mut self, residual: __m512i) -> __m512i {
        let slopes = _mm512_add_epi16(prefix_sum(residual), self.slope);
        self.slope = last_lane(slopes);
        self.first(slopes)
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn last_lane(x: __m512i) -> __m512i {
    _mm512_permutexvar_epi16(_mm512_set1_epi16(31), x)
}

/// Sets each 16-bit lane to the sum of the lanes up to it.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn prefix_sum(x: __m512i) -> __m512i {
    // Sums within each 128 bits.
    let x = _mm512_add_epi16(x, _mm512_bslli_epi128::<2>(x));
    let x = _mm512_add_epi16(x, _mm512_bslli_epi128::<4>(x));
    let x = _mm512_add_epi16(x, _mm512_bslli_epi128::<8>(x));
    // Adds to each group of 128 bits the totals of the groups before it: one, two or three.
    let total = |from: [i16; 4]| {
        let [a, b, c, d] = from.map(|lane| i64::from(lane) * 0x0001_0001_0001_0001);
        _mm512_setr_epi64(a, a, b, b, c, c, d, d)
    };
    let one = _mm512_maskz_permutexvar_epi16(0xffff_ff00, total([0, 7, 15, 23]), x);
    let two = _mm512_maskz_permutexvar_epi16(0xffff_0000, total([0, 0, 7, 15]), x);
    let three = _mm512_maskz_permutexvar_epi16(0xff00_0000, total([0, 0, 0, 7]), x);
    _mm512_add_epi16(_mm512_add_epi16(x, one), _mm512_add_epi16(two, three))
}

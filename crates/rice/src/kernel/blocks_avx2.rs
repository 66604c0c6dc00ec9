//! Decodes blocks of version 2 in AVX2 registers, 16 samples in each of two.

use core::arch::x86_64::*;

use super::blocks_scalar::{Blocks, with_padding};
use crate::v2::element::Word;
use crate::v2::{BLOCK, ESCAPE, blocks};

/// Shuffles that unpack 8 values of k bits from k bytes: each 32-bit lane takes the bytes that hold its
/// value, then shifts it to its low end.
struct Unpacking {
    bytes: [u8; 32],
    shift: [u32; 8],
}

static UNPACKING: [Unpacking; 17] = {
    let mut all = [const { Unpacking { bytes: [0x80; 32], shift: [0; 8] } }; 17];
    let mut k = 0;
    while k <= 16 {
        let mut i = 0;
        while i < 8 {
            all[k].shift[i] = (i * k % 8) as u32;
            let mut j = 0;
            while j < 4 {
                // Bytes from the k-th on belong to other values; index 0x80 gives a zero.
                let byte = i * k / 8 + j;
                if byte < 16 {
                    all[k].bytes[4 * i + j] = byte as u8;
                }
                j += 1;
            }
            i += 1;
        }
        k += 1;
    }
    all
};

/// 32 samples, in order.
type Samples = [__m256i; 2];

/// Decodes as [`blocks_scalar`](super::blocks_scalar) does. Words must have 16 bits.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode<W: Word, const ORDER: u8>(job: Blocks<W>) -> Option<()> {
    assert!(W::BITS == 16);
    let Blocks { modes, fixed, escapes, positions, centre, step, out } = job;
    let mut escapes = escapes.as_chunks::<2>().0.iter();
    let (mut fixed, mut code) = (fixed, 0);
    let zero = _mm256_setzero_si256();
    let one_byte = _mm256_set1_epi8(1);
    let escape = _mm256_set1_epi8(ESCAPE as i8);
    let mut worst = zero;
    let mut sums = Sums { last: zero, slope: zero };
    let affine = Affine { centre: _mm256_set1_epi16(centre.get() as i16), step: step.get() as i16 };
    for (out, &mode) in out.chunks_mut(BLOCK).zip(modes) {
        let n = out.len();
        let k = u32::from(mode.saturating_sub(1));
        let bytes = blocks::fixed_bytes(mode, n);
        let mut z = if bytes == 0 { [zero; 2] } else { with_padding(fixed, bytes, |b| unpack(b, k)) };
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
            let mut high = [
                _mm256_cvtepu8_epi16(_mm256_castsi256_si128(q)),
                _mm256_cvtepu8_epi16(_mm256_extracti128_si256::<1>(q)),
            ];
            let mut escaped = _mm256_movemask_epi8(_mm256_cmpeq_epi8(q, escape)) as u32;
            if escaped != 0 {
                let mut all = store(high);
                while escaped != 0 {
                    all[escaped.trailing_zeros() as usize] = u16::from_le_bytes(*escapes.next()?);
                    escaped &= escaped - 1;
                }
                high = load(&all);
            }
            let k = _mm_cvtsi32_si128(k as i32);
            z = [0, 1].map(|i| _mm256_or_si256(z[i], _mm256_sll_epi16(high[i], k)));
            code += n;
        }
        let residual = z.map(|z| {
            let sign = _mm256_sub_epi16(zero, _mm256_and_si256(z, _mm256_set1_epi16(1)));
            _mm256_xor_si256(_mm256_srli_epi16::<1>(z), sign)
        });
        let samples = match ORDER {
            0 => residual.map(|r| affine.of(r)),
            1 => residual.map(|r| affine.of(sums.first(r))),
            2 => residual.map(|r| affine.of(sums.second(r))),
            _ => residual,
        };
        match out.first_chunk_mut::<BLOCK>() {
            // SAFETY: 32 words of 16 bits.
            Some(out) => unsafe {
                _mm256_storeu_si256(out.as_mut_ptr().cast(), samples[0]);
                _mm256_storeu_si256(out.as_mut_ptr().cast::<__m256i>().add(1), samples[1]);
            },
            None => out.iter_mut().zip(store(samples)).for_each(|(out, x)| *out = W::of(x.into())),
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
fn store(samples: Samples) -> [u16; BLOCK] {
    let mut all = [0; BLOCK];
    // SAFETY: twice 16 words of 16 bits.
    unsafe {
        _mm256_storeu_si256(all.as_mut_ptr().cast(), samples[0]);
        _mm256_storeu_si256(all.as_mut_ptr().add(16).cast(), samples[1]);
    }
    all
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(all: &[u16; BLOCK]) -> Samples {
    // SAFETY: twice 16 words of 16 bits.
    unsafe { [_mm256_loadu_si256(all.as_ptr().cast()), _mm256_loadu_si256(all.as_ptr().add(16).cast())] }
}

/// Unpacks 32 values of `k` bits.
#[target_feature(enable = "avx2")]
#[inline]
fn unpack<const N: usize>(bytes: &[u8; N], k: u32) -> Samples {
    const { assert!(N >= 3 * 16 + 16) };
    let unpacking = &UNPACKING[k as usize];
    // SAFETY: 32 bytes each.
    let (by_bytes, by_shift) = unsafe {
        (
            _mm256_loadu_si256(unpacking.bytes.as_ptr().cast()),
            _mm256_loadu_si256(unpacking.shift.as_ptr().cast()),
        )
    };
    let mask = _mm256_set1_epi32((1 << k) - 1);
    let eight = |i: usize| {
        // SAFETY: k is at most 16, so 16 bytes from 3 k on are within N.
        let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().add(i * k as usize).cast()) };
        let lanes = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), by_bytes);
        _mm256_and_si256(_mm256_srlv_epi32(lanes, by_shift), mask)
    };
    // Packing works within 128 bits: quarters come out as 0 2 1 3.
    [0, 2].map(|i| _mm256_permute4x64_epi64::<0xd8>(_mm256_packus_epi32(eight(i), eight(i + 1))))
}

/// The map from a segment's own scale to samples: `centre` + `step` x scaled.
struct Affine {
    centre: __m256i,
    step: i16,
}

impl Affine {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(&self, scaled: __m256i) -> __m256i {
        let scaled =
            if self.step == 1 { scaled } else { _mm256_mullo_epi16(scaled, _mm256_set1_epi16(self.step)) };
        _mm256_add_epi16(scaled, self.centre)
    }
}

/// Running sums, as 16 equal lanes.
struct Sums {
    last: __m256i,
    slope: __m256i,
}

impl Sums {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn first(&mut self, residual: __m256i) -> __m256i {
        let sum = _mm256_add_epi16(prefix_sum(residual), self.last);
        self.last = last_lane(sum);
        sum
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn second(&mut self, residual: __m256i) -> __m256i {
        let slopes = _mm256_add_epi16(prefix_sum(residual), self.slope);
        self.slope = last_lane(slopes);
        self.first(slopes)
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn last_lane(x: __m256i) -> __m256i {
    let last = _mm256_permute4x64_epi64::<0xff>(x);
    _mm256_shuffle_epi8(last, _mm256_set1_epi16(0x0f0e))
}

/// In each 16-bit lane the sum of the lanes up to it.
#[target_feature(enable = "avx2")]
#[inline]
fn prefix_sum(x: __m256i) -> __m256i {
    // Within each 128 bits.
    let x = _mm256_add_epi16(x, _mm256_bslli_epi128::<2>(x));
    let x = _mm256_add_epi16(x, _mm256_bslli_epi128::<4>(x));
    let x = _mm256_add_epi16(x, _mm256_bslli_epi128::<8>(x));
    // Then the total of the lower 128 to the upper.
    let lower = _mm256_permute2x128_si256::<0x08>(x, x);
    _mm256_add_epi16(x, _mm256_shuffle_epi8(lower, _mm256_set1_epi16(0x0f0e)))
}

//! Decodes blocks of version 2 in AVX2 registers. One body serves both sizes: a block is two
//! registers of sixteen 16-bit samples, or four registers of eight 32-bit samples.

use core::arch::x86_64::*;

use super::blocks_scalar::{Blocks, PADDED, padded, unpack as unpack_portably};
use super::linear_simd::lanes;
use crate::v2::element::Word;
use crate::v2::segment::load as load_word;
use crate::v2::{BLOCK, ESCAPE, blocks};

/// Decodes as [`blocks_scalar`](super::blocks_scalar) does.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode<W: Word, const ORDER: u8>(job: Blocks<W>) -> Option<()> {
    // SAFETY: this function has the features, and registers of these numbers hold a block of such
    // words.
    unsafe {
        match W::BITS {
            16 => run::<W, Narrow, 2, ORDER>(job),
            _ => run::<W, Wide, 4, ORDER>(job),
        }
    }
}

/// Operations on a block of samples that lies in order in N registers, one word per lane. All are
/// unsafe because the CPU must support AVX2.
#[allow(clippy::missing_safety_doc)]
trait Lanes<const N: usize> {
    /// Unpacks values of `k` bits.
    unsafe fn unpack(bytes: &[u8; PADDED], k: u32) -> [__m256i; N];
    /// Extends each byte to a lane.
    unsafe fn widen(bytes: __m256i) -> [__m256i; N];
    /// Sets each lane to the low bits of `x`.
    unsafe fn splat(x: u64) -> __m256i;
    unsafe fn add(a: __m256i, b: __m256i) -> __m256i;
    unsafe fn sub(a: __m256i, b: __m256i) -> __m256i;
    unsafe fn mul(a: __m256i, b: __m256i) -> __m256i;
    unsafe fn shift_left(a: __m256i, by: __m128i) -> __m256i;
    /// Halves unsigned lanes, rounding down.
    unsafe fn half(a: __m256i) -> __m256i;
    /// Sets each lane to the sum of the lanes up to it.
    unsafe fn prefix_sum(a: __m256i) -> __m256i;
    /// Sets all lanes to the last lane of `a`.
    unsafe fn last(a: __m256i) -> __m256i;
}

/// # Safety
/// The CPU must have the features of [`decode`], and N registers must hold a block of words.
#[inline(always)]
unsafe fn run<W: Word, L: Lanes<N>, const N: usize, const ORDER: u8>(job: Blocks<W>) -> Option<()> {
    assert!(N * size_of::<__m256i>() == BLOCK * W::BYTES);
    let Blocks { modes, fixed, escapes, positions, centre, step, out } = job;
    let mut escapes = escapes.chunks_exact(W::BYTES);
    let (mut fixed, mut code) = (fixed, 0);
    let mut buffer = [0; PADDED];
    // SAFETY: the caller vouches for the CPU; comments below justify the pointers.
    unsafe {
        let zero = _mm256_setzero_si256();
        let (one, one_byte) = (L::splat(1), _mm256_set1_epi8(1));
        let escape = _mm256_set1_epi8(ESCAPE as i8);
        let (centre, scale) = (L::splat(centre.get()), L::splat(step.get()));
        let is_scaled = step != W::of(1);
        let (mut worst, mut last, mut slope) = (zero, zero, zero);
        for (out, &mode) in out.chunks_mut(BLOCK).zip(modes) {
            let n = out.len();
            let k = u32::from(mode.saturating_sub(1));
            let bytes = blocks::fixed_bytes(mode, n);
            let mut z = [zero; N];
            if bytes > 0 {
                z = L::unpack(padded(fixed, bytes, &mut buffer), k);
                fixed = &fixed[bytes..];
            }
            if blocks::has_unary::<W>(mode) {
                // These are 33 bytes. 32 are read beginning with the first, and 32 beginning with
                // the second.
                let positions: &[u8; BLOCK + 1] = positions.from(code).first_chunk()?;
                let before = _mm256_loadu_si256(positions.as_ptr().cast());
                let here = _mm256_loadu_si256(positions.as_ptr().add(1).cast());
                let mut q = _mm256_sub_epi8(here, _mm256_add_epi8(before, one_byte));
                if n < BLOCK {
                    q = _mm256_and_si256(q, first_bytes(n));
                }
                worst = _mm256_max_epu8(worst, q);
                let mut quotients = L::widen(q);
                let mut escaped = _mm256_movemask_epi8(_mm256_cmpeq_epi8(q, escape)) as u32;
                if escaped != 0 {
                    let mut all = [W::default(); BLOCK];
                    store(quotients, &mut all);
                    while escaped != 0 {
                        all[escaped.trailing_zeros() as usize] = load_word(escapes.next()?);
                        escaped &= escaped - 1;
                    }
                    quotients = load(&all);
                }
                let k = _mm_cvtsi32_si128(k as i32);
                for (z, q) in z.iter_mut().zip(quotients) {
                    *z = _mm256_or_si256(*z, L::shift_left(q, k));
                }
                code += n;
            }
            for x in &mut z {
                let sign = L::sub(zero, _mm256_and_si256(*x, one));
                *x = _mm256_xor_si256(L::half(*x), sign);
                if ORDER == 2 {
                    *x = L::add(L::prefix_sum(*x), slope);
                    slope = L::last(*x);
                }
                if ORDER == 1 || ORDER == 2 {
                    *x = L::add(L::prefix_sum(*x), last);
                    last = L::last(*x);
                }
                if ORDER <= 2 {
                    // Most segments have a step of 1, and products take longer than the branch.
                    *x = L::add(if is_scaled { L::mul(*x, scale) } else { *x }, centre);
                }
            }
            match out.first_chunk_mut() {
                Some(out) => store(z, out),
                None => {
                    let mut all = [W::default(); BLOCK];
                    store(z, &mut all);
                    out.copy_from_slice(&all[..n]);
                }
            }
        }
        let above = _mm256_subs_epu8(worst, escape);
        (_mm256_testz_si256(above, above) == 1 && escapes.next().is_none()).then_some(())
    }
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

/// # Safety
/// The CPU must support AVX2, and N registers must hold as many words.
#[inline(always)]
unsafe fn store<W: Word, const N: usize>(registers: [__m256i; N], words: &mut [W; BLOCK]) {
    let to = words.as_mut_ptr().cast::<__m256i>();
    for (i, x) in registers.into_iter().enumerate() {
        // SAFETY: the caller vouches for it.
        unsafe { _mm256_storeu_si256(to.add(i), x) };
    }
}

/// # Safety
/// See [`store`].
#[inline(always)]
unsafe fn load<W: Word, const N: usize>(words: &[W; BLOCK]) -> [__m256i; N] {
    // SAFETY: the caller vouches for it.
    unsafe {
        let mut registers = [_mm256_setzero_si256(); N];
        for (i, to) in registers.iter_mut().enumerate() {
            *to = _mm256_loadu_si256(words.as_ptr().cast::<__m256i>().add(i));
        }
        registers
    }
}

/// How to unpack 8 values of k bits: each 32-bit lane takes the bytes that hold its value, then
/// shifts the value to the low end.
struct Unpacking {
    bytes: [u8; 32],
    shift: [u32; 8],
}

/// Largest value size in bits: a value still fits in a 32-bit lane after up to 7 bits before it.
const MAX_BITS: u32 = 25;

/// Shuffles for values of up to 16 bits. All eight are in one load of 16 bytes, which both halves
/// of the register hold.
static FROM_ONE_LOAD: [Unpacking; 17] = unpackings(false);

/// Shuffles for values of up to [`MAX_BITS`] bits. The first four are in one load of 16 bytes, the
/// other four in another, which begins with the byte of the fifth value.
static FROM_TWO_LOADS: [Unpacking; MAX_BITS as usize + 1] = unpackings(true);

const fn unpackings<const COUNT: usize>(two_loads: bool) -> [Unpacking; COUNT] {
    let mut all = [const { Unpacking { bytes: [0; 32], shift: [0; 8] } }; COUNT];
    let mut k = 0;
    while k < COUNT {
        let mut i = 0;
        while i < 8 {
            let bit = if two_loads && i >= 4 { (i - 4) * k + 4 * k % 8 } else { i * k };
            all[k].shift[i] = (bit % 8) as u32;
            let mut j = 0;
            while j < 4 {
                // Bytes beyond the 16 of a load belong to no value of the lane. The shuffle takes
                // other bytes instead, and the mask removes them.
                all[k].bytes[4 * i + j] = ((bit / 8 + j) % 16) as u8;
                j += 1;
            }
            i += 1;
        }
        k += 1;
    }
    all
}

/// Unpacks eight values of `k` bits, from value 8 `i` on. `k` is at most 16.
#[target_feature(enable = "avx2")]
#[inline]
fn unpack_eight_narrow(bytes: &[u8; PADDED], i: usize, k: usize) -> __m256i {
    const { assert!(PADDED >= 3 * 16 + 16) };
    // SAFETY: i is at most 3, so 16 bytes from i k on are within PADDED.
    let packed = unsafe { _mm_loadu_si128(bytes.as_ptr().add(i * k).cast()) };
    shuffle(_mm256_broadcastsi128_si256(packed), &FROM_ONE_LOAD[k], k)
}

/// Unpacks eight values of `k` bits, from value 8 `i` on. `k` is at most [`MAX_BITS`].
#[target_feature(enable = "avx2")]
#[inline]
fn unpack_eight(bytes: &[u8; PADDED], i: usize, k: usize) -> __m256i {
    const { assert!(PADDED >= 3 * MAX_BITS as usize + MAX_BITS as usize / 2 + 16) };
    // SAFETY: i is at most 3, so 16 bytes from i k + k / 2 on are within PADDED.
    let (low, high) = unsafe {
        let at = bytes.as_ptr().add(i * k);
        (_mm_loadu_si128(at.cast()), _mm_loadu_si128(at.add(k / 2).cast()))
    };
    shuffle(_mm256_set_m128i(high, low), &FROM_TWO_LOADS[k], k)
}

#[target_feature(enable = "avx2")]
#[inline]
fn shuffle(packed: __m256i, unpacking: &Unpacking, k: usize) -> __m256i {
    // SAFETY: 32 bytes each.
    let (by_bytes, by_shift) = unsafe {
        (
            _mm256_loadu_si256(unpacking.bytes.as_ptr().cast()),
            _mm256_loadu_si256(unpacking.shift.as_ptr().cast()),
        )
    };
    let lanes = _mm256_shuffle_epi8(packed, by_bytes);
    _mm256_and_si256(_mm256_srlv_epi32(lanes, by_shift), _mm256_set1_epi32((1 << k) - 1))
}

/// Lanes of 16 bits.
struct Narrow;

impl Lanes<2> for Narrow {
    lanes! {
        unpack(bytes: &[u8; PADDED], k: u32) -> [__m256i; 2] {{
            let k = k as usize;
            let (a, b) = (unpack_eight_narrow(bytes, 0, k), unpack_eight_narrow(bytes, 1, k));
            let (c, d) = (unpack_eight_narrow(bytes, 2, k), unpack_eight_narrow(bytes, 3, k));
            // Packing works within 128 bits, so the quarters come out in the order 0 2 1 3.
            [
                _mm256_permute4x64_epi64::<0xd8>(_mm256_packus_epi32(a, b)),
                _mm256_permute4x64_epi64::<0xd8>(_mm256_packus_epi32(c, d)),
            ]
        }}
        widen(bytes: __m256i) -> [__m256i; 2] {
            [
                _mm256_cvtepu8_epi16(_mm256_castsi256_si128(bytes)),
                _mm256_cvtepu8_epi16(_mm256_extracti128_si256::<1>(bytes)),
            ]
        }
        splat(x: u64) -> __m256i { _mm256_set1_epi16(x as i16) }
        add(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi16(a, b) }
        sub(a: __m256i, b: __m256i) -> __m256i { _mm256_sub_epi16(a, b) }
        mul(a: __m256i, b: __m256i) -> __m256i { _mm256_mullo_epi16(a, b) }
        shift_left(a: __m256i, by: __m128i) -> __m256i { _mm256_sll_epi16(a, by) }
        half(a: __m256i) -> __m256i { _mm256_srli_epi16::<1>(a) }
        prefix_sum(a: __m256i) -> __m256i {{
            // Sums within each 128 bits, then adds the total of the lower 128 to the upper.
            let a = _mm256_add_epi16(a, _mm256_bslli_epi128::<2>(a));
            let a = _mm256_add_epi16(a, _mm256_bslli_epi128::<4>(a));
            let a = _mm256_add_epi16(a, _mm256_bslli_epi128::<8>(a));
            let lower = _mm256_permute2x128_si256::<0x08>(a, a);
            _mm256_add_epi16(a, _mm256_shuffle_epi8(lower, _mm256_set1_epi16(0x0f0e)))
        }}
        last(a: __m256i) -> __m256i {
            _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0xff>(a), _mm256_set1_epi16(0x0f0e))
        }
    }
}

/// Lanes of 32 bits.
struct Wide;

impl Lanes<4> for Wide {
    lanes! {
        unpack(bytes: &[u8; PADDED], k: u32) -> [__m256i; 4] {{
            if k > MAX_BITS {
                let mut all = [0u32; BLOCK];
                unpack_portably(bytes, k, &mut all);
                return load(&all);
            }
            let k = k as usize;
            [
                unpack_eight(bytes, 0, k),
                unpack_eight(bytes, 1, k),
                unpack_eight(bytes, 2, k),
                unpack_eight(bytes, 3, k),
            ]
        }}
        widen(bytes: __m256i) -> [__m256i; 4] {{
            let (low, high) = (_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes));
            [
                _mm256_cvtepu8_epi32(low),
                _mm256_cvtepu8_epi32(_mm_bsrli_si128::<8>(low)),
                _mm256_cvtepu8_epi32(high),
                _mm256_cvtepu8_epi32(_mm_bsrli_si128::<8>(high)),
            ]
        }}
        splat(x: u64) -> __m256i { _mm256_set1_epi32(x as i32) }
        add(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi32(a, b) }
        sub(a: __m256i, b: __m256i) -> __m256i { _mm256_sub_epi32(a, b) }
        mul(a: __m256i, b: __m256i) -> __m256i { _mm256_mullo_epi32(a, b) }
        shift_left(a: __m256i, by: __m128i) -> __m256i { _mm256_sll_epi32(a, by) }
        half(a: __m256i) -> __m256i { _mm256_srli_epi32::<1>(a) }
        prefix_sum(a: __m256i) -> __m256i {{
            // Sums within each 128 bits, then adds the total of the lower 128 to the upper.
            let a = _mm256_add_epi32(a, _mm256_bslli_epi128::<4>(a));
            let a = _mm256_add_epi32(a, _mm256_bslli_epi128::<8>(a));
            let lower = _mm256_permute2x128_si256::<0x08>(a, a);
            _mm256_add_epi32(a, _mm256_shuffle_epi32::<0xff>(lower))
        }}
        last(a: __m256i) -> __m256i { _mm256_permutevar8x32_epi32(a, _mm256_set1_epi32(7)) }
    }
}

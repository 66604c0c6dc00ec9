//! The AVX2 forms of [`join`](super::join) for BC3 and BC5: 8 blocks at a time.
//!
//! Fields of 2, 4 and 6 bytes are loaded 16 or 32 bytes at a time and shuffled into place. Loops
//! end before a load could cross the end of a stream. The caller joins the remaining blocks.

use core::arch::x86_64::*;

use super::join::{Alpha, Color, Pair};

/// Number of blocks that are joined at a time.
const STEP: usize = 8;

/// Joins blocks of BC5, starting with the first, and returns how many it has joined.
#[target_feature(enable = "avx2")]
pub(super) fn join_pair(pair: &Pair, blocks: &mut [[u8; 16]]) -> usize {
    // In a block, 6 bytes of indices follow the endpoints of each channel.
    let indices_to =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(-1, -1, 0, 1, 2, 3, 4, 5, -1, -1, 6, 7, 8, 9, 10, 11));
    // Shuffles endpoints of four blocks, 4 bytes each: those of an even block go to the low half,
    // those of the next block to the high half.
    let n = -1;
    let even = _mm256_setr_epi8(
        0, 1, n, n, n, n, n, n, 2, 3, n, n, n, n, n, n, 4, 5, n, n, n, n, n, n, 6, 7, n, n, n, n, n, n,
    );
    let odd = _mm256_setr_epi8(
        8, 9, n, n, n, n, n, n, 10, 11, n, n, n, n, n, n, 12, 13, n, n, n, n, n, n, 14, 15, n, n, n, n, n, n,
    );
    let Pair { first, second, indices } = pair;
    let count = blocks.len().min(first.len()).min(second.len()).min(indices.len());
    // A load of 16 bytes includes 4 bytes of the next block's indices.
    let steps = count.saturating_sub(1) / STEP;
    for i in (0..steps * STEP).step_by(STEP) {
        // SAFETY: `i + 8` is below `count`. So there are 8 pairs of endpoints, which are 16 bytes,
        // and 12 more bytes of indices after those of the 8 blocks, of which loads include 4.
        unsafe {
            let first = load(first.as_ptr().add(i).cast());
            let second = load(second.as_ptr().add(i).cast());
            let indices = indices.as_ptr().add(i).cast::<u8>();
            let target = blocks.as_mut_ptr().add(i).cast::<__m256i>();
            let endpoints = [_mm_unpacklo_epi8(first, second), _mm_unpackhi_epi8(first, second)];
            for (half, endpoints) in endpoints.into_iter().enumerate() {
                let endpoints = _mm256_broadcastsi128_si256(endpoints);
                for (k, order) in [even, odd].into_iter().enumerate() {
                    let at = 4 * half + 2 * k;
                    let indices = load_2(indices.add(12 * at), indices.add(12 * at + 12));
                    let block = _mm256_or_si256(
                        _mm256_shuffle_epi8(indices, indices_to),
                        _mm256_shuffle_epi8(endpoints, order),
                    );
                    _mm256_storeu_si256(target.add(at / 2), block);
                }
            }
        }
    }
    steps * STEP
}

/// Joins blocks of BC3, starting with the first, and returns how many it has joined.
#[target_feature(enable = "avx2")]
pub(super) fn join_alpha_color<const YCOCG: bool>(
    alpha: &Alpha,
    color: &Color<'_, YCOCG>,
    blocks: &mut [[u8; 16]],
) -> usize {
    let n = -1;
    // In each of two blocks, the indices begin in byte 2, after the endpoints.
    let indices_to =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(n, n, 2, 3, 4, 5, 6, 7, n, n, 8, 9, 10, 11, 12, 13));
    // Shuffles endpoints of eight blocks: those of two blocks go to each half.
    let endpoints_to = [
        _mm256_setr_epi8(
            0, 1, n, n, n, n, n, n, 2, 3, n, n, n, n, n, n, 4, 5, n, n, n, n, n, n, 6, 7, n, n, n, n, n, n,
        ),
        _mm256_setr_epi8(
            8, 9, n, n, n, n, n, n, 10, 11, n, n, n, n, n, n, 12, 13, n, n, n, n, n, n, 14, 15, n, n, n, n,
            n, n,
        ),
    ];
    let blocks_of_alpha = alpha.endpoints.len().min(alpha.indices.len().saturating_sub(2) / 6);
    let blocks_of_color = color.endpoints.len().min(color.indices.len());
    let count = blocks.len().min(blocks_of_alpha).min(blocks_of_color);
    // A load of 16 bytes for two blocks begins 2 bytes before their indices, and includes 2 bytes
    // after them.
    let steps = count.saturating_sub(1) / STEP;
    for i in (0..steps * STEP).step_by(STEP) {
        // SAFETY: `i + 8` is below `count`. So there are 8 fields in each stream, and 6 more bytes
        // of alpha indices after those of the 8 blocks, of which loads include 2. Loads begin 2
        // bytes before the indices of the first block, where the slice begins.
        unsafe {
            let alpha_endpoints = _mm256_broadcastsi128_si256(load(alpha.endpoints.as_ptr().add(i).cast()));
            let alpha_indices = alpha.indices.as_ptr().add(6 * i);
            let colors = load_32(color.endpoints.as_ptr().add(i).cast());
            let colors = if YCOCG { from_ycocg(colors) } else { colors };
            let color_indices = load_32(color.indices.as_ptr().add(i).cast());
            // Colours of blocks 0, 1, 4 and 5, and of blocks 2, 3, 6 and 7.
            let colors =
                [_mm256_unpacklo_epi32(colors, color_indices), _mm256_unpackhi_epi32(colors, color_indices)];
            let colors = [
                _mm256_permute2x128_si256::<0x20>(colors[0], colors[1]),
                _mm256_permute2x128_si256::<0x31>(colors[0], colors[1]),
            ];
            for half in 0..2 {
                let indices = alpha_indices.add(24 * half);
                let alphas = _mm256_or_si256(
                    _mm256_shuffle_epi8(load_2(indices, indices.add(12)), indices_to),
                    _mm256_shuffle_epi8(alpha_endpoints, endpoints_to[half]),
                );
                // Blocks 0 and 2, then blocks 1 and 3.
                let even = _mm256_unpacklo_epi64(alphas, colors[half]);
                let odd = _mm256_unpackhi_epi64(alphas, colors[half]);
                let target = blocks.as_mut_ptr().add(i + 4 * half).cast::<__m256i>();
                _mm256_storeu_si256(target, _mm256_permute2x128_si256::<0x20>(even, odd));
                _mm256_storeu_si256(target.add(1), _mm256_permute2x128_si256::<0x31>(even, odd));
            }
        }
    }
    steps * STEP
}

/// Applies [`from_ycocg`](crate::filter::color::from_ycocg) to 16 colours.
#[inline]
#[target_feature(enable = "avx2")]
fn from_ycocg(colors: __m256i) -> __m256i {
    let field = _mm256_set1_epi16(31);
    let half = |value: __m256i| {
        let sign = _mm256_and_si256(value, _mm256_set1_epi16(16));
        _mm256_or_si256(_mm256_srli_epi16::<1>(value), sign)
    };
    let y = _mm256_srli_epi16::<11>(colors);
    let co = _mm256_and_si256(_mm256_srli_epi16::<6>(colors), field);
    let cg = _mm256_and_si256(_mm256_srli_epi16::<1>(colors), field);
    let low = _mm256_and_si256(colors, _mm256_set1_epi16(1));
    let t = _mm256_sub_epi16(y, half(cg));
    let green = _mm256_and_si256(_mm256_add_epi16(cg, t), field);
    let blue = _mm256_and_si256(_mm256_sub_epi16(t, half(co)), field);
    // The shift drops bits of red above the five.
    let red = _mm256_slli_epi16::<11>(_mm256_add_epi16(co, blue));
    let green = _mm256_or_si256(_mm256_slli_epi16::<6>(green), _mm256_slli_epi16::<5>(low));
    _mm256_or_si256(_mm256_or_si256(red, green), blue)
}

/// # Safety
/// 16 bytes must be readable at `bytes`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(bytes: *const u8) -> __m128i {
    // SAFETY: the caller guarantees what `# Safety` requires.
    unsafe { _mm_loadu_si128(bytes.cast()) }
}

/// # Safety
/// 32 bytes must be readable at `bytes`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_32(bytes: *const u8) -> __m256i {
    // SAFETY: the caller guarantees what `# Safety` requires.
    unsafe { _mm256_loadu_si256(bytes.cast()) }
}

/// Loads 16 bytes into each half.
///
/// # Safety
/// 16 bytes must be readable at both `low` and `high`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_2(low: *const u8, high: *const u8) -> __m256i {
    // SAFETY: the caller guarantees what `# Safety` requires.
    unsafe { _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(low)), load(high)) }
}

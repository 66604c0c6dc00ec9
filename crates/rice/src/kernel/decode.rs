//! Decodes a batch of segments: chooses the kernels, and finds the exact error if one fails.
//!
//! | kernel | CPU tier | segments of similar length | samples per segment |
//! |---|---|---|---|
//! | [`decode_avx512`](super::decode_avx512) | AVX-512 | 9 to 16 | 32 or more |
//! | [`decode_avx2`](super::decode_avx2) | AVX2 or higher | 5 to 16 | 32 to 131,071; more with long codes |
//! | [`decode_interleaved`](super::decode_interleaved) with its lookup table | any | any | 32 or more remaining; no long codes |
//! | [`decode_interleaved`](super::decode_interleaved) code by code | any | any | 32 or more remaining |
//! | [`decode_scalar`](super::decode_scalar) | any | any | all that remain |
//!
//! First runs one of the first two rows, then one of the two interleaved forms, then the scalar
//! decoder: in each case the first row that applies, if any. Each continues where the one before it
//! stopped.

use linerate_core::{Result, Tier};

use super::decode_interleaved::Interleaved;
use super::decode_scalar::{Lane, Position};
use super::dispatch::dispatch;

/// Decodes up to [`BATCH`](super::decode_scalar::BATCH) segments, in any order.
///
/// # Errors
/// The error of [`decode_scalar::decode`](super::decode_scalar::decode) for the first segment that
/// has one.
pub(crate) fn decode(tier: Tier, lanes: &mut [Lane], k: u32, delta: bool) -> Result<()> {
    // A fast kernel reports no more than that some code is invalid, and may have read past a
    // payload into the next one. The scalar decoder starts again to find the exact error.
    if fast(tier, lanes, k, delta).is_some() && lanes.iter_mut().all(|l| l.finish(k, delta).is_ok()) {
        return Ok(());
    }
    lanes.iter_mut().try_for_each(|lane| {
        lane.at = Position::default();
        lane.finish(k, delta)
    })
}

/// Decodes as many samples of each segment as the fast kernels can. `None` if a code is invalid.
fn fast(tier: Tier, lanes: &mut [Lane], k: u32, delta: bool) -> Option<()> {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    {
        let (segments, samples) = alike(lanes)?;
        if let Some(kernel) = wide_kernel(tier, segments, samples, || have_long_codes(&lanes[..segments])) {
            // SAFETY: the kernel's tier is at most `tier`, which was detected.
            unsafe { kernel(&mut lanes[..segments], k, delta) }?;
        }
    }
    if lanes.iter().all(|l| l.out.len() - l.at.sample < MIN_SAMPLES) {
        return Some(());
    }
    #[cfg(feature = "std")]
    let table = (!have_long_codes(lanes)).then(|| super::decode_table::table(k));
    #[cfg(not(feature = "std"))]
    let table = None;
    dispatch(tier, Interleaved { lanes, table, k, delta })
}

/// Remaining samples of a segment below which setting up a kernel costs more than it saves.
const MIN_SAMPLES: usize = 32;

/// Bits per sample above which codes count as long. Escapes are then frequent, and an index of the
/// lookup table often has no whole code.
#[cfg(feature = "std")]
const LONG_CODE_BITS: usize = 9;

#[cfg(feature = "std")]
fn have_long_codes(lanes: &[Lane]) -> bool {
    let total = |of: fn(&Lane) -> usize| lanes.iter().map(of).sum::<usize>();
    8 * total(|l| l.payload.len()) > LONG_CODE_BITS * total(|l| l.out.len())
}

/// A kernel with one segment per SIMD lane, and when it is the fastest.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
struct WideKernel {
    decode: WideDecode,
    /// Lowest tier that has the kernel.
    tier: Tier,
    /// Minimum number of segments. With fewer, too many lanes stay empty.
    min_segments: usize,
    /// Maximum samples per segment with short codes. Writing many outputs longer than this at once
    /// exceeds the caches, so that the lookup table, which needs short codes, is faster.
    max_samples_of_short_codes: usize,
}

/// Decodes as many samples of each lane as the shortest lane has, or up to 15 fewer. `None` if a
/// code is invalid.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
type WideDecode = unsafe fn(&mut [Lane], k: u32, delta: bool) -> Option<()>;

/// The wide kernels, in order of preference: the first row that applies is used.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
const WIDE_KERNELS: [WideKernel; 2] = [
    WideKernel {
        decode: super::decode_avx512::decode,
        tier: Tier::Avx512,
        min_segments: 9,
        max_samples_of_short_codes: usize::MAX,
    },
    WideKernel {
        decode: super::decode_avx2::decode,
        tier: Tier::Avx2,
        min_segments: 5,
        max_samples_of_short_codes: (128 << 10) - 1,
    },
];

/// Returns the row of [`WIDE_KERNELS`] for `segments` segments of about `samples` samples.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn wide_kernel(
    tier: Tier,
    segments: usize,
    samples: usize,
    have_long_codes: impl Fn() -> bool,
) -> Option<WideDecode> {
    let applies = |kernel: &&WideKernel| {
        tier >= kernel.tier
            && segments >= kernel.min_segments
            && samples >= MIN_SAMPLES
            && (samples <= kernel.max_samples_of_short_codes || have_long_codes())
    };
    WIDE_KERNELS.iter().find(applies).map(|kernel| kernel.decode)
}

/// Counts the segments at the front that have at least 7/8 of the samples of the first. Returns
/// their number and the samples of the first. The number is 0 if the chunk is too long for the
/// offsets of wide kernels, which have 32 bits, or has less than a word. `None` if there are no
/// lanes.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn alike(lanes: &[Lane]) -> Option<(usize, usize)> {
    // The last segment of a chunk may be much shorter than the other segments.
    let first = lanes.first()?;
    let samples = first.out.len();
    if !(4..i32::MAX as usize).contains(&first.readable.len()) {
        return Some((0, samples));
    }
    Some((lanes.iter().take_while(|l| l.out.len() >= samples - samples / 8).count(), samples))
}

#[cfg(all(test, target_arch = "x86_64", feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn wide_kernel_follows_tier_segments_samples_and_code_length() {
        let chosen = |tier, segments, samples, long: bool| {
            let decode = wide_kernel(tier, segments, samples, || long)?;
            WIDE_KERNELS.iter().find(|kernel| core::ptr::fn_addr_eq(kernel.decode, decode)).map(|k| k.tier)
        };
        let long_segment = 128 << 10;
        for (tier, segments, samples, long_codes, want) in [
            (Tier::Scalar, 16, 1000, true, None),
            (Tier::Avx2, 16, 1000, false, Some(Tier::Avx2)),
            (Tier::Avx2, 5, 32, false, Some(Tier::Avx2)),
            (Tier::Avx2, 4, 1000, true, None),
            (Tier::Avx2, 16, 31, true, None),
            (Tier::Avx2, 16, long_segment - 1, false, Some(Tier::Avx2)),
            (Tier::Avx2, 16, long_segment, false, None),
            (Tier::Avx2, 16, long_segment, true, Some(Tier::Avx2)),
            (Tier::Avx512, 16, long_segment, false, Some(Tier::Avx512)),
            (Tier::Avx512, 9, 32, false, Some(Tier::Avx512)),
            (Tier::Avx512, 8, 32, false, Some(Tier::Avx2)),
            (Tier::Avx512, 8, long_segment, false, None),
            (Tier::Avx512, 4, 1000, false, None),
            (Tier::Avx512, 16, 31, false, None),
        ] {
            let got = chosen(tier, segments, samples, long_codes);
            assert_eq!(got, want, "{tier:?}, {segments} segments of {samples}, long codes: {long_codes}");
        }
    }
}

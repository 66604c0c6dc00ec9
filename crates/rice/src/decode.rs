//! Decodes chunks of version 1.

use core::ops::Range;

use linerate_core::{Error, Kind, Result};

use crate::chunk::Segments;
use crate::filter::inverse;
use crate::kernel::decode::decode as decode_lanes;
use crate::kernel::decode_scalar::{BATCH, Lane};
use crate::{Filter, Options, Params, Sample};

/// Decodes a chunk into the start of `out` and returns its number of samples.
///
/// `chunk` must be exactly one chunk. `out` needs room for [`decoded_len`](crate::decoded_len)
/// samples. The layout of the whole chunk is checked before anything is decoded; then every code is
/// checked, and the padding at the end of each segment. Damage that turns a payload into another
/// valid one is not detected, because the format has no checksum.
///
/// On one thread nothing is allocated, except a table of 32 KiB for each m, once per process.
///
/// ```
/// use linerate_rice::{decode_into, Options, Params};
/// let chunk = [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x60, 0x51];
/// let mut out = [0i16; 2];
/// assert_eq!(decode_into(&Params::default(), &chunk, &mut out, Options::new())?, 2);
/// assert_eq!(out, [5, -5]);
/// # Ok::<(), linerate_rice::Error>(())
/// ```
///
/// # Errors
/// Offsets are in bytes of `chunk`. After an error the contents of `out` are unspecified.
/// * [`Kind::Truncated`] if `chunk` ends before its last segment begins.
/// * [`Kind::Corrupt`] if a length contradicts the size of the chunk or the number of samples; if a
///   code has more than eight zeros; if a segment ends before its samples do; or if 32 or more bits
///   follow its last code, or any bit that is not zero.
/// * [`Kind::OutputTooSmall`] if `out` has fewer samples than the chunk.
pub fn decode_into<S: Sample>(
    params: &Params,
    chunk: &[u8],
    out: &mut [S],
    options: Options,
) -> Result<usize> {
    let segments = Segments::of(params, chunk)?;
    let all = 0..segments.segment_count();
    // After the last segment the iterator also checks that the chunk ends there.
    segments.clone().skip(all.end).try_for_each(|s| s.map(drop))?;
    decode_range(params, chunk, segments, all, out, options)
}

/// Decodes the segments `which` of a chunk into the start of `out`, and returns their number of
/// samples. This is random access to waveforms.
///
/// Reads the 4-byte length of each segment before `which`, then those segments, and nothing after
/// them.
///
/// ```
/// use linerate_rice::{decode_segments, encode, Options, Params};
/// let params = Params::new(8, Some(3.try_into().unwrap()))?;
/// let chunk = encode(&params, &[1i16, 2, 3, 4, 5, 6, 7, 8], Options::new())?;
/// let mut out = [0i16; 5];
/// assert_eq!(decode_segments(&params, &chunk, 1..3, &mut out, Options::new())?, 5);
/// assert_eq!(out, [4, 5, 6, 7, 8]);
/// # Ok::<(), linerate_rice::Error>(())
/// ```
///
/// # Errors
/// Errors of [`decode_into`], and [`Kind::BadArgument`] if the chunk has no such segments.
pub fn decode_segments<S: Sample>(
    params: &Params,
    chunk: &[u8],
    which: Range<usize>,
    out: &mut [S],
    options: Options,
) -> Result<usize> {
    let segments = Segments::of(params, chunk)?;
    if which.start > which.end || which.end > segments.segment_count() {
        return Err(Error::new(Kind::BadArgument, 0, "the chunk has no such segments"));
    }
    decode_range(params, chunk, segments, which, out, options)
}

/// Decodes a whole chunk into a new vector.
///
/// The allocation is at most 16 times the size of the chunk, whatever its header says.
///
/// # Errors
/// Errors of [`decode_into`], except for the output.
#[cfg(feature = "alloc")]
pub fn decode<S: Sample>(params: &Params, chunk: &[u8], options: Options) -> Result<alloc::vec::Vec<S>> {
    let mut out = alloc::vec![S::default(); Segments::of(params, chunk)?.samples()];
    decode_into(params, chunk, &mut out, options)?;
    Ok(out)
}

/// Consecutive segments of a chunk.
struct Part<'a> {
    /// An iterator that yields the first of these segments next.
    segments: Segments<'a>,
    count: usize,
}

fn decode_range<S: Sample>(
    params: &Params,
    chunk: &[u8],
    mut segments: Segments,
    which: Range<usize>,
    out: &mut [S],
    options: Options,
) -> Result<usize> {
    let start_of = |i: usize| i.saturating_mul(segments.segment_len()).min(segments.samples());
    let samples = start_of(which.end) - start_of(which.start);
    let too_small =
        Error::new(Kind::OutputTooSmall, 0, "the output has fewer samples than are to be decoded");
    let out = S::words_mut(out).get_mut(..samples).ok_or(too_small)?;
    skip(&mut segments, which.start)?;
    #[cfg(feature = "std")]
    if options.thread_count() > 1 && which.len() > 1 {
        parallel::decode(params, chunk, Part { segments, count: which.len() }, out, options)?;
        return Ok(samples);
    }
    // Checks the whole layout first, as the parallel decoder does, so that the error does not
    // depend on the number of threads.
    skip(&mut segments.clone(), which.len())?;
    decode_part(params, chunk, Part { segments, count: which.len() }, out, options)?;
    Ok(samples)
}

fn skip(segments: &mut Segments, count: usize) -> Result<()> {
    segments.take(count).try_for_each(|s| s.map(drop))
}

/// Decodes the segments of `part`, which fills `out`.
fn decode_part(params: &Params, chunk: &[u8], part: Part, out: &mut [i16], options: Options) -> Result<()> {
    let delta = *params.filter() == Filter::DELTA;
    let mut segments = part.segments.take(part.count);
    let mut rest = out;
    loop {
        let mut lanes: [Lane; BATCH] = Default::default();
        let mut n = 0;
        for (lane, segment) in lanes.iter_mut().zip(&mut segments) {
            let segment = segment?;
            let (out, after) = core::mem::take(&mut rest).split_at_mut(segment.samples.len());
            rest = after;
            let readable = &chunk[segment.bytes.start..];
            *lane = Lane {
                payload: segment.payload,
                readable,
                out,
                offset: segment.bytes.start,
                ..Lane::default()
            };
            n += 1;
        }
        if n == 0 {
            return Ok(());
        }
        let lanes = &mut lanes[..n];
        decode_lanes(options.tier, lanes, params.k(), delta)?;
        if !delta {
            lanes.iter_mut().for_each(|lane| inverse(params.filter(), lane.out));
        }
    }
}

#[cfg(feature = "std")]
mod parallel {
    use linerate_core::parallel_map;

    use super::*;

    /// Decodes `part`, which fills `out`, in one run of segments per thread.
    pub(super) fn decode(
        params: &Params,
        chunk: &[u8],
        part: Part,
        out: &mut [i16],
        options: Options,
    ) -> Result<()> {
        let per_thread = part.count.div_ceil(options.thread_count());
        let mut parts = std::vec::Vec::new();
        let (mut segments, mut left) = (part.segments, part.count);
        while left > 0 {
            let count = left.min(per_thread);
            parts.push(Part { segments: segments.clone(), count });
            skip(&mut segments, count)?;
            left -= count;
        }
        let mut outs = out.chunks_mut((per_thread * segments.segment_len()).max(1));
        let work = parts.into_iter().map(|part| (part, outs.next().unwrap_or_default()));
        let worker = || |(part, out)| decode_part(params, chunk, part, out, options);
        // Results are in the order of the segments, so the error returned is the error of the first
        // damaged segment.
        parallel_map(options.thread_count(), work, worker).into_iter().collect()
    }
}

//! Encodes chunks.

use linerate_core::{Error, Kind, Result};

use crate::filter::forward;
use crate::kernel::encode::{Run, append, bits};
use crate::kernel::packer::Packer;
use crate::{Filter, Options, Params, Sample};

/// Encodes `samples` as one chunk into the start of `out` and returns its length in bytes.
///
/// The bytes are those of HDF5 filter 32025. [`Params::bound`] bytes always suffice, and so does
/// exactly the size of the chunk. One thread allocates nothing; several allocate up to 16 bytes per
/// segment.
///
/// ```
/// use linerate_rice::{encode_into, Options, Params};
/// let mut out = [0; 100];
/// let n = encode_into(&Params::default(), &[5i16, -5], &mut out, Options::new())?;
/// assert_eq!(out[..n], [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x60, 0x51]);
/// # Ok::<(), linerate_rice::Error>(())
/// ```
///
/// # Errors
/// * [`Kind::BadArgument`] for parameters that would lose data (m = 1, a first coefficient other
///   than 1 and -1) and for more than 2^32 - 1 samples.
/// * [`Kind::OutputTooSmall`], at the offset in `out` of the segment that does not fit.
pub fn encode_into<S: Sample>(
    params: &Params,
    samples: &[S],
    out: &mut [u8],
    options: Options,
) -> Result<usize> {
    params.check_encode()?;
    let samples = S::words(samples);
    let count = u32::try_from(samples.len())
        .map_err(|_| Error::new(Kind::BadArgument, 0, "more than 2^32 - 1 samples in a chunk"))?;
    let (head, body) = out.split_first_chunk_mut::<4>().ok_or(too_small(0))?;
    *head = count.to_le_bytes();
    let segment = params.segment_of(samples.len());
    #[cfg(feature = "std")]
    if options.thread_count() > 1 && samples.len() > segment {
        return parallel::encode(params, samples, body, options).map(|n| n + 4);
    }
    encode_all(params, samples, segment, body, options).map(|n| n + 4).map_err(|e| e.shifted(4))
}

/// Encodes `samples` as one chunk: [`encode_into`] with an output of the right size.
///
/// # Errors
/// Errors of [`encode_into`], except for the output.
#[cfg(feature = "alloc")]
pub fn encode<S: Sample>(params: &Params, samples: &[S], options: Options) -> Result<alloc::vec::Vec<u8>> {
    params.check_encode()?;
    let mut out = alloc::vec![0; params.bound(samples.len())];
    let n = encode_into(params, samples, &mut out, options)?;
    out.truncate(n);
    out.shrink_to_fit();
    Ok(out)
}

const fn too_small(at: usize) -> Error {
    Error::new(Kind::OutputTooSmall, at as u64, "the output cannot hold the chunk")
}

/// Encodes consecutive segments, each preceded by its length. Returns their size in bytes.
fn encode_all(
    params: &Params,
    samples: &[i16],
    segment: usize,
    out: &mut [u8],
    options: Options,
) -> Result<usize> {
    let mut at = 0;
    for samples in samples.chunks(segment) {
        let (length, payload) = out[at..].split_first_chunk_mut::<4>().ok_or(too_small(at))?;
        let bytes = encode_segment(params, samples, payload, options).ok_or(too_small(at))?;
        // At most 25 bits for each of at most 2^32 - 1 samples: the words fit.
        *length = ((bytes / 4) as u32).to_le_bytes();
        at += 4 + bytes;
    }
    Ok(at)
}

/// Encodes one segment. Returns the bytes of its payload, or `None` if they do not fit.
fn encode_segment(params: &Params, samples: &[i16], out: &mut [u8], options: Options) -> Option<usize> {
    let mut packer = Packer::default();
    each_run(params, samples, |run| append(options.tier, run, &mut packer, out))?;
    packer.finish(out)
}

/// Number of samples filtered at a time if the kernel has no built-in form of the filter: few
/// enough to stay in the first-level cache.
const PIECE: usize = 2048;

/// Calls `each` with the runs of a segment, until it returns `None`.
fn each_run(params: &Params, samples: &[i16], mut each: impl FnMut(&Run) -> Option<()>) -> Option<()> {
    let k = params.k();
    if *params.filter() == Filter::DELTA {
        return each(&Run { samples, k, before: Some(0) });
    }
    if *params.filter() == Filter::IDENTITY {
        return each(&Run { samples, k, before: None });
    }
    let mut filtered = [0; PIECE];
    for start in (0..samples.len()).step_by(PIECE) {
        let filtered = &mut filtered[..PIECE.min(samples.len() - start)];
        forward(params.filter(), samples, start, filtered);
        each(&Run { samples: filtered, k, before: None })?;
    }
    Some(())
}

/// Exact number of bits of a segment before padding to a whole word.
pub(crate) fn segment_bits(params: &Params, samples: &[i16], options: Options) -> u64 {
    let mut total = 0;
    let all = each_run(params, samples, |run| {
        total += bits(options.tier, run);
        Some(())
    });
    debug_assert!(all.is_some());
    total
}

/// Computes the exact size in bytes of the chunk that [`encode_into`] writes: one pass over the
/// samples, several times as fast as encoding.
///
/// # Errors
/// [`Kind::BadArgument`] for parameters that would lose data, as in [`encode_into`]. The number of
/// samples is not limited.
pub fn encoded_len<S: Sample>(params: &Params, samples: &[S], options: Options) -> Result<u64> {
    params.check_encode()?;
    let samples = S::words(samples);
    let segments = samples.chunks(params.segment_of(samples.len()));
    Ok(4 + segments.map(|s| segment_bytes(params, s, options)).sum::<u64>())
}

/// Exact size in bytes of a segment and of its length field.
fn segment_bytes(params: &Params, samples: &[i16], options: Options) -> u64 {
    4 + segment_bits(params, samples, options).div_ceil(32) * 4
}

#[cfg(feature = "std")]
mod parallel {
    //! Encodes segments on several threads. First the exact size of each segment gives its offset;
    //! the segments of the last thread need none, since nothing follows them. Then every thread
    //! writes its segments to their final offsets.

    use linerate_core::parallel_map;

    use super::*;

    pub(super) fn encode(
        params: &Params,
        samples: &[i16],
        out: &mut [u8],
        options: Options,
    ) -> Result<usize> {
        let segment = params.segment_of(samples.len());
        let segments = samples.len().div_ceil(segment);
        let per_thread = segments.div_ceil(options.thread_count());
        let before_last = (segments - 1) / per_thread * per_thread;
        let sizes = sizes(params, &samples[..before_last * segment], segment, options);
        let mut end = 0u64;
        for size in &sizes {
            if end + size > out.len() as u64 {
                return Err(too_small(end as usize + 4));
            }
            end += size;
        }

        let (out, out_of_last) = out.split_at_mut(end as usize);
        let mut rest = out;
        let sized = samples.chunks(per_thread * segment).zip(sizes.chunks(per_thread));
        let sized = sized.map(|(samples, sizes)| {
            let bytes = sizes.iter().sum::<u64>() as usize;
            let (out, after) = core::mem::take(&mut rest).split_at_mut(bytes);
            rest = after;
            (samples, out)
        });
        let work = sized.chain([(&samples[before_last * segment..], out_of_last)]);
        let worker = || |(samples, out)| encode_all(params, samples, segment, out, options);
        let mut written = parallel_map(options.thread_count(), work, worker);
        let last = written.pop().unwrap_or(Ok(0)).map_err(|e| e.shifted(end + 4));
        written.into_iter().try_for_each(|written| written.map(drop))?;
        Ok(end as usize + last?)
    }

    /// The size in bytes of each segment, including its length field. All segments must be of full
    /// length.
    fn sizes(params: &Params, samples: &[i16], segment: usize, options: Options) -> std::vec::Vec<u64> {
        let share = (samples.len() / segment).div_ceil(options.thread_count()).max(1) * segment;
        let worker = || {
            |samples: &[i16]| -> std::vec::Vec<u64> {
                samples.chunks(segment).map(|s| segment_bytes(params, s, options)).collect()
            }
        };
        parallel_map(options.thread_count(), samples.chunks(share), worker).concat()
    }
}

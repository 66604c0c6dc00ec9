//! Samples to a stream.

use linerate_core::{Error, Kind, Result};

use super::element::Word;
use super::header::{self, HEADER, checksum};
use super::plan::{Plan, Scratch};
use super::segment::{write_head, write_raw_head};
use super::settings::segment_bound;
use super::{Element, Settings, Shape, bound};
use crate::Exec;
use crate::kernel::packing::{Pack, pack};
use crate::kernel::planning::plan;
use crate::kernel::words;

/// Encodes `samples` as one stream into the start of `out` and returns its length in bytes.
///
/// [`bound`] bytes always suffice; with fewer, so do as many as the stream has, but then one
/// thread does all the work. Allocates working memory for a segment per thread: 8 bytes per
/// sample of 16 bits, 14 per sample of 32.
///
/// # Errors
/// * [`Kind::BadArgument`] for segments of more than 65,536 samples, for a shape of another number
///   of samples, and for samples that take more than 16 GiB when encoded: these must be divided among
///   several streams.
/// * [`Kind::OutputTooSmall`], at the offset in `out` of the segment without room.
pub fn encode_into<T: Element>(
    settings: &Settings,
    samples: &[T],
    out: &mut [u8],
    exec: Exec,
) -> Result<usize> {
    settings.check(samples.len())?;
    let segment = settings.segment() as usize;
    let segments = samples.len().div_ceil(segment);
    let record = settings.shape().map_or(0, Shape::bytes);
    let start = HEADER + 4 * (segments + usize::from(record > 0));
    let (head, payload) = out.split_at_mut_checked(start).ok_or(too_small(0))?;
    let (head, table) = head.split_at_mut(HEADER);
    head.copy_from_slice(&header::write(T::TYPE, samples.len(), settings));
    let (of_record, table) = table.as_chunks_mut().0.split_at_mut(usize::from(record > 0));
    let (to, payload) = payload.split_at_mut_checked(record).ok_or(too_small(start))?;
    if let (Some(shape), [end]) = (settings.shape(), of_record) {
        shape.write(to);
        *end = end_of(record)?;
    }
    let start = start + record;
    #[cfg(feature = "std")]
    if exec.thread_count() > 1 && segments > 1 && payload.len() >= bound::<T>(settings, samples.len()) - start
    {
        return parallel::encode(samples, segment, record, table, payload, exec).map(|n| start + n);
    }
    let n =
        encode_run(samples, segment, record, table, payload, exec).map_err(|e| e.shifted(start as u64))?;
    Ok(start + n)
}

/// Encodes `samples` as one stream: [`encode_into`] with an output of the right size.
///
/// # Errors
/// As for [`encode_into`], but for the output.
pub fn encode<T: Element>(settings: &Settings, samples: &[T], exec: Exec) -> Result<alloc::vec::Vec<u8>> {
    settings.check(samples.len())?;
    let mut out = alloc::vec![0; bound::<T>(settings, samples.len())];
    let n = encode_into(settings, samples, &mut out, exec)?;
    out.truncate(n);
    out.shrink_to_fit();
    Ok(out)
}

const fn too_small(at: usize) -> Error {
    Error::new(Kind::OutputTooSmall, at as u64, "the output cannot hold the stream")
}

/// Encodes consecutive segments, which begin `base` bytes after the table. Returns their bytes.
fn encode_run<T: Element>(
    samples: &[T],
    segment: usize,
    base: usize,
    table: &mut [[u8; 4]],
    out: &mut [u8],
    exec: Exec,
) -> Result<usize> {
    let mut scratch = Scratch::new(segment.min(samples.len()));
    let mut at = 0;
    for (samples, end) in samples.chunks(segment).zip(table) {
        at += encode_segment(samples, &mut scratch, &mut out[at..], exec).ok_or(too_small(at))?;
        *end = end_of(base + at)?;
    }
    Ok(at)
}

/// An entry of the table.
fn end_of(bytes: usize) -> Result<[u8; 4]> {
    u32::try_from(bytes / 4)
        .map(u32::to_le_bytes)
        .map_err(|_| Error::new(Kind::BadArgument, 0, "more than 16 GiB in one stream"))
}

/// Encodes one segment. Returns its bytes, or `None` if they do not fit.
fn encode_segment<T: Element>(
    samples: &[T],
    scratch: &mut Scratch<T::Word>,
    out: &mut [u8],
    exec: Exec,
) -> Option<usize> {
    let words = T::words(samples);
    let sum = checksum(&words::little_endian(samples));
    let plan = plan::<T>(exec.tier(), words, scratch);
    let bytes = match &plan {
        Plan::Raw => segment_bound::<T>(samples.len()),
        Plan::Coded { bytes, .. } => bytes.next_multiple_of(4),
    };
    let out = out.get_mut(..bytes)?;
    match plan {
        Plan::Raw => {
            let at = write_raw_head(sum, out);
            let raw = words::little_endian(samples);
            out[at..at + raw.len()].copy_from_slice(&raw);
            out[at + raw.len()..].fill(0);
        }
        Plan::Coded { head, fixed, .. } => {
            let mut at = write_head(&head, sum, out);
            at += head.modes.pack(&scratch.modes, &mut out[at..]);
            let (fixed, rest) = out[at..].split_at_mut(fixed);
            let (escapes, unary) = rest.split_at_mut(head.escapes * T::Word::BYTES);
            let z = &scratch.z[..samples.len()];
            pack(exec.tier(), Pack { z, modes: &scratch.modes, fixed, escapes, unary });
        }
    }
    Some(bytes)
}

#[cfg(feature = "std")]
mod parallel {
    //! Runs of segments on several threads, each at the place where it begins if all before it are
    //! as long as they can be; then they are moved together.

    use super::*;

    pub(super) fn encode<T: Element>(
        samples: &[T],
        segment: usize,
        base: usize,
        table: &mut [[u8; 4]],
        out: &mut [u8],
        exec: Exec,
    ) -> Result<usize> {
        let per_thread = table.len().div_ceil(exec.thread_count());
        let most = per_thread * segment_bound::<T>(segment);
        let runs = samples.chunks(per_thread * segment).zip(table.chunks_mut(per_thread));
        let lengths: std::vec::Vec<Result<usize>> = std::thread::scope(|scope| {
            let mut work = runs
                .zip(out.chunks_mut(most))
                .map(|((samples, table), out)| move || encode_run(samples, segment, 0, table, out, exec));
            let mine = work.next();
            let others: std::vec::Vec<_> = work.map(|work| scope.spawn(work)).collect();
            let first = mine.map_or(Ok(0), |mut work| work());
            let rest = others.into_iter().map(|other| other.join().expect("encoding does not panic"));
            core::iter::once(first).chain(rest).collect()
        });
        let mut end = 0;
        for (i, (length, table)) in lengths.into_iter().zip(table.chunks_mut(per_thread)).enumerate() {
            let length = length?;
            out.copy_within(i * most..i * most + length, end);
            for entry in table {
                *entry = end_of(u32::from_le_bytes(*entry) as usize * 4 + base + end)?;
            }
            end += length;
        }
        Ok(end)
    }
}

//! Encodes streams.

use linerate_core::{Error, Kind, Result};

use super::channels::{Part, Planner, pay};
use super::checksum::checksum;
use super::element::{Word, little_endian};
use super::geometry::Geometry;
use super::header::{self, HEADER};
use super::plan::Plan;
use super::segment::{write_head, write_raw_head};
use super::{Element, Shape, StreamOptions, bound};
use crate::Options;
use crate::kernel::packing::{Pack, pack};

/// Encodes `samples` as one stream into the start of `out` and returns its length in bytes.
///
/// [`bound`] bytes always suffice. The exact size of the stream suffices, too, but with less than
/// [`bound`] one thread does all the work. Each thread allocates working memory for a segment: up
/// to 8 bytes per sample of 16 bits, 12 per sample of 32. With channels, it is three times that for
/// the samples of one channel, and twice the size of the segment.
///
/// # Errors
/// * [`Kind::BadArgument`] for segments of more than 65,536 samples, for a shape of another number
///   of samples, for more than 1024 channels, for rows whose length is not the number of channels
///   or an incomplete row of channels, and for samples that take more than 16 GiB when encoded:
///   these must be divided among several streams.
/// * [`Kind::OutputTooSmall`], at the offset in `out` of the segment that does not fit.
pub fn encode_into<T: Element>(
    settings: &StreamOptions,
    samples: &[T],
    out: &mut [u8],
    options: Options,
) -> Result<usize> {
    settings.check(samples.len())?;
    let geometry = T::divide(settings, samples, options);
    let record = settings.array_shape().map_or(0, Shape::bytes);
    let start = HEADER + 4 * (geometry.parts() + usize::from(record > 0));
    let (head, payload) = out.split_at_mut_checked(start).ok_or(too_small(0))?;
    let (head, table) = head.split_at_mut(HEADER);
    head.copy_from_slice(&header::write(T::TYPE, &geometry, settings));
    let (of_record, table) = table.as_chunks_mut().0.split_at_mut(usize::from(record > 0));
    let (to, payload) = payload.split_at_mut_checked(record).ok_or(too_small(start))?;
    if let (Some(shape), [end]) = (settings.array_shape(), of_record) {
        shape.write(to);
        *end = end_of(record)?;
    }
    let start = start + record;
    #[cfg(feature = "std")]
    if options.thread_count() > 1
        && geometry.segments() > 1
        && payload.len() >= geometry.bound::<T>() - 4 * geometry.parts()
    {
        return parallel::encode(samples, &geometry, record, table, payload, options).map(|n| start + n);
    }
    let n = T::encode_run(samples, &geometry, record, table, payload, options)
        .map_err(|e| e.shifted(start as u64))?;
    Ok(start + n)
}

/// Encodes `samples` as one stream: [`encode_into`] with an output of the right size.
///
/// # Errors
/// Errors of [`encode_into`], except for the output.
pub fn encode<T: Element>(
    settings: &StreamOptions,
    samples: &[T],
    options: Options,
) -> Result<alloc::vec::Vec<u8>> {
    settings.check(samples.len())?;
    let mut out = alloc::vec![0; bound::<T>(settings, samples.len())];
    let n = encode_into(settings, samples, &mut out, options)?;
    out.truncate(n);
    out.shrink_to_fit();
    Ok(out)
}

/// How the samples are divided. Channels are tried if a row may hold them.
pub(super) fn divide<T: Element>(settings: &StreamOptions, samples: &[T], options: Options) -> Geometry {
    match settings.geometries(samples.len()) {
        [Some(plain), Some(channels)] if !pay(samples, &channels, &plain, options) => plain,
        [Some(plain), None] => plain,
        [_, channels] => channels.unwrap_or(Geometry { samples: samples.len(), channels: 1, frames: 1 }),
    }
}

const fn too_small(at: usize) -> Error {
    Error::new(Kind::OutputTooSmall, at as u64, "the output cannot hold the stream")
}

/// Encodes consecutive segments, the first at `base` bytes after the table. Returns their size in
/// bytes.
pub(super) fn encode_run<T: Element>(
    samples: &[T],
    geometry: &Geometry,
    base: usize,
    table: &mut [[u8; 4]],
    out: &mut [u8],
    options: Options,
) -> Result<usize> {
    let mut planner = Planner::new(geometry);
    let mut ends = table.iter_mut();
    let mut at = 0;
    for samples in samples.chunks(geometry.segment()) {
        let mut failed = None;
        planner.parts(samples, geometry.channels, options, |part| {
            let written = write_part::<T>(&part, &mut out[at..], options).ok_or(too_small(at));
            let end = written.and_then(|n| end_of(base + at + n).map(|end| (n, end)));
            match (end, ends.next()) {
                (Ok((n, end)), Some(to)) => {
                    *to = end;
                    at += n;
                }
                (end, _) => failed = end.err(),
            }
            failed.is_none().then_some(())
        });
        failed.map_or(Ok(()), Err)?;
    }
    Ok(at)
}

/// Returns the table entry of a part or record that ends `bytes` bytes after the table.
fn end_of(bytes: usize) -> Result<[u8; 4]> {
    u32::try_from(bytes / 4)
        .map(u32::to_le_bytes)
        .map_err(|_| Error::new(Kind::BadArgument, 0, "more than 16 GiB in one stream"))
}

/// Writes one planned part. Returns its size in bytes, or `None` if it does not fit.
fn write_part<T: Element>(part: &Part<'_, T::Word>, out: &mut [u8], options: Options) -> Option<usize> {
    let Part { words, plan, scratch } = part;
    let raw = little_endian(words);
    let sum = checksum(&raw);
    let bytes = plan.bytes(words.len());
    let out = out.get_mut(..bytes)?;
    match plan {
        Plan::Raw => {
            let at = write_raw_head(sum, out);
            out[at..at + raw.len()].copy_from_slice(&raw);
            out[at + raw.len()..].fill(0);
        }
        Plan::Coded { head, fixed, .. } => {
            let mut at = write_head(head, sum, out);
            at += head.modes.pack(&scratch.modes, &mut out[at..]);
            let (fixed, rest) = out[at..].split_at_mut(*fixed);
            let (escapes, unary) = rest.split_at_mut(head.escapes * T::Word::BYTES);
            let z = &scratch.z[..words.len()];
            pack(options.tier, Pack { z, modes: &scratch.modes, fixed, escapes, unary });
        }
    }
    Some(bytes)
}

#[cfg(feature = "std")]
mod parallel {
    //! Encodes runs of segments on several threads, each at the offset that it has if all runs
    //! before it are of maximum size; then the runs are moved together.

    use linerate_core::parallel_map;

    use super::super::geometry::part_bound;
    use super::*;

    pub(super) fn encode<T: Element>(
        samples: &[T],
        geometry: &Geometry,
        base: usize,
        table: &mut [[u8; 4]],
        out: &mut [u8],
        options: Options,
    ) -> Result<usize> {
        let per_thread = geometry.segments().div_ceil(options.thread_count());
        let parts = per_thread * geometry.channels;
        let max_bytes = parts * part_bound::<T>(geometry.frames);
        let runs = samples.chunks(per_thread * geometry.segment()).zip(table.chunks_mut(parts));
        let work = runs.zip(out.chunks_mut(max_bytes));
        let worker = || |((samples, table), out)| T::encode_run(samples, geometry, 0, table, out, options);
        let lengths = parallel_map(options.thread_count(), work, worker);
        let mut end = 0;
        for (i, (length, table)) in lengths.into_iter().zip(table.chunks_mut(parts)).enumerate() {
            let length = length?;
            out.copy_within(i * max_bytes..i * max_bytes + length, end);
            for entry in table {
                *entry = end_of(u32::from_le_bytes(*entry) as usize * 4 + base + end)?;
            }
            end += length;
        }
        Ok(end)
    }
}

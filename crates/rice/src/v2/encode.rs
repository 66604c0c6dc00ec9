//! Samples to a stream.

use linerate_core::{Error, Kind, Result};

use super::element::Word;
use super::header::{self, HEADER, checksum};
use super::plan::{Plan, Scratch, plan};
use super::segment::{write_head, write_raw_head};
use super::settings::segment_bound;
use super::{BLOCK, ESCAPE, Element, Settings, bound};
use crate::Exec;
use crate::kernel::words;

/// Encodes `samples` as one stream into the start of `out` and returns its length in bytes.
///
/// [`bound`] bytes always suffice; with fewer, so do as many as the stream has, but then one
/// thread does all the work. Allocates working memory for a segment per thread: 8 bytes per
/// sample of 16 bits, 14 per sample of 32.
///
/// # Errors
/// * [`Kind::BadArgument`] for segments of more than 65,536 samples, and for samples that take
///   more than 16 GiB when encoded: these must be divided among several streams.
/// * [`Kind::OutputTooSmall`], at the offset in `out` of the segment without room.
pub fn encode_into<T: Element>(
    settings: &Settings,
    samples: &[T],
    out: &mut [u8],
    exec: Exec,
) -> Result<usize> {
    settings.check()?;
    let segment = settings.segment() as usize;
    let segments = samples.len().div_ceil(segment);
    let start = HEADER + 4 * segments;
    let (head, payload) = out.split_at_mut_checked(start).ok_or(too_small(0))?;
    let (head, table) = head.split_at_mut(HEADER);
    head.copy_from_slice(&header::write(T::TYPE, samples.len(), settings.segment(), settings.row()));
    let table = table.as_chunks_mut().0;
    #[cfg(feature = "std")]
    if exec.thread_count() > 1 && segments > 1 && payload.len() >= bound::<T>(settings, samples.len()) - start
    {
        return parallel::encode(samples, segment, table, payload, exec).map(|n| start + n);
    }
    let n = encode_run(samples, segment, 0, table, payload, exec).map_err(|e| e.shifted(start as u64))?;
    Ok(start + n)
}

/// Encodes `samples` as one stream: [`encode_into`] with an output of the right size.
///
/// # Errors
/// As for [`encode_into`], but for the output.
pub fn encode<T: Element>(settings: &Settings, samples: &[T], exec: Exec) -> Result<alloc::vec::Vec<u8>> {
    settings.check()?;
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
    let _ = exec;
    let words = T::words(samples);
    let sum = checksum(&words::little_endian(samples));
    let plan = plan::<T>(words, scratch);
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
        Plan::Coded { head, choice, .. } => {
            out.fill(0);
            let mut at = write_head(&head, sum, out);
            at += head.modes.pack(&scratch.modes, &mut out[at..]);
            let (fixed, rest) = out[at..].split_at_mut(choice.fixed);
            let (escapes, unary) = rest.split_at_mut(head.escapes * T::Word::BYTES);
            let z = &scratch.z[..samples.len()];
            write_fixed(z, &scratch.modes, fixed);
            write_unary(z, &scratch.modes, escapes, unary);
        }
    }
    Some(bytes)
}

/// Writes the low bits of each sample, least significant first, each block from a whole byte on.
fn write_fixed<W: Word>(z: &[W], modes: &[u8], mut out: &mut [u8]) {
    for (block, &mode) in z.chunks(BLOCK).zip(modes) {
        let (bytes, rest) = out.split_at_mut(super::blocks::fixed_bytes(mode, block.len()));
        let k = u32::from(mode.saturating_sub(1));
        let (mut bits, mut have, mut at) = (0u64, 0, 0);
        for z in block {
            bits |= (z.get() & ((1 << k) - 1)) << have;
            have += k;
            while have >= 8 {
                bytes[at] = bits as u8;
                (bits, have, at) = (bits >> 8, have - 8, at + 1);
            }
        }
        if have > 0 {
            bytes[at] = bits as u8;
        }
        out = rest;
    }
}

/// Writes what is above the low bits: that many zeros and a one, least significant bit first; or
/// for an escape [`ESCAPE`] zeros and a one, and the quotient itself to `escapes`.
fn write_unary<W: Word>(z: &[W], modes: &[u8], mut escapes: &mut [u8], out: &mut [u8]) {
    let mut at = 0;
    for (block, &mode) in z.chunks(BLOCK).zip(modes) {
        if !super::blocks::has_unary::<W>(mode) {
            continue;
        }
        for z in block {
            let q = z.get() >> (mode - 1);
            if q >= u64::from(ESCAPE) {
                let (this, rest) = core::mem::take(&mut escapes).split_at_mut(W::BYTES);
                this.copy_from_slice(&q.to_le_bytes()[..W::BYTES]);
                escapes = rest;
            }
            at += q.min(u64::from(ESCAPE)) as usize;
            out[at / 8] |= 1 << (at % 8);
            at += 1;
        }
    }
}

#[cfg(feature = "std")]
mod parallel {
    //! Runs of segments on several threads, each at the place where it begins if all before it are
    //! as long as they can be; then they are moved together.

    use super::*;

    pub(super) fn encode<T: Element>(
        samples: &[T],
        segment: usize,
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
                *entry = end_of(u32::from_le_bytes(*entry) as usize * 4 + end)?;
            }
            end += length;
        }
        Ok(end)
    }
}

//! Decodes streams.

use alloc::vec::Vec;
use core::ops::Range;

use linerate_core::{Error, Kind, Result, Tier};

use super::checksum::checksum;
use super::element::{Word, little_endian};
use super::header::Layout;
use super::references::References;
use super::segment::{Body, Head, Segment, load, sum_of};
use super::{BLOCK, Element, step};
use crate::Options;
use crate::kernel::blocks_scalar::{Blocks, RESIDUALS};
use crate::kernel::channels::interleave;
use crate::kernel::linear;
use crate::kernel::linear_scalar::{BATCH, Row};
use crate::kernel::unary::Positions;

/// Decodes a stream into the start of `out` and returns its number of samples.
///
/// `stream` must be exactly one stream. Allocates up to 68 KiB per thread. With channels, each
/// thread also allocates room for the samples of the segments that it decodes at once: as many
/// segments as have up to 16 parts in all, at least one.
///
/// # Errors
/// Offsets are in bytes of `stream`. After an error the contents of `out` are unspecified.
/// * [`Kind::BadArgument`] if the stream's samples are not of type `T`, or if bytes follow the
///   stream.
/// * [`Kind::Truncated`], [`Kind::Corrupt`], [`Kind::Unsupported`] and [`Kind::Limit`] as for
///   [`info`](super::info); [`Kind::Corrupt`] also for a segment whose checksum or layout is wrong,
///   at an offset within the segment.
/// * [`Kind::OutputTooSmall`] if `out` has fewer samples than the stream.
pub fn decode_into<T: Element>(stream: &[u8], out: &mut [T], options: Options) -> Result<usize> {
    let layout = Layout::of(stream)?;
    if layout.bytes() != stream.len() {
        return Err(Error::new(Kind::BadArgument, layout.bytes() as u64, "bytes follow the stream"));
    }
    decode_range(&layout, 0..layout.geometry.segments(), out, options)
}

/// Decodes the segments `which` of a stream into the start of `out`, and returns their number of
/// samples. This is random access: besides what [`info`](super::info) reads, only the table entries
/// of these segments, and the segments, are read.
///
/// ```
/// use linerate_rice::{Options, v2};
/// let stream_options = v2::StreamOptions::new().segment(500.try_into().ok());
/// let stream = v2::encode(&stream_options, &Vec::from_iter(0..2000u16), Options::new())?;
/// let mut out = [0u16; 500];
/// assert_eq!(v2::decode_segments(&stream, 2..3, &mut out, Options::new())?, 500);
/// assert_eq!(out[0], 1000);
/// # Ok::<(), linerate_rice::Error>(())
/// ```
///
/// # Errors
/// Errors of [`decode_into`], but bytes may follow the stream; and [`Kind::BadArgument`] if there
/// are no such segments.
pub fn decode_segments<T: Element>(
    stream: &[u8],
    which: Range<usize>,
    out: &mut [T],
    options: Options,
) -> Result<usize> {
    let layout = Layout::of(stream)?;
    if which.start > which.end || which.end > layout.geometry.segments() {
        return Err(Error::new(Kind::BadArgument, 0, "the stream has no such segments"));
    }
    decode_range(&layout, which, out, options)
}

/// Decodes a whole stream into a new vector.
///
/// The allocation is at most 65,536 samples for each 4 bytes of the table. A small stream of
/// constants can therefore decode to very many samples; [`info`](super::info) tells their number in
/// advance.
///
/// # Errors
/// Errors of [`decode_into`], except for the output.
pub fn decode<T: Element>(stream: &[u8], options: Options) -> Result<Vec<T>> {
    let layout = Layout::of(stream)?;
    check_type::<T>(&layout)?;
    let mut out = alloc::vec![T::default(); layout.geometry.samples];
    decode_into(stream, &mut out, options)?;
    Ok(out)
}

fn check_type<T: Element>(layout: &Layout) -> Result<()> {
    if layout.element != T::TYPE {
        return Err(Error::new(Kind::BadArgument, 5, "the samples of the stream are of another type"));
    }
    Ok(())
}

fn decode_range<T: Element>(
    layout: &Layout,
    which: Range<usize>,
    out: &mut [T],
    options: Options,
) -> Result<usize> {
    check_type::<T>(layout)?;
    let samples = match which.is_empty() {
        true => 0,
        false => {
            layout.geometry.samples_of(which.end - 1).end - layout.geometry.samples_of(which.start).start
        }
    };
    let too_small =
        Error::new(Kind::OutputTooSmall, 0, "the output has fewer samples than are to be decoded");
    let out = out.get_mut(..samples).ok_or(too_small)?;
    // All table entries are checked first, so that the error does not depend on the number of
    // threads.
    let channels = layout.geometry.channels;
    let mut parts = which.start * channels..which.end * channels;
    parts.try_for_each(|i| layout.place(i).map(drop))?;
    #[cfg(feature = "std")]
    if options.thread_count() > 1 && which.len() > 1 {
        parallel::decode(layout, which, out, options)?;
        return Ok(samples);
    }
    T::decode_run(layout, which, out, options)?;
    Ok(samples)
}

/// Decodes the segments `which`, which fill `out`.
pub(super) fn decode_run<T: Element>(
    layout: &Layout,
    which: Range<usize>,
    out: &mut [T],
    options: Options,
) -> Result<()> {
    if layout.geometry.channels > 1 {
        return decode_channels(layout, which, out, options);
    }
    let mut scratch = Scratch::default();
    let mut batch = Batch { pending: Vec::new(), tier: options.tier };
    for (i, out) in which.zip(out.chunks_mut(layout.geometry.frames)) {
        let segment = Coded::of(layout, i)?;
        let result = match decode_part(segment, 0, out, &mut scratch, options.tier) {
            Ok(Some(head)) if head.predictor.fixed_order().is_none() => {
                batch.pending.push(Pending { segment, head, out });
                Ok(())
            }
            Ok(_) => segment.verify(out),
            Err(e) => Err(e),
        };
        if result.is_err() || batch.pending.len() == BATCH {
            // An earlier segment, whose prediction is still to be undone, may be damaged too. Its
            // error comes first.
            batch.finish().and(result)?;
        }
    }
    batch.finish()
}

/// Decodes the segments `which` of a stream with channels, which fill `out`. Takes as many segments
/// at a time as have at most [`BATCH`] parts, so that [`linear::undo`] can use all lanes.
fn decode_channels<T: Element>(
    layout: &Layout,
    which: Range<usize>,
    out: &mut [T],
    options: Options,
) -> Result<()> {
    let (channels, segment) = (layout.geometry.channels, layout.geometry.segment());
    let together = (BATCH / channels).max(1);
    let mut scratch = Scratch::default();
    let mut apart = alloc::vec![T::default(); out.len().min(together * segment)];
    for (first, out) in which.step_by(together).zip(out.chunks_mut(together * segment)) {
        let apart = &mut apart[..out.len()];
        let mut batch = Batch { pending: Vec::new(), tier: options.tier };
        let mut decoded = Vec::new();
        let parts = apart.chunks_mut(segment).flat_map(|apart| {
            let frames = apart.len() / channels;
            apart.chunks_mut(frames).enumerate()
        });
        let mut result = Ok(());
        for (i, (channel, part)) in parts.enumerate() {
            let coded = Coded::of(layout, first * channels + i)?;
            match decode_part(coded, channel, part, &mut scratch, options.tier) {
                Ok(head) => {
                    decoded.push((coded, head.map_or(References::NONE, |head| head.references)));
                    match head {
                        Some(head) if head.predictor.fixed_order().is_none() => {
                            batch.pending.push(Pending { segment: coded, head, out: part });
                        }
                        _ => {}
                    }
                }
                Err(e) => {
                    result = Err(e);
                    break;
                }
            }
        }
        batch.undo();
        // Parts before a damaged one may be damaged too. Their error comes first.
        for (apart, decoded) in apart.chunks_mut(segment).zip(decoded.chunks(channels)) {
            add_references(apart, channels, decoded, options.tier)?;
        }
        result?;
        for (apart, out) in apart.chunks(segment).zip(out.chunks_mut(segment)) {
            interleave(T::words(apart), channels, T::words_mut(out));
        }
    }
    Ok(())
}

/// Adds the prediction from other channels to each of the `decoded` parts of a segment, and
/// verifies the part.
fn add_references<T: Element>(
    apart: &mut [T],
    channels: usize,
    decoded: &[(Coded<'_>, References)],
    tier: Tier,
) -> Result<()> {
    let frames = apart.len() / channels;
    for (channel, (coded, references)) in decoded.iter().enumerate() {
        let (before, part) = apart.split_at_mut(channel * frames);
        let part = &mut part[..frames];
        if let Some(weighted) = references.weighted(T::words(before), channel, frames, T::SIGN) {
            weighted.add_to(tier, T::words_mut(part));
        }
        coded.verify(part)?;
    }
    Ok(())
}

/// Memory that is reused for each segment.
#[derive(Default)]
struct Scratch {
    modes: Vec<u8>,
    positions: Positions,
}

/// An encoded part of a segment.
#[derive(Clone, Copy)]
struct Coded<'a> {
    bytes: &'a [u8],
    /// Offset of `bytes` in the stream.
    at: u64,
}

impl<'a> Coded<'a> {
    /// Finds part `i` of a stream.
    fn of(layout: &Layout<'a>, i: usize) -> Result<Coded<'a>> {
        let place = layout.place(i)?;
        let at = layout.start() + place.start;
        Ok(Coded { bytes: &layout.payload()[place], at: at as u64 })
    }

    fn verify<T: Element>(&self, samples: &[T]) -> Result<()> {
        if checksum(&little_endian(samples)) != sum_of(self.bytes)? {
            return Err(Error::corrupt("the checksum of a segment does not match").shifted(self.at));
        }
        Ok(())
    }
}

/// A segment whose output still holds residuals of a linear predictor.
struct Pending<'a, T: Element> {
    segment: Coded<'a>,
    head: Head<T::Word>,
    out: &'a mut [T],
}

/// Segments whose linear prediction is undone together.
struct Batch<'a, T: Element> {
    pending: Vec<Pending<'a, T>>,
    tier: Tier,
}

impl<T: Element> Batch<'_, T> {
    /// Completes and verifies the pending segments. Returns the error of the first damaged one.
    fn finish(&mut self) -> Result<()> {
        self.undo();
        self.pending.drain(..).try_for_each(|Pending { segment, out, .. }| segment.verify(out))
    }

    /// Turns the residuals of the pending segments into samples.
    fn undo(&mut self) {
        let rows = self.pending.iter_mut();
        let mut rows: Vec<_> =
            rows.map(|w| Row { words: T::words_mut(w.out), predictor: w.head.predictor }).collect();
        linear::undo(self.tier, &mut rows);
        for Pending { head, out, .. } in &mut self.pending {
            step::unscale(T::words_mut(out), head.centre, head.step);
        }
    }
}

/// Decodes one part, of channel `channel`, which fills `out`. The prediction from other channels is
/// not added, and a linear prediction is not undone: its residuals are the output. Returns the
/// part's head, or `None` if it is raw.
fn decode_part<T: Element>(
    segment: Coded<'_>,
    channel: usize,
    out: &mut [T],
    scratch: &mut Scratch,
    tier: Tier,
) -> Result<Option<Head<T::Word>>> {
    let parsed = Segment::<T::Word>::parse(segment.bytes, out.len(), channel);
    match parsed.map_err(|e| e.shifted(segment.at))? {
        Segment::Raw(raw) => {
            let words = T::words_mut(out);
            words.iter_mut().zip(raw.chunks(T::Word::BYTES)).for_each(|(to, bytes)| *to = load(bytes));
            Ok(None)
        }
        Segment::Coded { head, modes, body } => {
            let at = segment.at + (segment.bytes.len() - body.len()) as u64;
            decode_blocks(&head, modes, body, T::words_mut(out), scratch, tier).map_err(|e| e.shifted(at))?;
            Ok(Some(head))
        }
    }
}

/// Decodes the blocks of a segment to samples or, with a linear prediction, to residuals.
fn decode_blocks<W: Word>(
    head: &Head<W>,
    packed: &[u8],
    body: &[u8],
    out: &mut [W],
    scratch: &mut Scratch,
    tier: Tier,
) -> Result<()> {
    let Scratch { modes, positions } = scratch;
    let unpacked = head.modes.unpack(packed, out.len().div_ceil(BLOCK), modes);
    unpacked.ok_or(Error::corrupt("a block of a mode that does not exist"))?;
    let Body { fixed, escapes, unary, codes } = Body::of::<W>(body, modes, out.len(), head.escapes)?;
    let bad = Error::corrupt("a segment whose codes do not match its samples");
    positions.find(tier, unary, codes).ok_or(bad)?;
    let blocks = Blocks { modes, fixed, escapes, positions, centre: head.centre, step: head.step, out };
    blocks.decode(tier, head.predictor.fixed_order().unwrap_or(RESIDUALS)).ok_or(bad)
}

#[cfg(feature = "std")]
mod parallel {
    use linerate_core::parallel_map;

    use super::*;

    /// Decodes the segments `which`, which fill `out`, in one run per thread.
    pub(super) fn decode<T: Element>(
        layout: &Layout,
        which: Range<usize>,
        out: &mut [T],
        options: Options,
    ) -> Result<()> {
        let per_thread = which.len().div_ceil(options.thread_count());
        let parts = which.clone().step_by(per_thread).map(|i| i..(i + per_thread).min(which.end));
        let work = parts.zip(out.chunks_mut(per_thread * layout.geometry.segment()));
        let worker = || |(which, out)| T::decode_run(layout, which, out, options);
        // Results are in the order of the segments, so the error returned is the error of the first
        // damaged segment.
        parallel_map(options.thread_count(), work, worker).into_iter().collect()
    }
}

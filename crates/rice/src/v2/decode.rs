//! A stream to samples.

use alloc::vec::Vec;
use core::ops::Range;

use linerate_core::{Error, Kind, Result, Tier};

use super::element::Word;
use super::header::{Layout, checksum};
use super::segment::{Body, Head, Segment, load, sum_of};
use super::{BLOCK, Element, step};
use crate::Exec;
use crate::kernel::adaptive::{Blocks, RESIDUALS};
use crate::kernel::linear::{self, BATCH, Row};
use crate::kernel::unary::Places;
use crate::kernel::words;

/// Decodes a stream into the start of `out` and returns its number of samples.
///
/// `stream` must be the whole stream and nothing more. Allocates up to 68 KiB per thread.
///
/// # Errors
/// Offsets are in bytes of `stream`. After an error the contents of `out` are unspecified.
/// * [`Kind::BadArgument`] if its samples are not of type `T`, or if bytes follow it.
/// * [`Kind::Truncated`], [`Kind::Corrupt`] and [`Kind::Unsupported`] as for
///   [`info`](super::info); [`Kind::Corrupt`] also for a segment that contradicts its checksum or
///   itself, at the segment or within it.
/// * [`Kind::OutputTooSmall`] if `out` has fewer samples than the stream.
pub fn decode_into<T: Element>(stream: &[u8], out: &mut [T], exec: Exec) -> Result<usize> {
    let layout = Layout::of(stream)?;
    if layout.bytes() != stream.len() {
        return Err(Error::new(Kind::BadArgument, layout.bytes() as u64, "bytes follow the stream"));
    }
    decode_range(&layout, 0..layout.segments, out, exec)
}

/// Decodes the segments `which` of a stream into the start of `out` and returns how many samples
/// they have: random access. Nothing but the header, two entries of the table per segment, and
/// the segments themselves is read.
///
/// ```
/// use linerate_rice::{Exec, v2};
/// let settings = v2::Settings::new(500.try_into().ok());
/// let stream = v2::encode(&settings, &Vec::from_iter(0..2000u16), Exec::default())?;
/// let mut out = [0u16; 500];
/// assert_eq!(v2::decode_segments(&stream, 2..3, &mut out, Exec::default())?, 500);
/// assert_eq!(out[0], 1000);
/// # Ok::<(), linerate_rice::Error>(())
/// ```
///
/// # Errors
/// As for [`decode_into`], but bytes may follow the stream; and [`Kind::BadArgument`] if there are
/// no such segments.
pub fn decode_segments<T: Element>(
    stream: &[u8],
    which: Range<usize>,
    out: &mut [T],
    exec: Exec,
) -> Result<usize> {
    let layout = Layout::of(stream)?;
    if which.start > which.end || which.end > layout.segments {
        return Err(Error::new(Kind::BadArgument, 0, "the stream has no such segments"));
    }
    decode_range(&layout, which, out, exec)
}

/// Decodes a whole stream: [`decode_into`] with an output of the right size.
///
/// What is allocated is bounded by 65,536 samples for each 4 bytes of the stream, which a stream
/// of constants comes close to; [`info`](super::info) tells in advance how much it is.
///
/// # Errors
/// As for [`decode_into`], but for the output.
pub fn decode<T: Element>(stream: &[u8], exec: Exec) -> Result<Vec<T>> {
    let layout = Layout::of(stream)?;
    check_type::<T>(&layout)?;
    let mut out = alloc::vec![T::default(); layout.samples];
    decode_into(stream, &mut out, exec)?;
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
    exec: Exec,
) -> Result<usize> {
    check_type::<T>(layout)?;
    let samples = match which.is_empty() {
        true => 0,
        false => layout.samples_of(which.end - 1).end - layout.samples_of(which.start).start,
    };
    let too_small =
        Error::new(Kind::OutputTooSmall, 0, "the output has fewer samples than are to be decoded");
    let out = out.get_mut(..samples).ok_or(too_small)?;
    // First, so that which error is found does not depend on the number of threads.
    which.clone().try_for_each(|i| layout.place(i).map(drop))?;
    #[cfg(feature = "std")]
    if exec.thread_count() > 1 && which.len() > 1 {
        parallel::decode(layout, which, out, exec)?;
        return Ok(samples);
    }
    decode_run(layout, which, out, exec)?;
    Ok(samples)
}

/// Decodes the segments `which`, which fill `out`.
fn decode_run<T: Element>(layout: &Layout, which: Range<usize>, out: &mut [T], exec: Exec) -> Result<()> {
    let mut scratch = Scratch::default();
    let mut batch = Batch { waiting: Vec::new(), tier: exec.tier() };
    for (i, out) in which.zip(out.chunks_mut(layout.segment)) {
        let place = layout.place(i)?;
        let at = layout.start() + place.start;
        let segment = Coded { bytes: &layout.payload()[place], at: at as u64 };
        match decode_segment(segment, out, &mut scratch, &mut batch) {
            Ok(()) if batch.waiting.len() < BATCH => {}
            // An earlier segment may be at fault as well.
            result => batch.finish().and(result)?,
        }
    }
    batch.finish()
}

/// Working memory.
#[derive(Default)]
struct Scratch {
    modes: Vec<u8>,
    places: Places,
}

/// An encoded segment.
#[derive(Clone, Copy)]
struct Coded<'a> {
    bytes: &'a [u8],
    /// Where it begins in the stream.
    at: u64,
}

impl Coded<'_> {
    fn verify<T: Element>(&self, samples: &[T]) -> Result<()> {
        if checksum(&words::little_endian(samples)) != sum_of(self.bytes)? {
            return Err(corrupt("the checksum of a segment does not match").shifted(self.at));
        }
        Ok(())
    }
}

/// A segment whose output holds residuals of a linear prediction.
struct Waiting<'a, T: Element> {
    segment: Coded<'a>,
    head: Head<T::Word>,
    out: &'a mut [T],
}

/// Segments with a linear prediction that is still to be undone, side by side.
struct Batch<'a, T: Element> {
    waiting: Vec<Waiting<'a, T>>,
    tier: Tier,
}

impl<T: Element> Batch<'_, T> {
    /// Completes and verifies what waits. The error is that of the first segment at fault.
    fn finish(&mut self) -> Result<()> {
        let rows = self.waiting.iter_mut();
        let mut rows: Vec<_> =
            rows.map(|w| Row { words: T::words_mut(w.out), predictor: w.head.predictor }).collect();
        linear::undo(self.tier, &mut rows);
        self.waiting.drain(..).try_for_each(|Waiting { segment, head, out }| {
            step::unscale(T::words_mut(out), head.centre, head.step);
            segment.verify(out)
        })
    }
}

/// Decodes one segment, which fills `out`, or leaves it to `batch` half done.
fn decode_segment<'a, T: Element>(
    segment: Coded<'a>,
    out: &'a mut [T],
    scratch: &mut Scratch,
    batch: &mut Batch<'a, T>,
) -> Result<()> {
    match Segment::<T::Word>::parse(segment.bytes, out.len()).map_err(|e| e.shifted(segment.at))? {
        Segment::Raw(raw) => {
            let words = T::words_mut(out);
            words.iter_mut().zip(raw.chunks(T::Word::BYTES)).for_each(|(to, bytes)| *to = load(bytes));
        }
        Segment::Coded { head, modes, body } => {
            let at = segment.at + (segment.bytes.len() - body.len()) as u64;
            decode_blocks(&head, modes, body, T::words_mut(out), scratch, batch.tier)
                .map_err(|e| e.shifted(at))?;
            if head.predictor.fixed_order().is_none() {
                batch.waiting.push(Waiting { segment, head, out });
                return Ok(());
            }
        }
    }
    segment.verify(out)
}

/// Decodes the blocks of a segment: to samples, or with a linear prediction to residuals.
fn decode_blocks<W: Word>(
    head: &Head<W>,
    packed: &[u8],
    body: &[u8],
    out: &mut [W],
    scratch: &mut Scratch,
    tier: Tier,
) -> Result<()> {
    let Scratch { modes, places } = scratch;
    let unpacked = head.modes.unpack(packed, out.len().div_ceil(BLOCK), modes);
    unpacked.ok_or(corrupt("a block of a mode that does not exist"))?;
    let Body { fixed, escapes, unary, codes } = Body::of::<W>(body, modes, out.len(), head.escapes)?;
    let bad = corrupt("a segment whose codes do not match its samples");
    places.find(tier, unary, codes).ok_or(bad)?;
    let blocks = Blocks { modes, fixed, escapes, places, centre: head.centre, step: head.step, out };
    blocks.decode(tier, head.predictor.fixed_order().unwrap_or(RESIDUALS)).ok_or(bad)
}

const fn corrupt(what: &'static str) -> Error {
    Error::new(Kind::Corrupt, 0, what)
}

#[cfg(feature = "std")]
mod parallel {
    use super::*;

    /// Shares out the segments `which`, which fill `out`.
    pub(super) fn decode<T: Element>(
        layout: &Layout,
        which: Range<usize>,
        out: &mut [T],
        exec: Exec,
    ) -> Result<()> {
        let per_thread = which.len().div_ceil(exec.thread_count());
        let parts = which.clone().step_by(per_thread).map(|i| i..(i + per_thread).min(which.end));
        std::thread::scope(|scope| {
            let mut work = parts
                .zip(out.chunks_mut(per_thread * layout.segment))
                .map(|(which, out)| move || decode_run(layout, which, out, exec));
            let mine = work.next();
            let others: Vec<_> = work.map(|work| scope.spawn(work)).collect();
            // In order of the segments, so that the error is that of the first at fault.
            let first = mine.map_or(Ok(()), |work| work());
            let rest = others.into_iter().map(|other| other.join().expect("decoding does not panic"));
            core::iter::once(first).chain(rest).fold(Ok(()), Result::and)
        })
    }
}

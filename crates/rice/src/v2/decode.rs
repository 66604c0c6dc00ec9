//! A stream to samples.

use alloc::vec::Vec;
use core::ops::Range;

use linerate_core::{Error, Kind, Result};

use super::element::Word;
use super::header::{Layout, checksum};
use super::segment::{Body, Head, Segment, load, sum_of};
use super::{BLOCK, ESCAPE, Element, step};
use crate::Exec;
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
    let _ = exec;
    let mut modes = Vec::new();
    for (i, out) in which.zip(out.chunks_mut(layout.segment)) {
        let place = layout.place(i)?;
        let base = (layout.start() + place.start) as u64;
        decode_segment(&layout.payload()[place], out, &mut modes).map_err(|e| e.shifted(base))?;
    }
    Ok(())
}

/// Decodes one segment, which fills `out`.
fn decode_segment<T: Element>(segment: &[u8], out: &mut [T], modes: &mut Vec<u8>) -> Result<()> {
    let samples = out.len();
    match Segment::<T::Word>::parse(segment, samples)? {
        Segment::Raw(raw) => {
            let words = T::words_mut(out);
            words.iter_mut().zip(raw.chunks(T::Word::BYTES)).for_each(|(to, bytes)| *to = load(bytes));
        }
        Segment::Coded { head, modes: packed, body } => {
            let at = (segment.len() - body.len()) as u64;
            let blocks = samples.div_ceil(BLOCK);
            head.modes
                .unpack(packed, blocks, modes)
                .ok_or(corrupt("a block of a mode that does not exist"))
                .map_err(|e| e.shifted(at))?;
            let body = Body::of::<T::Word>(body, modes, samples, head.escapes).map_err(|e| e.shifted(at))?;
            let words = T::words_mut(out);
            decode_blocks(&body, modes, words)
                .ok_or(corrupt("a segment whose codes do not match its samples"))
                .map_err(|e| e.shifted(at))?;
            undo(&head, words);
        }
    }
    if checksum(&words::little_endian(out)) != sum_of(segment)? {
        return Err(corrupt("the checksum of a segment does not match"));
    }
    Ok(())
}

const fn corrupt(what: &'static str) -> Error {
    Error::new(Kind::Corrupt, 0, what)
}

/// Residuals of all blocks. `None` if unary codes do not match what they are for.
fn decode_blocks<W: Word>(body: &Body, modes: &[u8], out: &mut [W]) -> Option<()> {
    let (mut fixed, mut escapes) = (body.fixed, body.escapes.chunks(W::BYTES));
    let mut unary = Unary { bytes: body.unary, at: 0 };
    for (block, &mode) in out.chunks_mut(BLOCK).zip(modes) {
        let k = mode.saturating_sub(1);
        let (bytes, rest) = fixed.split_at(super::blocks::fixed_bytes(mode, block.len()));
        fixed = rest;
        let mut low = Low { bytes, at: 0 };
        for word in block {
            let mut z = low.take(usize::from(k));
            if super::blocks::has_unary::<W>(mode) {
                let mut q = unary.take()?;
                if q == u64::from(ESCAPE) {
                    q = load::<W>(escapes.next()?).get();
                }
                z |= q << k;
            }
            *word = W::of(z).unzigzag();
        }
    }
    (escapes.next().is_none() && unary.is_at_end()).then_some(())
}

/// Fixed bits, least significant first.
struct Low<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Low<'_> {
    fn take(&mut self, bits: usize) -> u64 {
        let value = (0..bits).fold(0, |value, i| {
            let at = self.at + i;
            value | u64::from(self.bytes[at / 8] >> (at % 8) & 1) << i
        });
        self.at += bits;
        value
    }
}

/// Unary codes.
struct Unary<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Unary<'_> {
    fn bit(&self, at: usize) -> Option<bool> {
        self.bytes.get(at / 8).map(|byte| byte >> (at % 8) & 1 == 1)
    }

    /// The next quotient, at most [`ESCAPE`].
    fn take(&mut self) -> Option<u64> {
        for q in 0..=u64::from(ESCAPE) {
            self.at += 1;
            if self.bit(self.at - 1)? {
                return Some(q);
            }
        }
        None
    }

    /// Whether less than a word is left, and that all zero.
    fn is_at_end(&self) -> bool {
        let end = 8 * self.bytes.len();
        end - self.at < 32 && (self.at..end).all(|at| self.bit(at) == Some(false))
    }
}

/// Residuals to samples, in place.
fn undo<W: Word>(head: &Head<W>, words: &mut [W]) {
    let predictor = &head.predictor;
    for i in 0..words.len() {
        let history = words[..i].iter().rev().copied();
        words[i] = words[i].plus(W::predict(predictor.taps(), predictor.shift(), history));
    }
    step::unscale(words, head.centre, head.step);
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

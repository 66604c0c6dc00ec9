//! What a worker does: decodes from a point on, after the window of the index.
//!
//! A worker reports no errors. It stops before the member that has one, and where its memory or
//! input ends, and the calling thread goes on from there.

use std::ops::Range;

use super::WINDOW;
use super::points::Point;
use super::references::References;
use crate::block_decoder::{BlockDecoder, Stop};
use crate::checksum::{CRC32_START, crc32};
use crate::container::{Container, Part};
use crate::options::{Format, Options};
use crate::scratch::Scratch;
use crate::window::History;

/// Bytes that are decoded at a time, so that they are still in the cache when their checksum is
/// computed.
const STEP: usize = 128 << 10;
/// Bytes by which the output grows.
const GROWTH: usize = 1 << 20;
/// Bytes of the trailer of a gzip member.
const TRAILER: usize = 8;

/// Bytes of the file.
#[derive(Default)]
pub(super) struct Piece {
    /// Offset in the file.
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
}

pub(super) struct Task<'i> {
    pub(super) piece: Piece,
    /// Where to begin; without one there is nothing to do.
    pub(super) point: Option<&'i Point>,
    /// The bit of the file before whose block, or a later one, to stop.
    pub(super) end: u64,
    /// Memory for the output.
    pub(super) output: Vec<u8>,
    /// Most bytes of output.
    pub(super) share: usize,
}

/// Data of one gzip member.
pub(super) struct Segment {
    /// Offsets in the file of its first byte that is not in the decoder before, and of the byte
    /// after the last.
    pub(super) from: u64,
    pub(super) to: u64,
    /// The decoder after it.
    pub(super) blocks: BlockDecoder,
    pub(super) output: Range<usize>,
    /// The CRC-32 of the output.
    pub(super) check: u32,
}

pub(super) struct Chunk<'i> {
    pub(super) task: Task<'i>,
    /// The window of the point, and which of 32 KiB matches refer to.
    pub(super) window: Vec<u8>,
    pub(super) referred: Vec<bool>,
    pub(super) segments: Vec<Segment>,
}

/// Working memory of a worker.
pub(super) struct Worker {
    scratch: Box<Scratch>,
    references: References,
}

impl Worker {
    pub(super) fn new() -> Self {
        Worker { scratch: Box::default(), references: References::new() }
    }

    pub(super) fn decode<'i>(&mut self, mut task: Task<'i>) -> Chunk<'i> {
        let window = task.point.and_then(|point| point.window.as_ref());
        let window = window.map(|window| window.to_vec()).unwrap_or_default();
        let (mut referred, mut segments) = (Vec::new(), Vec::new());
        if let Some((blocks, at)) = begin(&task) {
            if !window.is_empty() {
                self.references.begin(blocks.snapshot());
                self.references.feed(&task.piece.bytes[at..]);
                referred = self.references.referred();
            }
            let work = Work { scratch: &mut self.scratch, task: &mut task };
            segments = work.members(blocks, at, &window);
        }
        Chunk { task, window, referred, segments }
    }
}

/// The decoder at the point, and the offset in the piece of what it has not read.
fn begin(task: &Task) -> Option<(BlockDecoder, usize)> {
    let bit = task.point?.bit;
    let at = usize::try_from((bit / 8).checked_sub(task.piece.at)?).ok()?;
    let first = *task.piece.bytes.get(at)?;
    Some(match (bit % 8) as u8 {
        0 => (BlockDecoder::new(), at),
        used => (BlockDecoder::within_byte(first, 8 - used), at + 1),
    })
}

struct Work<'a, 'i> {
    scratch: &'a mut Scratch,
    task: &'a mut Task<'i>,
}

impl Work<'_, '_> {
    /// Decodes the rest of a member, and those that follow.
    fn members(mut self, mut blocks: BlockDecoder, mut at: usize, window: &[u8]) -> Vec<Segment> {
        let (mut segments, mut history, mut from) = (Vec::new(), History::of_dictionary(window), 0);
        loop {
            let start = at;
            let Some((len, check)) = self.data(&mut blocks, &mut at, history, from) else { break };
            let [start, to] = [start, at].map(|at| self.task.piece.at + at as u64);
            let (is_at_end, output) = (blocks.is_at_end(), from..from + len);
            segments.push(Segment { from: start, to, blocks, output, check });
            let next = if is_at_end { self.member_data(at + TRAILER) } else { None };
            let Some(next) = next else { break };
            (blocks, at, from, history) = (BlockDecoder::new(), next, from + len, History::EMPTY);
        }
        segments
    }

    /// Decodes data to `output[from..]`. Returns the length and CRC-32 of its content; `None` if
    /// there is an error.
    fn data(
        &mut self,
        blocks: &mut BlockDecoder,
        at: &mut usize,
        history: History<'_>,
        from: usize,
    ) -> Option<(usize, u32)> {
        let (bytes, output) = (&self.task.piece.bytes, &mut self.task.output);
        let (mut len, mut check) = (0, CRC32_START);
        loop {
            let room = (from + len + STEP).min(output.len());
            let stop = self.task.end as i64 - 8 * (self.task.piece.at as i64 + *at as i64);
            let (scratch, before) = (&mut *self.scratch, (history, WINDOW));
            let (src, out) = (&bytes[*at..], &mut output[from..room]);
            let (result, read, written) = blocks.decode_until(scratch, before, src, out, len, stop);
            check = crc32(check, &out[len..len + written]);
            (*at, len) = (*at + read, len + written);
            match result {
                Err(Stop::Failed(_)) => return None,
                Err(Stop::Full) if room < output.len() => {}
                Err(Stop::Full) if output.len() < self.task.share => {
                    output.resize((output.len() + GROWTH).min(self.task.share), 0);
                }
                _ => return Some((len, check)),
            }
        }
    }

    /// The offset of the data of the gzip member at `at`. `None` if its header is not valid, or not
    /// whole.
    fn member_data(&self, at: usize) -> Option<usize> {
        let mut container = Container::new(&Options::new(Format::Gzip));
        let read = container.read(self.task.piece.bytes.get(at..)?).ok()?;
        (container.part == Part::Data).then_some(at + read)
    }
}

//! The work of a worker: finds a block or member in its piece of the input, and decodes from there
//! to the next piece.
//!
//! The 32 KiB before the block are unknown. So the output begins with 16-bit units; those of 256
//! and above are markers, each for a place in this window. Bytes follow as soon as the last 32 KiB
//! have no markers, or when the memory for units is full and the previous chunk has ended. With a
//! window from an index there are no markers.
//!
//! A worker reports no errors. It stops before them, and where its memory or input ends; the
//! calling thread continues from there.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use super::finder::{Finder, Place};
use super::link::{KnownWindow, Resolver, State, TRAILER};
use crate::block_decoder::{BlockDecoder, Stop};
use crate::container::{Container, Part};
use crate::options::{Format, Options};
use crate::references::References;
use crate::scratch::Scratch;
use crate::sparse_window::SparseWindow;
use crate::window::{FIRST_MARKER, History, WINDOW};

/// Minimum number of bytes by which an output buffer grows. It grows by doubling.
const LEAST_GROWTH: usize = 16 << 10;
/// Maximum number of bytes by which an output buffer grows.
const MOST_GROWTH: usize = 1 << 20;
/// Number of output units decoded in vain before a search gives up. Crafted data has apparent
/// headers everywhere; ordinary data has one every few hundred bytes.
const MOST_IN_VAIN: usize = 16 << 20;
/// Number of units of [`MOST_IN_VAIN`] that trying a header costs. It takes about as long as
/// decoding them.
const HEADER_COST: usize = 1 << 10;

/// A piece of the input.
pub(super) struct Piece {
    /// Offset in the input.
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
}

impl Piece {
    pub(super) fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }
}

/// The place where a worker begins.
pub(crate) enum Start<'i> {
    /// The worker begins before the block at this bit of the input, after this window of an index.
    /// Without a window the block is the first of its stream or member.
    Known(u64, Option<&'i SparseWindow>),
    /// The worker searches for a block or member, and begins there.
    Search,
    /// The worker decodes nothing, and leaves the piece to the calling thread.
    Skip,
}

/// Output buffers, which are reused.
#[derive(Default)]
pub(super) struct Buffers {
    /// A window of markers, then output in units.
    pub(super) marked: Vec<u16>,
    /// Output in bytes.
    pub(super) plain: Vec<u8>,
    /// The bytes of the marked output, once they are known.
    pub(super) resolved: Vec<u8>,
}

pub(super) struct Task<'i> {
    pub(super) piece: Arc<Piece>,
    /// The piece after `piece`.
    pub(super) next: Option<Arc<Piece>>,
    pub(super) start: Start<'i>,
    /// The worker stops before the first block that begins at this bit of the input or later. If it
    /// is `None`, it stops at the first block after the piece that another worker would find.
    pub(super) end: Option<u64>,
    pub(super) is_gzip: bool,
    /// The checksum function for content.
    pub(super) check: fn(&[u8]) -> u32,
    /// Maximum size of each output buffer in bytes. A 16-bit unit takes two bytes.
    pub(super) share: usize,
    pub(super) buffers: Buffers,
    /// Receives the state before the chunk from the worker of the previous chunk.
    pub(super) before: Receiver<State>,
    /// Sends the state after the chunk to the worker of the next chunk.
    pub(super) after: Sender<State>,
}

/// The decoded data of a whole chunk, or of one gzip member in it.
pub(super) struct Segment {
    /// Offset in the input of the first whole byte of the segment.
    pub(super) from: u64,
    /// Offset in the input after the last byte that the segment has read.
    pub(super) to: u64,
    /// The decoder at the end of the segment.
    pub(super) blocks: BlockDecoder,
    /// The range of the segment's output in [`Buffers::plain`]. The output of the first segment may
    /// begin in [`Buffers::marked`].
    pub(super) plain: Range<usize>,
    /// Checksum of the output in `plain`.
    pub(super) check: u32,
}

/// The output of a worker for a piece and the beginning of the next.
pub(super) struct Chunk {
    pub(super) piece: Arc<Piece>,
    pub(super) next: Option<Arc<Piece>>,
    /// Whether the format is gzip, which has its own checksum.
    pub(super) is_gzip: bool,
    /// Whether the worker searched for a beginning.
    pub(super) has_searched: bool,
    /// The place where the chunk begins, or `None` if it has no segments. A [`Place::Dynamic`] may
    /// be a block of any kind.
    pub(super) start: Option<Place>,
    /// The window from an index, if one was used.
    pub(super) window: Option<KnownWindow>,
    /// The range in [`Buffers::marked`] of the units with which the first segment's output begins.
    pub(super) marked: Range<usize>,
    pub(super) segments: Vec<Segment>,
    pub(super) buffers: Buffers,
    /// The checksum of the marked output, if that is resolved.
    pub(super) marked_check: Option<u32>,
    /// Whether the output is valid only after the state that the previous chunk has sent.
    pub(super) is_bound: bool,
    /// Sends the state after the chunk. `None` if it has been sent.
    pub(super) after: Option<Sender<State>>,
}

/// The memory of a worker.
#[derive(Default)]
pub(super) struct Memory {
    scratch: Scratch,
    resolver: Resolver,
    references: Option<References>,
}

/// Decodes the chunk of a task.
pub(super) fn decode(memory: &mut Memory, task: Task) -> Chunk {
    let Task { piece, next, start, end, is_gzip, check, share, buffers, before, after } = task;
    let Memory { scratch, resolver, references } = memory;
    let bytes = (&piece.bytes[..], next.as_ref().map_or(&[][..], |next| &next.bytes));
    let origin = piece.at;
    let has_searched = matches!(start, Start::Search);
    let mut work = Work {
        scratch,
        resolver,
        bytes,
        origin,
        end,
        is_gzip,
        check,
        share,
        before: &before,
        state: None,
        is_bound: false,
        out: Output::new(buffers),
    };
    let mut window = None;
    let (start, segments) = match start {
        Start::Skip => (None, Vec::new()),
        Start::Known(bit, known) => {
            if let Some(known) = known {
                let (blocks, at) = work.blocks_at(bit - 8 * origin);
                let references = references.get_or_insert_with(References::new);
                let known = KnownWindow::new(known, references.find(blocks, work.input(at)));
                work.out.begin_after(&known.bytes);
                window = Some(known);
            }
            let (blocks, at) = work.blocks_at(bit - 8 * origin);
            let start = Place::Dynamic(bit);
            (Some(start), work.decode(start, blocks, at, 0).unwrap_or_default())
        }
        Start::Search => match work.search() {
            Some((place, segments)) => (Some(place.after(origin)), segments),
            None => (None, Vec::new()),
        },
    };
    let marked = WINDOW.min(work.out.marked_len)..work.out.marked_len;
    let (state, is_bound, buffers) = (work.state, work.is_bound, work.out.buffers);
    let mut chunk = Chunk {
        piece,
        next,
        is_gzip,
        has_searched,
        start,
        window,
        marked,
        segments,
        buffers,
        marked_check: None,
        is_bound,
        after: Some(after),
    };
    if chunk.start.is_some()
        // If no state arrives, the calling thread has failed.
        && let Some(state) = state.or_else(|| before.recv().ok())
    {
        chunk.resolve(resolver, &state, check);
    }
    chunk
}

/// The output of a chunk.
struct Output {
    buffers: Buffers,
    /// Number of units so far, including the window of markers; 0 if there is no such window.
    marked_len: usize,
    /// Index of the unit after the last marker.
    clean_from: usize,
    is_marked: bool,
    plain_len: usize,
    /// Start of the bytes in `plain` that matches may refer to.
    plain_from: usize,
}

/// A position from which decoding can continue.
struct Point {
    blocks: BlockDecoder,
    at: usize,
    is_marked: bool,
    marked_len: usize,
    plain_len: usize,
}

struct Work<'a> {
    scratch: &'a mut Scratch,
    resolver: &'a mut Resolver,
    bytes: (&'a [u8], &'a [u8]),
    /// Offset in the input of the first byte of `bytes`.
    origin: u64,
    end: Option<u64>,
    is_gzip: bool,
    check: fn(&[u8]) -> u32,
    share: usize,
    /// Receives the state before the chunk.
    before: &'a Receiver<State>,
    /// The state before the chunk, once it has arrived.
    state: Option<State>,
    /// Whether output depends on this state.
    is_bound: bool,
    out: Output,
}

impl<'a> Work<'a> {
    /// Returns the input from `at`, as far as it is contiguous.
    fn input(&self, at: usize) -> &'a [u8] {
        let (first, second) = self.bytes;
        first
            .get(at..)
            .filter(|rest| !rest.is_empty())
            .unwrap_or_else(|| &second[(at - first.len()).min(second.len())..])
    }

    /// Decodes from the first place that turns out to be right.
    fn search(&mut self) -> Option<(Place, Vec<Segment>)> {
        let mut left = MOST_IN_VAIN;
        for place in Finder::new(self.bytes.0, self.is_gzip) {
            if let Some(segments) = self.decode_at(place) {
                return Some((place, segments));
            }
            left = left.checked_sub(HEADER_COST + self.out.len())?;
        }
        None
    }

    /// Decodes from a place. Returns `None` if it turns out to be wrong.
    fn decode_at(&mut self, place: Place) -> Option<Vec<Segment>> {
        let start = place.after(self.origin);
        match place {
            Place::Dynamic(bit) => {
                self.out.begin(true);
                let (blocks, at) = self.blocks_at(bit);
                self.decode(start, blocks, at, 1)
            }
            Place::Stored(at) => {
                self.out.begin(true);
                // The three header bits of a stored block that is not final are zero.
                self.decode(start, BlockDecoder::within_byte(0, 3), at as usize, 2)
            }
            Place::Member(at) => {
                self.out.begin(false);
                let data = self.member_data(at as usize)?;
                self.decode(start, BlockDecoder::new(), data, 0)
            }
        }
    }

    /// Returns a decoder before the block at a bit of the piece, and the offset of the first byte
    /// that it has not read.
    fn blocks_at(&self, bit: u64) -> (BlockDecoder, usize) {
        let at = (bit / 8) as usize;
        match (bit % 8) as u8 {
            0 => (BlockDecoder::new(), at),
            used => (BlockDecoder::within_byte(self.bytes.0[at], 8 - used), at + 1),
        }
    }

    /// Decodes from `at`. Returns `None` if there is an error in the first `unproven` blocks, or a
    /// fixed block between two of them, which proves nothing.
    fn decode(
        &mut self,
        start: Place,
        mut blocks: BlockDecoder,
        mut at: usize,
        mut unproven: u32,
    ) -> Option<Vec<Segment>> {
        let mut segments = Vec::new();
        let (mut from, mut plain_from) = (at, self.out.plain_len);
        let mut good = self.point(&blocks, at);
        loop {
            if blocks.is_before_block() && self.end.is_some_and(|end| self.bit(&blocks, at) >= end) {
                break;
            }
            match self.step(&mut blocks, &mut at) {
                Err(Stop::Boundary) => {
                    let next = self.next_block(&blocks, at);
                    unproven = unproven.saturating_sub(1);
                    if unproven > 0 && next >> 1 == 1 {
                        return None;
                    }
                    good = self.point(&blocks, at);
                    // The chunk may end only at a block that the next worker searches for.
                    let piece_end = 8 * (self.origin + self.bytes.0.len() as u64);
                    if self.end.is_none() && self.bit(&blocks, at) >= piece_end && matches!(next, 0 | 4) {
                        break;
                    }
                }
                Err(Stop::Exhausted) if self.input(at).is_empty() => break,
                Err(Stop::Exhausted) => {}
                Err(Stop::Full) => {
                    if !self.out.make_room(self.share) {
                        if !self.bind(start) {
                            break;
                        }
                        plain_from = self.out.plain_len;
                    }
                }
                Err(Stop::Failed(_)) if unproven > 0 => return None,
                Err(Stop::Failed(_)) => {
                    (blocks, at) = (good.blocks, good.at);
                    let out = &mut self.out;
                    (out.is_marked, out.marked_len, out.plain_len) =
                        (good.is_marked, good.marked_len, good.plain_len);
                    break;
                }
                Ok(()) => {
                    let next_at = at + TRAILER as usize;
                    if !self.is_gzip || next_at >= self.bytes.0.len() {
                        break;
                    }
                    let Some(data) = self.member_data(next_at) else { break };
                    segments.push(self.segment(blocks, from..at, plain_from));
                    (blocks, at, from) = (BlockDecoder::new(), data, data);
                    self.out.begin_member();
                    plain_from = self.out.plain_from;
                    good = self.point(&blocks, at);
                }
            }
            if self.out.leave_markers() {
                plain_from = self.out.plain_len;
            }
        }
        segments.push(self.segment(blocks, from..at, plain_from));
        Some(segments)
    }

    /// Waits for the state before the chunk, to continue with bytes when the memory for units is
    /// full. Returns whether that is possible.
    fn bind(&mut self, start: Place) -> bool {
        if !self.out.is_marked {
            return false;
        }
        if self.state.is_none() {
            self.state = self.before.recv().ok();
        }
        let marked = &self.out.buffers.marked[WINDOW..self.out.marked_len];
        let Some(state) = &self.state else { return false };
        if !state.is_before(start, self.is_gzip, (self.origin, self.bytes.0))
            || !self.resolver.set_window(&state.window, marked)
        {
            return false;
        }
        let window = self.resolver.window(&state.window, marked, &[]);
        self.out.go_on_after(&window);
        self.is_bound = true;
        true
    }

    /// Returns the bit of the input where the next block begins.
    fn bit(&self, blocks: &BlockDecoder, at: usize) -> u64 {
        8 * (self.origin + at as u64) - u64::from(blocks.ahead())
    }

    fn point(&self, blocks: &BlockDecoder, at: usize) -> Point {
        let Output { is_marked, marked_len, plain_len, .. } = self.out;
        Point { blocks: blocks.snapshot(), at, is_marked, marked_len, plain_len }
    }

    fn segment(&self, blocks: BlockDecoder, input: Range<usize>, plain_from: usize) -> Segment {
        let plain = plain_from.min(self.out.plain_len)..self.out.plain_len;
        let check = (self.check)(&self.out.buffers.plain[plain.clone()]);
        let [from, to] = [input.start, input.end].map(|at| self.origin + at as u64);
        Segment { from, to, blocks, plain, check }
    }

    /// Decodes up to the next block, or as far as input and space allow.
    fn step(&mut self, blocks: &mut BlockDecoder, at: &mut usize) -> Result<(), Stop> {
        let src = self.input(*at);
        let stop = 1 - i64::from(blocks.ahead());
        let before = (History::EMPTY, WINDOW);
        let (scratch, out) = (&mut *self.scratch, &mut self.out);
        let (result, read) = if out.is_marked {
            let from = out.marked_len;
            let end = (from + WINDOW).min(out.buffers.marked.len());
            let to = &mut out.buffers.marked[..end];
            let (result, read, written) = blocks.decode_until(scratch, before, src, to, from, stop);
            out.marked_len += written;
            if let Some(last) = last_marker(&out.buffers.marked[from..from + written]) {
                out.clean_from = from + last + 1;
            }
            (result, read)
        } else {
            let to = &mut out.buffers.plain[out.plain_from..];
            let from = out.plain_len - out.plain_from;
            let (result, read, written) = blocks.decode_until(scratch, before, src, to, from, stop);
            out.plain_len += written;
            (result, read)
        };
        *at += read;
        result
    }

    /// Returns the first three bits of the block at a position. Bits beyond the input are 1.
    fn next_block(&self, blocks: &BlockDecoder, at: usize) -> u64 {
        let byte = self.input(at).first().copied().unwrap_or(0xff);
        (blocks.bits_ahead() | u64::from(byte) << blocks.ahead()) & 7
    }

    /// Returns the offset of the data of the gzip member at `at`, or `None` if its header is
    /// invalid or incomplete.
    fn member_data(&self, mut at: usize) -> Option<usize> {
        let mut container = Container::new(&Options::new(Format::Gzip));
        while container.part != Part::Data {
            let src = self.input(at);
            let read = container.read(src).ok()?;
            if src.is_empty() {
                return None;
            }
            at += read;
        }
        Some(at)
    }
}

impl Output {
    /// Creates an output without a window and without markers.
    fn new(mut buffers: Buffers) -> Self {
        if buffers.marked.is_empty() {
            buffers.marked.extend((0..WINDOW as u16).map(|place| FIRST_MARKER + place));
        }
        Output { buffers, marked_len: 0, clean_from: 0, is_marked: false, plain_len: 0, plain_from: 0 }
    }

    /// Returns the number of units and bytes so far.
    fn len(&self) -> usize {
        self.marked_len.saturating_sub(WINDOW) + self.plain_len
    }

    /// Begins again: with output in units after a window of markers, or in bytes without a window.
    fn begin(&mut self, is_marked: bool) {
        let marked_len = if is_marked { WINDOW } else { 0 };
        (self.marked_len, self.clean_from, self.is_marked) = (marked_len, WINDOW, is_marked);
        (self.plain_len, self.plain_from) = (0, 0);
    }

    /// Begins again, after a known window.
    fn begin_after(&mut self, window: &[u8]) {
        self.begin(false);
        self.go_on_after(window);
    }

    /// Continues with output in bytes, not in 16-bit units, after a window whose bytes are known.
    fn go_on_after(&mut self, window: &[u8]) {
        let plain = &mut self.buffers.plain;
        plain.resize(plain.len().max(window.len()), 0);
        plain[..window.len()].copy_from_slice(window);
        (self.is_marked, self.plain_len, self.plain_from) = (false, window.len(), 0);
    }

    /// Continues with a member, whose matches refer to nothing before it.
    fn begin_member(&mut self) {
        self.is_marked = false;
        self.plain_from = self.plain_len;
    }

    /// Continues with output in bytes if it is in units and the last 32,768 of them have no marker.
    /// Returns whether it changes to bytes.
    fn leave_markers(&mut self) -> bool {
        if !self.is_marked || self.marked_len - self.clean_from < WINDOW {
            return false;
        }
        let window = &self.buffers.marked[self.marked_len - WINDOW..self.marked_len];
        let window: Vec<u8> = window.iter().map(|&unit| unit as u8).collect();
        self.go_on_after(&window);
        true
    }

    /// Makes room for more output if the share allows it. Returns whether there is room.
    fn make_room(&mut self, share: usize) -> bool {
        let Buffers { marked, plain, .. } = &mut self.buffers;
        if self.is_marked {
            // The buffer may only have been full up to the end of a step.
            return self.marked_len < marked.len() || grow(marked, share / 2);
        }
        grow(plain, share)
    }
}

/// Lengthens a buffer, to at most `most` elements. Returns whether it got longer.
fn grow<T: Copy + Default>(buffer: &mut Vec<T>, most: usize) -> bool {
    let by = buffer.len().clamp(LEAST_GROWTH / size_of::<T>(), MOST_GROWTH / size_of::<T>());
    let len = (buffer.len() + by).min(most);
    if len <= buffer.len() {
        return false;
    }
    buffer.reserve_exact(len - buffer.len());
    buffer.resize(len, T::default());
    true
}

/// Returns the index of the last marker among units of output: a unit below 256 is a byte, and any
/// other is a marker, a reference to the unknown window.
fn last_marker(units: &[u16]) -> Option<usize> {
    let is_marker = |unit: &u16| *unit >= FIRST_MARKER;
    // This takes no branch for each unit.
    let any = |units: &&[u16]| units.iter().fold(0, |all, unit| all | unit) >= FIRST_MARKER;
    let (tail, chunks) = (units.chunks_exact(64).remainder(), units.chunks_exact(64));
    if let Some(last) = tail.iter().rposition(is_marker) {
        return Some(units.len() - tail.len() + last);
    }
    let (index, chunk) = chunks.enumerate().rev().find(|(_, chunk)| any(chunk))?;
    Some(64 * index + chunk.iter().rposition(is_marker)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_marker_is_found_at_every_place() {
        for len in [0, 1, 63, 64, 65, 200] {
            assert_eq!(last_marker(&vec![255; len]), None);
            for at in 0..len {
                let mut units = vec![255; len];
                units[at] = 256;
                units[at / 2] = 256 + 32767;
                assert_eq!(last_marker(&units), Some(at));
            }
        }
    }
}

//! What a worker does: finds a block or member in its piece of the input, and decodes from there to the next piece.
//!
//! The 32 KiB before the block are not known. So the output begins with units of 16 bits, of which
//! those from 256 on are places in this window: markers. As soon as the last 32 KiB have none,
//! bytes follow; or when there is no more memory for units, and the chunk before has ended. A
//! window that an index knows needs no markers.
//!
//! A worker reports no errors. It stops before them, and where its memory or input ends, and the calling thread goes on from there.

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

/// Bytes by which a buffer of the output grows: it doubles, from the least to the most.
const LEAST_GROWTH: usize = 16 << 10;
const MOST_GROWTH: usize = 1 << 20;
/// Units of output that are decoded in vain before a search is given up, and how many of them a header costs in time: crafted data has
/// headers everywhere. Ordinary data has one that looks like a block every few hundred bytes.
const MOST_IN_VAIN: usize = 16 << 20;
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

/// How a worker begins.
pub(crate) enum Start<'i> {
    /// Before the block at this bit of the input, after the window of an index; without one, after
    /// nothing.
    Known(u64, Option<&'i SparseWindow>),
    /// At a block or member that it finds.
    Search,
    /// Not at all.
    Skip,
}

/// Output buffers, which are used again.
#[derive(Default)]
pub(super) struct Buffers {
    /// A window of markers, then output.
    pub(super) marked: Vec<u16>,
    pub(super) plain: Vec<u8>,
    /// The bytes of the marked output, once they are known.
    pub(super) resolved: Vec<u8>,
}

pub(super) struct Task<'i> {
    pub(super) piece: Arc<Piece>,
    /// The piece after it.
    pub(super) next: Option<Arc<Piece>>,
    pub(super) start: Start<'i>,
    /// The bit of the input before whose block, or a later one, to stop. Without, it is the first
    /// after the piece that a worker finds.
    pub(super) end: Option<u64>,
    pub(super) is_gzip: bool,
    /// The checksum of content.
    pub(super) check: fn(&[u8]) -> u32,
    /// Most bytes of output in each of the buffers, of which a unit of 16 bits is two.
    pub(super) share: usize,
    pub(super) buffers: Buffers,
    /// The states before and after the chunk.
    pub(super) before: Receiver<State>,
    pub(super) after: Sender<State>,
}

/// Data that was decoded: all of the chunk, or that of one gzip member.
pub(super) struct Segment {
    /// Offsets in the input of its first byte, and of the byte after the last.
    pub(super) from: u64,
    pub(super) to: u64,
    /// The decoder after it.
    pub(super) blocks: BlockDecoder,
    /// Its bytes in the buffer.
    pub(super) plain: Range<usize>,
    /// Their checksum.
    pub(super) check: u32,
}

/// What a worker has decoded of a piece and the beginning of the next.
pub(super) struct Chunk {
    pub(super) piece: Arc<Piece>,
    pub(super) next: Option<Arc<Piece>>,
    /// Whether it is of gzip members: a zlib stream after them has other checksums.
    pub(super) is_gzip: bool,
    /// Whether a beginning was looked for.
    pub(super) has_searched: bool,
    /// Where it begins. Without, there are no segments; a [`Place::Dynamic`] may be any block.
    pub(super) start: Option<Place>,
    /// The window that was taken from an index.
    pub(super) window: Option<KnownWindow>,
    /// The output of the first segment begins with these units of the buffer.
    pub(super) marked: Range<usize>,
    pub(super) segments: Vec<Segment>,
    pub(super) buffers: Buffers,
    /// The checksum of the marked output, if it is resolved.
    pub(super) marked_check: Option<u32>,
    /// Whether the output is right only after the state that the chunk before has passed on.
    pub(super) is_bound: bool,
    /// Where the state after the chunk goes, unless it is there.
    pub(super) after: Option<Sender<State>>,
}

/// The memory of a worker.
#[derive(Default)]
pub(super) struct Memory {
    scratch: Scratch,
    resolver: Resolver,
    references: Option<References>,
}

/// Decodes what there is of a task.
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
        // Without a state the calling thread has failed.
        && let Some(state) = state.or_else(|| before.recv().ok())
    {
        chunk.resolve(resolver, &state, check);
    }
    chunk
}

/// The output of a chunk.
struct Output {
    buffers: Buffers,
    /// Units so far, the window of markers included; 0 if the window is known.
    marked_len: usize,
    /// The unit after the last marker.
    clean_from: usize,
    is_marked: bool,
    plain_len: usize,
    /// Where the bytes begin that matches reach.
    plain_from: usize,
}

/// Where decoding may go on.
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
    /// Offset in the input of the first of them.
    origin: u64,
    end: Option<u64>,
    is_gzip: bool,
    check: fn(&[u8]) -> u32,
    share: usize,
    /// Where the state before the chunk comes from, and this state once it is there.
    before: &'a Receiver<State>,
    state: Option<State>,
    /// Whether output depends on it.
    is_bound: bool,
    out: Output,
}

impl<'a> Work<'a> {
    /// The input from `at` on, as far as it is contiguous.
    fn input(&self, at: usize) -> &'a [u8] {
        let (first, second) = self.bytes;
        first
            .get(at..)
            .filter(|rest| !rest.is_empty())
            .unwrap_or_else(|| &second[(at - first.len()).min(second.len())..])
    }

    /// Decodes from the first place that is one.
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

    /// Decodes from a place on. `None` if it turns out to be none.
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
                // The three bits of the header are zero.
                self.decode(start, BlockDecoder::within_byte(0, 3), at as usize, 2)
            }
            Place::Member(at) => {
                self.out.begin(false);
                let data = self.member_data(at as usize)?;
                self.decode(start, BlockDecoder::new(), data, 0)
            }
        }
    }

    /// The decoder before a block at a bit of the piece, and the offset of what it has not read.
    fn blocks_at(&self, bit: u64) -> (BlockDecoder, usize) {
        let at = (bit / 8) as usize;
        match (bit % 8) as u8 {
            0 => (BlockDecoder::new(), at),
            used => (BlockDecoder::within_byte(self.bytes.0[at], 8 - used), at + 1),
        }
    }

    /// Decodes from `at` on. `None` if there is an error in the first `unproven` blocks, or a fixed block between two of them,
    /// which says nothing.
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
                    // Only blocks that the next worker looks for.
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

    /// Waits for the state before the chunk, to go on with bytes where there is no more memory for
    /// units. Returns whether it can.
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

    /// The bit of the input where the next block begins.
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

    /// Decodes up to the next block, or as far as there is input and space.
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

    /// The first three bits of the block at a position; those beyond the input are 1.
    fn next_block(&self, blocks: &BlockDecoder, at: usize) -> u64 {
        let byte = self.input(at).first().copied().unwrap_or(0xff);
        (blocks.bits_ahead() | u64::from(byte) << blocks.ahead()) & 7
    }

    /// The offset of the data of the gzip member at `at`. `None` if its header is not valid, or not whole.
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
    /// Without a window, and without markers.
    fn new(mut buffers: Buffers) -> Self {
        if buffers.marked.is_empty() {
            buffers.marked.extend((0..WINDOW as u16).map(|place| FIRST_MARKER + place));
        }
        Output { buffers, marked_len: 0, clean_from: 0, is_marked: false, plain_len: 0, plain_from: 0 }
    }

    /// Units and bytes so far.
    fn len(&self) -> usize {
        self.marked_len.saturating_sub(WINDOW) + self.plain_len
    }

    /// Begins anew, after a window of markers or none.
    fn begin(&mut self, is_marked: bool) {
        let marked_len = if is_marked { WINDOW } else { 0 };
        (self.marked_len, self.clean_from, self.is_marked) = (marked_len, WINDOW, is_marked);
        (self.plain_len, self.plain_from) = (0, 0);
    }

    /// Begins anew, after a window that is known.
    fn begin_after(&mut self, window: &[u8]) {
        self.begin(false);
        self.go_on_after(window);
    }

    /// Goes on with bytes after a window.
    fn go_on_after(&mut self, window: &[u8]) {
        let plain = &mut self.buffers.plain;
        plain.resize(plain.len().max(window.len()), 0);
        plain[..window.len()].copy_from_slice(window);
        (self.is_marked, self.plain_len, self.plain_from) = (false, window.len(), 0);
    }

    /// Goes on with a member, before which there is nothing.
    fn begin_member(&mut self) {
        self.is_marked = false;
        self.plain_from = self.plain_len;
    }

    /// Goes on with bytes if the window has no markers; returns whether it does.
    fn leave_markers(&mut self) -> bool {
        if !self.is_marked || self.marked_len - self.clean_from < WINDOW {
            return false;
        }
        let window = &self.buffers.marked[self.marked_len - WINDOW..self.marked_len];
        let window: Vec<u8> = window.iter().map(|&unit| unit as u8).collect();
        self.go_on_after(&window);
        true
    }

    /// Makes room for more output if the share allows; returns whether it does.
    fn make_room(&mut self, share: usize) -> bool {
        let Buffers { marked, plain, .. } = &mut self.buffers;
        if self.is_marked {
            // It may have been the end of a step.
            return self.marked_len < marked.len() || grow(marked, share / 2);
        }
        grow(plain, share)
    }
}

/// Makes a buffer longer, up to a length; returns whether it is.
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

/// The last unit that is a marker.
fn last_marker(units: &[u16]) -> Option<usize> {
    let is_marker = |unit: &u16| *unit >= FIRST_MARKER;
    // Without a branch per unit.
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

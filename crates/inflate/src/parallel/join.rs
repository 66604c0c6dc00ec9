//! Joins chunks in order, and decodes the data between them.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::Totals;
use super::chunk::{Buffers, Chunk, Piece};
use super::finder::Place;
use super::link::{Next, Resolver, State, TRAILER, bytes_of};
use crate::stream::Members;
use crate::stream_decoder::DataEnd;

/// Number of content bytes decoded at a time at the beginning, so that short content takes little
/// memory.
const FIRST_BUFFER: usize = 16 << 10;
/// Maximum number of content bytes decoded at a time later. It far exceeds the window, which is
/// copied each time.
const BUFFER: usize = 256 << 10;

/// The decoder of the stream. Everything before its position is decoded and written.
pub(super) struct Join<P> {
    members: Members,
    /// Called with each part of the content, and with the totals before it.
    put: P,
    /// The input from the position on, in pieces. The first may also have bytes before the
    /// position.
    pieces: VecDeque<Arc<Piece>>,
    buffer: Vec<u8>,
    bytes_out: u64,
    /// Resolves the markers of chunks whose worker could not.
    resolver: Option<Resolver>,
    /// Whether the state that the next chunk was sent is the true state of the stream.
    is_linked: bool,
    /// Whether the caller may need the end of the data.
    stops_at_end: bool,
    /// The last end of data before the position, and the output up to there.
    data_end: Option<(DataEnd, u64)>,
    has_put_failed: bool,
}

/// Maximum size of a trailer and a header that are kept after data, in bytes.
const MOST_KEPT: u64 = 1 << 20;

impl<P: FnMut(&[u8], Totals) -> io::Result<()>> Join<P> {
    pub(super) fn new(members: Members, put: P) -> Self {
        Join {
            stops_at_end: members.decoder.is_in_data(),
            members,
            put,
            pieces: VecDeque::new(),
            buffer: vec![0; FIRST_BUFFER],
            bytes_out: 0,
            resolver: None,
            is_linked: true,
            data_end: None,
            has_put_failed: false,
        }
    }

    /// Adds a piece of the input, unless it has been added.
    pub(super) fn add(&mut self, piece: &Arc<Piece>) {
        if self.pieces.back().is_none_or(|last| last.at < piece.at) {
            self.pieces.push_back(piece.clone());
        }
    }

    /// Reads the first header. Returns the bit where the data begins, if it begins in the first
    /// piece.
    pub(super) fn begin(&mut self, first: &Piece) -> io::Result<Option<u64>> {
        self.members.decode_until(&first.bytes, &mut [], i64::MIN)?;
        Ok(self.members.decoder.block_bit())
    }

    pub(super) fn is_gzip(&self) -> bool {
        self.members.decoder.is_gzip()
    }

    /// Returns the checksum function for content.
    pub(super) fn check(&self) -> fn(&[u8]) -> u32 {
        self.members.decoder.check_of()
    }

    /// Returns whether everything is decoded.
    pub(super) fn is_done(&self) -> bool {
        self.members.is_done()
    }

    pub(super) fn totals(&self) -> Totals {
        Totals { bytes_in: self.members.decoder.position(), bytes_out: self.bytes_out }
    }

    /// Returns the position from which the input may be needed again.
    pub(super) fn kept_from(&self) -> u64 {
        let position = self.members.decoder.position();
        let end = self.data_end.filter(|_| !self.members.decoder.is_in_data());
        end.map_or(position, |(end, _)| end.at)
    }

    /// Returns the end of the data and the output up to there, if decoding ended after it: at the
    /// end of the input, or because no valid trailer and member follow.
    pub(super) fn data_end(&self) -> Option<(DataEnd, u64)> {
        self.data_end.filter(|_| !self.members.decoder.is_in_data() && !self.has_put_failed)
    }

    /// Decodes all input that has been added.
    pub(super) fn go_on(&mut self) -> io::Result<()> {
        self.decode(u64::MAX, None)
    }

    /// Takes a chunk, or decodes its piece. Returns whether the chunk was used, and its buffers.
    pub(super) fn chunk(&mut self, mut chunk: Chunk) -> io::Result<(bool, Buffers)> {
        self.add(&chunk.piece);
        chunk.next.iter().for_each(|next| self.add(next));
        let mut taken = 0;
        if let Some(start) = chunk.start {
            self.decode(chunk.piece.end(), Some(start))?;
            if self.next().is(start, |at| self.byte(at - 1)) && chunk.is_gzip == self.is_gzip() {
                taken = self.adopt(&mut chunk)?;
            }
        }
        if taken == 0 {
            self.decode(chunk.piece.end(), None)?;
        }
        match chunk.after {
            Some(after) => {
                // If the worker of the next chunk has given up, nobody receives the state.
                let _ = after.send(self.state());
                self.is_linked = true;
            }
            None => self.is_linked &= taken > 0 && taken == chunk.segments.len(),
        }
        self.forget();
        Ok((taken > 0, chunk.buffers))
    }

    /// Returns the state of the stream.
    pub(super) fn state(&self) -> State {
        let next = self.next();
        let window = match next {
            Next::Member(_) => Vec::new(),
            _ => bytes_of(self.members.decoder.history()),
        };
        State { next, is_gzip: self.is_gzip(), window }
    }

    /// Returns the element that begins at the position.
    fn next(&self) -> Next {
        let decoder = &self.members.decoder;
        match (self.members.at_end, decoder.block_bit()) {
            (true, _) => Next::Member(decoder.position()),
            (false, Some(bit)) => Next::Block(bit, decoder.bits_ahead() == 0),
            (false, None) if decoder.data_end().is_some() => Next::Member(decoder.position() + TRAILER),
            (false, None) => Next::Unknown,
        }
    }

    /// Returns the byte at offset `at` of the input, or `None` if no piece in memory has it. Pieces
    /// are kept until all of their bytes are decoded.
    fn byte(&self, at: u64) -> Option<u8> {
        let piece = self.pieces.iter().find(|piece| at < piece.end())?;
        Some(piece.bytes[at.checked_sub(piece.at)? as usize])
    }

    /// Decodes the rest and checks that the input may end here. `failure` is the error that ended
    /// reading, if there was one.
    pub(super) fn end(&mut self, failure: Option<io::Error>) -> io::Result<Totals> {
        self.go_on()?;
        if let Some(failure) = failure.filter(|_| !self.is_done()) {
            return Err(failure);
        }
        self.members.check_end()?;
        Ok(Totals { bytes_in: self.members.end(), ..self.totals() })
    }

    /// Decodes the input up to `end`, or up to the first block or member that begins at `place` or
    /// later.
    fn decode(&mut self, end: u64, place: Option<Place>) -> io::Result<()> {
        let stop = place.map_or(i64::MAX, |place| first_bit(place) as i64);
        while !self.is_done() && (self.bit() as i64) < stop {
            let src = contiguous(&self.pieces, self.members.decoder.position(), end);
            let is_end = src.is_empty();
            let position = self.members.decoder.position() as i64;
            let stop = stop.saturating_sub(8 * position);
            let progress = self.members.decode_until(src, &mut self.buffer, stop)?;
            let before = Totals { bytes_in: position as u64, bytes_out: self.bytes_out };
            self.bytes_out += progress.written as u64;
            put(&mut self.put, &self.buffer[..progress.written], before, &mut self.has_put_failed)?;
            self.note_end()?;
            if is_end && progress.written == 0 {
                break;
            }
            if progress.written == self.buffer.len() {
                self.buffer.resize((4 * progress.written).min(BUFFER), 0);
            }
        }
        self.forget();
        Ok(())
    }

    /// Forgets the pieces before the position, so that their buffers can be reused.
    fn forget(&mut self) {
        let position = self.members.decoder.position();
        while self.pieces.front().is_some_and(|piece| piece.end() <= position) {
            self.pieces.pop_front();
        }
    }

    /// Remembers the position if it is the end of data.
    ///
    /// # Errors
    /// Fails if there are more than [`MOST_KEPT`] bytes between the data and more data.
    fn note_end(&mut self) -> io::Result<()> {
        if let Some(end) = self.members.decoder.data_end().filter(|_| self.stops_at_end) {
            self.data_end = Some((end, self.bytes_out));
        }
        if self.members.decoder.position() - self.kept_from() > MOST_KEPT {
            return Err(io::Error::other("a gzip header of more than 1 MiB"));
        }
        Ok(())
    }

    /// Returns the bit where the next block or member begins, or 0 if the position is not before
    /// one.
    fn bit(&self) -> u64 {
        let decoder = &self.members.decoder;
        if self.members.at_end { 8 * decoder.position() } else { decoder.block_bit().unwrap_or(0) }
    }

    /// Reads trailer and header up to the data of the next member. Returns whether that begins at
    /// `to`.
    fn feed(&mut self, to: u64) -> io::Result<bool> {
        loop {
            let position = self.members.decoder.position();
            if position == to && self.members.decoder.block_bit() == Some(8 * to) {
                return Ok(true);
            }
            let src = contiguous(&self.pieces, position, to);
            if src.is_empty() || self.members.decode_until(src, &mut [], i64::MIN)?.read == 0 {
                return Ok(false);
            }
            self.note_end()?;
        }
    }

    /// Takes a chunk that begins at the position. It takes all of it unless something is wrong,
    /// which decoding will then find. Returns how many segments were taken.
    fn adopt(&mut self, chunk: &mut Chunk) -> io::Result<usize> {
        let mut check = chunk.marked_check.filter(|_| self.is_linked);
        if check.is_none() {
            if chunk.is_bound {
                return Ok(0);
            }
            let resolver = self.resolver.get_or_insert_default();
            if !chunk.set_window(resolver, &bytes_of(self.members.decoder.history())) {
                return Ok(0);
            }
            resolver.resolve(&chunk.buffers.marked[chunk.marked.clone()], &mut chunk.buffers.resolved);
        }
        let mut first = &chunk.buffers.resolved[..chunk.marked.len()];
        for (i, segment) in chunk.segments.iter().enumerate() {
            // The header of a stored block is before `segment.from`, and has been checked.
            let is_member = i > 0 || matches!(chunk.start, Some(Place::Member(_)));
            if is_member && self.members.decoder.position() < segment.from && !self.feed(segment.from)? {
                return Ok(i);
            }
            let decoder = &mut self.members.decoder;
            let plain = &chunk.buffers.plain[segment.plain.clone()];
            let checks = [check.take().unwrap_or_else(|| decoder.check_of()(first)), segment.check];
            let before = Totals { bytes_in: decoder.position(), bytes_out: self.bytes_out };
            let read = segment.to - before.bytes_in;
            if !decoder.adopt(segment.blocks.snapshot(), read, [first, plain], checks)? {
                return Ok(i);
            }
            for part in [first, plain] {
                let before = Totals { bytes_out: self.bytes_out, ..before };
                self.bytes_out += part.len() as u64;
                put(&mut self.put, part, before, &mut self.has_put_failed)?;
            }
            first = &[];
            self.note_end()?;
        }
        Ok(chunk.segments.len())
    }
}

/// Passes content on, unless it is empty.
fn put(
    put: &mut impl FnMut(&[u8], Totals) -> io::Result<()>,
    part: &[u8],
    before: Totals,
    has_failed: &mut bool,
) -> io::Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    put(part, before).inspect_err(|_| *has_failed = true)
}

/// Returns the input from `position` up to `end`, as far as it is contiguous.
fn contiguous(pieces: &VecDeque<Arc<Piece>>, position: u64, end: u64) -> &[u8] {
    let Some(piece) = pieces.iter().find(|piece| piece.end() > position) else { return &[] };
    let end = end.min(piece.end()).max(position);
    &piece.bytes[(position - piece.at) as usize..(end - piece.at) as usize]
}

/// Returns the first bit at which the block or member of a place may begin.
fn first_bit(place: Place) -> u64 {
    match place {
        Place::Dynamic(bit) => bit,
        Place::Stored(at) => (8 * at).saturating_sub(10),
        Place::Member(at) => 8 * at,
    }
}

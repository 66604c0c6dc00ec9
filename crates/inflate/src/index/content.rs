//! [`Content`]: decodes a file from any offset of its content.

use std::io::{Read, Seek};

use linerate_core::{Error, Kind, Result};

use super::build::Frontier;
use super::input::Input;
use super::points::{Index, Point};
use super::walk::Walk;
use crate::block_decoder::{NO_STOP, Status};
use crate::sparse_window::SparseWindow;
use crate::stream::BUFFER;

/// Number of bytes of content decoded at a time to reach an offset.
const SKIPPED: usize = 2 * BUFFER;

struct Cursor {
    walk: Walk,
    /// Index of the first point that has not been compared with the content yet.
    next: usize,
    /// Whether the trailer after the content has been verified.
    is_verified: bool,
}

pub(super) struct Content<R> {
    pub(super) input: Input<R>,
    pub(super) index: Index,
    /// Decodes the part of the file that is not in the index yet.
    frontier: Option<Frontier>,
    /// Decodes the part of the file that is in the index.
    cursor: Option<Cursor>,
    skipped: Box<[u8]>,
}

impl<R: Read + Seek> Content<R> {
    pub(super) fn new(source: R, index: Index, frontier: Option<Frontier>) -> Self {
        let skipped = vec![0; SKIPPED].into();
        Content { input: Input::new(source), index, frontier, cursor: None, skipped }
    }

    /// Decodes from `offset`. Returns 0 only at the end of the content, unless `dst` is empty.
    pub(super) fn decode(&mut self, offset: u64, dst: &mut [u8]) -> Result<usize> {
        loop {
            let written = match &self.frontier {
                Some(frontier) if frontier.walk.offset <= offset => self.go_on(offset, dst)?,
                None if offset >= self.index.len => return self.verify_end().map(|()| 0),
                _ => self.decode_again(offset, dst)?,
            };
            if written > 0 || dst.is_empty() {
                return Ok(written);
            }
        }
    }

    /// Decodes the rest of the file.
    pub(super) fn finish(&mut self) -> Result<()> {
        while self.frontier.is_some() {
            self.go_on(u64::MAX, &mut [])?;
        }
        Ok(())
    }

    /// Decodes data that is not in the index yet. Returns the number of bytes at `offset`, or 0 if
    /// the position is still before it.
    fn go_on(&mut self, offset: u64, dst: &mut [u8]) -> Result<usize> {
        let Some(frontier) = &mut self.frontier else { return Ok(0) };
        let left = offset - frontier.walk.offset;
        let dst = if left == 0 { dst } else { up_to(&mut self.skipped, left) };
        let src = self.input.bytes(frontier.walk.decoder().position())?;
        let progress = frontier.step(&mut self.index, src, dst)?;
        if progress.status == Status::End {
            self.frontier = None;
            self.index.compressed_len = self.input.len()?;
        }
        Ok(if left == 0 { progress.written } else { 0 })
    }

    /// Decodes data that is in the index. Returns the number of bytes at `offset`, or 0 if the
    /// position is still before it.
    fn decode_again(&mut self, offset: u64, dst: &mut [u8]) -> Result<usize> {
        let mut cursor = match self.cursor.take() {
            Some(cursor) if self.is_nearest(&cursor.walk, offset) => cursor,
            _ => self.begin(offset)?,
        };
        let walk = &mut cursor.walk;
        let (mut end, mut stop) = (self.index.len, NO_STOP);
        if let Some(point) = self.index.points.get(cursor.next) {
            let is_at_block = walk.decoder().block_bit().is_some_and(|bit| bit >= point.bit);
            if is_at_block || walk.offset >= point.offset {
                compare(&mut self.input, walk, point)?;
                cursor.next += 1;
                self.cursor = Some(cursor);
                return Ok(0);
            }
            (end, stop) = (point.offset, point.bit as i64 - 8 * walk.decoder().position() as i64);
        }
        let left = offset - walk.offset;
        let dst = if left == 0 {
            up_to(dst, end - offset)
        } else {
            up_to(&mut self.skipped, left.min(end - walk.offset))
        };
        let progress = walk.step(self.input.bytes(walk.decoder().position())?, dst, stop)?;
        if progress.status == Status::End {
            let what = "the file has less content than its index says";
            return Err(Error::new(Kind::Corrupt, walk.decoder().position(), what));
        }
        self.cursor = Some(cursor);
        Ok(if left == 0 { progress.written } else { 0 })
    }

    /// Returns whether a decoder is at `offset` or before it, but not before the last point up to
    /// `offset`, so that beginning at that point would gain nothing.
    fn is_nearest(&self, walk: &Walk, offset: u64) -> bool {
        let before = self.index.count_up_to(offset).checked_sub(1);
        let point = before.map_or(0, |before| self.index.points[before].offset);
        (point..=offset).contains(&walk.offset)
    }

    /// Creates a decoder at the last point up to an offset, or at the beginning.
    fn begin(&mut self, offset: u64) -> Result<Cursor> {
        let next = self.index.count_up_to(offset);
        let walk = match self.index.points[..next].last() {
            Some(point) => {
                let first = self.input.bytes(point.bit / 8)?.first().copied();
                Walk::at(point, first.unwrap_or(0))?
            }
            None => Walk::new()?,
        };
        Ok(Cursor { walk, next, is_verified: false })
    }

    /// Verifies the trailer of the last member, if the content was decoded up to its end.
    fn verify_end(&mut self) -> Result<()> {
        let is_due = |cursor: &mut Cursor| !cursor.is_verified && cursor.walk.offset == self.index.len;
        while let Some(mut cursor) = self.cursor.take_if(is_due) {
            let walk = &mut cursor.walk;
            let progress = walk.step(self.input.bytes(walk.decoder().position())?, &mut [0], NO_STOP)?;
            if progress.written > 0 {
                let what = "the file has more content than its index says";
                return Err(Error::new(Kind::Corrupt, walk.decoder().position(), what));
            }
            cursor.is_verified = progress.status == Status::End;
            self.cursor = Some(cursor);
        }
        Ok(())
    }
}

/// Compares a point with the content decoded up to its offset: a block must begin at its bit, after
/// the bytes of its window. Zeros of the window are not compared, because most of them are bytes
/// that no match refers to.
fn compare<R: Read + Seek>(input: &mut Input<R>, walk: &mut Walk, point: &Point) -> Result<()> {
    let what = "the index does not belong to this file: another block or content is at one of its points";
    let place = |walk: &Walk| (walk.decoder().position(), walk.decoder().block_bit());
    while walk.decoder().block_bit() != Some(point.bit) {
        let before = place(walk);
        let position = before.0;
        // This decodes the end of the previous block, and possibly of a member.
        walk.step(input.bytes(position)?, &mut [], point.bit as i64 - 8 * position as i64)?;
        if place(walk) == before {
            return Err(Error::new(Kind::Corrupt, position, what));
        }
    }
    let is_part_of = |window: &SparseWindow| {
        let mut before = vec![0; walk.decoder().history().len()];
        walk.decoder().history().copy(before.len(), &mut before);
        let mut bytes = window.to_vec().into_iter().rev().zip(before.into_iter().rev());
        bytes.all(|(byte, before)| byte == 0 || byte == before)
    };
    if walk.offset == point.offset && point.window.as_ref().map_or(walk.is_at_member(), is_part_of) {
        return Ok(());
    }
    Err(Error::new(Kind::Corrupt, walk.decoder().position(), what))
}

fn up_to(bytes: &mut [u8], len: u64) -> &mut [u8] {
    let len = bytes.len().min(usize::try_from(len).unwrap_or(usize::MAX));
    &mut bytes[..len]
}

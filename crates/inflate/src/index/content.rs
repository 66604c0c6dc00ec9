//! [`Content`]: decodes a file from any offset of its content on.

use std::io::{Read, Seek};

use linerate_core::{Error, Kind, Result};

use super::build::Frontier;
use super::input::Input;
use super::points::Index;
use super::walk::Walk;
use crate::block_decoder::{NO_STOP, Status};
use crate::stream::BUFFER;

/// Bytes of content that are decoded at a time to get to an offset.
const SKIPPED: usize = 2 * BUFFER;

pub(super) struct Content<R> {
    pub(super) input: Input<R>,
    pub(super) index: Index,
    /// Decodes for the first time what the index does not know yet.
    frontier: Option<Frontier>,
    /// Decodes what the index knows, and whether it has verified what follows the content.
    cursor: Option<(Walk, bool)>,
    skipped: Box<[u8]>,
}

impl<R: Read + Seek> Content<R> {
    pub(super) fn new(source: R, index: Index, frontier: Option<Frontier>) -> Self {
        let skipped = vec![0; SKIPPED].into();
        Content { input: Input::new(source), index, frontier, cursor: None, skipped }
    }

    /// Decodes from `offset` on. Returns 0 at the end of the content only, unless `dst` is empty.
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

    /// Decodes for the first time. Returns the bytes at `offset`, and 0 before.
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

    /// Decodes what the index knows. Returns the bytes at `offset`, and 0 before.
    fn decode_again(&mut self, offset: u64, dst: &mut [u8]) -> Result<usize> {
        let (mut walk, is_verified) = match self.cursor.take() {
            Some((walk, is_verified)) if self.is_nearest(&walk, offset) => (walk, is_verified),
            _ => (self.begin(offset)?, false),
        };
        let left = offset - walk.offset;
        let dst =
            if left == 0 { up_to(dst, self.index.len - offset) } else { up_to(&mut self.skipped, left) };
        let progress = walk.step(self.input.bytes(walk.decoder().position())?, dst, NO_STOP)?;
        if progress.status == Status::End {
            let what = "the file has less content than its index says";
            return Err(Error::new(Kind::Corrupt, walk.decoder().position(), what));
        }
        self.cursor = Some((walk, is_verified));
        Ok(if left == 0 { progress.written } else { 0 })
    }

    /// Whether a decoder is before the offset, and not before the last point before it.
    fn is_nearest(&self, walk: &Walk, offset: u64) -> bool {
        let point = self.index.find(offset).map_or(0, |point| point.offset);
        (point..=offset).contains(&walk.offset)
    }

    /// A decoder at the last point before an offset, or at the beginning.
    fn begin(&mut self, offset: u64) -> Result<Walk> {
        let Some(point) = self.index.find(offset) else { return Walk::new() };
        let first = self.input.bytes(point.bit / 8)?.first().copied();
        Walk::at(point, first.unwrap_or(0))
    }

    /// Verifies what follows the content, if it was decoded up to its end: the trailer of its
    /// member.
    fn verify_end(&mut self) -> Result<()> {
        while let Some((mut walk, false)) = self.cursor.take_if(|(walk, _)| walk.offset == self.index.len) {
            let progress = walk.step(self.input.bytes(walk.decoder().position())?, &mut [0], NO_STOP)?;
            if progress.written > 0 {
                let what = "the file has more content than its index says";
                return Err(Error::new(Kind::Corrupt, walk.decoder().position(), what));
            }
            self.cursor = Some((walk, progress.status == Status::End));
        }
        Ok(())
    }
}

fn up_to(bytes: &mut [u8], len: u64) -> &mut [u8] {
    let len = bytes.len().min(usize::try_from(len).unwrap_or(usize::MAX));
    &mut bytes[..len]
}

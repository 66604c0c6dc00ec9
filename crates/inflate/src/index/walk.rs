//! [`Walk`]: decodes gzip members one after another, and counts their content.

use linerate_core::{Error, Kind, Result};

use super::points::Point;
use crate::block_decoder::{Progress, Status};
use crate::options::{Format, Options};
use crate::stream::Members;
use crate::stream_decoder::StreamDecoder;

pub(super) struct Walk {
    members: Members,
    /// Number of bytes of content before the position.
    pub(super) offset: u64,
}

impl Walk {
    /// Begins at the beginning of a file.
    pub(super) fn new() -> Result<Self> {
        Ok(Self::with(StreamDecoder::new(Options::new(Format::Gzip))?, 0))
    }

    /// Begins at a point. `first` is the byte in which its block begins.
    pub(super) fn at(point: &Point, first: u8) -> Result<Self> {
        let window = point.window.as_ref().map(|window| window.to_vec());
        let options = Options::new(Format::Gzip);
        let decoder = StreamDecoder::before_block(options, point.bit, first, window.as_deref())?;
        Ok(Self::with(decoder, point.offset))
    }

    fn with(decoder: StreamDecoder<'static>, offset: u64) -> Self {
        Walk { members: Members::up_to_garbage(decoder), offset }
    }

    pub(super) fn decoder(&self) -> &StreamDecoder<'static> {
        &self.members.decoder
    }

    /// Returns whether the position is before the first block of a member.
    pub(super) fn is_at_member(&self) -> bool {
        self.decoder().is_in_data() && self.decoder().blocks() == 0
    }

    /// Decodes from `src`, which must be empty only at the end of the file, up to the first block
    /// that begins at bit `stop` of `src` or later. Bytes after a member that do not begin another
    /// one end the file with [`Status::End`].
    ///
    /// # Errors
    /// Returns the errors of [`StreamDecoder::decode`], and [`Kind::Truncated`] if the file ends
    /// before the stream does.
    pub(super) fn step(&mut self, src: &[u8], dst: &mut [u8], stop: i64) -> Result<Progress> {
        let mut progress = self.members.decode_until(src, dst, stop)?;
        self.offset += progress.written as u64;
        if progress.status == Status::End && !self.members.is_done() && !src.is_empty() {
            // Another member may follow.
            progress.status = Status::NeedInput;
        } else if src.is_empty() && progress.written == 0 && progress.status == Status::NeedInput {
            let what = "the input ends before the stream does";
            return Err(Error::new(Kind::Truncated, self.decoder().position(), what));
        }
        Ok(progress)
    }
}

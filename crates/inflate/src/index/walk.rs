//! [`Walk`]: decodes gzip members one after another, and knows where it is in their content.

use linerate_core::{Error, Kind, Result};

use super::points::Point;
use crate::block_decoder::{BlockDecoder, Progress, Status};
use crate::options::{Format, Options};
use crate::scratch::Scratch;
use crate::stream_decoder::StreamDecoder;

/// First byte of a gzip member.
const MAGIC: u8 = 0x1f;
/// Bytes of a member that say that it is one.
const MAGIC_LEN: u64 = 2;

pub(super) struct Walk {
    pub(super) decoder: StreamDecoder<'static>,
    scratch: Box<Scratch>,
    /// Bytes of content before the position.
    pub(super) offset: u64,
    /// Where the member begins that follows another one.
    member: Option<u64>,
    is_between_members: bool,
    is_at_end: bool,
}

impl Walk {
    /// At the beginning of a file.
    pub(super) fn new() -> Result<Self> {
        Ok(Self::with(StreamDecoder::new(Options::new(Format::Gzip))?, 0))
    }

    /// At a point, whose byte is `first`.
    pub(super) fn at(point: &Point, first: u8) -> Result<Self> {
        let window = point.window.as_ref().map(|window| window.to_vec());
        let options = Options::new(Format::Gzip);
        let decoder = StreamDecoder::before_block(options, point.bit, first, window.as_deref())?;
        Ok(Self::with(decoder, point.offset))
    }

    fn with(decoder: StreamDecoder<'static>, offset: u64) -> Self {
        let scratch = Box::new(Scratch::new());
        Walk { decoder, scratch, offset, member: None, is_between_members: false, is_at_end: false }
    }

    /// Whether the position is before the first block of a member.
    pub(super) fn is_at_member(&self) -> bool {
        self.decoder.is_in_data() && self.decoder.blocks() == 0
    }

    /// Decodes from `src`, which is empty at the end of the file only, up to the first block that
    /// begins at bit `stop` of it or after it. What follows a member and does not begin as one ends
    /// the file: [`Status::End`].
    ///
    /// # Errors
    /// Those of [`StreamDecoder::decode`]; [`Kind::Truncated`].
    pub(super) fn step(&mut self, src: &[u8], dst: &mut [u8], stop: i64) -> Result<Progress> {
        if self.is_between_members && !self.is_at_end {
            self.is_at_end = src.first() != Some(&MAGIC);
            if !self.is_at_end {
                self.member = Some(self.decoder.position());
                self.decoder.next_member();
                self.is_between_members = false;
            }
        }
        if self.is_at_end {
            return Ok(Progress { read: 0, written: 0, status: Status::End });
        }
        let mut progress = match self.decoder.decode_until(&mut self.scratch, src, dst, stop) {
            Ok(progress) => progress,
            Err(error) if self.is_no_member(&error) => {
                self.is_at_end = true;
                return Ok(Progress { read: 0, written: 0, status: Status::End });
            }
            Err(error) => return Err(error),
        };
        self.offset += progress.written as u64;
        if progress.status == Status::End {
            self.is_between_members = true;
            progress.status = Status::NeedInput;
        } else if src.is_empty() && progress.written == 0 && progress.status == Status::NeedInput {
            let what = "the input ends before the stream does";
            return Err(Error::new(Kind::Truncated, self.decoder.position(), what));
        }
        Ok(progress)
    }

    /// Goes on after data that was decoded elsewhere, as [`StreamDecoder::adopt`].
    pub(super) fn adopt(
        &mut self,
        blocks: BlockDecoder,
        read: u64,
        output: &[u8],
        check: u32,
    ) -> Result<bool> {
        let is_adopted = self.decoder.adopt(blocks, read, [&[], output], [0, check])?;
        self.offset += if is_adopted { output.len() as u64 } else { 0 };
        Ok(is_adopted)
    }

    /// Whether no member follows.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Bytes of the members so far.
    pub(super) fn end(&self) -> u64 {
        // After the first bytes of what turned out to be no member.
        let no_member = self.member.filter(|_| self.is_at_end && !self.is_between_members);
        no_member.unwrap_or(self.decoder.position())
    }

    /// Whether an error says that what follows a member is none.
    fn is_no_member(&self, error: &Error) -> bool {
        error.kind == Kind::Corrupt && self.member.is_some_and(|at| error.offset <= at + MAGIC_LEN)
    }
}

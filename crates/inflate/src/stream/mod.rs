//! Decoders over readers and writers.

use linerate_core::{Error, Kind, Result};

use crate::block_decoder::{Progress, Status};
use crate::options::Options;
use crate::scratch::Scratch;
use crate::stream_decoder::StreamDecoder;

pub mod read;
pub mod write;

/// Size of the buffers, in bytes. It exceeds the window, which is copied once per call.
pub(crate) const BUFFER: usize = 64 << 10;

/// The streams of a reader or writer: one stream, or all members of a gzip file.
pub(crate) struct Members {
    pub(crate) decoder: StreamDecoder<'static>,
    pub(crate) scratch: Box<Scratch>,
    /// Whether only the first member is decoded.
    is_single: bool,
    /// Whether the position is between two members or at the end.
    pub(crate) at_end: bool,
    /// Whether the last call left output in the decoder.
    has_output: bool,
    /// Whether bytes after a member that do not begin another one end the file without an error.
    ends_at_garbage: bool,
    /// Offset of the current member, if it is not the first.
    member: Option<u64>,
    /// Whether bytes that do not begin another member have been found.
    is_over: bool,
}

/// First byte of a gzip member.
const MAGIC: u8 = 0x1f;
/// Length of the magic number of a member, in bytes.
const MAGIC_LEN: u64 = 2;

impl Members {
    pub(crate) fn new(options: Options) -> Result<Self> {
        StreamDecoder::new(options).map(Self::by)
    }

    /// Creates a decoder of a file's gzip members that ends, without an error, at bytes that do not
    /// begin another member.
    pub(crate) fn up_to_garbage(decoder: StreamDecoder<'static>) -> Self {
        Members { ends_at_garbage: true, ..Self::by(decoder) }
    }

    fn by(decoder: StreamDecoder<'static>) -> Self {
        Members {
            decoder,
            scratch: Box::default(),
            is_single: false,
            at_end: false,
            has_output: false,
            ends_at_garbage: false,
            member: None,
            is_over: false,
        }
    }

    /// Like [`new`](Self::new), for input that begins after the first header.
    pub(crate) fn after_header(options: Options) -> Result<Self> {
        let mut members = Self::new(options)?;
        members.decoder.skip_header();
        Ok(members)
    }

    /// Returns whether the content has ended for certain. After a gzip member another one may follow,
    /// until other bytes are found.
    pub(crate) fn is_done(&self) -> bool {
        self.at_end && (self.is_single || self.is_over || !self.decoder.is_gzip())
    }

    /// Returns the end of the members so far, in compressed bytes.
    pub(crate) fn end(&self) -> u64 {
        // The position may be after bytes that turned out not to begin a member.
        self.member.filter(|_| self.is_over).unwrap_or(self.decoder.position())
    }

    /// Like [`StreamDecoder::decode`], for one member after the other and without preset
    /// dictionaries.
    fn decode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<Progress> {
        self.step(src, |decoder, scratch| decoder.decode(scratch, src, dst))
    }

    /// Like [`StreamDecoder::decode_until`], for one member after the other.
    pub(crate) fn decode_until(&mut self, src: &[u8], dst: &mut [u8], stop: i64) -> Result<Progress> {
        self.step(src, |decoder, scratch| decoder.decode_until(scratch, src, dst, stop))
    }

    fn step(
        &mut self,
        src: &[u8],
        decode: impl FnOnce(&mut StreamDecoder<'static>, &mut Scratch) -> Result<Progress>,
    ) -> Result<Progress> {
        if self.at_end && !src.is_empty() && !self.is_done() {
            self.member = Some(self.decoder.position());
            self.is_over = self.ends_at_garbage && src[0] != MAGIC;
            if !self.is_over {
                self.decoder.next_member();
                self.at_end = false;
            }
        }
        if self.at_end {
            return Ok(Progress { read: 0, written: 0, status: Status::End });
        }
        let progress = match decode(&mut self.decoder, &mut self.scratch) {
            Err(error) if self.is_no_member(&error) => {
                (self.at_end, self.is_over) = (true, true);
                return Ok(Progress { read: 0, written: 0, status: Status::End });
            }
            result => result?,
        };
        self.has_output = progress.status == Status::NeedOutput;
        self.at_end = progress.status == Status::End;
        if progress.status == Status::NeedDictionary {
            let what = "the zlib stream needs a preset dictionary";
            return Err(Error::new(Kind::Unsupported, self.decoder.position(), what));
        }
        Ok(progress)
    }

    /// Returns whether an error means that the bytes after a member do not begin another one.
    fn is_no_member(&self, error: &Error) -> bool {
        let is_in_magic = |at: u64| error.kind == Kind::Corrupt && error.offset <= at + MAGIC_LEN;
        self.ends_at_garbage && self.member.is_some_and(is_in_magic)
    }

    /// Checks that the input may end here.
    pub(crate) fn check_end(&self) -> Result<()> {
        if self.at_end {
            return Ok(());
        }
        let what = "the input ends before the stream does";
        Err(Error::new(Kind::Truncated, self.decoder.position(), what))
    }
}

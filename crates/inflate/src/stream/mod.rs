//! Decoders over readers and writers.

use std::io;

use linerate_core::{Error, Kind};

use crate::block_decoder::{Progress, Status};
use crate::options::Options;
use crate::scratch::Scratch;
use crate::stream_decoder::StreamDecoder;

pub mod read;
pub mod write;

/// Size of the buffers, in bytes: more than the window, which is copied once per call.
pub(crate) const BUFFER: usize = 64 << 10;

/// The streams of one reader or writer: one, or all members of gzip.
pub(crate) struct Members {
    pub(crate) decoder: StreamDecoder<'static>,
    pub(crate) scratch: Box<Scratch>,
    /// Whether only the first member is decoded.
    is_single: bool,
    /// Between two members, or at the end.
    pub(crate) at_end: bool,
    /// Whether the last call left output in the decoder.
    has_output: bool,
}

impl Members {
    pub(crate) fn new(options: Options) -> io::Result<Self> {
        let decoder = StreamDecoder::new(options)?;
        let scratch = Box::new(Scratch::new());
        Ok(Members { decoder, scratch, is_single: false, at_end: false, has_output: false })
    }

    /// As [`new`](Self::new), after the first header.
    pub(crate) fn after_header(options: Options) -> io::Result<Self> {
        let mut members = Self::new(options)?;
        members.decoder.skip_header();
        Ok(members)
    }

    /// Whether all members are decoded whose bytes are known.
    pub(crate) fn is_done(&self) -> bool {
        self.at_end && (self.is_single || !self.decoder.is_gzip())
    }

    /// As [`StreamDecoder::decode`], member after member; no preset dictionaries.
    fn decode(&mut self, src: &[u8], dst: &mut [u8]) -> io::Result<Progress> {
        self.step(src, |decoder, scratch| decoder.decode(scratch, src, dst))
    }

    /// As [`StreamDecoder::decode_until`], member after member.
    pub(crate) fn decode_until(&mut self, src: &[u8], dst: &mut [u8], stop: i64) -> io::Result<Progress> {
        self.step(src, |decoder, scratch| decoder.decode_until(scratch, src, dst, stop))
    }

    fn step(
        &mut self,
        src: &[u8],
        decode: impl FnOnce(&mut StreamDecoder<'static>, &mut Scratch) -> linerate_core::Result<Progress>,
    ) -> io::Result<Progress> {
        if self.at_end && !src.is_empty() && !self.is_done() {
            self.decoder.next_member();
            self.at_end = false;
        }
        if self.at_end {
            return Ok(Progress { read: 0, written: 0, status: Status::End });
        }
        let progress = decode(&mut self.decoder, &mut self.scratch)?;
        self.has_output = progress.status == Status::NeedOutput;
        self.at_end = progress.status == Status::End;
        if progress.status == Status::NeedDictionary {
            let what = "the zlib stream needs a preset dictionary";
            return Err(Error::new(Kind::Unsupported, self.decoder.position(), what).into());
        }
        Ok(progress)
    }

    /// Checks that the input may end here.
    pub(crate) fn check_end(&self) -> io::Result<()> {
        if self.at_end {
            return Ok(());
        }
        let what = "the input ends before the stream does";
        Err(Error::new(Kind::Truncated, self.decoder.position(), what).into())
    }
}

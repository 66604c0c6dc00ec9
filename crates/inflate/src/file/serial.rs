//! [`Serial`]: decodes gzip members one after another on the reading thread.

use std::io::{self, ErrorKind, Read, Seek};

use linerate_core::{Error, Kind};

use crate::block_decoder::Status;
use crate::options::{Format, Options};
use crate::scratch::Scratch;
use crate::stream_decoder::{DataEnd, StreamDecoder};

/// Number of bytes of the file read at a time.
const READ: usize = 128 << 10;

pub(super) struct Serial<R> {
    pub(super) source: R,
    decoder: StreamDecoder<'static>,
    scratch: Box<Scratch>,
    /// Bytes read from the file. The bytes from index `from` are still to be decoded.
    buffer: Vec<u8>,
    from: usize,
    /// Whether the last call left output in the decoder.
    has_output: bool,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The position is before the first member.
    Start,
    Member,
    /// The position is after a member, where zeros are skipped.
    Between,
}

impl<R: Read> Serial<R> {
    pub(super) fn new(source: R) -> io::Result<Self> {
        let decoder = StreamDecoder::new(Options::new(Format::Gzip))?;
        let scratch = Box::default();
        let (buffer, place) = (Vec::new(), Place::Start);
        Ok(Serial { source, decoder, scratch, buffer, from: 0, has_output: false, place })
    }

    /// Returns 0 only at the end, unless `dst` is empty.
    pub(super) fn read(&mut self, dst: &mut [u8]) -> io::Result<usize> {
        while !dst.is_empty() {
            if self.place != Place::Member && !self.begin_member()? {
                break;
            }
            // Decoded output must not wait for a source, which may block.
            if !self.has_output {
                self.fill()?;
            }
            let input = if self.has_output { &[] } else { &self.buffer[self.from..] };
            let is_end = !self.has_output && input.is_empty();
            let progress = self.decoder.decode(&mut self.scratch, input, dst)?;
            self.from += progress.read;
            self.has_output = progress.status == Status::NeedOutput;
            if progress.status == Status::End {
                self.place = Place::Between;
            } else if is_end && progress.written == 0 {
                return Err(self.truncated());
            }
            if progress.written > 0 {
                return Ok(progress.written);
            }
        }
        Ok(0)
    }

    /// Reads up to the data of the first member. Returns where the data begins and the bytes read
    /// of it, or `None` for an empty file.
    pub(super) fn first_data(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        if !self.begin_member()? {
            return Ok(None);
        }
        while !self.decoder.is_in_data() {
            self.fill()?;
            let input = &self.buffer[self.from..];
            if input.is_empty() {
                return Err(self.truncated());
            }
            self.from += self.decoder.decode_until(&mut self.scratch, input, &mut [], i64::MIN)?.read;
        }
        Ok(Some((self.decoder.position(), &self.buffer[self.from..])))
    }

    /// Continues before the trailer of data that was decoded elsewhere. `rest` holds bytes that
    /// were read after the data.
    pub(super) fn go_on(&mut self, end: DataEnd, rest: Vec<u8>) {
        self.decoder.end_data(end);
        (self.buffer, self.from, self.has_output) = (rest, 0, false);
    }

    /// Begins the first member, or skips zeros after a member and begins the next. Returns false at
    /// the end of the file.
    fn begin_member(&mut self) -> io::Result<bool> {
        loop {
            self.fill()?;
            let input = &self.buffer[self.from..];
            let zeros = input.iter().take_while(|&&byte| byte == 0).count();
            match (self.place, input.len()) {
                (_, 0) => return Ok(false),
                (Place::Between, len) if zeros > 0 => {
                    self.decoder.skip(zeros as u64);
                    self.from += zeros;
                    if zeros == len {
                        continue;
                    }
                }
                _ => {}
            }
            if self.place == Place::Between {
                self.decoder.next_member();
            }
            self.place = Place::Member;
            return Ok(true);
        }
    }

    /// Reads more of the file if everything read so far is decoded.
    fn fill(&mut self) -> io::Result<()> {
        if self.from < self.buffer.len() {
            return Ok(());
        }
        self.buffer.resize(READ, 0);
        self.from = 0;
        let read = loop {
            match self.source.read(&mut self.buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        self.buffer.truncate(*read.as_ref().unwrap_or(&0));
        read.map(|_| ())
    }

    fn truncated(&self) -> io::Error {
        Error::new(Kind::Truncated, self.decoder.position(), "the input ends before the stream does").into()
    }
}

impl<R: Seek> Serial<R> {
    /// Begins again at the beginning of the file.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
        self.source.rewind()?;
        self.decoder.reset();
        self.buffer.clear();
        (self.from, self.has_output, self.place) = (0, false, Place::Start);
        Ok(())
    }
}

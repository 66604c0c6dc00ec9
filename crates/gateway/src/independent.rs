//! Decodes messages that are compressed separately: zstd frames, with dictionaries by id, and zlib,
//! gzip or raw deflate data.

use std::sync::Arc;

use linerate_core::{Error, Kind};
use linerate_inflate::{BufferDecoder, Format};
use linerate_zstd::{BLOCK_MAX, FrameDecoder, Header, frame_extent};

use crate::dictionaries::Dictionaries;
use crate::limits::Limits;
use crate::payload::Payload;
use crate::scratch::Scratch;

/// Output space, in bytes, of the first attempt to decode a zstd frame, zlib or deflate stream, or
/// gzip member of a message. The attempt uses more if the buffer has more, and less if the limit on
/// payloads requires it. Most messages fit.
const OUTPUT_SPACE: usize = 32 << 10;

pub(crate) enum Independent {
    /// A message is one or more frames.
    Zstd(Option<Arc<Dictionaries>>),
    /// A message is one stream or, with gzip, one or more members.
    Deflate(Format),
}

/// Numbers of bytes read and written.
type Sizes = (usize, usize);

impl Independent {
    /// Decodes a message and appends it to the payload.
    ///
    /// # Errors
    /// Returns the errors of [`Session::message`](crate::Session::message). Offsets count from the
    /// beginning of the message.
    pub(crate) fn message(&self, src: &[u8], scratch: &mut Scratch, limits: &Limits) -> Result<(), Error> {
        let mut at = 0;
        loop {
            let (read, len) = self.part(&src[at..], scratch, limits).map_err(|e| e.shifted(at as u64))?;
            at += read;
            scratch.payload.advance(len, limits.max_message).map_err(|e| e.shifted(at as u64))?;
            if at == src.len() {
                return Ok(());
            }
            if matches!(self, Independent::Deflate(Format::Zlib | Format::Deflate)) {
                return Err(Error::new(Kind::Corrupt, at as u64, "bytes follow the end of the message"));
            }
        }
    }

    /// Decodes a frame, stream or member into the space after the payload. Tries again with more
    /// space until the output fits or the limit on payloads is reached.
    fn part(&self, src: &[u8], scratch: &mut Scratch, limits: &Limits) -> Result<Sizes, Error> {
        let mut space = OUTPUT_SPACE;
        loop {
            let free = scratch.payload.spare(space, limits.max_message)?.len();
            match self.attempt(src, scratch, free, limits) {
                Err(error) if error.kind == Kind::OutputTooSmall => {
                    // The limit on payloads allowed less space than was asked for.
                    if free < space {
                        return Err(Payload::TOO_LONG);
                    }
                    space = self.bound(src, free)?;
                }
                done => return done,
            }
        }
    }

    /// Decodes a frame, stream or member into the `free` bytes after the payload.
    fn attempt(
        &self,
        src: &[u8],
        scratch: &mut Scratch,
        free: usize,
        limits: &Limits,
    ) -> Result<Sizes, Error> {
        match self {
            Independent::Zstd(dictionaries) => {
                let dictionary = match (dictionaries, Header::parse(src, Default::default())?) {
                    (Some(known), Header::Frame(frame)) => known.find(frame.dictionary_id),
                    _ => None,
                };
                let (payload, buffers) = scratch.for_zstd();
                let out = &mut payload.spare(free, limits.max_message)?[..free];
                let done = FrameDecoder::default().decode_frame(buffers, dictionary, src, out);
                done.map(|sizes| (sizes.read, sizes.written)).map_err(unknown_dictionary)
            }
            Independent::Deflate(format) => {
                let (payload, tables) = scratch.for_zlib();
                let out = &mut payload.spare(free, limits.max_message)?[..free];
                let decoder = BufferDecoder::new(linerate_inflate::Options::new(*format));
                let done = decoder.decode(tables, None, src, out);
                done.map(|sizes| (sizes.read, sizes.written)).map_err(unknown_dictionary)
            }
        }
    }

    /// Output space for the next attempt, in bytes: for a zstd frame the size that its header
    /// states, or else the most that its blocks can hold; for deflate twice the space that was not
    /// enough.
    ///
    /// # Errors
    /// Returns the errors of [`frame_extent`], and [`Kind::Corrupt`] if the header states more than
    /// the blocks can hold, or no more than `free` bytes, which were not enough.
    fn bound(&self, src: &[u8], free: usize) -> Result<usize, Error> {
        if matches!(self, Independent::Deflate(_)) {
            return Ok(free.saturating_mul(2));
        }
        let extent = frame_extent(src, Default::default())?;
        if extent.bound > extent.blocks as u64 * BLOCK_MAX as u64 || extent.bound <= free as u64 {
            return Err(Error::new(Kind::Corrupt, 0, "the content's size differs from its frame header"));
        }
        Ok(usize::try_from(extent.bound).unwrap_or(usize::MAX))
    }
}

/// Reports a missing dictionary as unsupported: the message asked for it, so it is not the caller's
/// mistake.
fn unknown_dictionary(error: Error) -> Error {
    match error.kind {
        Kind::BadArgument => error.with_kind(Kind::Unsupported),
        _ => error,
    }
}

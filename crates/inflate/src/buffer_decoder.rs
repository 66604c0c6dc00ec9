//! [`BufferDecoder`]: whole streams into a slice, which also serves as the window.

use linerate_core::{Error, Kind, Result};

use crate::block_decoder::{BlockDecoder, NO_STOP, Status};
use crate::checksum::{ADLER32_START, adler32};
use crate::container::{Container, Part};
use crate::options::{Format, Options};
use crate::scratch::Scratch;
use crate::window::{History, MAX_WINDOW_BITS};

/// Sizes of a stream or of a gzip member, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Number of compressed bytes, including header and trailer.
    pub read: usize,
    /// Number of bytes of content.
    pub written: usize,
}

/// Decodes whole streams from one slice into another, without a window, a copy, or anything on the
/// heap.
#[derive(Clone, Copy, Debug)]
pub struct BufferDecoder {
    options: Options,
}

impl BufferDecoder {
    /// Creates a decoder with these options. The output limit applies to each call.
    pub const fn new(options: Options) -> Self {
        BufferDecoder { options }
    }

    /// Decodes the stream or gzip member at the beginning of `src` into `out`, and returns the
    /// sizes of both. It ignores the rest of `src`, which may be the next member.
    ///
    /// `dictionary` is the preset dictionary of bare deflate data, or of a zlib stream whose header
    /// asks for one.
    ///
    /// # Errors
    /// Returns one of these errors, with an offset in `src`. An error leaves the content of `out`
    /// unspecified.
    /// * [`Kind::Corrupt`] if the stream is damaged.
    /// * [`Kind::Truncated`] if `src` ends before the stream does.
    /// * [`Kind::OutputTooSmall`] if `out` is smaller than the content.
    /// * [`Kind::Limit`] if the content exceeds the output limit.
    /// * [`Kind::BadArgument`] if the zlib stream needs a dictionary, or another one.
    pub fn decode(
        &self,
        scratch: &mut Scratch,
        dictionary: Option<&[u8]>,
        src: &[u8],
        out: &mut [u8],
    ) -> Result<Sizes> {
        let truncated =
            Err(Error::new(Kind::Truncated, src.len() as u64, "the input ends before the stream"));
        let mut container = Container::new(&Options { window_bits: MAX_WINDOW_BITS, ..self.options });
        let header = container.read(src)?;
        let mut history = History::EMPTY;
        match container.part {
            Part::Data if self.options.format == Format::Deflate => {
                history = History::of_dictionary(dictionary.unwrap_or_default());
            }
            Part::Data => {}
            Part::Dictionary => {
                history = required(dictionary, container.dictionary_id())?;
                container.begin_data();
            }
            _ => return truncated,
        }
        let (capacity, limit) = (out.len(), self.options.output_limit);
        let most = usize::try_from(limit).unwrap_or(usize::MAX).min(capacity);
        let (result, _) = BlockDecoder::new().decode_after(
            scratch,
            history,
            1 << MAX_WINDOW_BITS,
            &src[header..],
            &mut out[..most],
            0,
            NO_STOP,
        );
        let progress = result.map_err(|e| e.shifted(header as u64))?;
        let (at, written) = (header + progress.read, progress.written);
        match progress.status {
            Status::End => {}
            Status::NeedOutput if most == capacity => {
                let message = "the output buffer is smaller than the content";
                return Err(Error::new(Kind::OutputTooSmall, at as u64, message));
            }
            Status::NeedOutput => return Err(too_long(at as u64)),
            _ => return truncated,
        }
        container.update(&out[..written]);
        container.end_data(self.options.format);
        let trailer = container.read(&src[at..]).map_err(|e| e.shifted(at as u64))?;
        if container.part == Part::End { Ok(Sizes { read: at + trailer, written }) } else { truncated }
    }
}

pub(crate) const fn too_long(offset: u64) -> Error {
    Error::new(Kind::Limit, offset, "the output is larger than the limit")
}

/// Returns the caller's dictionary as history, if it is the one that a zlib header asks for.
fn required(dictionary: Option<&[u8]>, id: u32) -> Result<History<'_>> {
    let Some(dictionary) = dictionary else {
        return Err(Error::new(Kind::BadArgument, 2, "the zlib stream needs a preset dictionary"));
    };
    check_dictionary(dictionary, id)?;
    Ok(History::of_dictionary(dictionary))
}

pub(crate) fn check_dictionary(dictionary: &[u8], id: u32) -> Result<()> {
    if adler32(ADLER32_START, dictionary) == id {
        return Ok(());
    }
    Err(Error::new(Kind::BadArgument, 2, "the zlib stream needs another preset dictionary"))
}

/// Decodes a whole input into a vector of at most `max_len` bytes. A gzip file may have any number
/// of members.
///
/// # Errors
/// Returns the errors of [`BufferDecoder::decode`]; [`Kind::Corrupt`] if data follows the end;
/// [`Kind::Limit`] if the content is longer than `max_len`, or memory runs out.
///
/// ```
/// use linerate_inflate::{Format, decode_to_vec};
///
/// assert_eq!(decode_to_vec(Format::Deflate, &[0x4b, 0x4c, 0x4a, 6, 0], 100)?, b"abc");
/// # Ok::<(), linerate_inflate::Error>(())
/// ```
#[cfg(feature = "alloc")]
pub fn decode_to_vec(format: Format, src: &[u8], max_len: usize) -> Result<alloc::vec::Vec<u8>> {
    use crate::stream_decoder::StreamDecoder;
    let mut decoder = StreamDecoder::new(Options::new(format).output_limit(max_len as u64))?;
    let (mut scratch, mut out, mut at, mut len) = (Scratch::new(), alloc::vec::Vec::new(), 0, 0);
    loop {
        if len == out.len() {
            let more = (2 * len).max(3 * src.len()).max(1 << 10).min(max_len.saturating_add(1)) - len;
            let no_memory = Error::new(Kind::Limit, at as u64, "out of memory for the content");
            out.try_reserve_exact(more).map_err(|_| no_memory)?;
            out.resize(len + more, 0);
        }
        let progress = decoder.decode(&mut scratch, &src[at..], &mut out[len..])?;
        at += progress.read;
        len += progress.written;
        match progress.status {
            Status::NeedOutput => {}
            Status::End if at == src.len() => break,
            Status::End if decoder.is_gzip() => decoder.next_member(),
            Status::End => {
                return Err(Error::new(Kind::Corrupt, at as u64, "data follows the end of the stream"));
            }
            Status::NeedDictionary => required(None, 0).map(|_| ())?,
            Status::NeedInput => {
                return Err(Error::new(Kind::Truncated, at as u64, "the input ends before the stream"));
            }
        }
    }
    out.truncate(len);
    Ok(out)
}

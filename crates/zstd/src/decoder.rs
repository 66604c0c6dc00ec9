//! Decodes whole frames into a slice.

use alloc::vec::Vec;

use linerate_core::{Error, Kind, Result};
use twox_hash::XxHash64;

use crate::block::BlockDecoder;
use crate::dictionary::Dictionary;
use crate::frame::{BLOCK_MAX, BlockHeader, BlockType, FrameHeader, Header, frame_extent, skippable_extent};
use crate::options::Options;
use crate::output::{HistorySegment, OUTPUT_TOO_SMALL, Output};
use crate::prefetch::PrefetchQueue;
use crate::scratch::Scratch;

/// Numbers of bytes that a call read and wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Input bytes consumed.
    pub read: usize,
    /// Output bytes written.
    pub written: usize,
}

/// Decodes whole frames into a slice, which also serves as the window.
///
/// ```
/// use linerate_zstd::{FrameDecoder, Scratch};
///
/// let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x29, 0, 0, b'h', b'e', b'l', b'l', b'o'];
/// let mut out = [0; 5];
/// let n = FrameDecoder::default().decode(&mut Scratch::new(), None, &frame, &mut out)?;
/// assert_eq!(&out[..n], b"hello");
/// # Ok::<(), linerate_zstd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameDecoder {
    options: Options,
}

impl FrameDecoder {
    /// Makes a decoder with these options.
    pub const fn new(options: Options) -> Self {
        FrameDecoder { options }
    }

    /// Decodes all concatenated frames of `src`, and returns the number of bytes written to `dst`.
    /// Skippable frames are skipped. Every frame may use `dictionary`.
    ///
    /// # Errors
    /// Returns [`Kind::Truncated`] or [`Kind::Corrupt`] for input that is not a sequence of whole
    /// frames, [`Kind::OutputTooSmall`] if the content does not fit `dst`, [`Kind::BadArgument`]
    /// for a frame with another Dictionary_ID, and [`Kind::Unsupported`] for a window of 4 GiB or
    /// more. Offsets of errors are positions in `src`. After an error the content of `dst` is
    /// unspecified.
    pub fn decode(
        &self,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<usize> {
        let mut sizes = Sizes::default();
        while sizes.read < src.len() {
            let (rest, free) = (&src[sizes.read..], &mut dst[sizes.written..]);
            let frame = self
                .decode_one(scratch, dictionary, rest, free, None)
                .map_err(|e| e.shifted(sizes.read as u64))?;
            sizes.read += frame.read;
            sizes.written += frame.written;
        }
        Ok(sizes.written)
    }

    /// Decodes all concatenated frames of `src` into a new vector of at most `limit` bytes. Memory
    /// is bounded by `limit` and by what the blocks of a frame can hold, whatever its header
    /// states.
    ///
    /// # Errors
    /// Returns the errors of [`decode`](Self::decode), with [`Kind::Limit`] in place of
    /// [`Kind::OutputTooSmall`] for content above `limit`, and [`Kind::Limit`] for failed
    /// allocation.
    pub fn decode_into_vec(
        &self,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        limit: usize,
    ) -> Result<Vec<u8>> {
        let (mut out, mut at) = (Vec::new(), 0);
        while at < src.len() {
            let shifted = |e: Error| e.shifted(at as u64);
            let extent = frame_extent(&src[at..], self.options.format).map_err(shifted)?;
            let most = extent.blocks as u64 * BLOCK_MAX as u64;
            if extent.bound > most {
                return Err(shifted(WRONG_SIZE));
            }
            let left = limit - out.len();
            let room = usize::try_from(extent.bound).unwrap_or(usize::MAX).min(left);
            let no_memory = |_| Error::new(Kind::Limit, at as u64, "there is no memory for the content");
            out.try_reserve(room).map_err(no_memory)?;
            let from = out.len();
            out.resize(from + room, 0);
            let sizes = self.decode_frame(scratch, dictionary, &src[at..], &mut out[from..]);
            let sizes = sizes.map_err(|e| match e.kind {
                Kind::OutputTooSmall => Error::new(Kind::Limit, at as u64, "the content is above the limit"),
                _ => shifted(e),
            })?;
            out.truncate(from + sizes.written);
            at += sizes.read;
        }
        Ok(out)
    }

    /// Decodes the frame at the beginning of `src`; other bytes may follow it.
    ///
    /// # Errors
    /// Returns the errors of [`decode`](Self::decode).
    pub fn decode_frame(
        &self,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Sizes> {
        self.decode_one(scratch, dictionary, src, dst, None)
    }

    /// Decodes the frame at the beginning of `src`, as [`decode_frame`](Self::decode_frame) does,
    /// and prefetches the lines of `next` meanwhile. The queue is empty when this returns, even
    /// after an error.
    ///
    /// # Errors
    /// Returns the errors of [`decode`](Self::decode).
    pub fn decode_prefetching(
        &self,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
        next: &mut PrefetchQueue,
    ) -> Result<Sizes> {
        let result = self.decode_one(scratch, dictionary, src, dst, Some(next));
        next.prefetch_now();
        result
    }

    fn decode_one(
        &self,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
        prefetch: Option<&mut PrefetchQueue>,
    ) -> Result<Sizes> {
        match Header::parse(src, self.options.format)? {
            Header::Skippable { len, .. } => {
                let read = skippable_extent(len, src.len()).ok_or(truncated(src))?;
                Ok(Sizes { read, written: 0 })
            }
            Header::Frame(header) => self.decode_data_frame(&header, scratch, dictionary, src, dst, prefetch),
        }
    }

    fn decode_data_frame(
        &self,
        header: &FrameHeader,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
        prefetch: Option<&mut PrefetchQueue>,
    ) -> Result<Sizes> {
        check_dictionary(header, dictionary)?;
        if header.content_size.is_some_and(|size| size > dst.len() as u64) {
            return Err(OUTPUT_TOO_SMALL);
        }
        let max = header.block_max();
        let Scratch { kernels, block: buffers, tables, .. } = scratch;
        tables.start(dictionary);
        let mut block_decoder =
            BlockDecoder::new(*kernels, buffers, tables, dictionary, &self.options).prefetching(prefetch);
        let content = dictionary.map_or(HistorySegment::default(), Dictionary::piece);
        let mut out = Output { buf: dst, start: 0, at: 0, history: [content, HistorySegment::default()] };
        let verify = header.checksum && self.options.verify_checksum;
        let mut hash = XxHash64::with_seed(0);
        let mut at = header.len;
        loop {
            let bytes = src.get(at..at + BlockHeader::LEN).ok_or(truncated(src))?;
            let block = BlockHeader::parse(bytes.try_into().expect("three bytes"), max)
                .map_err(|e| e.shifted(at as u64))?;
            at += BlockHeader::LEN;
            let end = at + block.stored();
            let stored = src.get(at..end).ok_or(truncated(src))?;
            let from = out.at;
            match block.kind {
                BlockType::Raw => out.append(stored),
                BlockType::Rle => out.fill(stored[0], block.size),
                BlockType::Compressed => block_decoder.decode(&src[..end], at, max, &mut out),
            }
            .map_err(|e| match e.kind {
                // The output has room for the content that the header states.
                Kind::OutputTooSmall if header.content_size.is_some() => WRONG_SIZE,
                _ => e,
            })
            .map_err(|e| e.shifted(at as u64))?;
            if verify {
                core::hash::Hasher::write(&mut hash, &out.buf[from..out.at]);
            }
            at = end;
            if block.last {
                break;
            }
        }
        if header.content_size.is_some_and(|size| size != out.at as u64) {
            return Err(WRONG_SIZE.with_offset(at as u64));
        }
        if header.checksum {
            let stored = src.get(at..at + 4).ok_or(truncated(src))?;
            if verify && stored != (core::hash::Hasher::finish(&hash) as u32).to_le_bytes() {
                return Err(Error::new(Kind::Corrupt, at as u64, "the content does not match its checksum"));
            }
            at += 4;
        }
        Ok(Sizes { read: at, written: out.at })
    }
}

const WRONG_SIZE: Error =
    Error::new(Kind::Corrupt, 0, "the content does not have the size that its frame states");

/// Decodes all frames of `src` without a dictionary into a new vector of at most `limit` bytes. For
/// many frames, keep a [`Scratch`] and call [`FrameDecoder::decode_into_vec`].
///
/// ```
/// let frame = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello";
/// assert_eq!(linerate_zstd::decode_into_vec(frame, 100)?, b"hello");
/// assert_eq!(linerate_zstd::decode_into_vec(frame, 4).unwrap_err().kind, linerate_zstd::Kind::Limit);
/// # Ok::<(), linerate_zstd::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`FrameDecoder::decode_into_vec`].
pub fn decode_into_vec(src: &[u8], limit: usize) -> Result<Vec<u8>> {
    FrameDecoder::default().decode_into_vec(&mut Scratch::new(), None, src, limit)
}

fn truncated(src: &[u8]) -> Error {
    Error::new(Kind::Truncated, src.len() as u64, "the input ends before the frame does")
}

/// Checks that the frame's Dictionary_ID, if any, is that of `dictionary`.
pub(crate) fn check_dictionary(header: &FrameHeader, dictionary: Option<&Dictionary<'_>>) -> Result<()> {
    if header.dictionary_id != 0 && dictionary.map_or(0, Dictionary::id) != header.dictionary_id {
        return Err(Error::new(Kind::BadArgument, 0, "the frame needs another dictionary"));
    }
    Ok(())
}

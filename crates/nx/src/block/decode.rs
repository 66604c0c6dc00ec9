//! Decodes a block, or a prefix of it.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{
    Dictionary, Format, FrameHeader, Options, Prefix, PrefixDecoder, PrefixEnd, Scratch, frame_extent,
};

use crate::block::memory::grow;
use crate::block::{lz4, regions};
use crate::format::frame::window_limit;
use crate::format::toc::Codec;

/// The rest of a block after the content that files refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ending {
    /// Nothing: the block ends with that content.
    Clean,
    /// The zstd frame ends without its last block or its checksum. All content is there, but
    /// one-shot decoders reject the frame.
    Unterminated,
    /// More content than any file refers to; for LZ4, possibly damage after that content.
    Longer,
    /// Bytes after the zstd frame; in a filtered block, after the last of its frames.
    Spare,
}

/// Decodes blocks with reused memory. Each thread has one.
pub(crate) struct Decoder {
    format: Format,
    /// Largest allowed window in bytes. No window is allocated, since the block is its own window.
    /// The limit is there so that readers that allocate a window accept and refuse the same
    /// archives.
    window_limit: u64,
    /// Allocated for the first zstd block.
    zstd: Option<Zstd>,
    /// Buffer for the decompressed bytes of filtered blocks, before filters are inverted. It is as
    /// long as the longest content so far.
    filtered: Vec<u8>,
    /// Number of bytes decoded so far.
    #[cfg(test)]
    pub(crate) decoded: u64,
}

/// Memory to decode zstd frames.
struct Zstd {
    scratch: Scratch,
    once: PrefixDecoder,
    /// Decoder of the frame that is decoded in steps.
    steps: PrefixDecoder,
}

const SHORT: Error = Error::new(Kind::Corrupt, 0, "a block that holds less than its files");
const DAMAGED: Error = Error::new(Kind::Corrupt, 0, "a damaged block");
const EARLY: Error = Error::new(Kind::Corrupt, 0, "a block whose data ends early");
const WINDOW: Error = Error::new(Kind::Limit, 0, "a block with a zstd window beyond the limit");

impl Decoder {
    /// Creates a decoder of zstd frames of `format`, with windows of at most `1 << window_log`
    /// bytes.
    pub(crate) fn new(window_log: u32, format: Format) -> Result<Decoder> {
        Ok(Decoder {
            format,
            window_limit: window_limit(window_log)?,
            zstd: None,
            filtered: Vec::new(),
            #[cfg(test)]
            decoded: 0,
        })
    }

    /// Starts incremental decoding of a zstd frame with [`Decoder::step`]. Ends that of an earlier
    /// frame.
    pub(crate) fn begin_steps(&mut self) {
        self.zstd().steps.start();
    }

    /// Resumes incremental decoding: fills `out`, which already holds the first `filled` bytes.
    /// Decodes a zstd block only when its content is needed. If `out` holds all content, also
    /// checks the end of the frame, if it is there. After an error, start again with
    /// [`Decoder::begin_steps`].
    pub(crate) fn step(&mut self, block: &[u8], out: &mut [u8], filled: usize) -> Result<()> {
        self.count(out.len() - filled);
        if filled == 0 {
            self.check_window(block, out.len())?;
        }
        let Zstd { scratch, steps, .. } = self.zstd();
        let part = steps.decode(scratch, None, block, out).map_err(frame_error)?;
        check_filled(part, out.len())
    }

    /// Decodes all of `block` that files refer to into `out`, and returns what follows this
    /// content. Errors have offset 0.
    pub(crate) fn decode(&mut self, codec: Codec, block: &[u8], out: &mut [u8]) -> Result<Ending> {
        self.count(out.len());
        match codec {
            Codec::Copy => copy(block, out),
            Codec::Zstd => self.decode_zstd(block, out),
            Codec::Lz4 => match lz4::decompress(block, out) {
                Some(n) if n == out.len() => Ok(Ending::Clean),
                Some(_) => Err(SHORT),
                // The block is damaged, or longer than `out`.
                None => decode_lz4_prefix(block, out).map(|()| Ending::Longer),
            },
        }
    }

    /// Decodes a filtered block as [`Decoder::decode`] does others. The block begins with the table
    /// of its regions. Needs a buffer as large as `out`, which is kept for the next filtered block.
    ///
    /// If the compressed data is damaged, `out` still gets the bytes that were decompressed before
    /// the damage, with the filters inverted over unspecified bytes after them. A hash then decides
    /// whether a file is intact. If the table is damaged, `out` is unchanged.
    pub(crate) fn decode_filtered(&mut self, codec: Codec, block: &[u8], out: &mut [u8]) -> Result<Ending> {
        let (regions, table) = regions::parse(block)?;
        regions::check(&regions, out.len())?;
        let mut buffer = core::mem::take(&mut self.filtered);
        if buffer.len() < out.len() {
            grow(&mut buffer, out.len(), 0)?;
        }
        let filtered = &mut buffer[..out.len()];
        let compressed = &block[table..];
        let ending = match codec {
            Codec::Zstd => self.decode_frames(compressed, filtered),
            _ => self.decode(codec, compressed, filtered),
        };
        let ending = ending.map_err(|e| e.shifted(table as u64));
        regions::invert(&regions, filtered, out);
        self.filtered = buffer;
        ending
    }

    /// Decodes the first `out.len()` bytes, and reads no more of `block` than needed.
    pub(crate) fn decode_prefix(&mut self, codec: Codec, block: &[u8], out: &mut [u8]) -> Result<()> {
        self.count(out.len());
        match codec {
            Codec::Copy => copy(block, out).map(|_| ()),
            Codec::Zstd => self.decode_frame(None, block, out).map(|_| ()),
            Codec::Lz4 => decode_lz4_prefix(block, out),
        }
    }

    /// Decodes the first `out.len()` bytes of a zstd block with a dictionary.
    pub(crate) fn decode_with(
        &mut self,
        dictionary: &Dictionary<'_>,
        block: &[u8],
        out: &mut [u8],
    ) -> Result<()> {
        self.count(out.len());
        self.decode_frame(Some(dictionary), block, out).map(|_| ())
    }

    fn decode_zstd(&mut self, block: &[u8], out: &mut [u8]) -> Result<Ending> {
        let part = self.decode_frame(None, block, out)?;
        Ok(self.ending(part, block))
    }

    /// Fills `out` from the frames of a filtered block. There are one or more, each with the next
    /// part of the content.
    fn decode_frames(&mut self, mut block: &[u8], mut out: &mut [u8]) -> Result<Ending> {
        loop {
            let part = self.decode_part(None, block, out)?;
            let (rest, is_full) = (&block[part.read..], part.written == out.len());
            if part.end != PrefixEnd::FrameEnd || rest.is_empty() || is_full {
                check_filled(part, out.len())?;
                let more = part.end == PrefixEnd::FrameEnd && frame_extent(rest, self.format).is_ok();
                return Ok(if more && !rest.is_empty() { Ending::Longer } else { self.ending(part, block) });
            }
            (block, out) = (rest, &mut out[part.written..]);
        }
    }

    /// Returns what follows the content that was decoded from the frame at the start of `block`.
    fn ending(&self, part: Prefix, block: &[u8]) -> Ending {
        match part.end {
            PrefixEnd::FrameEnd if part.read < block.len() => Ending::Spare,
            PrefixEnd::FrameEnd => Ending::Clean,
            PrefixEnd::Full if frame_extent(block, self.format).is_ok() => Ending::Longer,
            PrefixEnd::Full | PrefixEnd::InputEnd => Ending::Unterminated,
        }
    }

    /// Fills `out` from the frame at the start of `block`.
    fn decode_frame(
        &mut self,
        dictionary: Option<&Dictionary<'_>>,
        block: &[u8],
        out: &mut [u8],
    ) -> Result<Prefix> {
        let part = self.decode_part(dictionary, block, out)?;
        check_filled(part, out.len()).map(|()| part)
    }

    /// Decodes as much of the frame at the start of `block` as `out` holds.
    fn decode_part(
        &mut self,
        dictionary: Option<&Dictionary<'_>>,
        block: &[u8],
        out: &mut [u8],
    ) -> Result<Prefix> {
        self.check_window(block, out.len())?;
        let Zstd { scratch, once, .. } = self.zstd();
        once.start();
        once.decode(scratch, dictionary, block, out).map_err(frame_error)
    }

    /// Checks the window of a frame against the limit, unless the frame is a single segment or has
    /// exactly `len` bytes of content: then it needs no other window.
    fn check_window(&self, block: &[u8], len: usize) -> Result<()> {
        match FrameHeader::parse(block, self.format) {
            Ok(header) => {
                let is_whole = header.single_segment || header.content_size == Some(len as u64);
                if is_whole || header.window <= self.window_limit { Ok(()) } else { Err(WINDOW) }
            }
            Err(error) if error.kind == Kind::Truncated => Ok(()),
            Err(error) => Err(frame_error(error)),
        }
    }

    fn zstd(&mut self) -> &mut Zstd {
        let decoder = || PrefixDecoder::new(Options::new().format(self.format));
        self.zstd.get_or_insert_with(|| Zstd { scratch: Scratch::new(), once: decoder(), steps: decoder() })
    }

    /// Counts decoded bytes in tests.
    fn count(&mut self, _len: usize) {
        #[cfg(test)]
        {
            self.decoded += _len as u64;
        }
    }
}

/// Fails if the frame ended before `len` bytes.
fn check_filled(part: Prefix, len: usize) -> Result<()> {
    match part.end {
        _ if part.written == len => Ok(()),
        PrefixEnd::FrameEnd => Err(SHORT),
        PrefixEnd::Full | PrefixEnd::InputEnd => Err(EARLY),
    }
}

fn frame_error(error: Error) -> Error {
    match error.kind {
        // The decoder reports windows of 4 GiB and more this way.
        Kind::Unsupported => WINDOW,
        Kind::Limit => error.with_offset(0),
        _ => DAMAGED,
    }
}

fn copy(block: &[u8], out: &mut [u8]) -> Result<Ending> {
    let bytes = block.get(..out.len()).ok_or(SHORT)?;
    out.copy_from_slice(bytes);
    Ok(if bytes.len() < block.len() { Ending::Longer } else { Ending::Clean })
}

fn decode_lz4_prefix(block: &[u8], out: &mut [u8]) -> Result<()> {
    match lz4::decompress_prefix(block, out) {
        Some(n) if n == out.len() => Ok(()),
        Some(_) => Err(SHORT),
        None => Err(DAMAGED),
    }
}

#[cfg(test)]
mod tests {
    use zstd_safe::{InBuffer, OutBuffer};

    use super::*;

    fn decoder(window_log: u32) -> Result<Decoder> {
        Decoder::new(window_log, Format::Standard)
    }

    fn text() -> Vec<u8> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8 % 17
        };
        (0..300_000).map(|_| next()).collect()
    }

    fn frame(bytes: &[u8], sized: bool) -> Vec<u8> {
        let mut context = zstd_safe::CCtx::create();
        context.set_parameter(zstd_safe::CParameter::ContentSizeFlag(sized)).unwrap();
        context.set_parameter(zstd_safe::CParameter::ChecksumFlag(true)).unwrap();
        let mut out = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
        context.compress2(&mut out, bytes).unwrap();
        out
    }

    /// Returns a frame that was flushed but not ended.
    fn open_frame(bytes: &[u8]) -> Vec<u8> {
        let mut context = zstd_safe::CCtx::create();
        let mut out = vec![0; zstd_safe::compress_bound(bytes.len()) + 64];
        let mut output = OutBuffer::around(&mut out[..]);
        let mut input = InBuffer::around(bytes);
        while context
            .compress_stream2(&mut output, &mut input, zstd_safe::zstd_sys::ZSTD_EndDirective::ZSTD_e_flush)
            .unwrap()
            > 0
        {}
        let len = output.pos();
        out.truncate(len);
        out
    }

    fn whole(block: &[u8], len: usize) -> Result<(Ending, Vec<u8>)> {
        let mut out = vec![0; len];
        decoder(27)?.decode(Codec::Zstd, block, &mut out).map(|ending| (ending, out))
    }

    #[test]
    fn each_kind_of_ending_is_reported() {
        let text = text();
        for sized in [true, false] {
            let block = frame(&text, sized);
            assert!(whole(&block, text.len()) == Ok((Ending::Clean, text.clone())), "{sized}");
            assert!(whole(&block, 1000) == Ok((Ending::Longer, text[..1000].to_vec())), "{sized}");
            assert_eq!(whole(&block, text.len() + 1), Err(SHORT), "{sized}");
            let spare = [&block[..], b"more"].concat();
            assert!(whole(&spare, text.len()) == Ok((Ending::Spare, text.clone())), "{sized}");
            let two = [&block[..], &block[..]].concat();
            assert!(whole(&two, text.len()) == Ok((Ending::Spare, text.clone())), "{sized}");
        }
        assert!(whole(&open_frame(&text), text.len()) == Ok((Ending::Unterminated, text.clone())));
        assert_eq!(whole(&open_frame(&text), text.len() + 1), Err(EARLY));
    }

    /// Decodes a filtered block with the given compressed data to `len` bytes.
    fn filtered(text: &[u8], compressed: &[&[u8]], len: usize) -> Result<(Ending, Vec<u8>)> {
        let filter = crate::filter::Filter::Bc1Split;
        let mut block = Vec::new();
        regions::write(&[regions::Region { filter, start: 0, len: text.len() as u32 }], &mut block);
        block.extend(compressed.concat());
        let mut out = vec![0; len];
        decoder(27)?.decode_filtered(Codec::Zstd, &block, &mut out).map(|ending| (ending, out))
    }

    #[test]
    fn frames_of_a_filtered_block_follow_each_other() {
        let text = text();
        let mut streams = vec![0; text.len()];
        crate::filter::Filter::Bc1Split.apply(&text, &mut streams);
        let (one, two) = (frame(&streams[..100_000], true), frame(&streams[100_000..], false));
        let none = frame(&[], true);
        let len = text.len();
        for whole in [&[&one[..], &two][..], &[&none, &one, &none, &two], &[&frame(&streams, true)]] {
            assert!(filtered(&text, whole, len) == Ok((Ending::Clean, text.clone())));
        }
        let ending = |compressed: &[&[u8]], len| filtered(&text, compressed, len).map(|(ending, _)| ending);
        assert_eq!(ending(&[&one, &two, &one], len), Ok(Ending::Longer));
        assert_eq!(ending(&[&one, &two, b"more"], len), Ok(Ending::Spare));
        assert_eq!(ending(&[&one], len), Err(SHORT.shifted(10)));
        assert_eq!(ending(&[&one, &none], len), Err(SHORT.shifted(10)));
        assert_eq!(ending(&[&one, &two[..two.len() / 2]], len), Err(EARLY.shifted(10)));
        assert_eq!(ending(&[&one, b"no frame"], len), Err(DAMAGED.shifted(10)));
        assert_eq!(ending(&[], len).map_err(|error| error.kind), Err(Kind::Corrupt));
    }

    #[test]
    fn wrong_checksum_is_an_error() {
        let text = text();
        for sized in [true, false] {
            let mut block = frame(&text, sized);
            *block.last_mut().unwrap() ^= 1;
            assert_eq!(whole(&block, text.len()), Err(DAMAGED), "{sized}");
        }
    }

    #[test]
    fn prefix_decodes_from_a_truncated_frame() {
        let text = text();
        let block = frame(&text, true);
        let mut out = vec![0; 1000];
        let mut decoder = decoder(27).unwrap();
        decoder.decode_prefix(Codec::Zstd, &block[..block.len() / 2], &mut out).unwrap();
        assert!(out == text[..1000]);
        // The decoder can be used again.
        assert_eq!(decoder.decode_prefix(Codec::Zstd, &block[..100], &mut out), Err(EARLY));
        decoder.decode_prefix(Codec::Zstd, &block, &mut out).unwrap();
        assert!(out == text[..1000]);
    }

    #[test]
    fn steps_of_any_length_give_the_content_and_decode_no_zstd_block_early() {
        let text = text();
        for block in [frame(&text, true), frame(&text, false), open_frame(&text)] {
            for step in [1000, 4096, 1 << 17, 200_000, text.len()] {
                let mut decoder = decoder(27).unwrap();
                // The second round reuses the decoder.
                for _ in 0..2 {
                    decoder.begin_steps();
                    let (mut out, mut filled) = (vec![0; text.len()], 0);
                    while filled < text.len() {
                        let to = text.len().min(filled + step);
                        decoder.step(&block, &mut out[..to], filled).unwrap();
                        filled = to;
                    }
                    assert!(out == text, "{step}");
                }
                decoder.begin_steps();
                assert_eq!(decoder.step(&block[..4], &mut [0; 10], 0), Err(EARLY));
            }
            // Only the last of three zstd blocks is damaged. Each of the two before it holds 128 KiB.
            let mut damaged = block.clone();
            let end = damaged.len();
            damaged[end - 3000..].fill(0xFF);
            let mut decoder = decoder(27).unwrap();
            decoder.begin_steps();
            let mut out = vec![0; text.len()];
            decoder.step(&damaged, &mut out[..1 << 17], 0).unwrap();
            decoder.step(&damaged, &mut out[..1 << 18], 1 << 17).unwrap();
            assert!(out[..1 << 18] == text[..1 << 18]);
            assert!(decoder.step(&damaged, &mut out, 1 << 18).is_err());
        }
    }

    #[test]
    fn wrong_checksum_is_an_error_of_the_last_step() {
        let text = text();
        let mut block = frame(&text, true);
        *block.last_mut().unwrap() ^= 1;
        let mut decoder = decoder(27).unwrap();
        decoder.begin_steps();
        let mut out = vec![0; text.len()];
        decoder.step(&block, &mut out[..1000], 0).unwrap();
        assert_eq!(decoder.step(&block, &mut out, 1000), Err(DAMAGED));
    }

    #[test]
    fn window_beyond_the_limit_is_an_error() {
        let mut context = zstd_safe::CCtx::create();
        context.set_parameter(zstd_safe::CParameter::WindowLog(20)).unwrap();
        context.set_parameter(zstd_safe::CParameter::ContentSizeFlag(false)).unwrap();
        let mut block = vec![0; 1 << 19];
        let text = text();
        let mut output = OutBuffer::around(&mut block[..]);
        context.compress_stream(&mut output, &mut InBuffer::around(&text)).unwrap();
        context.end_stream(&mut output).unwrap();
        let mut out = vec![0; 1000];
        assert_eq!(decoder(19).unwrap().decode_prefix(Codec::Zstd, &block, &mut out), Err(WINDOW));
        assert_eq!(decoder(20).unwrap().decode_prefix(Codec::Zstd, &block, &mut out), Ok(()));
    }

    #[test]
    fn truncated_frame_is_an_error_or_gives_the_content() {
        let text = &text()[..3000];
        for block in [frame(text, true), frame(text, false), open_frame(text)] {
            for len in 0..block.len() {
                // A frame without its checksum may still hold all content.
                if let Ok((ending, out)) = whole(&block[..len], text.len()) {
                    assert!(ending == Ending::Unterminated && out == text);
                }
            }
        }
    }
}

//! Decodes one block, whole or a prefix, by libzstd or the reference LZ4.

use linerate_core::{Error, Kind, Result};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use crate::sys::lz4;
use crate::toc::Codec;

/// What follows the content of a block that files refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Nothing: the block ends with that content.
    Clean,
    /// The zstd frame has no last block. All content is there, but one-shot decoders reject the frame.
    Unterminated,
    /// More content than any file refers to.
    Longer,
    /// Bytes after the compressed data.
    Spare,
}

/// Reusable decoding contexts. One per thread.
pub(crate) struct Decoder {
    zstd: DCtx<'static>,
    window_log: u32,
    /// The frame that is decoded incrementally. zstd keeps its window between the steps.
    steps: Option<Steps>,
    /// Bytes decoded so far.
    #[cfg(test)]
    pub(crate) decoded: u64,
}

/// Incremental decoding of a zstd frame.
struct Steps {
    zstd: DCtx<'static>,
    /// Bytes of the frame that zstd has consumed.
    consumed: usize,
    /// Bytes that zstd asks for next: one zstd block, so that none is decoded before it is needed.
    next_input: usize,
}

/// Bytes that suffice to tell the length of a frame header.
const FRAME_START: usize = 5;

const SHORT: Error = Error::new(Kind::Corrupt, 0, "a block that holds less than its files");
const DAMAGED: Error = Error::new(Kind::Corrupt, 0, "a damaged block");
const EARLY: Error = Error::new(Kind::Corrupt, 0, "a block whose data ends early");
const WINDOW: Error = Error::new(Kind::Limit, 0, "a block with a zstd window beyond the limit");

impl Decoder {
    pub(crate) fn new(window_log: u32) -> Result<Decoder> {
        Ok(Decoder {
            zstd: context(window_log)?,
            window_log,
            steps: None,
            #[cfg(test)]
            decoded: 0,
        })
    }

    /// Starts incremental decoding of a zstd frame with [`Decoder::step`], in place of an earlier one.
    pub(crate) fn begin_steps(&mut self) -> Result<()> {
        let zstd = match self.steps.take() {
            Some(Steps { mut zstd, .. }) => {
                zstd.reset(ResetDirective::SessionOnly).map_err(|_| DAMAGED)?;
                zstd
            }
            None => context(self.window_log)?,
        };
        self.steps = Some(Steps { zstd, consumed: 0, next_input: FRAME_START });
        Ok(())
    }

    /// Resumes incremental decoding: fills `out`, which already holds the first `filled` bytes. Decodes no
    /// zstd block before its content is needed. With `last`, also checks the end of the frame, if it
    /// follows. After an error, start again with [`Decoder::begin_steps`].
    pub(crate) fn step(&mut self, block: &[u8], out: &mut [u8], filled: usize, last: bool) -> Result<()> {
        let Some(steps) = &mut self.steps else { return Err(DAMAGED) };
        #[cfg(test)]
        {
            self.decoded += (out.len() - filled) as u64;
        }
        let mut output = OutBuffer::around_pos(out, filled);
        loop {
            let full = output.pos() == output.capacity();
            if full && !last {
                return Ok(());
            }
            // Once `out` is full, at most an empty last block and the checksum are left to check.
            let end =
                if full { block.len() } else { block.len().min(steps.consumed + steps.next_input.max(1)) };
            let mut input = InBuffer { src: &block[..end], pos: steps.consumed };
            let before = (input.pos(), output.pos());
            let next_input = steps.zstd.decompress_stream(&mut output, &mut input).map_err(stream_error)?;
            (steps.consumed, steps.next_input) = (input.pos(), next_input);
            if full || (next_input == 0 && output.pos() == output.capacity()) {
                return Ok(());
            }
            if next_input == 0 {
                return Err(SHORT);
            }
            if (input.pos(), output.pos()) == before {
                return Err(EARLY);
            }
        }
    }

    /// Decodes all of `block` that files refer to into `out`, and returns what follows it. Errors have
    /// offset 0.
    pub(crate) fn decode(&mut self, codec: Codec, block: &[u8], out: &mut [u8]) -> Result<Ending> {
        #[cfg(test)]
        {
            self.decoded += out.len() as u64;
        }
        match codec {
            Codec::Copy => copy(block, out),
            Codec::Zstd => self.decode_frame(block, out),
            Codec::Lz4 => match lz4::decompress(block, out) {
                Some(n) if n == out.len() => Ok(Ending::Clean),
                Some(_) => Err(SHORT),
                // Damaged, or longer than `out`.
                None => decode_lz4_prefix(block, out).map(|()| Ending::Longer),
            },
        }
    }

    /// Decodes the first `out.len()` bytes, and reads no more of `block` than needed.
    pub(crate) fn decode_prefix(&mut self, codec: Codec, block: &[u8], out: &mut [u8]) -> Result<()> {
        #[cfg(test)]
        {
            self.decoded += out.len() as u64;
        }
        match codec {
            Codec::Copy => copy(block, out).map(|_| ()),
            Codec::Zstd => self.stream(block, out).map(|_| ()),
            Codec::Lz4 => decode_lz4_prefix(block, out),
        }
    }

    fn decode_frame(&mut self, block: &[u8], out: &mut [u8]) -> Result<Ending> {
        let claimed = zstd_safe::get_frame_content_size(block).map_err(|_| DAMAGED)?;
        let Ok(frame) = zstd_safe::find_frame_compressed_size(block) else {
            // No last block: all content may be there nevertheless.
            return self.stream(block, out).map(|_| Ending::Unterminated);
        };
        let ending = if frame < block.len() { Ending::Spare } else { Ending::Clean };
        // One-shot decoding needs no window buffer.
        if claimed == Some(out.len() as u64) {
            return match self.zstd.decompress(out, &block[..frame]) {
                Ok(n) if n == out.len() => Ok(ending),
                Ok(_) => Err(SHORT),
                Err(_) => Err(DAMAGED),
            };
        }
        match self.stream(&block[..frame], out)? {
            true => Ok(ending),
            false => Ok(Ending::Longer),
        }
    }

    /// Decodes until `out` is full. Returns whether the frame, with its checksum, ends there too.
    fn stream(&mut self, block: &[u8], out: &mut [u8]) -> Result<bool> {
        self.zstd.reset(ResetDirective::SessionOnly).map_err(|_| DAMAGED)?;
        let (mut input, mut output) = (InBuffer::around(block), OutBuffer::around(out));
        let capacity = output.capacity();
        let mut full = output.pos() == capacity;
        loop {
            let before = (input.pos(), output.pos());
            let left = self.zstd.decompress_stream(&mut output, &mut input).map_err(stream_error)?;
            if left == 0 {
                return if output.pos() == capacity { Ok(true) } else { Err(SHORT) };
            }
            if (input.pos(), output.pos()) == before {
                return if output.pos() == capacity { Ok(false) } else { Err(EARLY) };
            }
            // Once full, one more call consumes an empty last block and the checksum, if they follow.
            if full {
                return Ok(false);
            }
            full = output.pos() == capacity;
        }
    }
}

fn context(window_log: u32) -> Result<DCtx<'static>> {
    let unknown = |_| Error::new(Kind::BadArgument, 0, "a window limit that zstd does not know");
    let mut zstd = DCtx::try_create().ok_or(Error::new(Kind::Limit, 0, "not enough memory"))?;
    zstd.set_parameter(DParameter::WindowLogMax(window_log)).map_err(unknown)?;
    Ok(zstd)
}

fn stream_error(code: zstd_safe::ErrorCode) -> Error {
    match zstd_safe::get_error_name(code).contains("too much memory") {
        true => WINDOW,
        false => DAMAGED,
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
    use super::*;

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

    /// A frame that was flushed but not ended.
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
        Decoder::new(27)?.decode(Codec::Zstd, block, &mut out).map(|ending| (ending, out))
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
        let mut decoder = Decoder::new(27).unwrap();
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
                let mut decoder = Decoder::new(27).unwrap();
                // The contexts are reused.
                for _ in 0..2 {
                    decoder.begin_steps().unwrap();
                    let (mut out, mut filled) = (vec![0; text.len()], 0);
                    while filled < text.len() {
                        let to = text.len().min(filled + step);
                        decoder.step(&block, &mut out[..to], filled, to == text.len()).unwrap();
                        filled = to;
                    }
                    assert!(out == text, "{step}");
                }
                assert_eq!(decoder.begin_steps(), Ok(()));
                assert_eq!(decoder.step(&block[..4], &mut [0; 10], 0, false), Err(EARLY));
            }
            // The last zstd block is damaged; the first holds 128 KiB.
            let mut damaged = block.clone();
            let end = damaged.len();
            damaged[end - 3000..].fill(0xFF);
            let mut decoder = Decoder::new(27).unwrap();
            decoder.begin_steps().unwrap();
            let mut out = vec![0; text.len()];
            decoder.step(&damaged, &mut out[..1 << 17], 0, false).unwrap();
            decoder.step(&damaged, &mut out[..1 << 18], 1 << 17, false).unwrap();
            assert!(out[..1 << 18] == text[..1 << 18]);
            assert!(decoder.step(&damaged, &mut out, 1 << 18, true).is_err());
        }
    }

    #[test]
    fn wrong_checksum_is_an_error_of_the_last_step() {
        let text = text();
        let mut block = frame(&text, true);
        *block.last_mut().unwrap() ^= 1;
        let mut decoder = Decoder::new(27).unwrap();
        decoder.begin_steps().unwrap();
        let mut out = vec![0; text.len()];
        decoder.step(&block, &mut out[..1000], 0, false).unwrap();
        assert_eq!(decoder.step(&block, &mut out, 1000, true), Err(DAMAGED));
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
        assert_eq!(Decoder::new(19).unwrap().decode_prefix(Codec::Zstd, &block, &mut out), Err(WINDOW));
        assert_eq!(Decoder::new(20).unwrap().decode_prefix(Codec::Zstd, &block, &mut out), Ok(()));
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

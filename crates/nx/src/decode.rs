//! One block's bytes to its content, or to the first bytes of it.

use linerate_core::{Error, Kind, Result};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use crate::kernel::lz4;
use crate::toc::Codec;

/// How a block ended, beyond the content that was wanted of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Where its content did.
    Clean,
    /// The zstd frame has no last block: all content is there, and decoders of whole frames refuse it.
    Unterminated,
    /// It holds more content than any file needs.
    Longer,
    /// Bytes follow the compressed data.
    Spare,
}

/// Working memory for decoding blocks: one per thread, used over and over.
pub(crate) struct Decoder {
    zstd: DCtx<'static>,
}

const SHORT: Error = Error::new(Kind::Corrupt, 0, "a block that holds less than its files");
const DAMAGED: Error = Error::new(Kind::Corrupt, 0, "a damaged block");
const EARLY: Error = Error::new(Kind::Corrupt, 0, "a block whose data ends early");
const WINDOW: Error = Error::new(Kind::Limit, 0, "a block with a zstd window beyond the limit");

impl Decoder {
    pub(crate) fn new(window_log: u32) -> Result<Decoder> {
        let unknown = |_| Error::new(Kind::BadArgument, 0, "a window limit that zstd does not know");
        let mut zstd = DCtx::try_create().ok_or(Error::new(Kind::Limit, 0, "not enough memory"))?;
        zstd.set_parameter(DParameter::WindowLogMax(window_log)).map_err(unknown)?;
        Ok(Decoder { zstd })
    }

    /// Fills `out` with the whole content that files need of `block`, and tells how the block ended.
    /// Errors are at 0.
    pub(crate) fn whole(&mut self, codec: Codec, block: &[u8], out: &mut [u8]) -> Result<Ending> {
        match codec {
            Codec::Copy => copy(block, out),
            Codec::Zstd => self.zstd_whole(block, out),
            Codec::Lz4 => match lz4::decompress(block, out) {
                Some(n) if n == out.len() => Ok(Ending::Clean),
                Some(_) => Err(SHORT),
                // Damaged, or longer than `out`.
                None => lz4_prefix(block, out).map(|()| Ending::Longer),
            },
        }
    }

    /// Fills `out` with the first bytes of the content, and looks at no more than that takes.
    pub(crate) fn prefix(&mut self, codec: Codec, block: &[u8], out: &mut [u8]) -> Result<()> {
        match codec {
            Codec::Copy => copy(block, out).map(|_| ()),
            Codec::Zstd => self.stream(block, out).map(|_| ()),
            Codec::Lz4 => lz4_prefix(block, out),
        }
    }

    fn zstd_whole(&mut self, block: &[u8], out: &mut [u8]) -> Result<Ending> {
        let claimed = zstd_safe::get_frame_content_size(block).map_err(|_| DAMAGED)?;
        let Ok(frame) = zstd_safe::find_frame_compressed_size(block) else {
            // No last block: what is there may be all that is needed.
            return self.stream(block, out).map(|_| Ending::Unterminated);
        };
        let ending = if frame < block.len() { Ending::Spare } else { Ending::Clean };
        // The decoder of whole frames needs no window of its own.
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

    /// Decodes until `out` is full. Whether the frame, checksum and all, ended there too.
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
            // Once full, one more call takes an empty last block and the checksum, if they follow.
            if full {
                return Ok(false);
            }
            full = output.pos() == capacity;
        }
    }
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

fn lz4_prefix(block: &[u8], out: &mut [u8]) -> Result<()> {
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

    /// A frame that is flushed and never ended.
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
        Decoder::new(27)?.whole(Codec::Zstd, block, &mut out).map(|ending| (ending, out))
    }

    #[test]
    fn frames_end_in_each_way() {
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
    fn a_flipped_checksum_is_damage() {
        let text = text();
        for sized in [true, false] {
            let mut block = frame(&text, sized);
            *block.last_mut().unwrap() ^= 1;
            assert_eq!(whole(&block, text.len()), Err(DAMAGED), "{sized}");
        }
    }

    #[test]
    fn prefixes_need_only_the_bytes_before_their_end() {
        let text = text();
        let block = frame(&text, true);
        let mut out = vec![0; 1000];
        let mut decoder = Decoder::new(27).unwrap();
        decoder.prefix(Codec::Zstd, &block[..block.len() / 2], &mut out).unwrap();
        assert!(out == text[..1000]);
        // The same decoder goes on with other blocks.
        assert_eq!(decoder.prefix(Codec::Zstd, &block[..100], &mut out), Err(EARLY));
        decoder.prefix(Codec::Zstd, &block, &mut out).unwrap();
        assert!(out == text[..1000]);
    }

    #[test]
    fn windows_beyond_the_limit_are_refused() {
        let mut context = zstd_safe::CCtx::create();
        context.set_parameter(zstd_safe::CParameter::WindowLog(20)).unwrap();
        context.set_parameter(zstd_safe::CParameter::ContentSizeFlag(false)).unwrap();
        let mut block = vec![0; 1 << 19];
        let text = text();
        let mut output = OutBuffer::around(&mut block[..]);
        context.compress_stream(&mut output, &mut InBuffer::around(&text)).unwrap();
        context.end_stream(&mut output).unwrap();
        let mut out = vec![0; 1000];
        assert_eq!(Decoder::new(19).unwrap().prefix(Codec::Zstd, &block, &mut out), Err(WINDOW));
        assert_eq!(Decoder::new(20).unwrap().prefix(Codec::Zstd, &block, &mut out), Ok(()));
    }

    #[test]
    fn every_cut_of_a_frame_is_an_error_or_the_content() {
        let text = &text()[..3000];
        for block in [frame(text, true), frame(text, false), open_frame(text)] {
            for len in 0..block.len() {
                // Without its checksum a frame may still hold everything.
                if let Ok((ending, out)) = whole(&block[..len], text.len()) {
                    assert!(ending == Ending::Unterminated && out == text);
                }
            }
        }
    }
}

//! One block's bytes to its content, or to the first bytes of it.

use linerate_core::{Error, Kind, Result};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use crate::sys::lz4;
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
    window_log: u32,
    /// The frame that is decoded in steps. Its window, besides the content, is kept between them.
    steps: Option<Steps>,
    /// Bytes that came out.
    #[cfg(test)]
    pub(crate) decoded: u64,
}

/// How far a zstd frame is decoded.
struct Steps {
    zstd: DCtx<'static>,
    /// Bytes of the frame that zstd has taken.
    taken: usize,
    /// Bytes that it wants next: one zstd block, so that none is decoded before it is needed.
    wanted: usize,
}

/// Bytes of a frame that tell how long its header is.
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

    /// Begins to decode a zstd frame with [`Decoder::step`]; the one before is given up.
    pub(crate) fn begin_steps(&mut self) -> Result<()> {
        let zstd = match self.steps.take() {
            Some(Steps { mut zstd, .. }) => {
                zstd.reset(ResetDirective::SessionOnly).map_err(|_| DAMAGED)?;
                zstd
            }
            None => context(self.window_log)?,
        };
        self.steps = Some(Steps { zstd, taken: 0, wanted: FRAME_START });
        Ok(())
    }

    /// Goes on with the frame that was begun: fills `out`, of which the first `filled` bytes are
    /// decoded. No zstd block is decoded before content of it is wanted. With `last`, the end of the
    /// frame is looked at too, if it follows. After an error the frame must be begun anew.
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
            // When all is there, what is left is an empty last block and the checksum, or not wanted.
            let end = if full { block.len() } else { block.len().min(steps.taken + steps.wanted.max(1)) };
            let mut input = InBuffer { src: &block[..end], pos: steps.taken };
            let before = (input.pos(), output.pos());
            let wanted = steps.zstd.decompress_stream(&mut output, &mut input).map_err(stream_error)?;
            (steps.taken, steps.wanted) = (input.pos(), wanted);
            if full || (wanted == 0 && output.pos() == output.capacity()) {
                return Ok(());
            }
            if wanted == 0 {
                return Err(SHORT);
            }
            if (input.pos(), output.pos()) == before {
                return Err(EARLY);
            }
        }
    }

    /// Fills `out` with the whole content that files need of `block`, and tells how the block ended.
    /// Errors are at 0.
    pub(crate) fn whole(&mut self, codec: Codec, block: &[u8], out: &mut [u8]) -> Result<Ending> {
        #[cfg(test)]
        {
            self.decoded += out.len() as u64;
        }
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
        #[cfg(test)]
        {
            self.decoded += out.len() as u64;
        }
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
    fn steps_of_any_length_give_the_content_and_look_at_no_block_before_it_is_wanted() {
        let text = text();
        for block in [frame(&text, true), frame(&text, false), open_frame(&text)] {
            for step in [1000, 4096, 1 << 17, 200_000, text.len()] {
                let mut decoder = Decoder::new(27).unwrap();
                // Working memory is used for one frame after another.
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
    fn a_flipped_checksum_is_found_by_the_last_step() {
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

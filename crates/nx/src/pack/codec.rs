//! Bytes to one coded block, or the finding that they are better stored.

use linerate_core::Kind;
use zstd_safe::{CCtx, CParameter, ParamSwitch, ResetDirective, get_error_name};

use super::error::{PackError, PackResult};
use super::options::{Coding, Zstd};
use crate::kernel::lz4;
use crate::toc::Codec;

/// Blocks from this size on are probed before a slow codec sees them.
const PROBED_FROM: usize = 256 << 10;
/// Bytes of a probe, and the slices it is made of, spread evenly over the block.
const PROBE: usize = 64 << 10;
const SLICE: usize = 4 << 10;
/// zstd levels below this are about as fast as the probe.
const SLOW_LEVEL: i32 = 4;
/// Decoders refuse windows above 2^27 by default.
const MAX_WINDOW_LOG: u32 = 27;
/// zstd's `ZSTD_error_dstSize_tooSmall`, as its functions return it.
const TOO_SMALL: usize = 0usize.wrapping_sub(70);

/// Working memory of one thread.
pub(super) struct Encoder {
    zstd: CCtx<'static>,
    /// What `zstd` is set to: the settings and the window's logarithm.
    set: Option<(Zstd, u32)>,
    probe: Vec<u8>,
    probed: Vec<u8>,
}

impl Encoder {
    pub(super) fn new() -> PackResult<Encoder> {
        let zstd = CCtx::try_create().ok_or(PackError::rule(Kind::Limit, "no memory for zstd"))?;
        Ok(Encoder { zstd, set: None, probe: Vec::new(), probed: Vec::new() })
    }

    /// Codes `input` into `out`, which then holds nothing else. With `Codec::Copy` the block is
    /// `input` itself and `out` holds nothing of use.
    pub(super) fn encode(&mut self, coding: Coding, input: &[u8], out: &mut Vec<u8>) -> PackResult<Codec> {
        // One byte less than the input: what does not fit is better stored. The room depends on the
        // input alone, as must all that a codec could look at.
        let room = input.len().saturating_sub(1);
        if coding == Coding::Copy || room == 0 || self.is_barren(coding, input)? {
            return Ok(Codec::Copy);
        }
        out.resize(room, 0);
        let coded = match coding {
            Coding::Copy => None,
            Coding::Zstd(zstd) => self.zstd(zstd, input, out)?.map(|len| (Codec::Zstd, len)),
            Coding::Lz4 { level } => lz4::compress(input, out, level).map(|len| (Codec::Lz4, len)),
        };
        let (codec, len) = coded.unwrap_or((Codec::Copy, 0));
        out.truncate(len);
        Ok(codec)
    }

    /// Whether slices from all over a large block do not shrink at level 1.
    fn is_barren(&mut self, coding: Coding, input: &[u8]) -> PackResult<bool> {
        let slow = match coding {
            Coding::Copy => false,
            Coding::Zstd(zstd) => zstd.level >= SLOW_LEVEL,
            Coding::Lz4 { level } => level >= 3,
        };
        if !slow || input.len() < PROBED_FROM {
            return Ok(false);
        }
        let mut probe = std::mem::take(&mut self.probe);
        let mut probed = std::mem::take(&mut self.probed);
        probe.clear();
        let slices = PROBE / SLICE;
        for i in 0..slices {
            let start = input.len() / slices * i;
            probe.extend_from_slice(&input[start..start + SLICE]);
        }
        probed.resize(PROBE - 1, 0);
        let level_1 = Zstd { level: 1, min_match: 0, literals: true, long: false };
        let shrunk = self.zstd(level_1, &probe, &mut probed)?;
        (self.probe, self.probed) = (probe, probed);
        Ok(shrunk.is_none())
    }

    /// One frame with its content size, without checksum; `None` if it does not fit.
    fn zstd(&mut self, settings: Zstd, input: &[u8], out: &mut [u8]) -> PackResult<Option<usize>> {
        let window_log = if settings.long { window_log(input.len()) } else { 0 };
        if self.set != Some((settings, window_log)) {
            self.set = None;
            self.configure(settings, window_log).map_err(refused)?;
            self.set = Some((settings, window_log));
        }
        match self.zstd.compress2(out, input) {
            Ok(len) => Ok(Some(len)),
            Err(TOO_SMALL) => Ok(None),
            Err(code) => Err(refused(code)),
        }
    }

    fn configure(&mut self, settings: Zstd, window_log: u32) -> zstd_safe::SafeResult {
        let Zstd { level, min_match, literals, long } = settings;
        // `Auto` leaves literals to the level: the negative ones do without.
        let literals = if literals { ParamSwitch::Auto } else { ParamSwitch::Disable };
        let zstd = &mut self.zstd;
        zstd.reset(ResetDirective::SessionAndParameters)?;
        zstd.set_parameter(CParameter::CompressionLevel(level))?;
        zstd.set_parameter(CParameter::MinMatch(min_match))?;
        zstd.set_parameter(CParameter::LiteralCompressionMode(literals))?;
        zstd.set_parameter(CParameter::EnableLongDistanceMatching(long))?;
        zstd.set_parameter(CParameter::WindowLog(window_log))?;
        zstd.set_parameter(CParameter::ContentSizeFlag(true))?;
        zstd.set_parameter(CParameter::ChecksumFlag(false))
    }
}

/// The smallest window that a whole block fits, as far as decoders take it.
fn window_log(len: usize) -> u32 {
    len.next_power_of_two().ilog2().clamp(10, MAX_WINDOW_LOG)
}

fn refused(code: usize) -> PackError {
    PackError::rule(Kind::Limit, get_error_name(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(len: usize) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    fn encode(coding: Coding, input: &[u8]) -> (Codec, Vec<u8>) {
        let mut out = vec![1; 9];
        let codec = Encoder::new().expect("memory").encode(coding, input, &mut out).expect("codable");
        (codec, out)
    }

    #[test]
    fn noise_is_stored_by_every_codec_and_size() {
        for len in [0, 1, 2, 100, 5000, PROBED_FROM - 1, PROBED_FROM, 1 << 20] {
            for coding in [Coding::Copy, Coding::zstd(1), Coding::zstd(9), Coding::lz4(1), Coding::lz4(9)] {
                assert_eq!(encode(coding, &noise(len)).0, Codec::Copy, "{coding:?} of {len}");
            }
        }
    }

    #[test]
    fn halves_of_noise_that_are_equal_pass_the_probe() {
        let input = noise(512 << 10).repeat(2);
        let (codec, out) = encode(Coding::zstd(9), &input);
        assert_eq!(codec, Codec::Zstd);
        assert!(out.len() < input.len() * 6 / 10);
    }

    #[test]
    fn frames_say_their_size_and_end() {
        let text = b"a line of text, and another. ".repeat(5000);
        let long = Zstd { level: 9, min_match: 4, literals: false, long: true };
        for coding in [Coding::zstd(-5), Coding::zstd(3), Coding::zstd(19), Coding::Zstd(long)] {
            let (codec, frame) = encode(coding, &text);
            assert_eq!(codec, Codec::Zstd);
            let claimed = zstd_safe::get_frame_content_size(&frame).expect("a frame");
            assert_eq!(claimed, Some(text.len() as u64));
            assert_eq!(zstd_safe::find_frame_compressed_size(&frame), Ok(frame.len()), "terminated");
            let mut plain = Vec::with_capacity(text.len());
            zstd_safe::decompress(&mut plain, &frame).expect("decodable");
            assert!(plain == text);
        }
    }

    #[test]
    fn an_encoder_forgets_what_it_coded_before() {
        let text = b"some text, more text, some more text; ".repeat(300);
        let mut encoder = Encoder::new().expect("memory");
        let mut out = Vec::new();
        for coding in [Coding::zstd(19), Coding::zstd(3), Coding::lz4(12), Coding::zstd(3), Coding::zstd(19)]
        {
            encoder.encode(coding, &noise(3000), &mut out).expect("codable");
            encoder.encode(coding, &text, &mut out).expect("codable");
            assert!(out == encode(coding, &text).1, "{coding:?}");
        }
    }
}

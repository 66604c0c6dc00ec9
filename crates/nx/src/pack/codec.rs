//! Encodes one block, or finds that storing it is better.

use linerate_core::Kind;
use zstd_safe::zstd_sys::ZSTD_EndDirective::{ZSTD_e_continue, ZSTD_e_end};
use zstd_safe::{
    CCtx, CParameter, InBuffer, OutBuffer, ParamSwitch, ResetDirective, Strategy, get_error_name,
};

use super::error::{PackError, PackResult};
use super::options::{Coding, Zstd};
use crate::block::memory::{grow, lengthen};
use crate::format::toc::Codec;
use crate::sys::lz4;

/// Minimum size of blocks that are probed for compressibility before a slow codec runs.
const MIN_PROBED: usize = 256 << 10;
/// Bytes of input that a probe compresses.
const PROBE: usize = 64 << 10;
/// The probes in order: the level, and the length of a slice in bytes. Slices are spread evenly
/// over the block. The second probe is for meshes of floating-point numbers and embedded images:
/// level 1 misses their matches, and short slices cut them apart.
const PROBES: [(i32, usize); 2] = [(1, 4 << 10), (9, 16 << 10)];
/// Data is incompressible if each probe saves less than 1/128. Compressed images and audio save up
/// to 1/100, at the full cost of packing.
const PROBE_SAVINGS: usize = 128;
/// The match search is fitted to blocks of more bytes than this. For smaller blocks zstd's own
/// levels are as good.
const FITTED_ABOVE: usize = 256 << 10;
/// Bytes of the sample to which the search is fitted, and bytes of each of its slices. The slices
/// are longer than those of the first probe, since near matches decide.
const SAMPLE: usize = 16 << 10;
const SAMPLE_SLICE: usize = 8 << 10;
/// Lowest zstd level that is clearly slower than a probe.
const SLOW_LEVEL: i32 = 4;
/// Base-2 logarithm of the largest window in bytes. Decoders refuse larger windows by default.
const MAX_WINDOW_LOG: u32 = 27;
/// Larger blocks, in bytes, are given to zstd in pieces, so that the caller sees progress and can
/// stop it. No preset has larger blocks: zstd splits a block better when it gets all of it at once,
/// which saves up to 0.3 % where small files of many kinds share a block. With pieces, zstd also
/// needs memory for a window of them.
const LONG_BLOCK: usize = 16 << 20;
/// Bytes of a piece.
const PIECE: usize = 1 << 20;
/// Lowest level that takes a long block in pieces. Lower levels code 64 MiB in a second, so they
/// get it at once.
const PIECES_LEVEL: i32 = 6;
/// zstd's `ZSTD_error_dstSize_tooSmall`, as its functions return it.
const TOO_SMALL: usize = 0usize.wrapping_sub(70);

/// The parser: how zstd chooses among matches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parse {
    /// The strategy of the level for an input of this size.
    Level,
    /// Lazy matching over three positions (`ZSTD_lazy2`), as levels 8 to 12 use for large inputs.
    Lazy,
    /// Optimal parsing of near matches (`ZSTD_btopt`). Saves 10 % of data with many short matches.
    Optimal,
    /// Optimal parsing (`ZSTD_btopt`) with the level's search.
    Sparse,
}

impl Parse {
    const fn parameters(self) -> &'static [CParameter] {
        match self {
            Parse::Level => &[],
            Parse::Lazy => &[
                CParameter::Strategy(Strategy::ZSTD_lazy2),
                CParameter::SearchLog(5),
                CParameter::TargetLength(16),
            ],
            Parse::Optimal => &[
                CParameter::Strategy(Strategy::ZSTD_btopt),
                CParameter::SearchLog(1),
                CParameter::TargetLength(16),
                CParameter::ChainLog(18),
                CParameter::HashLog(17),
            ],
            Parse::Sparse => &[CParameter::Strategy(Strategy::ZSTD_btopt)],
        }
    }
}

/// The match search parameters of zstd.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Search {
    zstd: Zstd,
    parse: Parse,
    /// 0 for the level's default.
    window_log: u32,
    /// 0 for the level's default.
    hash_log: u32,
}

impl Search {
    const fn of(zstd: Zstd) -> Search {
        Search { zstd, parse: Parse::Level, window_log: 0, hash_log: 0 }
    }
}

/// Choices for one stream of a filtered block, in addition to the block's coding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct StreamCoding {
    pub(super) parse: StreamParse,
    /// Whether literals are compressed.
    pub(super) literals: bool,
    /// Whether the stream is a sample. It is then parsed like a whole stream, although the level
    /// parses so few bytes differently.
    pub(super) sample: bool,
}

/// Parser of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamParse {
    /// The parser of the block's coding.
    Level,
    /// Searches for matches of [`SPARSE_MATCH`] bytes or more, and parses optimally from level 4
    /// on. Gives fewer and longer sequences, which decode faster.
    Sparse,
    /// Searches for matches of [`DENSE_MATCH`] bytes or more, and parses optimally at every level.
    /// For levels that do not parse optimally by themselves.
    Dense,
}

impl StreamCoding {
    /// The coding of the samples on which filters are compared.
    pub(super) const OF_SAMPLES: StreamCoding =
        StreamCoding { parse: StreamParse::Level, literals: true, sample: true };
}

/// zstd's `minMatch` for [`StreamParse::Sparse`], in bytes. zstd may find shorter matches, too.
const SPARSE_MATCH: u32 = 6;
/// zstd's `minMatch` for [`StreamParse::Dense`], in bytes.
const DENSE_MATCH: u32 = 4;
/// Levels that parse large inputs lazily (`ZSTD_lazy` or `ZSTD_lazy2`). At some of them zstd parses
/// small inputs otherwise (up to 16 KiB: optimally at levels 11 and 12), so samples are parsed by
/// [`Parse::Lazy`].
const LAZY_LEVELS: std::ops::RangeInclusive<i32> = 6..=12;
/// Lowest level that parses every input optimally.
const OPTIMAL_LEVEL: i32 = 16;

/// Encoder of one thread, with its working memory.
pub(super) struct Encoder {
    zstd: CCtx<'static>,
    /// The parameters that `zstd` has now; `None` before the first use.
    set: Option<Search>,
    /// Whether the match search is fitted to each block (`PackOptions::fit_search`).
    fit_search: bool,
    probe: Vec<u8>,
    probed: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(fit_search: bool) -> PackResult<Encoder> {
        let zstd = CCtx::try_create().ok_or(PackError::rule(Kind::Limit, "no memory for zstd"))?;
        Ok(Encoder { zstd, set: None, fit_search, probe: Vec::new(), probed: Vec::new() })
    }

    /// Encodes `input` into `out`. If it returns `Codec::Copy`, the block is `input` itself, and
    /// `out` is unspecified. While zstd encodes a long block at [`PIECES_LEVEL`] or higher, `taken`
    /// is called with the number of bytes of `input` that zstd has taken since the last call; an
    /// error from `taken` stops the encoding.
    pub(super) fn encode(
        &mut self,
        coding: Coding,
        input: &[u8],
        out: &mut Vec<u8>,
        taken: &mut dyn FnMut(u64) -> PackResult<()>,
    ) -> PackResult<Codec> {
        // The capacity is one byte less than the input: a block that does not fit is better stored.
        // It depends on the input alone, so that the output does too.
        let capacity = input.len().saturating_sub(1);
        if coding == Coding::Copy || capacity == 0 || self.is_incompressible(coding, input)? {
            return Ok(Codec::Copy);
        }
        grow(out, capacity, 0)?;
        let coded = match coding {
            Coding::Copy => None,
            Coding::Zstd(zstd) => {
                let search = self.fitted_search(zstd, input)?;
                let len = match input.len() > LONG_BLOCK && zstd.level >= PIECES_LEVEL {
                    true => self.compress_in_pieces(search, input, out, taken)?,
                    false => self.compress_zstd(search, input, out)?,
                };
                len.map(|len| (Codec::Zstd, len))
            }
            Coding::Lz4 { level } => lz4::compress(input, out, level).map(|len| (Codec::Lz4, len)),
        };
        let (codec, len) = coded.unwrap_or((Codec::Copy, 0));
        out.truncate(len);
        Ok(codec)
    }

    /// Encodes a stream of a filtered block and appends the frame to `out`.
    pub(super) fn encode_stream(
        &mut self,
        zstd: Zstd,
        coding: StreamCoding,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> PackResult<()> {
        let mut search = self.fitted_search(zstd, input)?;
        search.zstd.literals = coding.literals;
        let is_lazy = (SLOW_LEVEL..OPTIMAL_LEVEL).contains(&zstd.level);
        match coding.parse {
            StreamParse::Level if coding.sample && LAZY_LEVELS.contains(&zstd.level) => {
                search.parse = if search.parse == Parse::Level { Parse::Lazy } else { search.parse };
            }
            StreamParse::Level => {}
            StreamParse::Sparse => {
                search.zstd.min_match = SPARSE_MATCH;
                search.parse = if is_lazy { Parse::Sparse } else { Parse::Level };
            }
            StreamParse::Dense => {
                search.zstd.min_match = DENSE_MATCH;
                search.parse = Parse::Sparse;
            }
        }
        let start = out.len();
        lengthen(out, start + zstd_safe::compress_bound(input.len()), 0)?;
        let len = self.compress_zstd(search, input, &mut out[start..])?;
        out.truncate(start + len.expect("within the bound"));
        Ok(())
    }

    /// Whether a large block is incompressible: slices from all over it hardly shrink, neither
    /// short slices at level 1 nor longer slices at level 9. Returns false for fast codings and for
    /// blocks below [`MIN_PROBED`], which are not probed.
    fn is_incompressible(&mut self, coding: Coding, input: &[u8]) -> PackResult<bool> {
        let slow = match coding {
            Coding::Copy => false,
            Coding::Zstd(zstd) => zstd.level >= SLOW_LEVEL,
            Coding::Lz4 { level } => level >= 3,
        };
        if !slow || input.len() < MIN_PROBED {
            return Ok(false);
        }
        for (level, slice) in PROBES {
            let search = Search::of(Zstd { level, min_match: 0, literals: true, long: false });
            if self.sampled(input, PROBE, slice, search)? <= PROBE - PROBE / PROBE_SAVINGS {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the search of the coding, or a search fitted to the block if the options allow that.
    fn fitted_search(&mut self, zstd: Zstd, input: &[u8]) -> PackResult<Search> {
        let window_log = if zstd.long { window_log(input.len()) } else { 0 };
        let given = Search { window_log, hash_log: hash_log(zstd.level, input.len()), ..Search::of(zstd) };
        let may_be_fitted = self.fit_search && zstd.min_match == 0 && zstd.literals;
        if !may_be_fitted || input.len() <= FITTED_ABOVE {
            return Ok(given);
        }
        let min_match = if is_text(&input[..SAMPLE]) { 0 } else { 4 };
        match zstd.level {
            // Searches within one block are cheap: here the next level costs as much as this level
            // does in a long stream. For text, which is mostly matches, even two levels higher cost
            // no more.
            6..=12 => {
                let level = (zstd.level + if min_match == 0 { 2 } else { 1 }).min(12);
                let deeper = Search { zstd: Zstd { level, min_match, ..zstd }, ..given };
                Ok(Search { parse: self.choose_parse(deeper, input)?, ..deeper })
            }
            13..=16 => Ok(Search { zstd: Zstd { min_match, ..zstd }, ..given }),
            _ => Ok(given),
        }
    }

    /// Chooses optimal parsing if it saves more than 2 % of a sample over lazy matching, else that
    /// of the level: optimal parsing takes 2.5 times as long, its output decodes slower, and a
    /// sample is not exact. Accepting savings of 1 to 2 % would cost at least 5 % of the time of
    /// packing textures, and make archives only 0.15 % smaller.
    fn choose_parse(&mut self, search: Search, input: &[u8]) -> PackResult<Parse> {
        let near = |parse| Search { parse, window_log: 0, ..search };
        let lazy = self.sampled(input, SAMPLE, SAMPLE_SLICE, near(Parse::Lazy))?;
        let optimal = self.sampled(input, SAMPLE, SAMPLE_SLICE, near(Parse::Optimal))?;
        Ok(if optimal * 100 < lazy * 98 { Parse::Optimal } else { Parse::Level })
    }

    /// Returns the compressed size of a sample of `len` bytes in slices spread over the input;
    /// `len` if it does not shrink.
    fn sampled(&mut self, input: &[u8], len: usize, slice: usize, search: Search) -> PackResult<usize> {
        let (mut sample, mut coded) = (std::mem::take(&mut self.probe), std::mem::take(&mut self.probed));
        sample.clear();
        let part = input.len() / (len / slice);
        for i in 0..len / slice {
            // The slice is in the middle of its part: file headers are not typical of the content.
            let start = part * i + (part - slice) / 2;
            sample.extend_from_slice(&input[start..start + slice]);
        }
        coded.resize(len - 1, 0);
        let shrunk = self.compress_zstd(search, &sample, &mut coded)?;
        (self.probe, self.probed) = (sample, coded);
        Ok(shrunk.unwrap_or(len))
    }

    /// Compresses to one frame with content size and without checksum. `None` if the frame does not
    /// fit `out`.
    fn compress_zstd(&mut self, search: Search, input: &[u8], out: &mut [u8]) -> PackResult<Option<usize>> {
        self.set(search)?;
        match self.zstd.compress2(out, input) {
            Ok(len) => Ok(Some(len)),
            Err(TOO_SMALL) => Ok(None),
            Err(code) => Err(zstd_error(code)),
        }
    }

    /// Does the same as [`compress_zstd`](Self::compress_zstd), but gives zstd a piece at a time.
    fn compress_in_pieces(
        &mut self,
        search: Search,
        input: &[u8],
        out: &mut [u8],
        taken: &mut dyn FnMut(u64) -> PackResult<()>,
    ) -> PackResult<Option<usize>> {
        self.set(search)?;
        self.zstd.reset(ResetDirective::SessionOnly).map_err(zstd_error)?;
        self.zstd.set_pledged_src_size(Some(input.len() as u64)).map_err(zstd_error)?;
        let mut output = OutBuffer::around(out);
        let mut pieces = input.chunks(PIECE).peekable();
        while let Some(piece) = pieces.next() {
            let is_last = pieces.peek().is_none();
            let directive = if is_last { ZSTD_e_end } else { ZSTD_e_continue };
            let mut from = InBuffer::around(piece);
            loop {
                let rest =
                    self.zstd.compress_stream2(&mut output, &mut from, directive).map_err(zstd_error)?;
                if from.pos == piece.len() && (!is_last || rest == 0) {
                    break;
                }
                if output.pos() == output.capacity() {
                    return Ok(None);
                }
            }
            taken(piece.len() as u64)?;
        }
        Ok(Some(output.pos()))
    }

    /// Sets the parameters, unless zstd has them already.
    fn set(&mut self, search: Search) -> PackResult<()> {
        if self.set != Some(search) {
            self.set = None;
            self.configure(search).map_err(zstd_error)?;
            self.set = Some(search);
        }
        Ok(())
    }

    fn configure(&mut self, search: Search) -> zstd_safe::SafeResult {
        let Search { zstd: Zstd { level, min_match, literals, long }, parse, window_log, hash_log } = search;
        // With `Auto` the level decides: negative levels do not compress literals.
        let literals = if literals { ParamSwitch::Auto } else { ParamSwitch::Disable };
        let zstd = &mut self.zstd;
        zstd.reset(ResetDirective::SessionAndParameters)?;
        zstd.set_parameter(CParameter::CompressionLevel(level))?;
        zstd.set_parameter(CParameter::MinMatch(min_match))?;
        zstd.set_parameter(CParameter::LiteralCompressionMode(literals))?;
        zstd.set_parameter(CParameter::EnableLongDistanceMatching(long))?;
        zstd.set_parameter(CParameter::WindowLog(window_log))?;
        zstd.set_parameter(CParameter::HashLog(hash_log))?;
        parse.parameters().iter().try_for_each(|&parameter| zstd.set_parameter(parameter).map(drop))?;
        zstd.set_parameter(CParameter::ContentSizeFlag(true))?;
        zstd.set_parameter(CParameter::ChecksumFlag(false))
    }
}

/// Whether fewer than 1 in 256 bytes are control characters other than white space, as in text that
/// is not UTF-16.
fn is_text(bytes: &[u8]) -> bool {
    let controls = bytes.iter().filter(|byte| **byte < b' ' && !byte.is_ascii_whitespace());
    controls.count() * 256 < bytes.len()
}

/// Returns the base-2 logarithm of the smallest window for a whole block, at most what decoders
/// accept by default.
fn window_log(len: usize) -> u32 {
    len.next_power_of_two().ilog2().clamp(10, MAX_WINDOW_LOG)
}

/// Returns the base-2 logarithm of the size of the hash table, or 0 for the level's default. Levels
/// that parse optimally keep positions in binary trees, and the table holds the roots. One root for
/// every four to eight positions is enough: a block of 1 MiB has the same size to a few bytes, and
/// takes 10 % less time, since the table stays in the CPU cache.
fn hash_log(level: i32, len: usize) -> u32 {
    if level >= OPTIMAL_LEVEL && len > FITTED_ABOVE { len.ilog2() - 2 } else { 0 }
}

fn zstd_error(code: usize) -> PackError {
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
        let mut encoder = Encoder::new(true).expect("memory");
        let codec = encoder.encode(coding, input, &mut out, &mut |_| Ok(())).expect("codable");
        (codec, out)
    }

    #[test]
    fn noise_of_any_size_is_stored_by_every_codec() {
        for len in [0, 1, 2, 100, 5000, MIN_PROBED - 1, MIN_PROBED, 1 << 20] {
            for coding in [Coding::Copy, Coding::zstd(1), Coding::zstd(9), Coding::lz4(1), Coding::lz4(9)] {
                assert_eq!(encode(coding, &noise(len)).0, Codec::Copy, "{coding:?} of {len}");
            }
        }
    }

    #[test]
    fn matches_beyond_short_slices_are_compressed() {
        let input: Vec<u8> = noise(512 << 10).chunks(6 << 10).flat_map(|part| part.repeat(2)).collect();
        for coding in [Coding::zstd(9), Coding::zstd(16), Coding::lz4(9)] {
            let (codec, out) = encode(coding, &input);
            assert!(codec != Codec::Copy && out.len() < input.len() * 6 / 10, "{coding:?}");
        }
    }

    #[test]
    fn repeated_noise_is_compressed() {
        let input = noise(512 << 10).repeat(2);
        let (codec, out) = encode(Coding::zstd(9), &input);
        assert_eq!(codec, Codec::Zstd);
        assert!(out.len() < input.len() * 6 / 10);
    }

    #[test]
    fn frames_have_a_content_size_and_a_last_block() {
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

    /// Returns data like a BC1 texture: units of 8 bytes, with two slowly changing colours, then
    /// indices.
    fn texture(len: usize) -> Vec<u8> {
        let noise = noise(len);
        let unit = |i: usize| {
            let (colour, at) = ((i / 13 % 200) as u8, 8 * i % len);
            let index = |k: usize| [0x55, 0xAA, 0x00, noise[at] & 0xF0][usize::from(noise[at + k] & 3)];
            [colour, 3, colour ^ noise[at] & 1, 3, index(1), index(2), index(3), index(4)]
        };
        (0..len / 8).flat_map(unit).collect()
    }

    fn len_of(coding: Coding, input: &[u8], fit_search: bool) -> usize {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(fit_search).expect("memory");
        assert_eq!(encoder.encode(coding, input, &mut out, &mut |_| Ok(())).expect("codable"), Codec::Zstd);
        out.len()
    }

    #[test]
    fn dense_content_gets_optimal_parsing_and_text_a_deeper_search() {
        let mut encoder = Encoder::new(true).expect("memory");
        let zstd = Zstd { level: 9, min_match: 0, literals: true, long: false };
        let dense = texture(512 << 10);
        let search = encoder.fitted_search(zstd, &dense).expect("codable");
        assert!((search.parse, search.zstd.min_match) == (Parse::Optimal, 4));
        assert!(len_of(Coding::zstd(9), &dense, true) * 100 < len_of(Coding::zstd(9), &dense, false) * 98);
        let lines: Vec<&[u8]> =
            b"a line, another of it, and one more of these, as long as\nit may be\n".chunks(7).collect();
        let text: Vec<u8> =
            noise(80_000).iter().flat_map(|&byte| lines[usize::from(byte) % lines.len()]).copied().collect();
        let search = encoder.fitted_search(zstd, &text).expect("codable");
        assert!((search.parse, search.zstd.min_match, search.zstd.level) == (Parse::Level, 0, 11));
    }

    #[test]
    fn explicit_search_parameters_are_kept() {
        let dense = texture(512 << 10);
        for (level, min_match, literals) in [(9, 5, true), (9, 0, false), (3, 0, true), (19, 0, true)] {
            let coding = Coding::Zstd(Zstd { level, min_match, literals, long: false });
            assert_eq!(len_of(coding, &dense, true), len_of(coding, &dense, false), "{coding:?}");
        }
        let small = &dense[..FITTED_ABOVE];
        assert_eq!(len_of(Coding::zstd(9), small, true), len_of(Coding::zstd(9), small, false));
    }

    #[test]
    fn long_blocks_are_taken_in_pieces_and_can_be_stopped() {
        let input = b"a line of text, and another. ".repeat(LONG_BLOCK / 29 + 1);
        let coding = Coding::zstd(PIECES_LEVEL);
        let mut encoder = Encoder::new(true).expect("memory");
        let (mut out, mut pieces) = (Vec::new(), Vec::new());
        let codec = encoder.encode(coding, &input, &mut out, &mut |bytes| {
            pieces.push(bytes as usize);
            Ok(())
        });
        assert_eq!((codec.expect("codable"), pieces.len()), (Codec::Zstd, LONG_BLOCK / PIECE + 1));
        assert!(pieces.starts_with(&[PIECE, PIECE]) && pieces.iter().sum::<usize>() == input.len());
        let mut plain = Vec::with_capacity(input.len());
        zstd_safe::decompress(&mut plain, &out).expect("a frame");
        assert!(plain == input);
        let stopped = encoder.encode(coding, &input, &mut Vec::new(), &mut |_| Err(PackError::cancelled()));
        assert!(stopped.expect_err("stopped").is_cancelled());
        let mut again = Vec::new();
        encoder.encode(coding, &input, &mut again, &mut |_| Ok(())).expect("codable");
        assert!(again == out, "what was stopped left nothing behind");
    }

    #[test]
    fn output_does_not_depend_on_earlier_blocks() {
        let text = b"some text, more text, some more text; ".repeat(300);
        let mut encoder = Encoder::new(true).expect("memory");
        let mut out = Vec::new();
        for coding in [Coding::zstd(19), Coding::zstd(3), Coding::lz4(12), Coding::zstd(3), Coding::zstd(19)]
        {
            encoder.encode(coding, &noise(3000), &mut out, &mut |_| Ok(())).expect("codable");
            encoder.encode(coding, &text, &mut out, &mut |_| Ok(())).expect("codable");
            assert!(out == encode(coding, &text).1, "{coding:?}");
        }
    }
}

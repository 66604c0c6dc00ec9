//! Finds the textures in a block, and filters them if that makes the block smaller.

use super::codec::{Encoder, StreamCoding, StreamParse};
use super::content::Item;
use super::decode_cost::{self, Counts};
use super::error::PackResult;
use super::filters::Filters;
use super::options::{Coding, FileOptions, PackOptions, Zstd};
use crate::block::memory::grow;
use crate::block::regions::{self, MAX_REGIONS, Region};
use crate::filter::{self, Filter, MAX_HEAD, Texture, TextureFormat};
use crate::format::header::PAGE;
use crate::format::toc::Codec;

/// Smallest texture to filter, in bytes. Smaller textures save less than their entry takes in the
/// table of filtered regions, with which a filtered block begins.
const MIN_TEXTURE: usize = 512;
/// Number of bytes from the middle of a texture on which its filters are tried.
const SAMPLE: usize = 64 << 10;
/// A filtered block must save 1/100 of its size, since restoring it takes time.
const MIN_SAVINGS: usize = 100;
/// Weight of a compressed byte against decoding time, in picoseconds: the time to transfer it at
/// 118 MB/s. Used if decoding time counts.
const PS_PER_COMPRESSED_BYTE: u64 = 8500;
/// A filtered block may take 1/3 longer to decode, by the estimate. Used if decoding time counts.
const MAX_SLOWDOWN: u64 = 3;
/// Smallest stream that gets a frame of its own, in bytes. A stream is a part of a filtered block:
/// the fields of one kind of a texture, such as its colours, or bytes that are not filtered.
const MIN_STREAM: usize = 16 << 10;
/// If a stream's sample shrinks by less than 1/128, no further coding is tried.
const MIN_GAIN: usize = 128;
/// Number of bytes from the middle of a stream on which codings are tried.
const STREAM_SAMPLE: usize = 32 << 10;

/// Texels of one format in the content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) format: TextureFormat,
    pub(super) start: usize,
    pub(super) len: usize,
}

/// Returns the texture in a file that gets blocks of its own. `None` without filters.
pub(super) fn of_file(item: &Item, options: &PackOptions) -> PackResult<Option<Texture>> {
    if options.filters.is_empty() {
        return Ok(None);
    }
    let mut head = vec![0; item.size.min(MAX_HEAD as u64) as usize];
    item.read_at(0, &mut head)?;
    Ok(of_head(&head, item.file_options))
}

/// Returns the texture that the header of a file describes. Without such a header it is the whole
/// file, if the file's options name a format.
fn of_head(head: &[u8], file_options: FileOptions) -> Option<Texture> {
    let told = file_options.texture.map(|format| Texture { format, start: 0, len: None });
    filter::detect(head).or(told)
}

/// Returns the texels in the chunk of a file that begins at `offset`, if they are at least
/// [`MIN_TEXTURE`] bytes. They start with the first block of texels that begins in the chunk, and
/// end with the chunk or the texture, even within a block. Without a known texture, `guess` allows
/// to guess the format from the chunk.
pub(super) fn in_chunk(texture: Option<Texture>, offset: u64, chunk: &[u8], guess: bool) -> Vec<Span> {
    let guessed = || filter::guess(chunk).map(|format| Span { format, start: 0, len: chunk.len() });
    let span = match texture {
        Some(texture) => texels(texture, offset, chunk.len()),
        None if guess => guessed(),
        None => None,
    };
    span.into_iter().filter(|span| span.len >= MIN_TEXTURE).collect()
}

fn texels(texture: Texture, offset: u64, len: usize) -> Option<Span> {
    let begin = texture.start as u64;
    let end = texture.len.map_or(u64::MAX, |len| begin.saturating_add(len)).min(offset + len as u64);
    let unit = texture.format.block_bytes() as u64;
    // The first whole block at or after the start of the chunk.
    let start = begin + offset.saturating_sub(begin).next_multiple_of(unit);
    let texels = end.checked_sub(start).filter(|texels| *texels > 0)?;
    Some(Span { format: texture.format, start: (start - offset) as usize, len: texels as usize })
}

/// Returns the texels in a solid block, whose files are given by size in bytes and options. Of more
/// than [`MAX_REGIONS`] textures, returns the largest.
pub(super) fn in_files(
    content: &[u8],
    files: impl Iterator<Item = (usize, FileOptions)>,
    guess: bool,
) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut start = 0;
    for (size, file_options) in files {
        let file = &content[start..start + size];
        let texture = of_head(&file[..size.min(MAX_HEAD)], file_options);
        let found = in_chunk(texture, 0, file, guess);
        spans.extend(found.into_iter().map(|span| Span { start: start + span.start, ..span }));
        start += size;
    }
    if spans.len() > MAX_REGIONS {
        // Keeps the largest spans; of equal ones, the first.
        spans.sort_by_key(|span| std::cmp::Reverse(span.len));
        spans.truncate(MAX_REGIONS);
        spans.sort_by_key(|span| span.start);
    }
    spans
}

/// The compressed size of some data in bytes, and the time to decode it in picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    size: usize,
    time: u64,
}

impl Cost {
    /// Returns one number to compare: the size alone or, if `fast`, the size and the time in
    /// picoseconds.
    fn total(self, fast: bool) -> u64 {
        if fast { self.size as u64 * PS_PER_COMPRESSED_BYTE + self.time } else { self.size as u64 }
    }
}

/// Returns the size and the estimated decoding time of `content` bytes that were encoded to
/// `compressed`.
fn cost(codec: Codec, compressed: &[u8], content: usize) -> Cost {
    match codec {
        Codec::Copy => Cost { size: content, time: decode_cost::COPY * content as u64 },
        Codec::Lz4 => Cost { size: compressed.len(), time: decode_cost::LZ4 * content as u64 },
        Codec::Zstd => Cost { size: compressed.len(), time: decode_cost::of_frames(compressed, content) },
    }
}

/// Filters blocks. Each thread has one, with its buffers.
#[derive(Default)]
pub(super) struct BlockFilter {
    filtered: Vec<u8>,
    coded: Vec<u8>,
    /// The filtered block encoded as a whole, as an alternative to frames for its streams.
    whole: Vec<u8>,
    /// The encoded sample of a stream.
    trial: Vec<u8>,
}

impl BlockFilter {
    /// Encodes a block with its textures filtered, and returns the codec. On entry `out` holds the
    /// block encoded by the codec `plain` without filters, or anything if that is `Copy`; on
    /// success it holds the filtered block.
    /// Returns `None` and leaves `out` as it was if filtering does not pay: the filtered block must
    /// take fewer pages and be 1 % smaller. If decoding time counts, it must not take more than 1/3
    /// longer to decode.
    ///
    /// If several filters are allowed, that of each texture is chosen by compressing a sample. The
    /// choice depends on the content and the options alone.
    pub(super) fn encode(
        &mut self,
        encoder: &mut Encoder,
        (coding, filters): (Coding, Filters),
        (input, spans): (&[u8], &[Span]),
        plain: Codec,
        out: &mut Vec<u8>,
    ) -> PackResult<Option<Codec>> {
        let mut chosen = Vec::new();
        for span in spans {
            if let Some(filter) = self.choose(encoder, (coding, filters), input, span)? {
                // A block is below 2^29 bytes.
                chosen.push(Region { filter, start: span.start as u32, len: span.len as u32 });
            }
        }
        if chosen.is_empty() {
            return Ok(None);
        }
        let (codec, found) =
            self.encode_filtered(encoder, (coding, filters.is_fast(), false), input, &chosen)?;
        let mut table = Vec::new();
        regions::write(&chosen, &mut table);
        let len = table.len() + self.coded.len();
        let plain = cost(plain, out, input.len());
        let pages = |len: usize| len.div_ceil(PAGE as usize);
        let saves = pages(len) < pages(plain.size) && len <= plain.size - plain.size / MIN_SAVINGS;
        let is_slow = filters.is_fast() && found.time > plain.time + plain.time / MAX_SLOWDOWN;
        if codec == Codec::Copy || !saves || is_slow {
            return Ok(None);
        }
        out.clear();
        out.extend_from_slice(&table);
        out.extend_from_slice(&self.coded);
        Ok(Some(codec))
    }

    /// Encodes a block, or the sample of a texture, with these regions filtered, to `self.coded`.
    /// zstd encodes stream by stream, or all in one frame if that costs less because several
    /// textures have much in common. The time includes that of the inverse filters.
    fn encode_filtered(
        &mut self,
        encoder: &mut Encoder,
        (coding, fast, is_sample): (Coding, bool, bool),
        input: &[u8],
        regions: &[Region],
    ) -> PackResult<(Codec, Cost)> {
        grow(&mut self.filtered, input.len(), 0)?;
        self.filtered.copy_from_slice(input);
        let mut ends = Vec::new();
        let mut inverse = 0;
        for &Region { filter, start, len } in regions {
            let range = start as usize..(start + len) as usize;
            let filtered = &mut self.filtered[range.clone()];
            filter.apply(&input[range], filtered);
            ends.push(start as usize);
            ends.extend(filter.stream_ends(filtered).iter().map(|end| start as usize + end));
            inverse += filter.inverse_time() * u64::from(len);
        }
        ends.push(input.len());
        let mut best = None;
        if let Coding::Zstd(zstd) = coding {
            best = Some((Codec::Zstd, self.encode_streams(encoder, (zstd, fast, is_sample), &ends)?));
        }
        if best.is_none() || regions.len() > 1 {
            let codec = encoder.encode(coding, &self.filtered, &mut self.whole, &mut |_| Ok(()))?;
            let whole = cost(codec, &self.whole, input.len());
            if best.is_none_or(|(_, streams)| whole.total(fast) < streams.total(fast)) {
                std::mem::swap(&mut self.coded, &mut self.whole);
                best = Some((codec, whole));
            }
        }
        let (codec, mut found) = best.unwrap_or((Codec::Copy, Cost::default()));
        found.time += inverse;
        Ok((codec, found))
    }

    /// Encodes each stream of `self.filtered` to a zstd frame of its own in `self.coded`. A stream
    /// shorter than [`MIN_STREAM`] shares a frame with a neighbour. For each frame, several
    /// parsers, with compressed and with raw literals, are compared on a sample of its bytes, and
    /// those that cost least are used. If the input itself is a sample (`is_sample`), all frames
    /// use [`StreamCoding::OF_SAMPLES`]. Returns the cost of all frames.
    fn encode_streams(
        &mut self,
        encoder: &mut Encoder,
        (zstd, fast, is_sample): (Zstd, bool, bool),
        ends: &[usize],
    ) -> PackResult<Cost> {
        self.coded.clear();
        let mut total = Cost::default();
        let mut start = 0;
        for (i, &end) in ends.iter().enumerate() {
            let next = ends.get(i + 1).map_or(usize::MAX, |next| next - end);
            let is_last = i + 1 == ends.len();
            if !is_last && (end - start < MIN_STREAM || next < MIN_STREAM) {
                continue;
            }
            let stream = &self.filtered[start..end];
            let frame = self.coded.len();
            let coding = match is_sample {
                true => StreamCoding::OF_SAMPLES,
                false => choose_coding(encoder, (zstd, fast), stream, &mut self.trial)?,
            };
            encoder.encode_stream(zstd, coding, stream, &mut self.coded)?;
            let found = cost(Codec::Zstd, &self.coded[frame..], stream.len());
            total = Cost { size: total.size + found.size, time: total.time + found.time };
            start = end;
        }
        Ok(total)
    }

    /// Returns the allowed filter with which a sample of the texture costs least; of equal ones,
    /// the first. `None` if no filter of its format is allowed.
    fn choose(
        &mut self,
        encoder: &mut Encoder,
        (coding, filters): (Coding, Filters),
        input: &[u8],
        span: &Span,
    ) -> PackResult<Option<Filter>> {
        let allowed = || span.format.filters().iter().copied().filter(|&filter| filters.contains(filter));
        if allowed().nth(1).is_none() {
            return Ok(allowed().next());
        }
        let len = span.len.min(SAMPLE);
        let unit = span.format.block_bytes();
        let start = span.start + (span.len - len) / 2 / unit * unit;
        let sample = &input[start..start + len];
        let mut best = None;
        for filter in allowed() {
            let region = Region { filter, start: 0, len: len as u32 };
            let (_, cost) =
                self.encode_filtered(encoder, (coding, filters.is_fast(), true), sample, &[region])?;
            let total = cost.total(filters.is_fast());
            if best.is_none_or(|(least, _)| total < least) {
                best = Some((total, filter));
            }
        }
        Ok(best.map(|(_, filter)| filter))
    }
}

/// Chooses the coding of a stream that costs least on a sample from its middle. Raw literals save
/// only time. Their cost is computed from the sample with compressed literals, without another
/// trial.
fn choose_coding(
    encoder: &mut Encoder,
    (zstd, fast): (Zstd, bool),
    stream: &[u8],
    trial: &mut Vec<u8>,
) -> PackResult<StreamCoding> {
    let len = stream.len().min(STREAM_SAMPLE);
    let sample = &stream[(stream.len() - len) / 2..][..len];
    let mut best = StreamCoding::OF_SAMPLES;
    let mut least = u64::MAX;
    for parse in parses(zstd.level, fast) {
        let coding = StreamCoding { parse: *parse, ..StreamCoding::OF_SAMPLES };
        trial.clear();
        encoder.encode_stream(zstd, coding, sample, trial)?;
        let counts = Counts::of_frames(trial);
        let coded = Cost { size: trial.len(), time: counts.time(len) }.total(fast);
        let (counts, longer) = counts.with_raw_literals();
        let raw = Cost { size: trial.len() + longer, time: counts.time(len) }.total(fast);
        let literals = raw >= coded;
        if raw.min(coded) < least {
            (least, best) = (raw.min(coded), StreamCoding { literals, ..coding });
        }
        if trial.len() > len - len / MIN_GAIN {
            break;
        }
    }
    Ok(StreamCoding { sample: false, ..best })
}

/// Returns the parsers to try, in order. Dense parsing is tried only at levels 4 to 12 and where it
/// pays: levels from 16 parse optimally by themselves, levels 13 to 15 do so for small inputs, and
/// if decoding time counts, dense sequences save hardly more than their decoding costs.
fn parses(level: i32, fast: bool) -> &'static [StreamParse] {
    match level {
        4..=12 if !fast => &[StreamParse::Level, StreamParse::Sparse, StreamParse::Dense],
        _ => &[StreamParse::Level, StreamParse::Sparse],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texture(start: usize, len: Option<u64>) -> Texture {
        Texture { format: TextureFormat::Bc1, start, len }
    }

    fn span(texture: Texture, offset: u64, len: usize) -> Option<(usize, usize)> {
        in_chunk(Some(texture), offset, &vec![0; len], false).first().map(|span| (span.start, span.len))
    }

    #[test]
    fn region_of_a_chunk_begins_with_its_first_whole_block_of_texels() {
        // The header has 148 bytes: blocks begin at 4 more than multiples of 8.
        assert_eq!(span(texture(148, None), 0, 4096), Some((148, 3948)));
        assert_eq!(span(texture(148, None), 4096, 4096), Some((4, 4092)));
        assert_eq!(span(texture(128, None), 4096, 4096), Some((0, 4096)));
        assert_eq!(span(texture(148, Some(4000)), 0, 4096), Some((148, 3948)));
        assert_eq!(span(texture(148, Some(5000)), 4096, 4096), Some((4, 1048)));
        assert_eq!(span(texture(148, Some(4000)), 4096, 4096), None, "only a tail of 52 bytes");
        assert_eq!(span(texture(148, Some(4000)), 8192, 4096), None);
        assert_eq!(span(texture(9000, None), 4096, 4096), None);
        assert_eq!(span(texture(5000, None), 4096, 4096), Some((904, 3192)));
        assert_eq!(span(texture(0, Some(u64::MAX)), 0, 600), Some((0, 600)));
        assert_eq!(span(texture(0, None), 0, 511), None);
    }

    #[test]
    fn literals_are_raw_where_decoding_their_codes_costs_more_than_it_saves() {
        let chosen = |fast, below: u8| {
            let noise = linerate_testkit::data::Noise::new(5).bytes(70_000);
            let stream: Vec<u8> = noise.into_iter().map(|byte| byte % below).collect();
            let zstd = Zstd { level: 12, min_match: 0, literals: true, long: false };
            let mut encoder = Encoder::new(false).expect("memory");
            choose_coding(&mut encoder, (zstd, fast), &stream, &mut Vec::new()).expect("memory").literals
        };
        // Entropy coding saves 4 % of random bytes below 200, and half of random bytes below 16.
        assert!(chosen(false, 200) && !chosen(true, 200));
        assert!(chosen(false, 16) && chosen(true, 16));
    }

    #[test]
    fn block_of_more_textures_than_regions_filters_the_largest() {
        let head = |len: usize| {
            let mut dds = vec![0; len];
            dds[..4].copy_from_slice(b"DDS ");
            dds[4] = 124;
            dds[8..12].copy_from_slice(&0x1007_u32.to_le_bytes());
            dds[12] = 64;
            dds[16] = 64;
            dds[76] = 32;
            dds[80] = 4;
            dds[84..88].copy_from_slice(b"DXT1");
            dds
        };
        let sizes: Vec<usize> = (0..300).map(|i| 700 + 8 * (i % 7)).collect();
        let content: Vec<u8> = sizes.iter().flat_map(|&size| head(size)).collect();
        let files = |sizes: Vec<usize>| sizes.into_iter().map(|size| (size, FileOptions::new()));
        let spans = in_files(&content, files(sizes.clone()), false);
        assert_eq!(spans.len(), MAX_REGIONS);
        assert!(spans.windows(2).all(|pair| pair[0].start + pair[0].len <= pair[1].start));
        let smallest = sizes.iter().min().expect("sizes");
        let dropped = sizes.iter().filter(|size| *size == smallest).count();
        assert!(spans.iter().filter(|span| span.len == smallest - 128).count() < dropped);
        assert!(in_files(&vec![7; 5000], files(vec![0, 5000]), false).is_empty());
    }
}

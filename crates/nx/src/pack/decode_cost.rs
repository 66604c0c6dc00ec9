//! Estimates how long a zstd frame takes to decode, from the headers of its blocks (RFC 8878,
//! section 3.1.1.2).
//!
//! The estimate depends on the frame alone, so that archives do not depend on the CPU that packs
//! them.

/// Picoseconds for each sequence, for each byte that compressed literals decompress to, and for
/// each byte of content. They are fitted to the times in which `linerate-zstd` decodes textures on
/// Zen 4, within 10 %.
const SEQUENCE: u64 = 7800;
const LITERAL: u64 = 750;
const CONTENT: u64 = 145;

/// Picoseconds to copy a byte.
pub(super) const COPY: u64 = 30;
/// Picoseconds for each byte of content of an LZ4 block, which has no headers to estimate from.
pub(super) const LZ4: u64 = 350;

/// Counts read from the headers of the zstd blocks of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    sequences: u64,
    /// Bytes of the compressed literals: decompressed in `literals`; compressed, with their Huffman
    /// table, in `compressed`.
    literals: u64,
    compressed: u64,
}

impl Counts {
    /// Reads the counts of one or more frames. The frames were just written, so they are not
    /// checked for damage.
    pub(super) fn of_frames(mut frames: &[u8]) -> Counts {
        let mut all = Counts::default();
        while let Some(mut blocks) = after_frame_header(frames) {
            loop {
                let Some((&header, rest)) = blocks.split_first_chunk::<3>() else { return all };
                let header = little_endian(&header);
                let (is_last, kind, size) = (header & 1 == 1, (header >> 1) & 3, (header >> 3) as usize);
                // An RLE block holds one byte, whatever its size field says.
                let (block, rest) = rest.split_at(if kind == 1 { 1 } else { size }.min(rest.len()));
                if kind == 2 {
                    let counts = of_block(block).unwrap_or_default();
                    all.sequences += counts.sequences;
                    all.literals += counts.literals;
                    all.compressed += counts.compressed;
                }
                blocks = rest;
                if is_last {
                    break;
                }
            }
            frames = blocks;
        }
        all
    }

    /// Returns the picoseconds to decode the frames to `content` bytes.
    pub(super) fn time(self, content: usize) -> u64 {
        CONTENT * content as u64 + SEQUENCE * self.sequences + LITERAL * self.literals
    }

    /// Returns the counts of the same sequences with raw literals, and the bytes that raw literals
    /// add to the size.
    pub(super) fn with_raw_literals(self) -> (Counts, usize) {
        let longer = self.literals.saturating_sub(self.compressed) as usize;
        (Counts { literals: 0, compressed: 0, ..self }, longer)
    }
}

/// Returns the time in picoseconds to decode frames to `content` bytes.
pub(super) fn of_frames(frames: &[u8], content: usize) -> u64 {
    Counts::of_frames(frames).time(content)
}

/// Returns the bytes after the header of a frame without dictionary.
fn after_frame_header(frame: &[u8]) -> Option<&[u8]> {
    let descriptor = *frame.get(4)?;
    let single_segment = (descriptor >> 5) & 1;
    let content_size = [usize::from(single_segment), 2, 4, 8][usize::from(descriptor >> 6)];
    frame.get(6 - usize::from(single_segment) + content_size..)
}

fn of_block(block: &[u8]) -> Option<Counts> {
    let first = *block.first()?;
    let (kind, format) = (first & 3, (first >> 2) & 3);
    // The header of raw and RLE literals has one size, that of compressed literals two. The
    // literals follow the header.
    let (header, compressed, literals) = if kind < 2 {
        let (header, skipped) = [(1, 3), (2, 4), (1, 3), (3, 4)][usize::from(format)];
        let size = little_endian(block.get(..header)?) >> skipped;
        (header, if kind == 0 { size } else { 1 }, 0)
    } else {
        let (header, bits) = [(3, 10), (3, 10), (4, 14), (5, 18)][usize::from(format)];
        let sizes = little_endian(block.get(..header)?) >> 4;
        (header, sizes >> bits, sizes & ((1 << bits) - 1))
    };
    let sequences = match *block.get(header + compressed as usize..)? {
        [] => return None,
        [n @ 0..=127, ..] => u64::from(n),
        [255, low, high, ..] => u64::from(u16::from_le_bytes([low, high])) + 0x7f00,
        [n, low, ..] => (u64::from(n - 128) << 8) + u64::from(low),
        [_] => return None,
    };
    let compressed = if literals > 0 { compressed } else { 0 };
    Some(Counts { sequences, literals, compressed })
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| (number << 8) | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use linerate_testkit::data::Noise;

    use super::*;

    fn frame(content: &[u8]) -> Vec<u8> {
        let mut frame = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
        zstd_safe::compress(&mut frame, content, 3).unwrap();
        frame
    }

    #[test]
    fn frame_without_sequences_costs_its_literals_and_content() {
        let noise = Noise::new(1).bytes(300_000);
        assert_eq!(of_frames(&frame(&noise), noise.len()), CONTENT * 300_000, "raw blocks");
        // Four symbols without matches give literals of 2 bits.
        let few: Vec<u8> = noise.iter().map(|byte| byte & 3).take(2000).collect();
        let found = of_frames(&frame(&few), few.len());
        let (literals, sequences) = (LITERAL * 2000, SEQUENCE * 400);
        assert!(found > CONTENT * 2000 + literals / 2, "{found}");
        assert!(found < CONTENT * 2000 + literals + sequences, "{found}");
    }

    #[test]
    fn each_match_costs_and_frames_add_up() {
        let noise = Noise::new(2).bytes(70_000);
        let repeated: Vec<u8> = noise.chunks(7).flat_map(|part| [part, &noise[..50]].concat()).collect();
        let (one, plain) = (frame(&repeated), frame(&noise));
        let cost = of_frames(&one, repeated.len());
        let sequences = (cost - CONTENT * repeated.len() as u64) / SEQUENCE;
        assert!((9_000..11_000).contains(&sequences), "{sequences} of 10,000 matches");
        let both = [one, plain].concat();
        assert_eq!(of_frames(&both, repeated.len() + noise.len()), cost + CONTENT * 70_000);
        assert_eq!(of_frames(&[], 5), CONTENT * 5);
    }

    #[test]
    fn raw_literals_cost_what_the_same_sequences_with_them_do() {
        let mut noise = Noise::new(4);
        let words: Vec<u8> = noise.bytes(90_000).iter().map(|byte| b'a' + byte % 20).collect();
        let content = words.chunks(30).flat_map(|part| [part, &words[..12]].concat()).collect::<Vec<u8>>();
        let coded = frame(&content);
        let mut context = zstd_safe::CCtx::create();
        let raw_literals = zstd_safe::CParameter::LiteralCompressionMode(zstd_safe::ParamSwitch::Disable);
        context.set_parameter(raw_literals).unwrap();
        let mut raw = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
        context.compress2(&mut raw, &content).unwrap();
        let (counts, longer) = Counts::of_frames(&coded).with_raw_literals();
        assert_eq!(counts, Counts::of_frames(&raw));
        // Headers of literals and blocks differ by a few bytes.
        assert!(longer > 10_000 && (coded.len() + longer).abs_diff(raw.len()) < 50);
    }
}

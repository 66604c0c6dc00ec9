//! The parts of its dictionary that a frame requires, according to the headers of its first block.

use linerate_core::{Error, Kind, Result};

use crate::dictionary::Digest;
use crate::frame::{BLOCK_MAX, BlockHeader, BlockType, Format, FrameHeader};
use crate::literals::{LiteralsHeader, LiteralsType};
use crate::prefetch::PrefetchQueue;

/// The parts of a dictionary that a frame may require. These are all parts, unless the frame has a
/// single block whose headers exclude some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequiredParts {
    /// Whether the Huffman table is required, because the literals are treeless.
    pub huffman: bool,
    /// Whether the FSE tables of literal lengths, match lengths and offsets are required, because
    /// their mode is repeat.
    pub(crate) fse_tables: [bool; 3],
    /// Whether the content is required, because there are sequences.
    pub content: bool,
}

const ALL: RequiredParts = RequiredParts { huffman: true, fse_tables: [true; 3], content: true };
const NONE: RequiredParts = RequiredParts { huffman: false, fse_tables: [false; 3], content: false };

impl RequiredParts {
    /// Reads the headers of `frame`. The result for a damaged frame is unspecified, but safe to
    /// use.
    pub fn from_frame(frame: &[u8], format: Format) -> RequiredParts {
        peek(frame, format).unwrap_or(ALL)
    }

    /// Enqueues the required parts of compact tables. The part that decoding reads first is
    /// enqueued last, because the last entry is prefetched first.
    pub fn enqueue_prefetch(&self, digest: &Digest, compact: &[u8], queue: &mut PrefetchQueue) {
        let Some([huffman, parts @ ..]) = digest.parts(compact) else { return };
        for (part, _) in parts.into_iter().zip(self.fse_tables).filter(|(_, required)| *required) {
            queue.enqueue(part);
        }
        if self.huffman {
            queue.enqueue(huffman);
        }
    }

    /// Returns the range of compact tables from the first to the last required part, to be read in
    /// one go.
    pub fn range<'a>(&self, digest: &Digest, compact: &'a [u8]) -> &'a [u8] {
        let Some(parts) = digest.parts(compact) else { return &[] };
        let [literal_lengths, match_lengths, offsets] = self.fse_tables;
        let (mut range, mut at) = (0..0, 0);
        for (part, required) in parts.iter().zip([self.huffman, literal_lengths, match_lengths, offsets]) {
            let end = at + part.len();
            if required {
                range = if range.is_empty() { at..end } else { range.start..end };
            }
            at = end;
        }
        &compact[range]
    }
}

fn peek(frame: &[u8], format: Format) -> Result<RequiredParts> {
    let at = FrameHeader::parse(frame, format)?.len;
    let unclear = Error::new(Kind::Truncated, 0, "a frame ends in its headers");
    let (header, rest) = frame.get(at..).and_then(<[u8]>::split_first_chunk::<3>).ok_or(unclear)?;
    let block = BlockHeader::parse(*header, BLOCK_MAX)?;
    if !block.last {
        return Ok(ALL);
    }
    if block.kind != BlockType::Compressed {
        return Ok(NONE);
    }
    let literals = LiteralsHeader::parse(rest)?;
    let section = rest.get(literals.len + literals.stored..).ok_or(unclear)?;
    let huffman = literals.kind == LiteralsType::Treeless;
    // The compression modes byte follows the sequence count (1 to 3 bytes; RFC 8878, 3.1.1.3.2.1).
    let modes = match section {
        [0, ..] => return Ok(RequiredParts { huffman, ..NONE }),
        [255, _, _, modes, ..] | [128..=254, _, modes, ..] | [1..128, modes, ..] => modes,
        _ => return Err(unclear),
    };
    let repeated = |shift: u32| modes >> shift & 3 == 3;
    Ok(RequiredParts { huffman, fse_tables: [repeated(6), repeated(2), repeated(4)], content: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::Dictionary;

    #[test]
    #[cfg_attr(miri, ignore = "libzstd is C")]
    fn headers_determine_the_required_parts() {
        let word = |i: u32| format!("{} of the ", i.wrapping_mul(2_654_435_761) >> 20);
        let text: Vec<u8> = (0..9000).flat_map(|i| word(i).into_bytes()).collect();
        let mut dictionary = vec![0; 2048];
        let n = zstd_safe::train_from_buffer(
            &mut dictionary[..],
            &text[..text.len() / 200 * 200],
            &vec![200; text.len() / 200],
        );
        dictionary.truncate(n.unwrap());
        let frame = |block: &[u8], dictionary: &[u8]| {
            let mut out = Vec::with_capacity(1000 + block.len());
            zstd_safe::CCtx::create().compress_using_dict(&mut out, block, dictionary, 3).unwrap();
            RequiredParts::from_frame(&out, Format::Standard)
        };
        let required = frame(&text[..600], &dictionary);
        assert!(required.content && required.huffman && required.fse_tables.contains(&true), "{required:?}");
        let required = frame(&text[..6000], &[]);
        assert!(required.content && required.fse_tables == [false; 3] && !required.huffman, "{required:?}");
        assert!(!frame(&[7; 6000], &dictionary).huffman);
        assert_eq!(frame(b"", &dictionary), NONE);
        let digest = Dictionary::measure(&dictionary).unwrap();
        let tables = vec![0; digest.compact_len()];
        let of = |huffman, fse_tables| {
            let range = RequiredParts { huffman, fse_tables, content: true }.range(&digest, &tables);
            (range.as_ptr() as usize - tables.as_ptr() as usize, range.len())
        };
        let [ll, ml, off, _] = digest.logs().map(|log| 4_usize << log);
        let tree = digest.compact_len() - ll - ml - off;
        assert_eq!(of(false, [false; 3]).1, 0);
        assert_eq!(of(true, [true; 3]), (0, digest.compact_len()));
        assert_eq!(of(true, [true, false, false]), (0, tree + ll));
        assert_eq!(of(false, [true, false, true]), (tree, ll + ml + off));
        assert_eq!(of(false, [false, true, false]), (tree + ll, ml));
        // Frames of more than one block, and damaged frames, require all parts.
        assert_eq!(frame(&text.repeat(20), &dictionary), ALL);
        for damaged in [&[][..], &[1, 2, 3], &[0x28, 0xb5, 0x2f, 0xfd, 0x20]] {
            assert_eq!(RequiredParts::from_frame(damaged, Format::Standard), ALL);
        }
    }
}

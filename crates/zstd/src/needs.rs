//! What a frame needs of its dictionary, seen from the headers of its first block.

use linerate_core::{Error, Kind, Result};

use crate::dictionary::Digest;
use crate::frame::{BlockHeader, BlockType, Format, FrameHeader};
use crate::literals::{Coding, Header};
use crate::prefetch::Prefetch;

/// Which parts of a dictionary a frame may need. All of them, unless it has a single block whose
/// headers say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Huffman codes.
    pub codes: bool,
    /// Tables of literal lengths, match lengths and offsets.
    pub tables: [bool; 3],
    /// Content.
    pub content: bool,
}

const ALL: Needs = Needs { codes: true, tables: [true; 3], content: true };
const NONE: Needs = Needs { codes: false, tables: [false; 3], content: false };

impl Needs {
    /// Looks at the headers of `frame`. Of a damaged one it may say anything.
    pub fn of(frame: &[u8], format: Format) -> Needs {
        peek(frame, format).unwrap_or(ALL)
    }

    /// Adds the parts of compact tables that are needed to a list, those that are needed first last:
    /// they are asked for first.
    pub fn list(&self, digest: &Digest, compact: &[u8], list: &mut Prefetch) {
        let Some([codes, parts @ ..]) = digest.parts(compact) else { return };
        for (part, _) in parts.into_iter().zip(self.tables).filter(|(_, needed)| *needed) {
            list.add(part);
        }
        if self.codes {
            list.add(codes);
        }
    }
}

fn peek(frame: &[u8], format: Format) -> Result<Needs> {
    let at = FrameHeader::parse(frame, format)?.len;
    let unclear = Error::new(Kind::Truncated, 0, "a frame ends in its headers");
    let (header, rest) = frame.get(at..).and_then(<[u8]>::split_first_chunk::<3>).ok_or(unclear)?;
    let block = BlockHeader::parse(*header, crate::BLOCK_MAX)?;
    if !block.last {
        return Ok(ALL);
    }
    if block.kind != BlockType::Compressed {
        return Ok(NONE);
    }
    let literals = Header::parse(rest)?;
    let section = rest.get(literals.len + literals.stored..).ok_or(unclear)?;
    let codes = literals.coding == Coding::Treeless;
    // The modes stand behind the count, which has one to three bytes.
    let modes = match section {
        [0, ..] => return Ok(Needs { codes, ..NONE }),
        [255, _, _, modes, ..] | [128..=254, _, modes, ..] | [1..128, modes, ..] => modes,
        _ => return Err(unclear),
    };
    let repeated = |shift: u32| modes >> shift & 3 == 3;
    Ok(Needs { codes, tables: [repeated(6), repeated(2), repeated(4)], content: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_what_is_needed() {
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
            Needs::of(&out, Format::Standard)
        };
        let needs = frame(&text[..600], &dictionary);
        assert!(needs.content && needs.codes && needs.tables.contains(&true), "{needs:?}");
        let needs = frame(&text[..6000], &[]);
        assert!(needs.content && needs.tables == [false; 3] && !needs.codes, "{needs:?}");
        assert!(!frame(&[7; 6000], &dictionary).codes);
        assert_eq!(frame(b"", &dictionary), NONE);
        // More than one block, and what is none.
        assert_eq!(frame(&text.repeat(20), &dictionary), ALL);
        for damaged in [&[][..], &[1, 2, 3], &[0x28, 0xb5, 0x2f, 0xfd, 0x20]] {
            assert_eq!(Needs::of(damaged, Format::Standard), ALL);
        }
    }
}

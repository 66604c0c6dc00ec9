//! Decodes raw LZ4 blocks, or a prefix of them.

/// Decodes a whole block into `out` and returns its length. `None` if it is damaged or longer than
/// `out`.
///
/// liblz4 takes 7/10 of the time of `lz4_flex` (`records/archives.jsonl`). It is used if the feature
/// `pack` compiles it anyway. `lz4_flex` decodes what liblz4 rejects, since liblz4 also rejects
/// blocks that end with a match, and builds with and without `pack` must accept the same blocks.
pub(crate) fn decompress(block: &[u8], out: &mut [u8]) -> Option<usize> {
    #[cfg(feature = "pack")]
    if let Some(len) = crate::sys::lz4::decompress(block, out) {
        return Some(len);
    }
    lz4_flex::block::decompress_into(block, out).ok()
}

/// Minimum length of a match in bytes.
const MIN_MATCH: usize = 4;

/// Decodes the first `out.len()` bytes of a block, or all of a shorter block. Returns the number of
/// bytes; `None` if this part of the block is damaged.
pub(crate) fn decompress_prefix(block: &[u8], out: &mut [u8]) -> Option<usize> {
    let (mut at, mut to) = (0, 0);
    while to < out.len() {
        let token = *block.get(at)?;
        at += 1;
        let literals = length(block, &mut at, token >> 4)?;
        let count = literals.min(out.len() - to);
        out[to..to + count].copy_from_slice(block.get(at..at + count)?);
        // Adding `literals` could overflow on 32-bit targets. If it is more than `count`, the
        // output is full.
        (at, to) = (at + count, to + count);
        // The last sequence of a block has no match.
        if to == out.len() || at == block.len() {
            break;
        }
        let offset = usize::from(u16::from_le_bytes(*block.get(at..)?.first_chunk()?));
        at += 2;
        let count = length(block, &mut at, token & 15)?.saturating_add(MIN_MATCH).min(out.len() - to);
        if offset == 0 {
            return None;
        }
        copy_match(out, to.checked_sub(offset)?, to, count);
        to += count;
    }
    Some(to)
}

/// Returns the length that begins with half of a token. If that is 15, bytes follow that are added,
/// up to the first one that is not 255. The sum is below 255 times the length of the block.
fn length(block: &[u8], at: &mut usize, half: u8) -> Option<usize> {
    let mut length = usize::from(half);
    let mut continued = half == 15;
    while continued {
        let byte = *block.get(*at)?;
        *at += 1;
        length = length.checked_add(byte.into())?;
        continued = byte == 255;
    }
    Some(length)
}

/// Copies `count` bytes from `from` to `to`. The ranges may overlap: each step but the last copies
/// twice as many bytes as the one before.
fn copy_match(out: &mut [u8], from: usize, to: usize, count: usize) {
    let mut done = 0;
    while done < count {
        let step = (to + done - from).min(count - done);
        out.copy_within(from..from + step, to + done);
        done += step;
    }
}

#[cfg(test)]
mod tests {
    use core::iter;

    use super::*;

    #[test]
    fn damaged_block_is_an_error() {
        let mut out = [0; 64];
        for block in [
            &[][..],
            &[0xF0],
            &[0x50, b'a'],
            &[0x10, b'a', 9, 9, 0x50],
            &[0x10, b'a', 0, 0, 0x50],
            &[0x1F, b'a', 1, 0, 255],
        ] {
            assert_eq!(decompress(block, &mut out), None, "{block:?}");
            assert_eq!(decompress_prefix(block, &mut out), None, "{block:?}");
        }
    }

    #[test]
    fn matches_that_overlap_their_output_repeat_it() {
        // "ab", then 20 bytes at distance 2, then "!".
        let block = [0x2F, b'a', b'b', 2, 0, 1, 0x10, b'!'];
        let expected = b"ababababababababababab!";
        let mut out = [0; 23];
        assert_eq!(decompress(&block, &mut out), Some(23));
        assert_eq!(&out, expected);
        for len in 0..=23 {
            let mut out = vec![0; len];
            assert_eq!(decompress_prefix(&block, &mut out), Some(len));
            assert_eq!(out, expected[..len]);
        }
        assert_eq!(decompress_prefix(&block, &mut [0; 30]), Some(23));
        assert_eq!(decompress(&block, &mut out[..22]), None);
    }

    /// The lengths are `u32::MAX`, to which 32-bit targets cannot add anything.
    #[test]
    fn lengths_of_4_gib_do_not_overflow() {
        let long = || iter::repeat_n(255, 16_843_008).chain([240]);
        let literals: Vec<u8> = [0xF0].into_iter().chain(long()).chain(*b"abc").collect();
        let repeat: Vec<u8> = [0x1F, b'a', 1, 0].into_iter().chain(long()).collect();
        for (block, expected) in [(literals, b"abc"), (repeat, b"aaa")] {
            let mut out = [0; 3];
            assert_eq!((decompress_prefix(&block, &mut out), &out), (Some(3), expected));
        }
    }

    #[cfg(feature = "pack")]
    #[test]
    fn blocks_round_trip_whole_and_as_prefixes() {
        use crate::sys::lz4::compress;

        let bytes: Vec<u8> = (0..100_000u32).map(|i| (i / 7 % 251) as u8).collect();
        for level in [1, 3, 9, 12] {
            let mut block = vec![0; bytes.len()];
            let len = compress(&bytes, &mut block, level).unwrap();
            block.truncate(len);
            assert!(len < bytes.len() / 4);
            let mut out = vec![0; bytes.len()];
            assert_eq!(decompress(&block, &mut out), Some(bytes.len()));
            assert!(out == bytes);
            for wanted in [0, 1, 17, 70_001, bytes.len()] {
                let mut out = vec![0; wanted];
                assert_eq!(decompress_prefix(&block, &mut out), Some(wanted));
                assert!(out == bytes[..wanted]);
            }
            assert_eq!(decompress(&block, &mut out[..99_999]), None);
            assert_eq!(compress(&bytes, &mut block[..10], level), None);
        }
    }
}

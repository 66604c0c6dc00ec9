//! Finds the positions of ones byte by byte, through a table.

use super::isa::{Isa, Kernel};

/// Number of bytes after the last position that the loops may overwrite.
pub(super) const SLACK: usize = 64;

/// Finds the 1 bits of whole words.
pub(super) struct Find<'a> {
    pub(super) words: &'a [[u8; 8]],
    pub(super) positions: &'a mut [u8],
}

impl Kernel for Find<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<usize> {
        find(self.words, self.positions)
    }
}

/// The positions of the ones of each byte, in ascending order.
static ONES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut n) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][n] = bit;
                n += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Finds the ones of whole words. Returns their number, or `None` for a word of zeros or for more
/// ones than `positions` holds. Writes up to eight positions beyond the last.
#[inline(always)]
fn find(words: &[[u8; 8]], positions: &mut [u8]) -> Option<usize> {
    let capacity = positions.len() - SLACK;
    let mut found = 0;
    for (i, word) in words.iter().enumerate() {
        let ones = u64::from_le_bytes(*word).count_ones() as usize;
        if ones == 0 || found + ones > capacity {
            return None;
        }
        let mut at = found;
        for (j, &byte) in word.iter().enumerate() {
            // The additions cause no carry, because the position of the byte is a multiple of 8,
            // and positions within it are below 8.
            let position = u64::from((64 * i + 8 * j) as u8) * 0x0101_0101_0101_0101;
            let eight = u64::from_le_bytes(ONES[usize::from(byte)]) + position;
            positions[at..at + 8].copy_from_slice(&eight.to_le_bytes());
            at += byte.count_ones() as usize;
        }
        found += ones;
    }
    Some(found)
}

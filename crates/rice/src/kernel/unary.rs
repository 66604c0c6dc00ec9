//! Unary codes of a version 2 segment to the places of their ones.
//!
//! A quotient is the distance between two ones, less one. Finding all ones first has no chain of
//! dependences: 64 bits of codes, whatever is in them, become places at once. Places are kept
//! modulo 256, which is enough: a distance above 64 shows as a word of zeros, an error.

use linerate_core::Tier;

use super::isa::{Isa, Kernel, dispatch};

/// Room behind the last place that the loops write to.
pub(crate) const SLACK: usize = 64;

/// Places of ones, the first of them at index 1. At index 0 is the place before the first code.
#[derive(Default)]
pub(crate) struct Places {
    list: alloc::vec::Vec<u8>,
}

impl Places {
    /// Finds the `codes` ones of `bytes`. `None` if there are more or fewer, if 64 bits in a row
    /// are zero, or 32 behind the last one.
    pub(crate) fn find(&mut self, tier: Tier, bytes: &[u8], codes: usize) -> Option<()> {
        if self.list.len() < 1 + codes + SLACK {
            self.list.resize(1 + codes + SLACK, 0);
        }
        self.list[0] = u8::MAX;
        let (words, tail) = bytes.as_chunks();
        let places = &mut self.list[1..][..codes + SLACK];
        let found = match tier {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            // SAFETY: `Exec` holds only tiers that were detected.
            Tier::Avx512 => unsafe { super::adaptive_avx512::find(words, places) },
            _ => dispatch(tier, Find { words, places }),
        }?;
        self.finish(tail, words.len(), found, codes)?;
        let zeros = match bytes.iter().rposition(|&b| b != 0) {
            Some(last) => 8 * (bytes.len() - 1 - last) + bytes[last].leading_zeros() as usize,
            None => 8 * bytes.len(),
        };
        (zeros < 32).then_some(())
    }

    /// The ones of less than a word, behind `words` words with `found` ones.
    fn finish(&mut self, tail: &[u8], words: usize, mut found: usize, codes: usize) -> Option<()> {
        for (i, &byte) in tail.iter().enumerate() {
            let mut bits = byte;
            while bits != 0 {
                if found == codes {
                    return None;
                }
                self.list[1 + found] = (64 * words + 8 * i) as u8 + bits.trailing_zeros() as u8;
                found += 1;
                bits &= bits - 1;
            }
        }
        (found == codes).then_some(())
    }

    /// The places of ones from code `first` on, behind that of the one before: at least
    /// `SLACK` of them can be read behind the last.
    pub(crate) fn from(&self, first: usize) -> &[u8] {
        &self.list[first..]
    }
}

struct Find<'a> {
    words: &'a [[u8; 8]],
    places: &'a mut [u8],
}

impl Kernel for Find<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<usize> {
        find(self.words, self.places)
    }
}

/// For each byte the places of its ones, first one first.
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

/// Finds the ones of whole words: their number, or `None` for a word of zeros or more ones than
/// `places` has room for. Writes up to eight places more than there are.
#[inline(always)]
fn find(words: &[[u8; 8]], places: &mut [u8]) -> Option<usize> {
    let room = places.len() - SLACK;
    let mut found = 0;
    for (i, word) in words.iter().enumerate() {
        let ones = u64::from_le_bytes(*word).count_ones() as usize;
        if ones == 0 || found + ones > room {
            return None;
        }
        let mut at = found;
        for (j, &byte) in word.iter().enumerate() {
            // Places within a byte are below 8 and that of a byte is a multiple of 8: no carries.
            let place = u64::from((64 * i + 8 * j) as u8) * 0x0101_0101_0101_0101;
            let eight = u64::from_le_bytes(ONES[usize::from(byte)]) + place;
            places[at..at + 8].copy_from_slice(&eight.to_le_bytes());
            at += byte.count_ones() as usize;
        }
        found += ones;
    }
    Some(found)
}

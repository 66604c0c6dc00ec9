//! Finds the positions of the ones in the unary codes of a version 2 segment.
//!
//! A quotient is the distance between two ones, minus one. Finding all ones first avoids a chain of
//! dependent steps: 64 bits of codes become positions at once. Positions are kept modulo 256. That
//! is enough because a long distance contains a word of 64 zeros, which is an error.

use linerate_core::Tier;

use super::dispatch::dispatch;
use super::unary_scalar::{Find, SLACK};

/// Bit positions of the 1 bits, modulo 256. Index 0 holds the position before the first code, index
/// 1 the position of the first 1 bit.
#[derive(Default)]
pub(crate) struct Positions {
    list: alloc::vec::Vec<u8>,
}

impl Positions {
    /// Finds the 1 bits of `bytes`, of which there must be `codes`, one for each code. `None` if
    /// there are more or fewer, if a whole 64-bit word is zero, or if 32 or more zero bits follow
    /// the last 1 bit.
    pub(crate) fn find(&mut self, tier: Tier, bytes: &[u8], codes: usize) -> Option<()> {
        if self.list.len() < 1 + codes + SLACK {
            self.list.resize(1 + codes + SLACK, 0);
        }
        self.list[0] = u8::MAX;
        let (words, tail) = bytes.as_chunks();
        let positions = &mut self.list[1..][..codes + SLACK];
        let found = match tier {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            // SAFETY: `Options` holds only tiers that were detected.
            Tier::Avx512 => unsafe { super::unary_avx512::find(words, positions) },
            _ => dispatch(tier, Find { words, positions }),
        }?;
        self.finish(tail, words.len(), found, codes)?;
        let zeros = match bytes.iter().rposition(|&b| b != 0) {
            Some(last) => 8 * (bytes.len() - 1 - last) + bytes[last].leading_zeros() as usize,
            None => 8 * bytes.len(),
        };
        (zeros < 32).then_some(())
    }

    /// Finds the ones of `tail`, which is shorter than a word and follows `words` words with
    /// `found` ones.
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

    /// Returns the positions from code `first` on, preceded by the position before it. At least
    /// `SLACK` bytes after the last position can be read.
    pub(crate) fn from(&self, first: usize) -> &[u8] {
        &self.list[first..]
    }
}

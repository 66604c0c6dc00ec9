//! Zigzag values of a version 2 segment to fixed bits, escapes and unary codes.

use linerate_core::Tier;

use super::isa::{Isa, Kernel, dispatch};
use crate::v2::element::Word;
use crate::v2::{BLOCK, ESCAPE, blocks};

/// A segment's zigzag values, and the places for what they become, which have room for just that.
pub(crate) struct Pack<'a, W> {
    pub(crate) z: &'a [W],
    pub(crate) modes: &'a [u8],
    pub(crate) fixed: &'a mut [u8],
    pub(crate) escapes: &'a mut [u8],
    pub(crate) unary: &'a mut [u8],
}

/// Fills all three places.
pub(crate) fn pack<W: Word>(tier: Tier, job: Pack<W>) {
    dispatch(tier, job);
}

impl<W: Word> Kernel for Pack<'_, W> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        fixed(self.z, self.modes, self.fixed);
        unary(self.z, self.modes, self.escapes, self.unary);
    }
}

/// Writes the low bits of each block, from a whole byte on. `out` has room for just those.
#[inline(always)]
fn fixed<W: Word>(z: &[W], modes: &[u8], out: &mut [u8]) {
    let mut at = 0;
    for (block, &mode) in z.chunks(BLOCK).zip(modes) {
        let bytes = blocks::fixed_bytes(mode, block.len());
        if bytes == 0 {
            continue;
        }
        let k = u32::from(mode - 1);
        let block = padded(block);
        match out[at..].first_chunk_mut() {
            Some(out) => pack_block(&block, k, out),
            None => {
                let mut packed = [0; PADDED];
                pack_block(&block, k, &mut packed);
                out[at..at + bytes].copy_from_slice(&packed[..bytes]);
            }
        }
        at += bytes;
    }
}

/// Room for the fixed bits of a block and what a store behind its last byte writes.
const PADDED: usize = 4 * BLOCK + 16;

/// The block with zeros behind it, if it is not whole.
#[inline(always)]
pub(crate) fn padded<W: Word>(block: &[W]) -> [W; BLOCK] {
    match block.first_chunk() {
        Some(block) => *block,
        None => {
            let mut whole = [W::default(); BLOCK];
            whole[..block.len()].copy_from_slice(block);
            whole
        }
    }
}

/// 32 values of `k` bits. Writes up to 12 bytes behind them.
#[inline(always)]
fn pack_block<W: Word>(block: &[W; BLOCK], k: u32, out: &mut [u8; PADDED]) {
    let mask = (1u64 << k) - 1;
    // Eight values fill k bytes.
    for (i, eight) in block.as_chunks::<8>().0.iter().enumerate() {
        let mut at = i * k as usize;
        if W::BITS == 16 {
            let four = |words: &[W]| words.iter().rev().fold(0, |bits, z| bits << k | (z.get() & mask));
            let bits = u128::from(four(&eight[..4])) | u128::from(four(&eight[4..])) << (4 * k);
            out[at..at + 16].copy_from_slice(&bits.to_le_bytes());
        } else {
            let (mut bits, mut have) = (0u64, 0);
            for z in eight {
                bits |= (z.get() & mask) << have;
                have += k;
                if have >= 32 {
                    out[at..at + 4].copy_from_slice(&(bits as u32).to_le_bytes());
                    (bits, have, at) = (bits >> 32, have - 32, at + 4);
                }
            }
            out[at..at + 4].copy_from_slice(&(bits as u32).to_le_bytes());
        }
    }
}

/// Writes the escapes, and the unary codes, least significant bit first. Both have room for just
/// that.
#[inline(always)]
fn unary<W: Word>(z: &[W], modes: &[u8], mut escapes: &mut [u8], out: &mut [u8]) {
    let mut bits = Bits { out, at: 0, bits: 0, have: 0 };
    for (block, &mode) in z.chunks(BLOCK).zip(modes) {
        if !blocks::has_unary::<W>(mode) {
            continue;
        }
        let k = u32::from(mode - 1);
        let n = block.len();
        let block = padded(block);
        let mut q = [0u8; BLOCK];
        for i in 0..BLOCK {
            q[i] = block[i].quotient(k, ESCAPE);
        }
        if q.contains(&(ESCAPE as u8)) {
            for z in block.iter().filter(|z| z.quotient(k, ESCAPE) == ESCAPE as u8) {
                let (this, rest) = core::mem::take(&mut escapes).split_at_mut(W::BYTES);
                this.copy_from_slice(&(z.get() >> k).to_le_bytes()[..W::BYTES]);
                escapes = rest;
            }
        }
        for q in q[..n].chunks(4) {
            bits.append(q);
        }
    }
    bits.finish();
}

/// Bits on their way to `out`.
struct Bits<'a> {
    out: &'a mut [u8],
    at: usize,
    bits: u64,
    have: u32,
}

impl Bits<'_> {
    /// Appends the codes of at most four quotients, 64 bits together.
    #[inline(always)]
    fn append(&mut self, q: &[u8]) {
        let (mut ones, mut place) = (0u64, 0);
        for &q in q {
            place += u32::from(q);
            ones |= 1 << place;
            place += 1;
        }
        self.bits |= ones << self.have;
        let end = self.have + place;
        if end < 64 {
            self.have = end;
            return;
        }
        self.put(8);
        // What did not fit; all of it if nothing was there before.
        self.bits = ones.checked_shr(64 - self.have).unwrap_or(0);
        self.have = end - 64;
    }

    fn put(&mut self, bytes: usize) {
        self.out[self.at..self.at + bytes].copy_from_slice(&self.bits.to_le_bytes()[..bytes]);
        self.at += bytes;
    }

    fn finish(mut self) {
        self.put(self.have.div_ceil(8) as usize);
        self.out[self.at..].fill(0);
    }
}

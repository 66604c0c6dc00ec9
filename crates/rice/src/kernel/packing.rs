//! Packs the zigzag values of a version 2 segment: fixed bits, escapes, unary codes.

use linerate_core::Tier;

use super::dispatch::dispatch;
use super::isa::{Isa, Kernel};
use crate::v2::element::Word;
use crate::v2::{BLOCK, ESCAPE, blocks};

/// The zigzag values of a segment, and three outputs of exactly the required length.
pub(crate) struct Pack<'a, W> {
    pub(crate) z: &'a [W],
    pub(crate) modes: &'a [u8],
    pub(crate) fixed: &'a mut [u8],
    pub(crate) escapes: &'a mut [u8],
    pub(crate) unary: &'a mut [u8],
}

/// Fills all three outputs.
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

/// Writes the low bits of each block, starting at a whole byte. `out` has exactly the required length.
#[inline(always)]
fn fixed<W: Word>(z: &[W], modes: &[u8], out: &mut [u8]) {
    let mut at = 0;
    for (block, &mode) in z.chunks(BLOCK).zip(modes) {
        let bytes = blocks::fixed_bytes(mode, block.len());
        if bytes == 0 {
            continue;
        }
        let k = u32::from(mode - 1);
        let block = blocks::padded(block);
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

/// Bytes of the fixed bits of a block, and those that a store past its last byte writes.
const PADDED: usize = 4 * BLOCK + 16;

/// Packs 32 values of `k` bits. Writes up to 12 bytes past them.
#[inline(always)]
fn pack_block<W: Word>(block: &[W; BLOCK], k: u32, out: &mut [u8; PADDED]) {
    let mask = (1u64 << k) - 1;
    if W::BITS == 16 {
        // Vectorised: pairs of values, then pairs of pairs.
        let mut two = [0u32; BLOCK / 2];
        for i in 0..BLOCK / 2 {
            two[i] = (block[2 * i].get() & mask) as u32 | ((block[2 * i + 1].get() & mask) as u32) << k;
        }
        let mut four = [0u64; BLOCK / 4];
        for i in 0..BLOCK / 4 {
            four[i] = u64::from(two[2 * i]) | u64::from(two[2 * i + 1]) << (2 * k);
        }
        // Eight values fill k bytes.
        for (i, four) in four.as_chunks::<2>().0.iter().enumerate() {
            let bits = u128::from(four[0]) | u128::from(four[1]) << (4 * k);
            out[i * k as usize..][..16].copy_from_slice(&bits.to_le_bytes());
        }
        return;
    }
    for (i, eight) in block.as_chunks::<8>().0.iter().enumerate() {
        let mut at = i * k as usize;
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

/// Writes the escapes, and the unary codes, least significant bit first. Both outputs have exactly the
/// required length.
#[inline(always)]
fn unary<W: Word>(z: &[W], modes: &[u8], mut escapes: &mut [u8], out: &mut [u8]) {
    let mut bits = Bits { out, at: 0, bits: 0, have: 0 };
    for (block, &mode) in z.chunks(BLOCK).zip(modes) {
        if !blocks::has_unary::<W>(mode) {
            continue;
        }
        let k = u32::from(mode - 1);
        let n = block.len();
        let block = blocks::padded(block);
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
        // Vectorised: pairs of codes, at most 32 bits, then pairs of pairs, at most 64.
        let (mut two, mut two_bits) = ([0u32; BLOCK / 2], [0; BLOCK / 2]);
        for i in 0..BLOCK / 2 {
            let (a, b) = (u32::from(q[2 * i]), u32::from(q[2 * i + 1]));
            two[i] = 1 << a | 1 << (a + 1 + b);
            two_bits[i] = a + b + 2;
        }
        let mut four = [0u64; BLOCK / 4];
        for i in 0..BLOCK / 4 {
            four[i] = u64::from(two[2 * i]) | u64::from(two[2 * i + 1]) << two_bits[2 * i];
        }
        if n == BLOCK {
            for (i, &four) in four.iter().enumerate() {
                bits.append(four, two_bits[2 * i] + two_bits[2 * i + 1]);
            }
        } else {
            q[..n].iter().for_each(|&q| bits.append(1 << q, u32::from(q) + 1));
        }
    }
    bits.finish();
}

/// A bit writer, least significant bit first.
struct Bits<'a> {
    out: &'a mut [u8],
    at: usize,
    bits: u64,
    have: u32,
}

impl Bits<'_> {
    /// Appends the lowest `n` bits, at most 64, the others being zero.
    #[inline(always)]
    fn append(&mut self, bits: u64, n: u32) {
        if n <= 56 {
            self.append_short(bits, n);
        } else {
            self.append_short(bits & u64::from(u32::MAX), 32);
            self.append_short(bits >> 32, n - 32);
        }
    }

    /// Appends at most 56 bits. Fewer than 8 are pending before and after.
    #[inline(always)]
    fn append_short(&mut self, bits: u64, n: u32) {
        self.bits |= bits << self.have;
        self.have += n;
        match self.out[self.at..].first_chunk_mut() {
            Some(eight) => *eight = self.bits.to_le_bytes(),
            None => self.put(self.have as usize / 8),
        }
        self.at += self.have as usize / 8;
        self.bits >>= self.have & !7;
        self.have &= 7;
    }

    fn put(&mut self, bytes: usize) {
        self.out[self.at..self.at + bytes].copy_from_slice(&self.bits.to_le_bytes()[..bytes]);
    }

    fn finish(mut self) {
        let last = self.have.div_ceil(8) as usize;
        self.put(last);
        self.out[self.at + last..].fill(0);
    }
}

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

/// Writes the low bits of each block, starting at a whole byte. `out` has exactly the required
/// length.
#[inline(always)]
fn fixed<W: Word>(z: &[W], modes: &[u8], out: &mut [u8]) {
    let mut at = 0;
    let (whole, rest) = z.as_chunks();
    for (block, &mode) in whole.iter().zip(modes) {
        at += fixed_block(block, BLOCK, mode, &mut out[at..]);
    }
    if let ([_, ..], Some(&mode)) = (rest, modes.last()) {
        fixed_block(&blocks::padded(rest), rest.len(), mode, &mut out[at..]);
    }
}

/// Writes the low bits of the first `n` values of a block to the front of `out`. Returns their size
/// in bytes.
#[inline(always)]
fn fixed_block<W: Word>(block: &[W; BLOCK], n: usize, mode: u8, out: &mut [u8]) -> usize {
    let bytes = blocks::fixed_bytes(mode, n);
    if bytes > 0 {
        let k = u32::from(mode - 1);
        match out.first_chunk_mut() {
            Some(out) => pack_block(block, k, out),
            None => {
                let mut packed = [0; PADDED];
                pack_block(block, k, &mut packed);
                out[..bytes].copy_from_slice(&packed[..bytes]);
            }
        }
    }
    bytes
}

/// Maximum number of bytes of a block's fixed bits, plus room for stores past their end.
const PADDED: usize = 4 * BLOCK + 16;

/// Packs 32 values of `k` bits; `k` is at least 1. Writes up to 7 bytes past them.
#[inline(always)]
fn pack_block<W: Word>(block: &[W; BLOCK], k: u32, out: &mut [u8; PADDED]) {
    let mask = (1u64 << k) - 1;
    if W::BITS == 16 {
        // Vectorised: pairs of values, then pairs of pairs, each in a lane of twice the width.
        let mut low = [0; BLOCK];
        for i in 0..BLOCK {
            low[i] = (block[i].get() & mask) as u16;
        }
        let mut two = pairs(low);
        for two in &mut two {
            *two = *two & 0xffff | *two >> 16 << k;
        }
        let mut four = pairs_of_pairs(two);
        for four in &mut four {
            *four = *four & 0xffff_ffff | *four >> 32 << (2 * k);
        }
        // Eight values fill k bytes. If k is odd, the fifth begins in the middle of a byte.
        let odd = k % 2 == 1;
        for (i, [first, second]) in four.as_chunks::<2>().0.iter().enumerate() {
            let second = if odd { second << 4 | first >> (4 * k - 4) } else { *second };
            let at = i * k as usize;
            out[at..at + 8].copy_from_slice(&first.to_le_bytes());
            let at = at + k as usize / 2;
            out[at..at + 8].copy_from_slice(&second.to_le_bytes());
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

/// Pairs of values, the first one in the low half: the same lanes of a register, without a shuffle.
#[inline(always)]
fn pairs(mut values: [u16; BLOCK]) -> [u32; BLOCK / 2] {
    for x in &mut values {
        *x = x.to_le();
    }
    let mut pairs: [u32; BLOCK / 2] = bytemuck::cast(values);
    for x in &mut pairs {
        *x = u32::from_le(*x);
    }
    pairs
}

/// Pairs of 32-bit values, the first one in the low half, like [`pairs`].
#[inline(always)]
fn pairs_of_pairs(mut values: [u32; BLOCK / 2]) -> [u64; BLOCK / 4] {
    for x in &mut values {
        *x = x.to_le();
    }
    let mut pairs: [u64; BLOCK / 4] = bytemuck::cast(values);
    for x in &mut pairs {
        *x = u64::from_le(*x);
    }
    pairs
}

/// Writes the escapes, and the unary codes, least significant bit first. Both outputs have exactly
/// the required length.
#[inline(always)]
fn unary<W: Word>(z: &[W], modes: &[u8], mut escapes: &mut [u8], out: &mut [u8]) {
    let mut bits = Bits { out, at: 0, bits: 0, have: 0 };
    let (whole, rest) = z.as_chunks();
    for (block, &mode) in whole.iter().zip(modes) {
        if blocks::has_unary::<W>(mode) {
            bits.append_block(quotients(block, mode, &mut escapes));
        }
    }
    if let ([_, ..], Some(&mode)) = (rest, modes.last())
        && blocks::has_unary::<W>(mode)
    {
        let q = quotients(&blocks::padded(rest), mode, &mut escapes);
        for &q in &q[..rest.len()] {
            bits.append_short(1 << q, u32::from(q) + 1);
        }
    }
    bits.finish();
}

/// The quotients of a block, at most [`ESCAPE`]; writes the escapes to the front of `escapes`,
/// of which the rest remains.
#[inline(always)]
fn quotients<W: Word>(block: &[W; BLOCK], mode: u8, escapes: &mut &mut [u8]) -> [u16; BLOCK] {
    let k = u32::from(mode - 1);
    let (mut q, mut most) = ([0; BLOCK], 0);
    for i in 0..BLOCK {
        q[i] = u16::from(block[i].quotient(k, ESCAPE));
        // Vectorised, unlike a search that ends early.
        most = q[i].max(most);
    }
    if u32::from(most) == ESCAPE {
        for z in block.iter().filter(|z| z.quotient(k, ESCAPE) == ESCAPE as u8) {
            let (this, rest) = core::mem::take(escapes).split_at_mut(W::BYTES);
            this.copy_from_slice(&(z.get() >> k).to_le_bytes()[..W::BYTES]);
            *escapes = rest;
        }
    }
    q
}

/// Maximum number of bits appended at once: with up to 7 pending bits they fit 64 bits.
const SHORT: u32 = 56;

/// A bit writer, least significant bit first.
struct Bits<'a> {
    out: &'a mut [u8],
    at: usize,
    bits: u64,
    have: u32,
}

impl Bits<'_> {
    /// Appends the unary codes of these quotients, none of which is above [`ESCAPE`].
    #[inline(always)]
    fn append_block(&mut self, q: [u16; BLOCK]) {
        // Vectorised: pairs of codes, at most 32 bits, then pairs of pairs, at most 64.
        let (mut two, mut two_lens) = (pairs(q), [0; BLOCK / 2]);
        for i in 0..BLOCK / 2 {
            let (a, b) = (two[i] & 0xffff, two[i] >> 16);
            two[i] = 1 << a | 1 << (a + 1 + b);
            two_lens[i] = a + b + 2;
        }
        let (mut four, mut four_lens) = (pairs_of_pairs(two), pairs_of_pairs(two_lens));
        for i in 0..BLOCK / 4 {
            let (a, b) = (four_lens[i] & 0xff, four_lens[i] >> 32);
            four[i] = four[i] & 0xffff_ffff | four[i] >> 32 << a;
            four_lens[i] = a + b;
        }
        // Codes of noise have about 2 bits, so half of a block nearly always fits.
        for (codes, lens) in four.as_chunks::<4>().0.iter().zip(four_lens.as_chunks::<4>().0) {
            let ends = [lens[0], lens[0] + lens[1], lens[0] + lens[1] + lens[2]];
            let len = (ends[2] + lens[3]) as u32;
            if len <= SHORT {
                let [a, b, c, d] = *codes;
                self.append_short(a | b << ends[0] | c << ends[1] | d << ends[2], len);
            } else {
                for i in 0..4 {
                    self.append(codes[i], lens[i] as u32);
                }
            }
        }
    }

    /// Appends the lowest `n` bits, at most 64, the others being zero.
    #[inline(always)]
    fn append(&mut self, bits: u64, n: u32) {
        if n <= SHORT {
            self.append_short(bits, n);
        } else {
            self.append_short(bits & u64::from(u32::MAX), 32);
            self.append_short(bits >> 32, n - 32);
        }
    }

    /// Appends at most [`SHORT`] bits. Fewer than 8 are pending before and after.
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

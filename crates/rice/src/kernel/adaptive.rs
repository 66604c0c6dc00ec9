//! Blocks of a version 2 segment to residuals, and with a fixed predictor on to samples.

use linerate_core::Tier;

use super::isa::{Isa, Kernel, dispatch};
use super::unary::Places;
use crate::v2::element::Word;
use crate::v2::{BLOCK, ESCAPE, blocks};

/// What is left to do with residuals: nothing, or to undo a fixed predictor of an order.
pub(crate) const RESIDUALS: u8 = 3;

/// A segment's blocks, and where they go.
pub(crate) struct Blocks<'a, W> {
    /// One per block.
    pub(crate) modes: &'a [u8],
    /// As many as the modes say, at least.
    pub(crate) fixed: &'a [u8],
    pub(crate) escapes: &'a [u8],
    /// As many codes as the modes say.
    pub(crate) places: &'a Places,
    pub(crate) centre: W,
    pub(crate) step: W,
    pub(crate) out: &'a mut [W],
}

impl<W: Word> Blocks<'_, W> {
    /// Decodes the blocks, and undoes the fixed predictor of `order` if that is not
    /// [`RESIDUALS`]. `None` if a quotient is above [`ESCAPE`] or the escapes are not as many as
    /// there should be.
    pub(crate) fn decode(self, tier: Tier, order: u8) -> Option<()> {
        match order {
            0 => self.with_order::<0>(tier),
            1 => self.with_order::<1>(tier),
            2 => self.with_order::<2>(tier),
            _ => self.with_order::<RESIDUALS>(tier),
        }
    }

    fn with_order<const ORDER: u8>(self, tier: Tier) -> Option<()> {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if W::BITS == 16 {
            use super::{adaptive_avx2, adaptive_avx512};
            match tier {
                // SAFETY: `Exec` holds only tiers that were detected.
                Tier::Avx512 => return unsafe { adaptive_avx512::decode::<W, ORDER>(self) },
                // SAFETY: as above.
                Tier::Avx2 => return unsafe { adaptive_avx2::decode::<W, ORDER>(self) },
                _ => {}
            }
        }
        dispatch(tier, Decode::<W, ORDER>(self))
    }
}

struct Decode<'a, W, const ORDER: u8>(Blocks<'a, W>);

impl<W: Word, const ORDER: u8> Kernel for Decode<'_, W, ORDER> {
    type Output = Option<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<()> {
        decode::<W, ORDER>(self.0)
    }
}

/// Room for the fixed bits of a block and what a load behind its last byte reads.
const PADDED: usize = 4 * BLOCK + 8;

/// Calls `unpack` with the first `bytes` of `fixed` and something behind them.
#[inline(always)]
pub(super) fn with_padding<R>(fixed: &[u8], bytes: usize, unpack: impl FnOnce(&[u8; PADDED]) -> R) -> R {
    match fixed.first_chunk() {
        Some(padded) => unpack(padded),
        None => {
            let mut padded = [0; PADDED];
            padded[..bytes].copy_from_slice(&fixed[..bytes]);
            unpack(&padded)
        }
    }
}

#[inline(always)]
fn decode<W: Word, const ORDER: u8>(job: Blocks<W>) -> Option<()> {
    let Blocks { modes, fixed, escapes, places, centre, step, out } = job;
    let mut escapes = escapes.chunks_exact(W::BYTES);
    let (mut at, mut code) = (0, 0);
    let mut worst = 0;
    let (mut last, mut slope) = (W::default(), W::default());
    for (out, &mode) in out.chunks_mut(BLOCK).zip(modes) {
        let n = out.len();
        let mut z = [W::default(); BLOCK];
        let bytes = blocks::fixed_bytes(mode, n);
        let k = u32::from(mode.saturating_sub(1));
        if bytes > 0 {
            with_padding(&fixed[at..], bytes, |bytes| unpack(bytes, k, &mut z));
            at += bytes;
        }
        if blocks::has_unary::<W>(mode) {
            let places: &[u8; BLOCK + 1] = places.from(code).first_chunk()?;
            let mut q = [0u8; BLOCK];
            for i in 0..BLOCK {
                q[i] = places[i + 1].wrapping_sub(places[i]).wrapping_sub(1);
            }
            q[n..].fill(0);
            let most = q.iter().fold(0, |most, &q| most.max(q));
            worst = worst.max(most);
            for i in 0..BLOCK {
                z[i] = z[i].with_high(q[i], k);
            }
            if u32::from(most) == ESCAPE {
                for (z, _) in z.iter_mut().zip(q).filter(|(_, q)| u32::from(*q) == ESCAPE) {
                    let q = crate::v2::segment::load::<W>(escapes.next()?).get();
                    *z = W::of(z.get() & ((1 << k) - 1) | q << k);
                }
            }
            code += n;
        }
        let mut samples = z.map(W::unzigzag);
        for sample in &mut samples {
            match ORDER {
                1 => last = last.plus(*sample),
                2 => {
                    slope = slope.plus(*sample);
                    last = last.plus(slope);
                }
                _ => break,
            }
            *sample = last;
        }
        if ORDER != RESIDUALS {
            for sample in &mut samples {
                *sample = sample.times(step).plus(centre);
            }
        }
        out.copy_from_slice(&samples[..n]);
    }
    (u32::from(worst) <= ESCAPE && escapes.next().is_none()).then_some(())
}

/// The fixed bits of a block: 32 values of `k` bits.
#[inline(always)]
fn unpack<W: Word>(bytes: &[u8; PADDED], k: u32, out: &mut [W; BLOCK]) {
    // As the caller knows, but not the compiler.
    let k = k.min(W::BITS) as usize;
    let mask = (1u64 << k) - 1;
    let load = |bit: usize| {
        let bytes = bytes[bit / 8..].first_chunk().unwrap_or(&[0; 8]);
        u64::from_le_bytes(*bytes) >> (bit % 8)
    };
    if W::BITS == 16 && k < 16 {
        // Four values and the at most 4 bits before them are within a load.
        for (i, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let bits = load(4 * i * k);
            *out = [0, 1, 2, 3].map(|i| W::of(bits >> (i * k) & mask));
        }
    } else {
        for (i, out) in out.iter_mut().enumerate() {
            *out = W::of(load(i * k) & mask);
        }
    }
}

//! Decodes blocks of a version 2 segment on any CPU: to samples if the predictor is fixed,
//! otherwise to residuals.

use super::isa::{Isa, Kernel};
use super::unary::Positions;
use crate::v2::element::Word;
use crate::v2::{BLOCK, ESCAPE, blocks};

/// The `ORDER` for a linear predictor, which is undone later: the output is then residuals.
pub(crate) const RESIDUALS: u8 = 3;

/// The blocks of a segment, and their output.
pub(crate) struct Blocks<'a, W> {
    /// The mode of each block.
    pub(crate) modes: &'a [u8],
    /// The bytes of the fixed bits, at least as many as the modes need.
    pub(crate) fixed: &'a [u8],
    pub(crate) escapes: &'a [u8],
    /// Positions of as many codes as the modes need.
    pub(crate) positions: &'a Positions,
    pub(crate) centre: W,
    pub(crate) step: W,
    pub(crate) out: &'a mut [W],
}

/// Decodes the blocks, and undoes the fixed predictor of order `ORDER` unless that is
/// [`RESIDUALS`]. `None` if a quotient is above [`ESCAPE`], or the number of escapes is wrong.
pub(super) struct Decode<'a, W, const ORDER: u8>(pub(super) Blocks<'a, W>);

impl<W: Word, const ORDER: u8> Kernel for Decode<'_, W, ORDER> {
    type Output = Option<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<()> {
        decode::<W, ORDER>(self.0)
    }
}

/// Maximum number of bytes of the fixed bits of a block, and 8 more, because a load of 8 bytes may
/// begin at the last of them.
pub(super) const PADDED: usize = 4 * BLOCK + 8;

/// Returns the first `bytes` bytes of `fixed`, followed by arbitrary ones. Copies them to `buffer`
/// if `fixed` is too short for loads past their end.
#[inline(always)]
pub(super) fn padded<'a>(fixed: &'a [u8], bytes: usize, buffer: &'a mut [u8; PADDED]) -> &'a [u8; PADDED] {
    match fixed.first_chunk() {
        Some(padded) => padded,
        None => {
            buffer[..bytes].copy_from_slice(&fixed[..bytes]);
            buffer
        }
    }
}

#[inline(always)]
fn decode<W: Word, const ORDER: u8>(job: Blocks<W>) -> Option<()> {
    let Blocks { modes, fixed, escapes, positions, centre, step, out } = job;
    let mut escapes = escapes.chunks_exact(W::BYTES);
    let (mut at, mut code) = (0, 0);
    let mut buffer = [0; PADDED];
    let mut worst = 0;
    let (mut last, mut slope) = (W::default(), W::default());
    for (out, &mode) in out.chunks_mut(BLOCK).zip(modes) {
        let n = out.len();
        let mut z = [W::default(); BLOCK];
        let bytes = blocks::fixed_bytes(mode, n);
        let k = u32::from(mode.saturating_sub(1));
        if bytes > 0 {
            unpack(padded(&fixed[at..], bytes, &mut buffer), k, &mut z);
            at += bytes;
        }
        if blocks::has_unary::<W>(mode) {
            let positions: &[u8; BLOCK + 1] = positions.from(code).first_chunk()?;
            let mut q = [0u8; BLOCK];
            for i in 0..BLOCK {
                q[i] = positions[i + 1].wrapping_sub(positions[i]).wrapping_sub(1);
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

/// Unpacks the fixed bits of a block: 32 values of `k` bits.
#[inline(always)]
pub(super) fn unpack<W: Word>(bytes: &[u8; PADDED], k: u32, out: &mut [W; BLOCK]) {
    // This never changes `k`, but lets the compiler omit bounds checks.
    let k = k.min(W::BITS) as usize;
    let mask = (1u64 << k) - 1;
    let load = |bit: usize| {
        let bytes = bytes[bit / 8..].first_chunk().unwrap_or(&[0; 8]);
        u64::from_le_bytes(*bytes) >> (bit % 8)
    };
    if W::BITS == 16 && k < 16 {
        // One load covers four values and up to 4 bits before them.
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

//! Codes of a block of samples on any CPU, in loops that the compiler vectorises.

use super::code::{ESCAPE, code, zigzag};
use super::isa::{Codes, Isa, NARROW};

/// Long enough that loops over a block are vectorised instead of unrolled.
const BLOCK: usize = 64;

/// Any CPU: loops over arrays of a fixed length.
pub(crate) struct Scalar;

impl Isa for Scalar {
    const BLOCK: usize = BLOCK;
    #[cfg(feature = "alloc")]
    type Lanes = [f64; 8];
    const GROUP: usize = 4;

    #[inline(always)]
    unsafe fn codes<const DELTA: bool>(samples: *const i16, k: u32, out: &mut Codes) -> usize {
        // SAFETY: the caller vouches for the samples of the block, and with DELTA for the sample
        // before it.
        let (x, past) = unsafe {
            let past = if DELTA { samples.sub(1) } else { samples };
            (&*samples.cast::<[i16; BLOCK]>(), &*past.cast::<[i16; BLOCK]>())
        };
        let mut z = [0; BLOCK];
        let mut any = 0;
        for i in 0..BLOCK {
            z[i] = zigzag(if DELTA { x[i].wrapping_sub(past[i]) } else { x[i] });
            any |= z[i];
        }
        if any >> k >= ESCAPE as u16 || k > NARROW {
            return with_escapes(&z, k, out);
        }
        let mut values = [0; BLOCK];
        let mut lens = [0; BLOCK];
        for i in 0..BLOCK {
            values[i] = (z[i] & ((1 << k) - 1)) | 1 << k;
            lens[i] = (z[i] >> k) + k as u16 + 1;
        }
        let (values, lens): ([u32; BLOCK / 2], [u32; BLOCK / 2]) =
            (bytemuck::cast(values), bytemuck::cast(lens));
        let mut pairs = [0; BLOCK / 2];
        let mut pair_lens = [0; BLOCK / 2];
        for i in 0..BLOCK / 2 {
            pairs[i] = first(values[i]) << (second(lens[i]) & 31) | second(values[i]);
            pair_lens[i] = first(lens[i]) + second(lens[i]);
        }
        for i in 0..BLOCK / 4 {
            let (a, b) = (u64::from(pairs[2 * i]), u64::from(pairs[2 * i + 1]));
            let len = pair_lens[2 * i] + pair_lens[2 * i + 1];
            out.tops[i] = (a << (pair_lens[2 * i + 1] & 63) | b) << ((64 - len) & 63);
            out.lens[i] = u64::from(len);
        }
        BLOCK / 4
    }
}

/// The first of two neighbours in a word.
#[inline(always)]
fn first(word: u32) -> u32 {
    if cfg!(target_endian = "little") { word & 0xffff } else { word >> 16 }
}

/// The second of two neighbours in a word.
#[inline(always)]
fn second(word: u32) -> u32 {
    if cfg!(target_endian = "little") { word >> 16 } else { word & 0xffff }
}

/// Codes of any zigzag values, merged in pairs. Not inlined: it would take registers from its
/// caller's loop.
#[inline(never)]
fn with_escapes(z: &[u16; BLOCK], k: u32, out: &mut Codes) -> usize {
    for i in 0..BLOCK / 2 {
        let ((a, la), (b, lb)) = (code(z[2 * i], k), code(z[2 * i + 1], k));
        out.tops[i] = (u64::from(a) << lb | u64::from(b)) << (64 - la - lb);
        out.lens[i] = u64::from(la + lb);
    }
    BLOCK / 2
}

//! Encodes a run of samples: codes of a block of samples in SIMD registers, two or four codes
//! merged into one append.

use linerate_core::Tier;

use super::code::{ESCAPE, ESCAPE_BITS, code, zigzag};
use super::dispatch::dispatch;
use super::isa::{Codes, Isa, Kernel};
use super::packer::Packer;

/// A run of samples to append to a payload.
pub(crate) struct Run<'a> {
    pub(crate) samples: &'a [i16],
    /// log2(m), 1..=15.
    pub(crate) k: u32,
    /// The sample before the run, if the running difference is to be coded; `None` codes the
    /// samples themselves.
    pub(crate) before: Option<i16>,
}

/// Appends the run to the payload in `out`. `None` if `out` is too small.
pub(crate) fn append(tier: Tier, run: &Run, packer: &mut Packer, out: &mut [u8]) -> Option<()> {
    dispatch(tier, Append { run, packer, out })
}

/// Counts the exact bits of the encoded run.
pub(crate) fn bits(tier: Tier, run: &Run) -> u64 {
    dispatch(tier, Bits { run })
}

struct Append<'a, 'b> {
    run: &'a Run<'b>,
    packer: &'a mut Packer,
    out: &'a mut [u8],
}

impl Kernel for Append<'_, '_> {
    type Output = Option<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<()> {
        let Append { run, packer, out } = self;
        match run.before {
            None => {
                // SAFETY: as the caller vouches for the CPU.
                let done = unsafe { blocks::<I, false>(run, 0, packer, out) };
                one_by_one(run, done, packer, out)
            }
            Some(_) => {
                // A vector of differences reads the sample before it, so the first sample is coded
                // alone.
                let first = run.samples.len().min(1);
                one_by_one(&Run { samples: &run.samples[..first], ..*run }, 0, packer, out)?;
                // SAFETY: as the caller vouches for the CPU.
                let done = unsafe { blocks::<I, true>(run, first, packer, out) };
                one_by_one(run, done, packer, out)
            }
        }
    }
}

/// Appends whole blocks from sample `start` on, while the longest block fits in `out`. With
/// `DELTA`, `start` is at least 1 or the run is empty. Returns the first sample not appended.
///
/// # Safety
/// The CPU must support the tier of `I`.
#[inline(always)]
unsafe fn blocks<I: Isa, const DELTA: bool>(
    run: &Run,
    start: usize,
    packer: &mut Packer,
    out: &mut [u8],
) -> usize {
    // 63 bits may wait, and each append stores 8 bytes, complete or not.
    let worst = (63 + I::BLOCK * ESCAPE_BITS as usize) / 8 + 8;
    let mut p = *packer;
    let mut i = start;
    let mut codes = Codes::default();
    while run.samples.len() - i >= I::BLOCK && out.len() - p.stored >= worst {
        // SAFETY: BLOCK samples follow `i`, and with DELTA one precedes it (start >= 1); the
        // longest codes fit in `out`, as checked above.
        unsafe {
            let n = I::codes::<DELTA>(run.samples.as_ptr().add(i), run.k, &mut codes);
            let tops = codes.tops[..n].chunks_exact(I::GROUP);
            for (tops, lens) in tops.zip(codes.lens[..n].chunks_exact(I::GROUP)) {
                // A constant length, so that the loop is unrolled.
                for j in 0..I::GROUP {
                    p.append(tops[j], lens[j] as u32, out.as_mut_ptr());
                }
            }
        }
        i += I::BLOCK;
    }
    *packer = p;
    i
}

/// Appends the samples from `start` on, checking the capacity of `out` each time.
fn one_by_one(run: &Run, start: usize, packer: &mut Packer, out: &mut [u8]) -> Option<()> {
    let mut last = match (start, run.before) {
        (0, before) => before.unwrap_or(0),
        (i, _) => run.samples[i - 1],
    };
    for &x in &run.samples[start..] {
        let y = if run.before.is_some() { x.wrapping_sub(last) } else { x };
        let (value, len) = code(zigzag(y), run.k);
        packer.append_checked(u64::from(value), len, out)?;
        last = x;
    }
    Some(())
}

struct Bits<'a, 'b> {
    run: &'a Run<'b>,
}

impl Kernel for Bits<'_, '_> {
    type Output = u64;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> u64 {
        let Run { samples, k, before } = *self.run;
        let (Some(&first), Some(before)) = (samples.first(), before) else {
            return samples.chunks(4096).map(|c| sum(c.iter().map(|&y| length(y, k)))).sum();
        };
        let head = u64::from(length(first.wrapping_sub(before), k));
        let pairs = samples.len() - 1;
        let chunks = samples[1..].chunks(4096).zip(samples[..pairs].chunks(4096));
        let of = |(now, past): (&[i16], &[i16])| {
            sum(now.iter().zip(past).map(|(&x, &p)| length(x.wrapping_sub(p), k)))
        };
        head + chunks.map(of).sum::<u64>()
    }
}

/// Adds up at most 4096 lengths, of 16 bits each so that vectorised loops have full lanes.
#[inline(always)]
fn sum(lengths: impl Iterator<Item = u16>) -> u64 {
    u64::from(lengths.map(u32::from).sum::<u32>())
}

#[inline(always)]
fn length(y: i16, k: u32) -> u16 {
    let q = zigzag(y) >> k;
    if q < ESCAPE as u16 { q + 1 + k as u16 } else { ESCAPE_BITS as u16 }
}

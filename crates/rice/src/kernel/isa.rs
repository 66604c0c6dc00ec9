//! The operations that differ between CPU tiers.
//!
//! Each hot loop has one body, generic over [`Isa`] and `#[inline(always)]`.
//! [`dispatch`](super::dispatch) instantiates it once per tier, in a function that has the tier's
//! target features.

#[cfg(feature = "alloc")]
use crate::v2::{BLOCK, element::Word};

/// Codes of a block, merged in groups, in the order of the samples: the bits of each group,
/// left-justified, and their number.
#[derive(Default)]
pub(crate) struct Codes {
    pub(crate) tops: [u64; 32],
    pub(crate) lens: [u64; 32],
}

/// The operations that each tier implements.
pub(crate) trait Isa {
    /// Number of samples in a block, a multiple of 4.
    const BLOCK: usize;

    /// Registers of eight numbers.
    #[cfg(feature = "alloc")]
    type Lanes: super::lanes::Lanes;

    /// The sum of the values of a block.
    ///
    /// # Safety
    /// The CPU must support the tier.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    unsafe fn sum<W: Word>(block: &[W; BLOCK]) -> u64 {
        W::sum(block)
    }

    /// For each of three Rice parameters, returns the sum of the quotients, each capped at
    /// [`ESCAPE`](crate::v2::ESCAPE), and the number of those that reach it. Parameters must be
    /// below the number of bits of a word. Returns `None` on tiers where computing them one by one,
    /// as far as needed, is faster, and for words of 32 bits.
    ///
    /// # Safety
    /// The CPU must support the tier.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    unsafe fn quotients<W: Word>(_block: &[W; BLOCK], _parameters: [u32; 3]) -> Option<[(u32, u32); 3]> {
        None
    }

    /// [`codes`](Self::codes) returns a number of merged codes that is a multiple of this.
    const GROUP: usize;

    /// Encodes the BLOCK samples at `samples` or, with `DELTA`, the difference of each from the
    /// sample before it. Returns the number of merged codes, which have 1 to 63 bits each.
    ///
    /// # Safety
    /// BLOCK samples must be readable at `samples`, and with `DELTA` also the sample before them. k
    /// must be in 1..=15, and the CPU must support the tier.
    unsafe fn codes<const DELTA: bool>(samples: *const i16, k: u32, out: &mut Codes) -> usize;
}

/// Largest k for which a pair of codes without escapes has at most 30 bits, and so four at most 60.
pub(crate) const NARROW: u32 = 7;

/// A loop that is compiled once per tier.
pub(crate) trait Kernel {
    type Output;
    /// # Safety
    /// The CPU must support the tier that `I` is for.
    unsafe fn run<I: Isa>(self) -> Self::Output;
}

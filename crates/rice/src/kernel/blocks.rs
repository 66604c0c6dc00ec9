//! Decodes blocks of a version 2 segment: chooses the kernel by CPU tier and word size.

use linerate_core::Tier;

use super::blocks_scalar::{Blocks, Decode, RESIDUALS};
use super::dispatch::dispatch;
use crate::v2::element::Word;

impl<W: Word> Blocks<'_, W> {
    /// Decodes the blocks, and undoes the fixed predictor of order `order` unless that is
    /// [`RESIDUALS`]. `None` if a quotient is above [`ESCAPE`](crate::v2::ESCAPE), or the number of
    /// escapes is wrong.
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
        {
            use super::{blocks_avx2, blocks_avx512};
            match tier {
                // SAFETY: `Options` holds only tiers that were detected.
                Tier::Avx512 if W::BITS == 16 => return unsafe { blocks_avx512::decode::<W, ORDER>(self) },
                // SAFETY: as above.
                Tier::Avx512 | Tier::Avx2 => return unsafe { blocks_avx2::decode::<W, ORDER>(self) },
                _ => {}
            }
        }
        dispatch(tier, Decode::<W, ORDER>(self))
    }
}

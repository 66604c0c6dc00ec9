//! Undoes linear prediction. Each sample depends on the sample before it, so several segments are
//! decoded at once: whole tiles (a fixed number of samples of each segment) with one segment per
//! SIMD lane, then the rest of two segments at a time.

use linerate_core::Tier;

use super::dispatch::dispatch;
use super::linear_scalar::{BATCH, Rest, Row};
use crate::v2::element::Word;

/// Turns the residuals of `rows` into samples.
pub(crate) fn undo<W: Word>(tier: Tier, rows: &mut [Row<W>]) {
    for rows in rows.chunks_mut(BATCH) {
        let done = whole_tiles(tier, rows);
        for rows in rows.chunks_mut(2) {
            dispatch(tier, Rest { rows, done });
        }
    }
}

/// Decodes as many whole tiles as all rows have. Returns the samples per row in these tiles.
fn whole_tiles<W: Word>(tier: Tier, rows: &mut [Row<W>]) -> usize {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if rows.len() > 1 {
        match tier {
            Tier::Avx512 | Tier::Avx2 if W::BITS == 32 => {
                // SAFETY: `Options` holds only tiers that were detected.
                return unsafe { super::linear_wide_avx2::undo(rows) };
            }
            // SAFETY: `Options` holds only tiers that were detected.
            Tier::Avx512 => return unsafe { super::linear_avx512::undo(rows) },
            // SAFETY: as above.
            Tier::Avx2 => return unsafe { super::linear_avx2::undo(rows) },
            _ => {}
        }
    }
    let _ = (tier, rows);
    0
}

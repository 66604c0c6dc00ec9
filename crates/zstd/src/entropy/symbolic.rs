//! Symbolic repeat offsets. The repeat offsets before a block are not known if it is decoded before
//! its predecessor. A symbolic offset is one of these three, minus a number.

use super::tables::RepeatOffsets;

/// Offsets from this value are symbolic. Offset codes of at most [`MAX_CODE`] give smaller offsets.
const FIRST: u32 = 1 << 31;
/// Distance between the symbols of two repeat offsets. A block has fewer sequences, and each
/// subtracts at most 1.
const STEP: u32 = 1 << 28;
/// Largest offset code in blocks with symbolic offsets. The next code, 31, is for windows above 2
/// GiB.
pub(crate) const MAX_CODE: u32 = 30;

/// Symbols of the repeat offsets before a block.
pub(crate) const BEFORE: RepeatOffsets =
    RepeatOffsets([FIRST + STEP - 1, FIRST + 2 * STEP - 1, FIRST + 3 * STEP - 1]);

/// Returns whether any of the offsets is symbolic.
#[inline(always)]
pub(crate) fn any(offsets: &[u32; 3]) -> bool {
    offsets.iter().fold(0, |all, offset| all | offset) >= FIRST
}

/// Replaces a symbolic offset by its value, given the repeat offsets `before` the block. Returns
/// other offsets unchanged, and 0 if the offset is invalid.
#[inline(always)]
pub(crate) fn resolve(offset: u32, before: RepeatOffsets) -> u32 {
    if offset < FIRST {
        return offset;
    }
    let at = offset - FIRST;
    let (which, minus) = ((at / STEP) as usize, STEP - 1 - at % STEP);
    before.0.get(which).map_or(0, |offset| offset.saturating_sub(minus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbolic_histories_resolve_to_those_of_known_offsets() {
        let known = RepeatOffsets([1111, 5, u32::MAX - 3]);
        let mut seed = 1_u32;
        for _ in 0..1000 {
            let (mut symbolic, mut direct) = (BEFORE, known);
            for _ in 0..12 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let (value, literals) = (1 + (seed >> 16) % 4 * (1 + seed % 3), seed >> 8 & 1);
                let (offset, wanted) = (symbolic.resolve(value, literals), direct.resolve(value, literals));
                assert_eq!(resolve(offset, known), wanted);
                if wanted == 0 {
                    break;
                }
                assert_eq!(symbolic.0.map(|offset| resolve(offset, known)), direct.0);
            }
        }
    }

    #[test]
    fn subtracting_more_than_the_repeat_offset_is_invalid() {
        for minus in [7, 8, 50_000] {
            assert_eq!(resolve(BEFORE.0[2] - minus, RepeatOffsets([1, 4, 7])), 0);
        }
        assert_eq!(resolve(BEFORE.0[2] - 6, RepeatOffsets([1, 4, 7])), 1);
        assert_eq!(resolve(u32::MAX, RepeatOffsets([1, 4, 7])), 0);
    }
}

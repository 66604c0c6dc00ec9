//! Aligns the endpoints of BC7 blocks to bytes and decorrelates them, mode by mode.
//!
//! In BC7 blocks of modes 1, 3 and 6, endpoints have 6 or 7 bits per channel and are stored channel
//! by channel, across byte boundaries. In an aligned block, the channels of an endpoint are next to
//! each other, each in a byte, except the last channels, which are in the spare bits of these
//! bytes. Red and blue are differences from green. Blocks of other modes are unchanged.

/// Aligns a block like `bc7_bits::align`, but by shifts of whole fields.
pub(crate) fn align(block: u128) -> u128 {
    match (block as u8).trailing_zeros() {
        1 => mode_1(block),
        3 => mode_3(block),
        6 => mode_6(block),
        _ => block,
    }
}

/// Returns `width` bits, the lowest of which is bit `from`.
#[inline(always)]
const fn field(word: u64, from: u32, width: u32) -> u64 {
    (word >> from) & ((1 << width) - 1)
}

/// Returns an endpoint of three channels with `width` bits each, as three bytes: red minus green,
/// green, blue minus green.
#[inline(always)]
fn endpoint([red, green, blue]: [u64; 3], number: u32, width: u32) -> u64 {
    let of = |channel| field(channel, number * width, width);
    let less_green = |channel| of(channel).wrapping_sub(of(green)) & ((1 << width) - 1);
    less_green(red) | (of(green) << 8) | (less_green(blue) << 16)
}

/// Moves seven bits, the lowest first, to the top bits of seven bytes.
#[inline(always)]
const fn to_top_bits(bits: u64) -> u64 {
    // The multiplication makes copies that are 7 bits apart, so that bit k of copy k is at bit 8 k.
    (bits.wrapping_mul(0x0002_0408_1020_4081) & 0x01_0101_0101_0101) << 7
}

#[inline(always)]
fn mode_1(block: u128) -> u128 {
    let channels = [8, 32, 56].map(|from| field((block >> from) as u64, 0, 24));
    let low = endpoint(channels, 0, 6) | (endpoint(channels, 1, 6) << 24);
    let last = endpoint(channels, 3, 6);
    // Moves pairs of bits to the top of three bytes.
    let spare = |from| {
        (field(last, from, 2) << 6) | (field(last, from + 2, 2) << 14) | (field(last, from + 4, 2) << 22)
    };
    let low = low | spare(0) | (spare(8) << 24);
    let colors = u128::from(low) | (u128::from(endpoint(channels, 2, 6) | spare(16)) << 48);
    (block >> 80 << 80) | (colors << 8) | (block & 0xff)
}

#[inline(always)]
fn mode_3(block: u128) -> u128 {
    let channels = [10, 38, 66].map(|from| field((block >> from) as u64, 0, 28));
    let last = endpoint(channels, 3, 7);
    let low = endpoint(channels, 0, 7) | (endpoint(channels, 1, 7) << 24) | to_top_bits(last >> 16);
    let parity = (block >> 94) as u64;
    let spare = field(parity, 0, 1) << 15
        | field(parity, 1, 1) << 23
        | field(parity, 2, 1) << 31
        | field(parity, 3, 1) << 39;
    let high = endpoint(channels, 2, 7) | ((last & 0xffff) << 24) | spare;
    let colors = u128::from(low) | (u128::from(high) << 48);
    (block >> 98 << 98) | (((block >> 8) & 3) << 96) | (colors << 8) | (block & 0xff)
}

#[inline(always)]
fn mode_6(block: u128) -> u128 {
    let low = block as u64;
    let channels = [7, 21, 35].map(|from| field(low, from, 14));
    let colors = endpoint(channels, 0, 7) | (field(low, 49, 7) << 24) | (endpoint(channels, 1, 7) << 32);
    let aligned = field(low, 0, 7) | (low >> 63 << 7) | ((colors | to_top_bits(field(low, 56, 7))) << 8);
    (block >> 64 << 64) | u128::from(aligned)
}

#[cfg(test)]
mod tests {
    use linerate_testkit::data::Noise;

    use super::*;
    use crate::filter::bc7_bits;

    #[test]
    fn aligned_blocks_of_every_mode_round_trip_and_keep_their_mode() {
        let mut noise = Noise::new(3);
        for i in 0..10_000 {
            let random = u128::from(noise.number()) << 64 | u128::from(noise.number());
            let block = ((random << 1) | 1) << (i % 9);
            assert_eq!(align(block).trailing_zeros().min(8), block.trailing_zeros().min(8));
            assert_eq!(align(block), bc7_bits::align(block), "{block:#034x}");
            assert_eq!(bc7_bits::unalign(align(block)), block);
            assert_eq!(align(bc7_bits::unalign(block)), block);
        }
    }

    #[test]
    fn gray_endpoints_of_mode_6_have_no_difference_from_green() {
        let gray = (0..6).fold(0x40u128, |block, field| block | (0x55 << (7 + 7 * field)));
        let aligned = align(gray).to_le_bytes();
        assert_eq!(aligned[..8], [0x40, 0, 0x55, 0, 0, 0, 0x55, 0]);
    }

    #[test]
    fn shifts_of_fields_equal_the_permutation_of_bits() {
        let mut noise = Noise::new(2);
        for i in 0..10_000 {
            let random = (u128::from(noise.number()) << 64) | u128::from(noise.number());
            let aligned = ((random << 1) | 1) << (i % 9);
            assert_eq!(
                crate::kernel::unalign::unalign(aligned),
                bc7_bits::unalign(aligned),
                "{aligned:#034x}"
            );
        }
    }
}

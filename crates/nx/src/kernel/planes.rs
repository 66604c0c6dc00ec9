//! Puts uncompressed texels together from planes of bytes.

use linerate_core::Tier;

use super::dispatch::{Kernel, dispatch};
use crate::filter::color::from_ycocg;

/// Joins four planes, as many texels as the shortest has; with `GREEN` the second one is added to the first and the third.
pub(crate) fn join_4<const GREEN: bool>(tier: Tier, planes: [&[u8]; 4], texels: &mut [[u8; 4]]) {
    struct Join<'a, const GREEN: bool>([&'a [u8]; 4], &'a mut [[u8; 4]]);
    impl<const GREEN: bool> Kernel for Join<'_, GREEN> {
        #[inline(always)]
        fn run(self) {
            let [red, green, blue, alpha] = self.0;
            let planes = red.iter().zip(green).zip(blue).zip(alpha);
            for (texel, (((red, green), blue), alpha)) in self.1.iter_mut().zip(planes) {
                let added = if GREEN { *green } else { 0 };
                *texel = [red.wrapping_add(added), *green, blue.wrapping_add(added), *alpha];
            }
        }
    }
    dispatch(tier, Join::<GREEN>(planes, texels));
}

/// Joins low and high bytes of colours as YCoCg, as many as the shorter has.
pub(crate) fn join_ycocg(tier: Tier, low: &[u8], high: &[u8], texels: &mut [[u8; 2]]) {
    struct Join<'a>(&'a [u8], &'a [u8], &'a mut [[u8; 2]]);
    impl Kernel for Join<'_> {
        #[inline(always)]
        fn run(self) {
            for ((texel, low), high) in self.2.iter_mut().zip(self.0).zip(self.1) {
                *texel = from_ycocg(u16::from_le_bytes([*low, *high])).to_le_bytes();
            }
        }
    }
    dispatch(tier, Join(low, high, texels));
}

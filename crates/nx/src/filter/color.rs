//! Decorrelates colours of 5, 6 and 5 bits by YCoCg-R, a lifting transform, within 16 bits.
//!
//! Source: Malvar, Sullivan, "YCoCg-R: a color space with RGB reversibility and low dynamic range"
//! (JVT-I014, 2003). Here each step is taken modulo 32, which keeps every field at five bits. It
//! stays reversible: a lifting step adds a function of the other fields, and the inverse subtracts
//! the same. The lowest bit of green is only moved.

/// Converts red, green and blue (bits 11 to 15, 5 to 10, 0 to 4) to Y (bits 11 to 15), Co (6 to
/// 10), Cg (1 to 5) and the lowest bit of green (0).
#[inline(always)]
pub(crate) const fn to_ycocg(color: u16) -> u16 {
    let (red, green, low, blue) = (color >> 11, (color >> 6) & 31, (color >> 5) & 1, color & 31);
    let co = red.wrapping_sub(blue) & 31;
    let t = (blue + half(co)) & 31;
    let cg = green.wrapping_sub(t) & 31;
    let y = (t + half(cg)) & 31;
    (y << 11) | (co << 6) | (cg << 1) | low
}

/// Returns half of a five-bit number in two's complement, rounded down, in five bits.
#[inline(always)]
const fn half(field: u16) -> u16 {
    (field >> 1) | (field & 16)
}

/// Inverts [`to_ycocg`]. This is the specification of the inverse in the kernel `join`.
#[cfg(test)]
pub(crate) const fn from_ycocg(color: u16) -> u16 {
    let (y, co, cg, low) = (color >> 11, (color >> 6) & 31, (color >> 1) & 31, color & 1);
    let t = y.wrapping_sub(half(cg)) & 31;
    let green = (cg + t) & 31;
    let blue = t.wrapping_sub(half(co)) & 31;
    let red = (co + blue) & 31;
    (red << 11) | (green << 6) | (low << 5) | blue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_color_round_trips() {
        for color in 0..=u16::MAX {
            assert_eq!(from_ycocg(to_ycocg(color)), color);
            assert_eq!(to_ycocg(from_ycocg(color)), color);
        }
    }

    #[test]
    fn gray_has_no_chroma() {
        for gray in 0..32 {
            assert_eq!(to_ycocg(gray << 11 | gray << 6 | gray), gray << 11);
        }
    }
}

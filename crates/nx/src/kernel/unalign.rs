//! Restores aligned BC7 blocks by shifts of whole fields. `filter::bc7_bits` does the same bit by
//! bit.

/// Inverts [`align`](crate::filter::bc7::align).
#[inline(always)]
pub(crate) fn unalign(aligned: u128) -> u128 {
    match (aligned as u8).trailing_zeros() {
        1 => mode_1(aligned),
        3 => mode_3(aligned),
        6 => mode_6(aligned),
        _ => aligned,
    }
}

/// Moves `width` bits from position `from` to position `to`.
#[inline(always)]
const fn field(word: u64, from: u32, width: u32, to: u32) -> u64 {
    ((word >> from) & ((1 << width) - 1)) << to
}

/// Returns the top bits of seven bytes in the lowest bits. The bit of the lowest byte comes first.
#[inline(always)]
const fn top_bits(bytes: u64) -> u64 {
    let mut bits = (bytes >> 7) & 0x01_0101_0101_0101;
    bits = (bits | (bits >> 7)) & 0x03_0003_0003_0003;
    bits = (bits | (bits >> 14)) & 0x0f_0000_000f;
    (bits | (bits >> 28)) & 0x7f
}

/// Restores mode 6. Bytes 1 to 7 are R0 G0 B0 A0 R1 G1 B1 with 7 bits each. Their top bits are A1.
#[inline(always)]
fn mode_6(aligned: u128) -> u128 {
    let low = aligned as u64;
    let green = low & 0x007f_0000_007f_0000;
    let colors = (low & 0x7f7f_7f7f_7f7f_7f00) + (green >> 8) + (green << 8);
    let block = (low & 0x7f)
        | field(colors, 8, 7, 7)
        | field(colors, 40, 7, 14)
        | field(colors, 16, 7, 21)
        | field(colors, 48, 7, 28)
        | field(colors, 24, 7, 35)
        | field(colors, 56, 7, 42)
        | field(colors, 32, 7, 49)
        | (top_bits(low >> 8) << 56)
        | field(low, 7, 1, 63);
    (aligned >> 64 << 64) | u128::from(block)
}

/// Restores mode 1. Bytes 1 to 9 are R0 G0 B0 R1 G1 B1 R2 G2 B2 with 6 bits each. Their top two
/// bits are R3, G3, B3.
#[inline(always)]
fn mode_1(aligned: u128) -> u128 {
    let bytes = (aligned >> 8) as u64;
    let last = (aligned >> 72) as u64 & 0xff;
    let green = bytes & 0x3f_0000_3f00;
    let colors = (bytes & 0x3f3f_3f3f_3f3f_3f3f) + (green >> 8) + (green << 8);
    let green_2 = (bytes >> 56) & 0x3f;
    let (red_2, blue_2) = (((bytes >> 48) & 0x3f) + green_2, (last & 0x3f) + green_2);
    let triple =
        |from: u32| field(bytes, from, 2, 0) | field(bytes, from + 8, 2, 2) | field(bytes, from + 16, 2, 4);
    let green_3 = triple(30);
    let red_3 = triple(6) + green_3;
    let blue_3 = (field(bytes, 54, 2, 0) | field(bytes, 62, 2, 2) | (last >> 6 << 4)) + green_3;
    let red = field(colors, 0, 6, 0) | field(colors, 24, 6, 6) | ((red_2 & 63) << 12) | ((red_3 & 63) << 18);
    let green = field(colors, 8, 6, 0) | field(colors, 32, 6, 6) | (green_2 << 12) | (green_3 << 18);
    let blue =
        field(colors, 16, 6, 0) | field(colors, 40, 6, 6) | ((blue_2 & 63) << 12) | ((blue_3 & 63) << 18);
    let rest = (aligned >> 80 << 80) | (aligned & 0xff);
    rest | (u128::from(red | (green << 24)) << 8) | (u128::from(blue) << 56)
}

/// Restores mode 3. Bytes 1 to 11 are R0 G0 B0 R1 G1 B1 R2 G2 B2 R3 G3 with 7 bits each. Their top
/// bits are B3, then the four bits that follow the colours. Bits 96 and 97 come before the colours.
#[inline(always)]
fn mode_3(aligned: u128) -> u128 {
    let bytes = (aligned >> 8) as u64;
    let last = (aligned >> 72) as u64 & 0xff_ffff;
    let green = bytes & 0x7f_0000_7f00;
    let colors = (bytes & 0x7f7f_7f7f_7f7f_7f7f) + (green >> 8) + (green << 8);
    let green_2 = (bytes >> 56) & 0x7f;
    let (red_2, blue_2) = (((bytes >> 48) & 0x7f) + green_2, (last & 0x7f) + green_2);
    let green_3 = (last >> 16) & 0x7f;
    let (red_3, blue_3) = (((last >> 8) & 0x7f) + green_3, top_bits(bytes) + green_3);
    let red =
        field(colors, 0, 7, 0) | field(colors, 24, 7, 7) | ((red_2 & 127) << 14) | ((red_3 & 127) << 21);
    let green = field(colors, 8, 7, 0) | field(colors, 32, 7, 7) | (green_2 << 14) | (green_3 << 21);
    let blue =
        field(colors, 16, 7, 0) | field(colors, 40, 7, 7) | ((blue_2 & 127) << 14) | ((blue_3 & 127) << 21);
    let parity = (bytes >> 63) | field(last, 7, 1, 1) | field(last, 15, 1, 2) | field(last, 23, 1, 3);
    let rest = (aligned >> 98 << 98) | (aligned & 0xff) | (((aligned >> 96) & 3) << 8);
    rest | (u128::from(red | (green << 28)) << 10) | (u128::from(blue | (parity << 28)) << 66)
}

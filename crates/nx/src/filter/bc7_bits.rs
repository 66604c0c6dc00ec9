//! Aligns BC7 blocks bit by bit. This is the specification of [`bc7`](super::bc7) and of the kernel
//! `unalign`.

/// The layout of a mode whose blocks are aligned.
struct Mode {
    /// Position of the first bit of red.
    start: usize,
    /// Number of endpoints.
    endpoints: usize,
    /// Number of bits in a channel of an endpoint.
    width: usize,
    /// For each bit of an aligned block, the position of its bit in the original block.
    source: [u8; 128],
}

static MODE_1: Mode = Mode::new(8, 4, 6, 3, 80);
static MODE_3: Mode = Mode::new(10, 4, 7, 3, 98);
static MODE_6: Mode = Mode::new(7, 2, 7, 4, 64);

impl Mode {
    /// Computes the mode. Bits from position `same` keep their place. Each of the `endpoints` has
    /// `channels` fields of `width` bits, the first at bit `start`.
    const fn new(start: usize, endpoints: usize, width: usize, channels: usize, same: usize) -> Mode {
        let mut source = [0; 128];
        let mut bit = 0;
        while bit < 128 {
            source[bit] = bit as u8;
            bit += 1;
        }
        // The fields that have a byte of their own, starting at byte 1: those of endpoint 0, then
        // those of endpoint 1 and so on.
        let bytes = (endpoints * channels * width).div_ceil(8);
        let mut byte = 0;
        while byte < bytes {
            let field = byte % channels * endpoints + byte / channels;
            let mut k = 0;
            while k < width {
                source[8 + 8 * byte + k] = (start + field * width + k) as u8;
                k += 1;
            }
            byte += 1;
        }
        // The spare bits are the top bits of these bytes. They hold the fields that have no byte of
        // their own, in the same order, and then the bits that follow the fields in the block.
        let mut spare = 0;
        let mut field = bytes;
        while field < endpoints * channels {
            let from = start + (field % channels * endpoints + field / channels) * width;
            let mut k = 0;
            while k < width {
                source[spare_bit(spare, width)] = (from + k) as u8;
                spare += 1;
                k += 1;
            }
            field += 1;
        }
        let mut from = start + endpoints * channels * width;
        while spare < bytes * (8 - width) {
            source[spare_bit(spare, width)] = from as u8;
            spare += 1;
            from += 1;
        }
        // In mode 6, one bit follows, in the first byte. In mode 3, two of the first 10 bits come
        // before the indices.
        if start < 8 {
            source[start] = from as u8;
        }
        if start > 8 {
            source[same - 2] = 8;
            source[same - 1] = 9;
        }
        Mode { start, endpoints, width, source }
    }

    fn of(block: u128) -> Option<&'static Mode> {
        match (block as u8).trailing_zeros() {
            1 => Some(&MODE_1),
            3 => Some(&MODE_3),
            6 => Some(&MODE_6),
            _ => None,
        }
    }

    /// Adds green to red and blue or, if `subtract`, subtracts it.
    fn add_green(&self, block: u128, subtract: bool) -> u128 {
        let mask = (1 << self.width) - 1;
        let mut sum = block;
        for endpoint in 0..self.endpoints {
            let offset = |channel: usize| self.start + (channel * self.endpoints + endpoint) * self.width;
            let field = |channel: usize| (block >> offset(channel)) & mask;
            for channel in [0, 2] {
                let green = if subtract { mask + 1 - field(1) } else { field(1) };
                let new = (field(channel) + green) & mask;
                sum = (sum & !(mask << offset(channel))) | (new << offset(channel));
            }
        }
        sum
    }
}

/// Returns the position of a spare bit. The spare bits are the top bits of byte 1, of byte 2 and so
/// on.
const fn spare_bit(spare: usize, width: usize) -> usize {
    8 + spare / (8 - width) * 8 + width + spare % (8 - width)
}

/// Aligns a block bit by bit. This is the specification of [`align`](super::bc7::align).
pub(crate) fn align(block: u128) -> u128 {
    let Some(mode) = Mode::of(block) else { return block };
    let block = mode.add_green(block, true);
    mode.source.iter().enumerate().fold(0, |aligned, (bit, &from)| aligned | (((block >> from) & 1) << bit))
}

/// Inverts [`align`] bit by bit. This is the specification of the kernel `unalign`.
pub(crate) fn unalign(aligned: u128) -> u128 {
    let Some(mode) = Mode::of(aligned) else { return aligned };
    let bits = mode.source.iter().enumerate();
    mode.add_green(bits.fold(0, |block, (bit, &from)| block | (((aligned >> bit) & 1) << from)), false)
}

mod tests {
    use super::*;

    #[test]
    fn sources_are_permutations() {
        for mode in [&MODE_1, &MODE_3, &MODE_6] {
            let mut sorted = mode.source;
            sorted.sort_unstable();
            assert!(sorted.iter().enumerate().all(|(bit, &from)| bit == usize::from(from)));
        }
    }
}

//! Helpers for the tests of both filters.

pub(crate) mod call;

/// A seeded linear congruential generator with the multiplier of PCG. Its numbers are the upper 31
/// bits of the state, which are the better ones.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    /// The bytes of a random walk of `n` 16-bit samples with steps of `bits` bits.
    pub(crate) fn walk(&mut self, n: usize, bits: u32) -> Vec<u8> {
        let mut x = 0i16;
        let mut step = || {
            x = x.wrapping_add((i32::from(self.next() as i16) >> (16 - bits)) as i16);
            x.to_le_bytes()
        };
        (0..n).flat_map(|_| step()).collect()
    }
}

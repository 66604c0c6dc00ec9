//! Helpers for several tests.

use linerate_rice::{Options, Params};

/// A chunk that the original filter wrote, with its parameters and samples.
pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) params: Params,
    pub(crate) chunk: Vec<u8>,
    pub(crate) samples: Vec<i16>,
}

/// All goldens, sorted by name.
pub(crate) fn goldens() -> Vec<Golden> {
    let read = |golden: linerate_testkit::rice::Golden| Golden {
        params: Params::from_cd_values(&golden.cd_values).expect("valid parameters"),
        samples: golden.plain.as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect(),
        name: golden.name,
        chunk: golden.chunk,
    };
    linerate_testkit::rice::goldens().into_iter().map(read).collect()
}

/// Options for one thread, on each tier that this CPU supports.
pub(crate) fn tiers() -> impl Iterator<Item = Options> {
    linerate_testkit::tiers().map(|t| Options::new().tier(t))
}

/// A seeded source of noise: the upper 31 bits of a linear congruential generator.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    /// A random walk whose steps span 2^`bits` values (`bits` is at most 16), with an occasional
    /// jump.
    pub(crate) fn walk(&mut self, n: usize, bits: u32) -> Vec<i16> {
        let mut x = 0i16;
        (0..n)
            .map(|_| {
                let jump = self.next().is_multiple_of(50);
                let step = i32::from(self.next() as i16) >> if jump { 0 } else { 16 - bits };
                x = x.wrapping_add(step as i16);
                x
            })
            .collect()
    }
}

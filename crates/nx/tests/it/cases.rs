//! How many random cases property tests try.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// That many, the same ones every time; or as many others as `PROPTEST_CASES` says.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => ProptestConfig { cases: count, rng_seed: RngSeed::Fixed(1), ..config },
    }
}

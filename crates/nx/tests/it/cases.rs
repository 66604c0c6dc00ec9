//! The number of random cases that property tests try.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// Returns `count` cases, which are the same in every run. If `PROPTEST_CASES` is set, returns this
/// number of new random cases.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => ProptestConfig { cases: count, rng_seed: RngSeed::Fixed(1), ..config },
    }
}

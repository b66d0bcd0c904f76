//! The configuration of property tests.

use std::env;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// `cases` cases, the same in every run, so that a test fails where the code has changed. `PROPTEST_CASES` and
/// `PROPTEST_RNG_SEED` choose others.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(20_261_123);
    }
    config
}

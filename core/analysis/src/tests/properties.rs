//! The configuration of property tests.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// `cases` cases, the same in every run, so that a test fails where the code has changed.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_261_123),
        ..ProptestConfig::default()
    }
}

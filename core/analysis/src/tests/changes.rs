//! A comparison finds every way in which verdicts change, and nothing else.

use proptest::prelude::*;
use proptest::sample::select;

use super::arbitrary::{self, Documents};
use super::calls::{self, Random};
use super::division::shown;
use super::worlds;
use crate::imagined::Imagined;
use crate::tests::properties::config;
use crate::{Bounds, Comparison, asked};
use callgate_engine::config::DocumentKind;

/// Compares two engines, and holds calls against what is said to change.
fn hold(old: &Documents, new: &Documents, seed: u64, calls: usize) -> Result<(), String> {
    let (Some(before), Some(after)) = (arbitrary::engine(old), arbitrary::engine(new)) else {
        return Ok(());
    };
    let bounds = Bounds {
        calls: 3_000,
        ..Bounds::default()
    };
    let comparison = Comparison::new(&before, &after).within(bounds);
    let (before, after) = (Imagined::new(&before, None), Imagined::new(&after, None));
    let mut random = Random(seed | 1);
    for (at, (server, tool, _)) in calls::all_tools().enumerate() {
        let Some(changes) = comparison.tool(server, tool) else {
            continue;
        };
        for _ in 0..calls {
            let arguments = calls::arguments(at, &mut random);
            let context = worlds::context(&mut random);
            let call = asked::call(server, tool, &arguments, context.as_ref());
            let judged = |imagined: &Imagined<'_>| imagined.judge(&call).decision.strictness();
            let (was, is) = (judged(&before), judged(&after));
            let is_said = match was.cmp(&is) {
                std::cmp::Ordering::Less => !changes.stricter.is_empty(),
                std::cmp::Ordering::Equal => true,
                std::cmp::Ordering::Greater => !changes.looser.is_empty(),
            };
            if !is_said && changes.unknown.is_empty() {
                return Err(format!(
                    "{server}/{tool} {arguments} in {context:?} changes from {was} to {is}\n{}\n{}",
                    shown(old),
                    shown(new)
                ));
            }
        }
        for change in changes.looser.iter().chain(&changes.stricter) {
            let call = asked::call(server, tool, &change.arguments, change.context.as_ref());
            let decision = |imagined: &Imagined<'_>| imagined.judge(&call).decision.as_str();
            if decision(&before) != change.before.decision || decision(&after) != change.after.decision {
                return Err(format!("{change:?} is not shown by its call"));
            }
        }
    }
    Ok(())
}

/// The documents with one part exchanged for that of others, as an edit would.
fn edited(old: &Documents, other: &Documents, part: usize) -> Documents {
    let mut new = old.clone();
    let Some((kind, value)) = other.get(part % other.len().max(1)) else {
        return new;
    };
    new.retain(|(known, _)| known != kind);
    new.push((*kind, value.clone()));
    new
}

proptest! {
    #![proptest_config(config(6))]

    #[test]
    fn every_change_of_a_verdict_is_found(
        old in arbitrary::documents(), other in arbitrary::documents(), part in 0_usize..6, seed in any::<u64>()
    ) {
        let new = edited(&old, &other, part);
        if let Err(why) = hold(&old, &new, seed, 12) {
            return Err(TestCaseError::fail(why));
        }
        if let Err(why) = hold(&old, &old, seed, 2) {
            return Err(TestCaseError::fail(why));
        }
    }

    #[test]
    fn every_change_that_another_world_makes_is_found(
        old in worlds::documents(), other in worlds::documents(), seed in any::<u64>()
    ) {
        // Of the other only its world counts.
        let Some(world) = other.iter().find(|(kind, _)| *kind == DocumentKind::World) else {
            return Ok(());
        };
        let mut new = old.clone();
        new.retain(|(kind, _)| *kind != DocumentKind::World);
        new.push(world.clone());
        if let Err(why) = hold(&old, &new, seed, 12) {
            return Err(TestCaseError::fail(why));
        }
    }

    #[test]
    fn every_change_is_found_where_a_world_comes_or_goes(
        documents in worlds::documents(), role in select(worlds::OTHER_ROLES), comes in any::<bool>(), seed in any::<u64>()
    ) {
        let plain = worlds::without_world(&documents, role);
        let (old, new) = if comes { (plain, documents) } else { (documents, plain) };
        if let Err(why) = hold(&old, &new, seed, 12) {
            return Err(TestCaseError::fail(why));
        }
    }
}

#[test]
#[ignore = "takes minutes in a debug build"]
fn every_change_is_found_where_many_worlds_come_or_go() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[13; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut failed = 0;
    for seed in 1..=600_u64 {
        let documents = worlds::documents().new_tree(&mut runner).unwrap().current();
        let role = worlds::OTHER_ROLES[seed as usize % worlds::OTHER_ROLES.len()];
        let plain = worlds::without_world(&documents, role);
        let (old, new) = if seed % 2 == 0 {
            (plain, documents)
        } else {
            (documents, plain)
        };
        if let Err(why) = hold(&old, &new, 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), 40) {
            failed += 1;
            eprintln!("{why}\n");
        }
    }
    assert_eq!(failed, 0);
}

#[test]
#[ignore = "takes minutes in a debug build"]
fn every_change_is_found_in_many_policies() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[9; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    for seed in 1..2_000_u64 {
        let mut documents = || arbitrary::documents().new_tree(&mut runner).unwrap().current();
        let (old, other) = (documents(), documents());
        let new = edited(&old, &other, seed as usize);
        if let Err(why) = hold(&old, &new, 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), 20) {
            panic!("{why}");
        }
    }
}

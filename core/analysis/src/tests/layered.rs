//! Layers: what is said of a region is what all of them say of each of its calls, and of a change what changes below the others.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::arbitrary::{self, Documents};
use super::calls::{self, Random};
use super::division::{Mistake, Tally, shown};
use super::subject::Subject;
use crate::asked::{Asked, Judged};
use crate::tests::properties::config;
use crate::{Above, Analysis, Bounds, Comparison, Layer, inexact};
use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;

/// Servers that a layer above leaves, where it does not know the tool.
const LEFT: &[&str] = &["mail", "notes", "files"];

fn leaves(server: &str) -> bool {
    LEFT.contains(&server)
}

/// Documents of layers, the uppermost first. Most often all have the options of the first, and some above know no tool of a server.
fn layers() -> impl Strategy<Value = Vec<Documents>> {
    let one = (
        arbitrary::documents(),
        prop::option::weighted(0.3, prop::sample::select(vec!["mail", "notes", "git"])),
    );
    (prop::collection::vec(one, 2..=3), prop::bool::weighted(0.8)).prop_map(|(all, is_alike)| {
        let (mut layers, unknown): (Vec<Documents>, Vec<_>) = all.into_iter().unzip();
        let lowest = layers.len() - 1;
        for kind in [DocumentKind::Options, DocumentKind::Sandbox] {
            let first = part(&layers[0], kind).cloned();
            for layer in layers.iter_mut().filter(|_| is_alike) {
                layer.retain(|(known, _)| *known != kind);
                layer.extend(first.clone().map(|first| (kind, first)));
            }
        }
        for (layer, server) in layers.iter_mut().zip(unknown).take(lowest) {
            let Some(server) = server else { continue };
            for (kind, value) in layer {
                if *kind == DocumentKind::Annotations {
                    value["servers"].as_object_mut().unwrap().remove(server);
                }
            }
        }
        protect(&mut layers);
        layers
    })
}

fn part(documents: &Documents, kind: DocumentKind) -> Option<&Value> {
    documents
        .iter()
        .find(|(known, _)| *known == kind)
        .map(|(_, value)| value)
}

/// What the layers above protect is protected in the lowest.
fn protect(layers: &mut [Documents]) {
    let Some((lowest, above)) = layers.split_last_mut() else {
        return;
    };
    let protected = above
        .iter()
        .filter_map(|layer| part(layer, DocumentKind::ProtectedPaths));
    let protected: Vec<Value> = protected
        .flat_map(|paths| paths.as_array().unwrap().clone())
        .collect();
    for (kind, value) in lowest {
        if *kind == DocumentKind::ProtectedPaths {
            value.as_array_mut().unwrap().extend(protected.iter().cloned());
        }
    }
}

/// The engines; `None` where an option makes documents invalid.
fn engines(layers: &[Documents]) -> Option<Vec<Engine>> {
    layers.iter().map(arbitrary::engine).collect()
}

const NAMES: &[&str] = &["one", "two", "three"];

fn above(engines: &[Engine]) -> Above<'_> {
    let named = engines.iter().zip(NAMES);
    let layers = named.map(|(engine, name)| Layer {
        name,
        engine,
        leaves: Arc::new(leaves),
    });
    Above {
        layers: layers.collect(),
        lowest: "lowest",
    }
}

fn told(layers: &[Documents]) -> String {
    layers.iter().map(shown).collect::<Vec<_>>().join("below:\n")
}

/// Holds calls of each tool against the regions of all layers.
fn hold(layers: &[Documents], seed: u64, calls: usize, tally: &mut Tally) -> Result<(), String> {
    let Some(engines) = engines(layers) else {
        return Ok(());
    };
    let (lowest, upper) = engines.split_last().unwrap();
    let analysis = Analysis::new(lowest).below(&above(upper));
    let mut random = Random(seed | 1);
    for (at, (server, tool, _)) in calls::all_tools().enumerate() {
        if lowest.program().tool(server, tool).is_none() {
            continue;
        }
        let is_refused = analysis.above.refuse(server, tool);
        let mut subject = Subject::new(&analysis, server, tool, Mistake::None);
        for _ in 0..calls {
            let arguments = calls::arguments(at, &mut random);
            if is_refused {
                let asked = Asked {
                    arguments,
                    context: None,
                };
                assert_eq!(analysis.judge((server, tool), &asked).0, 2, "{server}/{tool}");
                assert_eq!(
                    analysis.tool(server, tool).unwrap().parts[0].regions[0].decision,
                    "deny"
                );
                break;
            }
            let Err(why) = subject.check(&arguments, None, tally) else {
                continue;
            };
            // What is said not to be known may be otherwise; of what a layer protects whose tool it is not, only stricter.
            let doubts = analysis.doubts(server, tool);
            let asked = Asked {
                arguments,
                context: None,
            };
            let is_denied = analysis.judge((server, tool), &asked).0 == 2;
            if !doubts
                .iter()
                .any(|doubt| is_denied || !doubt.starts_with(inexact::LEFT))
            {
                let arguments = asked.arguments;
                return Err(format!("{server}/{tool} {arguments}: {why}\n{}", told(layers)));
            }
        }
    }
    Ok(())
}

/// Compares the lowest layer with another below the same layers, and holds calls against what is said to change.
fn hold_changes(layers: &[Documents], other: &Documents, seed: u64, calls: usize) -> Result<(), String> {
    let mut changed = layers.to_vec();
    *changed.last_mut().unwrap() = other.clone();
    protect(&mut changed);
    let (Some(engines), Some(others)) = (engines(layers), engines(&changed)) else {
        return Ok(());
    };
    let (old, upper) = engines.split_last().unwrap();
    let new = others.last().unwrap();
    let above = above(upper);
    let bounds = Bounds {
        calls: 3_000,
        ..Bounds::default()
    };
    let comparison = Comparison::new(old, new).below(&above).within(bounds);
    let sides = [old, new].map(|engine| Analysis::new(engine).below(&above));
    let mut random = Random(seed | 1);
    for (at, (server, tool, _)) in calls::all_tools().enumerate() {
        let Some(changes) = comparison.tool(server, tool) else {
            continue;
        };
        let judged = |arguments: &Value| -> [(u8, Judged); 2] {
            let asked = Asked {
                arguments: arguments.clone(),
                context: None,
            };
            sides.each_ref().map(|side| side.judge((server, tool), &asked))
        };
        for _ in 0..calls {
            let arguments = calls::arguments(at, &mut random);
            let [(was, _), (is, _)] = judged(&arguments);
            let is_said = match was.cmp(&is) {
                std::cmp::Ordering::Less => !changes.stricter.is_empty(),
                std::cmp::Ordering::Equal => true,
                std::cmp::Ordering::Greater => !changes.looser.is_empty(),
            };
            if !is_said && changes.unknown.is_empty() {
                let (old, new) = (told(layers), shown(&changed[changed.len() - 1]));
                return Err(format!(
                    "{server}/{tool} {arguments} changes from {was} to {is}\n{old}now:\n{new}"
                ));
            }
        }
        for change in changes.looser.iter().chain(&changes.stricter) {
            let [(_, was), (_, is)] = judged(&change.arguments);
            if (&was, &is) != (&change.before, &change.after) {
                return Err(format!("{change:?} is not shown by its call"));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(20))]

    #[test]
    fn a_call_is_judged_as_the_regions_of_its_layers_are(layers in layers(), seed in any::<u64>()) {
        let mut tally = Tally::default();
        if let Err(why) = hold(&layers, seed, 8, &mut tally) {
            return Err(TestCaseError::fail(why));
        }
    }
}

proptest! {
    #![proptest_config(config(6))]

    #[test]
    fn every_change_below_others_is_found(layers in layers(), other in arbitrary::documents(), seed in any::<u64>()) {
        if let Err(why) = hold_changes(&layers, &other, seed, 12) {
            return Err(TestCaseError::fail(why));
        }
    }
}

/// `cargo test --release -p callgate-analysis --lib -- --ignored layered`
#[test]
#[ignore = "takes minutes in a release build"]
fn many_calls_are_judged_as_the_regions_of_their_layers_are() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[21; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let (mut tally, mut failed, mut seed) = (Tally::default(), 0, 0_u64);
    while tally.calls < 200_000 && failed < 10 {
        let documents = layers().new_tree(&mut runner).unwrap().current();
        seed += 1;
        if let Err(why) = hold(
            &documents,
            0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed),
            40,
            &mut tally,
        ) {
            eprintln!("{why}\n");
            failed += 1;
        }
    }
    println!("{tally:?} of {seed} policies");
    assert_eq!(failed, 0);
    assert!(tally.combined > tally.calls / 10, "{tally:?}");
}

#[test]
#[ignore = "takes minutes in a release build"]
fn every_change_below_others_is_found_in_many_policies() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[22; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    for seed in 1..1_000_u64 {
        let all = layers().new_tree(&mut runner).unwrap().current();
        let other = arbitrary::documents().new_tree(&mut runner).unwrap().current();
        if let Err(why) = hold_changes(&all, &other, 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), 20) {
            panic!("{why}");
        }
    }
}

/// A layer that trusts a server has no opinion about its calls, so that the tools are those of the layers above.
#[test]
fn what_the_lowest_trusts_is_for_those_above_to_say() {
    let rule = json!({"name": "any", "if": {"server": "files"}, "then": "allow", "reason": ""});
    let tool = json!({"toolName": "read", "args": {"path": "read-path"}});
    let one = vec![
        (DocumentKind::Policy, json!({"rules": [rule]})),
        (
            DocumentKind::Annotations,
            json!({"servers": {"files": {"tools": [tool]}}}),
        ),
    ];
    let lowest = vec![
        (DocumentKind::Policy, json!({"rules": []})),
        (DocumentKind::Annotations, json!({"servers": {}})),
        (DocumentKind::TrustedServers, json!(["files", "mail", "else"])),
    ];
    let engines = engines(&[one, lowest]).unwrap();
    let (lowest, upper) = engines.split_last().unwrap();
    let analysis = Analysis::new(lowest).below(&above(upper));
    let listed = [("else", "*"), ("files", "*"), ("files", "read"), ("mail", "*")];
    assert_eq!(analysis.tools(), listed);
    let said = listed.map(|(server, tool)| {
        let regions = analysis.tool(server, tool).unwrap();
        (regions.parts[0].regions[0].decision, regions.inexact.len())
    });
    // Of these servers the layer above leaves one, and knows a tool of another.
    assert_eq!(said, [("deny", 0), ("allow", 0), ("allow", 1), ("allow", 0)]);
}

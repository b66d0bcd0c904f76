//! The property: what judging sees of a value is what it sees of one of the values that stand for others, and a call in which
//! each value is replaced by that one is judged alike.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::arbitrary::{self, Documents};
use super::calls::{self, Random};
use super::subject::Subject;
use super::worlds;
use crate::Analysis;
use crate::label::Label;
use crate::tests::properties::config;
use callgate_engine::config::DocumentKind;

/// Counts of the calls that were compared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) calls: usize,
    /// Calls that are refused for their form.
    pub(super) refused: usize,
    /// Calls with a value that is not what its role expects.
    pub(super) unclear: usize,
    /// Calls whose verdict was compared with those of the regions of its parts.
    pub(super) combined: usize,
}

/// A mistake that a division could make.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mistake {
    None,
    /// Choices with such a label are left out.
    Forgets(fn(&Label) -> bool),
    /// Arguments that rules look at together are looked at one by one.
    Splits,
    /// The last of several combinations of what conditions look at is left out.
    ForgetsMode,
    /// Arguments that are absent together are not looked at.
    ForgetsAbsence,
    /// The context of a call is not looked at.
    ForgetsContexts,
    /// Nothing is said of regions that are not exact.
    HidesNotes,
}

/// Holds `calls` calls of each tool against the regions.
pub(super) fn hold(
    documents: &Documents,
    seed: u64,
    calls: usize,
    tally: &mut Tally,
    mistake: Mistake,
) -> Result<(), String> {
    let Some(engine) = arbitrary::engine(documents) else {
        return Ok(());
    };
    let analysis = Analysis::new(&engine);
    let mut random = Random(seed | 1);
    let has_world = documents.iter().any(|(kind, _)| *kind == DocumentKind::World);
    for (at, (server, tool, _)) in calls::all_tools().enumerate() {
        if analysis.imagined.program().tool(server, tool).is_none() {
            continue;
        }
        let mut subject = Subject::new(&analysis, server, tool, mistake);
        for call in 0..calls {
            let mut arguments = calls::arguments(at, &mut random);
            let context = has_world.then(|| worlds::context(&mut random)).flatten();
            // Once no argument is there.
            if call == 0 {
                arguments = Value::Object(serde_json::Map::new());
            }
            let told = context.clone().unwrap_or_default();
            subject.check(&arguments, context, tally).map_err(|why| {
                format!(
                    "{server}/{tool} {arguments} in {told}: {why}\n{}",
                    shown(documents)
                )
            })?;
        }
    }
    Ok(())
}

/// An array without a text names nothing, and yet a condition sees that it is there.
#[test]
fn an_array_without_a_text_lies_in_a_region() {
    let list = json!({"roles": ["github-owner"], "allowed": ["acme"], "matchType": "identifiers"});
    let rules = json!([
        rule("listed", json!({"lists": [list]}), "allow"),
        rule(
            "named",
            json!({"args": [{"arg": "branch", "equals": "x"}]}),
            "escalate"
        ),
        rule(
            "given",
            json!({"args": [{"arg": "branch", "is": "truthy"}]}),
            "deny"
        ),
    ]);
    let documents = vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (DocumentKind::Annotations, arbitrary::annotations()),
    ];
    let engine = arbitrary::engine(&documents).unwrap();
    let analysis = Analysis::new(&engine);
    let mut subject = Subject::new(&analysis, "github", "open", Mistake::None);
    for branch in [json!([["/etc"]]), json!([]), json!([1]), json!(["dev"])] {
        let mut tally = Tally::default();
        let arguments = json!({"owner": "acme", "repo": "w", "branch": branch});
        let held = subject.check(&arguments, None, &mut tally);
        assert_eq!((held, tally.combined), (Ok(()), 1), "{branch}");
    }
}

/// Where every argument that holds a text is looked at, one of these shows what is protected.
#[test]
fn a_protected_path_in_place_of_a_url_lies_in_a_region() {
    let rules = json!([
        rule(
            "asked",
            json!({"args": [{"arg": "mode", "in": [1, true]}]}),
            "allow"
        ),
        rule(
            "r0",
            json!({"server": ["fetch"], "args": [{"arg": "branch", "in": ["dry", "main"]}, {"arg": "branch", "is": "truthy"}]}),
            "escalate"
        ),
        rule("r1", json!({}), "deny"),
    ]);
    let documents = vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (DocumentKind::Annotations, arbitrary::annotations()),
        (DocumentKind::ProtectedPaths, json!(["/srv/app"])),
        (DocumentKind::Sandbox, json!("/srv/app")),
        (
            DocumentKind::Options,
            json!({"unknownArguments": "escalate", "sandbox": "after-rules", "compatibility": "runtime"}),
        ),
        (DocumentKind::DomainAllowlists, json!({"fetch": ["*"]})),
    ];
    let calls = [json!({"url": "https://[::1]"}), json!({"url": "/srv/app"})];
    lie_in_regions(&documents, ("fetch", "get"), &calls);
}

/// The same where conditions look at all of them, and tell more combinations apart than are looked at.
#[test]
fn a_protected_path_in_an_argument_of_conditions_lies_in_a_region() {
    let list = |roles: Value, allowed: Value| json!({"roles": roles, "allowed": allowed, "matchType": "identifiers"});
    let entries: Vec<String> = (0..40).map(|at| format!("entry-{at}")).collect();
    let listed = json!([
        list(json!(["email-address"]), json!(entries)),
        list(json!(["share-permission"]), json!(["reader", "writer"])),
    ]);
    let args = json!([{"arg": "to", "in": [true, "1"]}, {"arg": "share", "is": "falsy"}]);
    for condition in [json!({"args": args}), json!({"args": args, "lists": listed})] {
        let documents = vec![
            (
                DocumentKind::Policy,
                json!({"rules": [rule("r0", condition, "escalate"), rule("r1", json!({}), "allow")]}),
            ),
            (DocumentKind::Annotations, arbitrary::annotations()),
            (DocumentKind::ProtectedPaths, json!(["/etc/shadow"])),
            (DocumentKind::Options, json!({"unknownArguments": "deny"})),
        ];
        let calls = [
            json!({"to": "main", "share": "/etc/shadow"}),
            json!({"to": "/etc/shadow"}),
        ];
        lie_in_regions(&documents, ("mail", "send"), &calls);
    }
}

/// And where the only other argument is a path.
#[test]
fn a_protected_path_in_an_argument_without_a_role_lies_in_a_region() {
    let tool = json!({"toolName": "list", "args": {"path": "read-path", "mode": "none"}});
    let condition = json!({"args": [{"arg": "mode", "equals": "dry"}]});
    let documents = vec![
        (
            DocumentKind::Policy,
            json!({"rules": [rule("r0", condition, "escalate"), rule("r1", json!({}), "allow")]}),
        ),
        (
            DocumentKind::Annotations,
            json!({"servers": {"own": {"tools": [tool]}}}),
        ),
        (DocumentKind::ProtectedPaths, json!(["/etc/shadow"])),
        (DocumentKind::Options, json!({"unknownArguments": "deny"})),
    ];
    let calls = [json!({"path": "/srv", "mode": "/etc/shadow"})];
    lie_in_regions(&documents, ("own", "list"), &calls);
}

/// A grant of a branch is none of what a forced update or a removal does to it, and a restriction hears of both.
#[test]
fn a_forced_update_and_a_removal_of_a_granted_branch_lie_in_regions() {
    let lists = json!([{"roles": ["branch-name"], "allowed": ["main"], "matchType": "identifiers"}]);
    let granted = json!({"roles": ["github-owner", "github-repo", "git-remote-url"], "lists": lists});
    let rules = json!([
        rule("granted", granted, "allow"),
        rule("kept", json!({"lists": lists}), "deny"),
        rule("rest", json!({}), "allow"),
    ]);
    let documents = vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (DocumentKind::Annotations, arbitrary::annotations()),
    ];
    let spelled = [
        "main",
        "+main",
        ":main",
        "+a:main",
        "+refs/heads/main",
        "+dev",
        ":dev",
    ];
    let opened = spelled.map(|branch| json!({"owner": "acme", "repo": "w", "branch": branch}));
    lie_in_regions(&documents, ("github", "open"), &opened);
    let remote = "https://github.com/acme/w";
    let pushed = spelled.map(|branch| json!({"path": "/srv/app", "remote": remote, "branch": branch}));
    lie_in_regions(&documents, ("git", "push"), &pushed);
}

fn rule(name: &str, condition: Value, then: &str) -> Value {
    json!({"name": name, "if": condition, "then": then, "reason": "r"})
}

/// Holds calls of a tool against its regions.
fn lie_in_regions(documents: &Documents, (server, tool): (&str, &str), calls: &[Value]) {
    let engine = arbitrary::engine(documents).unwrap();
    let analysis = Analysis::new(&engine);
    let mut subject = Subject::new(&analysis, server, tool, Mistake::None);
    for call in calls {
        let held = subject.check(call, None, &mut Tally::default());
        assert_eq!(held, Ok(()), "{call}");
    }
}

/// The documents, but for the annotations, which are always the same.
pub(super) fn shown(documents: &Documents) -> String {
    let others = documents
        .iter()
        .filter(|(kind, _)| *kind != DocumentKind::Annotations);
    let mode = documents.iter().find_map(|(kind, value)| {
        let schema = value.pointer("/servers/files/tools/1/inputSchema");
        schema.filter(|_| *kind == DocumentKind::Annotations)
    });
    let others = others.map(|(kind, value)| format!("{}: {value}\n", kind.as_str()));
    others.chain(mode.map(|mode| format!("mode: {mode}\n"))).collect()
}

proptest! {
    #![proptest_config(config(25))]

    #[test]
    fn a_call_is_judged_as_its_regions_are(documents in worlds::documents(), seed in any::<u64>()) {
        let mut tally = Tally::default();
        if let Err(why) = hold(&documents, seed, 8, &mut tally, Mistake::None) {
            return Err(TestCaseError::fail(why));
        }
    }
}

/// `cargo test --release -p callgate-analysis --lib -- --ignored a_million_calls`
#[test]
#[ignore = "takes minutes in a release build"]
fn a_million_calls_are_judged_as_their_regions_are() {
    let (mut failed, mut tried) = (Vec::new(), 0);
    for first in SEEDS {
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[*first; 32]);
        let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
        let mut tally = Tally::default();
        let mut seed = u64::from(*first);
        while tally.calls < 1_000_000 && failed.len() < MOST_FAILURES {
            let documents = worlds::documents().new_tree(&mut runner).unwrap().current();
            seed += 1;
            tried += 1;
            let calls = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed);
            if let Err(why) = hold(&documents, calls, 40, &mut tally, Mistake::None) {
                // The run takes minutes, and what fails is worth knowing before it ends.
                eprintln!("{why}\n");
                failed.push(why);
            }
        }
        println!("{tally:?}");
        // A property that compares nothing says nothing.
        assert!(
            !failed.is_empty() || tally.combined > tally.calls / 10,
            "{tally:?}"
        );
    }
    let count = failed.len();
    assert!(
        failed.is_empty(),
        "{count} of {tried} documents\n{}",
        failed.join("\n")
    );
}

/// Seeds of the documents of which each is asked about a million calls.
const SEEDS: &[u8] = &[7, 8, 9];

/// Failures that are shown at most.
const MOST_FAILURES: usize = 20;

//! Whatever is edited in the documents, a comparison does not say that verdicts stay as they are where one changes.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::arbitrary::{self, Documents};
use super::calls::{self, Random, TOOLS};
use super::division::shown;
use super::edits::{Edit, edited, edits};
use crate::imagined::Imagined;
use crate::tests::properties::config;
use crate::{Bounds, Comparison, VerdictChange};
use callgate_engine::bind::Call;
use callgate_engine::config::DocumentKind;

/// A call of one of the tools, of a kind that edits may be about.
fn call(random: &mut Random) -> (&'static str, &'static str, Value) {
    if random.below(12) == 0 {
        return ("shell", "run", json!({"command": "ls"}));
    }
    let at = random.below(TOOLS.len());
    let (server, tool, _) = TOOLS[at];
    let mut arguments = calls::arguments(at, random);
    let Some(members) = arguments.as_object_mut() else {
        return (server, tool, arguments);
    };
    for _ in 0..random.below(3) {
        let name = [
            "force", "file", "opts", "how", "path", "files", "mode", "to", "url",
        ][random.below(9)];
        members.insert(name.to_owned(), odd(random));
    }
    let tool = match (tool, random.below(4)) {
        ("read", 0) => "list_allowed_directories",
        ("put", 0) => "write",
        _ => tool,
    };
    if random.below(12) == 0 {
        arguments = Value::Object(Map::new());
    }
    (server, tool, arguments)
}

fn odd(random: &mut Random) -> Value {
    match random.below(14) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(7),
        3 => json!({}),
        4 => json!({"path": "/srv/app/x"}),
        5 => json!([["/srv/app/x"]]),
        6 => json!(["/srv/app/x"]),
        7 => json!(["/srv/app/x", "/etc/shadow"]),
        8 => json!("secret/key"),
        9 => json!("app/in/x"),
        10 => json!("in"),
        11 => json!("list"),
        12 => json!("/srv/app/in/key"),
        _ => json!("https://good.test/x"),
    }
}

/// Holds calls against what a comparison says of their tools.
fn hold(old: &Documents, new: &Documents, seed: u64, count: usize) -> Result<(), String> {
    let (Some(before), Some(after)) = (arbitrary::engine(old), arbitrary::engine(new)) else {
        return Ok(());
    };
    let bounds = Bounds {
        calls: 3_000,
        ..Bounds::default()
    };
    let comparison = Comparison::new(&before, &after).within(bounds);
    let said = |server: &str, tool: &str| {
        let changes = comparison
            .tool(server, tool)
            .or_else(|| comparison.tool(server, "*"));
        changes.map(|one| {
            (
                !one.looser.is_empty(),
                !one.stricter.is_empty(),
                !one.unknown.is_empty(),
            )
        })
    };
    let (before, after) = (Imagined::new(&before, None), Imagined::new(&after, None));
    let mut random = Random(seed | 1);
    for _ in 0..count {
        let (server, tool, arguments) = call(&mut random);
        let call = Call::from_value(server, tool, &arguments);
        let judged = |imagined: &Imagined<'_>| imagined.judge(&call).decision.strictness();
        let (was, is) = (judged(&before), judged(&after));
        let (looser, stricter, unknown) = said(server, tool).unwrap_or_default();
        if unknown || was == is || (is < was && looser) || (is > was && stricter) {
            continue;
        }
        return Err(format!(
            "{server}/{tool} {arguments} changes from {was} to {is}, {} to {}\n{}\n{}",
            before.judge(&call).rule,
            after.judge(&call).rule,
            shown(old),
            shown(new)
        ));
    }
    Ok(())
}

/// Edits documents in some way that was there before, and in some way that is new, and holds calls against what is said of that.
fn hold_edits(
    base: &Documents,
    (before, after): (usize, usize),
    seed: u64,
    count: usize,
) -> Result<(), String> {
    let edits = edits();
    let mut old = match edits.get(before) {
        Some(edit) => edited(base, edit),
        None => base.clone(),
    };
    let Some(edit) = edits.get(after) else {
        return Ok(());
    };
    if edit.0 == "workspaceRoots" {
        // Without roots the option is refused.
        old.retain(|(kind, _)| ![DocumentKind::Sandbox, DocumentKind::Ceiling].contains(kind));
        old.push((
            DocumentKind::Ceiling,
            json!({"workspace_roots": ["/srv", "/etc"]}),
        ));
    }
    hold(&old, &edited(&old, edit), seed, count).map_err(|why| format!("{edit:?}\n{why}"))
}

/// Holds the answer of a comparison about this edit: of the tool, or of the tools of a trusted server.
#[track_caller]
fn check(tool: &Value, edit: &Edit, (server, name): (&str, &str), expected: &Value) {
    let rules = json!([
        {"name": "srv", "if": {"paths": {"roles": ["read-path", "write-path"], "within": "/srv"}}, "then": "allow", "reason": "r"},
        {"name": "force", "if": {"server": "s", "args": [{"arg": "force", "is": "present"}]}, "then": "allow", "reason": "r"},
    ]);
    let old = vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (
            DocumentKind::Annotations,
            json!({"servers": {"files": {"tools": [tool]}, "s": {"tools": [tool]}}}),
        ),
        (DocumentKind::Sandbox, json!("/srv/a")),
        (DocumentKind::ProtectedPaths, json!(["/srv/a/secret"])),
        (DocumentKind::Options, json!({})),
    ];
    let engines = [&old, &edited(&old, edit)].map(|one| arbitrary::engine(one).unwrap());
    let [before, after] = &engines;
    let changes = Comparison::new(before, after).tool(server, name).unwrap();
    let of = |changes: &[VerdictChange]| -> Value {
        changes
            .iter()
            .map(|one| json!([one.places, one.before.rule, one.after.rule]))
            .collect()
    };
    let said =
        json!({"looser": of(&changes.looser), "stricter": of(&changes.stricter), "unknown": changes.unknown});
    assert_eq!(said, *expected, "{edit:?}");
}

#[test]
fn what_calls_cannot_show_is_not_known() {
    let path = json!({"type": "string"});
    let tool = json!({"toolName": "read", "args": {"path": "read-path", "to": "write-path"},
                      "inputSchema": {"properties": {"path": path, "to": path}}});
    let annotation = |place: &'static str, value: Value| ("", DocumentKind::Annotations, place, value);
    let unknown = |why: &str| json!({"looser": [], "stricter": [], "unknown": [format!("what follows from another {why}")]});
    let files = ("files", "read");
    let begin = "/servers/files/tools/0";
    let place = |end: &str| -> &'static str { format!("{begin}/{end}").leak() };
    for (edit, expected) in [
        (
            annotation(place("inputSchema/properties/path"), json!({})),
            "type of `path` in the schema",
        ),
        (
            annotation(place("arg_schema"), json!({"arg_aliases": {"file": "path"}})),
            "`arg_aliases`",
        ),
        (
            annotation(
                place("args/to"),
                json!({"roles": "write-path", "relativeTo": "path"}),
            ),
            "`relativeTo` of `to`",
        ),
        (
            (
                "",
                DocumentKind::Options,
                "/serverAliases",
                json!({"files": "git"}),
            ),
            "kind of the server (`serverAliases`)",
        ),
    ] {
        check(&tool, &edit, files, &unknown(expected));
    }
    let given =
        json!([[{"argument": "new", "roles": [], "is": ["given"]}], "structural-unknown-argument", "srv"]);
    let edit = annotation(place("inputSchema/properties/new"), json!({"type": "string"}));
    check(
        &tool,
        &edit,
        files,
        &json!({"looser": [given], "stricter": [], "unknown": []}),
    );
    let edit = ("", DocumentKind::TrustedServers, "", json!(["shell"]));
    let every = json!([[], "structural-unknown-tool", "trusted-server"]);
    check(
        &tool,
        &edit,
        ("shell", "*"),
        &json!({"looser": [every], "stricter": [], "unknown": []}),
    );
}

proptest! {
    #![proptest_config(config(4))]

    #[test]
    fn no_edit_is_taken_for_none(
        base in arbitrary::documents(), before in 0_usize..140, after in 0_usize..70, seed in any::<u64>()
    ) {
        if let Err(why) = hold_edits(&base, (before, after), seed, 40) {
            return Err(TestCaseError::fail(why));
        }
    }
}

#[test]
#[ignore = "takes minutes in a debug build"]
fn no_edit_is_taken_for_none_in_many_documents() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut random = Random(77);
    let (mut failed, count) = (0, edits().len());
    for seed in 1..=600_u64 {
        let base = arbitrary::documents().new_tree(&mut runner).unwrap().current();
        let parts = (random.below(2 * count), (seed as usize) % count);
        if let Err(why) = hold_edits(&base, parts, 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), 120) {
            failed += 1;
            eprintln!("{why}\n");
        }
    }
    assert_eq!(failed, 0);
}

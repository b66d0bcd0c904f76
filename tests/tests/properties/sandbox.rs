//! Workspace roots as the sandbox: properties of one root, of several, and of roots beside `sandbox`.

use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;
use callgate_engine::judge::Explanation;
use callgate_host::VirtualHost;
use conformance::Explain;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use super::{build, document, host, text};
use crate::common::cases::{Case, Request, case, config};
use crate::common::engines::{Documents, annotations, policy, tool};

const ROOTS: [&str; 7] = [
    "/box",
    "/box/in",
    "/box/l",
    "/secret",
    "/out",
    "/home/u",
    "/none/box",
];
const SANDBOX: &str = "structural-sandbox-allow";

fn roots() -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(ROOTS.to_vec(), 1..4).prop_shuffle()
}

/// The engine of the case with these roots, which are the sandbox or bound it.
fn engine(case: &Case, roots: &[&str], sandbox: Option<&str>, host: &VirtualHost) -> Engine {
    let mut options = document(case, DocumentKind::Options)
        .cloned()
        .unwrap_or_else(|| json!({}));
    if sandbox.is_none() {
        options["workspaceRoots"] = json!("sandbox");
    }
    let documents = case
        .documents
        .clone()
        .with(DocumentKind::Options, options)
        .with(DocumentKind::Sandbox, json!(sandbox))
        .with(DocumentKind::Ceiling, json!({"workspace_roots": roots}));
    build(&documents, host)
}

fn by_the_sandbox(engine: &Engine, request: &Request, host: &VirtualHost) -> bool {
    engine.evaluate(&request.call(), host).rule == SANDBOX
}

/// Returns `true` if exactly one argument has a path role, and that does not delete.
fn has_one_place(explained: &Explanation) -> bool {
    let mut places = explained.values.iter().filter(|value| value.canonical.is_some());
    let one = places.next();
    one.is_some_and(|one| {
        !one.role.starts_with("delete") && places.all(|other| other.argument == one.argument)
    })
}

proptest! {
    #![proptest_config(config(400))]

    /// One root as the sandbox, however often it is listed, is the same as `sandbox` bounded by that root.
    #[test]
    fn one_root_is_the_allowed_directory(case in case(), root in select(ROOTS.to_vec())) {
        let host = host(&case);
        let (slash, dots) = (format!("{root}/"), format!("{root}/x/.."));
        let allowed = engine(&case, &[root], Some(root), &host);
        let once = engine(&case, &[root], None, &host);
        let thrice = engine(&case, &[root, &slash, &dots], None, &host);
        for request in &case.calls {
            let call = request.call();
            let (given, gated) = (
                text(&allowed.explain(&call, &host)),
                text(&allowed.explain_in(&call, "/work", &host)),
            );
            for same in [&once, &thrice] {
                prop_assert_eq!(&text(&same.explain(&call, &host)), &given);
                prop_assert_eq!(&text(&same.explain_in(&call, "/work", &host)), &gated);
            }
        }
    }

    /// A further root takes nothing away from the sandbox, and adds only values inside itself.
    #[test]
    fn a_further_root_gives_what_it_holds_itself(case in case(), first in roots(), further in select(ROOTS.to_vec())) {
        let host = host(&case);
        let [before, alone] = [&first[..], &[further]].map(|roots| engine(&case, roots, None, &host));
        let after = engine(&case, &[&first[..], &[further]].concat(), None, &host);
        for request in &case.calls {
            let held = by_the_sandbox(&after, request, &host);
            let (held_before, held_alone) =
                (by_the_sandbox(&before, request, &host), by_the_sandbox(&alone, request, &host));
            prop_assert!(held || !(held_before || held_alone), "{:?}", request);
            if held && has_one_place(&after.explain(&request.call(), &host)) {
                prop_assert!(held_before || held_alone, "{:?}", request);
            }
        }
    }

    /// The order of roots matters only for the base of relative paths.
    #[test]
    fn the_order_of_roots_does_not_count_for_what_is_absolute(case in case(), mut roots in roots()) {
        let host = host(&case);
        let ordered = engine(&case, &roots, None, &host);
        roots.reverse();
        let reversed = engine(&case, &roots, None, &host);
        for request in &case.calls {
            let [one, other] = [&ordered, &reversed].map(|engine| text(&engine.evaluate(&request.call(), &host)));
            prop_assert_eq!(one, other);
        }
    }
}

/// The sandbox in an explanation, and the directories that an engine names.
#[track_caller]
fn check(roots: Value, arguments: Value, directories: &[&str], expected: &[&str]) {
    let world = json!({
        "home": "/home/u", "cwd": "/srv",
        "fs": {"dirs": ["/a", "/b/in", "/c"], "links": {"/a/l": "/b/in", "/door": "/b", "/loop": "loop"}},
    });
    let host = VirtualHost::from_value(&world).unwrap_or_else(|error| panic!("{error}"));
    let roles = json!({"read": ["read-path"], "remove": ["delete-path"]});
    let documents = Documents::default()
        .with(DocumentKind::Policy, policy(json!([])))
        .with(
            DocumentKind::Annotations,
            annotations(&[tool("filesystem/t", roles)]),
        )
        .with(DocumentKind::Ceiling, json!({"workspace_roots": roots}))
        .with(DocumentKind::Options, json!({"workspaceRoots": "sandbox"}));
    let engine = build(&documents, &host);
    let request = Request {
        server: "filesystem".to_owned(),
        tool: "t".to_owned(),
        arguments,
    };
    let explained = engine.explain_gate(&request.call(), &host);
    let said = explained.checks.iter().filter(|step| step.check == "sandbox");
    let said: Vec<&str> = said.map(|step| &*step.detail).collect();
    assert_eq!(engine.allowed_directories().collect::<Vec<_>>(), directories);
    assert_eq!(said, expected, "{}", request.arguments);
}

#[test]
fn an_explanation_names_the_directories_that_hold_values() {
    let both = || json!(["/a", "/b"]);
    for (roots, arguments, directories, expected) in [
        (
            json!(["/a/"]),
            json!({"read": "x"}),
            &["/a"][..],
            &["every `read-path` value lies within /a"][..],
        ),
        (
            both(),
            json!({"read": "/b/x"}),
            &["/a", "/b"],
            &["every `read-path` value lies within /b"],
        ),
        (
            both(),
            json!({"read": ["/b/x", "x", "/b/y"]}),
            &["/a", "/b"],
            &["every `read-path` value lies within /a or /b"],
        ),
        (
            both(),
            json!({"remove": "l"}),
            &["/a", "/b"],
            &["every `delete-path` value lies within /a or /b"],
        ),
        (
            both(),
            json!({"read": "/b/x", "remove": "y"}),
            &["/a", "/b"],
            &[
                "every `read-path` value lies within /b",
                "every `delete-path` value lies within /a",
            ],
        ),
        (both(), json!({"read": ["/b/x", "/c/x"]}), &["/a", "/b"], &[]),
        (
            json!(["/b", "/b/in", "~/n", "/b/in/..", "/door", "/loop"]),
            json!({"read": ["/b/in/x", "/door/x", "~/n"]}),
            &["/b", "/b/in", "/home/u/n", "/door", "/loop"],
            &["every `read-path` value lies within /b or /home/u/n"],
        ),
    ] {
        check(roots, arguments, directories, expected);
    }
}

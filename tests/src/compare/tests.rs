use serde_json::{Value, json};

use super::Requirement::{self, *};
use super::{Asked, is_verdict, lexical, meets};
use crate::subject::Outcome;

fn check(requirement: Requirement, op: &str, args: &Value, recorded: &Value, got: &Value, expected: bool) {
    let asked = Asked {
        op,
        args,
        home: "/home/u",
        cwd: "/srv/app",
    };
    let met = meets(requirement, &asked, recorded, &Outcome::Answer(got.clone()));
    assert_eq!(met, expected, "{requirement:?} {op}: {recorded} {got}");
}

fn verdict(decision: &str) -> Value {
    json!({"decision": decision, "rule": "r", "reason": "because"})
}

#[test]
fn verdicts_have_one_shape() {
    let valid = |value: Value, expected: bool| assert_eq!(is_verdict(&value), expected, "{value}");
    valid(verdict("allow"), true);
    valid(
        json!({"decision": "escalate", "rule": "r", "reason": "", "escalatedRoles": ["read-path"]}),
        true,
    );
    valid(
        json!({"decision": "deny", "rule": "r", "reason": "", "escalatedRoles": ["read-path"]}),
        false,
    );
    valid(
        json!({"decision": "escalate", "rule": "r", "reason": "", "escalatedRoles": []}),
        false,
    );
    valid(json!({"decision": "maybe", "rule": "r", "reason": ""}), false);
    valid(json!({"decision": "deny", "rule": "r"}), false);
    valid(
        json!({"decision": "deny", "rule": "r", "reason": "", "note": 1}),
        false,
    );
    valid(Value::Null, false);
}

#[test]
fn recorded_answers_come_again() {
    let none = Value::Null;
    check(
        Recorded,
        "evaluate",
        &none,
        &verdict("deny"),
        &verdict("deny"),
        true,
    );
    let escalated =
        json!({"decision": "escalate", "rule": "r", "reason": "because", "escalatedRoles": ["a", "b"]});
    check(Recorded, "evaluate", &none, &escalated, &escalated, true);
    check(
        Recorded,
        "evaluate",
        &none,
        &escalated,
        &verdict("escalate"),
        false,
    );
    let mut turned = escalated.clone();
    turned["escalatedRoles"] = json!(["b", "a"]);
    check(Recorded, "evaluate", &none, &escalated, &turned, false);
    let thrown = json!({"throws": "Error"});
    check(Recorded, "evaluate", &none, &thrown, &verdict("deny"), true);
    check(Recorded, "evaluate", &none, &thrown, &verdict("escalate"), false);
    check(
        Recorded,
        "normalizeUrl",
        &json!(["x"]),
        &json!("x"),
        &json!("x"),
        true,
    );
    check(
        Recorded,
        "normalizeUrl",
        &json!(["x"]),
        &json!("x"),
        &json!("X"),
        false,
    );
    let pattern = |id: &str, reason: &str| {
        json!({"extract": [{"patterns": [{"id": id, "createdAt": id, "serverName": "s", "toolName": "t",
            "constraints": [], "originalReason": reason, "description": "d"}], "descriptions": ["d"]}], "match": [0]})
    };
    check(
        Recorded,
        "whitelist",
        &none,
        &pattern("1", "r"),
        &pattern("2", "r"),
        true,
    );
    check(
        Recorded,
        "whitelist",
        &none,
        &pattern("1", "r"),
        &pattern("1", "q"),
        false,
    );
}

#[test]
fn refusals_and_faults_stand_for_no_answer() {
    let asked = Asked {
        op: "evaluate",
        args: &Value::Null,
        home: "/",
        cwd: "/",
    };
    let refused = Outcome::Refused(String::new());
    let thrown = json!({"throws": "Error"});
    assert!(meets(Recorded, &asked, &thrown, &refused));
    assert!(!meets(Recorded, &asked, &verdict("deny"), &refused));
    assert!(meets(NeverLooser, &asked, &verdict("deny"), &refused));
    assert!(!meets(WellFormed, &asked, &verdict("deny"), &refused));
    for requirement in [Recorded, NeverLooser, WellFormed] {
        assert!(!meets(
            requirement,
            &asked,
            &thrown,
            &Outcome::Fault(String::new())
        ));
    }
}

#[test]
fn repaired_verdicts_are_never_looser() {
    let check = |recorded: &Value, got: &str, expected: bool| {
        check(
            NeverLooser,
            "evaluate",
            &Value::Null,
            recorded,
            &verdict(got),
            expected,
        );
    };
    check(&verdict("allow"), "allow", true);
    check(&verdict("allow"), "deny", true);
    check(&verdict("escalate"), "allow", false);
    check(&verdict("escalate"), "escalate", true);
    check(&verdict("deny"), "escalate", false);
    check(&json!({"throws": "Error"}), "allow", false);
    check(&json!({"throws": "Error"}), "escalate", true);
    check(&verdict("allow"), "perhaps", false);
}

#[test]
fn prepared_arguments_are_the_recorded_or_the_given_ones() {
    let args = json!({"path": ["a/../b", "/x"], "n": 1});
    let views =
        |transport: Value, policy: Value| json!({"argsForTransport": transport, "argsForPolicy": policy});
    let recorded = views(
        json!({"path": ["a/../b", "/x"], "n": 1}),
        json!({"path": ["/w/b", "/x"], "n": 1}),
    );
    let check = |requirement, got: &Value, expected| {
        check(requirement, "prepareToolArgs", &args, &recorded, got, expected);
    };
    check(GivenOrRecorded, &recorded, true);
    check(GivenOrRecorded, &views(args.clone(), args.clone()), true);
    check(
        GivenOrRecorded,
        &views(args.clone(), json!({"path": ["/w/b", "/y"], "n": 1})),
        false,
    );
    check(
        GivenOrRecorded,
        &views(args.clone(), json!({"path": ["/w/b", "/x"]})),
        false,
    );
    check(
        WellFormed,
        &views(args.clone(), json!({"path": "/elsewhere", "n": 1})),
        true,
    );
    check(
        WellFormed,
        &views(args.clone(), json!({"n": 1, "path": "/elsewhere"})),
        false,
    );
    check(WellFormed, &json!({"argsForTransport": args}), false);
}

#[test]
fn functions_have_requirements_of_their_own() {
    check(
        Lexical,
        "resolveRealPath",
        &json!(["~/l/../x/"]),
        &json!("/any"),
        &json!("/home/u/x"),
        true,
    );
    check(
        Lexical,
        "resolveRealPath",
        &json!(["l/.."]),
        &json!("/any"),
        &json!("/any"),
        false,
    );
    check(
        WithSlash,
        "normalizeUrl",
        &json!(["h/a/"]),
        &json!("h/a"),
        &json!("h/a/"),
        true,
    );
    check(
        WithSlash,
        "normalizeUrl",
        &json!(["h/a/"]),
        &json!("h/a"),
        &json!("h/a"),
        false,
    );
    check(
        GivenOrRecorded,
        "extractGitDomain",
        &json!(["ext::x"]),
        &json!("ext/:x"),
        &json!("ext::x"),
        true,
    );
    check(
        GivenOrRecorded,
        "extractGitDomain",
        &json!(["ext::x"]),
        &json!("ext/:x"),
        &json!("x"),
        false,
    );
    check(
        True,
        "isWithinDirectory",
        &json!(["/a", "/"]),
        &json!(false),
        &json!(true),
        true,
    );
    check(
        True,
        "isWithinDirectory",
        &json!(["/a", "/"]),
        &json!(false),
        &json!(false),
        false,
    );
    check(
        NeverTruer,
        "isWithinDirectory",
        &json!([]),
        &json!(true),
        &json!(false),
        true,
    );
    check(
        NeverTruer,
        "isWithinDirectory",
        &json!([]),
        &json!(false),
        &json!(true),
        false,
    );
    check(
        WellFormed,
        "resolveRealPath",
        &json!(["x"]),
        &json!("/x"),
        &json!("x"),
        false,
    );
    check(
        WellFormed,
        "rewriteResultContent",
        &json!([[1, 2]]),
        &json!([1, 2]),
        &json!([1]),
        false,
    );
    check(
        WellFormed,
        "getAnnotation",
        &json!({}),
        &json!({"args": {}}),
        &json!({"roles": {}}),
        false,
    );
    let stored = json!([{"args": {"__proto__": [], "a": []}}, {}]);
    check(
        WellFormed,
        "resolveStoredAnnotation",
        &stored,
        &json!({}),
        &json!({"args": {"a": []}}),
        false,
    );
    check(
        WellFormed,
        "toMcpRoots",
        &json!([[]]),
        &json!([]),
        &json!({}),
        false,
    );
}

#[test]
fn approvals_are_never_wider() {
    let whitelist = |dir: &str, at: i64| {
        json!({"extract": [{"patterns": [{"constraints": [
            {"kind": "directory", "role": "read-path", "directory": dir}]}], "descriptions": []}], "match": [at]})
    };
    let check = |got: Value, recorded: Value, expected| {
        check(NeverWider, "whitelist", &Value::Null, &recorded, &got, expected);
    };
    check(whitelist("/a/b", -1), whitelist("/a", 0), true);
    check(whitelist("/a", 0), whitelist("/a", 0), true);
    check(whitelist("/ab", 0), whitelist("/a", 0), false);
    check(whitelist("/", 0), whitelist("/a", 0), false);
    check(whitelist("/a/b", 0), whitelist("/a", -1), false);
    check(json!({"extract": [], "match": [-1]}), whitelist("/a", -1), false);
}

#[test]
fn lexical_forms_follow_the_text() {
    let check =
        |path: &str, expected: &str| assert_eq!(lexical(path, "/home/u", "/srv/app"), expected, "{path}");
    check("~", "/home/u");
    check("~/a/../b//c/", "/home/u/b/c");
    check("~bob/x", "/srv/app/~bob/x");
    check("a/./b", "/srv/app/a/b");
    check("/../../a", "/a");
    check("", "/srv/app");
}

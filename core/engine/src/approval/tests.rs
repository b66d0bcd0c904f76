use serde_json::{Value, json};

use super::*;
use crate::limits::Limits;

fn offer() -> Value {
    json!({
        "serverName": "filesystem",
        "toolName": "read_file",
        "constraints": [{"kind": "directory", "role": "read-path", "directory": "/home/u/docs"}],
    })
}

/// The offer with members of its own.
fn with(members: Value) -> Value {
    let mut whole = offer();
    let Value::Object(members) = members else { panic!() };
    whole.as_object_mut().unwrap().extend(members);
    whole
}

fn add(approvals: &mut Approvals, offer: &Value) -> Result<String, String> {
    let added = approvals.add_json(&offer.to_string());
    added.map(str::to_owned).map_err(|error| error.to_string())
}

fn read(document: &Value) -> Result<Approvals, String> {
    Approvals::from_json(&document.to_string()).map_err(|error| error.to_string())
}

#[test]
fn what_is_written_is_read_again() {
    let mut approvals = Approvals::default();
    assert_eq!(add(&mut approvals, &offer()).as_deref(), Ok("approval-1"));
    let full = with(json!({
        "id": "mine",
        "toolName": "clone",
        "constraints": [
            {"kind": "domain", "role": "git-remote-url", "domain": "github.com/acme/w"},
            {"kind": "exact", "role": "github-owner", "value": "acme"},
            {"kind": "directory", "role": "a-role-of-the-host", "directory": "/a/b c"},
        ],
        "args": [{"arg": "force", "equals": true}, {"arg": "/a/*/b", "equals": {"c": [1, 0.5, null]}}],
        "description": "for Tuesday",
        "rules": ["ask"],
        "createdAt": "2026-03-01T12:00:00Z",
        "expiresAt": "2026-03-02T12:00:00+01:00",
        "sourceEscalationId": "e-7",
        "originalReason": "",
    }));
    assert_eq!(add(&mut approvals, &full).as_deref(), Ok("mine"));
    let text = approvals.to_json();
    assert_eq!(Approvals::from_json(&text), Ok(approvals.clone()));
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["format"], "approvals/1");
    assert_eq!(written["entries"][1], full);
    assert_eq!(
        written["entries"][0]["description"],
        "Allow filesystem/read_file read-path within /home/u/docs"
    );
    assert_eq!(
        Approvals::from_json(&Approvals::default().to_json()),
        Ok(Approvals::default())
    );
    assert_eq!(
        approvals.of_tool("filesystem", "clone").list(),
        &approvals.list()[1..]
    );
    assert_eq!(
        approvals.add(&approvals.list()[1].offer().clone()).unwrap(),
        "approval-2"
    );
}

#[test]
fn arguments_are_described_and_bound_an_approval_too() {
    let mut approvals = Approvals::default();
    let args = json!([{"arg": "env", "equals": "prod"}, {"arg": "n", "equals": 2.0}, {"arg": "dry", "equals": null}]);
    let offer = with(json!({"constraints": [], "args": args}));
    assert_eq!(add(&mut approvals, &offer).as_deref(), Ok("approval-1"));
    assert_eq!(
        approvals.list()[0].offer().description,
        "Allow filesystem/read_file argument env=\"prod\", argument n=2, without argument dry"
    );
}

#[test]
fn ids_stand_for_one_approval() {
    let mut approvals = Approvals::default();
    for id in ["approval-1", "approval-2"] {
        assert_eq!(add(&mut approvals, &offer()).as_deref(), Ok(id));
    }
    assert!(approvals.remove("approval-1") && !approvals.remove("approval-1"));
    assert_eq!(add(&mut approvals, &offer()).as_deref(), Ok("approval-3"));
    assert_eq!(
        add(&mut approvals, &with(json!({"id": "approval-3"}))).unwrap_err(),
        "1:139: error[invalid-value] at approval.id: found `\"approval-3\"`, which another approval has, expected an id of its own"
    );
    let ids: Vec<&str> = approvals.list().iter().map(Approval::id).collect();
    assert_eq!(ids, ["approval-2", "approval-3"]);
}

#[test]
fn an_approval_with_a_fault_is_refused() {
    for (members, fault) in [
        (
            json!({"constraints": []}),
            "approval.constraints: found `[]`, expected a constraint",
        ),
        (
            json!({"constraints": [], "args": []}),
            "approval.constraints: found `[]`, expected a constraint",
        ),
        (
            json!({"args": [{"arg": "force"}]}),
            "approval.args[0]: the field `equals` is missing",
        ),
        (
            json!({"args": [{"arg": 1, "equals": 1}]}),
            "approval.args[0].arg: found `1`, expected a string",
        ),
        (
            json!({"args": [{"arg": "n", "equals": 1e300}]}),
            "approval.args[0].equals: found",
        ),
        (
            json!({"constraints": {}}),
            "approval.constraints: found `{}`, expected an array",
        ),
        (
            json!({"constraint": []}),
            "approval.constraint: found the key `constraint`",
        ),
        (json!({"id": ""}), "approval.id: found `\"\"`, expected a name"),
        (
            json!({"id": null}),
            "approval.id: found `null`, expected a string",
        ),
        (
            json!({"serverName": ""}),
            "approval.serverName: found `\"\"`, expected a name",
        ),
        (
            json!({"toolName": 1}),
            "approval.toolName: found `1`, expected a string",
        ),
        (
            json!({"description": null}),
            "approval.description: found `null`, expected a string",
        ),
        (
            json!({"rules": []}),
            "approval.rules: found `[]`, expected the rules that escalated",
        ),
        (
            json!({"rules": [""]}),
            "approval.rules[0]: found `\"\"`, expected a name",
        ),
        (
            json!({"createdAt": "today"}),
            "approval.createdAt: found `\"today\"`, expected a time",
        ),
        (
            json!({"expiresAt": 17}),
            "approval.expiresAt: found `17`, expected a string",
        ),
        (
            json!({"expiresAt": "2026-03-01"}),
            "approval.expiresAt: found `\"2026-03-01\"`, expected a time",
        ),
        (
            json!({"expiresAt": null}),
            "approval.expiresAt: found `null`, expected a string",
        ),
    ] {
        let error = add(&mut Approvals::default(), &with(members)).unwrap_err();
        assert!(error.contains(fault), "{error}");
    }
    for (constraint, fault) in [
        (json!("x"), "found `\"x\"`, expected an object"),
        (json!({}), "the field `kind` is missing"),
        (
            json!({"kind": "any", "role": "read-path"}),
            ".kind: found `\"any\"`, expected one of",
        ),
        (
            json!({"kind": "directory", "role": "read-path"}),
            "the field `directory` is missing",
        ),
        (
            json!({"kind": "exact", "value": "acme"}),
            "the field `role` is missing",
        ),
        (
            json!({"kind": "exact", "role": "", "value": "acme"}),
            ".role: found `\"\"`",
        ),
        (
            json!({"kind": "exact", "role": "github-owner", "value": ""}),
            ".value: found `\"\"`",
        ),
        (
            json!({"kind": "exact", "role": "github-owner", "value": "a", "domain": "b"}),
            ".domain: found the key",
        ),
        (
            json!({"kind": "exact", "role": "read-path", "value": "main"}),
            "expected a role of category `identifier`",
        ),
        (
            json!({"kind": "directory", "role": "fetch-url", "directory": "/a"}),
            "expected a role of category `path`",
        ),
        (
            json!({"kind": "domain", "role": "read-path", "domain": "a"}),
            "expected a role of category `url`",
        ),
        (
            json!({"kind": "directory", "role": "read-path", "directory": "/"}),
            "expected a canonical directory below `/`",
        ),
        (
            json!({"kind": "directory", "role": "read-path", "directory": "a"}),
            "expected a canonical directory",
        ),
        (
            json!({"kind": "directory", "role": "read-path", "directory": "/a/"}),
            "expected a canonical directory",
        ),
        (
            json!({"kind": "directory", "role": "read-path", "directory": "/a/../b"}),
            "expected a canonical directory",
        ),
        (
            json!({"kind": "directory", "role": "read-path", "directory": "/a//b"}),
            "expected a canonical directory",
        ),
        (
            json!({"kind": "directory", "role": "read-path", "directory": "~/a"}),
            "expected a canonical directory",
        ),
        (
            json!({"kind": "directory", "role": "read-path", "directory": "/a\0b"}),
            "expected a canonical directory",
        ),
    ] {
        let error = add(
            &mut Approvals::default(),
            &with(json!({"constraints": [constraint]})),
        )
        .unwrap_err();
        assert!(
            error.contains(fault) && error.contains("approval.constraints[0]"),
            "{error}"
        );
    }
    assert!(add(&mut Approvals::default(), &json!([])).is_err());
    assert!(Approvals::default().add_json("{").is_err());
    assert!(
        Approvals::default()
            .add_json(r#"{"id": "a", "id": "b"}"#)
            .is_err()
    );
}

#[test]
fn a_document_with_a_fault_is_refused_as_a_whole() {
    let entry = with(json!({"id": "a"}));
    for (document, fault) in [
        (json!([]), "approvals: found `[]`, expected an object"),
        (json!({"entries": []}), "the field `format` is missing"),
        (
            json!({"format": "approvals/2", "entries": []}),
            "approvals.format: found `\"approvals/2\"`",
        ),
        (json!({"format": "approvals/1"}), "the field `entries` is missing"),
        (
            json!({"format": "approvals/1", "entries": {}}),
            "approvals.entries: found `{}`",
        ),
        (
            json!({"format": "approvals/1", "entries": [], "next": 1}),
            "approvals.next: found the key `next`",
        ),
        (
            json!({"format": "approvals/1", "entries": [offer()]}),
            "approvals.entries[0]: the field `id` is missing",
        ),
        (
            json!({"format": "approvals/1", "entries": [entry, entry]}),
            "approvals.entries[1].id: found `\"a\"`",
        ),
    ] {
        let error = read(&document).unwrap_err();
        assert!(error.contains(fault), "{error}");
    }
    assert!(Approvals::from_json("").is_err());
}

#[test]
fn there_is_a_most_of_everything() {
    let limits = Limits::default();
    let entries = |count: usize| -> Vec<Value> {
        (0..count)
            .map(|number| with(json!({"id": number.to_string()})))
            .collect()
    };
    let document = |count| json!({"format": "approvals/1", "entries": entries(count)});
    let mut most = read(&document(limits.approvals)).unwrap();
    assert_eq!(most.list().len(), limits.approvals);
    assert!(
        add(&mut most, &offer())
            .unwrap_err()
            .contains("limit `approvals`")
    );
    assert!(
        read(&document(limits.approvals + 1))
            .unwrap_err()
            .contains("limit `approvals`")
    );
    let many = vec![offer()["constraints"][0].clone(); limits.approval_constraints + 1];
    let error = add(&mut Approvals::default(), &with(json!({"constraints": many}))).unwrap_err();
    assert!(error.contains("limit `approval_constraints`"), "{error}");
}

#[test]
fn an_approval_that_ends_needs_the_time() {
    let mut approvals = Approvals::default();
    add(&mut approvals, &offer()).unwrap();
    add(
        &mut approvals,
        &with(json!({"expiresAt": "1970-01-01T00:00:01Z"})),
    )
    .unwrap();
    let lapses =
        |at: usize, now: Option<i64>| approvals.list()[at].lapse(now.map(Moment::from_millis)).is_some();
    assert!(!lapses(0, None) && !lapses(0, Some(i64::MAX)));
    assert!(lapses(1, None) && !lapses(1, Some(i64::MIN)) && !lapses(1, Some(999)) && lapses(1, Some(1000)));
}

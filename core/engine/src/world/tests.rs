//! Documents of worlds: what they are read as, and what is said about them. How addresses and tables are judged is the
//! conformance suite's.

use serde_json::{Value, json};

use super::*;
use crate::document::{Json, Node, Report};
use crate::limits::Limits;

fn read_world(value: &Value) -> (World, Vec<String>) {
    let report = Report::default();
    let value = Json::from(value);
    let node = Node::document(&value, "w", &report);
    let world = read(&node, &Limits::default());
    crate::advice::world(&world, &node);
    let faults = report.finish("w").iter().map(ToString::to_string).collect();
    (world, faults)
}

/// Compares the faults of a world, each by how it starts.
#[track_caller]
fn check(value: Value, expected: &[&str]) {
    let (_, faults) = read_world(&value);
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
    for (fault, expected) in faults.iter().zip(expected) {
        assert!(fault.starts_with(expected), "{fault}");
    }
}

/// A world of one root `r` in the mode `m`, with these keys in place of its own.
fn world(changes: Value) -> Value {
    let mut world = json!({
        "roots": {"r": "/srv/r"},
        "visibility": [{"mode": "m", "root": "r", "subdirectory": null, "when": []}],
        "operations": [{"mode": "m", "root": "r", "subdirectory": null, "rules": [
            {"commands": [["f", "read"]], "when": []},
        ]}],
    });
    for (key, value) in changes.as_object().unwrap() {
        world[key] = value.clone();
    }
    world
}

fn row(root: &str, subdirectory: Value) -> Value {
    json!({"mode": "m", "root": root, "subdirectory": subdirectory, "when": []})
}

fn rules(subdirectory: Value, rules: Value) -> Value {
    json!({"mode": "m", "root": "r", "subdirectory": subdirectory, "rules": rules})
}

#[test]
fn a_world_is_read_strictly() {
    check(world(json!({})), &[]);
    check(
        json!({}),
        &[
            "error[missing-field] at w: the field `roots`",
            "error[missing-field] at w: the field `visibility`",
            "error[missing-field] at w: the field `operations`",
        ],
    );
    check(json!([]), &["error[wrong-type] at w: "]);
    check(
        world(
            json!({"visability": [], "roots": {"r": "srv/r", "a/b": "/a", "ROOT_X": "/x", "s": 1, "e": ""}}),
        ),
        &[
            "error[unknown-key] at w.visability: ",
            "error[invalid-path] at w.roots.r: found `\"srv/r\"`, a relative path",
            "error[invalid-value] at w.roots[\"a/b\"]: found the name \"a/b\", which contains a `/`",
            "error[invalid-value] at w.roots.ROOT_X: found the name \"ROOT_X\", which begins like a legacy address",
            "error[wrong-type] at w.roots.s: ",
            "error[invalid-path] at w.roots.e: ",
        ],
    );
    check(
        world(json!({"roots": {"r": "/srv/r", "R": "/srv/s"}})),
        &["error[invalid-value] at w.roots: found two roots for `ROOT_R:/`"],
    );
    check(
        world(json!({"visibility": [{"mode": "", "root": 1, "wen": []}], "execTool": ""})),
        &[
            "error[invalid-value] at w.execTool: ",
            "error[unknown-key] at w.visibility[0].wen: ",
            "error[invalid-value] at w.visibility[0].mode: ",
            "error[wrong-type] at w.visibility[0].root: ",
            "error[missing-field] at w.visibility[0]: the field `subdirectory`",
            "error[missing-field] at w.visibility[0]: the field `when`",
        ],
    );
    check(
        world(json!({"operations": [rules(json!(null), json!([
            {"commands": "exe", "when": []},
            {"commands": [["f"], ["f", ""], "f", ["f", "a", "b"]], "when": ["has_contact", "host:", "host:x", 1]},
            {"commands": [], "when": []},
            {"commands": [["f", "read"]]},
        ]))]})),
        &[
            "error[unknown-value] at w.operations[0].rules[0].commands: found `\"exe\"`, expected one of `exec` (help: did you mean `exec`?)",
            "error[wrong-type] at w.operations[0].rules[1].commands[0]: found `[\"f\"]`, expected a pair",
            "error[invalid-value] at w.operations[0].rules[1].commands[1][1]: ",
            "error[wrong-type] at w.operations[0].rules[1].commands[2]: ",
            "error[wrong-type] at w.operations[0].rules[1].commands[3]: ",
            "error[unknown-value] at w.operations[0].rules[1].when[0]: found `\"has_contact\"`, expected one of `has_contract`, `mod_in_session`, `path_in_session_mods`, `command_whitelisted`, `exec_signed`, or `host:<name>` (help: did you mean `has_contract`?)",
            "error[unknown-value] at w.operations[0].rules[1].when[1]: ",
            "error[wrong-type] at w.operations[0].rules[1].when[3]: ",
            "warning[never-matches] at w.operations[0].rules[2].commands: found `[]`",
            "error[missing-field] at w.operations[0].rules[3]: the field `when`",
        ],
    );
}

#[test]
fn rows_that_nothing_reaches_have_their_place() {
    let see = |rows: Value| world(json!({"visibility": rows}));
    check(
        see(json!([
            row("r", json!(null)),
            row("r", json!("a")),
            row("r", json!(null))
        ])),
        &["error[never-matches] at w.visibility[2]: found a second row"],
    );
    check(
        see(json!([row("r", json!(null)), row("q", json!(null))])),
        &["warning[never-matches] at w.visibility[1]: found a row for the root `q`"],
    );
    check(
        see(json!([
            row("r", json!(null)),
            row("r", json!("a/b")),
            row("r", json!(".."))
        ])),
        &[
            "error[never-matches] at w.visibility[1]: found the subdirectory `a/b`",
            "error[never-matches] at w.visibility[2]: found the subdirectory `..`",
        ],
    );
    check(
        world(json!({"mounts": {"M": "/elsewhere"}})),
        &["warning[never-matches] at w.mounts.M: found the mod `M` outside of every root"],
    );
    check(
        world(json!({"mounts": {"M:": "/srv/r/M"}})),
        &["error[invalid-value] at w.mounts[\"M:\"]: "],
    );
    check(
        world(json!({"roots": {"r": "/srv/r", "s": "/srv/r/s", "t": "/srv/rt"}})),
        &["warning[overridden] at w.roots.s: found a directory within that of the root `r`"],
    );
}

#[test]
fn a_command_belongs_in_one_rule() {
    let own = |list: Value| world(json!({"execTool": "x", "operations": [rules(json!(null), list)]}));
    check(
        own(json!([
            {"commands": [["f", "read"], ["f", "list"]], "when": []},
            {"commands": [["f", "write"], ["f", "read"]], "when": ["has_contract"]},
            {"commands": "exec", "when": ["exec_signed"]},
            {"commands": "exec", "when": []},
            {"commands": [["x", "ls"]], "when": []},
        ])),
        &[
            "warning[repeated-command] at w.operations[0].rules[1].commands[1]: found `read` of `f` again",
            "warning[repeated-command] at w.operations[0].rules[3].commands: found `exec` again",
            "warning[repeated-command] at w.operations[0].rules[4].commands[0]: found `ls` of `x` again",
        ],
    );
    // The rules of a subdirectory come before those of its root: that is how they differ.
    check(
        world(json!({"operations": [
            rules(json!(null), json!([{"commands": [["f", "read"]], "when": []}])),
            rules(json!("a"), json!([{"commands": [["f", "read"]], "when": ["has_contract"]}])),
        ]})),
        &[],
    );
    check(
        world(json!({"operations": [rules(json!(null), json!([{"commands": "exec", "when": []}]))]})),
        &["warning[missing-field] at w.operations: found rules for `exec`, which stands for the tool `exec`"],
    );
    check(
        world(json!({"areas": {"delete": [["f", "rm"]], "git": [["f", "rm"]], "exec": []}})),
        &[
            "error[unknown-key] at w.areas.exec: ",
            "error[invalid-value] at w.areas.git: found `rm` of `f`, which has another area already",
        ],
    );
}

#[test]
fn a_place_stands_in_both_tables() {
    let two = json!({"r": "/srv/r", "s": "/srv/s"});
    check(
        world(json!({"roots": two, "visibility": [row("r", json!(null)), row("s", json!("a"))]})),
        &[
            "warning[one-sided-place] at w.visibility[1]: in the mode `m` `a` of the root `s` is visible, but has no operations",
        ],
    );
    check(
        world(json!({"visibility": []})),
        &[
            "warning[one-sided-place] at w.operations[0]: in the mode `m` the root `r` has operations, but is not visible",
        ],
    );
    // A mod in the root is visible by its name.
    check(
        world(json!({"visibility": [], "mounts": {"M": "/srv/r/mod/M"}})),
        &[],
    );
    check(
        world(json!({"visibility": [row("r", json!("a"))], "operations": [
            rules(json!("b"), json!([{"commands": [["f", "read"]], "when": []}])),
        ]})),
        &[
            "warning[one-sided-place] at w.visibility[0]: ",
            "warning[one-sided-place] at w.operations[0]: ",
        ],
    );
}

#[test]
fn a_narrower_row_without_effect_is_doubtful() {
    let wide = || {
        rules(
            json!(null),
            json!([{"commands": [["f", "read"], ["f", "write"]], "when": []}]),
        )
    };
    let with = |own: Value| world(json!({"operations": [wide(), rules(json!("a"), own)]}));
    let doubt = "warning[overridden] at w.operations[1]: found a row for `a` that changes nothing";
    check(with(json!([])), &[doubt]);
    check(with(json!([{"commands": [["f", "read"]], "when": []}])), &[doubt]);
    for changes in [
        json!([{"commands": [["f", "remove"]], "when": []}]),
        json!([{"commands": [["f", "write"]], "when": ["has_contract"]}]),
    ] {
        check(with(changes), &[]);
    }
}

#[test]
fn limits_hold_for_tables() {
    let report = Report::default();
    let mut limits = Limits {
        places: 1,
        ..Limits::default()
    };
    let value = world(json!({"mounts": {"M": "/srv/r/M"}}));
    let crowded = Report::default();
    read(&Node::document(&Json::from(&value), "w", &crowded), &limits);
    assert_eq!(
        crowded.finish("w")[0].to_string(),
        "error[limit] at w: `2` roots and mods, expected at most 1 (limit `places`)"
    );
    limits.rules = 1;
    let value = world(json!({"visibility": [row("r", json!(null)), row("r", json!("a"))]}));
    read(&Node::document(&Json::from(&value), "w", &report), &limits);
    let faults = report.finish("w");
    assert_eq!(
        faults[0].to_string(),
        "error[limit] at w.visibility: `2` rows, expected at most 1 (limit `rules`)"
    );
}

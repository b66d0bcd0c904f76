//! Capability ceilings by the command: in a bundle, by a flag, and by themselves.

use serde_json::json;

use crate::project::{Project, call, reading};

/// A sub-agent's ceiling beside the bundle of `callgate init`.
fn with_ceiling() -> Project {
    let project = Project::new();
    project.edit("annotations.json", |annotations| {
        for tool in annotations["servers"]["filesystem"]["tools"]
            .as_array_mut()
            .expect("tools")
        {
            tool["kind"] = json!(if tool["toolName"] == "read_text_file" {
                "read"
            } else {
                "edit"
            });
            tool["arg_schema"] = json!({"path_params": ["path"]});
        }
    });
    project.edit("callgate.json", |bundle| {
        bundle["ceiling"] = json!({
            "tools": ["read_text_file"], "workspace_roots": ["."],
            "tool_arg_constraints": [{"tool": "read_*", "arg_patterns": ["docs/*"]}],
        });
    });
    project
}

#[test]
fn a_ceiling_of_the_bundle_denies_and_is_explained() {
    let project = with_ceiling();
    let above = r#""rule":"structural-capability-ceiling","reason":"Above the capability ceiling: "#;
    project.check(&["eval", &reading("docs/a")], 0, &[r#""decision":"allow""#], &[]);
    project.check(&["eval", &reading("a")], 2, &[above, "docs/*"], &[]);
    project.check(&["eval", &reading("docs/../a")], 2, &[above, "docs/*"], &[]);
    project.check(
        &["eval", &reading("/etc/passwd")],
        2,
        &[above, "workspace roots"],
        &[],
    );
    let writing = call(
        "filesystem",
        "write_file",
        json!({"path": "docs/a", "content": ""}),
    );
    project.check(&["eval", &writing], 2, &[above, "among the ceiling's tools"], &[]);
    project.check(
        &["explain", "--format", "human", &reading("a")],
        2,
        &["✗ capability-ceiling: argument \"path\"", "docs/*"],
        &[],
    );
    project.check(
        &["explain", &reading("docs/a")],
        0,
        &[r#"{"check":"capability-ceiling","passed":true"#],
        &[],
    );
    project.check(&["validate"], 0, &[r#""valid":true"#], &[]);
}

#[test]
fn a_ceiling_is_validated_where_it_stands() {
    let project = with_ceiling();
    project.write(
        "ceiling.json",
        r#"{"tool": [], "tool_arg_constraints": [{"tool": "git_*", "arg_patterns": ["!x"]}]}"#,
    );
    let faults = [
        r#""file":"ceiling.json","code":"unknown-key","severity":"error","path":"ceiling.tool""#,
        r#""path":"ceiling.tool_arg_constraints[0].arg_patterns[0]""#,
    ];
    project.check(&["validate", "--ceiling", "ceiling.json"], 4, &faults, &[]);
    project.write("ceiling.json", r#"{"tools": ["read_text_fiel"]}"#);
    let fault = [r#""code":"unbound""#, "did you mean `read_text_file`?"];
    project.check(&["validate", "--ceiling", "ceiling.json"], 0, &fault, &[]);
    project.edit("annotations.json", |annotations| {
        annotations["servers"]["filesystem"]["tools"][0]["kind"] = json!("execute");
        annotations["servers"]["filesystem"]["tools"][0]["emits_artifacts"] = json!(true);
    });
    project.check(&["validate"], 4, &[r#""code":"missing-route""#], &[]);
}

#[test]
fn what_tools_do_is_shown() {
    let project = with_ceiling();
    project.check(
        &["tools"],
        0,
        &[
            r#"{"serverName":"filesystem","toolName":"read_text_file","kind":"read","side_effect_level":"none","#,
            r#""isReadOnly":true,"mutationClass":"read_only"}"#,
            r#""isReadOnly":false,"mutationClass":"workspace_write"}"#,
        ],
        &[],
    );
    project.check(
        &["tools", "--format", "human"],
        0,
        &["filesystem/read_text_file: read, read_only, level none"],
        &[],
    );
}

#[test]
fn ceilings_are_intersected() {
    let project = Project::new();
    project.write(
        "host.json",
        r#"{"tools": ["a", "b"], "side_effect_level": "read_only"}"#,
    );
    project.write("less.json", r#"{"tools": ["a"], "recursion_limit": 2}"#);
    project.write("more.json", r#"{"tools": ["c"]}"#);
    project.write("none.json", "[]");
    project.check(
        &["intersect", "host.json", "less.json"],
        0,
        &[
            r#"{"tools":["a"],"#,
            r#""side_effect_level":"read_only","recursion_limit":2"#,
        ],
        &[],
    );
    project.check(
        &["intersect", "host.json", "more.json"],
        2,
        &[r#"{"exceeds":["tool `c`"]}"#],
        &[],
    );
    project.check(
        &["intersect", "host.json", "none.json"],
        4,
        &[],
        &["error[wrong-type] ceiling in none.json:1:1"],
    );
    project.check(
        &["intersect", "host.json", "gone.json"],
        4,
        &[],
        &["cannot read `gone.json`"],
    );
}

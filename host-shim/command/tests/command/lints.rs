//! Findings about documents.

use serde_json::{Value, json};

use crate::project::Project;

#[test]
fn a_lint_shows_rules_that_decide_nothing_with_a_call() {
    let project = Project::new();
    project.edit("policy.json", |policy| {
        let rules = policy["rules"].as_array_mut().expect("rules");
        rules.push(json!({
            "name": "too-late", "if": {"paths": {"roles": "write-path", "within": "/etc/ssh"}}, "then": "deny", "reason": "r",
        }));
        rules.push(json!({
            "name": "nowhere", "if": {"server": "filesystem", "domains": {"roles": "fetch-url", "allowed": ["a.test"]}},
            "then": "allow", "reason": "r",
        }));
    });
    let output = project.run(&["lint"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let found: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let idle: Vec<&Value> = found
        .iter()
        .filter(|one| one["code"] == "never-decides")
        .collect();
    assert_eq!(idle.len(), 2, "{text}");
    let late = idle[0]["message"].as_str().expect("a message");
    assert_eq!(
        late,
        "the rule `too-late` decides nothing: what it matches is decided by `deny-write-system`"
    );
    assert_eq!(idle[0]["path"], "policy.rules[7]");
    assert!(idle[0]["file"].as_str().expect("a file").ends_with("policy.json"));
    assert!(idle[0]["line"].is_number(), "{text}");
    project.write("call.jsonl", idle[0]["call"].to_string());
    let eval = project.run(&["eval", "--engine", "native", "call.jsonl"]);
    assert_ne!(eval.status.code(), Some(1));
    assert!(
        idle[1]["message"]
            .as_str()
            .expect("a message")
            .contains("matches no call"),
        "{text}"
    );
    assert!(found.iter().any(|one| one["code"] == "unconditional"), "{text}");

    project.check(
        &["lint", "--deny-warnings", "--format", "human"],
        4,
        &["never-decides", "such as {"],
        &[],
    );
    let output = project.run(&["lint", "--sarif"]);
    let sarif: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), found.len());
    let place = &results
        .iter()
        .find(|one| one["ruleId"] == "never-decides")
        .expect("one")["locations"][0];
    assert!(
        place["physicalLocation"]["region"]["startLine"].is_number(),
        "{place}"
    );
}

/// The findings of a lint.
fn findings(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let output = project.run(arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    lines.collect()
}

#[test]
fn a_lint_holds_a_servers_tools_against_their_annotations() {
    let project = Project::new();
    let text = json!({"type": "string"});
    let tools = json!({"tools": [
        {"name": "search_files", "inputSchema": {"properties": {
            "path": text, "pattern": text, "excludePatterns": {"type": "array"}, "output_path": text}}},
        {"name": "shred", "inputSchema": {"properties": {"path": text}}},
    ]});
    project.write("tools.json", tools.to_string());
    let found = findings(
        &project,
        &["lint", "--server", "filesystem", "--tools", "tools.json"],
    );
    let of = |code: &str| found.iter().filter(|one| one["code"] == code).collect::<Vec<_>>();
    assert!(of("gone-tool").len() > 5, "{found:#?}");
    assert_eq!(of("new-tool")[0]["message"], "the tool `shred` is not annotated");
    assert_eq!(of("new-argument").len(), 1, "{found:#?}");
    let role = of("missing-role");
    assert_eq!(role.len(), 1, "{role:#?}");
    let message = role[0]["message"].as_str().expect("a message");
    assert!(
        message
            .starts_with("the argument `output_path` of `filesystem/search_files` has no role of a resource")
    );
    assert!(
        role[0]["file"]
            .as_str()
            .expect("a file")
            .ends_with("annotations.json")
    );
    assert!(
        role[0]["line"].is_number() && role[0]["help"].is_string(),
        "{role:#?}"
    );
    project.write("call.jsonl", role[0]["call"].to_string());
    let eval = project.run(&["eval", "--engine", "native", "call.jsonl"]);
    assert_ne!(eval.status.code(), Some(1), "{eval:?}");
    let sarif = project.run(&[
        "lint",
        "--sarif",
        "--server",
        "filesystem",
        "--tools",
        "tools.json",
    ]);
    let sarif = String::from_utf8(sarif.stdout).expect("UTF-8");
    assert!(sarif.contains(r#""ruleId":"missing-role""#), "{sarif}");
    project.check(
        &[
            "lint",
            "--deny-warnings",
            "--format",
            "human",
            "--server",
            "filesystem",
            "--tools",
            "tools.json",
        ],
        4,
        &["warning[missing-role]", "warning[new-tool]"],
        &[],
    );
    project.check(&["lint", "--tools", "tools.json"], 1, &[], &["--server"]);
    project.check(&["lint", "--server", "filesystem"], 1, &[], &["--tools"]);
    project.write("tools.json", "{");
    project.check(
        &["lint", "--server", "filesystem", "--tools", "tools.json"],
        4,
        &[],
        &["syntax"],
    );
}

/// The examples of the page about lint, and whether it names every code.
#[test]
fn the_page_about_lint_holds() {
    let page = callgate_core::docs::page("lint").expect("a page").text;
    for code in callgate_engine::diagnostic::Code::ALL {
        assert!(
            page.contains(&format!("`{}`", code.as_str())),
            "the page lacks `{}`",
            code.as_str()
        );
    }
    let mut examples = 0;
    for block in page.split("```json lints:").skip(1) {
        let (codes, rest) = block.split_once('\n').expect("a line");
        let (bundle, _) = rest.split_once("```").expect("an end");
        let project = Project::new();
        project.write("callgate.json", bundle);
        let found = findings(&project, &["lint"]);
        let found: Vec<&str> = found.iter().filter_map(|one| one["code"].as_str()).collect();
        let mut expected: Vec<&str> = codes.split(',').collect();
        let mut sorted = found.clone();
        sorted.sort_unstable();
        expected.sort_unstable();
        assert_eq!(sorted, expected, "{found:?}");
        examples += 1;
    }
    assert!(examples > 0);
}

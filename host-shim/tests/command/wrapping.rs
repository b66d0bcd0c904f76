//! The guard before the servers of an agent's configuration: `callgate wrap`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::guarding::{ECHO, Guarded};
use crate::project::Project;

#[test]
fn a_configuration_is_wrapped_and_comes_back_byte_for_byte() {
    let project = Project::new();
    let before = "{ // mine\n  \"mcpServers\": {\"s\": {\"command\": \"cat\", }, \"far\": {\"url\": \"unix:///run/far\"}}}";
    project.write(".mcp.json", before);
    let file = project.folder.path().join("project/.mcp.json");
    let text = || fs::read_to_string(&file).expect("a file");
    let wrap = |flags: &[&str], code, out: &[&str], err: &[&str]| {
        project.check(&[&["wrap", ".mcp.json"], flags].concat(), code, out, err);
    };
    wrap(&["--server", "no"], 4, &[], &["has no server `no`"]);
    wrap(&["--undo"], 1, &[], &["there is no `.mcp.json.callgate`"]);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("a mode");
    wrap(&[], 0, &[r#"{"wrapped":["s"],"already":[],"left":[["far","#], &[]);
    let mode = |file: &str| {
        let found = fs::metadata(project.folder.path().join("project").join(file));
        found.expect("a file").permissions().mode() & 0o777
    };
    // The kept file holds the same secrets, and nobody else may read it.
    assert_eq!((mode(".mcp.json"), mode(".mcp.json.callgate")), (0o640, 0o600));
    let wrapped = text();
    assert!(wrapped.starts_with("{ // mine"), "{wrapped}");
    assert!(wrapped.contains(r#"/.mcp.json","--","cat"]"#), "{wrapped}");
    wrap(&[], 0, &[r#"{"wrapped":[],"already":["s"]"#], &[]);
    wrap(&["--undo"], 0, &["restored"], &[]);
    assert_eq!(text(), before);
    wrap(&["--undo"], 1, &[], &["there is no"]);
}

#[test]
fn what_an_agent_changes_in_a_wrapped_configuration_stays() {
    let project = Project::new();
    let before = r#"{"mcpServers": {"s": {"command": "cat", "args": ["-u"]}}, "starts": 1}"#;
    project.write(".mcp.json", before);
    let check = |flags: &[&str], out: &[&str]| {
        project.check(&[&["wrap", ".mcp.json"], flags].concat(), 0, out, &[]);
    };
    // Agents write the whole file, each in its own way.
    let change = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = project.read(".mcp.json");
        change(&mut value);
        let text = serde_json::to_string_pretty(&value).expect("a text");
        project.write(".mcp.json", text);
    };
    check(&[], &[r#""wrapped":["s"]"#]);
    change(&|value| {
        value["starts"] = 2.into();
        value["mcpServers"]["t"] = serde_json::json!({"command": "tac"});
    });
    // A new server gets its guard, and the other one keeps the one that it has.
    check(&["--server", "t"], &[r#""wrapped":["t"],"already":["s"]"#]);
    check(&[], &[r#""wrapped":[],"already":["s","t"]"#]);
    change(&|value| value["starts"] = 3.into());
    check(&["--undo"], &["restored"]);
    let expected = serde_json::json!({
        "mcpServers": {"s": {"command": "cat", "args": ["-u"]}, "t": {"command": "tac", "args": []}}, "starts": 3,
    });
    assert_eq!(project.read(".mcp.json"), expected);
    assert!(!project.folder.path().join("project/.mcp.json.callgate").exists());
}

#[cfg(feature = "http")]
#[test]
fn an_address_comes_back_in_a_changed_configuration_unless_its_entry_was_changed() {
    let project = Project::new();
    let entry = r#"{ "type": "http", "url": "https://x/mcp", "headers": {"Authorization": "${T}"} }"#;
    let toml = "url = \"https://x/mcp\"\nbearer_token_env_var = \"T\"\n";
    let files = [
        (
            "agent.json",
            format!(r#"{{"mcpServers": {{"s": {entry}}}, "starts": 1}}"#),
            ["\"starts\": 1", "\"starts\": 2"],
            ["${T}", "${U}"],
        ),
        (
            "agent.toml",
            format!("starts = 1\n[mcp_servers.s]\n{toml}"),
            ["starts = 1", "starts = 2"],
            ["--token-env\", \"T\"", "--token-env\", \"U\""],
        ),
    ];
    for (file, before, [one, two], [own, foreign]) in files {
        let check = |flags: &[&str], code, out: &[&str], err: &[&str]| {
            project.check(&[&["wrap", file], flags].concat(), code, out, err);
        };
        let path = project.folder.path().join("project").join(file);
        let text = || fs::read_to_string(&path).expect("a file");
        let change = |from: &str, to: &str| {
            let text = text();
            assert!(text.contains(from), "{text}");
            project.write(file, text.replace(from, to));
        };
        project.write(file, &before);
        check(&[], 0, &[r#""wrapped":["s"]"#], &[]);
        change(one, two);
        change(own, foreign);
        let refused = ["from the address of `s`", "`before` of `agent."];
        check(&["--undo"], 1, &[], &refused);
        check(&[], 1, &[], &refused);
        change(foreign, own);
        check(&[], 0, &[r#""already":["s"]"#], &[]);
        change(two, one);
        check(&["--undo"], 0, &["restored"], &[]);
        assert_eq!(text(), before);
    }
}

#[test]
fn the_guard_protects_the_configuration_that_it_was_put_into() {
    let project = Project::new();
    let entry = serde_json::json!({"command": "sh", "args": ["-c", ECHO]});
    project.write(
        "agent.json",
        serde_json::json!({"mcpServers": {"filesystem": entry}}).to_string(),
    );
    // However the file is named.
    project.check(
        &["wrap", "../project/agent.json"],
        0,
        &[r#""wrapped":["filesystem"]"#],
        &[],
    );
    project.check(&["wrap", "agent.json"], 0, &[r#""already":["filesystem"]"#], &[]);
    let arguments = project.read("agent.json")["mcpServers"]["filesystem"]["args"].clone();
    let arguments: Vec<String> = serde_json::from_value(arguments).expect("arguments");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Wherever the agent starts it.
    let mut guarded = Guarded::begin(project.command("home", &arguments));
    let root = project.folder.path().join("project");
    for file in ["agent.json", "agent.json.callgate"] {
        let answer = guarded.ask(1, root.join(file).to_str().expect("UTF-8"));
        assert_eq!(
            answer["result"]["_meta"]["callgate/rule"], "structural-protected-path",
            "{file}: {answer}"
        );
    }
    guarded.end();
}

#[test]
fn only_what_wrapping_changed_is_undone() {
    // What stands there, and what somebody says was there.
    let cases = [
        // A command, a server, or another setting that was never there.
        (
            r#"{"mcpServers": {"s": {"command": "cat"}}}"#,
            r#"{"mcpServers": {"s": {"command": "evil"}}}"#,
        ),
        (
            r#"{"mcpServers": {"s": {"command": "cat"}}}"#,
            r#"{"mcpServers": {"s": {"command": "cat"}, "t": {"command": "evil"}}}"#,
        ),
        (
            r#"{"mcpServers": {"s": {"command": "cat"}}}"#,
            r#"{"mcpServers": {"s": {"command": "cat", "env": {"PATH": "/evil"}}}}"#,
        ),
        // A guard that wrapping did not write is not taken away.
        (
            r#"{"mcpServers": {"s": {"command": "/bin/callgate", "args": ["guard", "--bundle", "/b", "--server", "s", "--", "cat"]}}}"#,
            r#"{"mcpServers": {"s": {"command": "cat"}}}"#,
        ),
        (
            r#"{"mcpServers": {"s": {"command": "x", "args": ["guard", "--bundle", "/b", "--server", "s", "--wrapped", "/other", "--", "cat"]}}}"#,
            r#"{"mcpServers": {"s": {"command": "cat"}}}"#,
        ),
        // A part of the server's own command.
        (
            r#"{"mcpServers": {"s": {"command": "npx", "args": ["x", "--", "cat"]}}}"#,
            r#"{"mcpServers": {"s": {"command": "cat"}}}"#,
        ),
        (r#"{"mcpServers": {"s": {"command": "cat"}}}"#, "evil"),
    ];
    for (before, planted) in cases {
        let project = Project::new();
        let check = |flags: &[&str], code, out: &[&str], err: &[&str]| {
            project.check(&[&["wrap", "agent.json"], flags].concat(), code, out, err);
        };
        // Before the guard comes, and after.
        let write = |after: &str| {
            let kept = serde_json::json!({"format": "callgate-wrap/1", "before": planted, "after": after});
            project.write("agent.json.callgate", kept.to_string());
        };
        project.write("agent.json", before);
        write(before);
        let folder = project.folder.path().join("project");
        let text = || fs::read_to_string(folder.join("agent.json")).expect("a file");
        let refused = [
            "`before` of `agent.json.callgate` is not what was in `agent.json`",
            "expected",
        ];
        check(&[], 1, &[], &refused);
        check(&["--undo"], 1, &[], &refused);
        fs::remove_file(folder.join("agent.json.callgate")).expect("a file");
        check(&[], 0, &["wrapped"], &[]);
        let wrapped = text();
        write(&wrapped);
        check(&["--undo"], 1, &[], &refused);
        check(&["--undo", "--dry-run"], 1, &[], &refused);
        assert_eq!(text(), wrapped);
    }
}

#[test]
fn only_the_guard_itself_is_taken_for_one() {
    let project = Project::new();
    project.write(
        "agent.json",
        r#"{"mcpServers": {"named": {"command": "/tmp/callgate", "args": ["guard"]}, "s": {"command": "cat"}}}"#,
    );
    let check = |flags: &[&str], out: &[&str]| {
        project.check(&[&["wrap", "agent.json"], flags].concat(), 0, out, &[]);
    };
    let human = ["--format", "human"];
    check(
        &[
            "--observe",
            "--audit",
            "log.jsonl",
            "--server",
            "s",
            "--format",
            "human",
        ],
        &[
            "s: the guard is before it, and only observes: nothing is enforced",
            "named: not guarded: it was not asked for",
        ],
    );
    check(
        &human,
        &[
            "s: not guarded: the guard before it only observes",
            "named: the guard is before it",
        ],
    );
    check(
        &[],
        &[r#"{"wrapped":[],"already":["named"],"left":[["s","the guard before it only observes"#],
    );
    check(&["--undo"], &["restored"]);
    check(&[], &[r#"{"wrapped":["named","s"],"already":[],"left":[]}"#]);
    check(
        &["--audit", "log.jsonl"],
        &[
            r#""left":[["named","a guard is before it, with other arguments"#,
            r#"["s","a guard is before it, with other"#,
        ],
    );
}

#[test]
fn what_was_wrapped_in_steps_comes_back_byte_for_byte() {
    let project = Project::new();
    let before = "{\"mcpServers\": {\"a\": {\"command\": \"cat\", \"args\": [ \"--\", \"guard\" ]},\n\"-b\": {\"command\": \"cat\"}}}\n";
    project.write("agent.json", before);
    let check = |flags: &[&str]| {
        project.check(&[&["wrap", "agent.json"], flags].concat(), 0, &[""], &[]);
    };
    check(&["--server", "a", "--audit", "log.jsonl"]);
    check(&["--server=-b"]);
    check(&["--undo"]);
    let text = fs::read_to_string(project.folder.path().join("project/agent.json"));
    assert_eq!(text.expect("a file"), before);
}

#[cfg(feature = "http")]
#[test]
fn a_configuration_in_toml_is_wrapped_and_comes_back_byte_for_byte() {
    let project = Project::new();
    // Line ends of both kinds, which nothing but the text itself could bring back.
    let before =
        "# mine\r\n[mcp_servers.s]\ncommand = 'cat'\r\n\n[mcp_servers.far]\nurl = \"https://example.com\"\n";
    project.write("config.toml", before);
    let file = project.folder.path().join("project/config.toml");
    project.check(
        &["wrap", "config.toml"],
        0,
        &[r#"{"wrapped":["s","far"],"already":[],"left":[]}"#],
        &[],
    );
    let wrapped = fs::read_to_string(&file).expect("a file");
    assert!(
        wrapped.contains(r#"/config.toml", "--", "cat"]"#)
            && wrapped.contains(r#""--url", "https://example.com"]"#),
        "{wrapped}"
    );
    project.check(&["wrap", "config.toml"], 0, &[r#""already":["s","far"]"#], &[]);
    project.check(&["wrap", "config.toml", "--undo"], 0, &["restored"], &[]);
    assert_eq!(fs::read_to_string(&file).expect("a file"), before);
}

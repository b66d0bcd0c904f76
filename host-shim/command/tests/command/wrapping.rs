//! The guard before the servers of an agent's configuration: `callgate wrap`.

mod forms;

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
        project.check(
            &[&["wrap", "--anyway", ".mcp.json"], flags].concat(),
            code,
            out,
            err,
        );
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
        project.check(&[&["wrap", "--anyway", ".mcp.json"], flags].concat(), 0, out, &[]);
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

#[test]
fn a_guard_that_was_changed_by_hand_is_undone_with_the_others() {
    let project = Project::new();
    let json =
        r#"{"mcpServers": {"s": {"command": "cat", "args": ["-u"]}, "t": {"command": "cat", "args": []}}}"#;
    let toml = "[mcp_servers.s]\ncommand = \"cat\"\nargs = [\"-u\"]\n";
    for (file, before, [from, to]) in [
        (
            "agent.json",
            json,
            [r#""s","--wrapped""#, r#""s","--ask","120","--wrapped""#],
        ),
        (
            "agent.toml",
            toml,
            [r#""s", "--wrapped""#, r#""s", "--ask", "120", "--wrapped""#],
        ),
    ] {
        let path = project.folder.path().join("project").join(file);
        let text = || fs::read_to_string(&path).expect("a file");
        let check = |flags: &[&str], out: &[&str]| {
            project.check(&[&["wrap", "--anyway", file], flags].concat(), 0, out, &[]);
        };
        project.write(file, before);
        for is_wrapped_again in [false, true] {
            check(&[], &[r#""wrapped":["s""#]);
            let changed = text().replace(from, to);
            assert_ne!(changed, text());
            project.write(file, &changed);
            if is_wrapped_again {
                check(&[], &[r#"["s","a guard is before it, with other arguments"#]);
                assert_eq!(text(), changed);
            }
            check(&["--undo"], &["restored"]);
            assert_eq!(text(), before, "{file}");
        }
    }
}

#[test]
fn what_is_kept_stays_while_a_guard_stands() {
    let project = Project::new();
    let before = r#"{"mcpServers": {"s": {"command": "cat"}}}"#;
    let folder = project.folder.path().join("project");
    let place = fs::canonicalize(&folder).expect("a folder").join("agent.json");
    let place = place.to_str().expect("UTF-8");
    let program = env!("CARGO_BIN_EXE_callgate");
    let guard = |command: &[&str], more: serde_json::Value| {
        let mut entry = serde_json::json!({"command": command[0], "args": command[1..]});
        let members = entry.as_object_mut().expect("an object");
        members.extend(more.as_object().cloned().unwrap_or_default());
        serde_json::json!({"mcpServers": {"s": entry}})
    };
    let own = [
        program,
        "guard",
        "--bundle",
        "/b",
        "--server",
        "s",
        "--wrapped",
        place,
        "--",
        "cat",
    ];
    let flag = format!("--wrapped=/elsewhere{place}");
    let line = format!("exec {program} guard --bundle /b --server s -- cat");
    let cases = [
        // Without the flag, with another file, another server, and in another program.
        guard(&[&own[..6], &own[8..]].concat(), serde_json::json!({})),
        guard(&[&own[..6], &[&flag], &own[8..]].concat(), serde_json::json!({})),
        guard(&[&own[..5], &["t"], &own[6..]].concat(), serde_json::json!({})),
        guard(&[&["env", "A=1"], &own[..]].concat(), serde_json::json!({})),
        guard(&["sh", "-c", &line], serde_json::json!({})),
        // Beside an address, where no agent has servers, and as a value that cannot be a command.
        guard(&own, serde_json::json!({"url": "https://x"})),
        serde_json::json!({"mcpServers": {}, "disabledMcpServers": guard(&own, serde_json::json!({}))["mcpServers"]}),
        serde_json::json!({"mcpServers": {"s": {"command": {"linux": own}}}}),
    ];
    for changed in cases {
        let check = |flags: &[&str], code, out: &[&str], err: &[&str]| {
            project.check(
                &[&["wrap", "--anyway", "agent.json"], flags].concat(),
                code,
                out,
                err,
            );
        };
        project.write("agent.json", before);
        check(&[], 0, &["wrapped"], &[]);
        let kept = fs::read_to_string(folder.join("agent.json.callgate")).expect("a file");
        let changed = changed.to_string();
        project.write("agent.json", &changed);
        let refused = [
            "the guard cannot be taken from the entry of",
            "`before` of `agent.json.callgate`",
        ];
        for flags in [&["--undo"][..], &["--undo", "--dry-run"], &[]] {
            check(flags, 1, &[], &refused);
        }
        let text = |file: &str| fs::read_to_string(folder.join(file)).expect("a file");
        assert_eq!(text("agent.json"), changed);
        assert_eq!(text("agent.json.callgate"), kept);
        fs::remove_file(folder.join("agent.json.callgate")).expect("a file");
    }
    // A guard that somebody wrote for a server of his own is not one of them.
    project.write("agent.json", before);
    let check = |flags: &[&str]| {
        project.check(
            &[&["wrap", "--anyway", "agent.json"], flags].concat(),
            0,
            &[""],
            &[],
        )
    };
    check(&[]);
    let mut value = project.read("agent.json");
    value["mcpServers"]["own"] =
        serde_json::json!({"command": "callgate", "args": ["guard", "--server", "own", "--", "cat"]});
    project.write("agent.json", value.to_string());
    check(&["--undo"]);
    value["mcpServers"]["s"] = serde_json::json!({"command": "cat", "args": []});
    assert_eq!(project.read("agent.json"), value);
}

#[test]
fn a_person_is_asked_where_it_is_said() {
    let project = Project::new();
    project.write(
        "agent.json",
        r#"{"mcpServers": {"filesystem": {"command": "cat"}}}"#,
    );
    project.check(
        &["wrap", "agent.json", "--ask", "120"],
        0,
        &[r#""wrapped":["filesystem"]"#],
        &[],
    );
    let arguments = project.read("agent.json")["mcpServers"]["filesystem"]["args"].to_string();
    assert!(arguments.contains(r#""--ask","120","--wrapped""#), "{arguments}");
    project.check(
        &["wrap", "agent.json", "--ask", "120"],
        0,
        &[r#""already":["filesystem"]"#],
        &[],
    );
    project.check(&["wrap", "agent.json"], 0, &["with other arguments"], &[]);
    project.check(&["wrap", "agent.json", "--undo"], 0, &["restored"], &[]);
}

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
            project.check(&[&["wrap", "--anyway", file], flags].concat(), code, out, err);
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
        let refused = ["from the entry of `s`", "`before` of `agent."];
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
    project.check(
        &["wrap", "--anyway", "agent.json"],
        0,
        &[r#""already":["filesystem"]"#],
        &[],
    );
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
            project.check(
                &[&["wrap", "--anyway", "agent.json"], flags].concat(),
                code,
                out,
                err,
            );
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
        project.check(
            &[&["wrap", "--anyway", "agent.json"], flags].concat(),
            0,
            out,
            &[],
        );
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
        project.check(
            &[&["wrap", "--anyway", "agent.json"], flags].concat(),
            0,
            &[""],
            &[],
        );
    };
    check(&["--server", "a", "--audit", "log.jsonl"]);
    check(&["--server=-b"]);
    check(&["--undo"]);
    let text = fs::read_to_string(project.folder.path().join("project/agent.json"));
    assert_eq!(text.expect("a file"), before);
}

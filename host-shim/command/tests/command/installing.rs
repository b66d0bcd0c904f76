//! `callgate hook install`: what it writes into the settings of each agent.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::hooks::agents;
use crate::project::Project;

#[test]
fn installing_shows_first_and_keeps_what_is_there() {
    let project = Project::new();
    let settings = project.folder.path().join("home/.claude/settings.json");
    fs::create_dir(settings.parent().expect("a folder")).expect("a folder");
    let before = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": []\n    }\n}\n";
    fs::write(&settings, before).expect("settings");
    let install = [
        "hook",
        "install",
        "claude-code",
        "--user",
        "--bundle",
        "callgate.json",
    ];
    let human = [&install[..], &["--format", "human"]].concat();
    project.check(
        &human,
        0,
        &["+         \"PreToolUse\": [", "onFailure", "--write does it"],
        &[],
    );
    assert_eq!(fs::read_to_string(&settings).expect("settings"), before);
    let written = [&human[..], &["--write"]].concat();
    project.check(&written, 0, &["Written."], &[]);
    let after = fs::read_to_string(&settings).expect("settings");
    assert!(
        after.starts_with("{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [],\n"),
        "{after}"
    );
    let after: Value = serde_json::from_str(&after).expect("JSON");
    let hook = &after["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(hook["onFailure"], "block");
    // The text of a skill runs commands too.
    assert_eq!(&after["hooks"]["PreSkillShellCommand"][0]["hooks"][0], hook);
    assert!(
        hook["command"]
            .as_str()
            .is_some_and(|command| command.contains(" hook claude-code --bundle /"))
    );
    project.check(&human, 0, &["there already"], &[]);
    for agent in agents() {
        let install = [
            "hook",
            "install",
            agent,
            "--user",
            "--bundle",
            "callgate.json",
            "--write",
            "--format",
            "json",
        ];
        project.check(&install, 0, &["\"written\":true"], &[]);
        let again = project.run(&install);
        assert!(
            String::from_utf8_lossy(&again.stdout).contains("\"files\":[]"),
            "{agent}"
        );
    }
    for file in [
        ".codex/hooks.json",
        ".cursor/hooks.json",
        ".gemini/settings.json",
        ".copilot/hooks/callgate.json",
        ".copilot/hooks/callgate-vscode.json",
        ".agents/plugins/callgate/plugin.json",
        ".agents/plugins/callgate/hooks/hooks.json",
    ] {
        let text = fs::read_to_string(project.folder.path().join("home").join(file)).expect(file);
        serde_json::from_str::<Value>(&text).expect(file);
    }
}

#[test]
fn a_project_has_settings_of_its_own_and_the_hook_leaves_them_again() {
    let project = Project::new();
    let folder = project.folder.path().join("project");
    for (agent, file) in [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("cursor", ".cursor/hooks.json"),
        ("gemini-cli", ".gemini/settings.json"),
        ("copilot-cli", ".github/hooks/callgate.json"),
        ("vscode", ".github/hooks/callgate-vscode.json"),
        ("goose", ".agents/plugins/callgate/hooks/hooks.json"),
    ] {
        let hook = |what: &[&str], out: &str| {
            let all = [
                &["hook", what[0], agent, "--write", "--format", "json"],
                &what[1..],
            ]
            .concat();
            project.check(&all, 0, &[out], &[]);
        };
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let before = "{\n  \"hooks\": {\n    \"Stop\": [{\"command\": \"x\"}]\n  }\n}\n";
        fs::write(&path, before).expect("settings");
        let install = ["install", "--bundle", "callgate.json"];
        hook(&install, file);
        hook(&install, "\"files\":[]");
        let installed = hooks(&project.read(file)).len();
        assert!(installed > 1, "{agent}");
        hook(&["uninstall"], file);
        hook(&["uninstall"], "\"files\":[]");
        let after = project.read(file);
        assert_eq!(hooks(&after).len(), 1, "{agent}: {after}");
        assert_eq!(after["hooks"]["Stop"][0]["command"], "x");
    }
    let home = fs::read_dir(project.folder.path().join("home")).expect("a folder");
    assert_eq!(home.count(), 0, "the user's settings");
}

#[test]
fn what_a_team_commits_names_nothing_of_this_machine() {
    let project = Project::new();
    for (agent, variable) in [
        ("claude-code", "CLAUDE_PROJECT_DIR"),
        ("gemini-cli", "GEMINI_PROJECT_DIR"),
        ("cursor", "CURSOR_PROJECT_DIR"),
    ] {
        let install = [
            "hook",
            "install",
            agent,
            "--shared",
            "--bundle",
            "callgate.json",
            "--format",
            "json",
        ];
        let output = project.run(&install);
        let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = shown["files"][0]["text"].as_str().expect("settings");
        let settings: Value = serde_json::from_str(text).expect("JSON");
        let found = hooks(&settings);
        assert!(!found.is_empty());
        for hook in found {
            let command = hook["command"].as_str().expect("a command");
            let begin = format!("callgate hook {agent} --bundle \"${variable}\"/callgate.json");
            assert!(command.starts_with(&begin), "{command}");
        }
        project.check(
            &[&install[..], &["--write"]].concat(),
            0,
            &["\"written\":true"],
            &[],
        );
        let uninstall = ["hook", "uninstall", agent, "--write", "--format", "json"];
        project.check(&uninstall, 0, &["\"written\":true"], &[]);
    }
    let codex = [
        "hook",
        "install",
        "codex",
        "--shared",
        "--bundle",
        "callgate.json",
    ];
    project.check(&codex, 4, &[], &["does not tell its hooks where the project is"]);
    let other = ["hook", "install", "cursor", "--shared", "--bundle", "../home"];
    project.check(&other, 4, &[], &["is not in the project"]);
}

#[test]
fn settings_that_are_something_else_are_left_alone() {
    let project = Project::new();
    project.write("settings.json", "[]");
    let install = [
        "hook",
        "install",
        "gemini-cli",
        "--bundle",
        "callgate.json",
        "--settings",
        "settings.json",
        "--write",
    ];
    project.check(
        &install,
        4,
        &[],
        &["settings.json", "expected settings as a JSON object"],
    );
    let gone = ["hook", "install", "gemini-cli", "--bundle", "gone.json"];
    project.check(&gone, 4, &[], &["there is no `gone.json`"]);
}

/// Every hook in a file of settings: the object that holds its command.
fn hooks(value: &Value) -> Vec<&Value> {
    let is_hook = value.get("command").or(value.get("bash")).is_some();
    let below: Vec<&Value> = match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    let below = below.into_iter().flat_map(hooks);
    is_hook.then_some(value).into_iter().chain(below).collect()
}

#[test]
fn a_hook_that_cannot_run_denies() {
    let project = Project::new();
    for agent in agents() {
        let install = [
            "hook",
            "install",
            agent,
            "--bundle",
            "callgate.json",
            "--format",
            "json",
        ];
        let output = project.run(&[&install[..], &["--trust-ask"]].concat());
        let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = shown["files"][0]["text"].as_str().expect("settings");
        let settings: Value = serde_json::from_str(text).expect("JSON");
        let found = hooks(&settings);
        assert!(!found.is_empty(), "{agent}");
        for hook in found {
            let command = hook["command"]
                .as_str()
                .or(hook["bash"].as_str())
                .expect("a command");
            assert!(command.contains(" --trust-ask"), "{agent}: {command}");
            // The program is gone.
            let gone = command.replacen("/callgate hook", "/gone hook", 1);
            assert_ne!(command, gone);
            let ended = Command::new("sh")
                .args(["-c", &gone])
                .stdin(Stdio::null())
                .output();
            let ended = ended.expect("a shell");
            let code = ended.status.code();
            match agent {
                // These deny by their own switch, whatever the version that reads these settings.
                "cursor" => assert_eq!(hook["failClosed"], true),
                "goose" => assert_eq!(hook["on_failure"], "block"),
                // Every end but 0 denies there.
                "copilot-cli" => assert_ne!(code, Some(0)),
                _ => {
                    assert_eq!(code, Some(2), "{agent}: {command}");
                    // Codex takes an end without a word for a fault, and lets the call pass.
                    assert!(!ended.stderr.is_empty(), "{agent}");
                }
            }
        }
    }
}

#[test]
fn the_folder_of_a_bundle_stands_for_it_and_a_pipe_is_no_settings() {
    let project = Project::new();
    let install = ["hook", "install", "claude-code", "--bundle", ".", "--write"];
    project.check(&install, 0, &["/project/callgate.json"], &[]);
    project.write(
        ".mcp.json",
        r#"{"mcpServers": {"filesystem": {"command": "cat"}}}"#,
    );
    project.check(
        &["wrap", ".mcp.json", "--bundle", "."],
        0,
        &["\"wrapped\":[\"filesystem\"]"],
        &[],
    );
    let wrapped = project.read(".mcp.json");
    let words = wrapped["mcpServers"]["filesystem"]["args"].to_string();
    assert!(words.contains("/project/callgate.json"), "{words}");
    let settings = project.folder.path().join("project/.codex/hooks.json");
    fs::create_dir_all(settings.parent().expect("a folder")).expect("a folder");
    let made = Command::new("mkfifo").arg(&settings).status().expect("mkfifo");
    assert!(made.success());
    for arguments in [
        &["hook", "install", "codex", "--bundle", "callgate.json"][..],
        &["hook", "uninstall", "codex"],
    ] {
        project.check(arguments, 4, &[], &["is not a regular file"]);
    }
}

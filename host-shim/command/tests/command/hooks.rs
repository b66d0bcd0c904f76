//! `callgate hook` as agents run it: what each writes, and what it gets.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use callgate_hook::Agent;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::project::Project;

mod people;
mod stalled;
mod trusted;

pub(crate) fn agents() -> impl Iterator<Item = &'static str> {
    Agent::ALL.iter().map(|agent| agent.as_str())
}

/// A question and its answer. `ROOT` stands for the folder of the project and of the home.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The agent's input: an object, or a text that is not one.
    input: Value,
    code: i32,
    answer: String,
    said: String,
}

struct Hooked {
    project: Project,
    root: String,
}

impl Hooked {
    fn new() -> Self {
        let project = Project::new();
        let root = project.folder.path().canonicalize().expect("a directory");
        fs::create_dir(root.join("home/docs")).expect("a directory");
        fs::create_dir(root.join("project/src")).expect("a directory");
        project.write("callgate.json", include_str!("hooks/callgate.json"));
        let root = root.to_str().expect("UTF-8").to_owned();
        Self { project, root }
    }

    fn ask(&self, agent: &str, input: &str, flags: &[&str]) -> Output {
        self.ask_with(agent, input, flags, &[])
    }

    fn ask_with(&self, agent: &str, input: &str, flags: &[&str], variables: &[(&str, &str)]) -> Output {
        let bundle = format!("{}/project/callgate.json", self.root);
        let mut arguments = vec!["hook", agent];
        if !flags.contains(&"--bundle") {
            arguments.extend(["--bundle", &bundle]);
        }
        arguments.extend(flags);
        // Codex runs hooks where it is, and the others where they like.
        let place = if agent == "codex" { "project/src" } else { "home" };
        let mut command = self.project.command(place, &arguments);
        command
            .env("HOME", format!("{}/home", self.root))
            .env_remove("XDG_STATE_HOME")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the hook starts");
        let mut to = child.stdin.take().expect("an input");
        // A hook that is denied by its flags does not read.
        let _ = to.write_all(input.replace("ROOT", &self.root).as_bytes());
        drop(to);
        child.wait_with_output().expect("the hook ends")
    }

    /// The context of the last decision in a log.
    fn context(&self, log: &str) -> Value {
        let text = fs::read_to_string(log).expect("a log");
        let line: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
        line["context"].clone()
    }

    fn text(&self, bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec())
            .expect("UTF-8")
            .replace(&self.root, "ROOT")
    }
}

#[test]
fn every_agent_gets_its_answer_byte_for_byte() {
    let hooked = Hooked::new();
    let mut count = 0;
    for agent in agents() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/command/hooks/{agent}.jsonl"));
        let cases = fs::read_to_string(&file).expect("cases");
        for line in cases.lines() {
            let case: Case = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            let input = match &case.input {
                Value::String(text) => text.clone(),
                input => input.to_string(),
            };
            let output = hooked.ask(agent, &input, &[]);
            let found = (
                output.status.code(),
                hooked.text(&output.stdout),
                hooked.text(&output.stderr),
            );
            assert_eq!(
                found,
                (Some(case.code), case.answer, case.said),
                "{agent}: {}",
                case.name
            );
            count += 1;
        }
    }
    assert!(count > 100, "{count} cases");
}

#[test]
fn each_project_is_judged_by_its_own_bundle() {
    let hooked = Hooked::new();
    let root = Path::new(&hooked.root);
    for folder in ["project/.git", "project/package/.git", "other", "home/conf"] {
        fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    let closed = json!({"policy": {"rules": []}, "sandbox": ".", "annotations": {"servers": {}}});
    let open = json!({"policy": {"rules": [{"name": "open", "if": {"server": "claude-code"}, "then": "allow", "reason": "r"}]},
        "annotations": {"servers": {}}});
    fs::write(root.join("home/conf/callgate.json"), closed.to_string()).expect("a file");
    fs::write(root.join("project/package/callgate.json"), open.to_string()).expect("a file");
    let bundle = format!("{}/home/conf/callgate.json", hooked.root);
    let flags = ["--bundle", &*bundle, "--per-project"];
    let told = format!("{}/project", hooked.root);
    for (directory, tool, file, variable, expected) in [
        (
            "project",
            "Read",
            "ROOT/project/a",
            None,
            "structural-sandbox-allow",
        ),
        ("project/src", "Read", "ROOT/home/docs/a", None, "read-documents"),
        // What was fetched into it has no say.
        ("project/package", "Read", "ROOT/srv/a", None, "default-deny"),
        (
            "project/package",
            "Read",
            "ROOT/project/a",
            None,
            "structural-sandbox-allow",
        ),
        ("other", "Read", "ROOT/home/docs/a", None, "default-deny"),
        (
            "other",
            "Read",
            "ROOT/home/docs/a",
            Some(&*told),
            "read-documents",
        ),
        (
            "project",
            "Write",
            "ROOT/project/callgate.json",
            None,
            "structural-protected-path",
        ),
        (
            "project",
            "Write",
            "ROOT/project/new/callgate.json",
            None,
            "structural-protected-path",
        ),
        (
            "other",
            "Write",
            "ROOT/other/callgate.json",
            None,
            "structural-protected-path",
        ),
    ] {
        let input = json!({"hook_event_name": "PreToolUse", "cwd": format!("ROOT/{directory}"), "permission_mode": "default",
            "tool_name": tool, "tool_input": {"file_path": file}});
        let variables: Vec<(&str, &str)> = variable
            .map(|told| ("CLAUDE_PROJECT_DIR", told))
            .into_iter()
            .collect();
        let output = hooked.ask_with("claude-code", &input.to_string(), &flags, &variables);
        let answer = hooked.text(&output.stdout);
        assert!(
            answer.contains(&format!("`{expected}`")),
            "{directory} {file}: {answer}"
        );
    }
}

#[test]
fn whatever_is_wrong_with_the_hook_denies() {
    let hooked = Hooked::new();
    let question = r#"{"hook_event_name": "PreToolUse", "cwd": "ROOT/project", "tool_name": "Read", "tool_input": {"file_path": "a"}}"#;
    let bundle = format!("{}/project/gone.json", hooked.root);
    for (flags, expected) in [
        (&["--bundle", "callgate.json"][..], "expected an absolute one"),
        (&["--bundle", &bundle], "gone.json"),
        (&["--nonsense"], "unexpected argument"),
        (&["--audit", "log.jsonl"], "expected an absolute one"),
        (&["--audit", "/proc/log.jsonl"], "the log cannot be written"),
        (&["--options", r#"{"strict": 5}"#], "the documents are refused"),
    ] {
        let output = hooked.ask("claude-code", question, flags);
        let said = hooked.text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {said}");
        assert!(said.contains(expected), "{flags:?}: {said}");
        if expected != "unexpected argument" {
            let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
            assert_eq!(
                answer["hookSpecificOutput"]["permissionDecision"], "deny",
                "{flags:?}"
            );
        }
    }
    let output = hooked.ask("claude-code", &format!("{question}\u{0}"), &[]);
    assert_eq!(output.status.code(), Some(2));
    let relative = hooked.ask("claude-code", &question.replace("ROOT/project", "project"), &[]);
    assert!(
        hooked
            .text(&relative.stdout)
            .contains("the agent's directory `project` is not absolute")
    );
    let output = hooked.ask("nobody", question, &[]);
    assert_eq!(output.status.code(), Some(2));
    let output = hooked.project.run(&["--format", "json", "hook"]);
    assert_eq!(output.status.code(), Some(2));
    let output = hooked.project.run(&["hook", "install", "nobody"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn servers_that_are_known_take_names_apart() {
    let hooked = Hooked::new();
    let question = r#"{"sessionId": "s", "cwd": "ROOT/project", "toolName": "my-files-read", "toolArgs": {"path": "ROOT/home/docs/a"}}"#;
    let decision = |flags: &[&str]| {
        let output = hooked.ask("copilot-cli", question, flags);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        answer["permissionDecision"].as_str().map(str::to_owned)
    };
    hooked.project.edit("callgate.json", |bundle| {
        let tools = bundle["annotations"]["servers"]["files"].take();
        bundle["annotations"]["servers"] = json!({ "my-files": tools });
    });
    assert_eq!(decision(&[]).as_deref(), Some("deny"));
    assert_eq!(decision(&["--mcp-server", "my-files"]).as_deref(), Some("allow"));
    assert_eq!(decision(&["--mcp-server", "my"]).as_deref(), Some("deny"));
}

#[test]
fn the_documents_say_more_of_an_agents_tools() {
    let hooked = Hooked::new();
    hooked.project.edit("callgate.json", |bundle| {
        bundle["annotations"]["servers"]["claude-code"] =
            json!({"tools": [{"toolName": "Teleport", "args": {"to": "write-path"}}]});
        bundle["options"] = json!({"serverAliases": {"other": "git"}, "strict": false});
    });
    for (tool, argument, expected) in [
        ("Teleport", json!({"to": "a"}), "allow"),
        ("Teleport", json!({"to": "/srv"}), "deny"),
        ("Read", json!({"file_path": "a"}), "allow"),
    ] {
        let question = json!({"hook_event_name": "PreToolUse", "cwd": "ROOT/project", "tool_name": tool, "tool_input": argument});
        let output = hooked.ask("claude-code", &question.to_string(), &[]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        assert_eq!(
            answer["hookSpecificOutput"]["permissionDecision"], expected,
            "{question}"
        );
    }
}

#[test]
fn a_shell_that_the_documents_describe_anew_is_asked_about_as_before() {
    let hooked = Hooked::new();
    hooked.project.edit("callgate.json", |bundle| {
        bundle["annotations"]["servers"]["claude-code"] =
            json!({"tools": [{"toolName": "Bash", "kind": "execute", "args": {"command": "none"}}]});
        bundle["policy"]["rules"] = json!([
            {"name": "make", "if": {"tool": "Bash", "args": [{"arg": "command", "equals": "make"}]}, "then": "allow", "reason": "r"},
            {"name": "all", "if": {"server": "claude-code"}, "then": "allow", "reason": "r"},
        ]);
    });
    for (argument, expected) in [
        (json!({"command": "make"}), "allow"),
        (json!({"command": "ls"}), "ask"),
        (
            json!({"command": "make", "dangerouslyDisableSandbox": true}),
            "ask",
        ),
    ] {
        let question = json!({"hook_event_name": "PreToolUse", "cwd": "ROOT/project", "permission_mode": "default",
            "tool_name": "Bash", "tool_input": argument});
        let output = hooked.ask("claude-code", &question.to_string(), &[]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        assert_eq!(
            answer["hookSpecificOutput"]["permissionDecision"], expected,
            "{question}"
        );
    }
}

#[test]
fn the_files_that_an_agent_takes_variables_from_are_protected() {
    let hooked = Hooked::new();
    hooked
        .project
        .edit("callgate.json", |bundle| bundle["protectedPaths"] = json!([]));
    let written = |path: &str| json!({"file_path": path, "content": "BASH_ENV=x"});
    let patched = |path: &str| json!({"command": format!("*** Begin Patch\n*** Add File: {path}\n+BASH_ENV=x\n*** End Patch")});
    for (agent, event, tool, input, is_denied) in [
        (
            "gemini-cli",
            "BeforeTool",
            "write_file",
            written("ROOT/project/.env"),
            true,
        ),
        (
            "gemini-cli",
            "BeforeTool",
            "write_file",
            written(".gemini/.env"),
            true,
        ),
        ("gemini-cli", "BeforeTool", "write_file", written("env"), false),
        ("codex", "PreToolUse", "apply_patch", patched(".codex/.env"), true),
        ("codex", "PreToolUse", "apply_patch", patched(".env"), false),
    ] {
        let question =
            json!({"hook_event_name": event, "cwd": "ROOT/project", "tool_name": tool, "tool_input": input});
        let output = hooked.ask(agent, &question.to_string(), &[]);
        let answer = hooked.text(&output.stdout);
        assert_eq!(
            answer.contains("structural-protected-path"),
            is_denied,
            "{question}: {answer}"
        );
    }
}

#[test]
fn a_rule_that_denies_does_so_whatever_its_name_is() {
    let hooked = Hooked::new();
    for name in ["default-deny", "trusted-server", "nothing-else"] {
        hooked.project.edit("callgate.json", |bundle| {
            bundle["policy"]["rules"] =
                json!([{ "name": name, "if": {}, "then": "deny", "reason": "Nothing else" }]);
        });
        for (tool, argument) in [
            ("Bash", json!({"command": "make"})),
            ("TodoWrite", json!({"todos": []})),
        ] {
            let question = json!({"hook_event_name": "PreToolUse", "cwd": "ROOT/project", "tool_name": tool, "tool_input": argument});
            let output = hooked.ask("claude-code", &question.to_string(), &[]);
            let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
            assert_eq!(
                answer["hookSpecificOutput"]["permissionDecision"], "deny",
                "{name}: {question}"
            );
        }
    }
}

#[test]
fn a_path_that_is_relative_to_another_argument_stays_so_however_the_annotation_is_written() {
    let hooked = Hooked::new();
    hooked.project.edit("callgate.json", |bundle| {
        let files = json!({"roles": "read-path", "relativeTo": "repo_path"});
        bundle["annotations"]["servers"]["git"] =
            json!({"tools": [{"toolName": "git_add", "args": {"repo_path": "read-path", "files": files}}]});
    });
    let bundle = hooked.project.read("callgate.json").to_string();
    let escaped = [
        ("git_add", "git_\\u0061dd"),
        ("\"relativeTo\"", "\"rel\\u0061tiveTo\""),
        ("\"files\"", "\"f\\u0069les\""),
    ];
    let spelled = escaped.iter().map(|(from, to)| bundle.replace(from, to));
    for bundle in std::iter::once(bundle.clone()).chain(spelled) {
        hooked.project.write("callgate.json", &bundle);
        let question = json!({"hook_event_name": "PreToolUse", "cwd": "ROOT/home/docs", "tool_name": "mcp__git__git_add",
            "tool_input": {"repo_path": "ROOT/project", "files": ["a"]}});
        let output = hooked.ask("claude-code", &question.to_string(), &[]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        let answer = &answer["hookSpecificOutput"];
        assert_eq!(answer["permissionDecision"], "allow", "{bundle}");
        // It is what was given, and not a path below the agent's directory.
        assert_eq!(answer["updatedInput"], Value::Null, "{bundle}");
    }
}

#[test]
fn decisions_are_in_the_log_before_they_are_told() {
    let hooked = Hooked::new();
    let log = format!("{}/project/log.jsonl", hooked.root);
    for path in ["a", "/srv/a", "log.jsonl"] {
        let question = json!({"hook_event_name": "PreToolUse", "cwd": "ROOT/project", "tool_name": "Write",
            "tool_input": {"file_path": path, "content": "x"}});
        hooked.ask("claude-code", &question.to_string(), &["--audit", &log]);
    }
    let text = fs::read_to_string(&log).expect("a log");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let decided = |at: usize| (lines[at]["decision"].as_str(), lines[at]["rule"].as_str());
    assert_eq!(lines.len(), 3);
    assert_eq!(decided(0), (Some("allow"), Some("structural-sandbox-allow")));
    assert_eq!(decided(1), (Some("deny"), Some("default-deny")));
    assert_eq!(decided(2), (Some("deny"), Some("structural-protected-path")));
    assert_eq!(lines[0]["server"], "claude-code");
    assert!(lines[0]["sent"].is_string() && lines[1]["sent"].is_null());
    hooked
        .project
        .check(&["audit", "verify", "log.jsonl"], 0, &["3"], &[]);
}

#[test]
fn settings_are_protected_where_a_variable_moves_them() {
    let hooked = Hooked::new();
    let question = |path: &str| {
        json!({"hook_event_name": "PreToolUse", "cwd": "ROOT/project", "tool_name": "Write",
            "tool_input": {"file_path": path, "content": "{}"}})
        .to_string()
    };
    let moved = format!("{}/project/moved", hooked.root);
    for (variable, agent, file, expected) in [
        (Some("CLAUDE_CONFIG_DIR"), "claude-code", "settings.json", "deny"),
        (Some("CLAUDE_CONFIG_DIR"), "claude-code", "notes.md", "allow"),
        (None, "claude-code", "settings.json", "allow"),
    ] {
        let variables = variable.map(|variable| (variable, moved.as_str()));
        let question = question(&format!("{moved}/{file}"));
        let output = hooked.ask_with(agent, &question, &[], variables.as_slice());
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        assert_eq!(
            answer["hookSpecificOutput"]["permissionDecision"], expected,
            "{variable:?} {file}"
        );
    }
}

#[test]
fn rules_look_at_who_asks() {
    let hooked = Hooked::new();
    hooked.project.edit("callgate.json", |bundle| {
        let rules = bundle["policy"]["rules"].as_array_mut().expect("rules");
        let context = json!({"agent": "claude-code", "session": "s-1", "subject": "ann"});
        rules.insert(
            0,
            json!({"name": "not so", "if": {"roles": "read-path", "context": context}, "then": "deny", "reason": "No"}),
        );
    });
    let log = format!("{}/log.jsonl", hooked.root);
    let denied = |session: Value, flags: &[&str]| {
        let mut question = json!({"hook_event_name": "PreToolUse", "cwd": "ROOT/project", "tool_name": "Read",
            "permission_mode": "default", "tool_input": {"file_path": "ROOT/project/src/a"}});
        question["session_id"] = session;
        let flags = [flags, &["--audit", &log]].concat();
        let output = hooked.ask("claude-code", &question.to_string(), &flags);
        hooked.text(&output.stdout).contains("(rule `not so`)")
    };
    let ann = ["--subject", "ann"];
    assert!(denied(json!("s-1"), &ann));
    assert_eq!(
        hooked.context(&log),
        json!({"subject": "ann", "agent": "claude-code", "session": "s-1"})
    );
    assert!(!denied(json!("s-2"), &ann));
    assert!(!denied(json!("s-1"), &["--subject", "bob"]));
    // What is not said may be so.
    assert!(denied(json!("s-1"), &[]));
    assert!(denied(json!(7), &ann));
    assert_eq!(
        hooked.context(&log),
        json!({"subject": "ann", "agent": "claude-code"})
    );
}

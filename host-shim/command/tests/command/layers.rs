//! Layers: bundles that stand above a project's, before guards and hooks and in what is written for them.

mod analysed;
#[cfg(feature = "serve")]
mod serving;
mod signed;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::guarding::{ECHO, Guarded, log, until};
use crate::project::{Project, call};

/// What is expected of a call, as `layers/cases.jsonl` has it.
const CASES: &str = include_str!("layers/cases.jsonl");

const ABOVE: [&str; 4] = ["--above", "../organisation", "--above", "../user"];

/// The layers of `examples/layers` in a home directory, with a project to work in.
fn layered() -> Project {
    let project = Project::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/layers");
    for name in [
        "filesystem.json",
        "organisation/callgate.json",
        "user/callgate.json",
        "project/callgate.json",
    ] {
        let to = place(&project, name);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(example.join(name), to).expect("a file");
    }
    project
}

/// A file in the home directory.
fn place(project: &Project, name: &str) -> PathBuf {
    project.folder.path().join("home").join(name)
}

fn edit(project: &Project, name: &str, change: impl FnOnce(&mut Value)) {
    let text = fs::read_to_string(place(project, name)).expect("a file");
    let mut document = serde_json::from_str(&text).expect("JSON");
    change(&mut document);
    fs::write(place(project, name), document.to_string()).expect("a file");
}

/// Runs the command in the project, and gives its exit code and both outputs.
fn run(project: &Project, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = project.run_in("home/project", arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn refused(project: &Project, arguments: &[&str], code: i32, expected: &str) {
    let (found, out, err) = run(project, arguments);
    assert_eq!(found, Some(code), "{arguments:?}\n{out}\n{err}");
    assert!(
        err.contains(expected) || out.contains(expected),
        "{arguments:?}\n{out}\n{err}"
    );
}

/// The verdict of each layer.
fn said(explanation: &Value) -> Vec<&str> {
    let layers = explanation["layers"].as_array().expect("layers").iter();
    let said = layers.map(|one| match one["left"] == true {
        true => Some("left"),
        false => one["verdict"]["decision"].as_str(),
    });
    said.map(|one| one.expect("a decision")).collect()
}

#[test]
fn the_cases_are_judged_as_they_say() {
    let project = layered();
    let cases: Vec<Value> = CASES
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let calls: Vec<String> = cases.iter().map(|case| case["call"].to_string()).collect();
    fs::write(place(&project, "calls.jsonl"), calls.join("\n")).expect("a file");
    let component = cfg!(feature = "component").then_some("component");
    for engine in ["native"].into_iter().chain(component) {
        let flags = [&["explain", "../calls.jsonl", "--engine", engine], &ABOVE[..]].concat();
        let (_, out, err) = run(&project, &flags);
        let answers: Vec<Value> = out
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(answers.len(), cases.len(), "{err}");
        for (case, answer) in cases.iter().zip(&answers) {
            let explanation = &answer["explanation"];
            assert_eq!(answer["decision"], case["decision"], "{case}\n{answer}");
            assert_eq!(answer["rule"], case["rule"], "{case}\n{answer}");
            assert_eq!(json!(said(explanation)), case["layers"], "{case}");
            let layer = explanation["layer"].as_str().expect("a layer");
            let expected = case["layer"].as_str().expect("a layer");
            let is_it = match expected {
                "project" => layer == "callgate.json",
                _ => layer == format!("../{expected}/callgate.json"),
            };
            assert!(is_it, "{case}: {layer}");
        }
    }
}

#[test]
fn a_person_is_shown_what_each_layer_says() {
    let project = layered();
    let call = call("filesystem", "read_text_file", json!({"path": "~/notes"}));
    let flags = [&["explain", "--format", "human", &call], &ABOVE[..]].concat();
    let (code, out, _) = run(&project, &flags);
    assert_eq!(code, Some(3), "{out}");
    for line in [
        "layers",
        "../organisation/callgate.json: allow",
        "../user/callgate.json: allow",
        "callgate.json: escalate",
        "what follows is of layer callgate.json",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
}

#[test]
fn what_looks_at_one_policy_refuses_layers() {
    let project = layered();
    for command in [
        &["lint"][..],
        &["check"],
        &["test"],
        &["suggest", "../calls.jsonl"],
    ] {
        let flags = [command, &ABOVE[..]].concat();
        refused(&project, &flags, 1, "--above: this command looks at one policy");
    }
    let call = call("filesystem", "read_text_file", json!({"path": "~/notes"}));
    for flag in [&["--suggest"][..], &["--record", "r.jsonl"]] {
        let flags = [&["explain", &call], flag, &ABOVE[..]].concat();
        refused(&project, &flags, 1, "--record and --suggest are about one bundle");
    }
}

#[test]
fn layers_that_cannot_be_used_are_refused() {
    let project = layered();
    let call = call("filesystem", "read_text_file", json!({"path": "a.txt"}));
    let eval = |flags: &[&'static str], expected: &str| {
        let (code, out, err) = run(&project, &[&["eval", &call], flags].concat());
        assert_eq!((code, &*out), (Some(4), ""), "{flags:?} {err}");
        assert!(err.contains(expected), "{flags:?}: {err}");
    };
    eval(&["--above", "../nowhere"], "cannot read `../nowhere`");
    eval(
        &["--above", "../user", "--above", "../user"],
        "two are called `../user/callgate.json`",
    );
    eval(
        &["--above", "../user", "--above-key", "../acme.pub"],
        "../acme.pub",
    );
    eval(&["--above", "https://h.example/b"], "no key is pinned");
    fs::write(place(&project, "user/callgate.json"), "{\"leaves\": 5}").expect("a file");
    eval(
        &["--above", "../user"],
        "found `5`, expected the name of a server",
    );
    let flags = [
        "eval",
        &call,
        "--above",
        "../organisation",
        "--above-key",
        "k",
        "--above-name",
        "a",
        "--above-name",
        "b",
    ];
    refused(&project, &flags, 1, "expected once for each --above: 1");
}

/// Asks for a write, and gives the answer.
fn write(guarded: &mut Guarded, path: &str) -> Value {
    guarded.send(&json!({"jsonrpc": "2.0", "id": 40, "method": "tools/call",
        "params": {"name": "write_file", "arguments": {"path": path, "content": ""}}}));
    guarded.receive()
}

fn guard(project: &Project, flags: &[&str]) -> Guarded {
    let log = project.folder.path().join("project/log.jsonl");
    let log = log.to_str().expect("UTF-8");
    let arguments = [
        &["guard", "--server", "filesystem", "--audit", log],
        flags,
        &["--", "sh", "-c", ECHO],
    ];
    Guarded::begin(project.command("home/project", &arguments.concat()))
}

#[test]
fn no_layer_keeps_another_from_being_taken_up_above_it() {
    for lower in ["project", "user"] {
        let project = layered();
        let mut guarded = guard(&project, &ABOVE);
        let rule = |answer: &Value| answer["result"]["_meta"]["callgate/rule"].clone();
        assert_eq!(guarded.ask(1, "a.txt")["result"], json!({"content": []}));
        let refusals = || {
            let log = log(&project).into_iter();
            let refused = log.filter(|line| line["kind"] == "reload" && line.get("refused").is_some());
            refused.count()
        };
        let file = place(&project, &format!("{lower}/callgate.json"));
        let good = fs::read(&file).expect("a file");
        fs::write(&file, "{").expect("a file");
        until(|| refusals() == 1);
        assert_eq!(guarded.ask(2, "a.txt")["result"], json!({"content": []}));
        edit(&project, "organisation/callgate.json", |bundle| {
            let deny = json!({"name": "no-a", "then": "deny", "reason": "r", "if": {"tool": "*"}});
            let rules = bundle["policy"]["rules"].as_array_mut();
            rules.expect("rules").insert(0, deny);
        });
        until(|| refusals() == 3);
        assert_eq!(
            rule(&guarded.ask(3, "a.txt")),
            "structural-expired-bundle",
            "{lower}"
        );
        fs::write(&file, good).expect("a file");
        until(|| rule(&guarded.ask(4, "a.txt")) == "no-a");
        let (code, err) = guarded.end();
        assert_eq!(code, Some(0), "{err}");
    }
}

#[test]
fn a_guard_judges_by_all_layers_and_takes_up_each_that_changes() {
    let project = layered();
    let mut guarded = guard(&project, &ABOVE);
    let passed = json!({"content": []});
    let rule = |answer: &Value| answer["result"]["_meta"]["callgate/rule"].clone();
    assert_eq!(guarded.ask(1, "x/../a.txt")["result"], passed);
    assert_eq!(rule(&guarded.ask(2, "~/diary/a")), "deny-diary");
    assert_eq!(rule(&guarded.ask(3, "~/notes")), "ask-rest");
    // Whoever writes a layer decides what is allowed.
    for path in [
        "callgate.json",
        "~/organisation/callgate.json",
        "~/user/callgate.json",
        "~/filesystem.json",
    ] {
        assert_eq!(
            rule(&write(&mut guarded, path)),
            "structural-protected-path",
            "{path}"
        );
    }
    let reloads = |refused: bool| {
        let log = log(&project).into_iter();
        let reloads = log.filter(|line| line["kind"] == "reload" && line.get("refused").is_some() == refused);
        reloads.count()
    };
    // One that is broken is not taken up, and the last good ones stay.
    let good = fs::read(place(&project, "user/callgate.json")).expect("a file");
    fs::write(place(&project, "user/callgate.json"), "{").expect("a file");
    until(|| reloads(true) == 1);
    assert_eq!(rule(&guarded.ask(5, "~/diary/a")), "deny-diary");
    assert_eq!(guarded.ask(6, "a.txt")["result"], passed);
    fs::write(place(&project, "user/callgate.json"), good).expect("a file");
    until(|| reloads(false) == 1);
    let organised = fs::read(place(&project, "organisation/callgate.json")).expect("a file");
    edit(&project, "organisation/callgate.json", |bundle| {
        bundle["policy"]["rules"] = json!([])
    });
    until(|| reloads(false) == 2);
    assert_eq!(rule(&guarded.ask(7, "a.txt")), "default-deny");
    let (code, err) = guarded.end();
    assert_eq!(code, Some(0), "{err}");
    let decisions: Vec<Value> = log(&project)
        .into_iter()
        .filter(|line| line["kind"] == "decision")
        .collect();
    let layers: Vec<&str> = decisions
        .iter()
        .map(|line| line["layer"].as_str().expect("a layer"))
        .collect();
    let (organisation, user) = ("../organisation/callgate.json", "../user/callgate.json");
    assert_eq!(layers[..3], [organisation, user, "callgate.json"]);
    assert_eq!(layers.last(), Some(&organisation));
    assert_ne!(
        decisions[0]["policy"],
        decisions.last().expect("a decision")["policy"]
    );
    // The log is judged alike by the layers that wrote it.
    let log = project.folder.path().join("project/log.jsonl");
    let replay = [
        &["replay", log.to_str().expect("UTF-8"), "--format", "json"],
        &ABOVE[..],
    ]
    .concat();
    let changes = |arguments: &[&str]| {
        let (_, out, err) = run(&project, arguments);
        let said: Value = serde_json::from_str(out.lines().last().unwrap_or_default())
            .unwrap_or_else(|_| panic!("{out}{err}"));
        let changes = said["changes"].as_array().expect("changes").clone();
        changes
            .iter()
            .map(|change| {
                format!(
                    "{} {}",
                    change["before"]["rule"].as_str().expect("a rule"),
                    change["after"]["rule"].as_str().expect("a rule")
                )
            })
            .collect::<Vec<_>>()
    };
    fs::write(place(&project, "organisation/callgate.json"), organised).expect("a file");
    // What a guard itself protects no document names.
    let found = changes(&replay).into_iter();
    let found: Vec<String> = found
        .filter(|change| !change.starts_with("structural-protected-path"))
        .collect();
    assert_eq!(found, ["default-deny allow-home"]);
}

#[test]
fn a_guard_lists_what_every_layer_shows() {
    let lists = r#"while IFS= read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"read_text_file","inputSchema":{"type":"object"}},{"name":"write_file","inputSchema":{"type":"object"}},{"name":"grep","inputSchema":{"type":"object"}}]}}\n' "$id"
    done"#;
    let project = layered();
    edit(&project, "user/callgate.json", |bundle| {
        let deny = json!({"name": "no-writes", "if": {"roles": "write-path"}, "then": "deny", "reason": "r"});
        bundle["policy"]["rules"]
            .as_array_mut()
            .expect("rules")
            .insert(0, deny);
    });
    let listed = |server: &str| {
        let arguments = [
            &["guard", "--server", server],
            &ABOVE[..],
            &["--", "sh", "-c", lists],
        ]
        .concat();
        let mut guarded = Guarded::begin(project.command("home/project", &arguments));
        guarded.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        let answer = guarded.receive();
        let tools = answer["result"]["tools"].as_array().expect("tools").iter();
        let names: Vec<String> = tools
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect();
        (names, guarded.end().1)
    };
    let (names, said) = listed("filesystem");
    assert_eq!((names, &*said), (vec!["read_text_file".to_owned()], ""));
    let (names, said) = listed("project-search");
    assert_eq!((names, &*said), (vec!["grep".to_owned()], ""));
    let (names, said) = listed("weather");
    assert_eq!(names, [""; 0]);
    assert!(said.contains("no tool of this server is annotated"), "{said}");
}

#[test]
fn hooks_and_configurations_carry_the_layers() {
    let project = layered();
    let home = project
        .folder
        .path()
        .join("home")
        .canonicalize()
        .expect("a folder");
    let shown = |name: &str| home.join(name).to_str().expect("UTF-8").to_owned();
    let install = [
        "hook",
        "install",
        "claude-code",
        "--bundle",
        "callgate.json",
        "--above",
        "../organisation",
        "--write",
    ];
    let (code, out, err) = run(&project, &install);
    assert_eq!(code, Some(0), "{out}{err}");
    let settings = fs::read_to_string(place(&project, "project/.claude/settings.json")).expect("settings");
    let above = format!("--above {}", shown("project/../organisation/callgate.json"));
    assert!(settings.contains(&above), "{settings}");
    let servers = json!({"mcpServers": {"filesystem": {"command": "cat"}, "project-search": {"command": "cat"},
        "weather": {"command": "cat"}}});
    fs::write(place(&project, "project/.mcp.json"), servers.to_string()).expect("a file");
    let wrap = [
        "wrap",
        ".mcp.json",
        "--bundle",
        "callgate.json",
        "--above",
        "../organisation",
    ];
    let (code, out, err) = run(&project, &wrap);
    assert_eq!(code, Some(0), "{out}{err}");
    let text = fs::read_to_string(place(&project, "project/.mcp.json")).expect("a file");
    let wrapped: Value = serde_json::from_str(&text).expect("JSON");
    let words = |server: &str| wrapped["mcpServers"][server]["args"].to_string();
    for server in ["filesystem", "project-search"] {
        assert!(
            words(server).contains("--above") && words(server).contains("organisation/callgate.json"),
            "{wrapped}"
        );
    }
    assert!(!words("weather").contains("--above"), "{wrapped}");
}

#[test]
fn a_hook_judges_by_all_layers_also_what_its_agent_has_itself() {
    let project = layered();
    let home = project
        .folder
        .path()
        .join("home")
        .canonicalize()
        .expect("a folder");
    let shown = |name: &str| home.join(name).to_str().expect("UTF-8").to_owned();
    let question = |tool: &str, input: Value| {
        json!({"session_id": "s", "transcript_path": "/t", "cwd": shown("project"), "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": input, "permission_mode": "default"})
    };
    let bundle = shown("project/callgate.json");
    let organisation = shown("organisation");
    let ask = |tool: &str, input: Value| {
        let arguments = [
            "hook",
            "claude-code",
            "--bundle",
            &bundle,
            "--above",
            &organisation,
        ];
        let mut command = project.command("home/project", &arguments);
        fs::write(
            place(&project, "question.json"),
            question(tool, input).to_string(),
        )
        .expect("a file");
        command.stdin(fs::File::open(place(&project, "question.json")).expect("a file"));
        let answer: Value =
            serde_json::from_slice(&command.output().expect("an answer").stdout).expect("JSON");
        answer["hookSpecificOutput"]["permissionDecision"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let path = |name: &str| json!({"path": name});
    assert_eq!(ask("mcp__filesystem__read_text_file", path("a.txt")), "allow");
    assert_eq!(
        ask("mcp__filesystem__read_text_file", path("/etc/passwd")),
        "deny"
    );
    assert_eq!(ask("mcp__filesystem__read_text_file", path(&organisation)), "ask");
    // The organisation has no rule for the agent's own tools but that about paths, and does not leave them.
    assert_eq!(ask("Read", json!({"file_path": shown("project/a.txt")})), "allow");
    assert_eq!(ask("Read", json!({"file_path": "/etc/passwd"})), "deny");
    edit(&project, "organisation/callgate.json", |bundle| {
        bundle["policy"]["rules"] = json!([])
    });
    assert_eq!(ask("Read", json!({"file_path": shown("project/a.txt")})), "deny");
    edit(&project, "organisation/callgate.json", |bundle| {
        bundle["leaves"] = json!("claude-*")
    });
    assert_eq!(ask("Read", json!({"file_path": shown("project/a.txt")})), "allow");
    assert_eq!(ask("mcp__filesystem__read_text_file", path("a.txt")), "deny");
    assert_eq!(ask("Read", json!({"file_path": shown("project/.env")})), "deny");
    assert_eq!(ask("Read", json!({"file_path": shown(".ssh/id")})), "deny");
    assert_eq!(
        ask(
            "Write",
            json!({"file_path": shown("organisation/callgate.json"), "content": "{}"})
        ),
        "deny"
    );
}

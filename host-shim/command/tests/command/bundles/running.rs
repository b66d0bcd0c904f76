//! Signed bundles behind a guard and a hook, and in what is written for them.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{PINNED, sign, signed};
use crate::guarding::{ECHO, Guarded, log, until};

pub(crate) fn in_seconds(seconds: u64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time")
        .as_secs();
    let output = std::process::Command::new("date")
        .args(["-u", "-d", &format!("@{}", now + seconds), "+%Y-%m-%dT%H:%M:%SZ"])
        .output()
        .expect("a date");
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

#[test]
fn a_guard_takes_up_a_changed_bundle_and_denies_once_it_has_expired() {
    let project = signed();
    let flags = [PINNED.as_slice(), &["--audit", "log.jsonl"]].concat();
    let mut guarded = Guarded::start(&project, &flags, ECHO);
    assert_eq!(guarded.ask(1, "a.txt")["result"], json!({"content": []}));
    for (id, path) in [
        (2, "acme.json"),
        (3, "acme.pub"),
        (4, "~/.local/state/callgate/bundles/acme.json"),
    ] {
        let denied = guarded.ask(id, path);
        assert_eq!(
            denied["result"]["_meta"]["callgate/rule"], "structural-protected-path",
            "{path}"
        );
    }
    let reloads = || {
        log(&project)
            .iter()
            .filter(|line| line["kind"] == "reload")
            .cloned()
            .collect::<Vec<_>>()
    };
    // A bundle that was changed by somebody else is not taken up.
    let good = project.read("acme.json");
    let mut changed = good.clone();
    changed["signatures"] = json!([]);
    project.write("acme.json", changed.to_string());
    until(|| reloads().len() == 1);
    assert!(
        reloads()[0].to_string().contains("it has no signature"),
        "{:?}",
        reloads()
    );
    assert_eq!(guarded.ask(5, "a.txt")["result"], json!({"content": []}));
    project.edit("callgate.json", |bundle| bundle["sandbox"] = Value::Null);
    sign(&project, 8, &in_seconds(6));
    until(|| reloads().iter().any(|line| line.get("refused").is_none()));
    assert_eq!(guarded.ask(6, "a.txt")["result"]["isError"], true);
    // What the policy allows is denied too when its time is over.
    let documents = "~/Documents/a.txt";
    until(|| {
        std::thread::sleep(Duration::from_millis(200));
        guarded.ask(7, documents)["result"]["_meta"]["callgate/rule"] == "structural-expired-bundle"
    });
    // So is what no rule is asked about.
    let lists = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "list_allowed_directories"}});
    guarded.send(&lists);
    let answer = guarded.receive();
    assert_eq!(
        answer["result"]["_meta"]["callgate/rule"], "structural-expired-bundle",
        "{answer}"
    );
    project.edit("callgate.json", |bundle| bundle["sandbox"] = json!("."));
    sign(&project, 9, "1h");
    until(|| guarded.ask(8, "a.txt")["result"] == json!({"content": []}));
    let (code, said) = guarded.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("the signed bundle has expired: every call is denied"),
        "{said}"
    );
}

#[test]
fn a_guard_without_a_good_bundle_does_not_start() {
    let project = signed();
    project.write("acme.json", "{}");
    let flags = [
        &["guard", "--server", "filesystem"],
        PINNED.as_slice(),
        &["--", "touch", "started"],
    ]
    .concat();
    project.check(
        &flags,
        4,
        &[],
        &["the bundle `acme.json` is not used: it is not a signed bundle"],
    );
    assert!(!project.folder.path().join("project/started").exists());
}

#[test]
fn a_hook_without_a_good_bundle_denies() {
    let project = signed();
    let folder = project
        .folder
        .path()
        .join("project")
        .canonicalize()
        .expect("a folder");
    let place = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let (bundle, key) = (place("acme.json"), place("acme.pub"));
    let question = json!({"session_id": "s", "transcript_path": "/t", "cwd": folder, "hook_event_name": "PreToolUse",
        "tool_name": "Read", "tool_input": {"file_path": place("a.txt")}, "permission_mode": "default"});
    let ask = |key: &str| {
        let mut command = project.command(
            "project",
            &["hook", "claude-code", "--bundle", &bundle, "--bundle-key", key],
        );
        project.write("question.json", question.to_string());
        let input = fs::File::open(folder.join("question.json")).expect("a file");
        let output = command.stdin(input).output().expect("an answer");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), answer["hookSpecificOutput"].clone())
    };
    let (code, answer) = ask(&key);
    assert_eq!(
        (code, &answer["permissionDecision"]),
        (Some(0), &json!("allow")),
        "{answer}"
    );
    let (_, answer) = ask("acme.pub");
    assert!(
        answer["permissionDecisionReason"]
            .to_string()
            .contains("relative to a directory"),
        "{answer}"
    );
    project.write("acme.json", "{}");
    let (_, answer) = ask(&key);
    assert_eq!(answer["permissionDecision"], "deny", "{answer}");
    assert!(
        answer["permissionDecisionReason"]
            .to_string()
            .contains("it is not a signed bundle"),
        "{answer}"
    );
}

#[test]
fn what_is_wrapped_and_installed_pins_the_key_too() {
    let project = signed();
    let file = json!({"mcpServers": {"filesystem": {"command": "cat"}}});
    project.write(".mcp.json", file.to_string());
    let wrap = ["wrap", ".mcp.json", "--bundle", "acme.json"];
    project.check(&wrap, 4, &[], &["is signed, and no key is pinned"]);
    let flags = [
        "--bundle-key",
        "acme.pub",
        "--bundle-name",
        "acme",
        "--bundle-refresh",
        "5",
    ];
    project.check(
        &[&wrap, flags.as_slice()].concat(),
        0,
        &["\"wrapped\":[\"filesystem\"]"],
        &[],
    );
    let wrapped = project.read(".mcp.json");
    let written = wrapped["mcpServers"]["filesystem"]["args"]
        .as_array()
        .expect("arguments");
    let place = |name: &str| {
        let folder = project
            .folder
            .path()
            .join("project")
            .canonicalize()
            .expect("a folder");
        folder.join(name).to_str().expect("UTF-8").to_owned()
    };
    let (bundle, key) = (place("acme.json"), place("acme.pub"));
    let expected = json!([
        "guard",
        "--bundle",
        bundle,
        "--bundle-key",
        key,
        "--bundle-name",
        "acme",
        "--bundle-refresh",
        "5"
    ]);
    assert_eq!(json!(written[..9]), expected);
    let looked = || String::from_utf8(project.run(&["doctor", "--only-look"]).stdout).expect("UTF-8");
    let found = looked();
    assert!(found.contains("\"wrong\":0,\"doubtful\":0"), "{found}");
    project.write("acme.json", "{}");
    let found = looked();
    let help = format!("`callgate bundle verify {bundle} --bundle-key {key}` says whether");
    assert!(
        found.contains("it is not a signed bundle") && found.contains(&help),
        "{found}"
    );
    let url = "https://policies.example/acme.json";
    let install = [
        "hook",
        "install",
        "claude-code",
        "--bundle",
        url,
        "--bundle-key",
        "acme.pub",
    ];
    let expected = format!("--bundle {url} --bundle-key {key}");
    project.check(&install, 0, &[&expected], &[]);
    let odd = [
        "hook",
        "install",
        "claude-code",
        "--bundle",
        url,
        "--bundle-key",
        "acme.pub",
        "--bundle-name",
        "$(id)",
    ];
    project.check(&odd, 1, &[], &["expected a name of a-z"]);
}

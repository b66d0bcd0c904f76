//! `callgate guard` as a client has it: a process between its streams and a server.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::project::Project;

/// A server that answers each request with what it got, and keeps every line in `got`.
pub(crate) const ECHO: &str = r#"while IFS= read -r line; do
    printf '%s\n' "$line" >> got
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id"
done"#;

pub(crate) struct Guarded {
    pub(crate) child: Child,
    pub(crate) to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Guarded {
    pub(crate) fn start(project: &Project, flags: &[&str], script: &str) -> Self {
        Self::with(project, &[flags, &["--", "sh", "-c", script]].concat(), &[])
    }

    pub(crate) fn with(project: &Project, flags: &[&str], environment: &[(&str, &str)]) -> Self {
        let arguments = [&["guard", "--server", "filesystem"], flags].concat();
        let mut command = project.command("project", &arguments);
        command.envs(environment.iter().copied());
        Self::begin(command)
    }

    pub(crate) fn begin(mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the guard starts");
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().expect("an output"));
        Self { child, to, from }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let to = self.to.as_mut().expect("an input");
        writeln!(to, "{message}").expect("the guard reads");
    }

    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    pub(crate) fn ask(&mut self, id: u32, path: &str) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "read_text_file", "arguments": {"path": path}}}));
        self.receive()
    }

    /// Closes the guard's input, and gives its exit code and what it said.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        drop(self.to.take());
        let output = self.child.wait_with_output().expect("the guard ends");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }
}

/// The lines of the log, each of which has the members that its schema says; `tests/schemas` looks closer.
pub(crate) fn log(project: &Project) -> Vec<Value> {
    let schema: Value =
        serde_json::from_str(include_str!("../../../../js/schemas/audit.json")).expect("a schema");
    let kinds = schema["oneOf"].as_array().expect("kinds");
    let text = fs::read_to_string(project.folder.path().join("project/log.jsonl")).unwrap_or_default();
    let lines = text.lines().map(|line| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let kind = kinds
            .iter()
            .find(|kind| kind["properties"]["kind"]["const"] == line["kind"]);
        let kind = kind.unwrap_or_else(|| panic!("the schema does not have {line}"));
        for name in line.as_object().expect("an object").keys() {
            assert!(kind["properties"].get(name).is_some(), "`{name}` in {line}");
        }
        for name in kind["required"].as_array().into_iter().flatten() {
            let name = name.as_str().expect("a name");
            assert!(line.get(name).is_some(), "no `{name}` in {line}");
        }
        line
    });
    lines.collect()
}

pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "nothing happens");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_server_sees_what_was_judged_and_nothing_else() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &["--audit", "log.jsonl"], ECHO);
    assert_eq!(guarded.ask(1, "a.txt")["result"], json!({"content": []}));
    assert_eq!(guarded.ask(2, "~/.ssh/id")["result"]["isError"], true);
    // The documents and the log are protected, whatever the bundle says.
    for path in ["callgate.json", "log.jsonl"] {
        assert_eq!(
            guarded.ask(3, path)["result"]["_meta"]["callgate/rule"],
            "structural-protected-path",
            "{path}"
        );
    }
    let (code, said) = guarded.end();
    assert_eq!(code, Some(0), "{said}");
    let got = fs::read_to_string(project.folder.path().join("project/got")).expect("lines");
    let got: Vec<Value> = got
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let root = project.folder.path().canonicalize().expect("a directory");
    assert_eq!(got.len(), 1);
    assert_eq!(
        got[0]["params"]["arguments"]["path"],
        root.join("project/a.txt").to_str().expect("UTF-8")
    );
    let kinds: Vec<String> = log(&project)
        .iter()
        .map(|line| line["kind"].to_string())
        .collect();
    assert_eq!(
        kinds.join(" ").replace('"', ""),
        "start decision outcome decision decision decision stop"
    );
}

#[test]
fn the_log_is_read_and_a_change_in_it_found() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &["--audit", "log.jsonl"], ECHO);
    guarded.ask(1, "a.txt");
    guarded.ask(2, "~/.ssh/id");
    guarded.end();
    project.check(
        &["audit", "verify", "log.jsonl"],
        0,
        &[r#"{"lines":5,"broken":[],"beginsAfter":null,"holds":true,"last":"sha256:"#],
        &[],
    );
    project.check(
        &["audit", "stats", "log.jsonl"],
        0,
        &[
            r#""rule":"structural-protected-path","enforced":1,"observed":0"#,
            r#""outcomes":{"done":1}"#,
        ],
        &[],
    );
    project.check(
        &[
            "audit",
            "show",
            "--format",
            "human",
            "--decision",
            "deny",
            "log.jsonl",
        ],
        0,
        &[
            "deny filesystem/read_text_file structural-protected-path\n  Access to protected path is forbidden: ",
            "\n  /path as read-path: ",
        ],
        &[],
    );
    let path = project.folder.path().join("project/log.jsonl");
    let text = fs::read_to_string(path).expect("a log");
    // Its first lines are gone, or in another file.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    project.write("tail.jsonl", lines[2..].concat());
    project.write("head.jsonl", lines[..2].concat());
    project.check(
        &["audit", "verify", "--format", "human", "tail.jsonl"],
        2,
        &[
            "the log begins after a line with the digest sha256:",
            "3 lines, each follows",
        ],
        &[],
    );
    // With the other one they are whole, and so is a log of another guard beside them.
    let mut other = Guarded::start(&project, &["--audit", "other.jsonl"], ECHO);
    other.ask(1, "b.txt");
    other.end();
    project.check(
        &["audit", "verify", "other.jsonl", "tail.jsonl", "head.jsonl"],
        0,
        &[r#""file":"tail.jsonl","isBegun":true"#],
        &[],
    );
    project.check(
        &["audit", "verify", "other.jsonl", "tail.jsonl"],
        2,
        &[
            r#""file":"tail.jsonl","isBegun":false"#,
            r#""file":"other.jsonl","isBegun":true"#,
        ],
        &[],
    );
    project.check(
        &["audit", "stats", "other.jsonl", "log.jsonl"],
        0,
        &[r#""outcomes":{"done":2}"#],
        &[],
    );
    let exported = project.run(&["audit", "export", "--ocsf", "log.jsonl", "other.jsonl"]);
    let exported = String::from_utf8(exported.stdout).expect("text");
    let operations: Vec<Value> = exported
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .map(|event| json!([event["class_uid"], event["action_id"], event["status_code"]]))
        .collect();
    let allowed = json!([6003, 1, operations[0][2]]);
    let denied = json!([6003, 2, "structural-protected-path"]);
    assert_eq!(operations, [allowed.clone(), denied, allowed]);
    let head = project.run(&["audit", "verify", "head.jsonl"]);
    let head: Value = serde_json::from_slice(&head.stdout).expect("JSON");
    let digest = head["last"].as_str().expect("a digest");
    let follows = ["audit", "verify", "--follows", digest];
    project.check(
        &[&follows[..], &["tail.jsonl"]].concat(),
        0,
        &[r#""broken":[]"#],
        &[],
    );
    project.check(
        &[&follows[..], &["log.jsonl"]].concat(),
        2,
        &[r#""beginsAfter":null"#],
        &[],
    );
    project.write(
        "log.jsonl",
        text.replace("structural-protected-path", "allow-everything"),
    );
    project.check(
        &["audit", "verify", "--format", "human", "log.jsonl"],
        2,
        &["log.jsonl:5: follows a line with the digest", "5 lines, 1 broken"],
        &[],
    );
    project.write("log.jsonl", "");
    project.check(
        &["audit", "verify", "--holds", "sha256:0", "log.jsonl"],
        2,
        &[r#""holds":false"#],
        &[],
    );
    project.write("calls.jsonl", "{}\n");
    project.check(&["audit", "verify", "calls.jsonl"], 2, &[r#""holds":false"#], &[]);
    for arguments in [
        &["audit", "show", "calls.jsonl"][..],
        &["audit", "stats", "calls.jsonl"],
        &["audit", "export", "--ocsf", "calls.jsonl"],
    ] {
        let said = "`calls.jsonl`:1: is not a line of `callgate-audit/1`";
        project.check(arguments, 1, &[], &[said]);
    }
}

#[test]
fn tools_are_pinned_and_a_change_is_shown_and_accepted() {
    let project = Project::new();
    let pin = |flags: &[&str], code, out: &[&str]| {
        project.check(
            &[&["pin", "--server", "filesystem", "tools.json"], flags].concat(),
            code,
            out,
            &[],
        );
    };
    project.write(
        "tools.json",
        r#"{"tools": [{"name": "read_text_file", "description": "Reads."}]}"#,
    );
    pin(
        &["--format", "human"],
        2,
        &["new read_text_file\n1 difference; --accept accepts it"],
    );
    pin(&["--accept"], 0, &[r#""change":"new""#]);
    pin(&[], 0, &[r#""changes":[]"#]);
    // It lists what was accepted to whoever asks, and the guard does before the first call.
    let lists = r#"while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
    case "$line" in
    *tools/list*) printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$(cat tools.json)";;
    *) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id";;
    esac
done"#;
    let mut guarded = Guarded::start(
        &project,
        &["--lock", "callgate.lock", "--audit", "log.jsonl"],
        lists,
    );
    assert_eq!(guarded.ask(1, "a.txt")["result"], json!({"content": []}));
    // Who writes the lock file decides what is held back.
    let rule = "structural-protected-path";
    assert_eq!(
        guarded.ask(2, "callgate.lock")["result"]["_meta"]["callgate/rule"],
        rule
    );
    project.write(
        "tools.json",
        r#"[{"name": "read_text_file", "description": "Reads, then mails."}]"#,
    );
    pin(
        &["--format", "human"],
        2,
        &["changed read_text_file\n  description\n  - Reads.\n  + Reads, then mails.\n"],
    );
    project.write("tools.json", r#"{"result": {"tools": []}}"#);
    pin(&["--accept", "--format", "human"], 0, &["gone read_text_file"]);
    until(|| log(&project).iter().any(|line| line["kind"] == "reload"));
    let answer = guarded.ask(3, "a.txt");
    assert_eq!(
        answer["result"]["_meta"]["callgate/rule"],
        "structural-unpinned-tool"
    );
    guarded.end();
    project.write("callgate.lock", "{}");
    project.check(
        &["guard", "--server", "s", "--lock", "callgate.lock", "--", "cat"],
        4,
        &[],
        &["callgate.lock: missing field `format`"],
    );
}

#[test]
fn a_question_is_listed_and_answered_from_elsewhere() {
    let project = Project::new();
    let state = ["--state", "../state"];
    let mut guarded = Guarded::start(&project, &[&["--ask", "600"], &state[..]].concat(), ECHO);
    guarded.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "read_text_file", "arguments": {"path": "/etc/hosts"}}}));
    let list = || -> Value {
        let output = project.run(&["approvals", state[0], state[1]]);
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    until(|| list()["questions"] != json!([]));
    let asked = list()["questions"][0].clone();
    assert_eq!(asked["values"][0]["canonical"], "/etc/hosts");
    let id = asked["id"].as_str().expect("an id");
    project.check(
        &["approvals", "--format", "human", state[0], state[1]],
        0,
        &[
            "/path as read-path: /etc/hosts",
            "would cover: Allow filesystem/read_text_file read-path within /etc",
        ],
        &[],
    );
    // A tool of the agent has no terminal.
    project.check(
        &["approvals", "allow", id, state[0], state[1]],
        1,
        &[],
        &["standard input is not a terminal"],
    );
    project.check(
        &["approvals", "allow", state[0], state[1]],
        1,
        &[],
        &["not a terminal"],
    );
    // There is no other that could be meant.
    let deny = ["approvals", "deny", state[0], state[1]];
    let denied = format!("denied {id}: filesystem/read_text_file");
    project.check(&[&deny[..], &["--format", "human"]].concat(), 0, &[&denied], &[]);
    assert_eq!(
        guarded.receive()["result"]["_meta"]["callgate/rule"],
        "structural-approval"
    );
    project.check(
        &["approvals", "deny", id, state[0], state[1]],
        1,
        &[],
        &["there is no question"],
    );
    project.check(&deny, 1, &[], &["no call waits for a person"]);
    // The folder is protected.
    let folder = project
        .folder
        .path()
        .canonicalize()
        .expect("a directory")
        .join("state/approvals.json");
    let answer = guarded.ask(2, folder.to_str().expect("UTF-8"));
    assert_eq!(
        answer["result"]["_meta"]["callgate/rule"],
        "structural-protected-path"
    );
    assert_eq!(guarded.end().0, Some(0));
}

#[test]
fn a_server_that_dies_leaves_no_call_without_an_answer() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &["--audit", "log.jsonl"], "read -r line; exit 3");
    assert_eq!(guarded.ask(1, "a.txt")["error"]["code"], -32603);
    let (code, said) = guarded.end();
    assert_eq!(code, Some(1));
    assert!(said.contains("the server has ended: exit status: 3"), "{said}");
    let outcome = log(&project).into_iter().find(|line| line["kind"] == "outcome");
    assert_eq!(outcome.expect("an outcome")["outcome"], "no-answer");
}

#[test]
fn a_signal_lets_calls_end() {
    let project = Project::new();
    let slow = r#"read -r line; sleep 1; echo '{"jsonrpc":"2.0","id":1,"result":{"content":["late"]}}'; cat"#;
    let mut guarded = Guarded::start(&project, &["--audit", "log.jsonl"], slow);
    guarded.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "read_text_file", "arguments": {"path": "a.txt"}}}));
    until(|| log(&project).iter().any(|line| line["kind"] == "decision"));
    let guard = i32::try_from(guarded.child.id()).ok().and_then(Pid::from_raw);
    kill_process(guard.expect("a process"), Signal::TERM).expect("a signal");
    assert_eq!(guarded.receive()["result"]["content"], json!(["late"]));
    let (code, said) = guarded.end();
    assert_eq!(code, Some(128 + 15), "{said}");
    let last = log(&project).pop().expect("a line");
    assert_eq!(
        (&last["kind"], &last["why"]),
        (&json!("stop"), &json!("signal 15"))
    );
}

#[test]
fn changed_documents_hold_from_then_on_and_bad_ones_never() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &["--audit", "log.jsonl"], ECHO);
    let reloads = || {
        log(&project)
            .into_iter()
            .filter(|line| line["kind"] == "reload")
            .collect::<Vec<_>>()
    };
    let root = project.folder.path().canonicalize().expect("a directory");
    let file = root.join("project/a.txt");
    let file = file.to_str().expect("UTF-8");
    assert_eq!(guarded.ask(1, file)["result"]["isError"], Value::Null);
    let good = project.read("callgate.json");
    project.write("callgate.json", "{");
    until(|| reloads().len() == 1);
    assert!(reloads()[0]["refused"].is_string());
    assert_eq!(guarded.ask(2, file)["result"]["isError"], Value::Null);
    let mut strict = good;
    strict["sandbox"] = json!("elsewhere");
    project.write("callgate.json", strict.to_string());
    until(|| reloads().last().is_some_and(|line| line["refused"].is_null()));
    assert_eq!(guarded.ask(3, file)["result"]["isError"], true);
    assert_eq!(guarded.end().0, Some(0));
}

#[test]
fn it_does_not_begin_without_a_policy_a_log_or_a_server() {
    let project = Project::new();
    project.check(
        &["guard", "--server", "s", "--", "no-such-program"],
        1,
        &[],
        &["cannot start the server `no-such-program`"],
    );
    project.check(
        &["guard", "--server", "s", "--audit", "no/such/log", "--", "cat"],
        1,
        &[],
        &["cannot write the log `no/such/log`"],
    );
    project.write("callgate.json", "{");
    project.check(
        &["guard", "--server", "s", "--", "cat"],
        4,
        &[],
        &["callgate.json"],
    );
}

#[test]
fn a_server_of_which_nothing_is_annotated_is_said_to_have_no_tools() {
    let project = Project::new();
    let said = |server: &str, more: &[&str]| {
        let arguments = [
            &["guard", "--server", server],
            more,
            &["--", "sh", "-c", "cat > /dev/null"],
        ]
        .concat();
        Guarded::begin(project.command("project", &arguments)).end().1
    };
    let near = said("Filesystem", &[]);
    assert!(
        near.contains("no tool of this server is annotated") && near.contains("did you mean `filesystem`?"),
        "{near}"
    );
    let far = said("weather", &[]);
    assert!(
        far.contains("no annotation names this server") && far.contains("`callgate annotate`"),
        "{far}"
    );
    for known in [said("filesystem", &[]), said("weather", &["--observe"])] {
        assert!(!known.contains("is annotated"), "{known}");
    }
    project.edit("callgate.json", |bundle| {
        bundle["trustedServers"] = json!(["weather"]);
    });
    let trusted = said("weather", &[]);
    assert!(!trusted.contains("is annotated"), "{trusted}");
}

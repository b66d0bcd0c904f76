//! `callgate guard` for clients over HTTP.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::guarding::{ECHO, log, until};
use crate::project::Project;
use crate::wire::{self, Sent, Upstream, ask, reply};

pub(crate) const MODERN: &str = "2026-07-28";

/// A guard that listens, and ends with the test.
pub(crate) struct Listening {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Listening {
    pub(crate) fn start(project: &Project, flags: &[&str], behind: &[&str]) -> Self {
        let arguments = [
            &["guard", "--server", "filesystem", "--listen", "0"],
            flags,
            behind,
        ]
        .concat();
        let mut command = project.command("project", &arguments);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the guard starts");
        let mut said = BufReader::new(child.stderr.take().expect("an output")).lines();
        let line = said
            .by_ref()
            .map_while(Result::ok)
            .find(|line| line.contains("listening on"));
        let line = line.expect("the guard says where it listens");
        let address = line.split("http://").nth(1).expect("an address");
        let address = address.strip_suffix("/mcp").expect("a path").to_owned();
        thread::spawn(move || said.for_each(drop));
        Self { child, address }
    }

    pub(crate) fn script(project: &Project, flags: &[&str], script: &str) -> Self {
        Self::start(project, flags, &["--", "sh", "-c", script])
    }

    pub(crate) fn post(&self, headers: &[(&str, &str)], message: &Value) -> Sent {
        ask(&self.address, "POST /mcp", headers, &message.to_string())
    }

    /// Begins a session, and gives its name.
    pub(crate) fn begin(&self) -> String {
        let answer = self.post(&[], &initialize());
        assert_eq!(answer.status(), 200, "{answer:?}");
        answer.header("mcp-session-id").expect("a session").to_owned()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
}

pub(crate) fn call(id: u32, path: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "read_text_file", "arguments": {"path": path}}})
}

/// The same in the modern era, with its headers.
pub(crate) fn modern(id: u32, path: &str) -> (Value, [(&'static str, &'static str); 3]) {
    let mut call = call(id, path);
    call["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {}});
    let headers = [
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "read_text_file"),
    ];
    (call, headers)
}

/// A server of both eras that answers every request with its headers, and gives sessions.
pub(crate) fn echo() -> Upstream {
    Upstream::start(|request, to| {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let json = [
            ("content-type", "application/json"),
            ("mcp-session-id", "upstream"),
        ];
        match (&*request.head, message["id"].clone()) {
            (head, _) if head.starts_with("GET") => reply(to, "405 Method Not Allowed", &[], ""),
            (head, _) if head.starts_with("DELETE") => reply(to, "200 OK", &[], ""),
            (_, Value::Null) => reply(to, "202 Accepted", &[], ""),
            (_, id) => {
                let result =
                    json!({"content": [], "protocolVersion": "2025-06-18", "got": message["params"]});
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
                reply(to, "200 OK", &json, &answer.to_string());
            }
        }
    })
}

#[test]
fn every_client_over_http_is_judged_and_has_a_server_of_its_own() {
    let project = Project::new();
    // Each process says who began with it.
    let server = r#"name=nobody
while IFS= read -r line; do
    case "$line" in *initialize*) name=$$;; esac
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"who":"%s"}}\n' "$id" "$name"
done"#;
    let guard = Listening::script(&project, &["--audit", "log.jsonl"], server);
    let sessions = [guard.begin(), guard.begin()];
    assert_ne!(sessions[0], sessions[1]);
    assert_eq!(sessions[0].len(), 64);
    let who = |session: &str| {
        let answer = guard.post(&[("mcp-session-id", session)], &call(1, "a.txt"));
        answer.json()["result"]["who"]
            .as_str()
            .expect("a process")
            .to_owned()
    };
    let (one, other) = (who(&sessions[0]), who(&sessions[1]));
    assert_ne!(one, other);
    assert_eq!(who(&sessions[0]), one);
    let denied = guard.post(&[("mcp-session-id", &sessions[0])], &call(2, "~/.ssh/id"));
    assert_eq!(denied.status(), 200);
    assert_eq!(denied.json()["result"]["isError"], true);
    // A session that was ended is gone, and the other one is not.
    let ended = ask(
        &guard.address,
        "DELETE /mcp",
        &[("mcp-session-id", &sessions[0])],
        "",
    );
    assert_eq!(ended.status(), 200);
    let gone = guard.post(&[("mcp-session-id", &sessions[0])], &call(3, "a.txt"));
    assert_eq!(gone.status(), 404);
    assert_eq!(who(&sessions[1]), other);
    let kinds: Vec<Value> = log(&project)
        .into_iter()
        .map(|line| line["kind"].clone())
        .collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "decision").count(), 5);
}

#[test]
fn what_is_no_request_of_a_client_goes_no_further() {
    let project = Project::new();
    let guard = Listening::script(&project, &["--audit", "log.jsonl"], ECHO);
    let session = guard.begin();
    let named = ("mcp-session-id", &*session);
    let status =
        |head: &str, headers: &[(&str, &str)], body: &str| ask(&guard.address, head, headers, body).status();
    let text = call(1, "a.txt").to_string();
    for (headers, expected) in [
        (&[named, ("host", "evil.example")][..], 403),
        (&[named, ("origin", "https://evil.example")], 403),
        (&[named, ("origin", "null")], 403),
        (&[named, ("content-type", "text/plain")], 415),
        (&[named, ("accept", "text/html")], 406),
        (&[("mcp-session-id", "other")], 404),
        (&[named, ("mcp-session-id", &session)], 400),
        (&[], 400),
    ] {
        assert_eq!(status("POST /mcp", headers, &text), expected, "{headers:?}");
    }
    assert_eq!(status("POST /other", &[named], &text), 404);
    assert_eq!(status("PUT /mcp", &[named], &text), 405);
    assert_eq!(status("GET /mcp", &[], ""), 405);
    assert_eq!(status("DELETE /mcp", &[], ""), 405);
    assert_eq!(status("DELETE /mcp", &[("mcp-session-id", "other")], ""), 404);
    for (body, code) in [
        (format!("[{text}]"), -32600),
        (text.replacen("\"id\":1", "\"id\":1,\"id\":2", 1), -32600),
        (text.replacen("\"method\"", "\"Method\"", 1), -32600),
        ("{".to_owned(), -32700),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{}}"#.to_owned(),
            -32600,
        ),
        (text.replacen("\"path\"", "\"path\":\"b\",\"path\"", 1), -32602),
        // A line break in a string is not white space.
        (text.replacen("a.txt", "a\n.txt", 1), -32700),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#.to_owned(),
            -32600,
        ),
    ] {
        let answer = ask(&guard.address, "POST /mcp", &[named], &body);
        assert_eq!(answer.json()["error"]["code"], code, "{body}");
    }
    // A notification is refused where it came.
    let notification = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"read_text_file"}}"#;
    for body in [notification, &notification.replace("tools/call", "tools%2fcall")] {
        let answer = ask(&guard.address, "POST /mcp", &[named], body);
        assert_eq!(
            (answer.status(), &answer.json()["id"]),
            (400, &Value::Null),
            "{body}"
        );
        let modern = body.replace(
            r#""name""#,
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"name""#,
        );
        let headers = [
            ("mcp-protocol-version", MODERN),
            (
                "mcp-method",
                if body == notification {
                    "tools/call"
                } else {
                    "tools%2fcall"
                },
            ),
            ("mcp-name", "read_text_file"),
        ];
        assert_eq!(
            ask(&guard.address, "POST /mcp", &headers, &modern).status(),
            400,
            "{modern}"
        );
    }
    assert!(
        log(&project)
            .iter()
            .all(|line| line["kind"] != "decision" || line["decision"] != "allow")
    );
    // A body of 100 MB, announced and not.
    assert_eq!(
        status("POST /mcp", &[named, ("content-length", "100000000")], ""),
        413
    );
    let mut stream = wire::open(
        &guard.address,
        "POST /mcp",
        &[named, ("transfer-encoding", "chunked")],
        "",
    );
    let piece = format!("100000\r\n{}\r\n", " ".repeat(0x10_0000));
    for _ in 0..100 {
        if stream.get_mut().write_all(piece.as_bytes()).is_err() {
            break;
        }
    }
    assert!(wire::read(&mut stream).is_none_or(|answer| answer.status() == 413));
    // The server has seen none of it.
    let got = std::fs::read_to_string(project.folder.path().join("project/got")).expect("lines");
    assert_eq!(got.lines().count(), 1, "{got}");
}

#[test]
fn sessions_have_an_end_and_a_limit() {
    let project = Project::new();
    let guard = Listening::script(&project, &["--max-sessions", "2"], ECHO);
    let sessions = [guard.begin(), guard.begin()];
    assert_eq!(guard.post(&[], &initialize()).status(), 503);
    ask(
        &guard.address,
        "DELETE /mcp",
        &[("mcp-session-id", &sessions[0])],
        "",
    );
    until(|| guard.post(&[], &initialize()).status() == 200);
    // A server that ends takes its session with it.
    let guard = Listening::script(
        &project,
        &[],
        &format!("{} & read -r a; echo \"$a\" >&2; exit", "true"),
    );
    let answer = guard.post(&[], &initialize());
    assert_eq!(answer.answer()["error"]["code"], -32603, "{answer:?}");
    assert_eq!(answer.header("mcp-session-id"), None);
}

#[test]
fn requests_that_stand_by_themselves_do_not_mix_up() {
    let project = Project::new();
    // It answers late, and says what it was asked. The number is the guard's: another client's request may have the same id.
    let server = r#"while IFS= read -r line; do
    sleep 0.3
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    path=$(printf '%s' "$line" | sed -n 's/.*"path":"\([^"]*\)".*/\1/p')
    printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"path":"%s"}}\n' "$id" "$path"
done"#;
    let guard = Arc::new(Listening::script(&project, &[], server));
    let asked: Vec<_> = ["a.txt", "b.txt", "c.txt"]
        .into_iter()
        .map(|path| {
            let guard = Arc::clone(&guard);
            thread::spawn(move || {
                let (call, headers) = modern(7, path);
                for _ in 0..2 {
                    let answer = guard.post(&headers, &call).answer();
                    let got = answer["result"]["path"].as_str().expect("a path").to_owned();
                    assert!(got.ends_with(path), "{got}");
                }
            })
        })
        .collect();
    asked
        .into_iter()
        .for_each(|asked| asked.join().expect("its own answer"));
}

#[test]
fn a_header_never_decides() {
    let project = Project::new();
    let upstream = echo();
    let guard = Listening::start(&project, &[], &["--url", &upstream.url]);
    let (message, headers) = modern(1, "~/.ssh/id");
    let forged = [headers[0], headers[1], ("mcp-name", "list_directory")];
    let answer = guard.post(&forged, &message);
    assert_eq!(
        (answer.status(), &answer.json()["error"]["code"]),
        (400, &json!(-32020))
    );
    assert_eq!(guard.post(&headers[..2], &message).status(), 400);
    let old = [("mcp-protocol-version", "2025-06-18"), headers[1], headers[2]];
    assert_eq!(guard.post(&old, &message).json()["error"]["code"], -32020);
    assert_eq!(guard.post(&headers, &message).json()["result"]["isError"], true);
    assert_eq!(upstream.seen().len(), 0);
    // The server's headers are written from the arguments that are sent.
    let (message, headers) = modern(2, "a/../b.txt");
    let extra = [
        headers[0],
        headers[1],
        headers[2],
        ("mcp-param-path", "a"),
        ("x-other", "y"),
    ];
    let answer = guard.post(&extra, &message).answer();
    let path = answer["result"]["got"]["arguments"]["path"]
        .as_str()
        .expect("a path");
    assert!(path.ends_with("project/b.txt"), "{path}");
    let [sent] = <[Sent; 1]>::try_from(upstream.seen()).expect("one request");
    assert_eq!(sent.header("mcp-name"), Some("read_text_file"));
    assert_eq!(sent.header("mcp-protocol-version"), Some(MODERN));
    for name in ["mcp-param-path", "x-other", "mcp-session-id"] {
        assert_eq!(sent.header(name), None);
    }
}

#[test]
fn a_signal_lets_calls_over_http_end() {
    let project = Project::new();
    let slow = r#"while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    [ "$id" = 1 ] && sleep 1
    printf '{"jsonrpc":"2.0","id":%s,"result":{"content":["late"]}}\n' "$id"
done"#;
    let mut guard = Listening::script(&project, &["--audit", "log.jsonl"], slow);
    let session = guard.begin();
    let (address, text) = (guard.address.clone(), call(1, "a.txt").to_string());
    let asked = thread::spawn(move || ask(&address, "POST /mcp", &[("mcp-session-id", &session)], &text));
    until(|| log(&project).iter().any(|line| line["kind"] == "decision"));
    let pid = i32::try_from(guard.child.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process"), Signal::TERM).expect("a signal");
    assert_eq!(
        asked.join().expect("an answer").answer()["result"]["content"],
        json!(["late"])
    );
    assert_eq!(guard.child.wait().expect("the guard ends").code(), Some(128 + 15));
    let last = log(&project).pop().expect("a line");
    assert_eq!(
        (&last["kind"], &last["why"]),
        (&json!("stop"), &json!("signal 15"))
    );
}

#[test]
fn a_token_of_the_guard_is_asked_of_clients() {
    let project = Project::new();
    let mut command = project.command(
        "project",
        &[
            "guard",
            "--server",
            "s",
            "--listen",
            "0",
            "--client-token-env",
            "NO",
        ],
    );
    let output = command.arg("--").arg("cat").output().expect("the command runs");
    assert_eq!(output.status.code(), Some(1));
    for unfit in ["", " ", "s3cret\n", "s3 cret", "gehe\u{ed}m"] {
        let flags = [
            "guard",
            "--server",
            "s",
            "--listen",
            "0",
            "--client-token-env",
            "TOKEN",
        ];
        let mut command = project.command("project", &[&flags[..], &["--", "cat"]].concat());
        let output = command.env("TOKEN", unfit).output().expect("the command runs");
        assert_eq!(output.status.code(), Some(1), "{unfit:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("the token is empty, or holds"));
    }
    let guard = Listening::script(&project, &["--client-token-env", "HOME"], ECHO);
    let home = project.folder.path().join("home");
    let token = format!("Bearer {}", home.to_str().expect("UTF-8"));
    assert_eq!(guard.post(&[], &initialize()).status(), 401);
    assert_eq!(
        guard
            .post(&[("authorization", "Bearer x")], &initialize())
            .status(),
        401
    );
    assert_eq!(
        guard.post(&[("authorization", &token)], &initialize()).status(),
        200
    );
}

/// The data of the next event of a stream, but for events without data.
pub(crate) fn next_event(stream: &mut impl std::io::BufRead) -> Value {
    loop {
        let mut line = String::new();
        let read = stream.read_line(&mut line).expect("a stream");
        assert_ne!(read, 0, "the stream ended");
        if let Some(data) = line
            .trim_end()
            .strip_prefix("data: ")
            .filter(|data| !data.is_empty())
        {
            return serde_json::from_str(data).expect("JSON");
        }
    }
}

#[test]
fn a_form_is_shown_on_the_stream_of_the_call_that_waits() {
    let project = Project::new();
    let flags = ["--ask", "600", "--state", "../state", "--audit", "log.jsonl"];
    let guard = Listening::script(&project, &flags, ECHO);
    let mut begin = initialize();
    begin["params"]["capabilities"] = json!({"elicitation": {}});
    let session = guard.post(&[], &begin);
    let named = [(
        "mcp-session-id",
        session.header("mcp-session-id").expect("a session"),
    )];
    for (id, choice, is_allowed) in [(1, "allow this once", true), (2, "deny", false)] {
        let text = call(id, "/etc/hosts").to_string();
        let mut stream = wire::open(&guard.address, "POST /mcp", &named, &text);
        let form = next_event(&mut stream);
        assert_eq!(form["method"], "elicitation/create", "{form}");
        let answer = json!({"jsonrpc": "2.0", "id": form["id"],
            "result": {"action": "accept", "content": {"answer": choice}}});
        // Another session cannot answer.
        let other = guard.begin();
        guard.post(&[("mcp-session-id", &other)], &answer);
        assert_eq!(guard.post(&named, &answer).status(), 202);
        let told = next_event(&mut stream);
        assert_eq!(told["id"], id, "{told}");
        assert_eq!(told["result"]["isError"] != json!(true), is_allowed, "{told}");
    }
    // From revision 2026-07-28 on the client asks, and sends the call again.
    let (mut message, headers) = modern(3, "/etc/hosts");
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    let asked = guard.post(&headers, &message).answer();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    message["params"]["requestState"] = asked["result"]["requestState"].clone();
    message["params"]["inputResponses"] =
        json!({"callgate": {"action": "accept", "content": {"answer": "allow this once"}}});
    let told = guard.post(&headers, &message).answer();
    assert!(told["result"]["isError"] != json!(true), "{told}");
    // Once.
    let again = guard.post(&headers, &message).answer();
    assert_eq!(again["result"]["isError"], true, "{again}");
    let answered = log(&project);
    let answered = answered.iter().filter(|line| line["answeredBy"] == "client");
    assert_eq!(answered.count(), 3);
}

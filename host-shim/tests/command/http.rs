//! `callgate guard` before servers over HTTP, and for clients over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::guarding::{ECHO, Guarded, log, until};
use crate::project::Project;
use crate::wire::{self, Sent, Upstream, ask, reply, stream};

const MODERN: &str = "2026-07-28";

/// A guard that listens, and ends with the test.
struct Listening {
    child: Child,
    address: String,
}

impl Listening {
    fn start(project: &Project, flags: &[&str], behind: &[&str]) -> Self {
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

    fn script(project: &Project, flags: &[&str], script: &str) -> Self {
        Self::start(project, flags, &["--", "sh", "-c", script])
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> Sent {
        ask(&self.address, "POST /mcp", headers, &message.to_string())
    }

    /// Begins a session, and gives its name.
    fn begin(&self) -> String {
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

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
}

fn call(id: u32, path: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "read_text_file", "arguments": {"path": path}}})
}

/// The same in the modern era, with its headers.
fn modern(id: u32, path: &str) -> (Value, [(&'static str, &'static str); 3]) {
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
fn echo() -> Upstream {
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
    ] {
        let answer = ask(&guard.address, "POST /mcp", &[named], &body);
        assert_eq!(answer.json()["error"]["code"], code, "{body}");
    }
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
    // It answers late, and says what it was asked.
    let server = r#"while IFS= read -r line; do
    sleep 0.3
    path=$(printf '%s' "$line" | sed -n 's/.*"path":"\([^"]*\)".*/\1/p')
    printf '{"jsonrpc":"2.0","id":7,"result":{"content":[],"path":"%s"}}\n' "$path"
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
    // What the server gets is written from what is sent.
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
fn a_server_over_http_gets_its_session_and_its_secrets() {
    let project = Project::new();
    let upstream = echo();
    let flags = [
        "--url",
        &upstream.url,
        "--token-env",
        "TOKEN",
        "--header-env",
        "X-Key=KEY",
        "--header",
        "X-Team: a",
        "--audit",
        "log.jsonl",
    ];
    let mut guarded = Guarded::with(&project, &flags, &[("TOKEN", "s3cret"), ("KEY", "k3y")]);
    guarded.send(&initialize());
    assert_eq!(guarded.receive()["result"]["protocolVersion"], "2025-06-18");
    guarded.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(guarded.ask(1, "a.txt")["result"]["content"], json!([]));
    assert_eq!(guarded.ask(2, "~/.ssh/id")["result"]["isError"], true);
    let (code, said) = guarded.end();
    assert_eq!(code, Some(0), "{said}");
    let seen = upstream.seen();
    for sent in &seen {
        assert_eq!(sent.header("authorization"), Some("Bearer s3cret"));
        assert_eq!(
            (sent.header("x-key"), sent.header("x-team")),
            (Some("k3y"), Some("a"))
        );
        let is_first = sent.body.contains("\"initialize\"");
        assert_eq!(sent.header("mcp-session-id"), (!is_first).then_some("upstream"));
        assert_eq!(
            sent.header("mcp-protocol-version"),
            (!is_first).then_some("2025-06-18")
        );
    }
    assert_eq!(upstream.messages("tools/call").len(), 1);
    assert!(
        seen.iter().any(|sent| sent.head.starts_with("DELETE")),
        "{seen:?}"
    );
    let written = format!("{said}{:?}", log(&project));
    assert!(
        !written.contains("s3cret") && !written.contains("k3y"),
        "{written}"
    );
}

#[test]
fn a_server_that_fails_leaves_no_request_without_an_answer() {
    let project = Project::new();
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        format!("http://{}/mcp", listener.local_addr().expect("an address"))
    };
    let answering = |status: &'static str, kind: &'static str, body: &'static str| {
        Upstream::start(move |_, to| reply(to, status, &[("content-type", kind)], body)).url
    };
    let broken = Upstream::start(|_, to| {
        let _ =
            to.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{");
    });
    let rubbish = Upstream::start(|_, to| {
        let _ = to.write_all(b"rubbish\r\n\r\n");
    });
    let elsewhere = Upstream::start(|_, to| {
        reply(
            to,
            "307 Temporary Redirect",
            &[("location", "https://evil.example/mcp")],
            "",
        );
    });
    let unfinished = Upstream::start(|_, to| stream(to, "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n"));
    for (url, reason) in [
        (nobody, "the server cannot be reached: "),
        (
            answering("200 OK", "text/html", "<html>"),
            "`text/html`, expected",
        ),
        (
            answering("200 OK", "application/json", "<html>"),
            "ended before it answered",
        ),
        (
            answering("200 OK", "application/json", "[]"),
            "ended before it answered",
        ),
        (
            answering("202 Accepted", "text/plain", ""),
            "expected `application/json`",
        ),
        (
            answering("401 Unauthorized", "text/plain", ""),
            "HTTP 401 Unauthorized; `--token-env`",
        ),
        (
            answering("500 Internal Server Error", "text/plain", ""),
            "HTTP 500",
        ),
        (answering("404 Not Found", "text/html", "<html>"), "HTTP 404"),
        (broken.url, "the connection to the server broke"),
        (rubbish.url, "the server cannot be reached: "),
        (
            elsewhere.url,
            "`https://evil.example/mcp`, and the guard follows none",
        ),
        (unfinished.url, "ended before it answered"),
    ] {
        let mut guarded = Guarded::with(&project, &["--url", &url], &[]);
        guarded.send(&initialize());
        let mut answer = guarded.receive();
        if answer["method"] == "x" {
            answer = guarded.receive();
        }
        assert_eq!(answer["id"], 0);
        let message = answer["error"]["message"].as_str().expect("an error");
        assert!(message.contains(reason), "{reason}: {message}");
        guarded.end();
    }
    for (flags, reason) in [
        (&["--url", "ftp://x"][..], "is not a URL of HTTP"),
        (
            &["--url", "http://x", "--header", "Mcp-Name: a"],
            "written by the guard itself",
        ),
        (
            &["--url", "http://x", "--token-env", "NO_SUCH"],
            "no variable `NO_SUCH`",
        ),
        (&["--url", "http://x", "--", "cat"], "cannot be used with"),
        (&["--listen", "0.0.0.0:0", "--", "cat"], "other machines reach"),
        (&["--listen", "nonsense", "--", "cat"], "`nonsense`"),
    ] {
        let flags = [&["guard", "--server", "s"], flags].concat();
        project.check(&flags, 1, &[], &[reason]);
    }
}

#[test]
fn a_session_that_the_server_forgets_is_begun_again() {
    let project = Project::new();
    let forgets = || {
        let begun = AtomicUsize::new(0);
        Upstream::start(move |request, to| {
            let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
            let answer =
                json!({"jsonrpc": "2.0", "id": message["id"], "result": {"content": ["x"]}}).to_string();
            let session = begun.load(Ordering::Relaxed).to_string();
            let kind = ("content-type", "application/json");
            match message["method"].as_str() {
                Some("initialize") => {
                    let session = (begun.fetch_add(1, Ordering::Relaxed) + 1).to_string();
                    reply(to, "200 OK", &[kind, ("mcp-session-id", &session)], &answer);
                }
                Some("tools/call") if session == "1" => reply(to, "404 Not Found", &[], ""),
                Some("tools/call") => reply(to, "200 OK", &[kind], &answer),
                _ => reply(to, "202 Accepted", &[], ""),
            }
        })
    };
    let upstream = forgets();
    let mut guarded = Guarded::with(&project, &["--url", &upstream.url], &[]);
    guarded.send(&initialize());
    guarded.receive();
    assert_eq!(guarded.ask(1, "a.txt")["result"]["content"], json!(["x"]));
    let (_, said) = guarded.end();
    assert!(said.contains("it is begun again"), "{said}");
    assert_eq!(upstream.messages("initialize").len(), 2);
    // A client over HTTP begins again by itself.
    let upstream = forgets();
    let guard = Listening::start(&project, &[], &["--url", &upstream.url]);
    let session = guard.begin();
    for _ in 0..2 {
        let answer = guard.post(&[("mcp-session-id", &session)], &call(1, "a.txt"));
        assert_eq!(answer.status(), 404, "{answer:?}");
    }
    assert_eq!(upstream.messages("tools/call").len(), 1);
}

#[test]
fn a_stream_that_breaks_is_gone_on_with() {
    let project = Project::new();
    let upstream = Upstream::start(|request, to| {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}).to_string();
        match (&*request.head, message["method"].as_str()) {
            (_, Some("tools/call")) => stream(to, "id: e1\nretry: 10\ndata:\n\n"),
            (head, _) if head.starts_with("GET") && request.header("last-event-id") == Some("e1") => {
                stream(
                    to,
                    "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{\"content\":[\"late\"]}}\n\n",
                );
            }
            (_, Some("initialize")) => reply(to, "200 OK", &[("content-type", "application/json")], &answer),
            _ => reply(to, "405 Method Not Allowed", &[], ""),
        }
    });
    let mut guarded = Guarded::with(&project, &["--url", &upstream.url], &[]);
    guarded.send(&initialize());
    guarded.receive();
    assert_eq!(guarded.ask(1, "a.txt")["result"]["content"], json!(["late"]));
    guarded.end();
    // A client over HTTP is told after which event it goes on, and does it itself.
    let guard = Listening::start(&project, &[], &["--url", &upstream.url]);
    let session = guard.begin();
    let named = ("mcp-session-id", &*session);
    let part = guard.post(&[named], &call(1, "a.txt"));
    assert!(part.body.contains("id: e1\nretry: 10\n"), "{part:?}");
    assert_eq!(part.events(), [Value::Null; 0]);
    let rest = ask(&guard.address, "GET /mcp", &[named, ("last-event-id", "e1")], "");
    assert_eq!(rest.answer()["result"]["content"], json!(["late"]), "{rest:?}");
}

/// A server that answers a call only once whoever asked has left, and says so.
fn patient() -> (Upstream, mpsc::Receiver<String>) {
    let (tell, told) = mpsc::channel();
    let upstream = Upstream::start(move |request, to| {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        match message["method"].as_str() {
            Some("tools/call") => {
                stream(
                    to,
                    "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n",
                );
                to.set_read_timeout(Some(Duration::from_secs(60)))
                    .expect("a timeout");
                let left = to
                    .read(&mut [0])
                    .map_or_else(|error| error.to_string(), |bytes| format!("left {bytes}"));
                let _ = tell.send(left);
            }
            Some("notifications/cancelled") => {
                reply(to, "202 Accepted", &[], "");
                let _ = tell.send("cancelled".to_owned());
            }
            _ => {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {}}).to_string();
                reply(to, "200 OK", &[("content-type", "application/json")], &answer);
            }
        }
    });
    (upstream, told)
}

#[test]
fn whoever_leaves_or_cancels_ends_the_call() {
    let project = Project::new();
    let patience = Duration::from_secs(30);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    // The handshake's era has a message for it.
    let (upstream, told) = patient();
    let mut guarded = Guarded::with(&project, &["--url", &upstream.url], &[]);
    guarded.send(&initialize());
    guarded.receive();
    guarded.send(&call(1, "a.txt"));
    assert_eq!(guarded.receive()["method"], "notifications/message");
    guarded.send(&cancelled);
    assert_eq!(told.recv_timeout(patience).as_deref(), Ok("cancelled"));
    drop(guarded);
    // In the modern era the stream is closed.
    let (upstream, told) = patient();
    let mut guarded = Guarded::with(&project, &["--url", &upstream.url, "--audit", "log.jsonl"], &[]);
    guarded.send(&modern(1, "a.txt").0);
    assert_eq!(guarded.receive()["method"], "notifications/message");
    guarded.send(&cancelled);
    assert_eq!(told.recv_timeout(patience).as_deref(), Ok("left 0"));
    until(|| log(&project).iter().any(|line| line["outcome"] == "no-answer"));
    assert_eq!(guarded.ask(2, "~/.ssh/id")["result"]["isError"], true);
    assert_eq!(guarded.end().0, Some(0));
    // So does a client over HTTP that leaves in the middle.
    let (upstream, told) = patient();
    let guard = Listening::start(&project, &[], &["--url", &upstream.url]);
    let (message, headers) = modern(1, "a.txt");
    let mut stream = wire::open(&guard.address, "POST /mcp", &headers, &message.to_string());
    let mut line = String::new();
    while !line.starts_with("data:") {
        line.clear();
        stream.read_line(&mut line).expect("an event");
    }
    drop::<BufReader<TcpStream>>(stream);
    assert_eq!(told.recv_timeout(patience).as_deref(), Ok("left 0"));
}

#[test]
fn a_client_of_one_era_learns_that_the_server_is_of_the_other() {
    let project = Project::new();
    let says = |answer: &Value, revisions: [&str; 2]| {
        let message = answer["error"]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"));
        revisions.iter().all(|revision| message.contains(revision))
    };
    // A server of the handshake's era, which knows no request before its session.
    let old = Upstream::start(|_, to| {
        let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "no session"}});
        reply(
            to,
            "400 Bad Request",
            &[("content-type", "application/json")],
            &error.to_string(),
        );
    });
    let guard = Listening::start(&project, &[], &["--url", &old.url]);
    let (message, headers) = modern(1, "a.txt");
    for _ in 0..2 {
        let answer = guard.post(&headers, &message);
        assert!(says(&answer.json(), [MODERN, "2025-11-25"]), "{answer:?}");
        // A client of both eras goes on with `initialize` after this status and a code that is not one of the modern era.
        assert_eq!(
            (answer.status(), &answer.json()["error"]["code"]),
            (400, &json!(-32600))
        );
    }
    // The same as a program.
    let script = r#"while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id"
done"#;
    let guard = Listening::script(&project, &[], script);
    for _ in 0..2 {
        let answer = guard.post(&headers, &message);
        assert_eq!(answer.status(), 400, "{answer:?}");
        assert!(says(&answer.json(), [MODERN, "2025-11-25"]), "{answer:?}");
    }
    // A server of the modern era, which wants its headers.
    let new = Upstream::start(|request, to| {
        assert_eq!(request.header("mcp-method"), None);
        let error = json!({"jsonrpc": "2.0", "id": 0, "error": {"code": -32022, "message": "Unsupported protocol version",
            "data": {"supported": [MODERN], "requested": ""}}});
        reply(
            to,
            "400 Bad Request",
            &[("content-type", "application/json")],
            &error.to_string(),
        );
    });
    let guard = Listening::start(&project, &[], &["--url", &new.url]);
    let answer = guard.post(&[], &initialize());
    assert!(says(&answer.json(), ["2025-06-18", MODERN]), "{answer:?}");
    assert_eq!(answer.header("mcp-session-id"), None);
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

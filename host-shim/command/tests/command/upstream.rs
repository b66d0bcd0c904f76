//! `callgate guard` before servers over HTTP, and what they get wrong.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::guarding::{Guarded, log, until};
use crate::http::{Listening, MODERN, call, echo, initialize, modern};
use crate::project::Project;
use crate::wire::{self, Upstream, ask, reply, stream};

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
    // A port that was free a moment ago is another test's now.
    let nobody = "http://127.0.0.1:1/mcp".to_owned();
    let answering = |status: &'static str, kind: &'static str, body: &'static str| {
        Upstream::start(move |_, to| reply(to, status, &[("content-type", kind)], body)).url
    };
    let broken = Upstream::start(|_, to| {
        let _ =
            to.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{");
    });
    let long = Upstream::start(|_, to| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 200000000\r\n\r\n{";
        let _ = to.write_all(head.as_bytes());
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
        (long.url, "answered with more than 134217728 bytes"),
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
        (
            &["--listen", "0", "--allow-host", "gate.example:80", "--", "cat"],
            "--allow-host: found `gate.example:80`",
        ),
        (
            &[
                "--listen",
                "0",
                "--allow-origin",
                "https://a.example/",
                "--",
                "cat",
            ],
            "--allow-origin: found `https://a.example/`",
        ),
        (
            &["--listen", "0", "--allow-origin", "*", "--", "cat"],
            "--allow-origin: found `*`",
        ),
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
    until(|| log(&project).iter().any(|line| line["outcome"] == "cancelled"));
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
fn what_a_server_says_by_itself_reaches_the_client() {
    let project = Project::new();
    let upstream = Upstream::start(|request, to| {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let says = |id: &str, method: &str| {
            format!(
                "id: {id}\nretry: 10\ndata: {{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"{method}\"}}\n\n"
            )
        };
        match (&*request.head, request.header("last-event-id")) {
            (head, None) if head.starts_with("GET") => {
                std::thread::sleep(Duration::from_millis(300));
                stream(to, &says("e1", "roots/list"));
            }
            (head, Some("e1")) if head.starts_with("GET") => {
                stream(to, &says("e2", "sampling/createMessage"))
            }
            (head, _) if head.starts_with("GET") => reply(to, "405 Method Not Allowed", &[], ""),
            (_, _) if message["method"] == "initialize" => {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {}}).to_string();
                reply(to, "200 OK", &[("content-type", "application/json")], &answer);
            }
            (_, _) => reply(to, "202 Accepted", &[], ""),
        }
    });
    let mut guarded = Guarded::with(&project, &["--url", &upstream.url], &[]);
    guarded.send(&initialize());
    guarded.receive();
    guarded.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    guarded.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    // The stream ends after the first message, and is gone on with.
    for method in ["roots/list", "sampling/createMessage"] {
        assert_eq!(guarded.receive()["method"], method);
    }
    // Whatever else the client says comes after the server was asked for the stream.
    until(|| !upstream.messages("notifications/roots/list_changed").is_empty());
    let seen = upstream.seen();
    let at = |part: &str| {
        seen.iter()
            .position(|sent| format!("{} {}", sent.head, sent.body).contains(part))
    };
    assert!(at("GET /mcp") < at("list_changed"), "{seen:?}");
    // The client's answer goes to the server as it is.
    let answer = json!({"jsonrpc": "2.0", "id": "s", "result": {"roots": []}});
    guarded.send(&answer);
    let text = answer.to_string();
    until(|| upstream.seen().iter().any(|sent| sent.body == text));
    guarded.end();
}

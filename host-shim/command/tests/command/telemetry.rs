//! Decisions as a collector of OpenTelemetry gets them.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::guarding::{Guarded, log};
use crate::project::Project;

/// A server that answers the second call with an error of its tool.
const SERVER: &str = r#"read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
    read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true}}'
    read -r line; echo '{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no"}}'; cat"#;

/// A span, as far as it is looked at here.
#[derive(Debug)]
struct Span {
    trace: Vec<u8>,
    parent: Vec<u8>,
    name: String,
    attributes: BTreeMap<String, String>,
}

/// The fields of a message in protobuf that have a length, by their numbers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = number(&mut bytes);
        match key & 7 {
            0 => {
                number(&mut bytes);
            }
            1 => bytes = &bytes[8..],
            5 => bytes = &bytes[4..],
            2 => {
                let length = usize::try_from(number(&mut bytes)).expect("a length");
                let (field, rest) = bytes.split_at(length);
                found.push((key >> 3, field));
                bytes = rest;
            }
            other => panic!("a field of type {other}"),
        }
    }
    found
}

fn number(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first().expect("a number");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        shift += 7;
        if first & 0x80 == 0 {
            return value;
        }
    }
}

fn below<'b>(bytes: &'b [u8], path: &[u64]) -> Vec<&'b [u8]> {
    path.iter().fold(vec![bytes], |all, wanted| {
        let found = all.into_iter().flat_map(fields);
        found
            .filter(|(field, _)| field == wanted)
            .map(|(_, bytes)| bytes)
            .collect()
    })
}

fn text(bytes: Option<&&[u8]>) -> String {
    String::from_utf8(bytes.expect("a text").to_vec()).expect("UTF-8")
}

/// The spans of an `ExportTraceServiceRequest`.
/// <https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto>
fn spans(request: &[u8]) -> Vec<Span> {
    let spans = below(request, &[1, 2, 2]);
    let read = |span: &[u8]| Span {
        trace: below(span, &[1]).concat(),
        parent: below(span, &[4]).concat(),
        name: text(below(span, &[5]).first()),
        attributes: below(span, &[9])
            .into_iter()
            .filter_map(|attribute| {
                let value = below(attribute, &[2, 1]);
                let value = value.first().map(|value| text(Some(value)))?;
                Some((text(below(attribute, &[1]).first()), value))
            })
            .collect(),
    };
    spans.into_iter().map(read).collect()
}

/// A collector, its address, and what it gets.
fn collector() -> (String, Receiver<Vec<Span>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/v1/traces", listener.local_addr().expect("an address"));
    let (tell, told) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let tell = tell.clone();
            thread::spawn(move || collect(stream.expect("a connection"), &tell));
        }
    });
    (address, told)
}

fn collect(mut stream: TcpStream, tell: &Sender<Vec<Span>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    loop {
        let mut length = 0;
        let mut head = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or_default() == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line == "\r\n" {
                break;
            }
            head += &line;
        }
        let of = |signal: &str| head.starts_with(&format!("POST /v1/{signal} HTTP/1.1"));
        assert!(["logs", "metrics", "traces"].into_iter().any(of), "{head}");
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        // The guard ends as soon as it is answered.
        if of("traces") {
            let _ = tell.send(spans(&body));
        }
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer.as_bytes()).expect("it is read");
    }
}

fn reading(id: u32, path: &str, meta: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "read_text_file", "arguments": {"path": path}, "_meta": meta}})
}

fn call(guarded: &mut Guarded, id: u32, path: &str, meta: &Value) -> Value {
    guarded.send(&reading(id, path, meta));
    guarded.receive()
}

#[test]
fn a_collector_gets_a_span_for_each_decision() {
    let project = Project::new();
    let (address, told) = collector();
    let mut guarded = Guarded::start(&project, &["--audit", "log.jsonl", "--otlp", &address], SERVER);
    let meta = json!({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    call(&mut guarded, 1, "a.txt", &meta);
    call(&mut guarded, 2, "b.txt", &json!({}));
    call(&mut guarded, 3, "c.txt", &json!({}));
    call(&mut guarded, 4, "~/.ssh/id", &json!({}));
    assert_eq!(guarded.end().0, Some(0));
    let mut all = Vec::new();
    while all.len() < 4 {
        all.extend(told.recv_timeout(Duration::from_secs(60)).expect("four spans"));
    }
    all.extend(told.try_iter().flatten());
    all.sort_by_key(|span| span.attributes["jsonrpc.request.id"].clone());
    let attribute = |name: &str| -> Vec<Option<&str>> {
        all.iter()
            .map(|span| span.attributes.get(name).map(String::as_str))
            .collect()
    };
    assert!(
        all.iter().all(|span| span.name == "tools/call read_text_file"),
        "{all:?}"
    );
    for (name, expected) in [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "read_text_file"),
        ("network.transport", "pipe"),
        ("callgate.server", "filesystem"),
    ] {
        assert_eq!(attribute(name), [Some(expected); 4], "{name}");
    }
    assert_eq!(
        attribute("callgate.decision"),
        [Some("allow"), Some("allow"), Some("allow"), Some("deny")]
    );
    assert_eq!(
        attribute("error.type"),
        [None, Some("tool_error"), Some("-32602"), Some("tool_error")]
    );
    assert_eq!(
        attribute("rpc.response.status_code"),
        [None, None, Some("-32602"), None]
    );
    assert_eq!(
        attribute("mcp.protocol.version"),
        [Some("2026-07-28"), None, None, None]
    );
    assert_eq!(attribute("callgate.rule")[3], Some("structural-protected-path"));
    let first = &all[0];
    assert_eq!(first.trace[..2], [0x0a, 0xf7]);
    assert_eq!(first.parent[..2], [0xb7, 0xad]);
    // It is the log's call, and nothing of its arguments is there.
    assert_eq!(first.attributes["callgate.call.id"], log(&project)[1]["id"]);
    assert!(!format!("{all:?}").contains("a.txt"), "{all:?}");
}

#[test]
fn no_call_waits_for_a_collector() {
    // One that is not there, one that never answers, and one that is not a collector.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = format!("http://{}/v1/traces", silent.local_addr().expect("an address"));
    for address in ["http://127.0.0.1:9/v1/traces", &silent] {
        let project = Project::new();
        let mut guarded = Guarded::start(&project, &["--audit", "log.jsonl", "--otlp", address], SERVER);
        let begin = Instant::now();
        assert_eq!(
            call(&mut guarded, 1, "a.txt", &json!({}))["result"],
            json!({"content": []})
        );
        assert_eq!(
            call(&mut guarded, 4, "~/.ssh/id", &json!({}))["result"]["isError"],
            true
        );
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        assert_eq!(guarded.end().0, Some(0));
        assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
        let kinds: Vec<Value> = log(&project).iter().map(|line| line["kind"].clone()).collect();
        assert_eq!(kinds, ["start", "decision", "outcome", "decision", "stop"]);
    }
    Project::new().check(
        &["guard", "--server", "s", "--otlp", "no address", "--", "cat"],
        1,
        &[],
        &["cannot send telemetry: "],
    );
}

use serde_json::{Value, json};

use super::*;
use crate::tests::{call, service};

const DUPLEX: BodySendMode = BodySendMode::FullDuplexStreamed;

fn open(server: Option<&str>) -> Processing {
    let service = service(server);
    let exchange = service.guard(None, None).map(Exchange::new);
    Processing {
        service,
        exchange,
        modes: None,
        stage: Stage::Head,
        is_open: true,
    }
}

fn wire(headers: &[(&str, &str)], end_of_stream: bool) -> HttpHeaders {
    let headers = headers.iter().map(|(key, value)| WireHeader {
        key: (*key).to_owned(),
        raw_value: value.as_bytes().to_vec(),
        ..WireHeader::default()
    });
    HttpHeaders {
        headers: Some(WireHeaders {
            headers: headers.collect(),
        }),
        end_of_stream,
        ..HttpHeaders::default()
    }
}

fn piece(body: &str, end_of_stream: bool) -> HttpBody {
    HttpBody {
        body: body.as_bytes().to_vec(),
        end_of_stream,
        ..HttpBody::default()
    }
}

fn take(processing: &mut Processing, part: Part) -> Vec<Answer> {
    let message = ProcessingRequest {
        request: Some(part),
        ..ProcessingRequest::default()
    };
    let answers = processing.take(message).unwrap();
    answers.into_iter().filter_map(|answer| answer.response).collect()
}

/// The head of a request, with how Envoy sends bodies.
fn begin(
    processing: &mut Processing,
    headers: &[(&str, &str)],
    modes: (BodySendMode, BodySendMode),
) -> Answer {
    let has_body = headers.contains(&(":method", "POST"));
    let message = ProcessingRequest {
        request: Some(Part::RequestHeaders(wire(headers, !has_body))),
        protocol_config: Some(
            envoy_types::pb::envoy::service::ext_proc::v3::ProtocolConfiguration {
                request_body_mode: modes.0.into(),
                response_body_mode: modes.1.into(),
                send_body_without_waiting_for_header_response: false,
            },
        ),
        ..ProcessingRequest::default()
    };
    let answer = processing.take(message).unwrap().remove(0);
    answer.response.unwrap()
}

const POST: [(&str, &str); 2] = [(":method", "POST"), ("content-type", "application/json")];

/// What becomes of a message.
fn sent(body: &str) -> (Processing, Answer) {
    let mut processing = open(Some("web"));
    let head = begin(&mut processing, &POST, (BodySendMode::Buffered, DUPLEX));
    assert!(matches!(head, Answer::RequestHeaders(_)), "{head:?}");
    let answer = take(&mut processing, Part::RequestBody(piece(body, true))).remove(0);
    (processing, answer)
}

fn mutation(answer: &Answer) -> Option<&Mutation> {
    let (Answer::RequestBody(body) | Answer::ResponseBody(body)) = answer else {
        panic!("{answer:?}");
    };
    let response = body.response.as_ref()?;
    response.body_mutation.as_ref()?.mutation.as_ref()
}

/// The status and the text of an answer in the server's place.
#[track_caller]
fn instead(answer: &Answer) -> (i32, Value) {
    let Answer::ImmediateResponse(response) = answer else {
        panic!("{answer:?}");
    };
    let code = response.status.as_ref().map(|status| status.code);
    let body = serde_json::from_slice(&response.body).unwrap_or_default();
    (code.unwrap(), body)
}

/// The server's answer, in pieces, as the client gets it.
fn answered(processing: &mut Processing, kind: &str, pieces: &[&str]) -> String {
    let head = wire(&[(":status", "200"), ("content-type", kind)], pieces.is_empty());
    let head = take(processing, Part::ResponseHeaders(head)).remove(0);
    assert!(matches!(head, Answer::ResponseHeaders(_)), "{head:?}");
    let mut passed = String::new();
    let mut has_ended = false;
    for (at, text) in pieces.iter().enumerate() {
        let is_last = at + 1 == pieces.len();
        for answer in take(processing, Part::ResponseBody(piece(text, is_last))) {
            let Some(Mutation::StreamedResponse(streamed)) = mutation(&answer) else {
                panic!("{answer:?}");
            };
            passed.push_str(std::str::from_utf8(&streamed.body).unwrap());
            has_ended |= streamed.end_of_stream;
        }
    }
    assert!(has_ended || pieces.is_empty());
    passed
}

#[test]
fn an_allowed_call_goes_on_as_it_was_judged() {
    let given = call("fetch", r#"{"url":"https://docs.example/a"}"#);
    let (_, answer) = sent(&given);
    assert_eq!(mutation(&answer), None);
    let (_, answer) = sent(&call("fetch", r#"{"url":"HTTPS://docs.example:443/x/../a"}"#));
    assert_eq!(mutation(&answer), Some(&Mutation::Body(given.into_bytes())));
}

#[test]
fn a_denied_call_is_answered_with_a_tool_result() {
    for (tool, arguments, expected) in [
        ("fetch", r#"{"url":"https://evil.example/"}"#, "deny"),
        ("unknown", "{}", "deny"),
        ("report", "{}", "escalate"),
    ] {
        let (mut processing, answer) = sent(&call(tool, arguments));
        let (status, body) = instead(&answer);
        assert_eq!((status, &body["id"]), (200, &json!(7)));
        assert_eq!(body["result"]["isError"], true, "{body}");
        assert_eq!(body["result"]["_meta"]["callgate/decision"], expected, "{body}");
        // Whatever came after that would not be looked at.
        assert!(!processing.is_open);
        let message = ProcessingRequest {
            request: Some(Part::RequestBody(piece("{}", true))),
            ..ProcessingRequest::default()
        };
        let again = processing.take(message).unwrap().remove(0);
        assert_eq!(instead(&again.response.unwrap()).0, 500);
    }
}

#[test]
fn no_path_of_the_host_is_told() {
    let (_, answer) = sent(&call("read", r#"{"path":"notes.txt"}"#));
    let Some(Mutation::Body(body)) = mutation(&answer) else {
        panic!("{answer:?}");
    };
    assert!(String::from_utf8_lossy(body).contains("/srv/secret-place/notes.txt"));
    let (_, answer) = sent(&call("read", r#"{"path":"../other"}"#));
    let (_, body) = instead(&answer);
    assert_eq!(body["result"]["isError"], true, "{body}");
    assert!(!body.to_string().contains("/srv"), "{body}");
}

#[test]
fn what_two_parsers_could_read_differently_goes_no_further() {
    let twice = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"fetch","name":"x"}}"#;
    let batch = format!("[{}]", call("fetch", "{}"));
    let spelled = call("fetch", "{}").replace("tools/call", "Tools/Call");
    for body in [twice, &batch, &spelled, "", "{", "\u{feff}{}", "null"] {
        let (status, answer) = instead(&sent(body).1);
        assert!((200..=400).contains(&status), "{body}: {status}");
        assert!(answer["error"]["code"].is_i64(), "{body}: {answer}");
    }
    let bytes = Part::RequestBody(HttpBody {
        body: vec![0xff],
        end_of_stream: true,
        ..HttpBody::default()
    });
    let mut processing = open(Some("web"));
    begin(&mut processing, &POST, (BodySendMode::Buffered, DUPLEX));
    assert_eq!(instead(&take(&mut processing, bytes)[0]).0, 400);
}

#[test]
fn other_messages_pass() {
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": "x", "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 3, "result": {"roots": []}}),
    ] {
        let (_, answer) = sent(&message.to_string());
        assert_eq!(mutation(&answer), None, "{message}");
    }
}

#[test]
fn what_is_not_shown_whole_goes_no_further() {
    let post = |headers: &[(&str, &str)], mode| {
        let mut processing = open(Some("web"));
        let mut all = POST.to_vec();
        all.extend(headers);
        let answer = begin(&mut processing, &all, (mode, DUPLEX));
        (processing, answer)
    };
    for (mode, headers, expected) in [
        (BodySendMode::None, &[][..], 500),
        (BodySendMode::BufferedPartial, &[], 500),
        (BodySendMode::Streamed, &[], 500),
        (DUPLEX, &[], 500),
        (BodySendMode::Buffered, &[("content-encoding", "gzip")], 415),
        (
            BodySendMode::Buffered,
            &[("content-encoding", "identity"), ("content-encoding", "br")],
            415,
        ),
        (
            BodySendMode::Buffered,
            &[("content-type", "application/json")],
            415,
        ),
        (BodySendMode::Buffered, &[("upgrade", "websocket")], 501),
    ] {
        let (_, answer) = post(headers, mode);
        assert_eq!(instead(&answer).0, expected, "{mode:?} {headers:?}");
    }
    // A part of a body.
    let (mut processing, _) = post(&[], BodySendMode::Buffered);
    let answers = take(&mut processing, Part::RequestBody(piece("{", false)));
    assert_eq!(instead(&answers[0]).0, 500);
    // A body without its headers.
    let mut unannounced = open(Some("web"));
    let answers = take(&mut unannounced, Part::RequestBody(piece("{}", true)));
    assert_eq!(instead(&answers[0]).0, 500);
    for (method, expected) in [("PUT", 405), ("PATCH", 405), ("CONNECT", 405), ("post", 405)] {
        let mut processing = open(Some("web"));
        let answer = begin(
            &mut processing,
            &[(":method", method)],
            (BodySendMode::Buffered, DUPLEX),
        );
        assert_eq!(instead(&answer).0, expected, "{method}");
    }
    for kind in ["text/plain", "application/json; charset=utf-16", ""] {
        let mut processing = open(Some("web"));
        let headers = [(":method", "POST"), ("content-type", kind)];
        let answer = begin(&mut processing, &headers, (BodySendMode::Buffered, DUPLEX));
        assert_eq!(instead(&answer).0, 415, "{kind}");
    }
}

#[test]
fn a_request_to_nobody_goes_no_further() {
    let mut processing = open(None);
    let answer = begin(
        &mut processing,
        &[(":method", "GET")],
        (BodySendMode::Buffered, DUPLEX),
    );
    assert_eq!(instead(&answer).0, 500);
}

const TOOLS: &str =
    r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"fetch"},{"name":"secret"},{"name":"report"}]}}"#;
const SHOWN: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"fetch"},{"name":"report"}]}}"#;

#[test]
fn a_list_of_tools_is_filtered() {
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let (first, second) = TOOLS.split_at(40);
    let whole = answered(
        &mut sent(list).0,
        "application/json; charset=utf-8",
        &[first, second],
    );
    assert_eq!(whole, SHOWN);
    let events = format!("id: 1\ndata:\n\n: hello\n\nid: 2\nevent: message\ndata: {TOOLS}\n\n");
    let (first, second) = events.split_at(60);
    let passed = answered(&mut sent(list).0, "text/event-stream", &[first, second, ""]);
    assert_eq!(
        passed,
        format!("id: 1\ndata: \n\nid: 2\nevent: message\ndata: {SHOWN}\n\n")
    );
    // A stream that goes on with an earlier one.
    let mut stream = open(Some("web"));
    begin(
        &mut stream,
        &[(":method", "GET")],
        (BodySendMode::Buffered, DUPLEX),
    );
    let passed = answered(&mut stream, "text/event-stream", &[&events]);
    assert!(passed.contains(SHOWN) && !passed.contains("secret"), "{passed}");
}

#[test]
fn an_answer_that_cannot_be_looked_through_is_replaced() {
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let head = |headers: &[(&str, &str)]| {
        let mut processing = sent(list).0;
        take(&mut processing, Part::ResponseHeaders(wire(headers, false))).remove(0)
    };
    for headers in [
        &[
            (":status", "200"),
            ("content-type", "application/json"),
            ("content-encoding", "gzip"),
        ][..],
        &[(":status", "200"), ("content-type", "text/html")],
        &[(":status", "200")],
    ] {
        let (status, body) = instead(&head(headers));
        assert_eq!((status, &body["id"]), (502, &json!(2)), "{headers:?}");
    }
    // Errors of HTTP say why in their own way.
    let refused = head(&[(":status", "401"), ("content-type", "text/plain")]);
    assert!(matches!(refused, Answer::ResponseHeaders(_)));
    for text in [
        "nonsense",
        r#"{"jsonrpc":"2.0","id":9,"result":{"tools":[{"name":"secret"}]}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"secret","Name":"fetch"}]}}"#,
        &format!("[{TOOLS}]"),
    ] {
        let passed = answered(&mut sent(list).0, "application/json", &[text]);
        let passed: Value = serde_json::from_str(&passed).unwrap();
        assert_eq!(passed["id"], 2, "{text}");
        assert!(passed["error"]["message"].is_string(), "{text}: {passed}");
    }
}

#[test]
fn an_answer_that_is_not_read_passes_as_it_came() {
    let mut stream = open(Some("web"));
    begin(
        &mut stream,
        &[(":method", "GET")],
        (BodySendMode::Buffered, DUPLEX),
    );
    assert_eq!(answered(&mut stream, "text/html", &["<p>", "x"]), "<p>x");
    // Servers say so in their own words.
    let mut told = sent(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).0;
    assert_eq!(answered(&mut told, "text/plain", &["Accepted"]), "Accepted");
    let (mut call, _) = sent(&call("fetch", r#"{"url":"https://docs.example/a"}"#));
    let answer = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"tools"}]}}"#;
    assert_eq!(answered(&mut call, "application/json", &[answer]), answer);
}

#[test]
fn a_stream_of_an_odd_type_is_no_way_past_the_lists() {
    for kind in ["text/event-stream,text/event-stream", "text/json", "x-json"] {
        let mut stream = open(Some("web"));
        begin(
            &mut stream,
            &[(":method", "GET")],
            (BodySendMode::Buffered, DUPLEX),
        );
        let head = wire(&[(":status", "200"), ("content-type", kind)], false);
        let answers = take(&mut stream, Part::ResponseHeaders(head));
        let [Answer::ImmediateResponse(refused)] = answers.as_slice() else {
            panic!("{kind}: {answers:?}");
        };
        assert_eq!(refused.status.as_ref().unwrap().code, 502, "{kind}");
    }
}

/// A call of the modern era with headers that repeat its arguments.
fn repeating(headers: &[(&str, &str)], arguments: &str) -> Answer {
    let common = [
        (":method", "POST"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "fetch"),
    ];
    let mut processing = open(Some("web"));
    let headers = [&common, headers].concat();
    begin(&mut processing, &headers, (BodySendMode::Buffered, DUPLEX));
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"fetch","arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let mut answers = take(&mut processing, Part::RequestBody(piece(&call, true)));
    answers.remove(0)
}

#[test]
fn headers_that_repeat_arguments_say_what_is_sent() {
    let url = r#"{"url":"https://docs.example/a","n":42}"#;
    let passes = |answer: &Answer| matches!(answer, Answer::RequestBody(_));
    let repeats = |value| [("mcp-param-url", value)];
    assert!(passes(&repeating(&repeats("https://docs.example/a"), url)));
    assert!(passes(&repeating(&[("mcp-param-n", "42.0")], url)));
    for wrong in [
        ("mcp-param-url", "https://evil.example/a"),
        ("mcp-param-other", "https://docs.example/a"),
        ("mcp-param-n", "43"),
    ] {
        assert!(!passes(&repeating(&[wrong], url)), "{wrong:?}");
    }
    // What is sent is another spelling.
    let spelled = r#"{"url":"HTTPS://docs.example/a"}"#;
    assert!(!passes(&repeating(&repeats("HTTPS://docs.example/a"), spelled)));
    // Only white space between the tokens differs.
    let spaced = r#"{ "url": "https://docs.example/a" }"#;
    assert!(passes(&repeating(&repeats("https://docs.example/a"), spaced)));
}

#[test]
fn bodies_of_answers_come_in_every_mode_that_is_whole() {
    for (mode, expected) in [
        (BodySendMode::Buffered, Some(())),
        (BodySendMode::Streamed, Some(())),
        (BodySendMode::BufferedPartial, None),
        (BodySendMode::Grpc, None),
    ] {
        let mut processing = open(Some("web"));
        begin(&mut processing, &POST, (BodySendMode::Buffered, mode));
        let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
        take(&mut processing, Part::RequestBody(piece(list, true)));
        let head = wire(&[(":status", "200"), ("content-type", "application/json")], false);
        take(&mut processing, Part::ResponseHeaders(head));
        let message = ProcessingRequest {
            request: Some(Part::ResponseBody(piece(TOOLS, true))),
            ..ProcessingRequest::default()
        };
        let answers = processing.take(message).ok().map(|mut answers| {
            let answer = answers.remove(0).response.unwrap();
            assert_eq!(mutation(&answer), Some(&Mutation::Body(SHOWN.into())));
        });
        assert_eq!(answers, expected, "{mode:?}");
    }
}

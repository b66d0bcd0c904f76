//! Messages that two programs could read differently.

use super::*;

#[test]
fn what_two_parsers_could_read_differently_does_not_pass() {
    let mut relay = relay();
    let null = Value::Null;
    for (message, id, reason) in [
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, &null, "batches"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
            &null,
            "`method` occurs twice",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}"#,
            &null,
            "expected `method`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"Tools/Call"}"#,
            &json!(1),
            "expected `tools/call`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools%2Fcall"}"#,
            &json!(1),
            "expected `tools/call`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
            &null,
            "a method and an answer",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/call"}"#,
            &null,
            "`id`",
        ),
        (r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#, &null, "`id`"),
        (
            r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}"#,
            &null,
            "`id`",
        ),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, &null, "`id`"),
        (r#"{"id":1,"method":"ping"}"#, &json!(1), "jsonrpc"),
        (r#"{"jsonrpc":"2.0","id":1}"#, &json!(1), "neither"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            &json!(1),
            "not a string",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":NaN}"#,
            &null,
            "not a JSON-RPC message",
        ),
        ("{} {}", &null, "not a JSON-RPC message"),
        ("\u{feff}{}", &null, "not a JSON-RPC message"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            &json!(1),
            "`params` are absent",
        ),
    ] {
        refused(client(&mut relay, message), id, reason);
    }
    for (params, reason) in [
        ("[]", "not an object"),
        (r#"{"name":"read","Name":"wait"}"#, "occurs twice"),
        (r#"{"Name":"read"}"#, "expected `name`"),
        (
            r#"{"name":"read","arguments":{"path":"a","path":"/etc"}}"#,
            "`path` occurs twice",
        ),
        (
            r#"{"name":"read","arguments":{"path":"a","PATH":"/etc"}}"#,
            "`PATH` occurs twice",
        ),
        (r#"{"name":"read","arguments":{"path":"\ud800"}}"#, "hex escape"),
        (r#"{"name":5}"#, "`params.name`"),
    ] {
        refused(client(&mut relay, &call("1", params)), &json!(1), reason);
    }
    assert!(relay.waiting.is_empty());
}

#[test]
fn a_name_with_a_control_character_does_not_pass() {
    let mut relay = relay();
    for (message, reason) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call\u0000x"}"#,
            "`method`",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping\u007f"}"#, "`method`"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method\u0000":"tools/call"}"#,
            "control character",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","x\n":1}"#,
            "control character",
        ),
    ] {
        let answer = to_client(client(&mut relay, message));
        assert_eq!(answer["error"]["code"], -32600, "{message}");
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains(reason), "{text}");
    }
    for params in [
        r#"{"name":"read\u0000x","arguments":{"path":"a"}}"#,
        r#"{"name":"wait","name\u0000":"read"}"#,
        r#"{"name":"read","arguments\u0000":{"path":"/etc"},"arguments":{"path":"a"}}"#,
        r#"{"name":"read","_meta":{"x":{"y\t":1}},"arguments":{"path":"a"}}"#,
    ] {
        refused(
            client(&mut relay, &call("1", params)),
            &json!(1),
            "control character",
        );
    }
    // What the guard goes by is read alike by everybody.
    let cancels =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"requestId":2}}"#;
    assert!(matches!(client(&mut relay, cancels), Delivery::Refused(_)));
    let begins = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"elicitation\u0000":{}}}}"#;
    refused(client(&mut relay, begins), &json!(1), "control character");
    // A server's list is shown without such tools.
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    client(&mut relay, list);
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read"},{"name":"wait\u0000"}]}}"#;
    let shown = to_client(relay.server_sent(answer.to_owned()));
    assert_eq!(shown["result"]["tools"], json!([{"name": "read"}]));
    client(&mut relay, list);
    let hidden =
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","description\u0000":"Sends"}]}}"#;
    assert_eq!(
        to_client(relay.server_sent(hidden.to_owned()))["error"]["code"],
        -32603
    );
}

#[test]
fn an_id_is_one_however_it_is_spelled() {
    let mut relay = relay();
    let list = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    for (asked, spelled) in [
        ("7", "7.0"),
        ("7", "7e0"),
        ("7", "70e-1"),
        ("-7", "-7.0"),
        ("0", "-0"),
    ] {
        client(&mut relay, &list(asked));
        let answer = |id: &str, tools: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{tools}]}}}}"#)
        };
        let tools = r#"{"name":"read"},{"name":"rm"}"#;
        let shown = Delivery::ToClient(answer(asked, r#"{"name":"read"}"#));
        assert_eq!(relay.server_sent(answer(spelled, tools)), shown, "{spelled}");
        assert_eq!(relay.server_sent(answer(asked, tools)), Delivery::Nowhere);
    }
    // A request is not spelled so: some servers take it for a notification.
    refused(client(&mut relay, &list("7.0")), &Value::Null, "`id`");
    // Nor is the answer of a client to nobody passed on.
    for id in ["null", "7.5", "[7]"] {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert!(
            matches!(client(&mut relay, &answer), Delivery::Refused(_)),
            "{answer}"
        );
    }
    // A cancellation is of the same request.
    let cancels = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    client(
        &mut relay,
        &call("6", r#"{"name":"read","arguments":{"path":"a"}}"#),
    );
    assert_eq!(relay.calls_in_flight(), 1);
    assert!(matches!(
        client(&mut relay, &cancels("6.0")),
        Delivery::ToServer(_)
    ));
    assert_eq!(relay.calls_in_flight(), 0);
}

#[test]
fn a_notification_is_no_call() {
    let mut relay = relay();
    for method in ["tools/call", "tools/list", "Tools/call"] {
        let message = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"name":"read"}}}}"#);
        assert!(
            matches!(client(&mut relay, &message), Delivery::Refused(_)),
            "{method}"
        );
    }
    let other = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(client(&mut relay, other), Delivery::ToServer(other.to_owned()));
}

#[test]
fn a_message_is_one_line_for_every_reader_of_lines() {
    let mut relay = relay();
    let hidden =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\r{\"jsonrpc\":\"2.0\"}\r}}\r";
    let Delivery::ToServer(sent) = client(&mut relay, hidden) else {
        panic!()
    };
    assert_eq!(sent, hidden.replace('\r', " "));
    // In a string it is not JSON.
    for end in ['\r', '\n'] {
        let call = call("2", r#"{"name":"read","arguments":{"path":"a-b"}}"#).replace('-', &end.to_string());
        refused(client(&mut relay, &call), &Value::Null, "control character");
    }
}

#[test]
fn an_id_that_waits_is_not_used_again() {
    let mut relay = relay();
    let ping = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    assert!(matches!(client(&mut relay, &ping("1")), Delivery::ToServer(_)));
    for id in ["1", "\"1\"", "\"\\u0031\""] {
        refused(
            client(&mut relay, &ping(id)),
            &serde_json::from_str(id).unwrap(),
            "the id 1",
        );
    }
    let read = r#"{"name":"read","arguments":{"path":"a"}}"#;
    refused(client(&mut relay, &call("1", read)), &json!(1), "the id 1");
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(
        relay.server_sent(answer.to_owned()),
        Delivery::ToClient(answer.to_owned())
    );
    // Nobody waits for a second answer.
    assert_eq!(relay.server_sent(answer.to_owned()), Delivery::Nowhere);
    assert!(matches!(client(&mut relay, &ping("1")), Delivery::ToServer(_)));
}

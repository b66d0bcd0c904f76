use super::*;
use crate::tests::service;

fn request(method: &str, params: Option<&str>) -> Judged {
    let door = ExtMcpDoor::new(service(None));
    door.request(
        (None, None),
        McpRequest {
            service_names: vec!["web".to_owned()],
            method: method.to_owned(),
            mcp_request: params.map(|params| params.as_bytes().to_vec()),
        },
    )
}

fn response(method: &str, result: &str) -> Judged {
    let door = ExtMcpDoor::new(service(Some("web")));
    door.response(
        (None, None),
        McpResponse {
            service_names: Vec::new(),
            method: method.to_owned(),
            mcp_response: result.as_bytes().to_vec(),
        },
    )
}

#[track_caller]
fn code(judged: Judged) -> i32 {
    match judged {
        Judged::Refused(error) => error.code,
        Judged::Pass => panic!("it passes"),
        Judged::Mutated(text) => panic!("{text}"),
    }
}

#[test]
fn params_are_those_that_were_judged() {
    let exact = r#"{"name":"fetch","arguments":{"url":"https://docs.example/a"}}"#;
    assert!(matches!(request("tools/call", Some(exact)), Judged::Pass));
    let spelled = exact.replace("https://docs.example/a", "HTTPS://docs.example:443/x/../a");
    match request("tools/call", Some(&spelled)) {
        Judged::Mutated(params) => assert_eq!(params, exact),
        Judged::Pass | Judged::Refused(_) => panic!("rewritten"),
    }
    let denied = exact.replace("docs", "evil");
    assert_eq!(
        code(request("tools/call", Some(&denied))),
        ErrorCode::PermissionDenied as i32
    );
    for (method, params) in [
        ("tools/call", Some("{")),
        ("tools/call", Some(r#"{"name":"fetch","name":"read"}"#)),
        ("tools/call", Some(r#"{},"method":"ping""#)),
        ("tools/call", None),
        ("Tools/Call", Some(exact)),
    ] {
        assert_eq!(
            code(request(method, params)),
            ErrorCode::Invalid as i32,
            "{method} {params:?}"
        );
    }
    assert!(matches!(request("ping", None), Judged::Pass));
    let door = ExtMcpDoor::new(service(None));
    let to_several = McpRequest {
        service_names: vec!["web".to_owned(), "other".to_owned()],
        method: "ping".to_owned(),
        mcp_request: None,
    };
    assert_eq!(
        code(door.request((None, None), to_several)),
        ErrorCode::Invalid as i32
    );
}

#[test]
fn tools_are_filtered_in_results() {
    let tools = r#"{"tools":[{"name":"fetch"},{"name":"secret"}]}"#;
    match response("tools/list", tools) {
        Judged::Mutated(result) => assert_eq!(result, r#"{"tools":[{"name":"fetch"}]}"#),
        Judged::Pass | Judged::Refused(_) => panic!("filtered"),
    }
    assert!(matches!(response("tools/list", r#"{"tools":[]}"#), Judged::Pass));
    assert!(matches!(
        response("tools/call", r#"{"content":[]}"#),
        Judged::Pass
    ));
    for result in ["{", r#"{"tools":7}"#, r#"{},"id":1"#] {
        assert_eq!(
            code(response("tools/list", result)),
            ErrorCode::Invalid as i32,
            "{result}"
        );
    }
}

use std::collections::HashMap;

use envoy_types::pb::envoy::service::auth::v3::attribute_context::Request as OfContext;
use serde_json::Value;

use super::*;
use crate::tests::{call, service};

fn context(method: &str, headers: &[(&str, &str)], body: &str) -> AttributeContext {
    let headers: HashMap<String, String> = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    AttributeContext {
        request: Some(OfContext {
            http: Some(HttpRequest {
                method: method.to_owned(),
                headers,
                raw_body: body.as_bytes().to_vec(),
                size: i64::try_from(body.len()).unwrap(),
                ..HttpRequest::default()
            }),
            ..OfContext::default()
        }),
        ..AttributeContext::default()
    }
}

const JSON: [(&str, &str); 2] = [(":path", "/mcp"), ("content-type", "application/json")];

fn decide(context: AttributeContext) -> Result<(), (u16, Value)> {
    let decided = ExtAuthz::new(service(Some("web"))).decide(None, None, context);
    decided.map_err(|reply| {
        (
            reply.status,
            serde_json::from_str(&reply.body).unwrap_or_default(),
        )
    })
}

#[test]
fn a_call_passes_only_as_it_was_judged() {
    let exact = call("fetch", r#"{"url":"https://docs.example/a"}"#);
    assert_eq!(decide(context("POST", &JSON, &exact)), Ok(()));
    assert_eq!(
        decide(context("POST", &JSON, &call("report", "{}")))
            .unwrap_err()
            .0,
        200
    );
    let spelled = call("fetch", r#"{"url":"HTTPS://docs.example:443/x/../a"}"#);
    let (status, body) = decide(context("POST", &JSON, &spelled)).unwrap_err();
    assert_eq!(
        (status, &body["result"]["isError"]),
        (200, &Value::Bool(true)),
        "{body}"
    );
    assert!(body.to_string().contains("https://docs.example/a"), "{body}");
    let rule = |arguments: &str| {
        let (_, body) = decide(context("POST", &JSON, &call("read", arguments))).unwrap_err();
        assert!(!body.to_string().contains("/srv"), "{body}");
        body["result"]["_meta"]["callgate/rule"]
            .as_str()
            .map(str::to_owned)
    };
    assert_eq!(
        rule(r#"{"path":"notes.txt"}"#).as_deref(),
        Some("structural-inexact-call")
    );
    let whole = call("read", r#"{"path":"/srv/secret-place/notes.txt"}"#);
    assert_eq!(decide(context("POST", &JSON, &whole)), Ok(()));
}

#[test]
fn what_is_not_shown_whole_goes_no_further() {
    let text = call("fetch", r#"{"url":"https://docs.example/a"}"#);
    let mut partial = JSON.to_vec();
    partial.push(("x-envoy-auth-partial-body", "true"));
    assert_eq!(decide(context("POST", &partial, &text)).unwrap_err().0, 500);
    let mut short = context("POST", &JSON, &text);
    let http = short
        .request
        .as_mut()
        .and_then(|request| request.http.as_mut())
        .unwrap();
    http.size += 1;
    assert_eq!(decide(short).unwrap_err().0, 500);
    let mut unknown = context("POST", &JSON, "");
    let http = unknown
        .request
        .as_mut()
        .and_then(|request| request.http.as_mut())
        .unwrap();
    http.size = -1;
    assert_eq!(decide(unknown).unwrap_err().0, 400);
    assert_eq!(decide(AttributeContext::default()).unwrap_err().0, 500);
    assert_eq!(decide(context("GET", &[], "")), Ok(()));
    assert_eq!(decide(context("GET", &[], "x")).unwrap_err().0, 400);
    assert_eq!(decide(context("PUT", &JSON, &text)).unwrap_err().0, 405);
}

#[test]
fn a_route_names_its_server() {
    let text = call("fetch", r#"{"url":"https://docs.example/a"}"#);
    let mut named = context("POST", &JSON, &text);
    let door = ExtAuthz::new(service(None));
    assert_eq!(door.decide(None, None, named.clone()).unwrap_err().status, 500);
    assert_eq!(door.decide(Some("web".to_owned()), None, named.clone()), Ok(()));
    named
        .context_extensions
        .insert(SERVER.to_owned(), "web".to_owned());
    assert_eq!(door.decide(Some("other".to_owned()), None, named), Ok(()));
}

//! Decisions as events of the Open Cybersecurity Schema Framework, for systems that collect those of many programs.
//!
//! A line is an [API Activity](https://schema.ocsf.io/1.6.0/classes/api_activity) with the profile `security_control`.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The version of the schema.
const VERSION: &str = "1.6.0";

/// The class, and the activity that is none of its own kinds: nobody knows whether a tool reads or writes.
const API_ACTIVITY: u32 = 6003;
const OTHER: u32 = 99;

/// What a sender is called that did not say its name.
const UNKNOWN: &str = "unknown";

/// The event of a line of the log; `None` if it is not a decision.
pub fn ocsf_event(record: &Value) -> Option<Value> {
    let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
    if text("kind") != "decision" {
        return None;
    }
    let time: Timestamp = text("time").parse().ok()?;
    let caller = |name: &str| record.get("context")?.get(name)?.as_str();
    let agent = caller("agent").unwrap_or(UNKNOWN);
    let mut actor = Map::from_iter([("app_name".to_owned(), agent.into())]);
    if let Some(subject) = caller("subject") {
        actor.insert("user".to_owned(), json!({"name": subject}));
    }
    if let Some(session) = caller("session") {
        actor.insert("session".to_owned(), json!({"uid": session}));
    }
    let decision = text("decision");
    let is_observed = record.get("observed") == Some(&Value::Bool(true));
    // The numbers are of the schema: allowed, denied, observed; allowed, blocked, logged; success, failure.
    let (action, disposition, status) = match (decision, is_observed) {
        (_, true) => (3, 17, 1),
        ("allow", false) => (1, 1, 1),
        (_, false) => (2, 2, 2),
    };
    let values = record.get("values").and_then(Value::as_array);
    let resources: Vec<Value> = values.into_iter().flatten().filter_map(resource).collect();
    let others = [
        "answeredBy",
        "approval",
        "layer",
        "micros",
        "others",
        "sent",
        "valuesLeftOut",
    ];
    let unmapped: Map<String, Value> = others
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), record.get(name)?.clone())))
        .collect();
    Some(json!({
        "activity_id": OTHER,
        "activity_name": "tools/call",
        "category_uid": API_ACTIVITY / 1000,
        "class_uid": API_ACTIVITY,
        "type_uid": API_ACTIVITY * 100 + OTHER,
        "severity_id": 1,
        "time": time.as_millisecond(),
        "metadata": {
            "version": VERSION,
            "profiles": ["security_control"],
            "product": {"name": "Callgate", "vendor_name": "Callgate", "version": env!("CARGO_PKG_VERSION")},
            "uid": text("id"),
            "log_name": text("format"),
            "original_time": text("time"),
        },
        "actor": actor,
        "src_endpoint": {"name": agent},
        "dst_endpoint": {"svc_name": text("server")},
        "api": {"operation": text("tool"), "service": {"name": text("server")}, "request": {"uid": text("id")}},
        "resources": resources,
        "authorizations": [{"decision": decision, "policy": {"name": text("rule"), "uid": text("policy")}}],
        "action_id": action,
        "disposition_id": disposition,
        "status_id": status,
        "status_code": text("rule"),
        "status_detail": text("reason"),
        "unmapped": unmapped,
    }))
}

/// A value under a role: as it was judged, or the digest of one that is withheld.
fn resource(value: &Value) -> Option<Value> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let name = text("canonical")
        .or_else(|| text("raw"))
        .or_else(|| text("digest"))?;
    Some(json!({"name": name, "type": text("role")?}))
}

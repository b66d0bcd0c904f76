//! What a policy makes of tools that were annotated just now.

use callgate_engine::diagnostic::Code;
use callgate_engine::judge::StructuralRule;
use serde_json::{Value, json};

use crate::Finding;

/// What a bundle's policy makes of a server's tools.
#[derive(Clone, Debug, Default)]
pub struct Doubts {
    /// Tools whose every call is denied, and roles that no rule names.
    pub findings: Vec<Finding>,
    /// A rule under which a person is asked about tools whose every call is denied for want of a rule.
    pub rule: Option<Value>,
}

impl Doubts {
    /// Of what lint finds, those about the tools of this server. `decides` returns the rule that decides a call, which is JSON text.
    pub fn about(server: &str, found: Vec<Finding>, decides: impl Fn(&str) -> Option<String>) -> Self {
        let is_meant = |finding: &Finding| {
            let named = finding
                .call
                .as_ref()
                .and_then(|call| call.get("serverName")?.as_str());
            let code = finding.diagnostic.code;
            matches!(code, Code::AlwaysDenied | Code::UnreadRole) && named == Some(server)
        };
        let findings: Vec<Finding> = found.into_iter().filter(is_meant).collect();
        let is_undecided = |finding: &Finding| {
            let call = finding.call.as_ref().map(Value::to_string);
            let rule = call.and_then(|call| decides(&call));
            finding.diagnostic.code == Code::AlwaysDenied
                && rule.is_some_and(|rule| rule == StructuralRule::DefaultDeny.as_str())
        };
        let rule = findings.iter().any(is_undecided).then(|| {
            json!({
                "name": format!("ask-{server}"),
                "if": {"server": server},
                "then": "escalate",
                "reason": format!("A person decides what is done with {server}"),
            })
        });
        Self { findings, rule }
    }
}

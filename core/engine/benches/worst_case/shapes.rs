//! Calls that are made to take long, at the limits of SPEC §14, with what their engines are built from. Every host's
//! benchmark judges the same ones.

use std::fmt;

use callgate_engine::config::DocumentKind;
use serde_json::{Value, json};

#[path = "combined.rs"]
mod combined;
#[path = "given.rs"]
mod given;
#[path = "hosted.rs"]
mod hosted;
#[path = "roles.rs"]
mod roles;
#[path = "values.rs"]
mod values;

/// Values that a role may have.
const MOST: usize = 16_384;

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = values::shapes();
    shapes.extend(given::shapes());
    shapes.extend(combined::shapes());
    shapes.extend(hosted::shapes());
    shapes.extend(roles::shapes());
    shapes
}

/// One kind of call with the rules that make it slow.
#[derive(Clone)]
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) rules: Vec<Value>,
    pub(super) roles: Value,
    pub(super) arguments: Value,
    pub(super) protected: Vec<String>,
    /// The patterns of a ceiling on the values, one constraint each.
    pub(super) constraints: Vec<String>,
    pub(super) gates: bool,
    /// More of the tool's annotation.
    pub(super) tool: Value,
    /// More of what the engine is built from.
    pub(super) parts: Vec<(DocumentKind, Value)>,
    /// The context of the call, in a world.
    pub(super) context: Option<Value>,
    /// Approvals, as JSON.
    pub(super) approvals: Vec<String>,
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Shape {
    fn new(name: &'static str, rules: Vec<Value>, role: &str, values: Value) -> Self {
        Self {
            name,
            rules,
            roles: json!({"values": [role]}),
            arguments: json!({"values": values}),
            protected: Vec::new(),
            constraints: Vec::new(),
            gates: false,
            tool: json!({}),
            parts: Vec::new(),
            context: None,
            approvals: Vec::new(),
        }
    }

    /// The documents of its engine.
    pub(super) fn documents(&self) -> Vec<(DocumentKind, Value)> {
        let policy = json!({"generatedAt": "", "constitutionHash": "", "inputHash": "", "rules": self.rules});
        let mut tool = json!({"toolName": "t", "serverName": "git", "comment": "", "args": self.roles, "inputSchema": {}});
        for (key, value) in self.tool.as_object().into_iter().flatten() {
            if let Some(members) = tool.as_object_mut() {
                members.insert(key.clone(), value.clone());
            }
        }
        let annotations = json!({"generatedAt": "", "servers": {"git": {"inputHash": "", "tools": [tool]}}});
        let protected = json!(self.protected);
        let constraints = self.constraints.iter();
        let constraints: Vec<Value> = constraints
            .map(|pattern| json!({"tool": "t", "arg_patterns": [pattern], "arg_key": "values"}))
            .collect();
        let ceiling = json!({"tools": [], "capabilities": {}, "workspace_roots": [], "tool_arg_constraints": constraints});
        let own = [
            (DocumentKind::Ceiling, ceiling),
            (DocumentKind::Policy, policy),
            (DocumentKind::Annotations, annotations),
            (DocumentKind::ProtectedPaths, protected),
        ];
        own.into_iter().chain(self.parts.iter().cloned()).collect()
    }
}

fn rule(name: usize, condition: &Value, effect: &str) -> Value {
    json!({"name": format!("r{name}"), "description": "", "principle": "", "if": condition, "then": effect, "reason": "r"})
}

/// Rules with a condition each, of one effect, and one that allows what is left.
fn rules(count: usize, effect: &str, condition: impl Fn(usize) -> Value) -> Vec<Value> {
    let given = (0..count).map(|at| rule(at, &condition(at), effect));
    given
        .chain([rule(count, &json!({"server": ["git"]}), "allow")])
        .collect()
}

fn list(role: &str, kind: &str, allowed: &[String]) -> Value {
    json!({"lists": [{"roles": [role], "allowed": allowed, "matchType": kind}]})
}

fn domains(role: &str, allowed: &[String]) -> Value {
    json!({"domains": {"roles": [role], "allowed": allowed}})
}

fn each(count: usize, text: impl Fn(usize) -> String) -> Value {
    (0..count).map(text).collect()
}

//! Tools of the agent whose arguments name nothing that could be judged, such as a shell.

use std::borrow::Cow;
use std::collections::BTreeSet;

use callgate_engine::config::DocumentKind;
use callgate_engine::document::without_comments;
use callgate_engine::judge::Decision;
use callgate_engine::model::ToolKind;
use callgate_engine::text::unescape_token;
use serde::Deserialize;
use serde_json::Value;

use super::call::HookCall;
use super::judge::verdict_of;
use callgate_host::{Gate, Response};

/// Arguments that say where a command runs. That it runs where the agent is changes nothing.
const DIRECTORIES: [&str; 4] = ["cwd", "dir_path", "workdir", "working_directory"];

const RULE: &str = "structural-opaque-tool";

/// The part of a rule that says for which tools and arguments it holds.
#[derive(Deserialize)]
struct Conditions {
    server: Option<Value>,
    tool: Option<Value>,
    #[serde(default)]
    args: Vec<Condition>,
}

#[derive(Deserialize)]
struct Condition {
    arg: String,
}

impl HookCall {
    /// Corrects the verdict about a tool whose arguments name nothing that could be judged.
    ///
    /// # Errors
    /// Why the engine does not know the tool.
    pub(super) fn judge_opaque(
        &self,
        gate: &Gate,
        tool: &str,
        response: &mut Response,
    ) -> Result<(), String> {
        let roles = response
            .explanation
            .as_ref()
            .and_then(|explanation| explanation.get("roles"));
        let roles = roles.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_opaque =
            !roles.is_empty() && roles.iter().all(|one| one.get("role").is_none_or(Value::is_null));
        if !is_opaque {
            return Ok(());
        }
        let semantics = gate
            .semantics(self.agent.as_str(), tool)
            .map_err(|fault| fault.to_string())?;
        let kind = semantics.map(|semantics| semantics.kind).unwrap_or_default();
        let verdict = &response.verdict;
        // A rule of the policy may have that name too.
        let is_undecided = verdict.rule == "default-deny" && rules(gate, &verdict.rule).is_empty();
        let is_allowed = verdict.decision == Decision::Allow;
        let runs = !matches!(
            kind,
            ToolKind::Think | ToolKind::Read | ToolKind::Search | ToolKind::Fetch
        );
        let asked = |reason| verdict_of(Decision::Escalate(Vec::new()), RULE, reason);
        if is_undecided && kind == ToolKind::Think {
            response.verdict = verdict_of(
                Decision::Allow,
                "structural-agent-tool",
                format!("`{tool}` changes nothing but the agent's own state"),
            );
        } else if is_undecided || (runs && is_allowed && !names_tool(gate, &verdict.rule)) {
            let why = match is_undecided {
                true if rules_of(gate)
                    .iter()
                    .any(|(_, rule)| rule.names(self.agent.as_str(), tool)) =>
                {
                    "no rule that names the tool holds for this call".to_owned()
                }
                true => "no rule names the tool".to_owned(),
                false => format!("the rule `{}` does not name the tool", verdict.rule),
            };
            response.verdict = asked(format!(
                "What a call of `{tool}` touches cannot be told from its arguments, and {why}"
            ));
        } else if is_allowed && let Some(argument) = self.unread(gate, tool, &verdict.rule) {
            response.verdict = asked(format!(
                "What the argument `{argument}` changes about a call of `{tool}` is not known, and the rule `{}` does not look at it",
                verdict.rule
            ));
        }
        Ok(())
    }

    /// An argument that is there, that no annotation describes, and that the policy's rule of this name does not look at. A rule
    /// that looks at no argument allows a tool whose annotation has none as a whole.
    fn unread(&self, gate: &Gate, tool: &str, rule: &str) -> Option<&str> {
        let rules = rules(gate, rule);
        // Without a rule it is an approval, or trust in the server, that allows the call.
        let looks = rules.iter().any(|rule| !rule.args.is_empty());
        let described = self.described(gate, tool);
        if rules.is_empty() || (described.is_empty() && !looks) {
            return None;
        }
        let is_read = |name: &str, value: &Value| {
            value.is_null()
                || described.contains(name)
                || rules.iter().all(|rule| rule.looks_at(name))
                || (DIRECTORIES.contains(&name) && self.is_own_directory(value))
        };
        let unread = self.arguments.iter().find(|(name, value)| !is_read(name, value));
        unread.map(|(name, _)| name.as_str())
    }

    /// The names of the arguments that the annotation of the tool has, without those that were added for this call.
    fn described(&self, gate: &Gate, tool: &str) -> BTreeSet<String> {
        let given = annotation(gate, self.agent.as_str(), tool);
        let own = self.table.annotated().find(|(name, _)| name == tool);
        let own = own.map(|(_, own)| own).filter(|own| {
            let added: Option<Value> = serde_json::from_str(&self.with_opaque_arguments(own)).ok();
            added == given
        });
        let annotation = own.and_then(|own| serde_json::from_str(own).ok()).or(given);
        let args = annotation
            .as_ref()
            .and_then(|annotation| annotation.get("args")?.as_object());
        args.map(|args| args.keys().cloned().collect())
            .unwrap_or_default()
    }

    fn is_own_directory(&self, value: &Value) -> bool {
        let is_own = |path: &str| path.trim_end_matches('/') == self.directory.trim_end_matches('/');
        value
            .as_str()
            .is_some_and(|path| matches!(path, "" | "." | "./") || is_own(path))
    }
}

impl Conditions {
    /// Returns `true` if the rule names the tool, and no other server than this one.
    fn names(&self, server: &str, tool: &str) -> bool {
        let is_of_server = self.server.as_ref().is_none_or(|names| includes(names, server));
        is_of_server && self.tool.as_ref().is_some_and(|names| includes(names, tool))
    }

    /// Returns `true` if a condition is about the whole argument.
    fn looks_at(&self, argument: &str) -> bool {
        self.args
            .iter()
            .any(|Condition { arg }| match arg.strip_prefix('/') {
                Some(token) => {
                    !token.contains('/') && unescape_token(token).is_some_and(|name| name == argument)
                }
                None => arg == argument,
            })
    }
}

/// Returns `true` if a rule of the policy names tools; trust in the server, which no rule gives, does as well.
fn names_tool(gate: &Gate, rule: &str) -> bool {
    let rules = rules(gate, rule);
    match rules.is_empty() {
        true => rule == "trusted-server",
        false => rules.iter().all(|rule| rule.tool.is_some()),
    }
}

/// Returns `true` if a text, or one of a list, is the name; `*` stands for any part of it.
fn includes(names: &Value, name: &str) -> bool {
    let is_name = |pattern: &Value| {
        let mut parts = pattern.as_str().unwrap_or_default().split('*');
        let Some(rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
            return false;
        };
        let Some(last) = parts.next_back() else {
            return rest.is_empty();
        };
        let Some(mut rest) = rest.strip_suffix(last) else {
            return false;
        };
        parts.all(|part| match rest.split_once(part) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
    };
    match names {
        Value::Array(names) => names.iter().any(is_name),
        name => is_name(name),
    }
}

/// The conditions of the policy's rules of this name; none if it has no such rule.
fn rules(gate: &Gate, rule: &str) -> Vec<Conditions> {
    let named = rules_of(gate).into_iter().filter(|(name, _)| name == rule);
    named.map(|(_, conditions)| conditions).collect()
}

/// The policy's rules: the name and the conditions of each.
fn rules_of(gate: &Gate) -> Vec<(String, Conditions)> {
    #[derive(Deserialize)]
    struct Policy {
        rules: Vec<Rule>,
    }
    #[derive(Deserialize)]
    struct Rule {
        name: String,
        #[serde(rename = "if")]
        conditions: Conditions,
    }
    let text = document(gate, DocumentKind::Policy);
    let policy = text.and_then(|text| serde_json::from_str::<Policy>(&text).ok());
    let rules = policy.into_iter().flat_map(|policy| policy.rules);
    rules.map(|rule| (rule.name, rule.conditions)).collect()
}

/// The annotation of a tool.
fn annotation(gate: &Gate, server: &str, tool: &str) -> Option<Value> {
    let annotations: Value = serde_json::from_str(&document(gate, DocumentKind::Annotations)?).ok()?;
    let tools = annotations
        .get("servers")?
        .get(server)?
        .get("tools")?
        .as_array()?;
    let found = tools
        .iter()
        .find(|known| known.get("toolName").and_then(Value::as_str) == Some(tool));
    found.cloned()
}

fn document(gate: &Gate, part: DocumentKind) -> Option<Cow<'_, str>> {
    let document = gate.documents().iter().find(|document| document.part == part)?;
    Some(without_comments(&document.text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::includes;

    #[test]
    fn a_name_is_one_of_those_that_a_rule_has() {
        for (names, expected) in [
            (json!("Bash"), true),
            (json!("bash"), false),
            (json!("Ba"), false),
            (json!(["Read", "B*h"]), true),
            (json!("*a*s*"), true),
            (json!("*s*a*"), false),
            (json!("*"), true),
            (json!("Bash*"), true),
            (json!("Bas*ash"), false),
            (json!([]), false),
        ] {
            assert_eq!(includes(&names, "Bash"), expected, "{names}");
        }
    }
}

//! How an answer is written for an agent: a JSON document, or nothing.
//!
//! The functions are for Claude Code's protocol, an object `hookSpecificOutput`, which Codex, VS Code and Copilot CLI read too. Agents
//! with a protocol of their own have it in their own file.

use serde_json::{Value, json};

/// Writes an answer: the fate of the call, the reason, and other arguments than those that the agent gave. `None` is an answer without a
/// document.
pub(super) type Protocol = fn(Fate, reason: &str, arguments: Option<&Value>) -> Option<Value>;

/// The fate of a call, as an agent is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Allow,
    /// The hook has nothing against the call: the agent goes on as it would without the hook, with the arguments that were judged.
    Left,
    /// A person is asked. It is a denial where the event knows no question.
    Ask,
    Deny,
}

pub(super) fn before_tool(fate: Fate, reason: &str, arguments: Option<&Value>) -> Option<Value> {
    let decision = match fate {
        Fate::Allow => "allow",
        Fate::Ask => "ask",
        Fate::Deny => "deny",
        Fate::Left => {
            let output = with(json!({"hookEventName": "PreToolUse"}), "updatedInput", arguments);
            return arguments.map(|_| specific(output));
        }
    };
    let output = json!({"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason});
    Some(specific(with(output, "updatedInput", arguments)))
}

/// For an agent that takes a question for an error.
pub(super) fn before_tool_without_question(
    fate: Fate,
    reason: &str,
    arguments: Option<&Value>,
) -> Option<Value> {
    match fate {
        // A bare `allow` is a fault there; without an answer the call goes on.
        Fate::Allow | Fate::Left => arguments.map(|arguments| {
            specific(json!({"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": arguments}))
        }),
        Fate::Ask | Fate::Deny => before_tool(Fate::Deny, reason, None),
    }
}

pub(super) fn permission(fate: Fate, reason: &str, arguments: Option<&Value>) -> Option<Value> {
    let decision = match fate {
        Fate::Allow => with(json!({"behavior": "allow"}), "updatedInput", arguments),
        // The person is asked already.
        Fate::Left | Fate::Ask => return None,
        Fate::Deny => json!({"behavior": "deny", "message": reason}),
    };
    Some(specific(
        json!({"hookEventName": "PermissionRequest", "decision": decision}),
    ))
}

pub(super) fn before_skill_command(fate: Fate, reason: &str, _: Option<&Value>) -> Option<Value> {
    match fate {
        // Leave adds nothing there.
        Fate::Allow | Fate::Left => None,
        Fate::Ask | Fate::Deny => Some(specific(json!({
            "hookEventName": "PreSkillShellCommand",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }))),
    }
}

fn specific(output: Value) -> Value {
    json!({ "hookSpecificOutput": output })
}

/// The object with one more member, if there is a value for it.
pub(super) fn with(mut object: Value, name: &str, value: Option<&Value>) -> Value {
    if let (Some(members), Some(value)) = (object.as_object_mut(), value) {
        members.insert(name.to_owned(), value.clone());
    }
    object
}

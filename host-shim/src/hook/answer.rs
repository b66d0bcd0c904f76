//! The answer in each agent's own protocol.

use serde_json::{Value, json};

use super::agent::{Agent, Event};
use super::call::{HookCall, spoken};

/// The exit code that denies with every agent.
const DENIES: u8 = 2;

/// The most characters of a reason.
const MOST_SHOWN: usize = 2_000;

/// The output of a hook, and the code that it ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookAnswer {
    /// For the agent: one JSON document, or nothing.
    pub stdout: String,
    /// For the agent or a person: why a call does not pass.
    pub stderr: String,
    /// How the process ends.
    pub code: u8,
}

/// The fate of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    Allow,
    /// The hook has nothing against the call, and a person decides, or the agent.
    Left,
    /// A person is asked.
    Ask,
    /// A person would have to be asked, and cannot.
    Unasked,
    Deny,
}

/// The answer to a question that cannot be judged: a denial in the agent's own protocol, with an exit code that denies too.
pub fn fault(agent: Agent, input: &str, reason: &str) -> HookAnswer {
    let (voice, event) = spoken(agent, input);
    fault_at(voice, event, reason)
}

pub(super) fn fault_at(agent: Agent, event: Event, reason: &str) -> HookAnswer {
    let reason =
        format!("The call cannot be judged, so it is denied: {reason} (rule `structural-hook-fault`)");
    let code = DENIES;
    HookAnswer {
        code,
        ..denied(agent, event, &shown("", &reason))
    }
}

impl HookAnswer {
    /// The answer to a call that was judged, with other arguments than those that the agent gave.
    pub(super) fn of(call: &HookCall, answered: Answered, reason: &str, arguments: Option<&Value>) -> Self {
        let (agent, event) = (call.voice, call.event);
        match answered {
            Answered::Allow => allowed(agent, event, &shown("allowed: ", reason), arguments),
            Answered::Left => left(agent, event, arguments),
            Answered::Ask => asked(agent, event, &shown("a person decides: ", reason), arguments),
            Answered::Unasked => denied(agent, event, &shown(&unasked(call), reason)),
            Answered::Deny => denied(agent, event, &shown("denied: ", reason)),
        }
    }

    fn silent() -> Self {
        Self {
            stdout: String::new(),
            stderr: String::new(),
            code: 0,
        }
    }

    fn saying(answer: &Value) -> Self {
        Self {
            stdout: format!("{answer}\n"),
            ..Self::silent()
        }
    }
}

fn unasked(call: &HookCall) -> String {
    let is_word = |mode: &&str| mode.len() < 32 && mode.chars().all(char::is_alphanumeric);
    match (call.agent, call.event, call.mode.as_deref().filter(is_word)) {
        (_, Event::Skill, _) => {
            "a person would have to decide, and cannot be asked about a skill's command: ".to_owned()
        }
        (Agent::ClaudeCode | Agent::Vscode, _, Some(mode)) => {
            format!("a person would have to decide, and is not asked in the mode `{mode}`: ")
        }
        (_, _, _) => "a person would have to decide, and cannot be asked here: ".to_owned(),
    }
}

fn shown(before: &str, reason: &str) -> String {
    let reason: String = reason.chars().take(MOST_SHOWN).collect();
    format!("Callgate: {before}{reason}")
}

fn allowed(agent: Agent, event: Event, reason: &str, arguments: Option<&Value>) -> HookAnswer {
    match (agent, event) {
        (Agent::ClaudeCode | Agent::Codex, Event::Permission) => HookAnswer::saying(&permission(with(
            json!({"behavior": "allow"}),
            "updatedInput",
            arguments,
        ))),
        (Agent::CopilotCli, Event::Permission) => HookAnswer::saying(&json!({"behavior": "allow"})),
        // Leave adds nothing there.
        (_, Event::Skill) => HookAnswer::silent(),
        // A bare `allow` is a fault there; without an answer the call goes on.
        (Agent::Codex, _) if arguments.is_none() => HookAnswer::silent(),
        (Agent::Codex, _) => HookAnswer::saying(&specific(with(
            json!({"hookEventName": "PreToolUse", "permissionDecision": "allow"}),
            "updatedInput",
            arguments,
        ))),
        (Agent::ClaudeCode | Agent::Vscode, _) => {
            HookAnswer::saying(&before_tool("allow", reason, arguments))
        }
        (Agent::Cursor, _) => {
            HookAnswer::saying(&with(json!({"permission": "allow"}), "updated_input", arguments))
        }
        (Agent::GeminiCli, _) => {
            let specific =
                arguments.map(|arguments| json!({"hookEventName": "BeforeTool", "tool_input": arguments}));
            HookAnswer::saying(&with(
                json!({"decision": "allow"}),
                "hookSpecificOutput",
                specific.as_ref(),
            ))
        }
        (Agent::CopilotCli, _) => HookAnswer::saying(&copilot("allow", reason, arguments)),
        (Agent::Goose, _) => HookAnswer::saying(&json!({"decision": "allow"})),
    }
}

/// Nothing but the arguments that were judged: the agent goes on as it would without the hook.
fn left(agent: Agent, event: Event, arguments: Option<&Value>) -> HookAnswer {
    match (agent, event, arguments) {
        (Agent::Codex | Agent::Goose, Event::Tool, _) => allowed(agent, event, "", arguments),
        (Agent::ClaudeCode | Agent::Vscode, Event::Tool, Some(_)) => HookAnswer::saying(&specific(with(
            json!({"hookEventName": "PreToolUse"}),
            "updatedInput",
            arguments,
        ))),
        (Agent::GeminiCli, Event::Tool, Some(arguments)) => {
            let specific = json!({"hookEventName": "BeforeTool", "tool_input": arguments});
            HookAnswer::saying(&json!({ "hookSpecificOutput": specific }))
        }
        (Agent::CopilotCli, Event::Tool, Some(_)) => {
            HookAnswer::saying(&with(json!({}), "modifiedArgs", arguments))
        }
        // Without a document it may take the hook for one that failed.
        (Agent::Cursor, _, _) => HookAnswer::saying(&with(json!({}), "updated_input", arguments)),
        (_, _, _) => HookAnswer::silent(),
    }
}

/// Only for agents that ask at this event.
fn asked(agent: Agent, event: Event, reason: &str, arguments: Option<&Value>) -> HookAnswer {
    match (agent, event) {
        // The person is asked already.
        (_, Event::Permission) => HookAnswer::silent(),
        (_, Event::Skill) => denied(agent, event, reason),
        (Agent::ClaudeCode | Agent::Vscode, _) => HookAnswer::saying(&before_tool("ask", reason, arguments)),
        (Agent::Cursor, _) => HookAnswer::saying(&json!({"permission": "ask", "user_message": reason})),
        (Agent::CopilotCli, _) => HookAnswer::saying(&copilot("ask", reason, arguments)),
        (Agent::Codex | Agent::GeminiCli | Agent::Goose, _) => denied(agent, event, reason),
    }
}

fn denied(agent: Agent, event: Event, reason: &str) -> HookAnswer {
    let answer = match (agent, event) {
        (Agent::ClaudeCode | Agent::Codex, Event::Permission) => {
            permission(json!({"behavior": "deny", "message": reason}))
        }
        (Agent::CopilotCli, Event::Permission) => json!({"behavior": "deny", "message": reason}),
        (_, Event::Skill) => specific(json!({
            "hookEventName": "PreSkillShellCommand",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        })),
        (Agent::ClaudeCode | Agent::Codex | Agent::Vscode, _) => before_tool("deny", reason, None),
        (Agent::Cursor, _) => json!({"permission": "deny", "user_message": reason, "agent_message": reason}),
        (Agent::GeminiCli, _) => json!({"decision": "deny", "reason": reason}),
        (Agent::CopilotCli, _) => copilot("deny", reason, None),
        (Agent::Goose, _) => json!({"decision": "block", "reason": reason}),
    };
    HookAnswer {
        stderr: format!("{reason}\n"),
        code: if agent == Agent::Goose { DENIES } else { 0 },
        ..HookAnswer::saying(&answer)
    }
}

fn before_tool(decision: &str, reason: &str, arguments: Option<&Value>) -> Value {
    specific(with(
        json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }),
        "updatedInput",
        arguments,
    ))
}

fn specific(output: Value) -> Value {
    json!({ "hookSpecificOutput": output })
}

fn permission(decision: Value) -> Value {
    specific(json!({"hookEventName": "PermissionRequest", "decision": decision}))
}

fn copilot(decision: &str, reason: &str, arguments: Option<&Value>) -> Value {
    with(
        json!({"permissionDecision": decision, "permissionDecisionReason": reason}),
        "modifiedArgs",
        arguments,
    )
}

/// The object with one more member, if there is a value for it.
fn with(mut object: Value, name: &str, value: Option<&Value>) -> Value {
    if let (Some(members), Some(value)) = (object.as_object_mut(), value) {
        members.insert(name.to_owned(), value.clone());
    }
    object
}

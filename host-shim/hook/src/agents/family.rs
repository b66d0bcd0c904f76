//! Claude Code, Copilot CLI and VS Code, which read each other's settings: one may run the hook of another.

use serde_json::{Map, Value};

use super::{Agent, claude_code, copilot_cli, vscode};

const MEMBERS: [&Agent; 3] = [&claude_code::AGENT, &copilot_cli::AGENT, &vscode::AGENT];

/// The agents that may run the hook of this one.
pub(super) fn of(agent: &'static Agent) -> Vec<&'static Agent> {
    match MEMBERS.contains(&agent) {
        true => MEMBERS.to_vec(),
        false => vec![agent],
    }
}

/// The agent that asks the hook of this one about a tool.
pub(super) fn caller(agent: &'static Agent, tool: &str, question: &Map<String, Value>) -> &'static Agent {
    let [claude_code, copilot, vscode] = MEMBERS;
    if !MEMBERS.contains(&agent) {
        return agent;
    }
    let has = |agent: &Agent| agent.table().has(tool);
    // VS Code and Claude Code give each call a name, and Copilot does not. Claude Code does not say the time.
    let is_copilot = !question.contains_key("tool_use_id") && !question.contains_key("toolUseId");
    if agent == claude_code {
        return match () {
            () if !has(claude_code) && has(vscode) => vscode,
            () if is_copilot && question.contains_key("timestamp") => copilot,
            () => claude_code,
        };
    }
    match (has(copilot), has(vscode)) {
        (true, false) => copilot,
        (true, true) if is_copilot => copilot,
        (false, true) | (true, true) => vscode,
        (false, false) if tool.starts_with(vscode.naming.prefix) => vscode,
        (false, false) if tool.contains(copilot.naming.separator) => copilot,
        (false, false) => agent,
    }
}

//! goose.

use serde_json::{Value, json};

use super::super::protocols::Fate;
use super::{Agent, Asks, Event, HERE, Naming, ServerIn, Settings, Step, is_planning, spelled};

pub(super) static AGENT: Agent = Agent {
    name: "goose",
    project_variable: None,
    advice: "goose cannot ask a person for a hook: what would be asked about is denied, unless --ask is there.",
    before_tool: Event {
        names: &["PreToolUse"],
        is_unnamed: false,
        step: Step::Tool,
        protocol: answer,
        takes_arguments: false,
        // A question is an error there, and the call goes on.
        asks: Asks::Never(HERE),
    },
    further: &[],
    leaves_to_a_person: is_planning,
    denial_code: 2,
    naming: Naming {
        prefix: "",
        separator: "__",
        spelled,
        server: ServerIn::Name,
    },
    directories: None,
    moving_tool: None,
    protected: &[&["**/.agents/plugins", "**/goose/config.yaml"]],
    readable: &[],
    moved: &[],
    settings: Settings {
        file: ".agents/plugins/callgate/hooks/hooks.json",
        in_project: ".agents/plugins/callgate/hooks/hooks.json",
        base: || json!({}),
        entries: |run| {
            let hook = json!({"type": "command", "command": run.command, "timeout": run.patience, "on_failure": "block"});
            vec![("PreToolUse", json!({"hooks": [hook]}))]
        },
        // It makes the folder a plugin.
        beside: |settings| {
            let plugin = json!({
                "name": "callgate",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Judges each tool call before it is made",
            });
            Some((settings.parent()?.parent()?.join("plugin.json"), plugin))
        },
    },
    program: "goose",
    question: |file, folder| {
        json!({"event": "PreToolUse", "session_id": "", "matcher_context": "developer__write", "tool_name": "developer__write",
            "tool_input": {"path": file, "content": ""}, "working_dir": folder, "tool_call_id": ""})
    },
    tools: include_str!("../tools/goose.json"),
};

/// Its protocol, which knows no question and takes no arguments.
fn answer(fate: Fate, reason: &str, _: Option<&Value>) -> Option<Value> {
    Some(match fate {
        Fate::Allow | Fate::Left => json!({"decision": "allow"}),
        Fate::Ask | Fate::Deny => json!({"decision": "block", "reason": reason}),
    })
}

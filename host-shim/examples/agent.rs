//! A small agent host: every tool call of a model goes through the gate, and what was judged is what is sent on.
//!
//! `cargo run -p callgate-host --example agent`

use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use callgate_host::{Decision, Gate, RealHost, Request};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let workspace = std::env::temp_dir().join(format!("callgate-agent-{}", std::process::id()));
    fs::create_dir_all(workspace.join("notes"))?;
    let done = run(&workspace, &mut io::stdout());
    fs::remove_dir_all(workspace)?;
    done
}

/// Serves the calls of a model that works in `workspace`.
///
/// # Errors
/// When the gate cannot be built, or nobody reads what is written to `out`.
pub(crate) fn run(workspace: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    // The kernel's name of the workspace, as a tool server would see it too.
    let workspace = workspace.canonicalize()?;
    let directory = workspace.to_str().ok_or("the workspace's path is not UTF-8")?;
    let bundle = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bundle/callgate.json");
    let gate = Gate::builder()
        .bundle(bundle)
        .sandbox(directory)
        .protect(format!("{directory}/.env"))
        .host(Arc::new(RealHost::new("/home/u", directory)?))
        .build()?;
    let mut server = FileServer { written: 0 };
    for call in model() {
        let text = call.to_string();
        // The model names its workspace `/workspace`; the gate moves such paths onto the real one.
        let response = gate.judge(&Request::gate(&text).in_container("/workspace"))?;
        let tool = call["toolName"].as_str().unwrap_or_default();
        let verdict = &response.verdict;
        let may_pass = match &verdict.decision {
            Decision::Allow => true,
            Decision::Escalate(roles) => asks_a_person(tool, roles, &verdict.reason),
            Decision::Deny => false,
        };
        let answer = match (may_pass, response.arguments) {
            // Never the arguments that the model gave: only these were judged.
            (true, Some(arguments)) => server.call(tool, &serde_json::from_str(&arguments)?),
            (true, None) | (false, _) => format!("refused by {}: {}", verdict.rule, verdict.reason),
        };
        writeln!(out, "{tool}: {}", answer.replace(directory, "<workspace>"))?;
    }
    Ok(())
}

/// Calls that a model might ask for.
fn model() -> Vec<Value> {
    let call = |tool: &str, arguments: Value| json!({"serverName": "filesystem", "toolName": tool, "arguments": arguments});
    vec![
        call(
            "write_file",
            json!({"path": "/workspace/src/../notes/today.md", "content": "# Today\n"}),
        ),
        call("read_text_file", json!({"path": "notes/today.md"})),
        call("read_text_file", json!({"path": ".env"})),
        call("read_text_file", json!({"path": "~/.ssh/id_ed25519"})),
        call("read_text_file", json!({"path": "/etc/passwd"})),
        call("format_disk", json!({})),
    ]
}

/// A host with a user asks here; this one has none.
fn asks_a_person(_tool: &str, _roles: &[Cow<'_, str>], _reason: &str) -> bool {
    false
}

/// A tool server that does what it is told.
struct FileServer {
    written: usize,
}

impl FileServer {
    fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let text = |name: &str| arguments[name].as_str().unwrap_or_default();
        // A server resolves relative paths in its own directory: the workspace's, which this process is not in.
        match tool {
            "write_file" => match fs::write(text("path"), text("content")) {
                Ok(()) => {
                    self.written += 1;
                    format!("wrote {} ({} so far)", text("path"), self.written)
                }
                Err(error) => error.to_string(),
            },
            "read_text_file" => format!("was asked for {}", text("path")),
            _ => format!("has no tool `{tool}`"),
        }
    }
}

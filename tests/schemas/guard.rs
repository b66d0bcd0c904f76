//! A guard that writes lines of every kind: `guard LOG STATE ask|observe|cut SCRIPT`, where the script is the server.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use callgate_guard::{Asking, Caller, Guard, GuardOptions, Program, Queue};
use callgate_host::Gate;

const POLICY: &str = r#"{"rules": [
    {"name": "ask", "if": {"paths": {"roles": ["read-path"], "within": "/etc"}}, "then": "escalate", "reason": "A person decides"},
    {"name": "words", "if": {"lists": [{"roles": ["commit-message"], "allowed": ["secret"], "matchType": "identifiers"}]},
     "then": "deny", "reason": "Not this"}
]}"#;

const ANNOTATIONS: &str = r#"{"servers": {"files": {"tools": [
    {"toolName": "read", "args": {"path": ["read-path"]}},
    {"toolName": "commit", "args": {"repo": ["read-path"], "message": ["commit-message"]}}
]}}}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [log, state, how, script] = <[String; 4]>::try_from(arguments).map_err(|_| "four arguments")?;
    let gate = || {
        Gate::builder()
            .policy(POLICY)
            .annotations(ANNOTATIONS)
            .sandbox("/srv")
            .options(r#"{"serverAliases": {"files": "filesystem"}}"#)
    };
    let options = GuardOptions {
        server: "files".to_owned(),
        pins: None,
        asking: Some(Asking {
            queue: Queue::open(state)?,
            patience: Duration::from_secs(1),
            forms: true,
            command: None,
        }),
        audit: Some(log.into()),
        observe: how == "observe",
        only_tools: false,
        context: None,
        caller: Caller::default(),
        counts: None,
        warn: |_| (),
        container_workspace_dir: None,
    };
    let guard = Arc::new(Guard::new(gate().build()?, options)?);
    guard.reload(gate().build()?, None)?;
    guard.reload_refused("the new ones have a fault");
    guard.run_stdio(&Program {
        command: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
    })?;
    Ok(())
}

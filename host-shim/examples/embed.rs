//! A gate with a host of its own and tight limits, in a program that has no disk to speak of.
//!
//! `cargo run -p callgate-host --example embed`

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use callgate_host::{Gate, InstanceLimits};

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

const POLICY: &str = r#"{"rules": [
    {"name": "read-reports", "if": {"paths": {"roles": "read-path", "within": "/store/reports"}},
     "then": "allow", "reason": "reports are for everybody"}]}"#;

const ANNOTATIONS: &str =
    r#"{"servers": {"store": {"tools": [{"toolName": "get", "args": {"key": "read-path"}}]}}}"#;

/// Judges some calls.
///
/// # Errors
/// When the gate cannot be built, or nobody reads what is written to `out`.
pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let aliases = BTreeMap::from([
        ("/store/latest", "/store/reports/2026"),
        ("/store/reports/hidden", "/store/secrets"),
    ]);
    let gate = Gate::builder()
        .policy(POLICY)
        .annotations(ANNOTATIONS)
        .host(Arc::new(Store { aliases }))
        .limits(InstanceLimits {
            memory: 4 * 1024 * 1024,
            deadline: Duration::from_secs(2),
            fuel: Some(5_000_000),
            idle_instances: 1,
            ..InstanceLimits::default()
        })
        .build()?;
    let mut many = vec!["/store/reports/1"; 4_000];
    many.push("/store/reports/2");
    let calls = [
        serde_json::json!("/store/latest"),
        serde_json::json!("/store/reports/hidden"),
        serde_json::json!("/store/reports/down"),
        serde_json::json!(many),
    ];
    for key in calls {
        let call = serde_json::json!({"serverName": "store", "toolName": "get", "arguments": {"key": key}});
        let verdict = gate.evaluate(&call.to_string())?;
        let name = key
            .as_str()
            .map_or_else(|| "4,001 keys".to_owned(), str::to_owned);
        writeln!(
            out,
            "{name}: {} ({}: {})",
            verdict.decision.as_str(),
            verdict.rule,
            verdict.reason
        )?;
    }
    Ok(())
}

/// A store whose keys are paths, some of them other names of others.
struct Store {
    aliases: BTreeMap<&'static str, &'static str>,
}

impl Host for Store {
    fn home_dir(&self) -> &str {
        "/store"
    }

    fn current_dir(&self) -> &str {
        "/store"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        if path.ends_with("/down") {
            return Err(RealpathError::Host(HostError::new("the store is down")));
        }
        Ok((*self.aliases.get(path).unwrap_or(&path)).into())
    }

    fn git_remote_urls(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn git_default_remote_urls(&self, _: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        Ok(Some(false))
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![url.to_owned()])
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        Ok(String::new())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        Ok(Some(Vec::new()))
    }

    fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
        Ok(None)
    }
}

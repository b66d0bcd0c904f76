//! `callgate tools` and `callgate intersect`: what the tools do, and what calls may use at most.

use std::fs;
use std::path::{Path, PathBuf};

use callgate_engine::document::DocumentSource;
use callgate_engine::policy::Ceiling;
use callgate_host::Fault;
use clap::Args;
use serde_json::{Value, json};

use crate::setup::Setup;
use crate::terminal::{DIM, Exit, Failure, GREEN, Out, clean, paint};

/// Show what the annotated tools do: kind, side-effect level, mutation class, whether they are read-only
///
/// For schedulers and telemetry. As JSON one line a tool, the fields of its annotation with `serverName`, `toolName`,
/// `isReadOnly` and `mutationClass`.
#[derive(Args)]
pub(crate) struct Tools {
    #[command(flatten)]
    setup: Setup,
}

impl Tools {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let gate = self.setup.gate()?;
        for tool in gate.tools().map_err(|fault| Failure::Fault(fault.to_string()))? {
            let (server, name, described) = (&tool.server, &tool.name, tool.semantics.described());
            if out.human {
                let level = described.semantics.side_effect_level.as_str();
                let class = described.mutation_class.as_str();
                let kind = described.semantics.kind.as_str();
                let side_by_side = if described.is_read_only {
                    paint(GREEN, " read-only")
                } else {
                    String::new()
                };
                let what = paint(DIM, &format!("{kind}, {class}, level {level}"));
                out.line(&format!(
                    "{}: {what}{side_by_side}",
                    clean(&format!("{server}/{name}"))
                ))?;
                continue;
            }
            let mut line = json!({"serverName": server, "toolName": name});
            let fields =
                serde_json::to_value(&described).map_err(|error| Failure::Fault(error.to_string()))?;
            if let (Some(line), Value::Object(fields)) = (line.as_object_mut(), fields) {
                line.extend(fields);
            }
            out.json(&line)?;
        }
        Ok(Exit::Allow)
    }
}

/// Write the narrower of two capability ceilings, for a sub-agent
///
/// Combines two ceilings into one that allows only calls that both allow. Exits with 2, and names the excess, if the
/// requested ceiling allows what the host's does not.
#[derive(Args)]
pub(crate) struct Intersect {
    /// The host's ceiling
    #[arg(value_name = "HOST")]
    host: PathBuf,
    /// The ceiling that is requested under it
    #[arg(value_name = "REQUESTED")]
    requested: PathBuf,
}

impl Intersect {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        match load(&self.host)?.intersect(&load(&self.requested)?) {
            Ok(narrower) => {
                out.json(&narrower)?;
                Ok(Exit::Allow)
            }
            Err(exceeds) => {
                if out.human {
                    out.line(&clean(&exceeds.to_string()))?;
                } else {
                    out.json(&json!({"exceeds": exceeds.what}))?;
                }
                Ok(Exit::Deny)
            }
        }
    }
}

fn load(path: &Path) -> Result<Ceiling, Failure> {
    let place = path.display();
    let text = fs::read_to_string(path).map_err(|error| Failure::Unloaded {
        message: format!("cannot read `{place}`: {error}"),
        help: None,
    })?;
    Ceiling::load(DocumentSource::Text(&text)).map_err(|error| {
        let faults = error.diagnostics.into_iter().map(|diagnostic| Fault {
            file: Some(place.to_string()),
            diagnostic,
        });
        Failure::Refused(faults.collect())
    })
}

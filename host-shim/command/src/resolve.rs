//! `callgate resolve`: the places that addresses name.

use callgate_engine::engine::Existence;
use callgate_engine::model::{Effect, ReplyStatus};
use callgate_host::{Reply, Resolution, Unanswered};
use clap::Args;
use serde_json::Value;

use crate::setup::Setup;
use crate::terminal::{DIM, Exit, Failure, Out, clean, paint, style_of};

/// Say which places of the world addresses name
///
/// Prints one reply an address, `{"code", "status", "message", "data"}` as JSON; no reply holds a path of this machine.
/// Exits with 0 where every address is resolved, else with 2.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Resolve {
    /// Addresses: root:KEY/PATH or mod:NAME/PATH
    #[arg(value_name = "ADDRESS", required = true)]
    addresses: Vec<String>,
    /// The context, an object such as '{"mode": "dev"}'
    #[arg(long, value_name = "JSON", default_value = "{}")]
    context: String,
    /// Also resolve what does not exist yet
    #[arg(long)]
    may_be_missing: bool,
    /// Also print the path of this machine, for the operator's eyes
    #[arg(long)]
    host_path: bool,
    #[command(flatten)]
    setup: Setup,
}

const EXAMPLES: &str = "\
Example:
  callgate resolve --context '{\"mode\": \"dev\"}' root:repo/src/main.rs mod:Example/descriptor.mod";

impl Resolve {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let gate = self.setup.gate()?;
        let existence = if self.may_be_missing {
            Existence::NotRequired
        } else {
            Existence::Required
        };
        let mut exit = Exit::Allow;
        let mut references = gate.references().map_err(unanswered)?;
        for address in &self.addresses {
            let resolved = references.resolve(address, existence, Some(&self.context));
            let Resolution { reply, reference } = resolved.map_err(unanswered)?;
            let path = match reference.filter(|_| self.host_path) {
                Some(reference) => references
                    .host_path(reference)
                    .map_err(|fault| unanswered(fault.into()))?,
                None => None,
            };
            if !reply.is_success() {
                exit = Exit::Deny;
            }
            show(&reply, path, out)?;
        }
        Ok(exit)
    }
}

pub(crate) fn unanswered(why: Unanswered) -> Failure {
    Failure::Fault(match why {
        Unanswered::NoWorld => "the documents have no world, expected the bundle's key `world`".to_owned(),
        Unanswered::Context(why) => format!("`--context`: {why}"),
        Unanswered::Engine(fault) => fault.to_string(),
    })
}

/// A reply, and the path that it stands for where an operator asked for it.
pub(crate) fn show(reply: &Reply, path: Option<String>, out: &mut Out) -> Result<(), Failure> {
    let mut shown = serde_json::to_value(reply).map_err(|error| Failure::Fault(error.to_string()))?;
    if !out.human {
        if let Some(path) = path {
            shown["hostPath"] = Value::from(path);
        }
        return out.json(&shown);
    }
    let style = style_of(match reply.status {
        ReplyStatus::Success => Effect::Allow.as_str(),
        ReplyStatus::Invalid | ReplyStatus::Denied | ReplyStatus::Error => Effect::Deny.as_str(),
    });
    let data = shown["data"].to_string();
    let code = paint(style, &clean(&reply.code));
    let data = paint(DIM, &clean(&data));
    out.line(&format!("{code}  {}  {data}", clean(&reply.message)))?;
    match path {
        Some(path) => out.line(&format!(
            "         {} {}",
            paint(DIM, "on this machine:"),
            clean(&path)
        )),
        None => Ok(()),
    }
}

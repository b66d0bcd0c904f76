//! `callgate enforce`: whether an operation is allowed at a place of the world.

use callgate_engine::engine::Operation;
use clap::Args;

use crate::resolve::{show, unanswered};
use crate::setup::Setup;
use crate::terminal::{Exit, Failure, Out};

/// Say whether a tool's command may be done at a place of the world
///
/// Prints the reply, `{"code", "status", "message", "data"}` as JSON. Exits with 0 where the operation is allowed, else
/// with 2.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Enforce {
    /// The mode
    #[arg(long)]
    mode: String,
    /// The tool's name
    #[arg(long)]
    tool: String,
    /// The tool's command
    #[arg(long)]
    command: String,
    /// The root's key
    #[arg(long)]
    root: String,
    /// The first name below the root
    #[arg(long)]
    subdirectory: Option<String>,
    /// The address of the place, for conditions about a path or a mod
    #[arg(long)]
    address: Option<String>,
    /// The context that conditions look at, an object such as '{"has_contract": true}'
    #[arg(long, value_name = "JSON", default_value = "{}")]
    context: String,
    #[command(flatten)]
    setup: Setup,
}

const EXAMPLES: &str = "\
Example:
  callgate enforce --mode dev --tool file --command write --root repo --context '{\"has_contract\": true}'";

impl Enforce {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let gate = self.setup.gate()?;
        let operation = Operation {
            tool: &self.tool,
            command: &self.command,
            root: &self.root,
            subdirectory: self.subdirectory.as_deref(),
            address: self.address.as_deref(),
        };
        let reply = gate.enforce(Some(&self.mode), &operation, Some(&self.context));
        let reply = reply.map_err(unanswered)?;
        show(&reply, None, out)?;
        Ok(if reply.is_success() {
            Exit::Allow
        } else {
            Exit::Deny
        })
    }
}

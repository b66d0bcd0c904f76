//! `callgate annotate`: drafts annotations from what a server says of its tools.

mod target;

use std::path::PathBuf;

use callgate_analysis::Doubts;
use callgate_authoring::draft::{DraftedArgument, Proposal, propose_annotations};
use callgate_authoring::packs::{self, Pack};
use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::Diagnostic;
use callgate_engine::document::DocumentSource;
use callgate_host::{EngineKind, Gate, RealHost};
use clap::Args;
use serde_json::json;

use crate::asking::Asking;
use crate::terminal::{BOLD, DIM, Exit, Failure, Format, GREEN, Out, YELLOW, clean, counted, paint};
use target::Target;

/// Draft annotations from what a server says of its tools
///
/// Asks a server for its tools, or reads a list that was saved, and says for each argument which roles it should have
/// and why. First come the arguments that are sent in another form than they come in. An unsure draft gets the stricter
/// choice, and is listed: a person should decide it. Arguments without a role, since nothing says that they name
/// something, are counted. A server's hints, such as `readOnlyHint`, can make a draft stricter, and speak against a
/// description, never against the name of a tool.
///
/// With --into, new tools and arguments are added to the annotations in a file, and the rest stays as it is. The
/// differences between the server and the annotations are shown. If the file is a bundle, tools of the server whose
/// every call its policy denies, with the rule that denies them and one to add, and roles that no rule names are shown too. On a terminal the draft is shown as tables.
/// Elsewhere it is the annotations file itself, and with `--format json` one object, `{"annotations", "text",
/// "drafted", "unsure", "unnamed", "rewritten", "drift", "doubts", "rule"}`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Annotate {
    #[command(flatten)]
    asked: Asking,
    /// The server's name in the annotations and in calls
    #[arg(long, value_name = "NAME")]
    server: String,
    /// The annotations to add to: a file of them, or a bundle that holds or names them
    #[arg(long, value_name = "FILE", group = "held")]
    into: Option<PathBuf>,
    /// A pack of `callgate init` to hold the server against, and to draft from
    #[arg(long, value_name = "PACK", group = "held")]
    pack: Option<String>,
    /// Write nothing, and exit with 1 if the server differs from the annotations, or from the pack
    #[arg(long, requires = "held")]
    check: bool,
}

const EXAMPLES: &str = "\
For example:
  callgate annotate --server filesystem -- npx -y @modelcontextprotocol/server-filesystem .
  callgate annotate --server git --into annotations.json tools.json
  callgate annotate --server files --url https://example.com/mcp --into callgate.json --check";

impl Annotate {
    pub(crate) fn run(&self, format: Option<Format>, out: &mut Out) -> Result<Exit, Failure> {
        let tools = self.asked.tools()?;
        let target = self.into.as_deref().map(Target::open).transpose()?;
        let pack = self.pack.as_deref().map(packs::find).transpose()?;
        let of_pack = pack.map(|pack| pack.annotations(&self.server)).transpose()?;
        let existing = match (&of_pack, &target) {
            (Some(annotations), _) => Some(DocumentSource::Value(annotations)),
            (None, Some(target)) => target.annotations().map(DocumentSource::Text),
            (None, None) => None,
        };
        let has_existing = existing.is_some();
        let proposal = propose_annotations(DocumentSource::Text(&tools), &self.server, existing);
        let proposal = proposal.map_err(|faults| refusal(&faults))?;
        let doubts = target.as_ref().map(|target| self.doubts(target, &proposal));
        let doubts = doubts.unwrap_or_default();
        let has_drift = has_existing && !proposal.drift.is_empty();
        let written = match &target {
            Some(target) if !self.check => Some(target.write(&proposal.text)?),
            _ => None,
        };
        self.tell_of_pack()?;
        if out.human {
            let is_within_bundle = target.as_ref().is_some_and(Target::is_within_bundle);
            self.show(&proposal, &doubts, pack, is_within_bundle, out)?;
            if let Some(written) = &written {
                out.line(&format!("\n{}", clean(written)))?;
            }
        } else if self.into.is_some() || format == Some(Format::Json) {
            let mut answer = json!(proposal);
            if let Some(answer) = answer.as_object_mut() {
                answer.insert("doubts".to_owned(), json!(doubts.findings));
                answer.insert("rule".to_owned(), json!(doubts.rule));
                if self.into.is_some() {
                    answer.shift_remove("annotations");
                    answer.shift_remove("text");
                }
            }
            out.json(&answer)?;
        } else {
            out.text(&proposal.text)?;
        }
        Ok(if self.check && has_drift {
            Exit::Fault
        } else {
            Exit::Allow
        })
    }
}

impl Annotate {
    /// What lint finds about the server's tools under the policy of a bundle, once they are annotated so. `callgate validate`
    /// reports documents that are refused.
    fn doubts(&self, target: &Target, proposal: &Proposal) -> Doubts {
        let Some((bundle, host)) = target.bundle().zip(RealHost::from_env().ok()) else {
            return Doubts::default();
        };
        let builder = Gate::builder().engine(EngineKind::Native).bundle(bundle);
        let gate = builder.part(DocumentKind::Annotations, &*proposal.text).build();
        let Ok(gate) = gate else {
            return Doubts::default();
        };
        let found = gate.lint(&host, None, &|_| {}).unwrap_or_default();
        let found = found.into_iter().map(|(_, finding)| finding).collect();
        Doubts::about(&self.server, found, |call| {
            Some(gate.evaluate(call).ok()?.rule.into_owned())
        })
    }

    /// Says so if there is a pack for the server, which people have looked at.
    fn tell_of_pack(&self) -> Result<(), Failure> {
        if self.pack.is_none()
            && self.into.is_none()
            && let Some(pack) = packs::recognize(self.asked.words().iter().map(String::as_str))?
        {
            let named = match self.server == pack.name {
                true => pack.name.to_owned(),
                false => format!("{}={}", self.server, pack.name),
            };
            crate::terminal::note(&format!(
                "this is a draft; the pack `{}` has annotations of this server that people looked at: `callgate init --for {named} DIR`",
                pack.name
            ));
        }
        Ok(())
    }

    fn show(
        &self,
        proposal: &Proposal,
        doubts: &Doubts,
        pack: Option<&Pack>,
        is_within_bundle: bool,
        out: &mut Out,
    ) -> Result<(), Failure> {
        rewritten(&proposal.rewritten, out)?;
        if !proposal.unsure.is_empty() {
            let heading = "not sure, to be decided by a person:";
            out.line(&format!("\n{}", paint(YELLOW, heading)))?;
            table(&proposal.unsure, out)?;
        }
        if !proposal.drafted.is_empty() {
            out.line(&format!("\n{}", paint(BOLD, "drafted:")))?;
            table(&proposal.drafted, out)?;
        }
        if !proposal.drift.is_empty() {
            let from = match pack {
                Some(pack) => format!(
                    "the pack `{}`, which was written for {}",
                    pack.name,
                    pack.about()?.recorded
                ),
                None => "the annotations".to_owned(),
            };
            let heading = format!("the server differs from {from}:");
            out.line(&format!("\n{}", paint(YELLOW, &heading)))?;
            for drift in &proposal.drift {
                out.line(&format!(
                    "  {} {}",
                    paint(BOLD, drift.change.as_str()),
                    clean(&drift.message)
                ))?;
            }
        }
        if !doubts.findings.is_empty() {
            out.line(&format!("\n{}", paint(YELLOW, "under the bundle's policy:")))?;
            for doubt in &doubts.findings {
                out.line(&format!(
                    "  {} {}",
                    paint(BOLD, doubt.diagnostic.code.as_str()),
                    clean(&doubt.diagnostic.message)
                ))?;
            }
        }
        if let Some(rule) = &doubts.rule {
            out.line("  to use these tools, add a rule to the policy; with this one a person is asked about each call:")?;
            out.line(&format!("  {}", clean(&rule.to_string())))?;
        }
        let (sure, unsure) = (proposal.drafted.len(), proposal.unsure.len());
        let count = format!(
            "{} drafted, {unsure} to be decided, {} without a role since nothing says that they name something, {}",
            counted(sure, "argument", "arguments"),
            proposal.unnamed.len(),
            counted(proposal.drift.len(), "difference", "differences")
        );
        out.line(&format!("\n{}", paint(GREEN, &count)))?;
        let note = match &self.into {
            None => Some(
                "`--into annotations.json` writes the annotations, to a file that a bundle names by `\"annotations\": \
                 \"annotations.json\"`; elsewhere than on a terminal they are the output",
            ),
            Some(_) if is_within_bundle => Some(
                "with `\"annotations\": \"annotations.json\"` in the bundle they have a file of their own, and the bundle stays short",
            ),
            Some(_) => None,
        };
        if let Some(note) = note {
            out.line(&paint(DIM, note))?;
        }
        Ok(())
    }
}

/// The faults of the list or of the annotations.
pub(crate) fn refusal(faults: &[Diagnostic]) -> Failure {
    let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
    Failure::Invalid(shown.join("\n"))
}

/// The arguments that are sent in another form than they come in, each name once with its tools.
fn rewritten(arguments: &[DraftedArgument], out: &mut Out) -> Result<(), Failure> {
    let mut tools: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in arguments {
        match tools.iter_mut().find(|(name, _)| *name == one.argument) {
            Some((_, tools)) => tools.push(&one.tool),
            None => tools.push((&one.argument, vec![&one.tool])),
        }
    }
    if !tools.is_empty() {
        let heading = "sent in another form than they come in: a relative path becomes absolute";
        out.line(&paint(YELLOW, heading))?;
    }
    for (name, tools) in tools {
        let shown = tools.get(..TOOLS).unwrap_or(&tools);
        let more = match tools.len().saturating_sub(TOOLS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let line = format!("  {} of {}{more}", clean(name), clean(&shown.join(", ")));
        out.line(&line)?;
    }
    Ok(())
}

/// How many tools are named for one argument.
const TOOLS: usize = 8;

/// Lines of argument, roles and why, under the name of each tool.
fn table(arguments: &[DraftedArgument], out: &mut Out) -> Result<(), Failure> {
    let width = |length: fn(&DraftedArgument) -> usize, most: usize| {
        arguments.iter().map(length).max().unwrap_or(0).min(most)
    };
    let name_width = width(|one| one.argument.chars().count(), 24);
    let roles_width = width(|one| roles(one).chars().count(), 32);
    let mut tool = None;
    for one in arguments {
        if tool != Some(&one.tool) {
            out.line(&paint(BOLD, &clean(&one.tool)))?;
            tool = Some(&one.tool);
        }
        let line = format!(
            "  {:name_width$}  {:roles_width$}  {}",
            clean(&one.argument),
            roles(one),
            paint(DIM, &clean(&one.why))
        );
        out.line(&line)?;
    }
    Ok(())
}

fn roles(one: &DraftedArgument) -> String {
    let roles = one.roles.join(", ");
    match &one.relative_to {
        Some(base) => format!("{roles} (relative to {})", clean(base)),
        None => roles,
    }
}

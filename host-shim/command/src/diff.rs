//! `callgate diff`: what changes between two policies.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_analysis::{Comparison, ToolChanges, VerdictChange};
use callgate_engine::config::DocumentKind;
use callgate_engine::host::Host;
use callgate_host::{EngineKind, Gate, GateBuilder};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::above::Layers;
use crate::folder::in_folder;
use crate::map::{cell, described, rule};
use crate::setup::Setup;
use crate::signed;
use crate::terminal::Progress;
use crate::terminal::{
    BOLD, DIM, Exit, Failure, GREEN, Out, RED, YELLOW, clean, note, paint, style_of, wrapped,
};

/// Show what changes between two policies: which calls are judged less strictly, which more
///
/// Each is a bundle, or a policy alone, which then replaces that of the other documents given. The calls of each tool are
/// divided into regions in which neither verdict can differ, and both engines are asked. Two that judge every call alike are
/// said to be equal. Links on this machine's disk are not followed, and git remotes by name count as unknown, unless `--disk`
/// is given. The tool `*` stands for all tools of a trusted server that are not annotated. With --above the verdicts are those of
/// all layers, of which OLD and NEW are the lowest. Exits with 0, with 2 where
/// `--fail-on` says so, and with 1 where something is not known, because regions are not exact there. As JSON one line for each
/// tool that changes, then `{"equal", "looser", "stricter", "otherRule", "unknown"}`.
#[derive(Args)]
pub(crate) struct Diff {
    /// The bundle or the policy as it was
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The bundle or the policy as it is to be
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Fail where calls change in this way; may be repeated
    #[arg(long, value_name = "CHANGE")]
    fail_on: Vec<FailOn>,
    /// OLD is an earlier state of NEW, checked out elsewhere: its paths start from the folder of NEW
    #[arg(long)]
    same_folder: bool,
    /// Follow the links on this machine's disk, or in the file of --world, and read its repositories
    #[arg(long)]
    disk: bool,
    #[command(flatten)]
    setup: Setup,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Calls that are judged less strictly
    Looser,
    /// Calls that are judged more strictly
    Stricter,
    /// Any change, of the rule that decides too
    Any,
}

#[derive(Default)]
struct Counts {
    looser: usize,
    stricter: usize,
    other_rule: usize,
    unknown: usize,
}

impl Diff {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let host = self.setup.host()?;
        let old = self.layers(&self.old, &host)?;
        let new = self.layers(&self.new, &host)?;
        let engines = (&old.lowest.engine, &new.lowest.engine);
        let progress = Progress::new();
        let watcher = progress.watcher();
        let comparison = match self.disk {
            true => Comparison::with_host(engines.0, engines.1, host.as_ref()),
            false => Comparison::new(engines.0, engines.1),
        };
        let comparison = comparison.below(&new.above()).watched(&watcher);
        let mut counts = Counts::default();
        for (server, tool) in comparison.tools() {
            let Some(changes) = comparison
                .tool(server, tool)
                .filter(|changes| !changes.is_empty())
            else {
                continue;
            };
            counts.looser += changes.looser.len();
            counts.stricter += changes.stricter.len();
            counts.other_rule += changes.other_rule.len();
            counts.unknown += changes.unknown.len();
            progress.clear();
            if out.markdown {
                if counts.is_first(&changes) {
                    out.line("| | tool | calls | before | after |\n|---|---|---|---|---|")?;
                }
                out.text(&markdown(&changes))?;
            } else if out.human {
                out.text(&listed(&changes))?;
            } else {
                out.json(&changes)?;
            }
        }
        progress.clear();
        self.sum_up(&counts, out)?;
        Ok(self.exit(&counts))
    }

    fn sum_up(&self, counts: &Counts, out: &mut Out) -> Result<(), Failure> {
        if !out.human && !out.markdown {
            return out.json(&json!({
                "equal": counts.are_none(), "looser": counts.looser, "stricter": counts.stricter,
                "otherRule": counts.other_rule, "unknown": counts.unknown,
            }));
        }
        let break_before = if out.markdown && !counts.are_none() {
            "\n"
        } else {
            ""
        };
        out.line(&format!("{break_before}{}", counts.sentence()))
    }

    fn exit(&self, counts: &Counts) -> Exit {
        let fails = self.fail_on.iter().any(|one| match one {
            FailOn::Looser => counts.looser > 0,
            FailOn::Stricter => counts.stricter > 0,
            FailOn::Any => counts.looser + counts.stricter + counts.other_rule > 0,
        });
        if fails {
            Exit::Deny
        } else if counts.unknown > 0 {
            Exit::Fault
        } else {
            Exit::Allow
        }
    }

    /// The layers of a bundle, or of a policy with the other documents.
    fn layers(&self, path: &Path, host: &Arc<dyn Host + Send + Sync>) -> Result<Layers, Failure> {
        let file = in_folder(path)?;
        let builder = match signed::unverified(&file)? {
            Some(texts) => {
                note(&format!(
                    "the signatures of `{}` were not verified",
                    file.display()
                ));
                Gate::builder().bundle_texts(texts)
            }
            None => Gate::builder().bundle(&file),
        };
        let builder = builder.host(Arc::clone(host)).engine(EngineKind::Native);
        let above = self
            .setup
            .above_on(host, &|builder| Ok(builder.engine(EngineKind::Native)))?;
        let builder = above.into_iter().fold(builder, GateBuilder::above);
        let gate = match is_policy(&file) {
            true => self.setup.build(&|builder| {
                let builder = builder.file(DocumentKind::Policy, &file);
                Ok(builder.engine(EngineKind::Native))
            })?,
            false if self.same_folder => builder.folder(folder_of(&in_folder(&self.new)?)?).build()?,
            false => builder.build()?,
        };
        Layers::of(&gate, host.as_ref())
    }
}

/// The folder that a bundle's paths start from.
fn folder_of(bundle: &Path) -> Result<String, Failure> {
    let folder = bundle.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
    let text = folder.into_os_string().into_string();
    text.map_err(|folder| Failure::Fault(format!("the folder `{}` is not UTF-8", folder.display())))
}

/// Returns `true` if the file holds rules, as a policy does and a bundle does not. What cannot be read is said by whoever
/// builds from it.
fn is_policy(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let text = callgate_engine::document::without_comments(&text);
    let read = serde_json::from_str::<Value>(&text);
    read.is_ok_and(|document| document.get("rules").is_some())
}

impl Counts {
    fn are_none(&self) -> bool {
        self.looser + self.stricter + self.other_rule + self.unknown == 0
    }

    /// Returns `true` if nothing was counted before these changes.
    fn is_first(&self, changes: &ToolChanges) -> bool {
        let counted = self.looser + self.stricter + self.other_rule + self.unknown;
        counted
            == changes.looser.len()
                + changes.stricter.len()
                + changes.other_rule.len()
                + changes.unknown.len()
    }

    fn sentence(&self) -> String {
        if self.are_none() {
            return paint(GREEN, "Both judge every call alike.");
        }
        let mut parts = Vec::new();
        for (count, what, style) in [
            (self.looser, "looser", RED),
            (self.stricter, "stricter", GREEN),
            (self.other_rule, "by another rule", DIM),
            (self.unknown, "not known", YELLOW),
        ] {
            if count > 0 {
                parts.push(paint(style, &format!("{count} {what}")));
            }
        }
        format!("{}.", parts.join(", "))
    }
}

/// The changes of a tool, each with the sign that says which way it goes.
fn each(changes: &ToolChanges) -> impl Iterator<Item = (&'static str, &VerdictChange)> {
    let looser = changes.looser.iter().map(|change| ("looser", change));
    let stricter = changes.stricter.iter().map(|change| ("stricter", change));
    let other = changes.other_rule.iter().map(|change| ("rule", change));
    looser.chain(stricter).chain(other)
}

fn calls(change: &VerdictChange) -> String {
    let is_plain = change.places.iter().all(|column| column.roles.is_empty());
    let mut what = match is_plain && change.when.is_empty() {
        true if change.places.is_empty() => "every call".to_owned(),
        _ => described(&change.places),
    };
    if !change.when.is_empty() {
        let _ = write!(what, "; where {}", described(&change.when));
    }
    what
}

/// The changes of a tool, for a person.
pub(crate) fn listed(changes: &ToolChanges) -> String {
    let name = format!("{}/{}", changes.server_name, changes.tool_name);
    let mut text = format!("{}\n", paint(BOLD, &clean(&name)));
    for (way, change) in each(changes) {
        let style = match way {
            "looser" => RED,
            "stricter" => GREEN,
            _ => DIM,
        };
        let what = wrapped(&clean(&calls(change)), 11, "           ");
        let judged = |judged: &callgate_analysis::Judged| {
            let decision = paint(style_of(judged.decision), judged.decision);
            format!(
                "{decision} {}",
                clean(&rule(&judged.rule, judged.layer.as_deref()))
            )
        };
        let _ = writeln!(text, "  {} {what}", paint(style, &format!("{way:<8}")));
        let _ = writeln!(
            text,
            "           {} → {}",
            judged(&change.before),
            judged(&change.after)
        );
        let mut call = json!({
            "serverName": changes.server_name, "toolName": changes.tool_name, "arguments": change.arguments,
        });
        if let Some(context) = &change.context {
            call["context"] = context.clone();
        }
        let _ = writeln!(
            text,
            "           {} {}",
            paint(DIM, "such as"),
            clean(&call.to_string())
        );
    }
    for why in &changes.unknown {
        let _ = writeln!(
            text,
            "  {} {}",
            paint(YELLOW, "unknown "),
            wrapped(&clean(why), 11, "           ")
        );
    }
    text
}

fn markdown(changes: &ToolChanges) -> String {
    let mut text = String::new();
    let name = cell(&format!("{}/{}", changes.server_name, changes.tool_name));
    for (way, change) in each(changes) {
        let judged = |judged: &callgate_analysis::Judged| {
            let rule = rule(&judged.rule, judged.layer.as_deref());
            format!("{} ({})", judged.decision, cell(&rule))
        };
        let _ = writeln!(
            text,
            "| {way} | {name} | {} | {} | {} |",
            cell(&calls(change)),
            judged(&change.before),
            judged(&change.after)
        );
    }
    for why in &changes.unknown {
        let _ = writeln!(text, "| unknown | {name} | {} | | |", cell(why));
    }
    text
}

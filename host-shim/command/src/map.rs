//! `callgate map`: what the documents allow, seen as a whole.

use std::fmt::Write as _;

use callgate_analysis::{Analysis, Column, Row, Target, ToolRegions, names_tool};
use callgate_engine::model::Effect;
use clap::Args;

use crate::setup::{Setup, effects};
use crate::terminal::Progress;
use crate::terminal::{BOLD, DIM, Exit, Failure, Out, clean, counted, note, paint, style_of, wrapped};

/// Show what an agent may do: every tool, what its arguments may be, and the verdict
///
/// The calls of each tool are divided into regions in which no verdict can differ, and the engine is asked about a call in
/// each. Arguments that no rule looks at together are shown apart: the strictest of their verdicts stands. Links on this machine's
/// disk are not followed, and git remotes by name count as unknown, unless `--disk` is given. Where a world decides by the context
/// of a call, its addresses are shown together with the contexts that it tells apart. The tool `*` stands for all tools of
/// a trusted server that are not annotated. With --above the verdicts are those of all layers, each with the layer that decides. As
/// JSON one line a tool.
#[derive(Args)]
pub(crate) struct Map {
    /// Only these tools: a name, `server/tool`, or `server/*`; may be repeated
    #[arg(long, value_name = "TOOL")]
    tool: Vec<String>,
    /// Only what can reach this path, URL or host
    #[arg(long, value_name = "URL|PATH")]
    to: Option<String>,
    /// Only regions with this verdict; may be repeated
    #[arg(long, value_name = "VERDICT", value_parser = effects())]
    only: Vec<Effect>,
    /// Follow the links on this machine's disk, or in the file of --world, and read its repositories
    #[arg(long)]
    disk: bool,
    #[command(flatten)]
    setup: Setup,
}

impl Map {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let layers = self.setup.layers()?;
        let engine = &layers.lowest.engine;
        let host = self.setup.host()?;
        let analysis = match self.disk {
            true => Analysis::with_host(engine, host.as_ref()),
            false => Analysis::new(engine),
        };
        let analysis = analysis.below(&layers.above());
        let analysis = match &self.to {
            Some(target) => analysis.reaching(Target::parse(target)),
            None => analysis,
        };
        let progress = Progress::new();
        let watcher = progress.watcher();
        let analysis = analysis.watched(&watcher);
        let (mut shown, mut inexact) = (0, 0);
        if out.markdown {
            out.line("| tool | when | verdict | rule |")?;
            out.line("|---|---|---|---|")?;
        }
        for (server, tool) in analysis.tools() {
            let is_wanted = self.tool.is_empty() || self.tool.iter().any(|one| names_tool(one, server, tool));
            let Some(regions) = is_wanted.then(|| analysis.tool(server, tool)).flatten() else {
                continue;
            };
            let rows = regions.rows();
            let is_kept =
                |row: &&Row| self.only.is_empty() || self.only.iter().any(|one| one.as_str() == row.decision);
            let mut rows: Vec<&Row> = rows.iter().filter(is_kept).collect();
            if out.human || out.markdown {
                leave_out(&mut rows);
            }
            if rows.is_empty() {
                continue;
            }
            shown += 1;
            inexact += usize::from(!regions.inexact.is_empty());
            progress.clear();
            if out.markdown {
                out.text(&markdown(&regions, &rows))?;
            } else if out.human {
                out.text(&table(&regions, &rows))?;
            } else {
                out.json(&regions.map(&rows))?;
            }
        }
        progress.clear();
        if shown == 0 && !self.tool.is_empty() && self.to.is_none() && self.only.is_empty() {
            return Err(Failure::Fault(format!(
                "no annotated tool is called `{}`",
                self.tool.join("`, `")
            )));
        }
        if inexact > 0 && out.human {
            let tools = counted(inexact, "tool", "tools");
            note(&format!("for {tools} the regions are not exact, as said there"));
        }
        Ok(Exit::Allow)
    }
}

/// Leaves out what is the same whatever the policy: calls that are refused for their form, and, where there is anything else to
/// say, arguments without a role.
fn leave_out(rows: &mut Vec<&Row>) {
    rows.retain(|row| !row.is_about_form());
    if rows.iter().any(|row| !row.is_about_others()) {
        rows.retain(|row| !row.is_about_others());
    }
}

/// `path under /srv or anywhere else; mode `list``
pub(crate) fn described(columns: &[Column]) -> String {
    let each = columns.iter().map(|column| {
        let roles = match column.roles.is_empty() {
            true => String::new(),
            false => format!(" ({})", column.roles.join(", ")),
        };
        format!("{}{roles}: {}", column.argument, several(&column.brief()))
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Values that are listed one by one at most.
const MOST: usize = 6;

pub(crate) fn several(texts: &[String]) -> String {
    match texts.split_at_checked(MOST) {
        Some((first, rest)) if rest.len() > 1 => format!("{}, and {} more", first.join(", "), rest.len()),
        _ => texts.join(", "),
    }
}

/// The rows as a person reads them.
fn table(regions: &ToolRegions, rows: &[&Row]) -> String {
    let name = format!("{}/{}", regions.server_name, regions.tool_name);
    let mut text = format!("{}\n", paint(BOLD, &clean(&name)));
    for row in rows {
        let decision = paint(style_of(row.decision), &format!("{:<8}", row.decision));
        let mut what = match row.places.is_empty() || row.is_about_others() {
            true => "every call".to_owned(),
            false => described(&row.places),
        };
        if !row.when.is_empty() {
            let _ = write!(what, "; where {}", described(&row.when));
        }
        let what = wrapped(&clean(&what), 11, "           ");
        let _ = writeln!(
            text,
            "  {decision} {what}{}",
            paint(
                DIM,
                &format!("; by {}", clean(&rule(&row.rule, row.layer.as_deref())))
            )
        );
    }
    for argument in &regions.reads_below {
        let what = format!("everything below `{argument}` is read, what is protected there too");
        let _ = writeln!(
            text,
            "  {} {}",
            paint(DIM, "reach:"),
            wrapped(&clean(&what), 9, "    ")
        );
    }
    for why in &regions.inexact {
        let _ = writeln!(
            text,
            "  {} {}",
            paint(DIM, "not exact:"),
            wrapped(&clean(why), 13, "    ")
        );
    }
    text
}

/// The rows of a table in Markdown.
fn markdown(regions: &ToolRegions, rows: &[&Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let mut what = match row.places.is_empty() || row.is_about_others() {
            true => "every call".to_owned(),
            false => described(&row.places),
        };
        if !row.when.is_empty() {
            let _ = write!(what, "; where {}", described(&row.when));
        }
        let _ = writeln!(
            text,
            "| {}/{} | {} | {} | {} |",
            cell(&regions.server_name),
            cell(&regions.tool_name),
            cell(&what),
            row.decision,
            cell(&rule(&row.rule, row.layer.as_deref()))
        );
    }
    text
}

/// A rule, with the layer that it is one of.
pub(crate) fn rule(rule: &str, layer: Option<&str>) -> String {
    match layer {
        Some(layer) => format!("{rule} of {layer}"),
        None => rule.to_owned(),
    }
}

/// Text that ends no cell of a Markdown table.
pub(crate) fn cell(text: &str) -> String {
    clean(text).replace('|', "\\|")
}

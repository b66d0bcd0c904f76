//! The calls that a policy allows, seen as a whole.
//!
//! The calls of a tool are divided into regions in which no verdict can differ; each has a call that stands for it, and the
//! engine is asked about that call. There is no second meaning of a policy here: what an analysis says of a region is what the
//! engine says.
//!
//! The division looks at what rules compare: directories, domain patterns, entries of lists, values of arguments that
//! conditions name. Arguments that no rule looks at together are not multiplied: such parts of a call are judged by themselves,
//! and the strictest verdict stands. The context that a host gives with a call counts only where a world tells addresses by it,
//! and is looked at together with these alone. So the verdict of a call is the strictest of the regions that its parts lie in.

mod addresses;
mod admitted;
mod asked;
mod atoms;
mod beyond;
mod ceilings;
mod changed;
mod choice;
mod choices;
mod contexts;
mod coupling;
mod coverage;
mod diff;
mod divided;
mod drafted;
mod held;
mod hosts;
mod imagined;
mod inexact;
mod invariants;
mod label;
mod layers;
mod least;
pub mod lines;
mod lint;
mod meant;
mod modes;
mod names;
mod pairs;
mod places;
mod placing;
mod portable;
mod progress;
mod protected;
mod regions;
mod remembered;
mod rows;
mod same;
pub mod scenarios;
mod slots;
mod suggest;
#[cfg(test)]
mod tests;
mod texts;
mod together;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::imagined::Imagined;
use asked::Asked;
pub use asked::Judged;
use atoms::ValueKinds;
use callgate_engine::engine::Engine;
use callgate_engine::host::Host;
use callgate_engine::net::extract_domain;
use callgate_engine::role::RoleSet;
use callgate_engine::sort;
pub use coverage::{Coverage, CoverageReport, CoveredRule, Unreached};
pub use diff::{Comparison, ToolChanges, VerdictChange};
use divided::{Divided, SlotRoles};
pub use drafted::Doubts;
pub use held::Outcome;
pub use invariants::{Statement, check_invariants};
use layers::Uppers;
pub use layers::{Above, Layer};
pub use lint::{Finding, lint_policy, lint_tools};
pub use progress::{Progress, Subject, Watcher};
pub use rows::{Column, Row};
use serde::Serialize;
pub use suggest::{Advice, Suggestion, suggest_rules};
use texts::Texts;

/// The name that stands for every tool of a trusted server that is not annotated.
const ANY_OTHER: &str = "*";

/// How much an analysis looks at. Where there is more, the answer says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Calls that are judged for one tool.
    pub calls: usize,
    /// Values that one argument is given.
    pub values: usize,
    /// Combinations of the values that conditions look at, for one tool.
    pub modes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            calls: 50_000,
            values: 4_096,
            modes: 64,
        }
    }
}

/// One argument of a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The argument's name, or the JSON Pointer to its values.
    pub argument: String,
    /// Its roles.
    pub roles: Vec<String>,
    /// A description of its value for a person: `under /srv/app but not /srv/app/secrets`.
    pub is: String,
    /// The directory that `is` describes, for drawing a tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

/// Calls of a tool in which no verdict can differ, as far as one part of their arguments goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Region {
    /// The arguments of this part. Regions that have one in common share it.
    pub places: Vec<Arc<Place>>,
    /// `allow`, `escalate` or `deny`.
    pub decision: &'static str,
    /// The rule that decides.
    pub rule: String,
    /// The layer whose verdict it is, where there are several; `None` too where they would send different texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// The arguments of a call in the region. Other parts of the call are as harmless as they can be.
    pub arguments: serde_json::Value,
    /// The context that a host gives with that call, where the verdict depends on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<serde_json::Value>,
}

impl Region {
    fn new(places: Vec<Arc<Place>>, judged: Judged, asked: Asked) -> Self {
        Self {
            places,
            decision: judged.decision,
            rule: judged.rule,
            layer: judged.layer,
            arguments: asked.arguments,
            context: asked.context,
        }
    }
}

/// The regions of the arguments that rules look at together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The arguments that conditions look at.
    pub when: Vec<Place>,
    /// The regions.
    pub regions: Vec<Region>,
}

/// The regions of the calls of one tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRegions {
    /// The server.
    pub server_name: String,
    /// The tool; `*` stands for every tool of a trusted server that is not annotated.
    pub tool_name: String,
    /// The verdict of a call is the strictest of the regions that it lies in, one of each part with its `when`.
    pub parts: Vec<Part>,
    /// The arguments that name directories of which everything below is read, protected paths too; empty where none is protected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads_below: Vec<String>,
    /// Where the division is not exact, and why.
    pub inexact: Vec<String>,
    /// How many calls the engine was asked about.
    pub calls: usize,
}

/// Everything that must be equal for two arguments to be compared with the same values: the tool, for addresses; the server;
/// the parts of the index that hold its rules, in each program where there are several; the directories that a ceiling's patterns
/// for the tool begin in; and the roles.
type AlikeSlots = (
    Option<Box<str>>,
    Box<str>,
    Vec<Box<[usize]>>,
    Vec<String>,
    SlotRoles,
);

/// Divides the calls of an engine's tools into regions.
pub struct Analysis<'e> {
    imagined: Imagined<'e>,
    above: Uppers<'e>,
    bounds: Bounds,
    cuts: Cuts,
    target: Option<Target>,
    watcher: Option<Watcher<'e>>,
    /// The program that this one is compared with.
    other: Option<Imagined<'e>>,
    /// `true` if several values of an argument are looked at where one does not tell everything.
    is_about_several: bool,
    /// The values for arguments that the same rules look at.
    choices: RefCell<BTreeMap<AlikeSlots, Arc<Texts>>>,
}

/// Something that a call may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A path, absolute or `~/…`.
    Path(String),
    /// A URL.
    Url(String),
}

impl Target {
    /// Reads what a person writes: a path, a URL, or the name of a host.
    pub fn parse(text: &str) -> Self {
        let is_remote = text.split_once('@').is_some_and(|(_, host)| host.contains(':'));
        if text.starts_with(['/', '~', '.']) {
            Self::Path(text.to_owned())
        } else if text.contains("://") || is_remote {
            Self::Url(text.to_owned())
        } else {
            Self::Url(format!("https://{text}/"))
        }
    }

    /// The value of an argument that is read so, where it names the target.
    fn for_kinds(&self, kinds: ValueKinds) -> Option<String> {
        match self {
            Self::Path(text) if kinds.is_path => Some(text.clone()),
            Self::Url(text) if kinds.is_url => Some(text.clone()),
            Self::Url(text) if kinds.is_host => Some(host_of(text)),
            Self::Path(_) | Self::Url(_) => None,
        }
    }
}

/// The name of a URL's host, or of that of a git remote in its short form.
fn host_of(text: &str) -> String {
    let short = || Some(text.split_once('@')?.1.split_once(':')?.0.to_owned());
    let is_short = !text.contains("://");
    let found = is_short.then(short).flatten();
    found.unwrap_or_else(|| extract_domain(text).into_owned())
}

/// Returns `true` if the pattern is the tool's name, its server and name, or `server/*`.
pub fn names_tool(pattern: &str, server: &str, tool: &str) -> bool {
    match pattern.split_once('/') {
        Some((of, name)) => of == server && (name == "*" || name == tool),
        None => pattern == tool,
    }
}

/// Further places where regions end, for a question about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cuts {
    /// Directories, absolute or `~/…`.
    pub(crate) directories: Vec<String>,
    /// Domain patterns.
    pub(crate) domains: Vec<String>,
    /// Other values.
    pub(crate) values: Vec<String>,
    /// Roles whose values are looked at although no judgement does.
    pub(crate) roles: RoleSet,
}

impl<'e> Analysis<'e> {
    /// On a disk without links, where no repository has a remote; deterministic and pure.
    pub fn new(engine: &'e Engine) -> Self {
        Self::on(Imagined::new(engine, None))
    }

    /// With the links and repositories that a host has.
    pub fn with_host(engine: &'e Engine, host: &'e dyn Host) -> Self {
        Self::on(Imagined::new(engine, Some(host)))
    }

    fn on(imagined: Imagined<'e>) -> Self {
        Self {
            imagined,
            above: Uppers::default(),
            bounds: Bounds::default(),
            cuts: Cuts::default(),
            target: None,
            watcher: None,
            other: None,
            is_about_several: false,
            choices: RefCell::default(),
        }
    }

    /// With layers above the engine, on the same disk.
    #[must_use]
    pub fn below(self, above: &Above<'e>) -> Self {
        Self {
            above: Uppers::new(above, self.imagined.given()),
            ..self
        }
    }

    /// Looks at no more than this.
    #[must_use]
    pub fn within(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }

    /// Looks only at arguments that may name the target, and only at the calls that do.
    #[must_use]
    pub fn reaching(self, target: Target) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    /// Tells the watcher of each tool whose regions are asked for.
    #[must_use]
    pub fn watched(self, watcher: Watcher<'e>) -> Self {
        Self {
            watcher: Some(watcher),
            ..self
        }
    }

    /// The server and name of every annotated tool, in order, and of each trusted server `*`, which stands for its other tools. With
    /// layers above, those that the lowest annotates, and of its trusted servers those that others do.
    pub fn tools(&self) -> Vec<(&'e str, &'e str)> {
        let program = self.imagined.program();
        let tools = program.tools.iter().map(|tool| (&*tool.server, &*tool.name));
        let others = program.trusted_servers().map(|server| (server, ANY_OTHER));
        let above = self.above.tools().filter(|(server, _)| self.is_trusted(server));
        sort::set(tools.chain(others).chain(above)).into_iter().collect()
    }

    /// The regions of a tool's calls; `None` for a tool that is not annotated, unless it is `*` of a trusted server.
    pub fn tool(&self, server: &str, name: &str) -> Option<ToolRegions> {
        let is_known = self.imagined.program().tool(server, name).is_some();
        let is_other = name == ANY_OTHER || self.above.tools().any(|one| one == (server, name));
        match self.above.refuse(server, name) {
            false if is_known => self.watched_tool(server, name).map(Divided::regions),
            _ if is_known || self.is_trusted(server) && is_other => Some(self.undivided(server, name)),
            _ => None,
        }
    }

    /// Returns `true` if every call of the server is allowed.
    fn is_trusted(&self, server: &str) -> bool {
        self.imagined.program().server(server).is_trusted
    }

    /// All calls of a tool as one: of those that a trusted server's annotations do not name, and of one that a layer above does not
    /// know.
    fn undivided(&self, server: &str, name: &str) -> ToolRegions {
        let asked = Asked::empty();
        let (_, judged) = self.judge((server, name), &asked);
        let region = Region::new(Vec::new(), judged, asked);
        ToolRegions {
            server_name: server.to_owned(),
            tool_name: name.to_owned(),
            parts: vec![Part {
                when: Vec::new(),
                regions: vec![region],
            }],
            reads_below: Vec::new(),
            inexact: match self.above.refuse(server, name) {
                true => Vec::new(),
                false => self.doubts(server, name),
            },
            calls: 1,
        }
    }

    fn divided(&self, server: &str, name: &str) -> Option<Divided<'_, 'e>> {
        let tool = self.imagined.program().tool(server, name)?;
        Some(Divided::new(self, tool))
    }

    /// The same, and tells of it.
    fn watched_tool(&self, server: &str, name: &str) -> Option<Divided<'_, 'e>> {
        let program = self.imagined.program();
        let tool = program.tool(server, name)?;
        if let Some(watcher) = self.watcher {
            let before = program.tools.iter().take_while(|one| !std::ptr::eq(*one, tool));
            watcher(&Progress {
                subject: Subject::Tool { server, name },
                at: before.count() + 1,
                of: program.tools.len(),
                part_of: None,
            });
        }
        Some(Divided::new(self, tool))
    }

    /// Returns `true` if every call of the tool is certain to be denied: the engine tells it without a look at values, or all
    /// regions of its calls are denied and exact. Beyond the bounds the answer is `false`.
    pub fn denies_every_call(&self, server: &str, name: &str) -> bool {
        let program = self.imagined.program();
        program.denies_every_call(server, name) || self.divided(server, name).is_some_and(Divided::denies_all)
    }
}

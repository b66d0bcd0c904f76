//! Capability ceilings: the most that a session or a sub-agent may use (SPEC §12).

mod document;
mod intersect;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::glob::Glob;
use crate::model::SideEffectLevel;

pub use intersect::{CeilingError, Exceeds};

/// The most that calls may use. A ceiling only denies, it never allows.
///
/// A tool is given as `tool`, on any server, or as `server/tool`.
///
/// Its JSON is the document that an engine reads: `{tools, capabilities, workspace_roots, side_effect_level?,
/// recursion_limit?, tool_arg_constraints}`, with `unclassified_tools` and `outer_workspace_roots` if an
/// [intersection](Ceiling::intersect) needs them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ceiling {
    /// The tools that may be called; empty: every tool.
    pub tools: Vec<Box<str>>,
    /// The operations that tools may need, by capability. No operations: every one of that capability. Empty: every
    /// capability.
    pub capabilities: BTreeMap<Box<str>, Vec<Box<str>>>,
    /// The directories that paths must lie within: absolute, `~` or `~/…`; empty: anywhere. With
    /// `options.workspaceRoots: "sandbox"` they are the sandbox too, and relative paths and patterns are resolved
    /// against the first.
    pub workspace_roots: Vec<Box<str>>,
    /// How far the effects of a tool may reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_effect_level: Option<SideEffectLevel>,
    /// How deep agents may start agents. The engine only passes it on to the host, which counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursion_limit: Option<u32>,
    /// Patterns for single arguments.
    pub tool_arg_constraints: Vec<ToolArgConstraint>,
    /// If a level is set: the tools that may be called although their side-effect level is unknown. `None`: those of
    /// `tools`. Empty: no tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclassified_tools: Option<Vec<Box<str>>>,
    /// Further sets of directories: a path must lie within one of each set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outer_workspace_roots: Vec<Vec<Box<str>>>,
}

/// A constraint on one argument of some tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolArgConstraint {
    /// The tools, as a glob over `tool` and over `server/tool`.
    pub tool: Glob,
    /// Globs, one of which the value must match.
    pub arg_patterns: Vec<Glob>,
    /// The argument; `None`: the first of the tool's `path_params` that is a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arg_key: Option<Box<str>>,
    /// The workspace root that relative patterns start from where the roots are the sandbox; `None`: the ceiling's first.
    /// An intersection names it, since its own first root may be another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_root: Option<Box<str>>,
}

impl ToolArgConstraint {
    /// Returns `true` if the constraint applies to the tool, as `tool` or as `server/tool`. It restricts, so a `*`
    /// also matches a `/` in a name.
    pub fn concerns(&self, server: &str, tool: &str) -> bool {
        self.tool.matches_across(tool) || self.tool.matches_across(&format!("{server}/{tool}"))
    }
}

impl Ceiling {
    /// Why the ceiling denies every call of the tool, whatever its arguments; `None` if it does not.
    pub fn refusal(
        &self,
        server: &str,
        tool: &str,
        level: SideEffectLevel,
        capabilities: &BTreeMap<Box<str>, Vec<Box<str>>>,
    ) -> Option<String> {
        if !self.tools.is_empty() && !is_named(&self.tools, server, tool) {
            return Some(format!(
                "tool \"{server}/{tool}\" is not among the ceiling's tools"
            ));
        }
        if let Some((capability, operation)) = self.beyond(capabilities) {
            return Some(format!(
                "tool \"{server}/{tool}\" needs \"{capability}.{operation}\", which the ceiling does not have"
            ));
        }
        let most = self.side_effect_level?;
        let unclassified = self.unclassified_tools.as_ref().unwrap_or(&self.tools);
        if level == SideEffectLevel::None && !is_named(unclassified, server, tool) {
            return Some(format!(
                "the side-effect level of tool \"{server}/{tool}\" is \"none\", which is unknown, and the ceiling's \
                 is \"{}\"",
                most.as_str()
            ));
        }
        (level.rank() > most.rank()).then(|| {
            format!(
                "the side-effect level of tool \"{server}/{tool}\" is \"{}\", above the ceiling's \"{}\"",
                level.as_str(),
                most.as_str()
            )
        })
    }

    /// The first operation that the ceiling does not include; `*` stands for all of a capability.
    fn beyond<'n>(&self, needed: &'n BTreeMap<Box<str>, Vec<Box<str>>>) -> Option<(&'n str, &'n str)> {
        if self.capabilities.is_empty() {
            return None;
        }
        needed.iter().find_map(|(capability, operations)| {
            let first = operations.first().map_or("*", |operation| operation);
            let Some(given) = self.capabilities.get(capability) else {
                return Some((&**capability, first));
            };
            if given.is_empty() {
                return None;
            }
            // A tool that names a capability without operations may use any of them.
            if operations.is_empty() {
                return Some((&**capability, "*"));
            }
            let missing = operations.iter().find(|operation| !given.contains(operation));
            missing.map(|operation| (&**capability, &**operation))
        })
    }

    /// Returns `true` if the ceiling can never deny a call.
    pub fn is_unlimited(&self) -> bool {
        self.tools.is_empty()
            && self.capabilities.is_empty()
            && self.side_effect_level.is_none()
            && self.tool_arg_constraints.is_empty()
            && self.root_sets().next().is_none()
    }

    /// The sets of directories; a path must lie within one directory of each set.
    pub fn root_sets(&self) -> impl Iterator<Item = &[Box<str>]> {
        let own = std::iter::once(&self.workspace_roots);
        own.chain(&self.outer_workspace_roots)
            .map(Vec::as_slice)
            .filter(|roots| !roots.is_empty())
    }
}

/// Returns `true` if the tool is among the names.
fn is_named(names: &[Box<str>], server: &str, tool: &str) -> bool {
    names.iter().any(|name| names_tool(name, server, tool))
}

/// Returns `true` if the name, `tool` or `server/tool`, is that of the tool.
pub fn names_tool(name: &str, server: &str, tool: &str) -> bool {
    match name.split_once('/') {
        None => name == tool,
        Some(both) => both == (server, tool),
    }
}

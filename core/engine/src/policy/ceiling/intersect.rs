//! The intersection of two ceilings.

use std::collections::BTreeMap;
use std::fmt;

use super::{Ceiling, ToolArgConstraint};
use crate::diagnostic::Diagnostic;
use crate::path::lexical;
use crate::text::is_at_or_below;

/// A requested ceiling that goes beyond the host's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exceeds {
    /// Tools, operations of capabilities and workspace roots, such as ``tool `x` ``.
    pub what: Vec<String>,
}

impl fmt::Display for Exceeds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the requested ceiling exceeds the host's: {}",
            self.what.join(", ")
        )
    }
}

impl std::error::Error for Exceeds {}

/// The error for a document that is not a ceiling: all its diagnostics, warnings included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CeilingError {
    /// The faults.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for CeilingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the ceiling cannot be read")?;
        let mut faults = self.diagnostics.iter();
        faults.try_for_each(|one| write!(formatter, "\n{one}"))
    }
}

impl std::error::Error for CeilingError {}

impl Ceiling {
    /// The intersection of this ceiling, the host's, with a requested one: it allows what both allow.
    ///
    /// Without a requested limit, the host's applies. The lower level, the lower recursion limit and the constraints
    /// of both apply. Workspace roots are compared lexically; if a link leads out of the host's roots, judging finds
    /// that, because the host's roots still apply.
    ///
    /// # Errors
    /// Names each requested tool, operation and workspace root that the host's ceiling does not include.
    pub fn intersect(&self, requested: &Ceiling) -> Result<Ceiling, Exceeds> {
        let mut what = Vec::new();
        let tools = self.narrower_tools(requested, &mut what);
        let capabilities = self.narrower_capabilities(requested, &mut what);
        let (workspace_roots, outer_workspace_roots) = self.narrower_roots(requested, &mut what);
        if !what.is_empty() {
            return Err(Exceeds { what });
        }
        let side_effect_level = lower(self.side_effect_level, requested.side_effect_level);
        let unclassified = match (self.unclassified(), requested.unclassified()) {
            (None, None) => None,
            (Some(names), None) | (None, Some(names)) => Some(names.to_vec()),
            (Some(host), Some(requested)) => Some(common(host, requested)),
        };
        let mut tool_arg_constraints = self.anchored_constraints(&workspace_roots);
        for constraint in requested.anchored_constraints(&workspace_roots) {
            if !tool_arg_constraints.contains(&constraint) {
                tool_arg_constraints.push(constraint);
            }
        }
        Ok(Ceiling {
            unclassified_tools: unclassified.filter(|names| !is_same(names, &tools)),
            tools,
            capabilities,
            workspace_roots,
            side_effect_level,
            recursion_limit: lower(self.recursion_limit, requested.recursion_limit),
            tool_arg_constraints,
            outer_workspace_roots,
        })
    }

    /// The constraints, as they are said in a ceiling with these roots: relative patterns keep the root that they start
    /// from.
    fn anchored_constraints(&self, roots: &[Box<str>]) -> Vec<ToolArgConstraint> {
        let mut constraints = self.tool_arg_constraints.clone();
        let first = self.workspace_roots.first();
        if first != roots.first() {
            for constraint in &mut constraints {
                if constraint.workspace_root.is_none() {
                    constraint.workspace_root = first.cloned();
                }
            }
        }
        constraints
    }

    fn narrower_tools(&self, requested: &Ceiling, what: &mut Vec<String>) -> Vec<Box<str>> {
        match (self.tools.is_empty(), requested.tools.is_empty()) {
            (_, true) => self.tools.clone(),
            (true, false) => requested.tools.clone(),
            (false, false) => {
                let beyond = requested.tools.iter().filter(|tool| !covers(&self.tools, tool));
                what.extend(beyond.map(|tool| format!("tool `{tool}`")));
                requested.tools.clone()
            }
        }
    }

    fn narrower_capabilities(
        &self,
        requested: &Ceiling,
        what: &mut Vec<String>,
    ) -> BTreeMap<Box<str>, Vec<Box<str>>> {
        if requested.capabilities.is_empty() {
            return self.capabilities.clone();
        }
        let mut narrower = requested.capabilities.clone();
        if self.capabilities.is_empty() {
            return narrower;
        }
        for (capability, operations) in &mut narrower {
            let Some(given) = self.capabilities.get(capability) else {
                what.push(format!("capability `{capability}`"));
                continue;
            };
            if operations.is_empty() {
                operations.clone_from(given);
            } else if !given.is_empty() {
                let beyond = operations.iter().filter(|operation| !given.contains(operation));
                what.extend(beyond.map(|operation| format!("operation `{capability}.{operation}`")));
            }
        }
        narrower
    }

    /// The roots, and the further sets.
    fn narrower_roots(
        &self,
        requested: &Ceiling,
        what: &mut Vec<String>,
    ) -> (Vec<Box<str>>, Vec<Vec<Box<str>>>) {
        let mut outer = self.outer_workspace_roots.clone();
        let mut add = |roots: &Vec<Box<str>>| {
            if !outer.contains(roots) {
                outer.push(roots.clone());
            }
        };
        requested.outer_workspace_roots.iter().for_each(&mut add);
        let (host, wanted) = (&self.workspace_roots, &requested.workspace_roots);
        if wanted.is_empty() {
            return (host.clone(), outer);
        }
        if host.is_empty() {
            return (wanted.clone(), outer);
        }
        let beyond = wanted
            .iter()
            .filter(|root| !host.iter().any(|outer| lies_within(root, outer)));
        what.extend(beyond.map(|root| format!("workspace root `{root}`")));
        if !is_same(host, wanted) {
            add(host);
        }
        (wanted.clone(), outer)
    }

    /// The tools that may be called although their level is unknown; `None`: every tool.
    fn unclassified(&self) -> Option<&[Box<str>]> {
        self.side_effect_level?;
        Some(self.unclassified_tools.as_ref().unwrap_or(&self.tools))
    }
}

fn lower<T: Ord>(host: Option<T>, requested: Option<T>) -> Option<T> {
    match (host, requested) {
        (Some(host), Some(requested)) => Some(host.min(requested)),
        (one, other) => one.or(other),
    }
}

/// Returns `true` if `names` includes every tool that `name` stands for.
fn covers(names: &[Box<str>], name: &str) -> bool {
    let bare = name.split_once('/').map(|(_, tool)| tool);
    names
        .iter()
        .any(|known| **known == *name || bare.is_some_and(|bare| **known == *bare && !bare.contains('/')))
}

/// The tools that both include.
fn common(host: &[Box<str>], requested: &[Box<str>]) -> Vec<Box<str>> {
    let mut common: Vec<Box<str>> = requested
        .iter()
        .filter(|name| covers(host, name))
        .cloned()
        .collect();
    for name in host {
        if covers(requested, name) && !common.contains(name) {
            common.push(name.clone());
        }
    }
    common
}

fn is_same(one: &[Box<str>], other: &[Box<str>]) -> bool {
    let is_within = |one: &[Box<str>], other: &[Box<str>]| one.iter().all(|name| other.contains(name));
    is_within(one, other) && is_within(other, one)
}

/// Returns `true` if a root lies within another, compared lexically. A path under `~` cannot be compared with an
/// absolute one.
fn lies_within(root: &str, outer: &str) -> bool {
    let anchored = |path: &str| -> Option<(bool, String)> {
        match path.strip_prefix('~') {
            Some(rest) => {
                // Only the host knows the directories above `~`.
                let climbs = rest.split('/').any(|name| name == "..");
                (!climbs).then(|| (true, lexical(&format!("/{rest}"), "/").into_owned()))
            }
            None => Some((false, lexical(path, "/").into_owned())),
        }
    };
    match (anchored(root), anchored(outer)) {
        (Some((home, root)), Some((outer_home, outer))) => {
            home == outer_home && is_at_or_below(&root, &outer)
        }
        _ => root == outer,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::DocumentSource;

    #[track_caller]
    fn check(host: Value, requested: Value, expected: Result<Value, &[&str]>) {
        let load = |value: &Value| Ceiling::load(DocumentSource::Value(value)).unwrap();
        let found = load(&host).intersect(&load(&requested));
        match expected {
            Ok(expected) => assert_eq!(found, Ok(load(&expected)), "{host} {requested}"),
            Err(what) => assert_eq!(found.unwrap_err().what, what, "{host} {requested}"),
        }
    }

    #[test]
    fn the_narrower_applies_or_what_exceeds_is_named() {
        let none = || json!({});
        for one in [
            json!({"tools": ["a"]}),
            json!({"capabilities": {"w": ["r"]}}),
            json!({"side_effect_level": "network"}),
            json!({"recursion_limit": 2}),
            json!({"workspace_roots": ["/a"]}),
            json!({"unclassified_tools": ["x"], "tools": ["x", "y"],
                "side_effect_level": "read_only"}),
            json!({"tool_arg_constraints": [{"tool": "*", "arg_patterns": ["x"]}]}),
        ] {
            check(one.clone(), none(), Ok(one.clone()));
            check(none(), one.clone(), Ok(one.clone()));
            check(one.clone(), one.clone(), Ok(one));
        }
        let tools = |tools: Value| json!({"tools": tools});
        check(
            tools(json!(["a", "b"])),
            tools(json!(["b"])),
            Ok(tools(json!(["b"]))),
        );
        check(
            tools(json!(["a"])),
            tools(json!(["s/a"])),
            Ok(tools(json!(["s/a"]))),
        );
        check(
            tools(json!(["s/a"])),
            tools(json!(["a", "t/a"])),
            Err(&["tool `a`", "tool `t/a`"]),
        );
        let caps = |caps: Value| json!({"capabilities": caps});
        check(
            caps(json!({"w": []})),
            caps(json!({"w": ["r"]})),
            Ok(caps(json!({"w": ["r"]}))),
        );
        check(
            caps(json!({"w": ["r"]})),
            caps(json!({"w": []})),
            Ok(caps(json!({"w": ["r"]}))),
        );
        check(
            caps(json!({"w": ["r"], "x": ["y"]})),
            caps(json!({"w": ["r", "d"], "n": []})),
            Err(&["capability `n`", "operation `w.d`"]),
        );
        let level = |level: &str| json!({"side_effect_level": level, "recursion_limit": level.len()});
        check(
            level("network"),
            level("read_only"),
            Ok(json!({"side_effect_level": "read_only", "recursion_limit": 7})),
        );
        let roots = |roots: Value| json!({"workspace_roots": roots});
        check(
            roots(json!(["/a", "~/x"])),
            roots(json!(["/a/b", "~/x/y"])),
            Ok(json!({"workspace_roots": ["/a/b", "~/x/y"], "outer_workspace_roots": [["/a", "~/x"]]})),
        );
        check(
            roots(json!(["/a", "~/x"])),
            roots(json!(["/ab", "/a/../b", "~", "/", "~/x/../x/y"])),
            Err(&[
                "workspace root `/ab`",
                "workspace root `/a/../b`",
                "workspace root `~`",
                "workspace root `/`",
                "workspace root `~/x/../x/y`",
            ]),
        );
    }

    #[test]
    fn a_request_that_names_a_tool_does_not_vouch_for_it_to_the_host() {
        check(
            json!({"side_effect_level": "read_only"}),
            json!({"tools": ["x"]}),
            Ok(json!({"tools": ["x"], "side_effect_level": "read_only", "unclassified_tools": []})),
        );
        check(
            json!({"tools": ["x", "y"], "side_effect_level": "read_only"}),
            json!({"tools": ["s/x"], "side_effect_level": "network"}),
            Ok(json!({"tools": ["s/x"], "side_effect_level": "read_only"})),
        );
        check(
            json!({"tools": ["x", "y"], "side_effect_level": "read_only"}),
            json!({"side_effect_level": "network", "unclassified_tools": ["s/y", "z"]}),
            Ok(json!({"tools": ["x", "y"], "side_effect_level": "read_only", "unclassified_tools": ["s/y"]})),
        );
    }

    #[test]
    fn constraints_of_both_apply_once() {
        let one = json!({"tool": "a", "arg_patterns": ["x"]});
        let other = json!({"tool": "a", "arg_patterns": ["y"], "arg_key": "k"});
        let both = |list: &[&Value]| json!({"tool_arg_constraints": list});
        check(both(&[&one]), both(&[&other, &one]), Ok(both(&[&one, &other])));
    }
}

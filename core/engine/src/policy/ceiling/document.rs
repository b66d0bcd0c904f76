//! Reading a ceiling's document.

use serde_json::Value;

use super::{Ceiling, CeilingError, ToolArgConstraint};
use crate::diagnostic::{Code, Severity};
use crate::document::{DocumentSource, Node, Object, Relative, Report, keys, load};
use crate::glob::Glob;
use crate::limits::Limits;
use crate::sort;

impl Ceiling {
    /// Reads a ceiling's document on its own, with the default limits.
    ///
    /// # Errors
    /// If there is an error, every diagnostic, warnings included.
    pub fn load(input: DocumentSource<'_>) -> Result<Self, CeilingError> {
        const NAME: &str = "ceiling";
        let limits = Limits::default();
        let value =
            load(input, NAME, &limits, |_| false).map_err(|diagnostics| CeilingError { diagnostics })?;
        let report = Report::default();
        let ceiling = Self::read(&Node::document(&value, NAME, &report), &limits);
        if report.has_errors() {
            let diagnostics = input.located(report.finish(NAME), NAME);
            return Err(CeilingError { diagnostics });
        }
        Ok(ceiling)
    }

    /// Reads the document. An unknown key is an error: a misspelled one would not limit anything.
    pub fn read(node: &Node<'_, '_>, limits: &Limits) -> Self {
        let Some(object) = node.object_of(keys::CEILING, Severity::Error) else {
            return Self::default();
        };
        let given = |key| given(&object, key);
        let ceiling = Self {
            tools: given("tools").and_then(|node| node.names()).unwrap_or_default(),
            capabilities: given("capabilities")
                .map(|node| sort::map(node.each_entry(|operations| operations.names())))
                .unwrap_or_default(),
            workspace_roots: given("workspace_roots")
                .and_then(|node| node.paths(limits))
                .unwrap_or_default(),
            side_effect_level: given("side_effect_level").map(|node| node.side_effect_level()),
            recursion_limit: given("recursion_limit").and_then(|node| read_count(&node)),
            tool_arg_constraints: given("tool_arg_constraints")
                .and_then(|node| node.each("an array of constraints", |item| read_constraint(item, limits)))
                .unwrap_or_default(),
            unclassified_tools: given("unclassified_tools").and_then(|node| node.names()),
            outer_workspace_roots: given("outer_workspace_roots")
                .and_then(|node| node.each("an array of arrays of paths", |set| read_set(set, limits)))
                .unwrap_or_default(),
        };
        if ceiling.is_unlimited() {
            node.warning(Code::EmptyCondition, format_args!("found a ceiling that limits no call, expected tools, capabilities, a level, roots or constraints"));
        }
        ceiling
    }
}

/// The value of a key that is there and not null.
fn given<'v, 'o>(object: &'o Object<'v, '_>, key: &'o str) -> Option<Node<'v, 'o>> {
    object.optional(key).filter(|node| !node.value().is_null())
}

/// An empty set could be read as allowing nothing or everything, so it is refused.
fn read_set(node: &Node<'_, '_>, limits: &Limits) -> Option<Vec<Box<str>>> {
    let roots = node.paths(limits)?;
    if roots.is_empty() {
        node.error(
            Code::InvalidValue,
            format_args!("found `[]`, expected at least one path"),
        );
        return None;
    }
    Some(roots)
}

fn read_count(node: &Node<'_, '_>) -> Option<u32> {
    let count = node.value().as_u64().and_then(|count| u32::try_from(count).ok());
    count.or_else(|| node.wrong_type(&format!("an integer from 0 to {}", u32::MAX)))
}

fn read_constraint(node: &Node<'_, '_>, limits: &Limits) -> Option<ToolArgConstraint> {
    let constraint = node.object_of(keys::CONSTRAINT, Severity::Error)?;
    let tool = constraint.require("tool", "a glob over the names of tools", |node| {
        read_glob(node, limits)
    });
    let patterns = constraint.required("arg_patterns", "an array of globs")?;
    let arg_patterns = patterns.each("an array of globs", |item| {
        let glob = read_glob(item, limits)?;
        if glob.as_str().split('/').any(|name| matches!(name, "." | "..")) {
            item.doubt(
                Code::NeverMatches,
                "which no canonical path matches, expected a pattern without `.` and `..`",
            );
        }
        Some(glob)
    });
    if arg_patterns.as_ref().is_some_and(Vec::is_empty) {
        patterns.warning(
            Code::NeverMatches,
            format_args!("found `[]`, which denies every value, expected at least one pattern"),
        );
    }
    let arg_key = match given(&constraint, "arg_key") {
        None => None,
        Some(node) => Some(node.name()?.into()),
    };
    let workspace_root = match given(&constraint, "workspace_root") {
        None => None,
        Some(node) => Some(node.path(Relative::Refused, limits)?),
    };
    Some(ToolArgConstraint {
        tool: tool?,
        arg_patterns: arg_patterns?,
        arg_key,
        workspace_root,
    })
}

fn read_glob(node: &Node<'_, '_>, limits: &Limits) -> Option<Glob> {
    match Glob::parse(node.string()?, limits) {
        Ok(glob) => Some(glob),
        Err(bad) => {
            node.error(Code::InvalidValue, format_args!("found {bad}"));
            None
        }
    }
}

impl From<&Ceiling> for Value {
    fn from(ceiling: &Ceiling) -> Self {
        serde_json::to_value(ceiling).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::document::Json;

    #[track_caller]
    fn check(value: Value, expected: &[&str]) -> Ceiling {
        let report = Report::default();
        let ceiling = Ceiling::read(
            &Node::document(&Json::from(&value), "c", &report),
            &Limits::default(),
        );
        let found: Vec<String> = report.finish("c").iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
        ceiling
    }

    #[test]
    fn a_document_is_written_as_it_was_read() {
        let whole = json!({
            "tools": ["read_file", "git/git_log"],
            "capabilities": {"process": [], "workspace": ["read_text", "list"]},
            "workspace_roots": ["/srv/app", "~/x"],
            "side_effect_level": "workspace_write",
            "recursion_limit": 3,
            "tool_arg_constraints": [
                {"tool": "read_*", "arg_patterns": ["src/**"], "arg_key": "path"},
                {"tool": "fs/{a,b}", "arg_patterns": ["x", "y?"]},
            ],
            "unclassified_tools": [],
            "outer_workspace_roots": [["/srv"]],
        });
        let ceiling = check(whole.clone(), &[]);
        assert_eq!(Value::from(&ceiling), whole);
        let least =
            json!({"tools": ["a"], "capabilities": {}, "workspace_roots": [], "tool_arg_constraints": []});
        assert_eq!(Value::from(&check(json!({"tools": ["a"]}), &[])), least);
        let nulls = json!({"tools": ["a"], "side_effect_level": null, "recursion_limit": null});
        assert_eq!(Value::from(&check(nulls, &[])), least);
        check(json!({}), &["warning[empty-condition] at c: "]);
    }

    #[test]
    fn faults_have_their_place() {
        check(json!([]), &["error[wrong-type] at c: "]);
        check(
            json!({
                "tool": [], "tools": ["a", ""], "capabilities": {"w": "list", "x": [""]},
                "workspace_roots": ["src", "$HOME"], "side_effect_level": "Network", "recursion_limit": -1,
                "outer_workspace_roots": [[]],
                "tool_arg_constraints": [
                    {"tool": "!a", "arg_patterns": ["[", "{a"], "arg_key": ""},
                    {"tools": "a", "arg_patterns": "x"},
                    {"tool": "a", "arg_patterns": []},
                    {"tool": "a", "arg_patterns": ["../x", "a/./b"]},
                ],
            }),
            &[
                "error[unknown-key] at c.tool: found the key `tool`, expected one of `tools`",
                "error[invalid-value] at c.tools[1]: ",
                "error[wrong-type] at c.capabilities.w: ",
                "error[invalid-value] at c.capabilities.x[0]: ",
                "error[invalid-path] at c.workspace_roots[0]: found `\"src\"`, a relative path",
                "error[invalid-path] at c.workspace_roots[1]: ",
                "warning[unknown-value] at c.side_effect_level: found `\"Network\"`, which is taken for `none`",
                "error[wrong-type] at c.recursion_limit: found `-1`, expected an integer",
                "error[invalid-value] at c.tool_arg_constraints[0].tool: found a pattern that starts with `!`",
                "error[invalid-value] at c.tool_arg_constraints[0].arg_patterns[0]: found a malformed pattern",
                "error[invalid-value] at c.tool_arg_constraints[0].arg_patterns[1]: ",
                "error[invalid-value] at c.tool_arg_constraints[0].arg_key: ",
                "error[unknown-key] at c.tool_arg_constraints[1].tools: ",
                "error[missing-field] at c.tool_arg_constraints[1]: the field `tool` is missing",
                "error[wrong-type] at c.tool_arg_constraints[1].arg_patterns: ",
                "warning[never-matches] at c.tool_arg_constraints[2].arg_patterns: ",
                "warning[never-matches] at c.tool_arg_constraints[3].arg_patterns[0]: ",
                "warning[never-matches] at c.tool_arg_constraints[3].arg_patterns[1]: ",
                "error[invalid-value] at c.outer_workspace_roots[0]: ",
            ],
        );
    }
}

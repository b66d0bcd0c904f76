//! Where a capability ceiling and the annotations do not fit together: what it says applies to no tool, or not to every tool.

use crate::annotation::{Annotations, Tool};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{JsonPath, Report, did_you_mean};
use crate::model::ArgumentName;
use crate::policy::{Ceiling, ToolArgConstraint, names_tool};

/// Warns about a tool that is not annotated, a constraint that applies to no annotated tool, and a constraint that
/// finds no argument to check in a tool.
pub fn unbound(ceiling: &Ceiling, document: &str, annotations: &Annotations) -> Vec<Diagnostic> {
    let report = Report::default();
    let root = JsonPath::Document(document);
    let tools = JsonPath::Key(&root, "tools");
    for (index, name) in ceiling.tools.iter().enumerate() {
        let is_known = |tool: &Tool| names_tool(name, &tool.server, &tool.name);
        if !annotations.tools.iter().any(is_known) {
            report.add(
                Severity::Warning,
                Code::Unbound,
                &JsonPath::Index(&tools, index),
                || {
                    let message =
                        format!("found `{name}`, which is not an annotated tool, expected the name of one");
                    let known = annotations.tools.iter().map(|tool| &*tool.name);
                    (message, did_you_mean(name, known))
                },
            );
        }
    }
    let constraints = JsonPath::Key(&root, "tool_arg_constraints");
    for (index, constraint) in ceiling.tool_arg_constraints.iter().enumerate() {
        let place = JsonPath::Index(&constraints, index);
        warn_of_constraint(constraint, annotations, &place, &report);
    }
    report.finish(document)
}

fn warn_of_constraint(
    constraint: &ToolArgConstraint,
    annotations: &Annotations,
    place: &JsonPath<'_>,
    report: &Report,
) {
    if let Some(key) = &constraint.arg_key
        && let Err(bad) = ArgumentName::parse(key)
    {
        let place = JsonPath::Key(place, "arg_key");
        report.error(Code::InvalidValue, &place, || bad.message(key));
    }
    let mut concerned = annotations
        .tools
        .iter()
        .filter(|tool| constraint.concerns(&tool.server, &tool.name))
        .peekable();
    if concerned.peek().is_none() {
        let place = JsonPath::Key(place, "tool");
        report.warning(Code::Unbound, &place, || {
            let pattern = constraint.tool.as_str();
            format!("found `{pattern}`, which matches no annotated tool, expected a pattern that does")
        });
        return;
    }
    if constraint.arg_key.is_some() {
        return;
    }
    let without: Vec<&Tool> = concerned
        .filter(|tool| tool.semantics.arg_schema.path_params.is_empty())
        .collect();
    if let Some(first) = without.first() {
        report.warning(Code::Unbound, place, || {
            let more = match without.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "found no key to look at in `{}/{}`{more}, which this does not constrain, expected `arg_key`, or \
                 `path_params` in the annotation",
                first.server, first.name
            )
        });
    }
}

/// Warns once if a list of capabilities does not apply to tools because their annotations name no capabilities.
pub fn undeclared(ceiling: &Ceiling, document: &str, annotations: &Annotations) -> Vec<Diagnostic> {
    let report = Report::default();
    let mut unbound = annotations
        .tools
        .iter()
        .filter(|tool| tool.semantics.capabilities.is_empty())
        .filter(|tool| {
            let semantics = &tool.semantics;
            let level = semantics.side_effect_level;
            let refused = ceiling.refusal(&tool.server, &tool.name, level, &semantics.capabilities);
            refused.is_none()
        });
    if !ceiling.capabilities.is_empty()
        && let Some(first) = unbound.next()
    {
        let root = JsonPath::Document(document);
        let more = unbound.count();
        report.warning(Code::Unbound, &JsonPath::Key(&root, "capabilities"), format_args!(
                "found capabilities that do not bind `{}/{}` and {more} more, whose annotations name none, expected \
                 `capabilities` in them, or `tools` here",
                first.server, first.name
            ));
    }
    report.finish(document)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::{DocumentSource, Json, Node};
    use crate::role::Registry;

    #[track_caller]
    fn check(ceiling: Value, expected: &[&str]) {
        let annotations = json!({
            "read_file": {"kind": "read", "arg_schema": {"path_params": ["path"]}, "capabilities": {"w": ["r"]}},
            "run": {"kind": "execute"},
            "think": {"kind": "think"},
        });
        let report = Report::default();
        let annotations = Json::from(&annotations);
        let node = Node::document(&annotations, "a", &report);
        let annotations = crate::annotation::read(&node, &Registry::default(), "harn");
        let ceiling = Ceiling::load(DocumentSource::Value(&ceiling)).unwrap();
        let mut found = unbound(&ceiling, "c", &annotations);
        found.extend(undeclared(&ceiling, "c", &annotations));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn what_applies_to_no_tool_is_warned_of() {
        check(json!({"tools": ["read_file", "harn/run"]}), &[]);
        check(
            json!({"tools": ["read_fiel", "fs/read_file"]}),
            &[
                "warning[unbound] at c.tools[0]: found `read_fiel`, which is not an annotated tool",
                "warning[unbound] at c.tools[1]: found `fs/read_file`",
            ],
        );
        let constraint = |tool: &str, key: Value| json!({"tool_arg_constraints": [{"tool": tool, "arg_patterns": ["x"], "arg_key": key}]});
        check(constraint("read_*", Value::Null), &[]);
        check(constraint("*", json!("path")), &[]);
        check(
            constraint("run", json!("/a~")),
            &["error[invalid-value] at c.tool_arg_constraints[0].arg_key: found the pointer `/a~`"],
        );
        check(
            constraint("write_*", json!("path")),
            &[
                "warning[unbound] at c.tool_arg_constraints[0].tool: found `write_*`, which matches no annotated tool",
            ],
        );
        check(
            constraint("harn/*", Value::Null),
            &[
                "warning[unbound] at c.tool_arg_constraints[0]: found no key to look at in `harn/run` and 1 more",
            ],
        );
        check(json!({"capabilities": {"w": []}, "tools": ["read_file"]}), &[]);
        check(
            json!({"capabilities": {"w": []}}),
            &[
                "warning[unbound] at c.capabilities: found capabilities that do not bind `harn/run` and 1 more",
            ],
        );
    }
}

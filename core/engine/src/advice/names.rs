//! Names that rules give: of themselves, of servers and tools, and of roles that these have.

use crate::annotation::{Tool, Tools};
use crate::diagnostic::{Code, Severity};
use crate::document::{JsonPath, Report, did_you_mean};
use crate::glob::NamePattern;
use crate::policy::{Conditions, Rule};
use crate::role::RoleSet;
use crate::seed::RESERVED_SERVERS;
use crate::sort;
use crate::table::{Set, Table};

/// Warns about each rule of the rules at `path` that
///
/// - has the name of an earlier one;
/// - names a server or a tool that no annotation has, so that the name never holds;
/// - has a condition on roles of which none of its tools bears any;
/// - has a condition on an argument that none of its tools has.
pub fn check(rules: &[Rule], path: &JsonPath<'_>, tools: Tools<'_>, report: &Report) {
    let mut seen = Set::default();
    let known = Known::new(tools);
    for rule in rules {
        let place = JsonPath::Index(path, rule.index);
        if !seen.insert(&*rule.name) {
            report.warning(
                Code::RepeatedName,
                &JsonPath::Key(&place, "name"),
                format_args!(
                    "found `{}` again, the name of an earlier rule, expected a name of its own",
                    rule.name
                ),
            );
        }
        let conditions = JsonPath::Key(&place, "if");
        if known.check_names(&rule.conditions, &conditions, report) {
            known.check_roles(rule, &place, report);
            check_arguments(&rule.conditions, &conditions, tools, report);
        }
    }
}

/// The roles of tools, by server and by name.
struct Known<'a> {
    servers: Table<&'a str, Table<&'a str, RoleSet>>,
    by_tool: Table<&'a str, RoleSet>,
    all: RoleSet,
}

impl<'a> Known<'a> {
    fn new(tools: Tools<'a>) -> Self {
        let mut known = Self {
            servers: Table::default(),
            by_tool: Table::default(),
            all: RoleSet::default(),
        };
        for (server, name, tool) in tools.iter() {
            let arguments = tool.arguments.iter();
            let roles: RoleSet = arguments.flat_map(|argument| argument.roles.possible()).collect();
            known.servers.entry(server).or_default().insert(name, roles);
            let shared = known.by_tool.entry(name).or_default();
            *shared = shared.union(roles);
            known.all = known.all.union(roles);
        }
        known
    }

    /// Warns about servers and tools without an annotation. Returns `true` if there were none.
    fn check_names(&self, conditions: &Conditions, path: &JsonPath<'_>, report: &Report) -> bool {
        let mut all_known = true;
        let place = JsonPath::Key(path, "server");
        for (index, server) in conditions.server.iter().flatten().enumerate() {
            let is_reserved = RESERVED_SERVERS.iter().any(|reserved| server.matches(reserved));
            if !is_reserved && self.tools_of(server).next().is_none() {
                all_known = false;
                report.add(
                    Severity::Warning,
                    Code::UnknownName,
                    &JsonPath::Index(&place, index),
                    || {
                        let message = format!(
                            "found the server {}, expected an annotated server",
                            unknown(server, "annotation")
                        );
                        (
                            message,
                            did_you_mean(server.as_str(), sort::set(self.servers.keys().copied())),
                        )
                    },
                );
            }
        }
        let place = JsonPath::Key(path, "tool");
        for (index, tool) in conditions.tool.iter().flatten().enumerate() {
            if all_known
                && self
                    .roles_of(conditions.server.as_deref(), Some(std::slice::from_ref(tool)))
                    .is_none()
            {
                all_known = false;
                report.add(
                    Severity::Warning,
                    Code::UnknownName,
                    &JsonPath::Index(&place, index),
                    || {
                        let message = format!(
                            "found the tool {}, expected an annotated tool",
                            unknown(tool, "annotation of the rule's servers")
                        );
                        (
                            message,
                            did_you_mean(tool.as_str(), sort::set(self.by_tool.keys().copied())),
                        )
                    },
                );
            }
        }
        all_known
    }

    /// Warns about a condition on roles that no tool of the rule has.
    fn check_roles(&self, rule: &Rule, place: &JsonPath<'_>, report: &Report) {
        let conditions = &rule.conditions;
        if conditions.roles.is_none() && !conditions.name_values() {
            return;
        }
        let Some(borne) = self.roles_of(conditions.server.as_deref(), conditions.tool.as_deref()) else {
            return;
        };
        let lists = conditions.lists.iter().flatten();
        let named = [
            ("roles", conditions.roles.as_ref()),
            ("paths", conditions.paths.as_ref().map(|paths| &paths.roles)),
            (
                "domains",
                conditions.domains.as_ref().map(|domains| &domains.roles),
            ),
        ];
        let named = named.into_iter().filter_map(|(name, roles)| Some((name, roles?)));
        for (name, roles) in named.chain(lists.map(|list| ("lists", &list.roles))) {
            let roles: RoleSet = roles.iter().copied().collect();
            if !roles.intersects(borne) {
                report.warning(Code::NeverMatches, place, format_args!(
                        "the rule `{}` can never match: none of its tools has a role that `{name}` names, expected a role of a tool",
                        rule.name
                    ));
                return;
            }
        }
    }

    /// The tools of each server that the pattern matches.
    fn tools_of(&self, server: &NamePattern) -> impl Iterator<Item = &Table<&'a str, RoleSet>> {
        matching(&self.servers, server)
    }

    /// The roles of the tools that a rule is about; `None` if there are no such tools.
    fn roles_of(&self, servers: Option<&[NamePattern]>, tools: Option<&[NamePattern]>) -> Option<RoleSet> {
        let union = |tools: &Table<&'a str, RoleSet>, names: Option<&[NamePattern]>| match names {
            None => tools.values().copied().reduce(RoleSet::union),
            Some(names) => names
                .iter()
                .flat_map(|name| matching(tools, name))
                .copied()
                .reduce(RoleSet::union),
        };
        match (servers, tools) {
            (None, None) => (!self.servers.is_empty()).then_some(self.all),
            (None, Some(_)) => union(&self.by_tool, tools),
            (Some(servers), _) => {
                let known = servers.iter().flat_map(|server| self.tools_of(server));
                known
                    .filter_map(|of_server| union(of_server, tools))
                    .reduce(RoleSet::union)
            }
        }
    }
}

/// Warns about conditions on arguments that neither the annotation nor the schema of a tool of the rule names.
fn check_arguments(conditions: &Conditions, path: &JsonPath<'_>, tools: Tools<'_>, report: &Report) {
    let place = JsonPath::Key(path, "args");
    for (index, condition) in conditions.args.iter().enumerate() {
        let wanted = condition.argument.first().unwrap_or_default();
        let of_rule = tools
            .iter()
            .filter(|(server, tool, _)| conditions.includes(server, tool));
        let known = of_rule
            .flat_map(|(.., tool)| arguments_of(tool))
            .collect::<Option<Vec<&str>>>();
        let known = known.map(sort::set);
        // A pointer that begins with `*` is about every argument.
        let Some(known) = known.filter(|known| !known.contains(wanted)) else {
            continue;
        };
        let item = JsonPath::Index(&place, index);
        report.add(Severity::Warning, Code::UnknownName, &JsonPath::Key(&item, "arg"), || {
            let message = format!(
                "found the argument `{wanted}`, which none of the rule's tools has, expected an argument of one of them"
            );
            (message, did_you_mean(wanted, known))
        });
    }
}

/// The arguments of a tool that its annotation or its schema names; `None` for every one.
fn arguments_of(tool: &Tool) -> impl Iterator<Item = Option<&str>> {
    let annotated = tool.arguments.iter().map(|argument| argument.name.first());
    let listed = tool.schema.properties.iter().flatten().map(|(name, _)| name);
    let semantics = &tool.semantics.arg_schema;
    let shaped = semantics.required.iter().chain(semantics.arg_aliases.values());
    let named = listed.chain(&tool.schema.required).chain(shaped);
    annotated.chain(named.map(|name| Some(&**name)))
}

/// The entries whose names the pattern matches.
fn matching<'m, T>(named: &'m Table<&str, T>, pattern: &NamePattern) -> impl Iterator<Item = &'m T> {
    let (exact, pattern) = match pattern {
        NamePattern::Exact(name) => (named.get(&**name), None),
        NamePattern::Wildcard(pattern) => (None, Some(pattern)),
    };
    let all = pattern.into_iter().flat_map(move |pattern| {
        let matching = named.iter().filter(|(name, _)| pattern.matches(name));
        matching.map(|(_, one)| one)
    });
    exact.into_iter().chain(all)
}

/// A name that nothing has, or a pattern that matches nothing.
fn unknown(pattern: &NamePattern, annotation: &str) -> String {
    match pattern {
        NamePattern::Exact(name) => format!("`{name}`, which no {annotation} has"),
        NamePattern::Wildcard(pattern) => {
            format!("`{}`, which matches that of no {annotation}", pattern.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::annotation;
    use crate::document::{Json, Node};
    use crate::limits::Limits;
    use crate::policy::read_rules;
    use crate::role::Registry;

    fn check(conditions: Value, expected: &[&str]) {
        let rules = json!([{"name": "n", "if": conditions, "then": "deny", "reason": ""}]);
        check_all(rules, expected);
    }

    fn check_all(rules: Value, expected: &[&str]) {
        let (report, registry) = (Report::default(), Registry::default());
        let annotations = json!({"servers": {
            "filesystem": {"tools": [
                {"toolName": "read_file", "args": {"path": ["read-path"]}},
                {"toolName": "list", "args": {}},
            ]},
            "git": {"tools": [{"toolName": "git_push", "args": {"remote": ["git-remote-url"]}, "inputSchema": {"properties": {"force": {}}}}]},
        }});
        let annotations = Json::from(&annotations);
        let annotations = Node::document(&annotations, "annotations", &report);
        let annotations = annotation::read(&annotations, &registry, annotation::HARN_SERVER);
        let rules = read_rules(
            &Node::document(&Json::from(&rules), "rules", &report),
            &registry,
            &Limits::default(),
        );
        let tools = Tools {
            annotated: &annotations.tools,
            programs: None,
        };
        super::check(&rules, &JsonPath::Document("rules"), tools, &report);
        let found: Vec<String> = report.finish("rules").iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn names_are_those_of_annotations() {
        check(
            json!({"server": ["filesystem", "git"], "tool": ["git_push", "list"]}),
            &[],
        );
        check(json!({"server": ["proxy"]}), &[]);
        check(
            json!({"server": ["file*", "pro*"], "tool": ["git_*", "read_*"]}),
            &["warning[unknown-name] at rules[0].if.tool[0]: "],
        );
        check(
            json!({"server": ["filesytem*"]}),
            &[
                "warning[unknown-name] at rules[0].if.server[0]: found the server `filesytem*`, which matches that of no \
                 annotation, expected an annotated server (help: did you mean `filesystem`?)",
            ],
        );
        check(
            json!({"server": ["*"], "tool": ["list", "get_*"]}),
            &[
                "warning[unknown-name] at rules[0].if.tool[1]: found the tool `get_*`, which matches that of no annotation of the rule's servers",
            ],
        );
        check(
            json!({"server": ["git", "filesytem"], "tool": ["nothing"]}),
            &[
                "warning[unknown-name] at rules[0].if.server[1]: found the server `filesytem`, which no annotation has, \
                 expected an annotated server (help: did you mean `filesystem`?)",
            ],
        );
        check(
            json!({"tool": ["list", "git-push"]}),
            &[
                "warning[unknown-name] at rules[0].if.tool[1]: found the tool `git-push`, which no annotation of the rule's \
                 servers has, expected an annotated tool (help: did you mean `git_push`?)",
            ],
        );
        check(
            json!({"server": ["git"], "tool": ["list"]}),
            &["warning[unknown-name] at rules[0].if.tool[0]: "],
        );
    }

    #[test]
    fn roles_are_those_of_the_tools() {
        let domains = json!({"roles": ["git-remote-url"], "allowed": ["x"]});
        check(json!({"roles": ["read-path", "delete-path"]}), &[]);
        check(json!({"server": ["git"], "domains": domains}), &[]);
        for conditions in [
            json!({"roles": ["fetch-url"]}),
            json!({"server": ["filesystem"], "domains": domains}),
            json!({"tool": ["list"], "roles": ["read-path"]}),
            json!({"tool": ["l*"], "roles": ["read-path"]}),
            json!({"server": ["g*"], "tool": ["*"], "roles": ["read-path"]}),
        ] {
            check(
                conditions,
                &["warning[never-matches] at rules[0]: the rule `n` can never match: none of its tools"],
            );
        }
    }

    #[test]
    fn arguments_are_those_of_the_tools() {
        let on = |argument: &str| json!([{"arg": argument, "is": "present"}]);
        check(json!({"args": on("path")}), &[]);
        check(json!({"server": ["git"], "args": on("/remote/0")}), &[]);
        check(json!({"tool": ["git_push"], "args": on("force")}), &[]);
        check(
            json!({"server": ["git"], "args": on("remotes")}),
            &[
                "warning[unknown-name] at rules[0].if.args[0].arg: found the argument `remotes`, which none of the rule's \
                 tools has, expected an argument of one of them (help: did you mean `remote`?)",
            ],
        );
        check(
            json!({"server": ["filesystem"], "args": on("/remote")}),
            &["warning[unknown-name] at rules[0].if.args[0].arg: "],
        );
    }

    #[test]
    fn each_rule_has_a_name_of_its_own() {
        let rule = json!({"name": "n", "if": {"server": ["git"]}, "then": "deny", "reason": ""});
        check_all(
            json!([rule, rule]),
            &["warning[repeated-name] at rules[1].name: found `n` again"],
        );
    }
}

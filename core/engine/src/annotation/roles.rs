//! Roles as a document writes them: a word, an array, or a conditional
//! `{default, when: [{condition: {arg, equals | in | is}, roles}]}`.

use crate::diagnostic::{Code, Severity};
use crate::document::{Json, Node, Object, keys};
use crate::model::{Absent, Clause, Reach, Roles, Scheme, Separator};
use crate::role::{Registry, RoleId, RoleSet};

/// The roles of an argument, and what more is said of its values.
pub(super) struct RoleSpec {
    pub(super) roles: Roles,
    /// The argument that its relative paths start from.
    pub(super) relative_to: Option<Box<str>>,
    pub(super) reach: Option<Reach>,
    /// `true` if its texts are URIs; its roles are then those under which they are judged.
    pub(super) is_uri: bool,
    /// The scheme of a URL that is given without one.
    pub(super) scheme: Option<Scheme>,
    /// The text between the values in one text.
    pub(super) separator: Option<Separator>,
    pub(super) absent: Option<Absent>,
}

impl RoleSpec {
    /// Roles of which nothing more is said.
    pub(super) fn of(roles: Roles) -> Self {
        Self {
            roles,
            relative_to: None,
            reach: None,
            is_uri: false,
            scheme: None,
            separator: None,
            absent: None,
        }
    }
}

/// The roles of an argument, alone or as `{roles, relativeTo?, reach?, scheme?, separator?, absent?}`.
pub(super) fn read_role_spec(node: &Node<'_, '_>, registry: &Registry) -> Option<RoleSpec> {
    let mut known = keys::ROLE_SPEC.iter();
    if !known.any(|key| node.value().get(key).is_some()) {
        let (roles, is_uri) = with_uris(node, read_roles(node, registry)?, registry)?;
        return Some(RoleSpec {
            is_uri,
            ..RoleSpec::of(roles)
        });
    }
    // A misspelled key here would change what a value means, so it is an error and not a warning.
    let object = node.object_of(keys::ROLE_SPEC, Severity::Error)?;
    let roles = object.require("roles", "an array of roles", |node| {
        with_uris(node, read_roles(node, registry)?, registry)
    });
    let base = object.optional("relativeTo").map(|node| node.name());
    let reach = object.optional("reach").map(|node| node.word());
    let scheme = object.optional("scheme").map(|node| {
        let (roles, is_uri) = roles.as_ref()?;
        let is_web = !is_uri && is_alone(roles, RoleId::FETCH_URL, registry);
        if !is_web {
            node.refuse(
                Code::InvalidValue,
                "expected it of an argument whose only role of a resource is `fetch-url`",
            );
        }
        node.word().filter(|_| is_web)
    });
    let separator = object.optional("separator").map(|node| node.word());
    let absent = object.optional("absent").map(|node| read_absent(&node));
    let (roles, is_uri) = roles?;
    Some(RoleSpec {
        roles,
        is_uri,
        scheme: match scheme {
            Some(scheme) => Some(scheme?),
            None => None,
        },
        relative_to: match base {
            Some(base) => Some(base?.into()),
            None => None,
        },
        reach: match reach {
            Some(reach) => Some(reach?),
            None => None,
        },
        separator: match separator {
            Some(separator) => Some(separator?),
            None => None,
        },
        absent: match absent {
            Some(absent) => Some(absent?),
            None => None,
        },
    })
}

/// Puts the roles under which URIs are judged in the place of `resource-uri`, and says if it was there.
fn with_uris(node: &Node<'_, '_>, mut roles: Roles, registry: &Registry) -> Option<(Roles, bool)> {
    let is_uri = roles.possible().any(|role| role == RoleId::RESOURCE_URI);
    if is_uri && !is_alone(&roles, RoleId::RESOURCE_URI, registry) {
        node.refuse(
            Code::InvalidValue,
            "expected `resource-uri` by itself, without another role of a resource",
        );
        return None;
    }
    for list in roles.lists_mut() {
        if list.contains(&RoleId::RESOURCE_URI) {
            *list = RoleSet::OF_URIS.iter().collect();
        }
    }
    Some((roles, is_uri))
}

/// Returns `true` if the role stands by itself wherever a resource is named.
fn is_alone(roles: &Roles, role: RoleId, registry: &Registry) -> bool {
    let is_resource = |role: &RoleId| registry.get(*role).is_resource_identifier();
    let mut lists = roles.lists();
    lists.all(|list| *list == [role] || !list.iter().any(is_resource))
        && roles.possible().any(|possible| possible == role)
}

/// The meaning of an argument that is not given: `nothing`, or the value that the server takes.
fn read_absent(node: &Node<'_, '_>) -> Option<Absent> {
    match node.string()? {
        "" => {
            node.refuse(
                Code::InvalidValue,
                "expected `nothing`, or the value that the server takes",
            );
            None
        }
        Absent::NOTHING => Some(Absent::Nothing),
        value => Some(Absent::Value(value.into())),
    }
}

/// The roles of an argument: an array of them, or a conditional.
fn read_roles(node: &Node<'_, '_>, registry: &Registry) -> Option<Roles> {
    if let Json::Object(_) = node.value() {
        read_conditional(&node.object()?, registry)
    } else if let Json::Array(_) | Json::String(_) = node.value() {
        some_roles(node, registry).map(Roles::Fixed)
    } else {
        node.wrong_type("a role, an array of roles, or an object with `default` and `when`")
    }
}

/// Reads at least one role: an argument without roles would never be judged.
fn some_roles(node: &Node<'_, '_>, registry: &Registry) -> Option<Vec<RoleId>> {
    let roles = node.roles(registry)?;
    check_address(node, &roles, registry);
    if roles.is_empty() {
        node.fault(Severity::Error, Code::InvalidValue, || {
            let help = "write `none` for an argument that names no resource";
            (
                "found `[]`, expected at least one role".to_owned(),
                Some(help.to_owned()),
            )
        });
        return None;
    }
    Some(roles)
}

/// An address cannot carry another resource role: only the world can turn it into a path.
fn check_address(node: &Node<'_, '_>, roles: &[RoleId], registry: &Registry) {
    let addresses = registry.addresses();
    let other = |role: &RoleId| !addresses.contains(*role) && registry.get(*role).is_resource_identifier();
    if roles.iter().any(|role| addresses.contains(*role)) && roles.iter().any(other) {
        node.refuse(
            Code::InvalidValue,
            "expected `address` without another role of a resource",
        );
    }
}

fn read_conditional(object: &Object<'_, '_>, registry: &Registry) -> Option<Roles> {
    // A misspelled key here would change which roles apply, so it is an error and not a warning.
    object.unknown_keys(keys::CONDITIONAL_ROLES, Severity::Error);
    let default = object.require("default", "an array of roles", |node| some_roles(node, registry));
    let clauses = object.required("when", "an array of clauses")?;
    let mut when = Vec::new();
    for clause in clauses.array("an array of clauses")? {
        when.extend(read_clause(&clause, default.as_deref(), registry));
    }
    Some(Roles::Conditional {
        default: default?,
        when,
    })
}

fn read_clause(node: &Node<'_, '_>, default: Option<&[RoleId]>, registry: &Registry) -> Option<Clause> {
    let clause = node.object_of(keys::CLAUSE, Severity::Error)?;
    let condition = clause.require("condition", "a condition", |node| {
        // In the existing runtime a condition without a test never holds; the same is true here.
        node.condition(Severity::Warning)
    });
    let node = clause.required("roles", "an array of roles")?;
    let roles = node.roles(registry)?;
    check_address(&node, &roles, registry);
    let narrows = |role: RoleId| {
        let has = |default: &[RoleId]| matches!(role, RoleId::NONE | RoleId::TEXT) || default.contains(&role);
        default.is_none_or(has)
    };
    node.one_or_each("an array of roles", |item| {
        if !narrows(registry.find(item.string()?)?) {
            item.doubt(
                Code::WideningCondition,
                "which the default does not have, expected roles of the default",
            );
        }
        Some(())
    })?;
    Some(Clause {
        condition: condition?,
        roles,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::Report;

    /// Compares the faults of one argument, each by how it starts after what says where the argument is.
    fn check_roles(roles: Value, expected: &[&str]) {
        let report = Report::default();
        let roles = Json::from(&roles);
        let node = Node::document(&roles, "x", &report);
        read_roles(&node, &Registry::default());
        let faults: Vec<String> = report.finish("x").iter().map(ToString::to_string).collect();
        assert_eq!(faults.len(), expected.len(), "{faults:#?}");
        for (fault, expected) in faults.iter().zip(expected) {
            let (severity, rest) = fault.split_once(" at x").unwrap();
            let fault = format!("{severity} {}", rest.trim_start_matches([':', ' ', '.']));
            assert!(fault.starts_with(expected), "{fault}");
        }
    }

    /// Compares what is read of a spec, as far as it says how far the tool reaches, and the codes of its faults.
    #[track_caller]
    fn check_spec(spec: Value, reach: Option<Reach>, faults: &[&str]) {
        let report = Report::default();
        let spec = Json::from(&spec);
        let read = read_role_spec(&Node::document(&spec, "x", &report), &Registry::default());
        assert_eq!(read.and_then(|spec| spec.reach), reach);
        let found = report.finish("x");
        let found: Vec<&str> = found.iter().map(|fault| fault.code.as_str()).collect();
        assert_eq!(found, faults);
    }

    #[test]
    fn a_spec_says_how_far_a_tool_reaches() {
        let spec = |reach: Value| json!({"roles": "write-path", "reach": reach});
        check_spec(json!("write-path"), None, &[]);
        check_spec(spec(json!("tree")), Some(Reach::Tree), &[]);
        check_spec(spec(json!("entry")), Some(Reach::Entry), &[]);
        check_spec(spec(json!("Tree")), None, &["unknown-value"]);
        check_spec(spec(json!(null)), None, &["wrong-type"]);
        check_spec(json!({"reach": "tree"}), None, &["missing-field"]);
        check_spec(
            json!({"roles": "write-path", "reech": "tree"}),
            None,
            &["unknown-key"],
        );
    }

    #[test]
    fn a_spec_says_what_stands_between_values() {
        for (word, expected) in [
            (",", Some(Separator::Comma)),
            (";", Some(Separator::Semicolon)),
            ("\n", Some(Separator::Line)),
            ("json", Some(Separator::Json)),
            (" ", None),
            ("", None),
        ] {
            let spec = json!({"roles": "read-path", "separator": word});
            let (report, spec) = (Report::default(), Json::from(&spec));
            let read = read_role_spec(&Node::document(&spec, "x", &report), &Registry::default());
            assert_eq!(read.and_then(|spec| spec.separator), expected, "{word:?}");
            assert_eq!(report.has_errors(), expected.is_none(), "{word:?}");
        }
    }

    #[test]
    fn a_spec_says_that_texts_are_uris() {
        let check = |spec: Value, expected: Option<(bool, Option<Scheme>)>, faults: &[&str]| {
            let (report, spec) = (Report::default(), Json::from(&spec));
            let read = read_role_spec(&Node::document(&spec, "x", &report), &Registry::default());
            let read = read.map(|spec| (spec.is_uri, spec.scheme));
            assert_eq!(read, expected);
            let found = report.finish("x");
            let found: Vec<&str> = found.iter().map(|fault| fault.code.as_str()).collect();
            assert_eq!(found, faults);
        };
        let clause = |roles: &str| json!([{"condition": {"arg": "x", "is": "truthy"}, "roles": roles}]);
        let scheme = |roles: Value, scheme: &str| json!({"roles": roles, "scheme": scheme});
        check(json!("resource-uri"), Some((true, None)), &[]);
        check(
            json!({"roles": ["resource-uri"], "separator": ","}),
            Some((true, None)),
            &[],
        );
        check(
            json!({"default": "resource-uri", "when": clause("none")}),
            Some((true, None)),
            &[],
        );
        check(json!(["resource-uri", "write-path"]), None, &["invalid-value"]);
        check(json!(["resource-uri", "none"]), None, &["invalid-value"]);
        check(
            json!({"default": ["read-path"], "when": clause("resource-uri")}),
            None,
            &["widening-condition", "invalid-value"],
        );
        check(
            scheme(json!("fetch-url"), "http"),
            Some((false, Some(Scheme::Http))),
            &[],
        );
        check(scheme(json!("fetch-url"), "https"), None, &["unknown-value"]);
        for roles in [
            json!("resource-uri"),
            json!("read-path"),
            json!(["fetch-url", "read-path"]),
            json!("none"),
        ] {
            check(scheme(roles, "http"), None, &["invalid-value"]);
        }
    }

    #[test]
    fn a_spec_says_what_absence_means() {
        let check = |absent: Value, expected: Option<Absent>, faults: &[&str]| {
            let report = Report::default();
            let spec = json!({"roles": "write-path", "absent": absent});
            let spec = Json::from(&spec);
            let read = read_role_spec(&Node::document(&spec, "x", &report), &Registry::default());
            assert_eq!(read.and_then(|spec| spec.absent), expected);
            let found = report.finish("x");
            let found: Vec<&str> = found.iter().map(|fault| fault.code.as_str()).collect();
            assert_eq!(found, faults);
        };
        check(json!("nothing"), Some(Absent::Nothing), &[]);
        check(json!("."), Some(Absent::Value(".".into())), &[]);
        check(json!("Nothing"), Some(Absent::Value("Nothing".into())), &[]);
        check(json!(""), None, &["invalid-value"]);
        check(json!(null), None, &["wrong-type"]);
        check(json!(["."]), None, &["wrong-type"]);
    }

    #[test]
    fn roles_are_read_strictly() {
        check_roles(
            json!(null),
            &["error[wrong-type] found `null`, expected a role, an array of roles, or an object"],
        );
        check_roles(json!("none"), &[]);
        check_roles(
            json!("read"),
            &["error[unknown-role] found `\"read\"`, expected a role"],
        );
        check_roles(
            json!([]),
            &["error[invalid-value] found `[]`, expected at least one role"],
        );
        check_roles(
            json!(["read-pth", 1]),
            &["error[unknown-role] [0]: ", "error[wrong-type] [1]: "],
        );
        check_roles(json!({"when": []}), &["error[missing-field] the field `default`"]);
        check_roles(
            json!({"default": ["none"]}),
            &["error[missing-field] the field `when`"],
        );
        check_roles(
            json!({"default": [], "when": {}, "wen": []}),
            &[
                "error[unknown-key] wen: ",
                "error[invalid-value] default: ",
                "error[wrong-type] when: ",
            ],
        );
        let clause = |condition: Value, roles: Value| {
            let when = json!([{"condition": condition, "roles": roles}]);
            json!({"default": ["read-path", "write-path"], "when": when})
        };
        for (condition, expected) in [
            (json!({"arg": "x", "equals": 0}), &[][..]),
            (
                json!({"arg": "x"}),
                &["warning[never-matches] when[0].condition: "],
            ),
            (
                json!({"arg": "x", "in": []}),
                &["warning[never-matches] when[0].condition.in: "],
            ),
            (
                json!({"is": "absent"}),
                &["error[missing-field] when[0].condition: the field `arg`"],
            ),
            (
                json!({"arg": "x", "is": "Absent"}),
                &["error[unknown-value] when[0].condition.is: "],
            ),
            (
                json!({"arg": "x", "equals": 1, "is": "absent"}),
                &["error[invalid-value] when[0].condition: "],
            ),
            (
                json!({"arg": "x", "equals": []}),
                &["error[wrong-type] when[0].condition.equals: "],
            ),
            (
                json!({"arg": "x", "in": "x"}),
                &["error[wrong-type] when[0].condition.in: "],
            ),
            (
                json!({"arg": "x", "in": [{}]}),
                &["error[wrong-type] when[0].condition.in[0]: "],
            ),
            (
                json!({"arg": "/x/*", "equals": 1}),
                &["error[invalid-value] when[0].condition.arg: "],
            ),
            (
                json!({"arg": "x", "equals": 1, "not": 2}),
                &["error[unknown-key] when[0].condition.not: "],
            ),
            (json!("x"), &["error[wrong-type] when[0].condition: "]),
        ] {
            check_roles(clause(condition, json!(["read-path"])), expected);
        }
        let holds = json!({"arg": "y", "is": "present"});
        check_roles(
            clause(holds, json!(["read-path", "delete-path", "none"])),
            &["warning[widening-condition] when[0].roles[1]: found `\"delete-path\"`"],
        );
    }
}

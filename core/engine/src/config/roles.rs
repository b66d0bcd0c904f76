//! Host-defined roles `[{name, description, category, canonicalize?, extractPolicyValue?, form?}]` (SPEC §4).

use crate::diagnostic::{Code, Severity};
use crate::document::{Node, keys};
use crate::role::{Category, Form, Registry, RoleDefinition, RoleError};

/// An address belongs to a world, so the host cannot define another role for one.
pub const CATEGORIES: &[(&str, Category)] = &[
    (Category::Path.as_str(), Category::Path),
    (Category::Url.as_str(), Category::Url),
    (Category::Identifier.as_str(), Category::Identifier),
    (Category::Opaque.as_str(), Category::Opaque),
];

/// Reads the host's roles and returns them with the built-in ones. Faults go to the document's report; the registry
/// leaves out a faulty role.
pub(super) fn read(node: &Node<'_, '_>, has_world: bool) -> Registry {
    let mut registry = Registry::new(has_world);
    for item in node.array("an array of roles").into_iter().flatten() {
        let Some(role) = read_role(&item) else { continue };
        match registry.add(role) {
            Ok(()) => {}
            Err(RoleError::Full) => {
                item.error(Code::Limit, || RoleError::Full.to_string());
                return registry;
            }
            Err(error) => item.error(Code::InvalidValue, || error.to_string()),
        }
    }
    registry
}

fn read_role(node: &Node<'_, '_>) -> Option<RoleDefinition> {
    let role = node.object_of(keys::ROLE, Severity::Error)?;
    let name = role.require("name", "the name of a role", |node| node.name());
    let description = role.optional_string("description");
    let category = role.require(
        "category",
        "one of `path`, `url`, `identifier`, `opaque`",
        |node| node.one_of(CATEGORIES),
    );
    let canonicalize = role.read_if_present("canonicalize", |node| node.word());
    let extract_policy_value = role.read_if_present("extractPolicyValue", |node| node.word());
    let form = role.read_if_present("form", |node| node.word::<Form>());
    let (category, description) = (category?, description?);
    if category != Category::Identifier
        && let Some(Some(_)) = form
    {
        node.error(Code::InvalidValue, || {
            format!(
                "found `form` in a role of the category `{}`, expected it in one of the category `identifier`",
                category.as_str()
            )
        });
    }
    Some(RoleDefinition {
        name: name?.into(),
        description: description.into(),
        category,
        canonicalize: canonicalize?.unwrap_or(category.canonicalize()),
        extract_policy_value: extract_policy_value?,
        form: form?.unwrap_or(Form::Name),
        annotation_guidance: description.into(),
        server_names: &[],
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::{Json, Report};

    fn check(value: Value, names: &[&str], faults: &[&str]) {
        let report = Report::default();
        let registry = read(&Node::document(&Json::from(&value), "roles", &report), false);
        let added: Vec<&str> = registry
            .iter()
            .filter(|(role, _)| !Registry::is_builtin(*role))
            .map(|(_, definition)| &*definition.name)
            .collect();
        assert_eq!(added, names);
        let found: Vec<String> = report.finish("roles").iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), faults.len(), "{found:?}");
        for (found, expected) in found.iter().zip(faults) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn a_role_has_a_category_and_named_steps() {
        let value = json!([
            {"name": "secret", "description": "d", "category": "opaque", "canonicalize": "strip-control",
             "extractPolicyValue": "redact"},
            {"name": "callback-url", "description": "d", "category": "url", "extractPolicyValue": "domain"},
            {"name": "ticket", "description": "d", "category": "identifier", "form": "free"},
        ]);
        check(value, &["secret", "callback-url", "ticket"], &[]);
    }

    #[test]
    fn only_an_identifier_has_a_form() {
        let value = json!([
            {"name": "a", "description": "d", "category": "identifier", "form": "any"},
            {"name": "b", "description": "d", "category": "url", "form": "free"},
        ]);
        check(
            value,
            &["b"],
            &[
                "error[unknown-value] at roles[0].form: found `\"any\"`",
                "error[invalid-value] at roles[1]: found `form` in a role of the category `url`",
            ],
        );
    }

    #[test]
    fn faults_have_their_place() {
        let role = |name: &str| json!({"name": name, "description": "", "category": "opaque"});
        check(json!({}), &[], &["error[wrong-type] at roles: "]);
        check(
            json!([
                role("a"),
                role("a"),
                role("none"),
                {"name": "b", "category": "paths", "canonicalize": "domains"},
                {"name": "", "description": "", "category": "path", "canonicalise": "path"},
                role("c"),
            ]),
            &["a", "c"],
            &[
                "error[invalid-value] at roles[1]: a role `a` exists already",
                "error[invalid-value] at roles[2]: a role `none` exists already",
                "error[unknown-value] at roles[3].category: found `\"paths\"`",
                "error[unknown-value] at roles[3].canonicalize: found `\"domains\"`",
                "error[unknown-key] at roles[4].canonicalise: ",
                "error[invalid-value] at roles[4].name: ",
            ],
        );
        let many: Vec<Value> = (0..60).map(|index| role(&format!("r{index}"))).collect();
        let names: Vec<String> = (0..44).map(|index| format!("r{index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        check(
            Value::Array(many),
            &names,
            &["error[limit] at roles[44]: more than 64 roles"],
        );
    }
}

//! Approvals as JSON: `{"format": "approvals/1", "entries": […]}`.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{DocumentSource, Node, Object, Report, load};
use crate::limits::Limits;
use crate::path::lexical;
use crate::role::{Category, Registry};
use crate::sort;

use super::argument::normalized;
use super::{Approval, ApprovalConstraint, Approvals, ArgumentConstraint, FORMAT, Moment, Offer, describe};

/// The name of the document in diagnostics.
const DOCUMENT: &str = "approvals";
/// The same for an approval that is added.
const ONE: &str = "approval";

const KEYS: &[&str] = &[
    "id",
    "serverName",
    "toolName",
    "constraints",
    "args",
    "description",
    "rules",
    "createdAt",
    "expiresAt",
    "sourceEscalationId",
    "originalReason",
    "layer",
];

const KINDS: &[(&str, Category)] = &[
    ("directory", Category::Path),
    ("domain", Category::Url),
    ("exact", Category::Identifier),
];

/// Reads the document as a whole: one with a fault is refused.
pub(super) fn read(source: DocumentSource<'_>) -> Result<Approvals, Vec<Diagnostic>> {
    let limits = Limits::default();
    let value = load(source, DOCUMENT, &limits, |_| false)?;
    let report = Report::default();
    let entries = read_entries(&Node::document(&value, DOCUMENT, &report), &limits);
    match entries {
        Some(entries) if !report.has_errors() => Ok(Approvals { entries }),
        _ => Err(source.located(report.finish(DOCUMENT), DOCUMENT)),
    }
}

/// Reads an approval that is to be added to others; without an id it gets this one.
pub(super) fn read_one(
    source: DocumentSource<'_>,
    others: &[Approval],
    id: String,
) -> Result<Approval, Vec<Diagnostic>> {
    let limits = Limits::default();
    let value = load(source, ONE, &limits, |_| false)?;
    let report = Report::default();
    let node = Node::document(&value, ONE, &report);
    node.check_limit(others.len() + 1, "approvals", "approvals", limits.approvals);
    let mut ids = sort::set(others.iter().map(|other| other.id.as_str()));
    match read_approval(&node, &mut ids, Some(id), &limits) {
        Some(approval) if !report.has_errors() => Ok(approval),
        _ => Err(source.located(report.finish(ONE), ONE)),
    }
}

fn read_entries(document: &Node<'_, '_>, limits: &Limits) -> Option<Vec<Approval>> {
    let object = document.object_of(&["format", "entries"], Severity::Error)?;
    object.require("format", "`approvals/1`", |node| node.one_of(&[(FORMAT, ())]));
    let entries = object.required("entries", "an array of approvals")?;
    let count = entries.array("an array of approvals")?.len();
    if !entries.check_limit(count, "approvals", "approvals", limits.approvals) {
        return None;
    }
    let mut ids = BTreeSet::new();
    entries.each("an array of approvals", |node| {
        read_approval(node, &mut ids, None, limits)
    })
}

/// Reads one approval; where none is given its id must be there.
fn read_approval<'v>(
    node: &Node<'v, '_>,
    ids: &mut BTreeSet<&'v str>,
    id: Option<String>,
    limits: &Limits,
) -> Option<Approval> {
    let object = node.object_of(KEYS, Severity::Error)?;
    let id = match object.optional("id") {
        None if id.is_some() => id,
        _ => object.require("id", "a name", |node| read_id(node, ids, limits)),
    };
    let name = |key: &str| {
        object.require(key, "a name", |node| {
            bounded_name(node, limits).map(str::to_owned)
        })
    };
    let text = |key: &str| object.read_if_present(key, |node| node.bounded_string(limits).map(str::to_owned));
    let (server_name, tool_name) = (name("serverName"), name("toolName"));
    let args = object.read_if_present("args", |node| read_arguments(node, limits));
    let has_args = !matches!(&args, Some(None)) && !matches!(&args, Some(Some(args)) if args.is_empty());
    let constraints = object.require("constraints", "an array of constraints", |node| {
        read_constraints(node, has_args, limits)
    });
    let rules = object.read_if_present("rules", |node| read_rules(node, limits));
    let created_at = object.read_if_present("createdAt", read_time);
    let expires_at = object.read_if_present("expiresAt", read_time);
    let (server_name, tool_name, constraints) = (server_name?, tool_name?, constraints?);
    let (description, args) = (text("description")?, args?.unwrap_or_default());
    let expires_at = expires_at?;
    Some(Approval {
        id: id?,
        expires: expires_at.as_ref().map(|(_, moment)| *moment),
        offer: Offer {
            description: description
                .unwrap_or_else(|| describe(&server_name, &tool_name, &constraints, &args)),
            server_name,
            tool_name,
            constraints,
            args,
            rules: rules?,
            created_at: created_at?.map(|(text, _)| text),
            expires_at: expires_at.map(|(text, _)| text),
            source_escalation_id: text("sourceEscalationId")?,
            original_reason: text("originalReason")?,
            layer: text("layer")?,
        },
    })
}

fn read_id<'v>(node: &Node<'v, '_>, ids: &mut BTreeSet<&'v str>, limits: &Limits) -> Option<String> {
    let id = bounded_name(node, limits)?;
    if !ids.insert(id) {
        node.refuse(
            Code::InvalidValue,
            "which another approval has, expected an id of its own",
        );
        return None;
    }
    Some(id.to_owned())
}

fn bounded_name<'v>(node: &Node<'v, '_>, limits: &Limits) -> Option<&'v str> {
    node.bounded_string(limits)?;
    node.name()
}

fn read_rules(node: &Node<'_, '_>, limits: &Limits) -> Option<Vec<String>> {
    let count = node.array("an array of rules")?.len();
    if count == 0 {
        node.refuse(
            Code::InvalidValue,
            "expected the rules that escalated, or no `rules`",
        );
        return None;
    }
    if !node.check_limit(
        count,
        "rules",
        "approval_constraints",
        limits.approval_constraints,
    ) {
        return None;
    }
    node.each("an array of rules", |item| {
        bounded_name(item, limits).map(str::to_owned)
    })
}

fn read_time(node: &Node<'_, '_>) -> Option<(String, Moment)> {
    let text = node.string()?;
    let Some(moment) = Moment::parse(text) else {
        node.refuse(
            Code::InvalidValue,
            "expected a time such as `2026-03-01T12:00:00Z`",
        );
        return None;
    };
    Some((text.to_owned(), moment))
}

fn read_constraints(node: &Node<'_, '_>, has_args: bool, limits: &Limits) -> Option<Vec<ApprovalConstraint>> {
    let expected = "an array of constraints";
    let count = node.array(expected)?.len();
    if count == 0 && !has_args {
        let why = "expected a constraint: without one the approval would cover every call of its tool";
        node.refuse(Code::InvalidValue, why);
        return None;
    }
    if !node.check_limit(
        count,
        "constraints",
        "approval_constraints",
        limits.approval_constraints,
    ) {
        return None;
    }
    node.each(expected, |item| read_constraint(item, limits))
}

fn read_arguments(node: &Node<'_, '_>, limits: &Limits) -> Option<Vec<ArgumentConstraint>> {
    let expected = "an array of arguments";
    let count = node.array(expected)?.len();
    let most = limits.approval_constraints;
    if !node.check_limit(count, "arguments", "approval_constraints", most) {
        return None;
    }
    node.each(expected, |item| {
        let object = item.object_of(&["arg", "equals"], Severity::Error)?;
        let arg = object.require("arg", "a name or a JSON Pointer", |node| {
            node.bounded_string(limits).map(str::to_owned)
        });
        let equals = object.require("equals", "the value of the argument", |node| {
            let value = normalized(node.value().clone().into());
            if value.is_none() {
                node.refuse(
                    Code::InvalidValue,
                    "which programs do not read alike, expected another number",
                );
            }
            value
        });
        Some(ArgumentConstraint {
            arg: arg?,
            equals: equals?,
        })
    })
}

fn read_constraint(node: &Node<'_, '_>, limits: &Limits) -> Option<ApprovalConstraint> {
    let object = node.object()?;
    let category = object.require("kind", "`directory`, `domain` or `exact`", |node| {
        node.one_of(KINDS)
    })?;
    let key = match category {
        Category::Path => "directory",
        Category::Url => "domain",
        Category::Identifier | Category::Address | Category::Command | Category::Opaque => "value",
    };
    let is_known = object.unknown_keys(&["kind", "role", key], Severity::Error);
    let role = object.require("role", "a role", |node| read_role(node, category, limits));
    let is_data = role
        .as_deref()
        .is_some_and(|role| built_in(role) == Some(Category::Opaque));
    let text = read_limit(&object, key, category, is_data, limits);
    let (role, text) = (role?, text?);
    is_known.then_some(match category {
        Category::Path => ApprovalConstraint::Directory {
            role,
            directory: text,
        },
        Category::Url => ApprovalConstraint::Domain { role, domain: text },
        Category::Identifier | Category::Address | Category::Command | Category::Opaque => {
            ApprovalConstraint::Exact { role, value: text }
        }
    })
}

/// The directory, the domain or the identifier that bounds the values. Data may be the empty text: nothing was given.
fn read_limit(
    object: &Object<'_, '_>,
    key: &str,
    category: Category,
    is_data: bool,
    limits: &Limits,
) -> Option<String> {
    object.require(key, "a string", |node| {
        let text = match is_data {
            true => node.bounded_string(limits)?,
            false => bounded_name(node, limits)?,
        };
        let is_canonical = || text != "/" && !text.contains('\0') && lexical(text, "/") == text;
        if category == Category::Path && !is_canonical() {
            let why = "expected a canonical directory below `/`, which begins with `/` and holds no `.`, `..` or `//`";
            node.refuse(Code::InvalidPath, why);
            return None;
        }
        Some(text.to_owned())
    })
}

/// The category of a role that every engine has.
fn built_in(name: &str) -> Option<Category> {
    let registry = Registry::default();
    registry.find(name).map(|role| registry.get(role).category)
}

/// The name of a role; the approval does not say which roles the host defines.
fn read_role(node: &Node<'_, '_>, category: Category, limits: &Limits) -> Option<String> {
    let name = bounded_name(node, limits)?;
    let fits =
        |known: Category| known == category || category == Category::Identifier && known == Category::Opaque;
    if built_in(name).is_some_and(|known| !fits(known)) {
        let why = format!("expected a role of category `{}`", category.as_str());
        node.refuse(Code::InvalidValue, &why);
        return None;
    }
    Some(name.to_owned())
}

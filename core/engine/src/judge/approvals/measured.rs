//! The values of a call in the form in which an approval compares them, and the constraints that they make.

use std::collections::BTreeSet;

use super::super::answers::text_of;
use super::super::asking::Asking;
use super::super::commands;
use super::super::inputs::Inputs;
use super::super::locations::locations_of;
use super::super::locations::url_kind;
use super::super::refs::updated_refs;
use super::HISTORY;
use crate::approval::ApprovalConstraint;
use crate::model::ServerKind;
use crate::net::UrlKind;
use crate::path::CanonicalPath;
use crate::role::{Category, RoleId, Step};
use crate::text::is_at_or_below;

/// The values of a role in the form in which they are compared; `None` if one of them cannot be constrained.
pub(super) fn measures_of(inputs: &Inputs, asking: &mut Asking, role: RoleId) -> Option<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    let values = inputs.values_of(role);
    if values.is_empty() && is_data(inputs, role) {
        all.insert(String::new());
    }
    for at in values.iter().copied() {
        all.extend(measure(inputs, asking, at, role)?);
    }
    Some(all)
}

/// Returns `true` if an approval constrains data under the role: the texts, or that there is none.
fn is_data(inputs: &Inputs, role: RoleId) -> bool {
    inputs.program.defaults.approves_arguments
        && inputs.program.registry.get(role).category == Category::Opaque
}

/// Data is compared as it is written, a branch also as every ref that git updates.
fn measured_data(inputs: &Inputs, asking: &mut Asking, at: usize, role: RoleId) -> Option<Vec<String>> {
    let definition = inputs.program.registry.get(role);
    let steps = [Some(definition.canonicalize), definition.extract_policy_value];
    if steps.contains(&Some(Step::Redact)) {
        return None;
    }
    let text = text_of(inputs, asking, at, role).to_owned();
    if role == RoleId::BRANCH_NAME && inputs.settings.kind == Some(ServerKind::Git) {
        return updated_refs(inputs, asking, at, text);
    }
    Some(vec![text])
}

/// One value of a role in the form in which it is compared: its places, its domains, or its canonical form.
fn measure(inputs: &Inputs, asking: &mut Asking, at: usize, role: RoleId) -> Option<Vec<String>> {
    let program = inputs.program;
    let definition = program.registry.get(role);
    match definition.category {
        Category::Path => {
            let operand = inputs.operands.get(at)?;
            let places: Vec<&CanonicalPath> = match role {
                // Removing a link acts on the link, which may be far from its target.
                RoleId::DELETE_PATH => operand.paths().collect(),
                _ => operand.read_paths().collect(),
            };
            let places: Vec<String> = places.into_iter().map(CanonicalPath::to_string).collect();
            (!places.is_empty()).then_some(places)
        }
        Category::Url => {
            if url_kind(role, definition) == UrlKind::AsGiven {
                return None;
            }
            let domains = locations_of(inputs, asking, at, role).iter();
            let domains: Option<Vec<String>> = domains
                .map(|one| one.granted_domain().map(str::to_owned))
                .collect();
            domains.filter(|domains| !domains.is_empty())
        }
        Category::Identifier => {
            let steps = [Some(definition.canonicalize), definition.extract_policy_value];
            if steps.contains(&Some(Step::Redact)) {
                return None;
            }
            let text = text_of(inputs, asking, at, role).to_owned();
            (!text.is_empty()).then(|| vec![text])
        }
        Category::Opaque if is_data(inputs, role) => measured_data(inputs, asking, at, role),
        Category::Command => {
            let operand = inputs.operands.get(at)?;
            Some(vec![commands::as_run(inputs, asking, operand)])
        }
        // A place of a world has no name that an approval could keep.
        Category::Address | Category::Opaque => None,
    }
}

/// The constraints that an approval of the role's values would have.
pub(super) fn constraints_of(
    inputs: &Inputs,
    asking: &mut Asking,
    role: RoleId,
) -> Option<Vec<ApprovalConstraint>> {
    let values = inputs.values_of(role);
    if values.is_empty() && is_data(inputs, role) {
        let (role, value) = (inputs.program.registry.name(role).to_owned(), String::new());
        return Some(vec![ApprovalConstraint::Exact { role, value }]);
    }
    let mut all = Vec::new();
    for at in values.iter().copied() {
        all.extend(constraints_of_value(inputs, asking, at, role)?);
    }
    Some(all)
}

/// The constraints that an approval of the value would have.
fn constraints_of_value(
    inputs: &Inputs,
    asking: &mut Asking,
    at: usize,
    role: RoleId,
) -> Option<Vec<ApprovalConstraint>> {
    let program = inputs.program;
    let name = || program.registry.name(role).to_owned();
    let measured = measure(inputs, asking, at, role)?;
    match program.registry.get(role).category {
        Category::Path => {
            let directories = match role {
                // Removing one file is not removing the directory that holds it.
                RoleId::DELETE_PATH if program.defaults.approves_arguments => {
                    // The approval of a link's removal would cover that of its target.
                    inputs
                        .operands
                        .get(at)
                        .filter(|operand| operand.entry().is_none())?;
                    measured
                }
                _ => vec![directory_of(inputs, asking, at, role)?],
            };
            // The root would cover every path there is.
            if directories.iter().any(|directory| directory == "/") {
                return None;
            }
            let constraint = |directory| ApprovalConstraint::Directory {
                role: name(),
                directory,
            };
            Some(directories.into_iter().map(constraint).collect())
        }
        Category::Url => {
            let constraint = |domain| ApprovalConstraint::Domain { role: name(), domain };
            Some(measured.into_iter().map(constraint).collect())
        }
        Category::Identifier | Category::Command | Category::Opaque => {
            let constraint = |value| ApprovalConstraint::Exact { role: name(), value };
            Some(measured.into_iter().map(constraint).collect())
        }
        Category::Address => None,
    }
}

/// The directory that an approval of the path would be about: that which holds it, and of a directory itself.
fn directory_of(inputs: &Inputs, asking: &mut Asking, at: usize, role: RoleId) -> Option<String> {
    let operand = inputs.operands.get(at)?;
    let path = operand.path()?.clone();
    let entry = operand.entry().filter(|_| role == RoleId::DELETE_PATH);
    if let Some(entry) = entry {
        let directory = entry.parent().to_string();
        return is_at_or_below(path.as_str(), &directory).then_some(directory);
    }
    match asking.canonicalizer.facts.is_directory(path.as_str())? {
        true => Some(path.to_string()),
        false if HISTORY.contains(&role) => None,
        false => Some(path.parent().to_string()),
    }
}

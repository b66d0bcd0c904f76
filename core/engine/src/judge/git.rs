//! An absent git remote means git's default remote.

use std::collections::BTreeSet;

use super::asking::Asking;
use super::check::Finding;
use super::inputs::Inputs;
use super::operand::{Form, Operand};
use super::places::Repositories;
use super::repository::{ORIGIN, repositories, repositories_shown};
use super::{StructuralRule, Verdict};
use crate::bind::{BoundValue, Value};
use crate::model::{Argument, ArgumentName, ServerKind};
use crate::role::RoleId;

/// Adds what a call to git means where it names no remote, or no branch.
pub(super) fn fill_in<'p>(inputs: &mut Inputs<'p, '_>, asking: &mut Asking) -> Option<Finding<'p>> {
    let found = default_remote(inputs, asking);
    absent_branch(inputs, asking);
    inputs.file_operands();
    found
}

/// Gives an absent git remote the URLs of the default remote and, since many servers have it as their default, of `origin`.
///
/// Where the server has an allowlist and it is not known which remote git would use, the call escalates, unless the
/// rules deny it.
fn default_remote<'p>(inputs: &mut Inputs<'p, '_>, asking: &mut Asking) -> Option<Finding<'p>> {
    let tool = inputs
        .tool
        .filter(|_| inputs.settings.kind == Some(ServerKind::Git))?;
    let wanting: Vec<&'p [RoleId]> = tool
        .arguments
        .iter()
        .zip(inputs.arguments.resolved.iter())
        .filter(|(_, roles)| roles.contains(&RoleId::GIT_REMOTE_URL))
        .filter(|(argument, _)| argument.name.rest().is_empty() && is_blank(inputs, argument))
        .map(|(_, roles)| roles)
        .collect();
    if wanting.is_empty() {
        return None;
    }
    let is_careful = inputs.program.defaults.asks_all_repositories;
    let repositories = repositories(inputs, asking);
    if !is_careful && !may_read_repository(asking, &repositories) {
        return None;
    }
    let mut urls = Vec::new();
    // The current directory is the gate's, not the server's.
    if repositories.are_named || !is_careful {
        for directory in &repositories.directories {
            let facts = &mut asking.canonicalizer.facts;
            urls.extend(facts.git_default_remote_urls(directory));
            if is_careful {
                urls.extend(facts.git_remote_urls(directory, ORIGIN));
            }
        }
    }
    if asking.has_failed() {
        return None;
    }
    let mut seen = BTreeSet::new();
    urls.retain(|url| seen.insert(url.clone()));
    let is_told = !urls.is_empty() && repositories.are_all;
    let shown = repositories_shown(inputs, &repositories);
    asking.note("git-default-remote", true, || {
        format!("{shown}: {}", urls.join(", "))
    });
    for roles in wanting {
        let is_blank = |operand: &Operand<'_, '_>| {
            operand.bound.text.as_deref() == Some("") && std::ptr::eq(operand.bound.roles, roles)
        };
        if is_careful || !urls.is_empty() {
            while let Some(at) = inputs.operands.iter().position(is_blank) {
                inputs.operands.remove(at);
                asking.lookups.remove(at);
            }
        }
        let filled_in = |text: String, form| {
            let bound = BoundValue::new(None, Box::default(), Some(text.into()), roles);
            Operand::new(bound, form)
        };
        let known = urls.iter().map(|url| filled_in(url.clone(), Form::Text));
        inputs.operands.extend(known);
        if is_careful && !is_told {
            inputs.operands.push(filled_in(String::new(), Form::Unknown));
        }
    }
    let server = inputs.server();
    if !is_told && inputs.settings.allowlist.is_some() {
        let reason =
            format!("The git remote of {shown} is not known, and server \"{server}\" has an allowlist");
        let roles = vec![inputs.program.registry.name(RoleId::GIT_REMOTE_URL)];
        let verdict = Verdict::escalate(roles, StructuralRule::DomainEscalate, reason);
        return Some(Finding::Escalate(verdict));
    }
    None
}

/// Gives an absent branch the empty value: what git takes it for matters to conditions and approvals.
fn absent_branch(inputs: &mut Inputs, asking: &Asking) {
    // An approval says for which branch it is.
    let is_looked_at = inputs.program.listed_roles.contains(RoleId::BRANCH_NAME) || asking.held.is_some();
    let is_restricted = inputs.program.defaults.reads_refs && is_looked_at;
    let is_absent = inputs.roles.contains(RoleId::BRANCH_NAME)
        && !inputs
            .operands
            .iter()
            .any(|operand| operand.bound.role_set.contains(RoleId::BRANCH_NAME));
    if is_restricted && is_absent {
        let bound = BoundValue::new(None, Box::default(), Some("".into()), &[RoleId::BRANCH_NAME]);
        inputs.operands.push(Operand::new(bound, Form::Text));
    }
}

/// Returns `true` if git's configuration may be asked as the existing runtime does: the repository is known and lies
/// within the sandbox, if there is one.
fn may_read_repository(asking: &mut Asking, repositories: &Repositories) -> bool {
    let Some(repository) = repositories.directories.first() else {
        return false;
    };
    let sandbox = asking.directories.sandbox(&mut asking.canonicalizer);
    if sandbox.is_empty() {
        return true;
    }
    // The path behind an address is canonical: no container moves it and it needs no base.
    let path = asking.canonicalizer.path_like(repository);
    path.is_ok_and(|path| sandbox.grants(&path))
}

/// Returns `true` if the argument names no remote: it is absent, null, an empty text or an empty array. A value of another
/// type is unreadable.
fn is_blank(inputs: &Inputs, argument: &Argument) -> bool {
    let ArgumentName::Top(wanted) = &argument.name else {
        return false;
    };
    let mut members = inputs.call.arguments.members().iter();
    let Some((_, value)) = members.find(|(name, _)| **name == **wanted) else {
        return true;
    };
    match value.read(inputs.program.limits.depth).as_deref() {
        Ok(Value::Null) => true,
        Ok(Value::Text(text)) => text.is_empty(),
        Ok(Value::Array(items)) => items.is_empty(),
        _ => false,
    }
}

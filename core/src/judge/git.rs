//! An absent git remote means git's default remote.

use super::canonical::{Form, Operand};
use super::check::Check;
use super::{Case, Verdict};
use crate::bind::{BoundValue, Value};
use crate::model::Argument;
use crate::model::ArgumentName;
use crate::role::RoleId;
use crate::seed::GIT;

/// Gives an absent git remote the URLs of the default remote.
///
/// Where the server has an allowlist and it is not known which remote git would use, the call escalates, unless the
/// rules deny it.
pub(super) fn default_remote<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    let Some(tool) = case.tool.filter(|_| case.server() == GIT) else {
        return Check::Pass;
    };
    let wanting: Vec<&'p [RoleId]> = tool
        .arguments
        .iter()
        .zip(case.arguments.resolved.iter().copied())
        .filter(|(_, roles)| roles.contains(&RoleId::GIT_REMOTE_URL))
        .filter(|(argument, _)| argument.name.rest().is_empty() && is_blank(case, argument))
        .map(|(_, roles)| roles)
        .collect();
    if wanting.is_empty() {
        return Check::Pass;
    }
    let Some(repository) = case.repository() else {
        return Check::Pass;
    };
    if !may_read_repository(case, &repository) {
        return Check::Pass;
    }
    let urls = case.canonicalizer.facts.git_default_remote_urls(&repository);
    if case.canonicalizer.facts.has_failed() {
        return Check::Pass;
    }
    let shown = case.repository_shown(&repository);
    case.note("git-default-remote", true, || {
        format!("{shown}: {}", urls.join(", "))
    });
    for roles in wanting {
        let is_blank = |operand: &Operand<'_, '_>| {
            operand.bound.text.as_deref() == Some("") && std::ptr::eq(operand.bound.roles, roles)
        };
        if !urls.is_empty() {
            case.operands.retain(|operand| !is_blank(operand));
        }
        case.operands.extend(urls.iter().map(|url| {
            let bound = BoundValue::new(None, Vec::new(), Some(url.clone().into()), roles);
            Operand::new(bound, Form::Text)
        }));
    }
    if urls.is_empty() && case.program.allowlists.contains_key(GIT) {
        let reason = format!("The git remote of {shown} is not known, and server \"git\" has an allowlist");
        let roles = vec![case.program.registry.name(RoleId::GIT_REMOTE_URL)];
        return Check::Escalate(Verdict::escalate(roles, "structural-domain-escalate", reason));
    }
    Check::Pass
}

/// Whether git's configuration may be asked: the repository lies within the sandbox, where there is one.
fn may_read_repository(case: &mut Case<'_, '_, '_>, repository: &str) -> bool {
    let sandbox = case.directories.sandbox(&mut case.canonicalizer);
    if sandbox.is_empty() {
        return true;
    }
    // The path behind an address is canonical: no container moves it and it needs no base.
    let path = case.canonicalizer.path_like(repository);
    path.is_ok_and(|path| sandbox.grants(&path))
}

/// Whether the argument names no remote: it is absent, empty, or holds no string.
fn is_blank(case: &Case<'_, '_, '_>, argument: &Argument) -> bool {
    let ArgumentName::Top(wanted) = &argument.name else {
        return false;
    };
    let mut members = case.call.arguments.members().iter();
    let Some((_, value)) = members.find(|(name, _)| **name == **wanted) else {
        return true;
    };
    match value.read(case.program.limits.depth).as_deref() {
        Ok(Value::Null | Value::Bool(_) | Value::Number(_)) => true,
        Ok(Value::Text(text)) => text.is_empty(),
        Ok(Value::Array(items)) => items
            .iter()
            .all(|item| matches!(item, Value::Null | Value::Bool(_) | Value::Number(_))),
        _ => false,
    }
}

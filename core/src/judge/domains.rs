//! The server's domain allowlist.

use smallvec::SmallVec;

use super::check::Check;
use super::{Case, Verdict};
use crate::net::domain_matches_allowlist;
use crate::role::RoleId;

/// A domain outside the allowlist escalates the call at once. A value that passes only as text, because no strict
/// reading grants it, and a remote that the engine filled in escalate as well, but the rules are asked all the same and
/// may deny.
pub(super) fn check<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    let program = case.program;
    let Some((allowlist, patterns)) = &case.settings.allowlist else {
        return Check::Pass;
    };
    let mut escalation = None;
    for (at, role) in urls(case) {
        let mut locations = case.locations(at, role).iter();
        let outside = locations.find(|one| allowlist.grants(one).is_none());
        let Some(outside) = outside else { continue };
        let (domain, is_unknown) = (outside.display_domain().to_owned(), outside.is_unknown());
        // What a remote stands for may be a directory of the host.
        let is_hidden = program.world.is_some() && !outside.is_grantable();
        if case.canonicalizer.facts.has_failed() {
            return Check::Pass;
        }
        let server = case.server();
        let mut reason = format!("URL domain \"{domain}\" is not in the allowlist for server \"{server}\"");
        if is_unknown {
            let shown = case.shown_as_judged(at, role);
            reason =
                format!("What {shown} stands for is not known, and server \"{server}\" has an allowlist");
        } else if is_hidden {
            let shown = case.shown_as_judged(at, role);
            reason = format!("What {shown} stands for is not in the allowlist for server \"{server}\"");
        } else if case.names_arguments() {
            reason = format!("{reason} ({})", case.shown_as_judged(at, role));
        }
        case.note("domain-allowlist", false, || reason.clone());
        let roles = vec![program.registry.name(role)];
        let verdict = Verdict::escalate(roles, "structural-domain-escalate", reason);
        let operand = case.operands.get(at);
        let is_given = operand.is_some_and(|operand| operand.bound.argument.is_some());
        if is_given && !domain_matches_allowlist(&domain, patterns) {
            return Check::EscalateNow(verdict);
        }
        escalation.get_or_insert(verdict);
    }
    let detail = "every URL is in the server's allowlist";
    match escalation {
        None => Check::Holds(detail),
        Some(verdict) => {
            case.note("domain-allowlist", true, || detail.to_owned());
            Check::Escalate(verdict)
        }
    }
}

/// The roles with a value outside the server's allowlist: all of them, where the check ends at the first.
pub(super) fn roles_outside(case: &mut Case<'_, '_, '_>) -> Vec<RoleId> {
    let Some((allowlist, _)) = &case.settings.allowlist else {
        return Vec::new();
    };
    let mut roles = Vec::new();
    for (at, role) in urls(case) {
        let mut locations = case.locations(at, role).iter();
        if !roles.contains(&role) && locations.any(|one| allowlist.grants(one).is_none()) {
            roles.push(role);
        }
    }
    roles
}

/// The operands that are URLs, each with the roles that make it one.
fn urls(case: &Case<'_, '_, '_>) -> SmallVec<[(usize, RoleId); 4]> {
    let url_roles = case.program.url_roles;
    let mut urls = SmallVec::new();
    for (at, operand) in case.operands.iter().enumerate() {
        if operand.bound.role_set.intersects(url_roles) {
            let roles = operand.bound.roles.iter().copied();
            urls.extend(
                roles
                    .filter(|role| url_roles.contains(*role))
                    .map(|role| (at, role)),
            );
        }
    }
    urls
}

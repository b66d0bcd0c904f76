//! The server's domain allowlist.

use super::StructuralRule;
use super::Verdict;
use super::asking::Asking;
use super::check::Finding;
use super::inputs::Inputs;
use super::locations::locations_of;
use super::reason::shown_as_judged;
use crate::cost::LOOK_UP;
use crate::net::{DomainSet, domain_matches_allowlist};
use crate::role::RoleId;

/// A domain outside the allowlist escalates the call, and the first ends the check. So does a value that passes only as text,
/// because no strict reading grants it, and a remote that the engine filled in.
pub(super) fn check<'p>(inputs: &Inputs<'p, '_>, asking: &mut Asking) -> Option<Finding<'p>> {
    let (allowlist, patterns) = inputs.settings.allowlist.as_ref()?;
    let mut escalation = None;
    for at in 0..inputs.operands.len() {
        for role in url_roles(inputs, at) {
            asking.take_steps(LOOK_UP);
            let found = outside(inputs, asking, allowlist, at, role);
            if asking.has_failed() {
                return None;
            }
            let Some((domain, verdict)) = found else { continue };
            let operand = inputs.operands.get(at);
            let is_given = operand.is_some_and(|operand| !operand.bound.is_filled_in());
            // The patterns are compared one by one as they are written.
            asking.take_steps(patterns.len());
            if is_given && !domain_matches_allowlist(&domain, patterns) {
                return Some(match inputs.program.defaults.allowlist_asks {
                    true => Finding::EscalateFirst(verdict),
                    false => Finding::Decided(verdict, None),
                });
            }
            escalation.get_or_insert(verdict);
        }
    }
    asking.note_held("domain-allowlist", "every URL is in the server's allowlist");
    Some(Finding::Escalate(escalation?))
}

/// The domain of a value that the allowlist does not grant, and what is said about it; `None` if it is granted.
fn outside<'p>(
    inputs: &Inputs<'p, '_>,
    asking: &mut Asking,
    allowlist: &DomainSet,
    at: usize,
    role: RoleId,
) -> Option<(String, Verdict<'p>)> {
    let program = inputs.program;
    let mut locations = locations_of(inputs, asking, at, role).iter();
    let outside = locations.find(|one| allowlist.grants(one).is_none())?;
    let (domain, is_unknown) = (outside.display_domain().to_owned(), outside.is_unknown());
    // A remote may stand for a directory of the host.
    let is_hidden = program.world.is_some() && !outside.is_grantable();
    let server = inputs.server();
    let mut reason = format!("URL domain \"{domain}\" is not in the allowlist for server \"{server}\"");
    if is_unknown {
        let shown = shown_as_judged(inputs, asking, at, role);
        reason = format!("What {shown} stands for is not known, and server \"{server}\" has an allowlist");
    } else if is_hidden {
        let shown = shown_as_judged(inputs, asking, at, role);
        reason = format!("What {shown} stands for is not in the allowlist for server \"{server}\"");
    } else if inputs.names_arguments() {
        reason = format!("{reason} ({})", shown_as_judged(inputs, asking, at, role));
    }
    if !asking.has_failed() {
        asking.note("domain-allowlist", false, || reason.clone());
    }
    let roles = vec![program.registry.name(role)];
    let verdict = Verdict::escalate(roles, StructuralRule::DomainEscalate, reason);
    Some((domain, verdict))
}

/// The roles with a value outside the server's allowlist: all of them, where the check ends at the first.
pub(super) fn roles_outside(inputs: &Inputs, asking: &mut Asking) -> Vec<RoleId> {
    let Some((allowlist, _)) = &inputs.settings.allowlist else {
        return Vec::new();
    };
    let mut roles = Vec::new();
    for at in 0..inputs.operands.len() {
        for role in url_roles(inputs, at) {
            let mut locations = locations_of(inputs, asking, at, role).iter();
            if !roles.contains(&role) && locations.any(|one| allowlist.grants(one).is_none()) {
                roles.push(role);
            }
        }
    }
    roles
}

/// The roles that make an operand a URL.
fn url_roles<'p>(inputs: &Inputs<'p, '_>, at: usize) -> impl Iterator<Item = RoleId> + use<'p> {
    let url_roles = inputs.program.url_roles;
    let operand = inputs.operands.get(at);
    let operand = operand.filter(|operand| operand.bound.role_set.intersects(url_roles));
    let roles = operand.map_or(&[][..], |operand| operand.bound.roles);
    roles
        .iter()
        .copied()
        .filter(move |role| url_roles.contains(*role))
}

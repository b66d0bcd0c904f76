//! How one value meets the entries of a list.

use super::answers::text_of;
use super::asking::Asking;
use super::hits::Hit;
use super::inputs::Inputs;
use super::locations::addresses_of;
use super::refs::{grants_push, push_hit, pushes};
use super::repository::current_branches;
use crate::cost::{LOOK_UP, REF_BYTES};
use crate::model::Effect;
use crate::model::refs::Ref;
use crate::program::{DirectoryId, Identifiers, ListMatcher};
use crate::role::RoleId;

pub(super) fn list_hit(
    inputs: &Inputs,
    asking: &mut Asking,
    matcher: &ListMatcher,
    effect: Effect,
    at: usize,
    role: RoleId,
) -> Hit {
    let step = inputs.program.registry.get(role).canonicalize;
    if effect == Effect::Allow {
        return Hit::exact(matcher.grants_text(step, text_of(inputs, asking, at, role)));
    }
    let text = text_of(inputs, asking, at, role);
    if matcher.lists_text(step, text) {
        return Hit::Exact;
    }
    // For a program in C a text ends at its first NUL.
    if text
        .split_once('\0')
        .is_some_and(|(before, _)| matcher.lists_text(step, before))
    {
        return Hit::LookAlike;
    }
    let emails = match matcher {
        ListMatcher::Identifiers(names) if inputs.program.path_roles.contains(role) => {
            return Hit::exact(names.paths.iter().any(|path| is_at(inputs, asking, at, *path)));
        }
        ListMatcher::Identifiers(_) | ListMatcher::Domains(_) => return Hit::Miss,
        ListMatcher::Emails(emails) => emails,
    };
    let count = addresses_of(inputs, asking, at, role).len();
    asking.take_steps(count * LOOK_UP);
    Hit::look_alike(emails.restrict_any(addresses_of(inputs, asking, at, role)))
}

/// Returns `true` if the value is the path, or may be on a disk that does not tell spellings apart.
fn is_at(inputs: &Inputs, asking: &mut Asking, at: usize, path: DirectoryId) -> bool {
    asking.take_steps(1);
    if asking.has_failed() {
        return true;
    }
    let directory = asking.directories.rule(&mut asking.canonicalizer, path);
    let operand = inputs.operands.get(at);
    let mut paths = operand.into_iter().flat_map(|operand| operand.paths());
    paths.any(|path| {
        let may_be = directory.may_hold(path) && directory.lies_within(path);
        path.as_str() == directory.as_str() || may_be
    })
}

/// Returns `true` if a value counts as every ref that git would take it for.
pub(super) fn reads_refs(inputs: &Inputs, role: RoleId) -> bool {
    role == RoleId::BRANCH_NAME && inputs.program.defaults.reads_refs
}

/// How a ref meets the entries of a grant: every ref that git would update must be on the list. One that cannot be told is
/// not, and a forced update or a removal is more than what an entry names.
pub(super) fn granted_ref(
    inputs: &Inputs,
    asking: &mut Asking,
    matcher: &ListMatcher,
    names: &Identifiers,
    at: usize,
    role: RoleId,
) -> Hit {
    let step = inputs.program.registry.get(role).canonicalize;
    let text = text_of(inputs, asking, at, role).to_owned();
    asking.take_steps(text.len() / REF_BYTES);
    if asking.has_failed() {
        return Hit::Miss;
    }
    let lists = |name: usize| names.name_branch(text.get(name..).unwrap_or_default());
    let is_update = !text.starts_with(['+', ':']);
    let is_listed = match Ref::read(&text) {
        Ref::Branch(name) => is_update && lists(name),
        Ref::Either(one, other) => is_update && lists(one) && lists(other),
        Ref::Current => {
            let branches = current_branches(inputs, asking);
            branches.is_some_and(|branches| branches.iter().all(|branch| names.name_branch(branch)))
        }
        Ref::Unknown => false,
    };
    // A tool that only reads may be allowed a revision as it is written.
    let is_granted = is_listed || (!pushes(inputs) && matcher.grants_text(step, &text));
    Hit::exact(is_granted && grants_push(inputs, asking, names, at, role))
}

/// How a ref meets the entries of a restriction. One that cannot be told meets all of them.
pub(super) fn ref_hit(
    inputs: &Inputs,
    asking: &mut Asking,
    matcher: &ListMatcher,
    names: &Identifiers,
    at: usize,
    role: RoleId,
) -> Hit {
    let step = inputs.program.registry.get(role).canonicalize;
    let text = text_of(inputs, asking, at, role);
    if matcher.lists_text(step, text) {
        return Hit::Exact;
    }
    // A ref is read once, however many rules look at it.
    let bytes = text.len();
    let read = match asking.lookups.read_ref(at) {
        Some(known) => known,
        None => {
            asking.take_steps(bytes / REF_BYTES);
            // Where the steps run out, the call is denied whatever is found.
            let read = match asking.has_failed() {
                true => Ref::Unknown,
                false => Ref::read(text_of(inputs, asking, at, role)),
            };
            if let Some(answers) = asking.lookups.answers_mut(at) {
                answers.read_ref = Some(read);
            }
            read
        }
    };
    let branch_hit = |branch: &str| match names.name_branch(branch) {
        true => Hit::Exact,
        false => Hit::look_alike(names.may_name_branch(branch)),
    };
    let own = match read {
        Ref::Branch(name) => {
            let text = text_of(inputs, asking, at, role);
            branch_hit(text.get(name..).unwrap_or_default())
        }
        Ref::Either(one, other) => {
            let text = text_of(inputs, asking, at, role);
            let mut either = [one, other].into_iter().filter_map(|name| text.get(name..));
            Hit::look_alike(either.any(|branch| names.may_name_branch(branch)))
        }
        Ref::Current => match current_branches(inputs, asking) {
            Some(branches) => {
                let hits = branches.iter().map(|branch| branch_hit(branch));
                hits.max().unwrap_or(Hit::Miss)
            }
            None => Hit::LookAlike,
        },
        Ref::Unknown => Hit::LookAlike,
    };
    match own {
        Hit::Miss => push_hit(inputs, asking, names, at, role),
        Hit::LookAlike | Hit::Exact => own,
    }
}

//! The refs that a push updates because git's configuration says so (SPEC §4).

use std::sync::Arc;

use super::answers::text_of;
use super::asking::Asking;
use super::hits::Hit;
use super::inputs::{Inputs, Values};
use super::repository::{ORIGIN, current_branches, repositories};
use crate::cost::LOOK_UP;
use crate::model::refs::Ref;
use crate::model::{Condition, ConditionValue, ServerKind, SideEffectLevel, Test};
use crate::net;
use crate::program::{Identifiers, Tool};
use crate::role::RoleId;

/// The refs that a push of a value updates, found once; `None` if they cannot be told.
fn pushed(inputs: &Inputs, asking: &mut Asking, at: usize, role: RoleId) -> Option<Arc<[String]>> {
    let known = match asking.lookups.pushed.get(&at) {
        Some(known) => known.clone(),
        None => {
            let found: Option<Arc<[String]>> = pushed_refs(inputs, asking, at, role).map(Arc::from);
            asking.lookups.pushed.insert(at, found.clone());
            found
        }
    }?;
    asking.take_steps((known.len() + 1) * LOOK_UP);
    Some(known)
}

/// Returns `true` if each ref that a push of a value updates is one of a grant's entries.
pub(super) fn grants_push(
    inputs: &Inputs,
    asking: &mut Asking,
    names: &Identifiers,
    at: usize,
    role: RoleId,
) -> bool {
    let Some(pushed) = pushed(inputs, asking, at, role) else {
        return false;
    };
    pushed.iter().all(|pushed| {
        let listed = |at: usize| names.name_branch(pushed.get(at..).unwrap_or_default());
        match Ref::read(pushed) {
            Ref::Branch(name) => listed(name),
            Ref::Either(one, other) => listed(one) && listed(other),
            Ref::Current | Ref::Unknown => false,
        }
    })
}

/// Returns `true` if a grant's condition on an argument that names a branch is met by each ref that a push of it updates.
pub(super) fn pushes_meet(inputs: &Inputs, asking: &mut Asking, condition: &Condition) -> bool {
    let is_careful = inputs.program.defaults.reads_refs;
    let compares = matches!(condition.test, Test::Equals(_) | Test::In(_));
    if !is_careful || !compares || !pushes(inputs) {
        return true;
    }
    let branches = inputs.values_of(RoleId::BRANCH_NAME);
    let is_there = |at: &usize| {
        let argument = inputs
            .operands
            .get(*at)
            .and_then(|operand| operand.bound.argument);
        argument.is_some() && condition.argument.first() == Some(inputs.name_of(argument))
    };
    let there: Values = branches.iter().copied().filter(is_there).collect();
    there.into_iter().all(|at| {
        let Some(pushed) = pushed(inputs, asking, at, RoleId::BRANCH_NAME) else {
            return false;
        };
        asking.take_steps(pushed.len() * condition.test.cost());
        pushed.iter().all(|pushed| {
            let name = match Ref::read(pushed) {
                Ref::Branch(name) => pushed.get(name..),
                Ref::Either(..) | Ref::Current | Ref::Unknown => None,
            };
            let mut spelled = name.into_iter().chain([&**pushed]);
            spelled.any(|text| condition.test.surely_holds(ConditionValue::Text(text)))
        })
    })
}

/// A branch as it is written, or the one that is checked out in its place, and every ref that a push of it updates; `None` if
/// they cannot be told.
pub(super) fn updated_refs(
    inputs: &Inputs,
    asking: &mut Asking,
    at: usize,
    text: String,
) -> Option<Vec<String>> {
    let mut refs = match Ref::read(&text) {
        Ref::Current => current_branches(inputs, asking)?.to_vec(),
        Ref::Branch(_) | Ref::Either(..) | Ref::Unknown => vec![text],
    };
    refs.extend(pushed(inputs, asking, at, RoleId::BRANCH_NAME)?.iter().cloned());
    Some(refs)
}

/// How the refs that a push of a value updates meet the entries of a restriction. If they cannot be told, they meet all
/// of them.
pub(super) fn push_hit(
    inputs: &Inputs,
    asking: &mut Asking,
    names: &Identifiers,
    at: usize,
    role: RoleId,
) -> Hit {
    let Some(pushed) = pushed(inputs, asking, at, role) else {
        return Hit::LookAlike;
    };
    let lists = |pushed: &String| {
        let listed = |at: usize| names.may_name_branch(pushed.get(at..).unwrap_or_default());
        match Ref::read(pushed) {
            Ref::Branch(name) => listed(name),
            Ref::Either(one, other) => listed(one) || listed(other),
            Ref::Current | Ref::Unknown => true,
        }
    };
    Hit::look_alike(pushed.iter().any(lists))
}

/// The refs that a push of a value updates, in a call that names a remote or may; `None` if they cannot be told.
fn pushed_refs(inputs: &Inputs, asking: &mut Asking, at: usize, role: RoleId) -> Option<Vec<String>> {
    let pushes = pushes(inputs);
    let text = text_of(inputs, asking, at, role);
    // A refspec with a destination says itself what it updates.
    if !pushes || text.contains(':') {
        return Some(Vec::new());
    }
    let reference = text.strip_prefix('+').unwrap_or(text).to_owned();
    let repositories = repositories(inputs, asking);
    if !repositories.are_named || !repositories.are_all {
        return None;
    }
    let mut pushed = Vec::new();
    let remotes = match &asking.lookups.remotes {
        Some(known) => Arc::clone(known),
        None => {
            let given = remotes_given(inputs).into();
            Arc::clone(asking.lookups.remotes.insert(given))
        }
    };
    for remote in remotes.iter() {
        for directory in &repositories.directories {
            let facts = &mut asking.canonicalizer.facts;
            pushed.extend(facts.git_push_refs(directory, remote, &reference)?);
            // An absent remote stands for `origin` as well.
            if remote.is_empty() && !facts.git_remote_urls(directory, ORIGIN).is_empty() {
                pushed.extend(facts.git_push_refs(directory, ORIGIN, &reference)?);
            }
        }
    }
    Some(pushed)
}

/// Returns `true` if the call is to git, and may push.
pub(super) fn pushes(inputs: &Inputs) -> bool {
    inputs.settings.kind == Some(ServerKind::Git) && may_push(inputs)
}

/// Returns `true` if the tool may push: it takes a remote, reaches the network, or says so by its name. One that takes no
/// remote pushes to the default one.
fn may_push(inputs: &Inputs) -> bool {
    let pushes = |tool: &Tool| {
        let is_named = tool.name.to_ascii_lowercase().contains("push");
        is_named || tool.semantics.side_effect_level == SideEffectLevel::Network
    };
    inputs.roles.contains(RoleId::GIT_REMOTE_URL) || inputs.tool.is_some_and(pushes)
}

/// The remotes of the call as they are given and as they are sent; the empty text if there is none.
fn remotes_given(inputs: &Inputs) -> Vec<String> {
    let mut given = Vec::new();
    for operand in &inputs.operands {
        let is_given = !operand.bound.is_filled_in();
        if let Some(text) = operand.bound.text.as_deref()
            && is_given
            && operand.bound.role_set.contains(RoleId::GIT_REMOTE_URL)
        {
            let sent = net::normalize_git_url(text).into_owned();
            if sent != text {
                given.push(sent);
            }
            given.push(text.to_owned());
        }
    }
    if given.is_empty() {
        given.push(String::new());
    }
    given
}

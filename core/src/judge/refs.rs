//! The refs that a push updates because git's configuration says so (SPEC §4).

use std::sync::Arc;

use super::Case;
use super::conditions::Hit;
use crate::host::LOOK_UP;
use crate::model::refs::Ref;
use crate::model::{ServerKind, SideEffectLevel};
use crate::net;
use crate::program::{Identifiers, Tool};
use crate::role::RoleId;

impl Case<'_, '_, '_> {
    /// How the refs that a push of a value updates meet the entries of a restriction. If they cannot be told, they meet all
    /// of them.
    pub(super) fn push_hit(&mut self, names: &Identifiers, at: usize, role: RoleId) -> Hit {
        let known = match self.lookups_mut().pushed.get(&at) {
            Some(known) => known.clone(),
            None => {
                let found: Option<Arc<[String]>> = self.pushed_refs(at, role).map(Arc::from);
                self.lookups_mut().pushed.insert(at, found.clone());
                found
            }
        };
        let Some(pushed) = known else {
            return Hit::LookAlike;
        };
        self.canonicalizer.facts.take_steps((pushed.len() + 1) * LOOK_UP);
        let lists = |pushed: &String| {
            let listed = |at: usize| names.name_branch(pushed.get(at..).unwrap_or_default());
            match Ref::read(pushed) {
                Ref::Branch(name) => listed(name),
                Ref::Either(one, other) => listed(one) || listed(other),
                Ref::Current | Ref::Unknown => true,
            }
        };
        Hit::look_alike(pushed.iter().any(lists))
    }

    /// The refs that a push of a value updates, in a call that names a remote or may; `None` if they cannot be told.
    fn pushed_refs(&mut self, at: usize, role: RoleId) -> Option<Vec<String>> {
        let may_push = self.settings.kind == Some(ServerKind::Git) && self.may_push();
        let text = self.text(at, role);
        // A refspec with a destination says itself what it updates.
        if !may_push || text.contains(':') {
            return Some(Vec::new());
        }
        let reference = text.strip_prefix('+').unwrap_or(text).to_owned();
        let repositories = self.repositories();
        if !repositories.are_named || !repositories.are_all {
            return None;
        }
        let mut pushed = Vec::new();
        let remotes = match &self.lookups_mut().remotes {
            Some(known) => Arc::clone(known),
            None => {
                let given = self.remotes_given().into();
                Arc::clone(self.lookups_mut().remotes.insert(given))
            }
        };
        for remote in remotes.iter() {
            for directory in &repositories.directories {
                let facts = &mut self.canonicalizer.facts;
                pushed.extend(facts.git_push_refs(directory, remote, &reference)?);
            }
        }
        Some(pushed)
    }

    /// Returns `true` if the tool may push: it takes a remote, reaches the network, or says so by its name. One that takes no
    /// remote pushes to the default one.
    fn may_push(&self) -> bool {
        let pushes = |tool: &Tool| {
            let is_named = tool.name.to_ascii_lowercase().contains("push");
            is_named || tool.semantics.side_effect_level == SideEffectLevel::Network
        };
        self.tool_roles.contains(RoleId::GIT_REMOTE_URL) || self.tool.is_some_and(pushes)
    }

    /// The remotes of the call as they are given and as they are sent; the empty text if there is none.
    fn remotes_given(&self) -> Vec<String> {
        let mut given = Vec::new();
        for operand in &self.operands {
            let is_given = operand.bound.argument.is_some();
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
}

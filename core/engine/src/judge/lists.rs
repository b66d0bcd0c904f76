//! How one value meets the entries of a list.

use super::Case;
use super::hits::Hit;
use crate::cost::{LOOK_UP, REF_BYTES};
use crate::model::Effect;
use crate::model::refs::Ref;
use crate::program::{DirectoryId, Identifiers, ListMatcher};
use crate::role::RoleId;

impl Case<'_, '_, '_> {
    pub(super) fn list_hit(&mut self, matcher: &ListMatcher, effect: Effect, at: usize, role: RoleId) -> Hit {
        let step = self.program.registry.get(role).canonicalize;
        if effect == Effect::Allow {
            return Hit::exact(matcher.grants_text(step, self.text(at, role)));
        }
        let text = self.text(at, role);
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
            ListMatcher::Identifiers(names) if self.program.path_roles.contains(role) => {
                return Hit::exact(names.paths.iter().any(|path| self.is_at(at, *path)));
            }
            ListMatcher::Identifiers(_) | ListMatcher::Domains(_) => return Hit::Miss,
            ListMatcher::Emails(emails) => emails,
        };
        let Some(operand) = self.operands.get_mut(at) else {
            return Hit::Miss;
        };
        let addresses = self.canonicalizer.addresses(operand, role);
        let count = addresses.len();
        self.canonicalizer.facts.take_steps(count * LOOK_UP);
        let addresses = self.canonicalizer.addresses(operand, role);
        Hit::look_alike(emails.restrict_any(addresses))
    }

    /// Returns `true` if the value is the path, or may be on a disk that does not tell spellings apart.
    fn is_at(&mut self, at: usize, path: DirectoryId) -> bool {
        self.canonicalizer.facts.take_steps(1);
        if self.canonicalizer.facts.has_failed() {
            return true;
        }
        let directory = self.directories.rule(&mut self.canonicalizer, path);
        let operand = self.operands.get(at);
        let mut paths = operand.into_iter().flat_map(|operand| operand.paths());
        paths.any(|path| {
            let may_be = directory.may_hold(path) && directory.lies_within(path);
            path.as_str() == directory.as_str() || may_be
        })
    }

    /// Returns `true` if a value counts as every ref that git would take it for.
    pub(super) fn reads_refs(&self, role: RoleId) -> bool {
        role == RoleId::BRANCH_NAME && self.program.defaults.reads_refs
    }

    /// How a ref meets the entries of a grant: every ref that git would update must be on the list. One that cannot be told is
    /// not, and a forced update or a removal is more than what an entry names.
    pub(super) fn granted_ref(
        &mut self,
        matcher: &ListMatcher,
        names: &Identifiers,
        at: usize,
        role: RoleId,
    ) -> Hit {
        let step = self.program.registry.get(role).canonicalize;
        let text = self.text(at, role).to_owned();
        self.canonicalizer.facts.take_steps(text.len() / REF_BYTES);
        if self.canonicalizer.facts.has_failed() {
            return Hit::Miss;
        }
        let lists = |name: usize| names.name_branch(text.get(name..).unwrap_or_default());
        let is_update = !text.starts_with(['+', ':']);
        let is_listed = match Ref::read(&text) {
            Ref::Branch(name) => is_update && lists(name),
            Ref::Either(one, other) => is_update && lists(one) && lists(other),
            Ref::Current => {
                let branches = self.current_branches();
                branches.is_some_and(|branches| branches.iter().all(|branch| names.name_branch(branch)))
            }
            Ref::Unknown => false,
        };
        // A tool that only reads may be allowed a revision as it is written.
        let is_granted = is_listed || (!self.pushes() && matcher.grants_text(step, &text));
        Hit::exact(is_granted && self.grants_push(names, at, role))
    }

    /// How a ref meets the entries of a restriction. One that cannot be told meets all of them.
    pub(super) fn ref_hit(
        &mut self,
        matcher: &ListMatcher,
        names: &Identifiers,
        at: usize,
        role: RoleId,
    ) -> Hit {
        let step = self.program.registry.get(role).canonicalize;
        let text = self.text(at, role);
        if matcher.lists_text(step, text) {
            return Hit::Exact;
        }
        let Some(operand) = self.operands.get_mut(at) else {
            return Hit::Miss;
        };
        // A ref is read once, however many rules look at it.
        let text = operand.text(role).unwrap_or_default();
        let read = match operand.read_ref() {
            Some(known) => known,
            None => {
                self.canonicalizer.facts.take_steps(text.len() / REF_BYTES);
                // Where the steps run out, the call is denied whatever is found.
                let read = match self.canonicalizer.facts.has_failed() {
                    true => Ref::Unknown,
                    false => Ref::read(text),
                };
                operand.answers_mut().read_ref = Some(read);
                read
            }
        };
        let text = operand.text(role).unwrap_or_default();
        let branch_at = |name: usize| text.get(name..).unwrap_or_default();
        let branch_hit = |branch: &str| match names.name_branch(branch) {
            true => Hit::Exact,
            false => Hit::look_alike(names.may_name_branch(branch)),
        };
        let own = match read {
            Ref::Branch(name) => branch_hit(branch_at(name)),
            Ref::Either(one, other) => {
                let mut either = [one, other].into_iter().map(branch_at);
                Hit::look_alike(either.any(|branch| names.may_name_branch(branch)))
            }
            Ref::Current => match self.current_branches() {
                Some(branches) => branches
                    .iter()
                    .map(|branch| branch_hit(branch))
                    .max()
                    .unwrap_or(Hit::Miss),
                None => Hit::LookAlike,
            },
            Ref::Unknown => Hit::LookAlike,
        };
        match own {
            Hit::Miss => self.push_hit(names, at, role),
            Hit::LookAlike | Hit::Exact => own,
        }
    }
}

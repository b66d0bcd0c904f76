//! The things that judging can tell apart in a call: two calls in which it sees the same are judged alike. An
//! analysis looks at few values in several at once by it, and tests hold the regions against it.

use super::changes::changes;
use super::directory::lies_within;
use super::hits::Condition;
use super::operand::{Form, Operand};
use super::touch::may_concern;
use super::{Case, ceiling, checks, git, protected};
use crate::model::{Effect, ServerKind};
use crate::net::{Location, domain_matches_allowlist};
use crate::program::{Rule, RuleId};
use crate::role::RoleId;

/// One value as judging sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueSight {
    /// The tool's argument that it stands under; `None` for a value that the engine filled in.
    pub argument: Option<usize>,
    /// The text as given.
    pub text: String,
    /// `true` if it is what its role expects, such as one URL that every program reads alike. Otherwise it can look
    /// like several things at once.
    pub is_clear: bool,
    /// How it meets each condition that may look at it, each directory and each list of the engine.
    pub seen: Vec<u8>,
}

/// A call as judging sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// The roles of each argument, conditions resolved.
    pub roles: Vec<Vec<RoleId>>,
    /// `true` if there is an argument that nobody names.
    pub has_unknown: bool,
    /// `true` if a text without the role of a path looks like a protected one.
    pub looks_protected: bool,
    /// How the call meets the conditions of rules on its arguments.
    pub arguments: Vec<u8>,
    /// `true` if the capability ceiling refuses it.
    pub is_above: bool,
    /// Its values, in order.
    pub values: Vec<ValueSight>,
}

impl<'p> Case<'p, '_, '_> {
    /// The call as judging sees it; `None` for a call of an unknown tool, of a trusted server, and for one that is
    /// refused for its form.
    pub fn sight(&mut self) -> Option<Sight> {
        let tool = self.tool?;
        if self.arguments.refusal.is_some() || self.settings.is_trusted {
            return None;
        }
        if checks::resolvable_values(self).is_some() {
            return None;
        }
        let protected = protected::touched(self);
        let is_above = ceiling::check(self).is_some();
        git::default_remote(self);
        git::absent_branch(self);
        let rules: Vec<(RuleId, &Rule)> = self.program.rules_of(tool).collect();
        let mut values = Vec::with_capacity(self.operands.len());
        for at in 0..self.operands.len() {
            let seen = self.seen(&rules, at, &protected);
            values.extend(self.operands.get(at).map(|operand| ValueSight {
                argument: self.argument_of(operand),
                text: operand.given().to_owned(),
                is_clear: self.is_clear(operand),
                seen,
            }));
        }
        let mut arguments = Vec::new();
        for (_, rule) in &rules {
            for at in 0..rule.arguments.len() {
                arguments.push(self.meets_argument(tool, rule, at) as u8);
            }
        }
        if self.canonicalizer.facts.has_failed() {
            return None;
        }
        Some(Sight {
            roles: self.arguments.resolved.iter().map(<[RoleId]>::to_vec).collect(),
            has_unknown: self.arguments.unknown.is_some(),
            looks_protected: protected.is_text,
            arguments,
            is_above,
            values,
        })
    }

    fn is_clear(&self, operand: &Operand<'_, '_>) -> bool {
        !operand.bound.is_filled_in() && operand.each_location().all(Location::is_grantable)
    }

    /// How one value meets everything that it is held against.
    fn seen(&mut self, rules: &[(RuleId, &'p Rule)], at: usize, protected: &protected::Touched) -> Vec<u8> {
        let roles = self
            .operands
            .get(at)
            .map(|operand| operand.bound.role_set)
            .unwrap_or_default();
        // A protected path is denied, whatever else is seen of it.
        if protected.certain.contains(&at) {
            return vec![1];
        }
        let mut seen = vec![0, u8::from(protected.possible.contains(&at))];
        let changes = changes(self);
        for (id, rule) in rules {
            if let Some((of, directory)) = rule.paths.filter(|(of, _)| of.intersects(roles)) {
                let directory = self.directories.rule(&mut self.canonicalizer, directory);
                let Some(operand) = self.operands.get(at) else {
                    continue;
                };
                let grants = lies_within(operand, directory, Effect::Allow);
                let restricts = lies_within(operand, directory, Effect::Deny);
                let concerns = may_concern(operand, changes.get(at), directory, of);
                seen.push(u8::from(grants) | u8::from(restricts) << 1 | u8::from(concerns) << 2);
            }
            if let Some((of, set)) = &rule.domains {
                for role in of.intersection(roles).iter() {
                    seen.push(self.hit(Condition::domains(rule, *id, set), at, role) as u8);
                }
            }
            for (place, list) in rule.lists.iter().enumerate() {
                for role in list.roles.intersection(roles).iter() {
                    let condition = Condition::list(rule, *id, place, &list.matcher);
                    seen.push(self.hit(condition, at, role) as u8);
                }
            }
        }
        let operand = self.operands.get(at);
        if self.settings.is_sandboxed && roles.intersects(self.program.sandbox_roles) {
            let sandbox = self.directories.sandbox(&mut self.canonicalizer);
            seen.push(u8::from(operand.is_some_and(|operand| sandbox.holds(operand))));
        }
        // The existing runtime looks up no remote of a repository outside the sandbox.
        if let Some(path) = operand.and_then(Operand::path)
            && self.settings.kind == Some(ServerKind::Git)
            && !self.program.defaults.asks_all_repositories
        {
            let sandbox = self.directories.sandbox(&mut self.canonicalizer);
            seen.push(u8::from(sandbox.grants(path)));
        }
        seen.push(match operand.map(|operand| &operand.form) {
            Some(Form::Unknown) => 1,
            Some(Form::Path { .. } | Form::Address(_) | Form::Text | Form::Unresolvable(_)) | None => 0,
        });
        if let Some(place) = self.place_seen(at) {
            let answers = [place.is_visible, place.is_allowed, place.is_removed];
            seen.extend(answers.map(u8::from));
        }
        let program = self.program;
        if program.defaults.grants_clear_urls {
            for role in program.url_roles.intersection(roles).iter() {
                seen.push(u8::from(self.is_ungrantable(at, role)));
            }
        }
        if let Some((allowlist, patterns)) = &self.settings.allowlist {
            for role in program.url_roles.intersection(roles).iter() {
                let locations = self.locations(at, role);
                let outside = locations.iter().find(|one| allowlist.grants(one).is_none());
                seen.push(outside.map_or(0, |one| {
                    1 + u8::from(domain_matches_allowlist(one.display_domain(), patterns))
                }));
            }
        }
        seen
    }
}

//! A call before it is judged: the canonical forms of its values, and the values that conditions see.

use super::operand::Operand;
use super::world::PlaceSeen;
use super::{Case, checks, protected};
use crate::model::Effect;
use crate::net::Location;
use crate::program::{Rule, RuleId, Tool};
use crate::role::{RoleId, RoleSet};

/// One value in its canonical forms.
#[derive(Clone, Debug)]
pub struct ResolvedValue {
    /// The tool's argument that it stands under.
    pub argument: usize,
    /// `true` if it is the item of an array.
    pub is_item: bool,
    /// The canonical path, and where the link itself is that a call removes.
    pub paths: Vec<String>,
    /// The patterns of protected paths that match it, by their place in the program.
    pub patterns: Vec<usize>,
    /// The place that an address of the world names, and how the world answers to it.
    pub place: Option<ResolvedPlace>,
    /// The value under each of its roles.
    pub roles: Vec<ResolvedRole>,
}

/// A place in the world.
#[derive(Clone, Debug)]
pub struct ResolvedPlace {
    /// The root or the mod that the address begins with, and the path; `None` for what the mode does not see.
    pub at: Option<(String, String)>,
    /// How the world answers.
    pub seen: PlaceSeen,
}

/// A value under one role.
#[derive(Clone, Debug)]
pub struct ResolvedRole {
    /// The text that lists are compared with.
    pub text: String,
    /// The addresses that a mail program may read from it.
    pub addresses: Vec<String>,
    /// The places that it names as a URL or a host, with the text that each was read from; only if asked for.
    pub locations: Vec<Location>,
}

/// A call with the canonical forms of its values.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The roles of each argument, conditions resolved.
    pub roles: Vec<Vec<RoleId>>,
    /// How the call meets each condition of the tool's rules on arguments, as a grant and as a restriction.
    pub conditions: Vec<u8>,
    /// `true` if there is an argument that nobody names.
    pub has_unknown: bool,
    /// `true` if a text without the role of a path looks like a protected one.
    pub looks_protected: bool,
    /// The values that were given, in order.
    pub values: Vec<ResolvedValue>,
}

/// The things to look for in values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The roles under which hosts are read.
    pub hosts: RoleSet,
    /// Those under which addresses are read.
    pub emails: RoleSet,
}

impl<'p> Case<'p, '_, '_> {
    /// Resolves the call; `None` for a call of an unknown tool, and for one that is refused for its form.
    pub fn resolved(&mut self, wanted: Wanted) -> Option<Resolved> {
        let tool = self.tool?;
        if self.arguments.refusal.is_some() {
            return None;
        }
        if checks::resolvable_values(self).is_some() {
            return None;
        }
        let looks_protected = protected::touched(self).is_text;
        let conditions = self.each_condition(tool);
        let values = (0..self.operands.len()).filter_map(|at| self.resolved_value(at, wanted));
        let values = values.collect();
        (!self.canonicalizer.facts.has_failed()).then(|| Resolved {
            roles: self.arguments.resolved.iter().map(<[RoleId]>::to_vec).collect(),
            conditions,
            has_unknown: self.arguments.unknown.is_some(),
            looks_protected,
            values,
        })
    }

    /// The first byte says if roles of arguments are unsure in the call, the others how it meets each condition of the tool's rules on
    /// arguments, whether or not it is refused for its form.
    pub fn conditions_met(&mut self) -> Option<Vec<u8>> {
        let tool = self.tool?;
        // Conditions are held against what is sent as well.
        checks::resolvable_values(self);
        Some(self.each_condition(tool))
    }

    fn each_condition(&mut self, tool: &'p Tool) -> Vec<u8> {
        let rules: Vec<(RuleId, &Rule)> = self.program.rules_of(tool).collect();
        let mut conditions = vec![u8::from(self.arguments.has_unsure_roles)];
        for (_, rule) in rules {
            for (at, condition) in rule.arguments.iter().enumerate() {
                let met = self.meets_argument(tool, rule, at) as u8;
                let (surely, may) = self.given_meets(tool, condition, Effect::Deny);
                conditions.push(met | u8::from(surely) << 2 | u8::from(may) << 3);
            }
        }
        conditions
    }

    /// `None` for a value that the engine filled in.
    fn resolved_value(&mut self, at: usize, wanted: Wanted) -> Option<ResolvedValue> {
        let patterns = protected::patterns_of(self, at);
        let seen = self.place_seen(at);
        let operand = self.operands.get(at)?;
        let argument = self.argument_of(operand)?;
        let roles = operand.bound.roles;
        let is_item = !operand.bound.place.is_empty();
        let named = operand
            .located()
            .map(|located| (located.base().to_owned(), located.path.as_str().to_owned()));
        let place = seen.map(|seen| ResolvedPlace { at: named, seen });
        let paths = operand.paths().map(|path| path.as_str().to_owned()).collect();
        let mut found = Vec::with_capacity(roles.len());
        for role in roles {
            let locations = match wanted.hosts.contains(*role) {
                true => self.locations(at, *role).to_vec(),
                false => Vec::new(),
            };
            let addresses = match (wanted.emails.contains(*role), self.operands.get_mut(at)) {
                (true, Some(operand)) => self.canonicalizer.addresses(operand, *role).to_vec(),
                _ => Vec::new(),
            };
            found.push(ResolvedRole {
                text: self.text(at, *role).to_owned(),
                addresses,
                locations,
            });
        }
        Some(ResolvedValue {
            argument,
            is_item,
            paths,
            patterns,
            place,
            roles: found,
        })
    }

    /// The argument of the tool that the value stands under.
    pub(super) fn argument_of(&self, operand: &Operand<'_, '_>) -> Option<usize> {
        let (member, rank) = operand.bound.origin();
        let (name, _) = self.call.arguments.members().get(member?)?;
        self.tool?.member(name).arguments.get(rank).copied()
    }
}

//! The call that is judged, with everything that is given about it.

use smallvec::SmallVec;

use super::Task;
use super::operand::Operand;
use crate::bind::{BoundArguments, BoundValue, Call, PointerToken, Siblings};
use crate::model::ArgumentName;
use crate::path::Pathspec;
use crate::program::{Program, ServerSettings, Tool};
use crate::role::{RoleId, RoleSet, Step};
use crate::sort;
use crate::text::escape_token;

/// Indices of operands.
pub(super) type Values = SmallVec<[usize; 2]>;

/// A call, the program that judges it, and what was made of its arguments.
///
/// Two stages add to it, and nothing else changes it: `operands` makes the canonical forms, and `git` adds what an absent remote
/// stands for. They cannot be one stage with binding, since the checks between them decide which questions the host is asked.
pub(super) struct Inputs<'p, 'c> {
    pub(super) program: &'p Program,
    /// The configuration of the call's server.
    pub(super) settings: &'p ServerSettings,
    /// The tool, if it is annotated.
    pub(super) tool: Option<&'p Tool>,
    pub(super) call: &'c Call<'c>,
    /// Members that stood under an alias.
    pub(super) renamed: &'c [(usize, &'c str)],
    pub(super) arguments: BoundArguments<'p, 'c>,
    /// The roles that any argument of the tool has in this call.
    pub(super) roles: RoleSet,
    /// The values that have no canonical form yet.
    pub(super) pending: std::vec::IntoIter<BoundValue<'p, 'c>>,
    /// The values that have one.
    pub(super) operands: Vec<Operand<'p, 'c>>,
    /// The operands under each role.
    by_role: Vec<(RoleId, Values)>,
    /// The arguments that conditions of rules name; `None` until every value has its form.
    pub(super) siblings: Option<Siblings<'c>>,
    /// The patterns of a shell among the values, by the argument and the item in it.
    pub(super) patterns: Vec<(&'static str, usize, Pathspec)>,
}

impl<'p, 'c> Inputs<'p, 'c> {
    /// Binds the call's arguments to the roles of its tool, if that is annotated; the host is not asked.
    pub(super) fn bind(program: &'p Program, task: &Task<'p, 'c, '_>) -> Self {
        let (call, renamed) = match task.shape {
            Ok(Some(renamed)) => (&renamed.call, &*renamed.members),
            Ok(None) | Err(_) => (task.given, &[][..]),
        };
        let mut arguments = BoundArguments::default();
        match task.shape {
            Ok(_) => arguments.read(program, task.tool, call),
            Err(error) => arguments.refuse_shape(program, task.tool, call, error),
        }
        Self {
            program,
            settings: task.settings,
            tool: task.tool,
            call,
            renamed,
            pending: std::mem::take(&mut arguments.values).into_iter(),
            roles: arguments.resolved.all(),
            arguments,
            operands: Vec::new(),
            by_role: Vec::new(),
            siblings: None,
            patterns: Vec::new(),
        }
    }

    /// Files the operands under their roles, once there are no more to come.
    pub(super) fn file_operands(&mut self) {
        self.by_role.clear();
        for (at, operand) in self.operands.iter().enumerate() {
            for role in operand.bound.role_set.iter() {
                match self.by_role.iter_mut().find(|(known, _)| *known == role) {
                    Some((_, values)) => values.push(at),
                    None => self.by_role.push((role, Values::from_slice(&[at]))),
                }
            }
        }
    }

    /// Reads the arguments that conditions of rules name.
    pub(super) fn read_siblings(&mut self) {
        let Some(tool) = self.tool else { return };
        let is_careful = self.program.defaults.reads_values;
        let schema = |name: &str| is_careful.then(|| &tool.member(name).schema);
        let (arguments, limits) = (&self.call.arguments, &self.program.limits);
        self.siblings = Some(Siblings::new(&tool.conditioned, arguments, limits, schema));
    }

    /// The operands under the role.
    pub(super) fn values_of(&self, role: RoleId) -> &[usize] {
        let filed = self.by_role.iter().find(|(known, _)| *known == role);
        filed.map_or(&[], |(_, values)| values)
    }

    /// The operands in the order of the arguments that hold them, and of their places in these.
    pub(super) fn operands_by_place(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.operands.len()).collect();
        sort::sort_by(&mut order, |one, other| {
            self.place_of(*one).cmp(&self.place_of(*other))
        });
        order
    }

    /// The argument that holds an operand, and the place in it.
    pub(super) fn place_of(&self, at: usize) -> Option<(Option<usize>, &[PointerToken])> {
        let bound = &self.operands.get(at)?.bound;
        Some((bound.argument, &bound.place))
    }

    pub(super) fn server(&self) -> &'c str {
        &self.call.server
    }

    /// Returns `true` if an argument of the call is an address, so that no path of the host may be revealed.
    pub(super) fn has_addresses(&self) -> bool {
        self.roles.intersects(self.program.address_roles)
    }

    /// Returns `true` if reasons name the arguments that they are about; those of the existing runtime do not.
    pub(super) fn names_arguments(&self) -> bool {
        self.program.defaults.names_arguments
    }

    /// The name of an argument; empty for a value that the engine filled in.
    pub(super) fn name_of(&self, argument: Option<usize>) -> &'c str {
        let member = argument.and_then(|at| self.call.arguments.members().get(at));
        member.map_or("", |(name, _)| name)
    }

    /// The name of the argument that holds the value, or for which the server takes it.
    pub(super) fn name_of_value<'n>(&self, bound: &BoundValue<'n, '_>) -> &'n str
    where
        'c: 'n,
    {
        match bound.absent {
            Some(argument) => argument.name.first().unwrap_or_default(),
            None => self.name_of(bound.argument),
        }
    }

    /// Where the value stands, as a JSON Pointer (RFC 6901); empty for a value that the engine filled in.
    pub(super) fn pointer(&self, bound: &BoundValue<'_, '_>) -> String {
        if let Some(argument) = bound.absent {
            return match &argument.name {
                ArgumentName::Top(name) => format!("/{}", escape_token(name)),
                pointer @ ArgumentName::Pointer(_) => pointer.to_string(),
            };
        }
        if bound.argument.is_none() {
            return String::new();
        }
        let start = format!("/{}", escape_token(self.name_of(bound.argument)));
        bound.place.iter().fold(start, |pointer, place| match place {
            PointerToken::Item(item) => format!("{pointer}/{item}"),
            PointerToken::Member(name) => format!("{pointer}/{}", escape_token(name)),
        })
    }

    /// The argument of the tool that the value stands under.
    pub(super) fn argument_of(&self, operand: &Operand<'_, '_>) -> Option<usize> {
        let (member, rank) = operand.bound.origin();
        let (name, _) = self.call.arguments.members().get(member?)?;
        self.tool?.member(name).arguments.get(rank).copied()
    }

    /// Returns `true` if a role of the argument redacts its values.
    pub(super) fn redacts(&self, argument: &str) -> bool {
        let Some(tool) = self.tool else { return false };
        let arguments = &tool.member(argument).arguments;
        let roles = arguments.iter().filter_map(|at| self.arguments.resolved.get(*at));
        roles
            .flatten()
            .any(|role| self.program.registry.get(*role).extract_policy_value == Some(Step::Redact))
    }
}

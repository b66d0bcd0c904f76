//! The compiled configuration: immutable, indexed, and all that judging looks at.
//!
//! Documents are read once; here they are numbers, sorted slices and sets. The index answers
//! "which rules can say anything about this tool and this role" without walking the policy.

mod ceiling;
mod compared;
mod compile;
mod denied;
mod index;
mod lists;
mod mailbox;
mod protected;
mod server;

pub(crate) use ceiling::{ArgumentConstraint, Ceiling, Constrained, ToolCeiling};
#[cfg(feature = "analysis")]
pub(crate) use ceiling::{Pattern, PatternPlace};
pub(crate) use compile::compile;
pub(crate) use index::{Index, RoleIndex};
pub(crate) use lists::{Identifiers, ListMatcher};
pub(crate) use mailbox::{cost_of_reading as cost_of_addresses, readable as readable_addresses};
pub(crate) use protected::{ProtectedPattern, Protection};
pub(crate) use server::ServerSettings;
use server::{ToolKey, ToolName};

#[cfg(feature = "analysis")]
use std::collections::BTreeSet;
use std::sync::Arc;

use smallvec::SmallVec;

pub(crate) use crate::config::{Compatibility, RelativePaths, ServerPath, UnknownArguments};
use crate::host::Facts;
use crate::limits::Limits;
use crate::model::{Absent, Argument, Condition, Effect, PointerTree, SandboxOrder, SchemaType, Semantics};
use crate::net::DomainSet;
use crate::path::{PathCase, Resolver};
use crate::role::{Registry, RoleId, RoleSet};
use crate::table::{Table, TextTable};
use crate::world::World;

/// Everything that judging needs, besides the call and the host.
pub(crate) struct Program {
    pub(crate) registry: Registry,
    pub(crate) limits: Limits,
    pub(crate) home: Box<str>,
    pub(crate) current: Box<str>,
    pub(crate) unknown_arguments: UnknownArguments,
    /// The arguments that clients add to the calls of every tool.
    #[cfg(feature = "analysis")]
    pub(crate) client_arguments: BTreeSet<Box<str>>,
    pub(crate) heuristic_paths: bool,
    pub(crate) path_case: PathCase,
    pub(crate) compatibility: Compatibility,
    pub(crate) relative_paths: RelativePaths,
    /// Places in `tools`, by server and name.
    places: Table<ToolKey, usize>,
    /// The configuration of each server.
    servers: TextTable<ServerSettings>,
    /// The configuration of every other server.
    unnamed_server: ServerSettings,
    /// The roles that the sandbox decides about, and when.
    pub(crate) sandbox_roles: RoleSet,
    pub(crate) sandbox_order: SandboxOrder,
    /// Sorted by server, then name.
    pub(crate) tools: Box<[Tool]>,
    pub(crate) rules: Box<[Rule]>,
    pub(crate) index: Index,
    /// The distinct directories of `paths.within`, absolute and lexical.
    pub(crate) directories: Box<[Box<str>]>,
    /// The paths that no call may touch.
    pub(crate) protected: Protection,
    /// The directories of the sandbox, absolute and lexical, each once; relative paths are relative to the first.
    pub(crate) sandbox: Box<[Box<str>]>,
    /// The most that calls may do.
    pub(crate) ceiling: Option<Ceiling>,
    /// Roles that name resources, and so are judged.
    pub(crate) resource_roles: RoleSet,
    /// Roles whose values are read: of resources, of git revisions, those in list conditions (or, under the careful
    /// defaults, in any condition), and those that preparing may change.
    pub(crate) valued_roles: RoleSet,
    /// Roles that a condition of some rule names.
    #[cfg(feature = "analysis")]
    pub(crate) ruled_roles: RoleSet,
    /// Roles under which everything must be of a form that the annotation describes: those of resources and, under the careful
    /// defaults, those that rules name.
    pub(crate) judged_roles: RoleSet,
    /// Roles that list conditions name.
    pub(crate) listed_roles: RoleSet,
    /// Roles of category path.
    pub(crate) path_roles: RoleSet,
    /// Roles of category url.
    pub(crate) url_roles: RoleSet,
    /// Roles whose values have to be names.
    pub(crate) name_roles: RoleSet,
    /// Roles of category address.
    pub(crate) address_roles: RoleSet,
    /// The world that addresses lead into, if the engine has one.
    pub(crate) world: Option<World>,
}

/// One annotated tool.
pub(crate) struct Tool {
    pub(crate) server: Box<str>,
    pub(crate) name: Box<str>,
    /// The place of its server in [`Program::servers`](Program).
    settings: usize,
    /// In the annotation's order, which is that of the roles.
    pub(crate) arguments: Box<[Argument]>,
    /// `None` where the roles of an argument depend on the call.
    fixed_roles: Option<RoleSets>,
    /// The members that the annotation or the schema names.
    members: TextTable<ToolMember>,
    /// The rules for every other member.
    unnamed: ToolMember,
    /// The keys that other names stand for, by these names.
    pub(crate) aliases: TextTable<Box<str>>,
    /// `true` if paths of some arguments are relative to another one.
    pub(crate) has_bases: bool,
    /// The members that the schema requires.
    pub(crate) required: Box<[Box<str>]>,
    /// The parts of the index whose rules can match this tool.
    pub(crate) scopes: Box<[usize]>,
    /// The places that conditions of these rules look at. Tools share it where these are the same rules.
    pub(crate) conditioned: Arc<PointerTree>,
    /// The places that the conditions of its own arguments look at.
    pub(crate) siblings: PointerTree,
    /// The tool's semantics, beyond what its arguments name.
    pub(crate) semantics: Semantics,
    /// The capability ceiling as it concerns the tool.
    pub(crate) ceiling: ToolCeiling,
    /// The reason of the default denial of a call without a resource role, which names the tool alone. `None` if every call has
    /// such a role, and where reasons name nothing.
    pub(crate) default_reason: Option<Box<str>>,
}

/// The reason of the default denial.
pub(crate) const DEFAULT_REASON: &str = "No matching policy rule -- denied by default";

/// Comes after it in a reason that names the part of the call that no rule decides about.
pub(crate) const UNDECIDED: &str = ": no rule decides about ";

/// The annotation and schema of one member of the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolMember {
    /// `true` if the annotation or the schema names it, or if members that neither names are accepted.
    pub(crate) is_known: bool,
    /// `true` if the annotation names it or something inside it.
    pub(crate) is_annotated: bool,
    /// Indices into [`Tool::arguments`] of those that name it or something inside it.
    pub(crate) arguments: Box<[usize]>,
    /// The pointers of these, each by its place in `arguments`.
    pub(crate) pointers: PointerTree,
    /// The types that the schema gives it.
    pub(crate) schema: SchemaType,
    /// Its place in [`Tool::required`], if the schema requires it.
    pub(crate) required: Option<usize>,
}

impl Tool {
    /// Returns `true` if the other tool is read alike, whatever rules say of it.
    #[cfg(feature = "analysis")]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.arguments == other.arguments
            && self.members == other.members
            && self.unnamed == other.unnamed
            && self.required == other.required
            && self.semantics == other.semantics
    }

    /// Returns `true` if the tool executes, sends or publishes, by its annotation and the roles that it has in a call: more
    /// happens than what its paths name.
    pub(crate) fn acts(&self, roles: RoleSet) -> bool {
        self.semantics.acts(roles)
    }

    /// Makes the [reason](Self::default_reason), unless every call has one of the `resource` roles.
    fn make_default_reason(&mut self, resource: RoleSet) {
        let is_sure = self
            .fixed_roles
            .as_ref()
            .is_some_and(|roles| roles.all.intersects(resource) && !self.acts(roles.all));
        if !is_sure {
            let parts = [
                DEFAULT_REASON,
                UNDECIDED,
                "calls of ",
                &self.server,
                "/",
                &self.name,
            ];
            self.default_reason = Some(parts.concat().into());
        }
    }

    /// The members that the annotation or the schema names.
    pub(crate) fn member_names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(|name| &**name)
    }

    /// Returns `true` if the annotation, the schema or an alias names the member.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.members.get(name).is_some() || self.semantics.arg_schema.arg_aliases.contains_key(name)
    }

    /// How many members it names so.
    #[cfg(feature = "analysis")]
    pub(crate) fn known_names(&self) -> usize {
        self.members.len() + self.semantics.arg_schema.arg_aliases.len()
    }

    /// The annotation and schema of the member with this name.
    pub(crate) fn member(&self, name: &str) -> &ToolMember {
        let found = match self.members.as_slice() {
            few if few.len() <= FEW_MEMBERS => few
                .iter()
                .find_map(|(known, member)| (**known == *name).then_some(member)),
            _ => self.members.get(name),
        };
        found.unwrap_or(&self.unnamed)
    }
}

impl Program {
    /// The configuration of a server.
    pub(crate) fn server(&self, name: &str) -> &ServerSettings {
        self.servers.get(name).unwrap_or(&self.unnamed_server)
    }

    /// The servers whose every call is allowed, in order.
    #[cfg(feature = "analysis")]
    pub(crate) fn trusted_servers(&self) -> impl Iterator<Item = &str> {
        let trusted = self.servers.iter().filter(|(_, server)| server.is_trusted);
        crate::sort::set(trusted.map(|(name, _)| &**name)).into_iter()
    }

    /// The servers that a document names.
    #[cfg(feature = "analysis")]
    pub(crate) fn server_names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(|name| &**name)
    }

    /// The annotated tool.
    pub(crate) fn tool(&self, server: &str, name: &str) -> Option<&Tool> {
        let name = ToolName { server, tool: name };
        self.tools.get(*self.places.get(&name)?)
    }

    /// The configuration of a server, and its tool, if it is annotated.
    pub(crate) fn server_and_tool(&self, server: &str, name: &str) -> (&ServerSettings, Option<&Tool>) {
        let tool = self.tool(server, name);
        let settings = tool.and_then(|tool| self.servers.get_index(tool.settings));
        let settings = settings.map(|(_, settings)| settings);
        (settings.unwrap_or_else(|| self.server(server)), tool)
    }

    /// Resolves paths with the answers in `facts`.
    pub(crate) fn resolver<'a, 'h>(&'a self, facts: &'a mut Facts<'h>) -> Resolver<'a, 'h> {
        Resolver {
            facts,
            home: &self.home,
            limits: &self.limits,
            path_case: self.path_case,
        }
    }

    pub(crate) fn rule(&self, rule: RuleId) -> Option<&Rule> {
        self.rules.get(rule as usize)
    }
}

/// The most members that are compared with a name one by one, which takes less time than to hash the name.
const FEW_MEMBERS: usize = 12;

/// A rule's index in the policy.
pub(crate) type RuleId = u32;

/// A directory's index in [`Program::directories`].
pub(crate) type DirectoryId = u32;

/// One rule. Its conditions on server and tool are in the index.
pub(crate) struct Rule {
    pub(crate) name: Box<str>,
    pub(crate) reason: Box<str>,
    pub(crate) effect: Effect,
    /// `if.roles`.
    pub(crate) roles: Option<RoleSet>,
    /// `if.paths`.
    pub(crate) paths: Option<(RoleSet, DirectoryId)>,
    /// `if.domains` and its roles.
    pub(crate) domains: Option<(RoleSet, DomainSet)>,
    /// `if.lists`.
    pub(crate) lists: Box<[ListCondition]>,
    /// `if.args`.
    pub(crate) arguments: Box<[Condition]>,
    /// The texts that each of them compares with, in the form of the roles that the argument may have.
    pub(crate) argument_lists: Box<[Box<[ListMatcher]>]>,
    /// The roles that the rule is relevant to.
    pub(crate) relevant: RoleSet,
    /// Every role that a condition names.
    pub(crate) named: RoleSet,
    /// `true` if it names a tool.
    pub(crate) names_tool: bool,
}

impl Rule {
    /// The roles of each condition that looks at values.
    pub(crate) fn value_conditions(&self) -> Vec<RoleSet> {
        let paths = self.paths.map(|(roles, _)| roles);
        let domains = self.domains.as_ref().map(|(roles, _)| *roles);
        paths
            .into_iter()
            .chain(domains)
            .chain(self.lists.iter().map(|list| list.roles))
            .collect()
    }

    /// Returns `true` if it asks about what lies outside of the sandbox: it speaks of servers, path roles and places alone.
    pub(crate) fn asks_about_places(&self, path_roles: RoleSet) -> bool {
        self.effect == Effect::Escalate
            && !self.names_tool
            && self.lists.is_empty()
            && self.arguments.is_empty()
            && self.named.without(path_roles).is_empty()
    }

    /// The condition by which the index finds the rule, if there is one.
    pub(crate) fn keyed_condition(&self) -> Option<&'static str> {
        if self.domains.is_some() {
            Some("domains")
        } else if !self.lists.is_empty() {
            Some("lists")
        } else {
            self.paths.map(|_| "paths")
        }
    }
}

/// One entry of `if.lists`.
pub(crate) struct ListCondition {
    pub(crate) roles: RoleSet,
    pub(crate) matcher: ListMatcher,
}

/// The roles of each argument of a tool in one call, in the annotation's order.
#[derive(Default)]
pub(crate) struct ResolvedRoles<'p> {
    tool: Option<&'p Tool>,
    /// `None` where no roles depend on the call.
    resolved: Option<Box<Resolved<'p>>>,
}

/// The roles of arguments in a call on which some depend.
struct Resolved<'p> {
    roles: Vec<&'p [RoleId]>,
    sets: RoleSets,
}

impl<'p> ResolvedRoles<'p> {
    /// Makes these the roles of a tool; `resolve` holds the conditions of its arguments against the call, if it has any.
    pub(crate) fn set(&mut self, tool: &'p Tool, resolve: impl FnOnce(&'p [Argument]) -> Vec<&'p [RoleId]>) {
        self.tool = Some(tool);
        if tool.fixed_roles.is_none() {
            let roles = resolve(&tool.arguments);
            let sets = RoleSets::new(roles.iter().copied());
            self.resolved = Some(Box::new(Resolved { roles, sets }));
        }
    }

    /// Leaves these roles to the tool's arguments at these places, whose values have no others in this call.
    pub(crate) fn narrow(&mut self, narrowed: impl Iterator<Item = (usize, &'p [RoleId])>) {
        let Some(resolved) = &mut self.resolved else {
            return;
        };
        for (at, found) in narrowed {
            if let Some(roles) = resolved.roles.get_mut(at) {
                *roles = found;
            }
        }
        resolved.sets = RoleSets::new(resolved.roles.iter().copied());
    }

    /// The roles of the tool's argument at this place.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&'p [RoleId]> {
        match &self.resolved {
            Some(resolved) => resolved.roles.get(at).copied(),
            None => Some(self.tool?.arguments.get(at)?.roles.by_default()),
        }
    }

    fn sets(&self) -> Option<&RoleSets> {
        match &self.resolved {
            Some(resolved) => Some(&resolved.sets),
            None => self.tool?.fixed_roles.as_ref(),
        }
    }

    /// The roles of the tool's argument at this place as a set. It is empty if the tool has no such argument.
    pub(crate) fn set_of(&self, at: usize) -> RoleSet {
        let sets = self.sets();
        let set = sets.and_then(|roles| roles.of_arguments.get(at));
        set.copied().unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'p [RoleId]> + Clone {
        let count = self.tool.map_or(0, |tool| tool.arguments.len());
        (0..count).filter_map(|at| self.get(at))
    }

    /// Every role.
    pub(crate) fn all(&self) -> RoleSet {
        self.sets().map_or(RoleSet::default(), |roles| roles.all)
    }

    /// Every role once, in order; `found` holds them where they depend on the call.
    pub(crate) fn ordered<'f>(&self, found: &'f mut RoleList) -> &'f [RoleId]
    where
        'p: 'f,
    {
        match (&self.resolved, self.tool) {
            (Some(resolved), _) => {
                found.clone_from(&resolved.sets.distinct);
                found
            }
            (None, Some(tool)) => tool.fixed_roles.as_ref().map_or(&[], |roles| &roles.distinct),
            (None, None) => &[],
        }
    }
}

/// The roles of a tool's arguments as sets.
pub(crate) struct RoleSets {
    /// Those of each argument.
    of_arguments: Box<[RoleSet]>,
    all: RoleSet,
    /// Each once, in order.
    distinct: RoleList,
}

impl RoleSets {
    fn new<'r>(roles: impl Iterator<Item = &'r [RoleId]> + Clone) -> Self {
        Self {
            of_arguments: roles
                .clone()
                .map(|roles| roles.iter().copied().collect())
                .collect(),
            all: roles.clone().flatten().copied().collect(),
            distinct: distinct(roles, RoleSet::ALL),
        }
    }

    /// Those of these arguments, unless some depend on the call.
    pub(crate) fn fixed(arguments: &[Argument]) -> Option<Self> {
        let is_fixed = arguments.iter().all(|argument| {
            let may_be_none = argument.is_narrowed() || argument.absent == Some(Absent::Nothing);
            !argument.roles.is_conditional() && !may_be_none
        });
        is_fixed.then(|| Self::new(arguments.iter().map(|argument| argument.roles.by_default())))
    }
}

/// Roles in some order, each once.
pub(crate) type RoleList = SmallVec<[RoleId; 16]>;

/// The wanted ones of the roles, each once, in order.
pub(crate) fn distinct<'r>(roles: impl Iterator<Item = &'r [RoleId]>, wanted: RoleSet) -> RoleList {
    let mut seen = RoleSet::default();
    let mut distinct = RoleList::new();
    for role in roles.flatten().copied() {
        if wanted.contains(role) && !seen.contains(role) {
            seen.insert(role);
            distinct.push(role);
        }
    }
    distinct
}

//! The compiled configuration: immutable, indexed, and all that judging looks at.
//!
//! Documents are read once; here they are numbers, sorted slices and sets. The index answers
//! "which rules can say anything about this tool and this role" without walking the policy.

mod ceiling;
mod compared;
mod compile;
mod counter;
mod defaults;
mod denied;
mod index;
mod lists;
mod mailbox;
mod protected;
mod server;
mod shell;
mod tools;

pub use ceiling::{ArgumentConstraint, Ceiling, Constrained, ToolCeiling};
pub use ceiling::{Pattern, PatternPlace};
pub use compile::compile;
pub use counter::Counter;
pub use defaults::Defaults;
pub use index::{Index, PairOf, RoleIndex};
pub use lists::{Identifiers, ListMatcher};
pub use mailbox::{cost_of_addresses, readable as readable_addresses};
pub use protected::{ProtectedPath, ProtectedPattern, Protection};
pub use server::ServerSettings;
use server::{ToolKey, ToolName};
pub use shell::Shell;

use std::collections::BTreeSet;
use std::sync::Arc;

use smallvec::SmallVec;

pub use crate::config::{RelativePaths, ServerPath, UnknownArguments};
use crate::glob::NamePattern;
use crate::host::Facts;
use crate::limits::Limits;
use crate::model::{
    Absent, Argument, Caller, Condition, Effect, PointerTree, SandboxOrder, SchemaType, Semantics,
};
use crate::net::DomainSet;
use crate::path::{PathCase, Resolver};
use crate::role::{Registry, RoleId, RoleSet};
use crate::table::{Set, Table, TextTable};
use crate::world::World;

/// Everything that judging needs, besides the call and the host.
pub struct Program {
    pub registry: Registry,
    pub limits: Limits,
    pub home: Box<str>,
    pub current: Box<str>,
    pub unknown_arguments: UnknownArguments,
    /// The arguments that clients add to the calls of every tool.
    pub client_arguments: BTreeSet<Box<str>>,
    pub heuristic_paths: bool,
    pub path_case: PathCase,
    pub defaults: Defaults,
    pub relative_paths: RelativePaths,
    /// Places in `tools`, by server and name.
    places: Table<ToolKey, usize>,
    /// The configuration of each server.
    servers: TextTable<ServerSettings>,
    /// The configuration of every other server.
    unnamed_server: ServerSettings,
    /// The roles that the sandbox decides about, and when.
    pub sandbox_roles: RoleSet,
    pub sandbox_order: SandboxOrder,
    /// Sorted by server, then name.
    pub tools: Box<[Tool]>,
    pub rules: Box<[Rule]>,
    /// What the host counts.
    pub counters: Box<[Counter]>,
    pub(crate) index: Index,
    /// The distinct directories of `paths.within`, absolute and lexical.
    pub directories: Set<Box<str>>,
    /// The paths that no call may touch.
    pub protected: Protection,
    /// The directories of the sandbox, absolute and lexical, each once; relative paths are relative to the first.
    pub sandbox: Box<[Box<str>]>,
    /// The most that calls may do.
    pub ceiling: Option<Ceiling>,
    /// Roles that name resources, and so are judged.
    pub resource_roles: RoleSet,
    /// Roles whose values are read: of resources, of git revisions, those in list conditions (or, under the careful
    /// defaults, in any condition), and those that preparing may change.
    pub valued_roles: RoleSet,
    /// Roles that a condition of some rule names.
    pub ruled_roles: RoleSet,
    /// Roles under which everything must be of a form that the annotation describes: those of resources and, under the careful
    /// defaults, those that rules name.
    pub judged_roles: RoleSet,
    /// Roles that list conditions name.
    pub listed_roles: RoleSet,
    /// Roles of category path.
    pub path_roles: RoleSet,
    /// Roles of category url.
    pub url_roles: RoleSet,
    /// Roles whose values have to be names.
    pub name_roles: RoleSet,
    /// Roles of category address.
    pub address_roles: RoleSet,
    /// The programs of shells, if an argument of a tool may be a command of one.
    pub shell: Option<Shell>,
    /// The world that addresses lead into, if the engine has one.
    pub world: Option<World>,
}

/// One annotated tool.
pub struct Tool {
    pub server: Box<str>,
    pub name: Box<str>,
    /// The place of its server in [`Program::servers`](Program).
    settings: usize,
    /// In the annotation's order, which is that of the roles.
    pub arguments: Box<[Argument]>,
    /// `None` where the roles of an argument depend on the call.
    fixed_roles: Option<RoleSets>,
    /// The members that the annotation or the schema names.
    members: TextTable<ToolMember>,
    /// The rules for every other member.
    unnamed: ToolMember,
    /// The keys that other names stand for, by these names.
    pub aliases: TextTable<Box<str>>,
    /// `true` if paths of some arguments are relative to another one.
    pub has_bases: bool,
    /// The members that the schema requires.
    pub required: Box<[Box<str>]>,
    /// The parts of the index whose rules can match this tool.
    pub scopes: Box<[usize]>,
    /// The places that conditions of these rules look at. Tools share it where these are the same rules.
    pub conditioned: Arc<PointerTree>,
    /// The places that the conditions of its own arguments look at.
    pub siblings: PointerTree,
    /// The tool's semantics, beyond what its arguments name.
    pub semantics: Semantics,
    /// The effect of a call in which no resource is named and no rule of its own decides, where the annotation says it.
    pub unjudged: Option<Effect>,
    /// The role of arguments that nobody names, where the annotation says what such calls may do.
    pub unnamed_roles: RoleSet,
    /// `true` if it is a program of a shell: what no rule decides about it is asked about, so that a rule that denies is looked for.
    pub is_program: bool,
    /// The capability ceiling as it concerns the tool.
    pub ceiling: ToolCeiling,
    /// The reason of the default denial of a call without a resource role, which names the tool alone. `None` if every call has
    /// such a role, and where reasons name nothing.
    pub default_reason: Option<Box<str>>,
}

/// The reason of the default denial.
pub const DEFAULT_REASON: &str = "No matching policy rule -- denied by default";

/// Comes after it in a reason that names the part of the call that no rule decides about.
pub const UNDECIDED: &str = ": no rule decides about ";

/// The annotation and schema of one member of the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolMember {
    /// `true` if the annotation or the schema names it, or if members that neither names are accepted.
    pub is_known: bool,
    /// `true` if the annotation names it or something inside it.
    pub is_annotated: bool,
    /// Indices into [`Tool::arguments`] of those that name it or something inside it.
    pub arguments: Box<[usize]>,
    /// The pointers of these, each by its place in `arguments`.
    pub pointers: PointerTree,
    /// The types that the schema gives it.
    pub schema: SchemaType,
    /// Its place in [`Tool::required`], if the schema requires it.
    pub required: Option<usize>,
}

impl Tool {
    /// Returns `true` if the other tool is read alike, whatever rules say of it.
    pub fn is_same(&self, other: &Self) -> bool {
        self.arguments == other.arguments
            && self.members == other.members
            && self.unnamed == other.unnamed
            && self.required == other.required
            && self.semantics == other.semantics
            && self.unjudged == other.unjudged
    }

    /// Returns `true` if the tool executes, sends or publishes, by its annotation and the roles that it has in a call: more
    /// happens than what its paths name.
    pub fn acts(&self, roles: RoleSet) -> bool {
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

    /// Lets arguments that nobody names be data, where the annotation says what calls may do whose arguments name no resource.
    fn take_unnamed(&mut self, has_schema: bool, resource: RoleSet) {
        let mut roles = self
            .arguments
            .iter()
            .flat_map(|argument| argument.roles.possible());
        let is_opaque = !has_schema && !roles.any(|role| resource.contains(role));
        if let Some(effect) = self.unjudged.filter(|_| is_opaque) {
            self.unnamed.is_known = true;
            self.unnamed_roles = match effect {
                Effect::Allow => RoleId::TEXT.into(),
                Effect::Escalate | Effect::Deny => RoleId::NONE.into(),
            };
        }
    }

    /// The members that the annotation or the schema names.
    pub fn member_names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(|name| &**name)
    }

    /// Returns `true` if the annotation, the schema or an alias names the member.
    pub fn names(&self, name: &str) -> bool {
        self.members.get(name).is_some() || self.semantics.arg_schema.arg_aliases.contains_key(name)
    }

    /// How many members it names so.
    pub fn known_names(&self) -> usize {
        self.members.len() + self.semantics.arg_schema.arg_aliases.len()
    }

    /// The annotation and schema of the member with this name.
    pub fn member(&self, name: &str) -> &ToolMember {
        self.members.get(name).unwrap_or(&self.unnamed)
    }
}

impl Program {
    /// The configuration of a server.
    pub fn server(&self, name: &str) -> &ServerSettings {
        self.servers.get(name).unwrap_or(&self.unnamed_server)
    }

    /// The servers whose every call is allowed, in order.
    pub fn trusted_servers(&self) -> impl Iterator<Item = &str> {
        let trusted = self.servers.iter().filter(|(_, server)| server.is_trusted);
        crate::sort::set(trusted.map(|(name, _)| &**name)).into_iter()
    }

    /// The servers that a document names.
    pub fn server_names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(|name| &**name)
    }

    /// The annotated tool.
    pub fn tool(&self, server: &str, name: &str) -> Option<&Tool> {
        let name = ToolName { server, tool: name };
        self.tools.get(*self.places.get(&name)?)
    }

    /// The configuration of a server, and its tool, if it is annotated.
    pub fn server_and_tool(&self, server: &str, name: &str) -> (&ServerSettings, Option<&Tool>) {
        let tool = self.tool(server, name);
        let settings = tool.and_then(|tool| self.servers.get_index(tool.settings));
        let settings = settings.map(|(_, settings)| settings);
        (settings.unwrap_or_else(|| self.server(server)), tool)
    }

    /// Resolves paths with the answers in `facts`.
    pub fn resolver<'a, 'h>(&'a self, facts: &'a mut Facts<'h>) -> Resolver<'a, 'h> {
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

/// A rule's index in the policy.
pub type RuleId = u32;

/// A directory's index in [`Program::directories`].
pub type DirectoryId = u32;

/// One rule. Its conditions on server and tool are in the index.
pub struct Rule {
    pub name: Box<str>,
    pub reason: Box<str>,
    pub effect: Effect,
    /// `if.roles`.
    pub roles: Option<RoleSet>,
    /// `if.paths`.
    pub paths: Option<(RoleSet, DirectoryId)>,
    /// `if.domains` and its roles.
    pub domains: Option<(RoleSet, DomainSet)>,
    /// `if.lists`.
    pub lists: Box<[ListCondition]>,
    /// `if.args`.
    pub arguments: Box<[Condition]>,
    /// The texts that each of them compares with, in the form of the roles that the argument may have.
    pub argument_lists: Box<[Box<[ListMatcher]>]>,
    /// `if.context`.
    pub context: Box<[(Caller, Vec<NamePattern>)]>,
    /// `if.counts`: the most of each with which it allows, or the least with which it restricts.
    pub counts: Box<[(Box<str>, u64)]>,
    /// The roles that the rule is relevant to.
    pub relevant: RoleSet,
    /// Every role that a condition names.
    pub named: RoleSet,
    /// `true` if it names a tool.
    pub names_tool: bool,
}

impl Rule {
    /// The roles of each condition that looks at values.
    pub fn value_conditions(&self) -> Vec<RoleSet> {
        let paths = self.paths.map(|(roles, _)| roles);
        let domains = self.domains.as_ref().map(|(roles, _)| *roles);
        paths
            .into_iter()
            .chain(domains)
            .chain(self.lists.iter().map(|list| list.roles))
            .collect()
    }

    /// Returns `true` if it asks about what lies outside of the sandbox: it speaks of servers, path roles and places alone, whoever asks and
    /// however often.
    pub fn asks_about_places(&self, path_roles: RoleSet) -> bool {
        self.effect == Effect::Escalate
            && !self.names_tool
            && self.lists.is_empty()
            && self.arguments.is_empty()
            && self.context.is_empty()
            && self.counts.is_empty()
            && self.named.without(path_roles).is_empty()
    }
}

/// One entry of `if.lists`.
pub struct ListCondition {
    pub roles: RoleSet,
    pub matcher: ListMatcher,
}

/// The roles of each argument of a tool in one call, in the annotation's order.
#[derive(Default)]
pub struct ResolvedRoles<'p> {
    tool: Option<&'p Tool>,
    /// `None` where no roles depend on the call.
    resolved: Option<Resolved<'p>>,
}

/// The roles of arguments in a call on which some depend.
struct Resolved<'p> {
    roles: Vec<&'p [RoleId]>,
    sets: RoleSets,
}

impl<'p> ResolvedRoles<'p> {
    /// Makes these the roles of a tool; `resolve` holds the conditions of its arguments against the call, if it has any.
    pub fn set(&mut self, tool: &'p Tool, resolve: impl FnOnce(&'p [Argument]) -> Vec<&'p [RoleId]>) {
        self.tool = Some(tool);
        if tool.fixed_roles.is_none() {
            let roles = resolve(&tool.arguments);
            let sets = RoleSets::new(roles.iter().copied());
            self.resolved = Some(Resolved { roles, sets });
        }
    }

    /// Leaves these roles to the tool's arguments at these places, whose values have no others in this call.
    pub fn narrow(&mut self, narrowed: impl Iterator<Item = (usize, &'p [RoleId])>) {
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
    pub fn get(&self, at: usize) -> Option<&'p [RoleId]> {
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
    pub fn set_of(&self, at: usize) -> RoleSet {
        let sets = self.sets();
        let set = sets.and_then(|roles| roles.of_arguments.get(at));
        set.copied().unwrap_or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = &'p [RoleId]> + Clone {
        let count = self.tool.map_or(0, |tool| tool.arguments.len());
        (0..count).filter_map(|at| self.get(at))
    }

    /// Every role.
    pub fn all(&self) -> RoleSet {
        self.sets().map_or(RoleSet::default(), |roles| roles.all)
    }

    /// Every role once, in order; `found` holds them where they depend on the call.
    pub fn ordered<'f>(&self, found: &'f mut RoleList) -> &'f [RoleId]
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
pub struct RoleSets {
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
    pub fn fixed(arguments: &[Argument]) -> Option<Self> {
        let is_fixed = arguments.iter().all(|argument| {
            let may_be_none = argument.is_narrowed() || argument.absent == Some(Absent::Nothing);
            !argument.roles.is_conditional() && !may_be_none
        });
        is_fixed.then(|| Self::new(arguments.iter().map(|argument| argument.roles.by_default())))
    }
}

/// Roles in some order, each once.
pub type RoleList = SmallVec<[RoleId; 16]>;

/// The wanted ones of the roles, each once, in order.
pub fn distinct<'r>(roles: impl Iterator<Item = &'r [RoleId]>, wanted: RoleSet) -> RoleList {
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

//! Everything that an argument is compared with, by any rule of its tool and by the engine.

use std::collections::BTreeSet;

use super::{Cuts, ceilings};
use crate::imagined::Imagined;
use callgate_engine::model::{Effect, MutationClass, SandboxOrder, ServerKind};
use callgate_engine::net::{DomainSet, PathEnding, Scope};
use callgate_engine::path::{PathCase, expand_tilde, lexical};
use callgate_engine::program::{ListMatcher, Program, Rule, Tool};
use callgate_engine::role::{Category, RoleId, RoleSet, Step};
use callgate_engine::text::strip_directory;

/// How the values of an argument are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueKinds {
    pub(super) is_path: bool,
    /// It is an address of the world.
    pub(super) is_address: bool,
    /// The call may do more than read it.
    pub(super) is_changed: bool,
    /// The call removes it.
    pub(super) is_removed: bool,
    pub(super) is_url: bool,
    pub(super) is_remote: bool,
    /// The name of a host, alone.
    pub(super) is_host: bool,
    pub(super) is_branch: bool,
    pub(super) is_resource: bool,
    /// It names something that is not a path or a URL.
    pub(super) is_identifier: bool,
    pub(super) ignores_case: bool,
}

/// Everything that an argument is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Atoms {
    pub(super) kinds: ValueKinds,
    /// Absolute, each once.
    pub(super) directories: BTreeSet<String>,
    /// The same in the form that all letters share, where their case does not count.
    pub(super) folded: BTreeSet<String>,
    /// The directories in which protected patterns are looked at separately: the sandbox, which makes exceptions to what is
    /// protected, and those that the tool's server has a name for.
    pub(super) roots: BTreeSet<String>,
    /// Patterns of protected paths: where they begin, and the rest.
    pub(super) patterns: BTreeSet<(String, String)>,
    /// The keys of domain patterns.
    pub(super) domains: BTreeSet<(Scope, String)>,
    /// Entries of lists of identifiers.
    pub(super) names: BTreeSet<String>,
    /// A grant lists branches, and so tells an update of one from a forced one and from a removal.
    pub(super) grants_branches: bool,
    /// Entries of lists of addresses.
    pub(super) emails: BTreeSet<String>,
    /// How many conditions of restrictions compare addresses.
    pub(super) mail_conditions: usize,
    /// The roots and mods of the world: how addresses in them begin, and the directory that they stand for.
    pub(super) bases: BTreeSet<(String, String)>,
    /// Where a name without a `/` lies when it is read as a path as well.
    pub(super) base: Option<String>,
}

impl Atoms {
    /// Everything that values of these roles are compared with in calls of the tool.
    pub(super) fn new(imagined: &Imagined<'_>, tool: &Tool, roles: RoleSet, cuts: &Cuts) -> Self {
        let program = imagined.program();
        let mut atoms = Self {
            kinds: ValueKinds::new(program, roles),
            ..Self::default()
        };
        for (_, rule) in program.rules_of(tool) {
            atoms.add_rule(imagined, rule, roles);
        }
        if atoms.kinds.is_path || atoms.kinds.is_address {
            atoms.add_places(imagined, tool);
        }
        if atoms.kinds.is_address {
            atoms.add_world(imagined, tool);
        }
        if atoms.kinds.is_path && atoms.kinds.is_identifier {
            let first = program.sandbox.first();
            atoms.base = Some(first.map_or(&*program.current, |first| &**first).to_owned());
        }
        if atoms.kinds.is_url
            && let Some((set, _)) = &program.server(&tool.server).allowlist
        {
            atoms.add_domains(set);
        }
        atoms.add_cuts(program, cuts);
        atoms
    }

    /// Adds everything that another program compares the argument with.
    pub(super) fn join(&mut self, other: Self) {
        self.kinds.join(other.kinds);
        self.directories.extend(other.directories);
        self.bases.extend(other.bases);
        self.roots.extend(other.roots);
        self.patterns.extend(other.patterns);
        self.domains.extend(other.domains);
        self.names.extend(other.names);
        self.grants_branches |= other.grants_branches;
        self.emails.extend(other.emails);
        self.mail_conditions += other.mail_conditions;
        self.base = self.base.take().or(other.base);
    }

    /// Everything is known.
    pub(super) fn finish(&mut self) {
        if self.kinds.ignores_case {
            let folded = self
                .directories
                .iter()
                .map(|one| PathCase::Insensitive.fold_text(one).into_owned());
            self.folded = folded.collect();
        }
    }

    fn add_rule(&mut self, imagined: &Imagined<'_>, rule: &Rule, roles: RoleSet) {
        if let Some((of, directory)) = rule.paths
            && of.intersects(roles)
            && let Some(lexical) = imagined.program().directories.get_index(directory as usize)
        {
            self.directories.extend(imagined.forms(lexical).into_all());
        }
        if let Some((of, set)) = &rule.domains
            && of.intersects(roles)
        {
            self.add_domains(set);
        }
        for list in rule.lists.iter().filter(|list| list.roles.intersects(roles)) {
            match &list.matcher {
                ListMatcher::Domains(set) => self.add_domains(set),
                ListMatcher::Emails(emails) => {
                    self.emails.extend(emails.entries().map(str::to_owned));
                    self.mail_conditions += usize::from(rule.effect != Effect::Allow);
                }
                ListMatcher::Identifiers(names) => {
                    let is_careful = imagined.program().defaults.reads_refs;
                    let is_grant = rule.effect == Effect::Allow && is_careful;
                    self.grants_branches |= is_grant && list.roles.contains(RoleId::BRANCH_NAME);
                    let entries = names.sets.iter().flat_map(|(_, entries)| entries.iter());
                    self.names.extend(entries.map(str::to_owned));
                }
            }
        }
    }

    fn add_domains(&mut self, set: &DomainSet) {
        self.domains
            .extend(set.keys().map(|key| (key.scope, key.text.into_owned())));
    }

    /// The directories of the engine itself.
    fn add_places(&mut self, imagined: &Imagined<'_>, tool: &Tool) {
        let program = imagined.program();
        let counts = |may_be_read: bool| self.kinds.is_changed || !may_be_read;
        let paths = program.protected.paths.iter();
        let paths = paths.filter(|one| counts(one.may_be_read));
        let mut places: Vec<&str> = paths.map(|one| &*one.path).collect();
        let patterns = program.protected.patterns.iter();
        let patterns: Vec<_> = patterns.filter(|one| counts(one.may_be_read)).collect();
        // A directory of the sandbox excepts what is in it from what is protected.
        let settings = program.server(&tool.server);
        let is_sandboxed = settings.is_sandboxed || !program.protected.is_empty();
        // The existing runtime looks up no remote of a repository outside the sandbox.
        let is_git = settings.kind == Some(ServerKind::Git) && !program.defaults.asks_all_repositories;
        if is_sandboxed || is_git {
            places.extend(program.sandbox.iter().map(|path| &**path));
        }
        if let Some(ceiling) = &program.ceiling {
            places.extend(ceiling.roots.iter().flatten().map(|path| &**path));
        }
        for place in places {
            self.directories.extend(imagined.forms(place).into_all());
        }
        self.directories.extend(ceilings::directories(imagined, tool));
        self.add_shared(imagined, tool);
        for place in &program.sandbox {
            self.roots.extend(imagined.forms(place).into_all());
        }
        for pattern in patterns {
            self.directories
                .extend(imagined.forms(&pattern.directory).into_all());
            let written = (pattern.directory.to_string(), pattern.pattern.as_str().to_owned());
            self.patterns.insert(written);
        }
    }

    /// The places of the world: the directories that its roots and mods stand for, and those right below them that rows are
    /// about.
    fn add_world(&mut self, imagined: &Imagined<'_>, tool: &Tool) {
        let Some(world) = &imagined.program().world else {
            return;
        };
        let mutation = tool.semantics.kind.mutation_class();
        self.kinds.is_removed |= mutation == MutationClass::Destructive || world.has_removals(&tool.name);
        for (kind, known) in [("root", &world.roots), ("mod", &world.mounts)] {
            for one in known {
                let forms = imagined.forms(&one.path);
                let meant = forms.meant().to_owned();
                self.bases.insert((format!("{kind}:{}", one.name), meant.clone()));
                // A pattern of protected paths has to be seen in each of them.
                self.roots.insert(meant);
                self.directories.extend(forms.into_all());
            }
        }
        for root in &world.roots {
            for name in world.subdirectories(&root.name) {
                let path = format!("{}/{name}", root.path.trim_end_matches('/'));
                self.directories.extend(imagined.forms(&path).into_all());
            }
        }
    }

    /// The directories that the tool's server has a name for. Where it calls two of them by names of which one holds the other,
    /// a part of the one has no name of its own.
    fn add_shared(&mut self, imagined: &Imagined<'_>, tool: &Tool) {
        let shared = imagined.program().server(&tool.server).paths.as_deref();
        let shared = shared.unwrap_or_default();
        for one in shared {
            let hidden = shared
                .iter()
                .filter_map(|other| strip_directory(&other.server, &one.server));
            let hidden: Vec<&str> = hidden.filter(|names| !names.is_empty()).collect();
            for form in imagined.forms(&one.host).into_all() {
                let above = form.trim_end_matches('/');
                self.directories
                    .extend(hidden.iter().map(|names| format!("{above}/{names}")));
                self.directories.insert(form.clone());
                self.roots.insert(form);
            }
        }
    }

    fn add_cuts(&mut self, program: &Program, cuts: &Cuts) {
        if self.kinds.is_path || self.kinds.is_address {
            let absolute =
                |path: &String| lexical(&expand_tilde(path, &program.home), &program.current).into_owned();
            self.directories.extend(cuts.directories.iter().map(absolute));
        }
        if self.kinds.is_url {
            let patterns = cuts.domains.iter().map(String::as_str);
            self.add_domains(&DomainSet::new(patterns, PathEnding::Below));
        }
        self.names.extend(cuts.values.iter().cloned());
    }
}

impl ValueKinds {
    pub(super) fn join(&mut self, other: Self) {
        self.is_path |= other.is_path;
        self.is_address |= other.is_address;
        self.is_changed |= other.is_changed;
        self.is_removed |= other.is_removed;
        self.is_url |= other.is_url;
        self.is_remote |= other.is_remote;
        self.is_host |= other.is_host;
        self.is_branch |= other.is_branch;
        self.is_resource |= other.is_resource;
        self.is_identifier |= other.is_identifier;
        self.ignores_case |= other.ignores_case;
    }

    pub(super) fn new(program: &Program, roles: RoleSet) -> Self {
        let is_remote = |role: RoleId| {
            let definition = program.registry.get(role);
            definition.category == Category::Url && definition.canonicalize == Step::GitUrl
        };
        let is_identifier = |role: RoleId| program.registry.get(role).category == Category::Identifier;
        Self {
            is_path: roles.intersects(program.path_roles),
            is_address: roles.intersects(program.address_roles),
            is_changed: !is_read(program, roles),
            is_removed: roles.contains(RoleId::DELETE_PATH),
            is_url: roles.intersects(program.url_roles),
            is_remote: roles.iter().any(is_remote),
            is_host: roles.contains(RoleId::PROXY_DOMAIN),
            is_branch: roles.contains(RoleId::BRANCH_NAME),
            is_resource: roles.intersects(program.resource_roles),
            is_identifier: roles.iter().any(is_identifier),
            ignores_case: program.path_case == PathCase::Insensitive,
        }
    }
}

/// Returns `true` if a call only reads the places that it names under these roles.
pub(super) fn is_read(program: &Program, roles: RoleSet) -> bool {
    let places = program.path_roles.union(program.address_roles);
    roles.intersection(places) == RoleSet::from_iter([RoleId::READ_PATH])
}

/// Returns `true` if all values of a role must lie in the sandbox for it to decide about any of them.
pub(super) fn sandbox_wants_all(program: &Program, tool: &Tool) -> bool {
    let settings = program.server(&tool.server);
    let is_file = settings.kind == Some(ServerKind::Filesystem);
    let before = program.sandbox_order == SandboxOrder::BeforeRules;
    !program.sandbox.is_empty() && settings.is_sandboxed && !(is_file && before)
}

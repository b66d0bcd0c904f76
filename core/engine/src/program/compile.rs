//! From a validated configuration to a program.

use std::collections::BTreeMap;
use std::mem::take;

use super::compared::{Paths, compile_argument, compile_list, roles_of_arguments};
use super::server::{ServerTable, places};
use super::tools::ToolCompiler;
use super::{
    Ceiling, Counter, Defaults, Index, ListCondition, ListMatcher, Program, Protection, RelativePaths, Rule,
    ServerSettings, Shell,
};
use crate::annotation::Tools;
use crate::config::{Compatibility, Config, WorkspaceRoots};
use crate::host::Host;
use crate::model::Effect;
use crate::net::{DomainSet, PathEnding};
use crate::path::{PathCase, expand_tilde, lexical};
use crate::policy;
use crate::role::{Category, Registry, RoleId, RoleSet};
use crate::seed::SHELL;
use crate::table::Set;

/// Compiles the config for a home and a current directory, both absolute.
pub fn compile(config: Config, host: &dyn Host) -> Program {
    let (home, current) = (host.home_dir(), host.current_dir());
    let (options, registry) = (config.options, config.registry);
    let ending = match options.compatibility {
        Compatibility::Careful => PathEnding::Below,
        Compatibility::Runtime => PathEnding::Literal,
    };
    let absolute = |path: &str| -> Box<str> { lexical(&expand_tilde(path, home), current).as_ref().into() };
    let resource_roles = registry.select(|role| role.is_resource_identifier());
    let tools = Tools {
        annotated: &config.annotations.tools,
        programs: config.programs.as_ref(),
    };
    let mut compiled = Rules::new(options.compatibility, config.policy.rules.len(), tools);
    let mut rules = config.policy.rules;
    let arguments = roles_of_arguments(&config.annotations.tools);
    for rule in &mut rules {
        let known = (&registry, &config.lists, &arguments);
        compiled.add(rule, known, ending, resource_roles, absolute);
    }
    let counters = config.policy.counters;
    for counter in counters {
        compiled.count(
            counter,
            (&registry, &config.lists, &arguments),
            ending,
            resource_roles,
            absolute,
        );
    }
    compiled.index.finish();
    let path_case = options.path_case.unwrap_or_else(|| path_case(host));
    if path_case == PathCase::Insensitive && options.compatibility == Compatibility::Careful {
        compiled.fold_branches();
    }
    let are_sandbox = options.workspace_roots == WorkspaceRoots::Sandbox;
    let ceiling = config
        .ceiling
        .map(|ceiling| Ceiling::new(ceiling, are_sandbox, absolute));
    let mut compiler = ToolCompiler {
        ceiling: ceiling.as_ref(),
        index: &compiled.index,
        unknown: (options.unknown_arguments, &options.client_arguments),
        resource_roles,
        with_defaults: match options.compatibility {
            Compatibility::Careful => {
                Some(registry.select(|role| matches!(role.category, Category::Path | Category::Url)))
            }
            Compatibility::Runtime => None,
        },
        conditioned: BTreeMap::new(),
    };
    let mut tools = compiler.compile_all(config.annotations);
    if options.compatibility == Compatibility::Careful {
        for tool in &mut tools {
            tool.make_default_reason(resource_roles);
        }
    }
    let mut servers = ServerTable::default();
    for name in &config.trusted_servers {
        servers.of(name).is_trusted = true;
    }
    for (name, paths) in options.server_paths {
        servers.of(&name).paths = Some(paths);
    }
    for (name, directory) in &options.working_directories {
        servers.of(name).working_directory = Some(absolute(directory));
    }
    for (name, patterns) in config.domain_allowlists {
        let set = DomainSet::new(patterns.iter().map(|one| &**one), ending);
        servers.of(&name).allowlist = Some((set, patterns));
    }
    let servers = servers.finish(&options.servers, &mut tools);
    let unnamed_server = ServerSettings::default();
    let shell = config.programs.map(|programs| {
        let named = servers.get(SHELL).unwrap_or(&unnamed_server);
        Shell::new(programs, &compiled.index, resource_roles, named, &options.servers)
    });
    Program {
        limits: options.limits,
        home: home.into(),
        current: current.into(),
        unknown_arguments: options.unknown_arguments,
        client_arguments: options.client_arguments.iter().cloned().collect(),
        heuristic_paths: options.heuristic_paths,
        path_case,
        defaults: Defaults::of(options.compatibility),
        relative_paths: options
            .relative_paths
            .unwrap_or_else(|| relative_paths(options.compatibility)),
        places: places(&tools),
        servers,
        unnamed_server,
        shell,
        sandbox_roles: options.sandbox_roles,
        sandbox_order: options.sandbox_order,
        tools,
        rules: compiled.rules.into(),
        counters: compiled.counters.into(),
        index: compiled.index,
        directories: compiled.directories,
        protected: Protection::new(&config.protected_paths, absolute),
        sandbox: dedup(config.sandbox.iter().map(|path| absolute(path))),
        ceiling,
        resource_roles,
        valued_roles: resource_roles
            .union(RoleId::BRANCH_NAME.into())
            .union(RoleId::SHELL_COMMAND.into())
            .union(compiled.formed_roles)
            .union(match options.compatibility {
                Compatibility::Careful => compiled.ruled_roles,
                Compatibility::Runtime => compiled.listed_roles,
            })
            .union(registry.select(|role| role.is_prepared())),
        ruled_roles: compiled.ruled_roles,
        judged_roles: match options.compatibility {
            Compatibility::Careful => resource_roles
                .union(compiled.ruled_roles)
                .union(RoleId::SHELL_COMMAND.into()),
            Compatibility::Runtime => resource_roles,
        },
        listed_roles: compiled.listed_roles,
        path_roles: registry.select(|role| role.category == Category::Path),
        url_roles: registry.select(|role| role.category == Category::Url),
        name_roles: registry.select(crate::role::RoleDefinition::has_names),
        address_roles: registry.addresses(),
        world: config.world.map(|world| world.anchored(absolute)),
        registry,
    }
}

fn path_case(host: &dyn Host) -> PathCase {
    match host.ignores_path_case() {
        true => PathCase::Insensitive,
        false => PathCase::Sensitive,
    }
}

fn relative_paths(compatibility: Compatibility) -> RelativePaths {
    match compatibility {
        Compatibility::Careful => RelativePaths::Canonical,
        Compatibility::Runtime => RelativePaths::AsGiven,
    }
}

/// The compiled rules, and the roles and directories that they name.
struct Rules {
    compatibility: Compatibility,
    rules: Vec<Rule>,
    counters: Vec<Counter>,
    index: Index,
    directories: Set<Box<str>>,
    /// The roles of conditions on lists.
    listed_roles: RoleSet,
    /// The roles that any condition names.
    ruled_roles: RoleSet,
    /// Opaque roles in whose form conditions on arguments compare.
    formed_roles: RoleSet,
}

impl Rules {
    /// Lets lists of branches restrict every spelling that is the same file where paths ignore case.
    fn fold_branches(&mut self) {
        let counters = self.counters.iter_mut().map(|counter| &mut counter.rule);
        let rules = self.rules.iter_mut().chain(counters);
        let restricting = rules.filter(|rule| rule.effect != Effect::Allow);
        for condition in restricting.flat_map(|rule| &mut rule.lists) {
            if let ListMatcher::Identifiers(names) = &mut condition.matcher {
                names.fold_branches();
            }
        }
    }

    fn new(compatibility: Compatibility, count: usize, tools: Tools<'_>) -> Self {
        Self {
            compatibility,
            rules: Vec::with_capacity(count),
            counters: Vec::new(),
            index: Index::new(compatibility, tools),
            directories: Set::default(),
            listed_roles: RoleSet::default(),
            ruled_roles: RoleSet::default(),
            formed_roles: RoleSet::default(),
        }
    }

    fn add(
        &mut self,
        rule: &mut policy::Rule,
        known: Known<'_>,
        ending: PathEnding,
        resource_roles: RoleSet,
        absolute: impl Fn(&str) -> Box<str>,
    ) {
        let (servers, tools) = (rule.conditions.server.take(), rule.conditions.tool.take());
        let mut compiled = self.compile(rule, known, ending, resource_roles, absolute);
        compiled.names_tool = tools.is_some();
        self.index.file(
            self.rules.len() as u32,
            &compiled,
            servers.as_deref(),
            tools.as_deref(),
            resource_roles,
        );
        self.rules.push(compiled);
    }

    /// Adds what the host counts.
    fn count(
        &mut self,
        counter: policy::Counter,
        known: Known<'_>,
        ending: PathEnding,
        resource_roles: RoleSet,
        absolute: impl Fn(&str) -> Box<str>,
    ) {
        let policy::Counter {
            mut rule,
            seconds,
            per,
        } = counter;
        let (servers, tools) = (rule.conditions.server.take(), rule.conditions.tool.take());
        let compiled = self.compile(&mut rule, known, ending, resource_roles, absolute);
        self.index.look(&compiled, servers.as_deref(), tools.as_deref());
        self.counters.push(Counter {
            servers,
            tools,
            rule: compiled,
            seconds,
            per,
        });
    }

    fn compile(
        &mut self,
        rule: &mut policy::Rule,
        known: Known<'_>,
        ending: PathEnding,
        resource_roles: RoleSet,
        absolute: impl Fn(&str) -> Box<str>,
    ) -> Rule {
        let mut paths = Paths {
            defaults: Defaults::of(self.compatibility),
            directories: &mut self.directories,
            absolute: &absolute,
        };
        // The existing runtime takes every list for one of resources.
        let resources = match self.compatibility {
            Compatibility::Careful => resource_roles,
            Compatibility::Runtime => RoleSet::ALL,
        };
        let compiled = compile_rule(rule, known, ending, resources, &mut paths);
        self.ruled_roles = self.ruled_roles.union(compiled.named);
        let mut forms = compiled.argument_lists.iter().flatten();
        if forms.any(|list| matches!(list, ListMatcher::Emails(_))) {
            self.formed_roles.insert(RoleId::EMAIL_ADDRESS);
        }
        for condition in &compiled.lists {
            self.listed_roles = self.listed_roles.union(condition.roles);
        }
        compiled
    }
}

/// The paths in order, each once.
fn dedup(paths: impl Iterator<Item = Box<str>>) -> Box<[Box<str>]> {
    paths.collect::<Set<_>>().into_iter().collect()
}

/// The things that rules are compiled with: the roles, the lists, and the roles of arguments by name, in whatever tool.
type Known<'k> = (&'k Registry, &'k policy::Lists, &'k BTreeMap<Box<str>, RoleSet>);

/// Takes from the rule what the compiled one needs. To move the rule as a whole costs WebAssembly a call.
fn compile_rule(
    rule: &mut policy::Rule,
    (registry, lists, arguments): Known<'_>,
    ending: PathEnding,
    resources: RoleSet,
    places: &mut Paths<'_>,
) -> Rule {
    let conditions = &mut rule.conditions;
    let set = |roles: &[RoleId]| roles.iter().copied().collect::<RoleSet>();
    let roles = conditions.roles.as_deref().map(set);
    let paths = conditions
        .paths
        .as_ref()
        .map(|paths| (set(&paths.roles), places.directory(&paths.within)));
    let domains = conditions.domains.as_ref().map(|domains| {
        let (allowed, _) = policy::expand(&domains.allowed, lists);
        (
            set(&domains.roles),
            DomainSet::new(allowed.iter().map(|one| &**one), ending),
        )
    });
    let has_lists = conditions.lists.is_some();
    let lists: Box<[ListCondition]> = conditions
        .lists
        .iter()
        .flatten()
        .map(|condition| compile_list(condition, rule.effect, (registry, lists), ending, places))
        .collect();
    let forms = conditions.args.iter().map(|condition| {
        let roles = condition.argument.first().and_then(|name| arguments.get(name));
        let roles = roles.copied().filter(|_| places.defaults.reads_refs);
        compile_argument(
            &condition.test,
            roles.unwrap_or_default(),
            rule.effect,
            registry,
            places,
        )
    });
    let argument_lists = forms.collect();
    let mut relevant = RoleSet::ALL;
    let mut named = RoleSet::default();
    let given = [
        roles,
        paths.map(|(roles, _)| roles),
        domains.as_ref().map(|(roles, _)| *roles),
    ];
    for roles in given.into_iter().flatten() {
        relevant = relevant.intersection(roles);
        named = named.union(roles);
    }
    // An empty list of conditions makes the rule relevant to no role, unless no other condition names a role.
    if has_lists && !(lists.is_empty() && relevant == RoleSet::ALL) {
        let listed = lists
            .iter()
            .fold(RoleSet::default(), |union, list| union.union(list.roles));
        // A list of data is a further condition of a grant that names its resources elsewhere.
        let is_further = rule.effect == Effect::Allow
            && relevant != RoleSet::ALL
            && !lists.is_empty()
            && !listed.intersects(resources);
        if !is_further {
            relevant = relevant.intersection(listed);
        }
        named = if lists.is_empty() {
            listed
        } else {
            named.union(listed)
        };
    }
    Rule {
        name: take(&mut rule.name),
        reason: take(&mut rule.reason),
        effect: rule.effect,
        roles,
        paths,
        domains,
        lists,
        arguments: take(&mut conditions.args).into(),
        argument_lists,
        context: take(&mut conditions.context).into(),
        counts: take(&mut conditions.counts).into(),
        relevant,
        named,
        names_tool: false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{self, DocumentKind};
    use crate::document::DocumentSource;
    use crate::host::Recording;

    #[test]
    fn tools_share_the_places_that_conditions_look_at() {
        let policy = r#"{"rules": [
            {"name": "a", "if": {"tool": "a"}, "then": "deny", "reason": ""},
            {"name": "b", "if": {"tool": "b"}, "then": "deny", "reason": ""},
            {"name": "c", "if": {"tool": "c", "args": [{"arg": "x", "is": "present"}]}, "then": "deny", "reason": ""}]}"#;
        let annotations = r#"{"servers": {"s": {"tools": [
            {"toolName": "c", "args": {"x": "read-path"}}, {"toolName": "b", "args": {}}, {"toolName": "a", "args": {}}]}}}"#;
        let config = config::read(&[
            (DocumentKind::Policy, DocumentSource::Text(policy)),
            (DocumentKind::Annotations, DocumentSource::Text(annotations)),
        ])
        .unwrap();
        let program = compile(config, &Recording::new("/home/u", "/", Vec::new()));
        let [a, b, c] = &*program.tools else { panic!() };
        assert_eq!([&*a.name, &*b.name, &*c.name], ["a", "b", "c"]);
        // Rules of their own, and no condition.
        assert!(a.scopes != b.scopes && Arc::ptr_eq(&a.conditioned, &b.conditioned));
        assert_eq!(a.conditioned.keys().count(), 0);
        assert_eq!(c.conditioned.keys().count(), 1);
    }
}

//! From a validated configuration to a program.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;

use super::compared::{Paths, compile_argument, compile_list, roles_of_arguments};
use super::server::{ServerTable, places};
use super::{
    Ceiling, Defaults, Index, ListCondition, ListMatcher, Program, Protection, RelativePaths, RoleSets, Rule,
    ServerSettings, Tool, ToolMember, UnknownArguments,
};
use crate::annotation;
use crate::config::{Compatibility, Config, WorkspaceRoots};
use crate::host::Host;
use crate::model::{
    Absent, Argument, ArgumentName, Effect, PointerTree, SchemaDefault, SchemaType, Segment, Unjudged,
};
use crate::net::{DomainSet, PathEnding};
use crate::path::{PathCase, expand_tilde, lexical};
use crate::policy;
use crate::role::{Category, Registry, RoleId, RoleSet};
use crate::sort;
use crate::table::{Set, TextTable};

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
    let mut compiled = Rules::new(
        options.compatibility,
        config.policy.rules.len(),
        &config.annotations.tools,
    );
    let mut rules = config.policy.rules;
    let arguments = roles_of_arguments(&config.annotations.tools);
    for rule in &mut rules {
        let known = (&registry, &config.lists, &arguments);
        compiled.add(rule, known, ending, resource_roles, absolute);
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
    let mut tools = compile_tools(
        config.annotations,
        ceiling.as_ref(),
        &compiled.index,
        (options.unknown_arguments, &options.client_arguments),
        resource_roles,
        match options.compatibility {
            Compatibility::Careful => {
                Some(registry.select(|role| matches!(role.category, Category::Path | Category::Url)))
            }
            Compatibility::Runtime => None,
        },
    );
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
        servers: servers.finish(&options.servers, &mut tools),
        unnamed_server: ServerSettings::default(),
        sandbox_roles: options.sandbox_roles,
        sandbox_order: options.sandbox_order,
        tools,
        rules: compiled.rules.into(),
        index: compiled.index,
        directories: compiled.directories,
        protected: Protection::new(&config.protected_paths, absolute),
        sandbox: dedup(config.sandbox.iter().map(|path| absolute(path))),
        ceiling,
        resource_roles,
        valued_roles: resource_roles
            .union(RoleId::BRANCH_NAME.into())
            .union(compiled.formed_roles)
            .union(match options.compatibility {
                Compatibility::Careful => compiled.ruled_roles,
                Compatibility::Runtime => compiled.listed_roles,
            })
            .union(registry.select(|role| role.is_prepared())),
        ruled_roles: compiled.ruled_roles,
        judged_roles: match options.compatibility {
            Compatibility::Careful => resource_roles.union(compiled.ruled_roles),
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
        let restricting = self.rules.iter_mut().filter(|rule| rule.effect != Effect::Allow);
        for condition in restricting.flat_map(|rule| &mut rule.lists) {
            if let ListMatcher::Identifiers(names) = &mut condition.matcher {
                names.fold_branches();
            }
        }
    }

    fn new(compatibility: Compatibility, count: usize, tools: &[annotation::Tool]) -> Self {
        Self {
            compatibility,
            rules: Vec::with_capacity(count),
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
        let mut compiled = compile_rule(rule, known, ending, resources, &mut paths);
        compiled.names_tool = tools.is_some();
        self.ruled_roles = self.ruled_roles.union(compiled.named);
        let mut forms = compiled.argument_lists.iter().flatten();
        if forms.any(|list| matches!(list, ListMatcher::Emails(_))) {
            self.formed_roles.insert(RoleId::EMAIL_ADDRESS);
        }
        for condition in &compiled.lists {
            self.listed_roles = self.listed_roles.union(condition.roles);
        }
        self.index.file(
            self.rules.len() as u32,
            &compiled,
            servers.as_deref(),
            tools.as_deref(),
            resource_roles,
        );
        self.rules.push(compiled);
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
        relevant,
        named,
        names_tool: false,
    }
}

fn compile_tools(
    annotations: annotation::Annotations,
    ceiling: Option<&Ceiling>,
    index: &Index,
    unknown: (UnknownArguments, &[Box<str>]),
    resource_roles: RoleSet,
    with_defaults: Option<RoleSet>,
) -> Box<[Tool]> {
    let mut tools = annotations.tools;
    let order = sort::order_by(&tools, |one, other| {
        (&one.server, &one.name).cmp(&(&other.server, &other.name))
    });
    let mut conditioned = BTreeMap::new();
    let mut compiled = Vec::with_capacity(order.len());
    for at in order {
        if let Some(tool) = tools.get_mut(at) {
            say_absent(tool, with_defaults);
            let has_schema = tool.schema.properties.is_some();
            let mut tool = compile_tool(tool, ceiling, index, unknown, &mut conditioned);
            tool.take_unnamed(has_schema, resource_roles);
            compiled.push(tool);
        }
    }
    compiled.into()
}

/// Lets the schema's default stand for an absent argument that may bear one of these roles, unless the annotation says what it
/// means; the existing runtime knows neither.
fn say_absent(tool: &mut annotation::Tool, with_defaults: Option<RoleSet>) {
    let properties = tool.schema.properties.iter().flatten();
    let properties: TextTable<&SchemaType> =
        properties.map(|(name, schema)| (name.clone(), schema)).collect();
    for argument in &mut tool.arguments {
        let Some(roles) = with_defaults else {
            argument.absent = None;
            continue;
        };
        if argument.absent.is_none()
            && let ArgumentName::Top(name) = &argument.name
            && argument.roles.possible().any(|role| roles.contains(role))
            && let Some(SchemaDefault::Text(value)) =
                properties.get(name).and_then(|schema| schema.default.as_ref())
        {
            argument.absent = Some(Absent::Value(value.clone()));
        }
    }
}

/// Takes from the tool what the compiled one needs.
fn compile_tool(
    tool: &mut annotation::Tool,
    ceiling: Option<&Ceiling>,
    index: &Index,
    (unknown, added): (UnknownArguments, &[Box<str>]),
    conditioned: &mut BTreeMap<Vec<usize>, Arc<PointerTree>>,
) -> Tool {
    let schema = &tool.semantics.arg_schema;
    let shaped = schema.required.iter().chain(schema.arg_aliases.values());
    let shaped = shaped.chain(added).cloned();
    let properties = take(&mut tool.schema.properties);
    let (mut members, unnamed) = compile_members(&tool.arguments, properties, shaped, unknown);
    for (at, name) in tool.schema.required.iter().enumerate() {
        if let Some(member) = members.get_mut(name) {
            member.required = Some(at);
            member.schema.is_optional = false;
        }
    }
    let aliases = schema.arg_aliases.iter();
    let aliases = aliases.map(|(alias, key)| (alias.clone(), key.clone())).collect();
    let scopes = index.scopes_for(&tool.server, &tool.name);
    let conditions = tool.arguments.iter().flat_map(|one| one.roles.conditions());
    Tool {
        ceiling: ceiling
            .map(|ceiling| ceiling.of_tool(&tool.server, &tool.name, &tool.semantics))
            .unwrap_or_default(),
        semantics: take(&mut tool.semantics),
        unjudged: tool.unjudged.map(Unjudged::effect),
        unnamed_roles: RoleSet::default(),
        conditioned: conditioned
            .entry(index.with_conditions(&scopes))
            .or_insert_with_key(|scopes| index.conditioned_in(scopes).into())
            .clone(),
        siblings: PointerTree::of_conditions(conditions.map(|condition| &condition.argument)),
        scopes: scopes.into(),
        server: take(&mut tool.server),
        name: take(&mut tool.name),
        settings: 0,
        fixed_roles: RoleSets::fixed(&tool.arguments),
        has_bases: tool
            .arguments
            .iter()
            .any(|argument| argument.relative_to.is_some()),
        arguments: take(&mut tool.arguments).into(),
        members,
        unnamed,
        aliases,
        required: take(&mut tool.schema.required).into(),
        default_reason: None,
    }
}

/// The members that the annotation or the schema names, and what holds for all others.
fn compile_members(
    arguments: &[Argument],
    schema_properties: Option<Vec<(Box<str>, SchemaType)>>,
    shaped: impl Iterator<Item = Box<str>>,
    unknown: UnknownArguments,
) -> (TextTable<ToolMember>, ToolMember) {
    let mut named: TextTable<Vec<usize>> = TextTable::default();
    let mut everywhere = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        match &argument.name {
            ArgumentName::Top(name) => named.entry(name.clone()).or_default().push(at),
            ArgumentName::Pointer(segments) => match segments.first() {
                Some(Segment::Key(name)) => named.entry(name.clone()).or_default().push(at),
                Some(Segment::Every) => everywhere.push(at),
                None => {}
            },
        }
    }
    let refuses_others = match unknown {
        UnknownArguments::Ignore => false,
        UnknownArguments::Schema => schema_properties.is_some(),
        UnknownArguments::Escalate | UnknownArguments::Deny => true,
    };
    let pointers = |indices: &[usize]| {
        let mut tree = PointerTree::default();
        for (rank, argument) in indices.iter().filter_map(|at| arguments.get(*at)).enumerate() {
            tree.insert(rank, &argument.name);
        }
        tree
    };
    let unnamed = ToolMember {
        is_known: !refuses_others || !everywhere.is_empty(),
        is_annotated: !everywhere.is_empty(),
        pointers: pointers(&everywhere),
        arguments: everywhere.clone().into(),
        schema: SchemaType::default(),
        required: None,
    };
    let mut types: TextTable<SchemaType> = schema_properties.into_iter().flatten().collect();
    for name in types.keys().cloned().chain(shaped) {
        named.entry(name).or_default();
    }
    let members = named.into_iter().map(|(name, mut indices)| {
        indices.extend_from_slice(&everywhere);
        let member = ToolMember {
            is_known: true,
            is_annotated: !indices.is_empty(),
            pointers: pointers(&indices),
            arguments: indices.into(),
            schema: SchemaType {
                is_optional: true,
                ..types.get_mut(&name).map(std::mem::take).unwrap_or_default()
            },
            required: None,
        };
        (name, member)
    });
    (members.collect(), unnamed)
}

#[cfg(test)]
mod tests {
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

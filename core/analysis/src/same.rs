//! Comparison of two programs by what they say: where that is the same, they judge calls alike.

use callgate_engine::net::DomainSet;
use callgate_engine::program::{ListMatcher, Program, Rule, ServerSettings, Tool};
use callgate_engine::role::Category;

/// Returns `true` if everything that a judgement looks at is the same but for rules and tools.
pub(super) fn settings(one: &Program, other: &Program) -> bool {
    let limits = |program: &Program| format!("{:?}", program.limits);
    let ceiling = |program: &Program| program.ceiling.as_ref().map(|one| one.document().clone());
    one.home == other.home
        && one.current == other.current
        && one.unknown_arguments == other.unknown_arguments
        && one.heuristic_paths == other.heuristic_paths
        && one.path_case == other.path_case
        && one.defaults == other.defaults
        && one.relative_paths == other.relative_paths
        && servers(one, other, |server| {
            (
                &server.paths,
                server.is_trusted,
                server.kind,
                server.is_sandboxed,
                &server.working_directory,
            )
        })
        && one.sandbox_roles == other.sandbox_roles
        && one.sandbox_order == other.sandbox_order
        && one.sandbox == other.sandbox
        && one.ruled_roles == other.ruled_roles
        && one.listed_roles == other.listed_roles
        && worlds(one, other)
        && protects_alike(one, other)
        && ceiling(one) == ceiling(other)
        && programs_alike(one, other)
        && limits(one) == limits(other)
        && roles(one, other)
}

/// Returns `true` if both programs have the same roles.
pub(super) fn roles(one: &Program, other: &Program) -> bool {
    let registry = |program: &Program| format!("{:?}", program.registry);
    registry(one) == registry(other)
}

/// Returns `true` if both programs have the same roles, but for that of addresses: it comes with a world, and what bears it is
/// divided by the places of that world.
fn other_roles(one: &Program, other: &Program) -> bool {
    let others = |program: &Program| {
        let all = program.registry.iter().map(|(_, role)| role);
        let others = all.filter(|role| role.category != Category::Address);
        format!("{:?}", others.collect::<Vec<_>>())
    };
    others(one) == others(other)
}

/// Returns `true` if both programs have the same world, or none.
fn worlds(one: &Program, other: &Program) -> bool {
    match (&one.world, &other.world) {
        (None, None) => true,
        (Some(one), Some(other)) => one.is_same(other),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Returns `true` if both say the same of the programs that commands of shells run.
fn programs_alike(one: &Program, other: &Program) -> bool {
    match (&one.shell, &other.shell) {
        (Some(one), Some(other)) => one.table == other.table,
        // Without one there are no such commands.
        (None, _) | (_, None) => true,
    }
}

/// Settings that differ and that regions are not cut by.
pub(super) fn differing(one: &Program, other: &Program) -> Vec<&'static str> {
    let limits = |program: &Program| format!("{:?}", program.limits);
    let same = [
        ("homeDir", one.home == other.home && one.current == other.current),
        ("compatibility", one.defaults == other.defaults),
        ("clientArguments", one.client_arguments == other.client_arguments),
        ("relativePaths", one.relative_paths == other.relative_paths),
        ("serverPaths", servers(one, other, |server| &server.paths)),
        (
            "workingDirectory",
            servers(one, other, |server| &server.working_directory),
        ),
        ("programs", programs_alike(one, other)),
        ("limits", limits(one) == limits(other)),
        ("roles", other_roles(one, other)),
    ];
    let differ = same.into_iter().filter(|(_, same)| !same);
    differ.map(|(setting, _)| setting).collect()
}

/// Returns `true` if both programs say the same of every server that one of them names.
fn servers<'p, T: PartialEq>(
    one: &'p Program,
    other: &'p Program,
    part: impl Fn(&'p ServerSettings) -> T,
) -> bool {
    let mut names = one.server_names().chain(other.server_names());
    names.all(|name| part(one.server(name)) == part(other.server(name)))
}

/// Returns `true` if the same paths are protected.
pub(super) fn protects_alike(one: &Program, other: &Program) -> bool {
    let patterns = |program: &Program| -> Vec<(String, String, bool)> {
        let patterns = program.protected.patterns.iter();
        patterns
            .map(|one| {
                let pattern = one.pattern.as_str().to_owned();
                (one.directory.to_string(), pattern, one.may_be_read)
            })
            .collect()
    };
    one.protected.paths == other.protected.paths
        && patterns(one) == patterns(other)
        && one.sandbox == other.sandbox
        && one.path_case == other.path_case
}

/// Returns `true` if both programs say the same of a tool, where their settings are the same.
pub(super) fn tools(one: (&Program, &Tool), other: (&Program, &Tool)) -> bool {
    let ((first, tool), (second, second_tool)) = (one, other);
    let rules: (Vec<_>, Vec<_>) = (
        first.rules_of(tool).collect(),
        second.rules_of(second_tool).collect(),
    );
    let same_rules = rules.0.len() == rules.1.len()
        && rules
            .0
            .iter()
            .zip(&rules.1)
            .all(|((_, one), (_, other))| same_rule((first, one), (second, other)));
    let allowlists = [first, second].map(|program| {
        let allowlist = program.server(&tool.server).allowlist.as_ref();
        allowlist.map(|(_, patterns)| patterns)
    });
    let [one_allowlist, other_allowlist] = allowlists;
    tool.is_same(second_tool) && same_rules && one_allowlist == other_allowlist
}

fn same_rule((first, one): (&Program, &Rule), (second, other): (&Program, &Rule)) -> bool {
    let paths = |program: &Program, rule: &Rule| {
        let (roles, directory) = rule.paths?;
        Some((roles, program.directories.get_index(directory as usize).cloned()))
    };
    let domains = match (&one.domains, &other.domains) {
        (None, None) => true,
        (Some((one_roles, one)), Some((other_roles, other))) => {
            one_roles == other_roles && same_domains(one, other)
        }
        (Some(_), None) | (None, Some(_)) => false,
    };
    let lists = one.lists.len() == other.lists.len()
        && one
            .lists
            .iter()
            .zip(&other.lists)
            .all(|(one, other)| one.roles == other.roles && same_lists(&one.matcher, &other.matcher));
    one.name == other.name
        && one.effect == other.effect
        && one.roles == other.roles
        && one.arguments == other.arguments
        && one.context == other.context
        && same_counts((first, one), (second, other))
        && one.relevant == other.relevant
        && one.named == other.named
        && paths(first, one) == paths(second, other)
        && domains
        && lists
}

/// Returns `true` if both rules look at the same counts of the same calls.
fn same_counts((first, one): (&Program, &Rule), (second, other): (&Program, &Rule)) -> bool {
    one.counts == other.counts
        && one.counts.iter().all(|(name, _)| {
            let counters = first.counter(name).zip(second.counter(name));
            counters.is_some_and(|(one, other)| {
                one.is_as(other) && same_rule((first, &one.rule), (second, &other.rule))
            })
        })
}

fn same_lists(one: &ListMatcher, other: &ListMatcher) -> bool {
    match (one, other) {
        (ListMatcher::Domains(one), ListMatcher::Domains(other)) => same_domains(one, other),
        (ListMatcher::Emails(one), ListMatcher::Emails(other)) => one.entries().eq(other.entries()),
        (ListMatcher::Identifiers(one), ListMatcher::Identifiers(other)) => {
            one.sets.len() == other.sets.len()
                && one
                    .sets
                    .iter()
                    .zip(&other.sets)
                    .all(|((step, one), (other_step, other))| {
                        step == other_step && one.iter().eq(other.iter())
                    })
        }
        _ => false,
    }
}

fn same_domains(one: &DomainSet, other: &DomainSet) -> bool {
    one.written().eq(other.written())
}

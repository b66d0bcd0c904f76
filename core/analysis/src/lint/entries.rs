//! Entries of lists without effect: what another one covers, and what nothing can match.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Lint;
use crate::atoms::{Atoms, ValueKinds};
use crate::choice::Choice;
use crate::choices::choices;
use callgate_engine::config::Config;
use callgate_engine::diagnostic::Code;
use callgate_engine::document::JsonPath;
use callgate_engine::judge::url_kind;
use callgate_engine::model::{Effect, MatchType};
use callgate_engine::net::{DomainSet, Location, PathEnding, UrlKind};
use callgate_engine::policy::Lists;
use callgate_engine::program::Program;
use callgate_engine::role::{RoleId, RoleSet, Step};
use callgate_engine::text::is_at_or_below;

/// Patterns of one condition that are compared with each other.
const MOST_PATTERNS: usize = 256;

/// Paths of one list that are compared with each other.
const MOST_PATHS: usize = 2_048;

/// Entries of one list that are named one by one.
const MOST_NAMED: usize = 8;

/// An entry of a condition: as it is written there, or of the list that is named there.
#[derive(Clone, Copy)]
struct Entry<'c> {
    text: &'c str,
    /// Its place in `allowed`.
    at: usize,
    list: Option<&'c str>,
}

/// The fault of an entry.
enum EntryFault<'c> {
    /// Whatever it matches, this one matches too.
    Covered(Entry<'c>),
    /// No value matches it.
    Never,
}

/// The entries of one list without effect, which are said together.
struct ListFaults {
    code: Code,
    named: Vec<String>,
    /// A call that shows it.
    call: Option<Value>,
}

impl ListFaults {
    fn new() -> Self {
        Self {
            code: Code::NeverMatches,
            named: Vec::new(),
            call: None,
        }
    }
}

/// The entries of a condition, every `@name` replaced by its list.
fn entries<'c>(allowed: &'c [Box<str>], lists: &'c Lists) -> Vec<Entry<'c>> {
    let mut found = Vec::new();
    for (at, entry) in allowed.iter().enumerate() {
        match entry.strip_prefix('@') {
            None => found.push(Entry {
                text: entry,
                at,
                list: None,
            }),
            Some(name) => {
                let of_list = lists.effective(name).unwrap_or_default().iter();
                found.extend(of_list.map(|text| Entry {
                    text,
                    at,
                    list: Some(name),
                }));
            }
        }
    }
    found
}

impl Lint<'_> {
    /// Entries of conditions, allowlists and paths without effect, and lists that no rule names.
    pub(super) fn entries(&mut self, config: &Config) {
        let document = JsonPath::Document("policy");
        let rules = JsonPath::Key(&document, "rules");
        for rule in &config.policy.rules {
            let place = JsonPath::Index(&rules, rule.index);
            let conditions = JsonPath::Key(&place, "if");
            let what = format!("of the rule `{}`", rule.name);
            let grants = rule.effect == Effect::Allow;
            if let Some(domains) = &rule.conditions.domains {
                let place = JsonPath::Key(&conditions, "domains");
                let allowed = entries(&domains.allowed, &config.lists);
                let faults = self.domains(&allowed, &domains.roles, grants);
                self.report(&allowed, faults, &JsonPath::Key(&place, "allowed"), &what);
            }
            let place = JsonPath::Key(&conditions, "lists");
            for (at, list) in rule.conditions.lists.iter().flatten().enumerate() {
                let place = JsonPath::Index(&place, at);
                let allowed = entries(&list.allowed, &config.lists);
                let faults = match list.match_type {
                    MatchType::Domains => self.domains(&allowed, &list.roles, grants),
                    MatchType::Emails => repeated(&allowed, |text| vec![text.to_lowercase()]),
                    MatchType::Identifiers => {
                        let steps = self.steps(&list.roles);
                        repeated(&allowed, |text| {
                            steps.iter().map(|step| step.apply(text).into_owned()).collect()
                        })
                    }
                };
                self.report(&allowed, faults, &JsonPath::Key(&place, "allowed"), &what);
            }
        }
        let document = JsonPath::Document("domainAllowlists");
        let url_roles: Vec<RoleId> = self.imagined.program().url_roles.iter().collect();
        for (server, patterns) in &config.domain_allowlists {
            let none = Lists::default();
            let allowed = entries(patterns, &none);
            let faults = self.domains(&allowed, &url_roles, true);
            let what = format!("of the server `{server}`");
            self.report(&allowed, faults, &JsonPath::Key(&document, server), &what);
        }
        self.paths(config);
        self.lists(config);
    }

    /// The canonical forms that values of these roles are compared in, each once.
    fn steps(&self, roles: &[RoleId]) -> Vec<Step> {
        let registry = &self.imagined.program().registry;
        let mut steps = Vec::new();
        for role in roles {
            let step = registry.get(*role).canonicalize;
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        steps
    }

    /// Which of the patterns have no effect beside the others, on values of these roles: each is held against one value for
    /// every place between all of them.
    fn domains<'c>(
        &self,
        entries: &[Entry<'c>],
        roles: &[RoleId],
        grants: bool,
    ) -> Vec<(usize, EntryFault<'c>)> {
        if entries.len() > MOST_PATTERNS {
            return Vec::new();
        }
        let program = self.imagined.program();
        let ending = match program.defaults.grants_clear_urls {
            true => PathEnding::Below,
            false => PathEnding::Literal,
        };
        let set = |text: &str| DomainSet::new([text], ending);
        let sets: Vec<DomainSet> = entries.iter().map(|entry| set(entry.text)).collect();
        let samples = samples(program, &sets, roles);
        let matched: Vec<Vec<bool>> = sets
            .iter()
            .map(|set| {
                let matches = |location: &Location| match grants {
                    true => set.grants(location).is_some(),
                    false => set.restricts(location).is_some(),
                };
                samples.iter().map(matches).collect()
            })
            .collect();
        let mut faults = Vec::new();
        for (at, own) in matched.iter().enumerate() {
            if !own.contains(&true) {
                faults.push((at, EntryFault::Never));
                continue;
            }
            let covers = |(place, other): &(usize, &Vec<bool>)| {
                let holds_all = own.iter().zip(*other).all(|(own, other)| !own || *other);
                // Of two that are alike the first has an effect.
                *place != at && holds_all && (other != &own || *place < at)
            };
            let wider = matched.iter().enumerate().find(covers);
            let wider = wider.and_then(|(place, _)| entries.get(place));
            faults.extend(wider.map(|wider| (at, EntryFault::Covered(*wider))));
        }
        faults
    }

    /// Says what was found: of entries that stand there one by one, of those of a list together, at the list.
    fn report(
        &mut self,
        entries: &[Entry<'_>],
        faults: Vec<(usize, EntryFault<'_>)>,
        place: &JsonPath<'_>,
        what: &str,
    ) {
        let mut of_lists: BTreeMap<&str, ListFaults> = BTreeMap::new();
        for (at, fault) in faults {
            let Some(entry) = entries.get(at) else { continue };
            let text = entry.text;
            match (entry.list, fault) {
                (None, EntryFault::Never) => {
                    let message =
                        format!("no value can match `{text}` {what}, expected an entry that one can");
                    let help =
                        "the roles of the condition have values of another form; correct it, or leave it out";
                    let place = JsonPath::Index(place, entry.at).to_string();
                    self.add(Code::NeverMatches, place, message, help, None);
                }
                (None, EntryFault::Covered(wider)) => {
                    let message = format!(
                        "`{text}` {what} has no effect beside {}, expected one of them",
                        shown(&wider)
                    );
                    let help = "leave out the one that is not meant";
                    let place = JsonPath::Index(place, entry.at).to_string();
                    let call = self.call_about(text);
                    self.add(Code::Covered, place, message, help, call);
                }
                (Some(list), EntryFault::Never) => {
                    let own = of_lists.entry(list).or_insert_with(ListFaults::new);
                    own.named.push(format!("no value can match `{text}`"));
                }
                // Whoever writes the list anew does not know of the other entries.
                (Some(list), EntryFault::Covered(wider)) if wider.list == Some(list) => {
                    let own = of_lists.entry(list).or_insert_with(ListFaults::new);
                    own.code = Code::Covered;
                    own.call = own.call.take().or_else(|| self.call_about(text));
                    own.named
                        .push(format!("`{text}` has no effect beside `{}`", wider.text));
                }
                (Some(_), EntryFault::Covered(_)) => {}
            }
        }
        for (list, own) in of_lists {
            let ListFaults {
                code,
                mut named,
                call,
            } = own;
            let count = named.len();
            named.truncate(MOST_NAMED);
            let more = match count.saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let message = format!("in the list `@{list}` {}{more}", named.join(", "));
            let help = "`manualRemovals` takes entries out, whoever put them in";
            let document = JsonPath::Document("lists");
            let lists = JsonPath::Key(&document, "lists");
            let place = JsonPath::Key(&lists, list).to_string();
            let is_known = |finding: &super::Finding| {
                finding.diagnostic.path == place && finding.diagnostic.message == message
            };
            if !self.findings.iter().any(is_known) {
                self.add(code, place, message, help, call);
            }
        }
    }

    /// Protected paths, and roots of the ceiling, at or below another one.
    fn paths(&mut self, config: &Config) {
        let program = self.imagined.program();
        let sandbox: Vec<&str> = program.sandbox.iter().map(|path| &**path).collect();
        let lexical = |path: &str| {
            let expanded = callgate_engine::path::expand_tilde(path, &program.home);
            callgate_engine::path::lexical(&expanded, &program.current).into_owned()
        };
        let protected: Vec<(usize, &str, String)> = config
            .protected_paths
            .iter()
            .enumerate()
            .filter(|(_, one)| !one.path.contains('*'))
            .map(|(at, one)| (at, &*one.path, lexical(&one.path)))
            .collect();
        // What is protected against writing alone covers nothing that is protected against reading too.
        let may_be_read = |at: usize| config.protected_paths.get(at).is_some_and(|one| one.may_be_read);
        let (readable, closed): (Vec<_>, Vec<_>) =
            protected.iter().cloned().partition(|(at, ..)| may_be_read(*at));
        // A sandbox between them excepts what is in it from the wider one, and not from the narrower one.
        let is_excepted = |wide: &str, narrow: &str| {
            let mut between = sandbox.iter();
            between.any(|sandbox| is_at_or_below(sandbox, wide) && is_at_or_below(narrow, sandbox))
        };
        let roots = config.ceiling.iter().flat_map(|ceiling| &ceiling.workspace_roots);
        let roots = roots.enumerate().map(|(at, path)| (at, &**path, lexical(path)));
        let roots: Vec<(usize, &str, String)> = roots.collect();
        let document = JsonPath::Document("protectedPaths");
        let mut found = below(&closed, &document, is_excepted);
        if !readable.is_empty() {
            let all = below(&protected, &document, is_excepted);
            found.extend(all.into_iter().filter(|one| may_be_read(one.at)));
        }
        let document = JsonPath::Document("ceiling");
        let place = JsonPath::Key(&document, "workspace_roots");
        // Relative paths start from the first.
        found.extend(
            below(&roots, &place, |_, _| false)
                .into_iter()
                .filter(|one| one.at > 0),
        );
        for one in found {
            let message = format!(
                "`{}` has no effect beside `{}`, which holds it, expected one of them",
                one.narrow, one.wide
            );
            let call = self.call_about(&one.lexical);
            let help = "leave out the one that is not meant";
            self.add(Code::Covered, one.place, message, help, call);
        }
    }

    /// Lists, and definitions of lists, that no rule names.
    fn lists(&mut self, config: &Config) {
        let rules = config.policy.rules.iter();
        let entries = rules.flat_map(|rule| rule.conditions.allowed().flat_map(|(_, allowed)| allowed));
        let named: BTreeSet<&str> = entries.filter_map(|entry| entry.strip_prefix('@')).collect();
        let help = "a rule names it as `@name` under `allowed`; if none should, leave it out";
        let mut found = Vec::new();
        let document = JsonPath::Document("lists");
        let lists = JsonPath::Key(&document, "lists");
        for name in config.lists.names().filter(|name| !named.contains(name)) {
            found.push((name, JsonPath::Key(&lists, name).to_string()));
        }
        let document = JsonPath::Document("policy");
        let definitions = JsonPath::Key(&document, "listDefinitions");
        for (at, definition) in config.policy.list_definitions.iter().enumerate() {
            if !named.contains(&*definition.name) {
                found.push((&definition.name, JsonPath::Index(&definitions, at).to_string()));
            }
        }
        for (name, place) in found {
            let message = format!("no rule uses the list `@{name}`, expected one that does");
            self.add(Code::UnusedList, place, message, help, None);
        }
    }
}

fn shown(entry: &Entry<'_>) -> String {
    match entry.list {
        Some(list) => format!("`{}` of the list `@{list}`", entry.text),
        None => format!("`{}`", entry.text),
    }
}

/// A location for every place between the patterns, as values of these roles name it.
fn samples(program: &Program, sets: &[DomainSet], roles: &[RoleId]) -> Vec<Location> {
    let keys = sets.iter().flat_map(DomainSet::keys);
    let domains: BTreeSet<_> = keys.map(|key| (key.scope, key.text.into_owned())).collect();
    let mut found = Vec::new();
    let mut kinds: Vec<UrlKind> = Vec::new();
    for role in roles {
        let kind = url_kind(*role, program.registry.get(*role));
        if kinds.contains(&kind) {
            continue;
        }
        kinds.push(kind);
        let atoms = Atoms {
            kinds: ValueKinds::new(program, RoleSet::from(*role)),
            domains: domains.clone(),
            ..Atoms::default()
        };
        let texts = choices(&atoms, &|_| false).choices;
        let texts = texts
            .iter()
            .filter_map(|Choice { value, .. }| value.as_ref()?.as_str());
        found.extend(texts.map(|text| Location::new(text, kind)));
    }
    found
}

/// Entries that stand for the same as an earlier one.
fn repeated<'c>(entries: &[Entry<'c>], forms: impl Fn(&str) -> Vec<String>) -> Vec<(usize, EntryFault<'c>)> {
    let mut seen: BTreeMap<Vec<String>, Entry<'c>> = BTreeMap::new();
    let mut faults = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        match seen.entry(forms(entry.text)) {
            std::collections::btree_map::Entry::Occupied(known) => {
                faults.push((at, EntryFault::Covered(*known.get())));
            }
            std::collections::btree_map::Entry::Vacant(free) => {
                free.insert(*entry);
            }
        }
    }
    faults
}

/// A path that another one of its list holds.
struct Below<'c> {
    at: usize,
    place: String,
    narrow: &'c str,
    wide: &'c str,
    lexical: String,
}

/// The paths, each with its place and its lexical form, that are at or below another one.
fn below<'c>(
    paths: &[(usize, &'c str, String)],
    place: &JsonPath<'_>,
    is_excepted: impl Fn(&str, &str) -> bool,
) -> Vec<Below<'c>> {
    let mut found = Vec::new();
    for (at, narrow, lexical) in paths.iter().filter(|_| paths.len() <= MOST_PATHS) {
        let holds = |(other_at, _, other): &&(usize, &str, String)| {
            let is_wider = is_at_or_below(lexical, other) && (other != lexical || other_at < at);
            other_at != at && is_wider && !is_excepted(other, lexical)
        };
        if let Some((_, wide, _)) = paths.iter().find(holds) {
            found.push(Below {
                at: *at,
                place: JsonPath::Index(place, *at).to_string(),
                narrow,
                wide,
                lexical: lexical.clone(),
            });
        }
    }
    found
}

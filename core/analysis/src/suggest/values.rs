//! The values that calls name, as conditions of rules.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use callgate_engine::judge::Explanation;
use callgate_engine::role::{Category, REDACTED, Registry, RoleId};

/// How many paths of one call get a rule each. More get one for the directory that holds them.
const FEW_PATHS: usize = 8;

/// A role, and the arguments that bear it.
pub(super) struct Borne {
    pub(super) id: RoleId,
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
}

/// The values that the calls name.
pub(super) struct Values<'v> {
    pub(super) registry: &'v Registry,
    /// As judged where all values are.
    pub(super) judged: Vec<Explanation>,
    /// As judged by the policy, which may look at further roles.
    pub(super) given: Vec<Explanation>,
}

/// The conditions of a rule, and the role that it is for.
pub(super) type Condition = (Option<String>, Value);

impl Values<'_> {
    /// A role's values in each call, in the form that rules compare.
    fn of(&self, role: RoleId) -> impl Iterator<Item = Vec<String>> {
        let (name, definition) = (self.registry.name(role), self.registry.get(role));
        self.judged.iter().map(move |one| {
            let own = one
                .values
                .iter()
                .filter(|value| value.role == name && value.raw != REDACTED);
            own.flat_map(|value| {
                let canonical = value.canonical.as_deref();
                let text = canonical.unwrap_or(&value.raw);
                // What one remote stands for may be several URLs.
                let is_several = definition.category == Category::Url && canonical.is_some();
                let parts: Vec<String> = match is_several {
                    true => text.split(", ").map(str::to_owned).collect(),
                    false => vec![text.to_owned()],
                };
                parts
            })
            .collect()
        })
    }

    /// Returns `true` if a call has no value under the role.
    pub(super) fn are_missing(&self, role: RoleId) -> bool {
        self.of(role).any(|values| values.is_empty())
    }

    fn distinct(&self, role: RoleId) -> Vec<String> {
        let all: BTreeSet<String> = self.of(role).flatten().collect();
        all.into_iter().collect()
    }

    /// Rules for paths: those that bear the same roles together.
    pub(super) fn paths(&self, roles: &[Borne], is_one: bool, conditions: &mut Vec<Condition>) {
        let mut sets: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
        let is_path = |role: &&Borne| self.registry.get(role.id).category == Category::Path;
        for role in roles.iter().filter(is_path) {
            let paths = self.distinct(role.id);
            match sets.iter_mut().find(|(known, _)| *known == paths) {
                Some((_, known)) => known.push(&role.name),
                None => sets.push((paths, vec![&role.name])),
            }
        }
        for (paths, roles) in sets.iter().filter(|(paths, _)| !paths.is_empty()) {
            let within = match is_one && paths.len() <= FEW_PATHS {
                true => paths.iter().map(String::as_str).collect(),
                false => places(paths),
            };
            for within in within {
                let condition = json!({"paths": {"roles": roles, "within": within}});
                conditions.push((roles.first().map(|role| (*role).to_owned()), condition));
            }
        }
    }

    /// Rules for URLs and names.
    pub(super) fn others(&self, roles: &[Borne], conditions: &mut Vec<Condition>) {
        for role in roles {
            let allowed = self.distinct(role.id);
            let condition = match self.registry.get(role.id).category {
                _ if allowed.is_empty() => continue,
                Category::Path => continue,
                Category::Url => json!({"domains": {"roles": &*role.name, "allowed": allowed}}),
                Category::Identifier | Category::Address | Category::Command | Category::Opaque => {
                    json!({"lists": [{"roles": &*role.name, "allowed": allowed, "matchType": "identifiers"}]})
                }
            };
            conditions.push((Some(role.name.clone()), condition));
        }
    }

    /// The values of roles that do not name resources, as they were given, by argument.
    fn texts(&self, role: &Borne) -> Vec<Vec<(&str, &str)>> {
        let each = self.given.iter().map(|one| {
            let own = one.values.iter().filter(|value| value.role == role.name);
            own.map(|value| (&*value.argument, &*value.raw)).collect()
        });
        each.collect()
    }

    /// Conditions on the values of roles that do not name resources, for a tool that names none.
    pub(super) fn listed(&self, roles: &[Borne]) -> Value {
        let mut lists = Vec::new();
        for role in roles {
            let texts = self.texts(role);
            let all: BTreeSet<&str> = texts.iter().flatten().map(|(_, text)| *text).collect();
            if texts.iter().any(Vec::is_empty) || all.contains(REDACTED) {
                continue;
            }
            let kind = match role.id == RoleId::EMAIL_ADDRESS {
                true => "emails",
                false => "identifiers",
            };
            lists.push(json!({"roles": &*role.name, "allowed": all, "matchType": kind}));
        }
        match lists.is_empty() {
            true => json!({}),
            false => json!({"lists": lists}),
        }
    }

    /// Conditions that hold the other arguments that rules look at to what they are in these calls.
    pub(super) fn fixed(&self, roles: &[Borne]) -> Vec<Value> {
        let mut found = Vec::new();
        for role in roles {
            let texts = self.texts(role);
            for name in role.arguments.iter().filter(|name| !name.starts_with('/')) {
                let pointer = format!("/{}", callgate_engine::text::escape_token(name));
                let own = texts.iter().map(|texts| {
                    let own = texts
                        .iter()
                        .filter(|(argument, _)| argument.starts_with(&pointer));
                    own.map(|(argument, text)| (*argument == pointer).then_some(*text))
                        .collect()
                });
                let own: Vec<Vec<Option<&str>>> = own.collect();
                let single = own.iter().map(|texts| match texts.as_slice() {
                    [Some(text)] if *text != REDACTED => Some(*text),
                    _ => None,
                });
                let single: Option<BTreeSet<&str>> = single.collect();
                match single {
                    Some(texts) => found.push(json!({"arg": name, "in": texts})),
                    None if own.iter().all(Vec::is_empty) => found.push(json!({"arg": name, "is": "absent"})),
                    // Several values at once have no such condition.
                    None => {}
                }
            }
        }
        found
    }
}

/// The places that hold these absolute paths: a directory for several paths in it, else the path itself. Where these are many, the
/// directory above all of them, unless that is the root.
fn places(paths: &[String]) -> Vec<&str> {
    let above = |path: &String| path.rsplit_once('/').map_or(0, |(directory, _)| directory.len());
    // In the order of the directories, so that one stands before those in it.
    let mut sorted: Vec<(&str, &String)> = paths
        .iter()
        .map(|path| (path.get(..above(path)).unwrap_or_default(), path))
        .collect();
    sorted.sort();
    let mut found: Vec<(&str, Vec<&String>)> = Vec::new();
    for (directory, path) in sorted {
        let holds = |(known, _): &&mut (&str, Vec<&String>)| {
            !known.is_empty() && callgate_engine::text::is_at_or_below(directory, known)
        };
        match found.iter_mut().find(holds) {
            Some((_, own)) => own.push(path),
            None => found.push((directory, vec![path])),
        }
    }
    let common = paths
        .iter()
        .skip(1)
        .fold(paths.first().map(String::as_str), |common, path| {
            common.map(|common| common_start(common, path))
        });
    match common.filter(|common| found.len() > FEW_PATHS && !common.is_empty()) {
        Some(common) => vec![common],
        None => (found.iter())
            .map(|(directory, own)| match own.as_slice() {
                [path] => path.as_str(),
                _ => directory,
            })
            .collect(),
    }
}

/// The part of a path that another one begins with, by whole names.
fn common_start<'p>(path: &'p str, other: &str) -> &'p str {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let mut starts = ends.filter_map(|end| path.get(..end));
    starts
        .rfind(|start| callgate_engine::text::is_at_or_below(other, start))
        .unwrap_or_default()
}

//! Where the regions of a tool are not exact, whatever the values.

use core::net::Ipv4Addr;
use std::collections::BTreeSet;

use super::admitted::ADMITTED;
use super::atoms;
use super::divided::{Divided, Other};
use super::same;
use super::slots::Slot;
use callgate_engine::model::{Effect, MutationClass, Reach};
use callgate_engine::net::{DomainSet, Scope};
use callgate_engine::path::PathCase;
use callgate_engine::program::{ListCondition, ListMatcher, Program, Rule, RuleId, Tool};
use callgate_engine::role::{Category, RoleId, RoleSet, Step};
use callgate_engine::world::Condition;

/// How what is said about protected patterns begins.
const PATTERN: &str = "which paths the protected pattern";

/// The reason that is given for tools that may move directories; what the regions say is about files.
const MOVED: &str = "which protected paths a directory that is moved may bring along";

/// The reason that is given for tools that may copy directories, or write below what they name.
const ARRIVES: &str = "what arrives with a directory that is copied";

/// How the reason ends that is given for patterns that match in what is removed.
const REMOVED: &str = "in what is removed";

/// The reason that is given for a tool that no argument tells about, where rules allow some of its calls.
const UNREAD: &str = "arguments that no annotation names, at which a rule that allows has to look";

/// The reason that is given for tools that take commands of a shell.
const COMMANDS: &str = "what the programs of a command read, write, fetch and run, each of which is judged";

/// The reason that is given for patterns of a ceiling.
const CEILING: &str = "the capability ceiling's patterns of arguments are not divided";

/// How the reason begins that is given for a layer that leaves the tool: what it protects, and its ceiling, hold all the same.
pub(super) const LEFT: &str = "what is protected, or beyond the ceiling, in the layer";

/// Returns `true` if the calls that a reason is about are denied, where they are not judged as the regions say.
pub(super) fn is_denied(why: &str) -> bool {
    why.starts_with(PATTERN) || why.starts_with(LEFT) || [MOVED, ARRIVES, UNREAD, CEILING].contains(&why)
}

/// Returns `true` if a person may be asked about some of the calls that a reason is about.
pub(super) fn is_asked(why: &str) -> bool {
    why.ends_with(REMOVED) || [MOVED, ARRIVES, UNREAD].contains(&why)
}

/// Returns `true` if the regions hide no call that is judged less strictly: of these reasons none is about more than
/// directories that arrive, and files that do are in the regions, or than arguments that make a verdict stricter.
pub(super) fn hide_nothing(reasons: &[String]) -> bool {
    reasons
        .iter()
        .all(|why| why.starts_with(LEFT) || [MOVED, ARRIVES, UNREAD].contains(&why.as_str()))
}

impl Divided<'_, '_> {
    /// Notes everything that the division cannot be exact about, whatever the values.
    pub(super) fn note_inexact(&mut self) {
        self.note_program(self.analysis.imagined.program(), self.tool);
        for Other { imagined, tool } in self.layers.clone() {
            self.note_program(imagined.program(), tool);
        }
        let doubts = self.analysis.doubts(&self.tool.server, &self.tool.name);
        doubts.into_iter().for_each(|why| self.note(why));
    }

    /// Notes what follows from one of the programs that judge.
    fn note_program(&mut self, program: &Program, tool: &Tool) {
        let roles: RoleSet = tool
            .arguments
            .iter()
            .flat_map(|one| one.roles.possible())
            .collect();
        let read_as_uris = tool.arguments.iter().filter(|one| one.is_narrowed());
        let notes: Vec<String> = read_as_uris
            .map(|one| format!("texts of `{}`, which are read as URIs", one.name))
            .collect();
        notes.into_iter().for_each(|note| self.note(note));
        let in_one_text = tool.arguments.iter().filter(|one| one.separator.is_some());
        let notes: Vec<String> = in_one_text
            .map(|one| format!("several values in one text of `{}`", one.name))
            .collect();
        notes.into_iter().for_each(|note| self.note(note));
        let commands = roles
            .iter()
            .any(|role| program.registry.get(role).category == Category::Command);
        if commands {
            self.note(COMMANDS.to_owned());
        }
        let looks = |(_, rule): (RuleId, &Rule)| {
            let is_about_arguments = !rule.arguments.is_empty() || !tool.arguments.is_empty();
            rule.effect == Effect::Allow && is_about_arguments
        };
        let is_stricter = tool.unjudged.is_some_and(|effect| effect != Effect::Allow);
        if is_stricter && program.rules_of(tool).any(looks) {
            self.note(UNREAD.to_owned());
        }
        if !tool.ceiling.constraints.is_empty() {
            self.note(CEILING.to_owned());
            match std::ptr::eq(tool, self.tool) {
                true => self.note_constrained(),
                // The patterns of layers above are not looked for in values.
                false => self.note(format!("{ADMITTED} arguments, in a layer above")),
            }
        }
        if let Some(world) = &program.world
            && roles.intersects(program.address_roles)
        {
            let conditions = world.conditions_for(&tool.name);
            let of_host = conditions.filter(|one| one.built_in().is_none());
            for name in of_host.map(Condition::name).collect::<BTreeSet<&str>>() {
                self.note(format!("what the host says of the condition `{name}`"));
            }
        }
        for role in roles.iter() {
            let definition = program.registry.get(role);
            let is_asked = |step: Step| step == Step::Callback;
            if is_asked(definition.canonicalize) || definition.extract_policy_value.is_some_and(is_asked) {
                self.note(format!(
                    "values of the role `{}` are read by the host",
                    definition.name
                ));
            }
        }
        let may_remove = roles.contains(RoleId::DELETE_PATH) || may_remove_places(program, tool, roles);
        if roles.intersects(program.path_roles.union(program.address_roles)) {
            let is_read = atoms::is_read(program, roles);
            let patterns = program.protected.patterns.iter();
            for pattern in patterns.filter(|one| !(is_read && one.may_be_read)) {
                let rest = pattern.pattern.as_str();
                let rest = rest.strip_prefix("**/").unwrap_or(rest);
                let folds = program.path_case == PathCase::Insensitive && *pattern.directory != *"/";
                // What a removal takes along is not known either.
                if rest.contains(['*', '/']) || folds || may_remove {
                    let text = format!(
                        "{}/{}",
                        pattern.directory.trim_end_matches('/'),
                        pattern.pattern.as_str()
                    );
                    let what = match (may_remove, rest.contains(['*', '/']) || folds) {
                        (true, false) => format!("matches {REMOVED}"),
                        (true, true) => format!("matches, there and {REMOVED}"),
                        (false, _) => "matches".to_owned(),
                    };
                    self.note(format!("{PATTERN} `{text}` {what}"));
                }
            }
        }
        let asks_who = program.rules_of(tool).find(|(_, rule)| !rule.context.is_empty());
        if let Some((_, rule)) = asks_who {
            self.note(format!("who asks, at which the rule `{}` looks", rule.name));
        }
        let counts = program.rules_of(tool).find(|(_, rule)| !rule.counts.is_empty());
        if let Some((_, rule)) = counts {
            self.note(format!(
                "how many calls were counted, at which the rule `{}` looks",
                rule.name
            ));
        }
        let restricts = |(_, rule): (RuleId, &Rule)| rule.paths.is_some() && rule.effect != Effect::Allow;
        let holds = !program.protected.is_empty() || program.rules_of(tool).any(restricts);
        match self.brings() {
            Some(why) if holds && program.defaults.judges_below => self.note(why.to_owned()),
            Some(_) | None => {}
        }
        for (_, rule) in program.rules_of(tool) {
            let lists = rule.lists.iter().filter(|list| list.roles.intersects(roles));
            let is_odd = |list: &ListCondition| match list.matcher {
                ListMatcher::Emails(_) => list.roles.intersects(program.resource_roles.intersection(roles)),
                ListMatcher::Domains(_) => {
                    let places = program.path_roles.union(program.address_roles);
                    list.roles.intersects(places.intersection(roles))
                }
                ListMatcher::Identifiers(_) => list.roles.intersects(program.path_roles.intersection(roles)),
            };
            if lists.into_iter().any(is_odd) {
                self.note(format!(
                    "a list of the rule `{}` is compared with texts of another kind",
                    rule.name
                ));
            }
        }
        if program.defaults.reads_refs
            && program.path_case == PathCase::Insensitive
            && roles.contains(RoleId::BRANCH_NAME)
        {
            let names_branches = |(_, rule): (RuleId, &Rule)| {
                let mut lists = rule.lists.iter();
                let is_listed = lists.any(|list| list.roles.contains(RoleId::BRANCH_NAME));
                rule.effect != Effect::Allow && (is_listed || !rule.arguments.is_empty())
            };
            if program.rules_of(tool).any(names_branches) {
                self.note("rules that restrict branches hear them in any case".to_owned());
            }
        }
        self.note_addresses((program, tool), roles);
        let tested = self.slots.iter().filter(|slot| !slot.tests.is_empty());
        let is_resource = |slot: &&Slot<'_>| {
            let argument = slot.argument.and_then(|at| tool.arguments.get(at));
            argument.is_some_and(|one| {
                let mut roles = one.roles.possible();
                roles.any(|role| {
                    let definition = program.registry.get(role);
                    let is_plain = matches!(definition.canonicalize, Step::Identity | Step::Lowercase)
                        && definition.extract_policy_value.is_none()
                        && role != RoleId::EMAIL_ADDRESS;
                    program.resource_roles.contains(role) || !is_plain
                })
            })
        };
        if let Some(slot) = tested.clone().find(is_resource) {
            let why = format!(
                "a condition looks at `{}`, whose values have several forms",
                slot.name()
            );
            self.note(why);
        }
    }

    /// An IPv6 address may carry two IPv4 addresses, and so meet two conditions of a restriction by look-alikes.
    fn note_addresses(&mut self, (program, tool): (&Program, &Tool), roles: RoleSet) {
        let names_address = |set: &DomainSet| set.keys().any(|key| key.text.parse::<Ipv4Addr>().is_ok());
        let names_host = |set: &DomainSet| set.keys().any(|key| key.scope != Scope::Star);
        for (_, rule) in program.rules_of(tool) {
            let own = rule.domains.iter().map(|(of, set)| (*of, set));
            let listed = rule.lists.iter().filter_map(|list| match &list.matcher {
                ListMatcher::Domains(set) => Some((list.roles, set)),
                ListMatcher::Emails(_) | ListMatcher::Identifiers(_) => None,
            });
            let sets = own.chain(listed).filter(|(of, _)| of.intersects(roles));
            let sets: Vec<&DomainSet> = sets.map(|(_, set)| set).collect();
            if rule.effect == Effect::Allow {
                continue;
            }
            if sets.iter().filter(|set| names_address(set)).count() > 1 {
                self.note(format!(
                    "IPv6 addresses that carry several IPv4 addresses which the rule `{}` names",
                    rule.name
                ));
            } else if sets.iter().filter(|set| names_host(set)).count() > 1 {
                self.note(format!(
                    "texts that programs read as several hosts which the rule `{}` names",
                    rule.name
                ));
            }
        }
    }

    /// The reason to give for a tool with which a directory may arrive at a path that it writes.
    fn brings(&self) -> Option<&'static str> {
        let arguments = &self.tool.arguments;
        let bears = |at: usize, role: RoleId| {
            let mut roles = arguments.get(at).into_iter().flat_map(|one| one.roles.possible());
            roles.any(|one| one == role)
        };
        let mut brings = None;
        for (to, argument) in arguments.iter().enumerate() {
            if !bears(to, RoleId::WRITE_PATH) || argument.reach == Some(Reach::Entry) {
                continue;
            }
            let mut others = (0..arguments.len()).filter(|from| *from != to);
            if others.clone().any(|from| bears(from, RoleId::DELETE_PATH)) {
                return Some(MOVED);
            }
            if argument.reach == Some(Reach::Tree) || others.any(|from| bears(from, RoleId::READ_PATH)) {
                brings = Some(ARRIVES);
            }
        }
        brings
    }

    /// Adds what a comparison is not exact about, and forgets what does not matter to it, because both programs refuse the same
    /// there.
    pub(super) fn forgive(&mut self) {
        // They say so of the old calls and of the new ones.
        self.inexact.retain(|why| !why.starts_with(LEFT));
        let Some(other) = self.other else {
            // A tool that the other program does not have is denied there.
            self.inexact.retain(|why| !is_denied(why));
            return;
        };
        let (one, other) = (self.analysis.imagined.program(), other.imagined.program());
        for setting in same::differing(one, other) {
            self.note(format!("what follows from another `{setting}`"));
        }
        let document = |program: &Program| program.ceiling.as_ref().map(|ceiling| ceiling.document().clone());
        if same::protects_alike(one, other) {
            self.inexact
                .retain(|why| !why.starts_with(PATTERN) && ![MOVED, ARRIVES].contains(&why.as_str()));
        }
        let are_anchored_alike = one.sandbox == other.sandbox && one.current == other.current;
        if document(one) == document(other) && are_anchored_alike {
            self.inexact.retain(|why| why != CEILING);
        }
    }
}

/// Returns `true` if a call may remove the place that an address names.
fn may_remove_places(program: &Program, tool: &Tool, roles: RoleSet) -> bool {
    let mutation = tool.semantics.kind.mutation_class();
    let world = program.world.as_ref();
    roles.intersects(program.address_roles)
        && (mutation == MutationClass::Destructive
            || world.is_some_and(|world| world.has_removals(&tool.name)))
}

//! The contexts of a call that a world tells apart.
//!
//! A host gives a context with each call: the mode, the command, and whatever conditions ask about. A context counts only by
//! how the world answers to the addresses of the call, so contexts to which it answers alike, whatever the address, are one.
//! Conditions only ever add to what is allowed. So a session with some of the world's mods answers to each address as one with
//! all of them does, or as one with none: these two stand for all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::choice::Choice;
use super::divided::{Divided, Mode, SlotRoles, products};
use super::label::{Label, listed};
use super::texts::fresh;
use callgate_engine::judge::PlaceSeen;
use callgate_engine::role::RoleSet;
use callgate_engine::world::{BuiltIn, Context, World};

/// Contexts that are held against the addresses of one tool.
const MOST: usize = 4_096;

/// Answers of a world to one address in one context.
const MOST_ANSWERS: usize = 262_144;

/// A signed script, and the key of the contract that it is signed under: an example that a host would give.
const SIGNED: [(&str, &str); 4] = [
    ("contract_key", "contract-key-0001"),
    ("script_host_path", "/srv/tools/run.py"),
    (
        "content_sha256",
        "0000000000000000000000000000000000000000000000000000000000000000",
    ),
    (
        "script_signature",
        "51c393bf0a59babffb5e0ab49b396322d7f673f93c7905f87f382ef73f238cda",
    ),
];

/// One thing that a context may say, and each way to say it. The first is to say nothing.
struct Aspect {
    kind: Kind,
    values: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Mode,
    Command,
    Contract,
    Whitelist,
    Mods,
}

/// How a context is put together: the place of a value for each aspect.
type Picks = Vec<usize>;

/// Contexts that differ in each aspect independently: of some aspects, which values.
type Span = Vec<(usize, Vec<usize>)>;

impl Divided<'_, '_> {
    /// Returns `true` if the slot may hold an address of the world.
    pub(super) fn bears_address(&self, mode: &Mode, slot: usize) -> bool {
        self.are_addresses(self.roles_at(mode, slot))
    }

    fn are_addresses(&self, roles: SlotRoles) -> bool {
        let other = self.other.map(|other| other.imagined.program().address_roles);
        let own = self.analysis.imagined.program().address_roles;
        roles.own.intersects(own) || other.is_some_and(|other| roles.other.intersects(other))
    }

    /// Returns `true` if the context of a call of the tool may count.
    pub(super) fn has_context(&self) -> bool {
        let own = (self.analysis.imagined.program(), self.tool);
        let other = self.other.map(|other| (other.imagined.program(), other.tool));
        std::iter::once(own).chain(other).any(|(program, tool)| {
            let roles = tool.arguments.iter().flat_map(|one| one.roles.possible());
            program.world.is_some() && roles.collect::<RoleSet>().intersects(program.address_roles)
        })
    }

    /// A context for each set that a world does not tell apart, by the addresses of a call in the mode.
    pub(super) fn contexts(&mut self, mode: &Mode) -> Arc<[Choice]> {
        let bearing = (0..self.slots.len()).filter(|slot| self.bears_address(mode, *slot));
        let roles: BTreeSet<SlotRoles> = bearing.map(|slot| self.roles_at(mode, slot)).collect();
        if let Some((known, contexts)) = &self.contexts
            && *known == roles
        {
            return Arc::clone(contexts);
        }
        let mut addresses = BTreeSet::new();
        for roles in &roles {
            let texts = self.texts(*roles);
            let values = texts.choices.iter().filter_map(|choice| choice.value.as_ref());
            addresses.extend(values.filter_map(Value::as_str).map(str::to_owned));
        }
        let contexts: Arc<[Choice]> = self.distinguished_by(&addresses).into();
        self.contexts = Some((roles, Arc::clone(&contexts)));
        contexts
    }

    fn distinguished_by(&mut self, addresses: &BTreeSet<String>) -> Vec<Choice> {
        let aspects = self.aspects();
        let sizes: Vec<usize> = aspects.iter().map(|aspect| aspect.values.len()).collect();
        let all = sizes.iter().copied().try_fold(1, usize::checked_mul);
        let most = MOST.min(MOST_ANSWERS / addresses.len().max(1));
        if all.is_none_or(|all| all > most) {
            self.note(format!(
                "too many contexts of calls: only {most} of them were looked at"
            ));
        }
        let mut classes: Vec<(Vec<PlaceSeen>, Vec<Picks>)> = Vec::new();
        let mut known: BTreeMap<Vec<PlaceSeen>, usize> = BTreeMap::new();
        for picks in products(&sizes, most) {
            let answers = self.answers(addresses, &context_of(&aspects, &picks));
            let at = *known.entry(answers.clone()).or_insert(classes.len());
            match classes.get_mut(at) {
                Some((_, members)) => members.push(picks),
                None => classes.push((answers, vec![picks])),
            }
        }
        let choice = |(nth, (_, members)): (usize, &(Vec<PlaceSeen>, Vec<Picks>))| {
            let first = members.first().map(|picks| context_of(&aspects, picks));
            // The first of all contexts says nothing.
            let text = match nth {
                0 => "any other context".to_owned(),
                _ => described(&aspects, members),
            };
            Choice::value(first.unwrap_or_default(), Label::Context(text))
        };
        classes.iter().enumerate().map(choice).collect()
    }

    /// How the worlds answer to each address in the context.
    pub(super) fn answers<'t>(
        &self,
        addresses: impl IntoIterator<Item = &'t String>,
        context: &Value,
    ) -> Vec<PlaceSeen> {
        let context = Context::from_value(context);
        let mut answers = Vec::new();
        for address in addresses {
            answers.push(self.analysis.imagined.place_seen(self.tool, address, &context));
            let other = self
                .other
                .map(|other| other.imagined.place_seen(other.tool, address, &context));
            answers.extend(other);
        }
        answers
    }

    /// Everything that a context can say to one of the worlds.
    fn aspects(&self) -> Vec<Aspect> {
        let own = (self.analysis.imagined.program(), self.tool);
        let other = self.other.map(|other| (other.imagined.program(), other.tool));
        let sides = std::iter::once(own).chain(other);
        let worlds: Vec<(&World, &str)> = sides
            .filter_map(|(program, tool)| Some((program.world.as_ref()?, &*tool.name)))
            .collect();
        let modes = worlds.iter().flat_map(|(world, _)| world.modes());
        let commands = worlds.iter().flat_map(|(world, tool)| world.commands_of(tool));
        let conditions = worlds.iter().flat_map(|(world, tool)| world.conditions_for(tool));
        let conditions: Vec<BuiltIn> = conditions.filter_map(|one| one.built_in()).collect();
        let asks = |wanted: BuiltIn| conditions.contains(&wanted);
        let words = |of: &[&str]| of.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let contract = match (asks(BuiltIn::HasContract), asks(BuiltIn::ExecSigned)) {
            (_, true) => words(&["", "contract", "signed"]),
            (true, false) => words(&["", "contract"]),
            (false, false) => words(&[""]),
        };
        let whitelist = match asks(BuiltIn::CommandWhitelisted) {
            true => words(&["", "whitelisted"]),
            false => words(&[""]),
        };
        let mods = match worlds.iter().any(|(world, _)| !world.mounts.is_empty()) {
            true => words(&["", "none"]),
            false => words(&[""]),
        };
        [
            (Kind::Mode, named("some-mode", modes.collect())),
            (Kind::Command, named("some-command", commands.collect())),
            (Kind::Contract, contract),
            (Kind::Whitelist, whitelist),
            (Kind::Mods, mods),
        ]
        .into_iter()
        .map(|(kind, values)| Aspect { kind, values })
        .collect()
    }
}

/// Nothing, each of the names, and at last one that is none of them.
fn named(other: &str, names: BTreeSet<&str>) -> Vec<String> {
    let is_free = |name: &str| !names.contains(name);
    let other = fresh(other, names.len(), is_free).unwrap_or_else(|name| name);
    let known = names.iter().filter(|name| !name.is_empty());
    let known = known.map(|name| (*name).to_owned());
    std::iter::once(String::new())
        .chain(known)
        .chain(std::iter::once(other))
        .collect()
}

/// The context in which each aspect has the value that was picked for it.
fn context_of(aspects: &[Aspect], picks: &Picks) -> Value {
    let mut members = Map::new();
    let command = aspects
        .iter()
        .zip(picks)
        .find(|(aspect, _)| aspect.kind == Kind::Command);
    let command = command.and_then(|(aspect, pick)| aspect.values.get(*pick));
    for (aspect, pick) in aspects.iter().zip(picks) {
        let Some(value) = aspect.values.get(*pick).filter(|value| !value.is_empty()) else {
            continue;
        };
        let mut say = |name: &str, value: Value| {
            members.insert(name.to_owned(), value);
        };
        match aspect.kind {
            Kind::Mode => say("mode", value.as_str().into()),
            Kind::Command => say("command", value.as_str().into()),
            Kind::Contract => {
                say("has_contract", true.into());
                if value == "signed" {
                    SIGNED.iter().for_each(|(name, text)| say(name, (*text).into()));
                }
            }
            Kind::Whitelist => say("command_whitelist", json!([command.map_or("", String::as_str)])),
            Kind::Mods => say("session_mods", json!([])),
        }
    }
    Value::Object(members)
}

/// A description of these contexts.
fn described(aspects: &[Aspect], members: &[Picks]) -> String {
    let members: BTreeSet<&[usize]> = members.iter().map(Vec::as_slice).collect();
    let spans = spans(aspects, 0, &members);
    let texts: Vec<String> = spans.iter().map(|span| span_text(aspects, span)).collect();
    listed(&texts, "; or ")
}

/// The contexts as few spans, by one aspect after the other.
fn spans(aspects: &[Aspect], at: usize, members: &BTreeSet<&[usize]>) -> Vec<Span> {
    let Some(aspect) = aspects.get(at) else {
        return vec![Vec::new()];
    };
    let mut rests: BTreeMap<usize, BTreeSet<&[usize]>> = BTreeMap::new();
    for picks in members {
        if let Some((first, rest)) = picks.split_first() {
            rests.entry(*first).or_default().insert(rest);
        }
    }
    let mut alike: Vec<(Vec<usize>, BTreeSet<&[usize]>)> = Vec::new();
    for (value, rest) in rests {
        match alike.iter_mut().find(|(_, known)| *known == rest) {
            Some((values, _)) => values.push(value),
            None => alike.push((vec![value], rest)),
        }
    }
    let mut found = Vec::new();
    for (values, rest) in alike {
        for mut span in spans(aspects, at + 1, &rest) {
            if values.len() < aspect.values.len() {
                span.insert(0, (at, values.clone()));
            }
            found.push(span);
        }
    }
    found
}

/// `in mode `dev`, for the command `write`, with a contract`
fn span_text(aspects: &[Aspect], span: &Span) -> String {
    let each = span.iter().filter_map(|(at, values)| {
        let aspect = aspects.get(*at)?;
        Some(aspect_text(aspect, values))
    });
    let text = each.collect::<Vec<_>>().join(", ");
    match text.is_empty() {
        true => "in any context".to_owned(),
        false => text,
    }
}

fn aspect_text(aspect: &Aspect, values: &[usize]) -> String {
    let last = aspect.values.len().saturating_sub(1);
    let has = |value: usize| values.contains(&value);
    let names = || -> Vec<String> {
        let named = values.iter().filter(|value| **value > 0 && **value < last);
        named
            .filter_map(|value| Some(format!("`{}`", aspect.values.get(*value)?)))
            .collect()
    };
    match aspect.kind {
        Kind::Mode => {
            let mut words = names();
            words.extend(has(last).then(|| "any other mode".to_owned()));
            words.extend(has(0).then(|| "no mode".to_owned()));
            format!("in {}{}", plural("mode", &words), listed(&words, " or "))
        }
        Kind::Command => {
            let mut words = names();
            words.extend(has(last).then(|| "any other command".to_owned()));
            words.extend(has(0).then(|| "no command".to_owned()));
            format!("for {}{}", plural("the command", &words), listed(&words, " or "))
        }
        Kind::Contract => match (has(0), has(1), has(2)) {
            (false, true, true) => "with a contract",
            (false, true, false) if last == 1 => "with a contract",
            (false, true, false) => "with a contract, the script not signed",
            (false, false, _) => "with a contract under which the script is signed",
            (true, false, false) => "without a contract",
            (true, _, _) => "without a signed script",
        }
        .to_owned(),
        Kind::Whitelist => match has(0) {
            true => "the command not whitelisted",
            false => "the command whitelisted",
        }
        .to_owned(),
        Kind::Mods => match has(0) {
            true => "in a session with the mod",
            false => "in a session without the mod",
        }
        .to_owned(),
    }
}

/// The word before names, and nothing before other words.
fn plural(word: &str, words: &[String]) -> String {
    match words.first().is_some_and(|first| first.starts_with('`')) {
        true => format!("{word} "),
        false => String::new(),
    }
}

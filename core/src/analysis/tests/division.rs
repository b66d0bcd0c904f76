//! The property: what judging sees of a value is what it sees of one of the values that stand for others, and a call in which
//! each value is replaced by that one is judged alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, RngSeed, TestRng, TestRunner};
use serde_json::Value;

use super::arbitrary::{self, Documents};
use super::calls::{self, Random};
use crate::analysis::choice::Choice;
use crate::analysis::divided::{Divided, Group, Mode, SlotRoles};
use crate::analysis::inexact::{CEILING, PATTERN};
use crate::analysis::label::Label;
use crate::analysis::modes::kind;
use crate::analysis::slots::{self, Slot};
use crate::analysis::{Analysis, Region};
use crate::bind::Call;
use crate::config::DocumentKind;
use crate::judge::{Sight, ValueSight};
use crate::role::{RoleId, RoleSet};

/// Counts of the calls that were compared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    calls: usize,
    /// Calls that are refused for their form.
    refused: usize,
    /// Calls with a value that is not what its role expects.
    unclear: usize,
    /// Calls whose verdict was compared with those of the regions of its parts.
    combined: usize,
}

/// How judging sees each choice, by argument and roles.
type Known = BTreeMap<(usize, Vec<RoleId>, bool), Vec<(Vec<u8>, Choice)>>;

/// The groups of one mode: the groups, the parts of which each is one, and those about what is absent together.
struct Way {
    groups: Vec<Group>,
    parts: Vec<Vec<Region>>,
    without: Vec<Region>,
}

struct Subject<'a, 'e> {
    analysis: &'a Analysis<'e>,
    divided: Divided<'a, 'e>,
    modes: Vec<Mode>,
    ways: Vec<Way>,
    known: Known,
    mistake: Mistake,
}

/// A mistake that a division could make.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mistake {
    None,
    /// Choices with such a label are left out.
    Forgets(fn(&Label) -> bool),
    /// Arguments that rules look at together are looked at one by one.
    Splits,
    /// The last of several combinations of what conditions look at is left out.
    ForgetsMode,
    /// Arguments that are absent together are not looked at.
    ForgetsAbsence,
    /// Nothing is said of regions that are not exact.
    HidesNotes,
}

impl<'a, 'e> Subject<'a, 'e> {
    fn new(analysis: &'a Analysis<'e>, server: &str, tool: &str, mistake: Mistake) -> Self {
        let tool = analysis.imagined.program().tool(server, tool).unwrap();
        let mut divided = Divided::new(analysis, tool);
        divided.note_inexact();
        let mut modes = divided.modes();
        if matches!(mistake, Mistake::ForgetsMode) && modes.len() > 1 {
            modes.pop();
        }
        let mut ways = Vec::new();
        for mode in &modes {
            let mut groups = divided.groups(mode);
            if matches!(mistake, Mistake::Splits) {
                groups = groups.into_iter().flat_map(split).collect();
            }
            let least = divided.least(mode, &groups);
            let mut regions = |at: usize| divided.part(mode, &groups, &least, at).part.regions;
            let parts = (0..groups.len().max(1)).map(&mut regions).collect();
            let without = match mistake {
                Mistake::ForgetsAbsence => Vec::new(),
                _ => divided.parts_without(mode, &groups, &least),
            };
            let without = without.into_iter().flat_map(|cut| cut.part.regions);
            ways.push(Way {
                without: without.collect(),
                groups,
                parts,
            });
        }
        Self {
            analysis,
            modes,
            ways,
            divided,
            known: Known::new(),
            mistake,
        }
    }

    fn forgets(&self, label: &Label) -> bool {
        matches!(self.mistake, Mistake::Forgets(forgets) if forgets(label))
    }

    fn call<'v>(&self, arguments: &'v Value) -> Call<'v>
    where
        'e: 'v,
    {
        Call::from_value(&self.divided.tool.server, &self.divided.tool.name, arguments)
    }

    fn verdict(&self, arguments: &Value) -> (u8, String) {
        let call = self.call(arguments);
        let verdict = self.analysis.imagined.judge(&call);
        (verdict.decision.strictness(), verdict.rule.to_string())
    }

    /// How judging sees each value that stands for others under the argument, in a call like this one.
    fn choices(&mut self, sight: &Sight, argument: usize, arguments: &Value) -> &[(Vec<u8>, Choice)] {
        let roles = sight.roles.get(argument).cloned().unwrap_or_default();
        // What the name of a remote stands for depends on whether a path says in which repository.
        let has_path = has_text(arguments.get("path"));
        let key = (argument, roles.clone(), has_path);
        if !self.known.contains_key(&key) {
            let roles = SlotRoles {
                own: roles.into_iter().collect(),
                other: RoleSet::default(),
            };
            let mut found = Vec::new();
            let name = self.divided.slots.get(argument).unwrap().name();
            let choices = self.divided.choices_for(argument, roles);
            for choice in choices.iter().filter(|choice| !self.forgets(&choice.label)) {
                let mut other = arguments.clone();
                if let Some(value) = choice.value.as_ref().filter(|value| value.is_string()) {
                    let place = place(&mut other, &name).unwrap();
                    *place = match value_at(arguments, &name) {
                        Some(Value::Array(_)) => Value::Array(vec![value.clone()]),
                        _ => value.clone(),
                    };
                    let seen = self.analysis.imagined.sight(&self.call(&other));
                    // What the ceiling refuses stands for nothing that it admits, but what is protected is denied before that.
                    let seen = seen.and_then(|seen| {
                        let own = seen.values.into_iter().find(|one| one.argument == Some(argument));
                        own.filter(|one| !seen.is_above || one.seen == [1])
                    });
                    found.extend(seen.map(|one| (one.seen, choice.clone())));
                }
            }
            self.known.insert(key.clone(), found);
        }
        self.known.get(&key).unwrap()
    }

    /// The arguments under the names that aliases stand for.
    fn renamed(&self, arguments: &Value) -> Value {
        let aliases = &self.divided.tool.semantics.arg_schema.arg_aliases;
        let mut renamed = arguments.clone();
        for (alias, key) in aliases {
            let members = renamed.as_object_mut().unwrap();
            if !members.contains_key(&**key)
                && let Some(value) = members.remove(&**alias)
            {
                members.insert(key.to_string(), value);
            }
        }
        renamed
    }

    fn check(&mut self, given: &Value, tally: &mut Tally) -> Result<(), String> {
        tally.calls += 1;
        let arguments = &self.renamed(given);
        let verdict = self.verdict(arguments);
        if self.verdict(given) != verdict {
            return Err(format!("{verdict:?} for {arguments}, but not under an alias"));
        }
        if verdict.1 == "trusted-server" {
            let mut regions = self.ways.iter().flat_map(|way| way.parts.iter().flatten());
            return match regions.all(|region| region.rule == verdict.1) {
                true => Ok(()),
                false => Err("the server is trusted".to_owned()),
            };
        }
        let Some(sight) = self.analysis.imagined.sight(&self.call(arguments)) else {
            tally.refused += 1;
            return match verdict.0 {
                2 => Ok(()),
                _ => Err(format!("refused by its form, and yet {verdict:?}")),
            };
        };
        if sight.looks_protected || sight.is_above {
            return match verdict.0 {
                2 => Ok(()),
                _ => Err(format!(
                    "a protected path or above the ceiling, and yet {verdict:?}"
                )),
            };
        }
        let mut stands = arguments.clone();
        let mut is_unclear = false;
        let mut texts: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for one in &sight.values {
            let Some(argument) = one.argument else { continue };
            // What conditions see of it matters as well.
            let slot = self.divided.slots.get(argument);
            if slot.is_some_and(|slot| !slot.tests.is_empty()) {
                match self.tested(&sight, argument, one, arguments)? {
                    Some(value) => {
                        let name = self.divided.slots.get(argument).unwrap().name();
                        *place(&mut stands, &name).unwrap() = value;
                    }
                    None => is_unclear |= !one.is_clear,
                }
                continue;
            }
            let (seen, is_clear) = (one.seen.clone(), one.is_clear);
            let is_inexact = self.is_inexact();
            let roles = sight.roles.get(argument).into_iter().flatten();
            let path_roles = self.analysis.imagined.program().path_roles;
            let is_path = roles.into_iter().any(|role| path_roles.contains(*role));
            let found = self.choices(&sight, argument, arguments);
            let text_of = |choice: &Choice| choice.value.as_ref().unwrap().as_str().unwrap().to_owned();
            // An entry of a list that looks like a protected path stands for itself alone.
            let may_stand =
                |choice: &Choice| is_path || text_of(choice) == one.text || !looks_like_path(choice);
            let found = found
                .iter()
                .find(|(known, choice)| *known == seen && may_stand(choice));
            let text = match found {
                Some((_, choice)) => text_of(choice),
                None if !is_clear => {
                    is_unclear = true;
                    one.text.clone()
                }
                None if is_inexact => one.text.clone(),
                None => {
                    let known: Vec<String> = self
                        .choices(&sight, argument, arguments)
                        .iter()
                        .map(|(seen, choice)| format!("{seen:?} {choice:?}"))
                        .collect();
                    return Err(format!(
                        "no region for `{}` {seen:?} of\n{}",
                        one.text,
                        known.join("\n")
                    ));
                }
            };
            texts.entry(argument).or_default().push(text);
        }
        for (argument, texts) in texts {
            let name = self.divided.slots.get(argument).unwrap().name();
            let mut texts = texts.into_iter();
            match place(&mut stands, &name) {
                Some(Value::Array(items)) => {
                    for item in items.iter_mut().filter(|item| item.is_string()) {
                        *item = texts.next().unwrap().into();
                    }
                }
                Some(other) => *other = texts.next().unwrap().into(),
                None => return Err(format!("no argument {name}")),
            }
        }
        tally.unclear += usize::from(is_unclear);
        let found = self.verdict(&stands);
        if found != verdict {
            return Err(format!("{verdict:?}, but {found:?} for {stands}"));
        }
        if !is_unclear && !sight.has_unknown {
            self.check_combined(arguments, &stands, &sight, verdict.0, tally)?;
        }
        Ok(())
    }

    /// The value that stands for that of an argument which conditions look at: seen alike by judging and by each condition.
    /// `None` where it stands for itself: it is one of several, or is not exact.
    fn tested(
        &self,
        sight: &Sight,
        argument: usize,
        one: &ValueSight,
        arguments: &Value,
    ) -> Result<Option<Value>, String> {
        let of_argument = |value: &&ValueSight| value.argument == Some(argument);
        let slot = self.divided.slots.get(argument).unwrap();
        let given = value_at(arguments, &slot.name());
        let is_alone = sight.values.iter().filter(of_argument).count() == 1;
        let is_plain = given
            .is_some_and(|given| given.is_string() || given.as_array().is_some_and(|all| all.len() == 1));
        if !is_alone || !is_plain || !one.is_clear || self.is_inexact() {
            return Ok(None);
        }
        let met = self.divided.met(arguments);
        let fixed = self
            .modes
            .iter()
            .filter_map(|mode| mode.fixed.get(argument)?.as_ref());
        // An entry of a list that looks like a protected path stands for itself alone.
        let may_stand = |choice: &&Choice| text_of(choice) == one.text || !looks_like_path(choice);
        let known = fixed.filter(|choice| !self.forgets(&choice.label) && may_stand(choice));
        let values = known.filter_map(|choice| Some(slots::as_accepted(slot, choice.value.as_ref()?)));
        for value in values {
            let mut other = arguments.clone();
            *place(&mut other, &slot.name()).unwrap() = value.clone();
            if self.divided.met(&other) != met {
                continue;
            }
            let seen = self.analysis.imagined.sight(&self.call(&other));
            let mut seen = seen.iter().flat_map(|seen| &seen.values).filter(of_argument);
            let has_same_roles =
                slots::roles(self.analysis.imagined.program(), self.divided.tool, &other) == sight.roles;
            if let (Some(seen), None) = (seen.next(), seen.next())
                && seen.seen == one.seen
                && has_same_roles
            {
                return Ok(Some(value));
            }
        }
        Err(format!(
            "no region for {given:?} {:?}, which conditions look at",
            one.seen
        ))
    }

    /// Returns `true` if something is not exact. What is not denied is, whatever patterns of protected paths and ceilings match.
    fn is_inexact(&self) -> bool {
        let mut inexact = self.divided.inexact.iter();
        let matters = |why: &String| !why.starts_with(PATTERN) && *why != CEILING;
        !matches!(self.mistake, Mistake::HidesNotes) && inexact.any(matters)
    }

    /// The verdict is the strictest of the regions that the parts lie in.
    fn check_combined(
        &mut self,
        given: &Value,
        stands: &Value,
        sight: &Sight,
        verdict: u8,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let says_nothing = matches!(self.mistake, Mistake::HidesNotes);
        if !self.divided.inexact.is_empty() && !says_nothing {
            return Ok(());
        }
        let met = self.divided.met(given);
        // What bears values that judging looks at is a mode of its own.
        let holds_values = |slot: &Slot<'_>| {
            let name = slot.name();
            let mut values = sight.values.iter().filter_map(|value| value.argument);
            let is_valued =
                values.any(|at| self.divided.slots.get(at).is_some_and(|slot| slot.name() == name));
            is_valued && !slot.tests.is_empty()
        };
        let is_mode = |mode: &Mode| {
            let is_valued = |slot: &Slot<'_>| {
                let mut slots = self.divided.slots.iter();
                let at = slots.position(|one| std::ptr::eq(one, slot)).unwrap();
                self.divided.are_valued(self.divided.roles_at(mode, at))
            };
            let values = mode.fixed.iter().map(|choice| choice.as_ref()?.value.as_ref());
            let (arguments, _) = self.divided.given(values);
            let mut each = self.divided.slots.iter();
            mode.roles == sight.roles
                && self.divided.met(&arguments) == met
                && each.all(|slot| {
                    let name = slot.name();
                    let (own, stands) = (value_at(&arguments, &name), value_at(stands, &name));
                    match holds_values(slot) {
                        true => own == stands,
                        false => {
                            slot.tests.is_empty()
                                || !is_valued(slot)
                                || has_text(own) == has_text(stands) && kind(own) == kind(stands)
                        }
                    }
                })
        };
        let Some(at) = self.modes.iter().position(is_mode) else {
            let is_several = |slot: &Slot<'_>| {
                let value = value_at(stands, &slot.name()).and_then(Value::as_array);
                holds_values(slot) && value.is_some_and(|all| all.len() != 1)
            };
            return match self.divided.slots.iter().any(is_several) {
                true => Ok(()),
                false => Err(format!("no mode for {given}, {stands}")),
            };
        };
        let way = self.ways.get(at).unwrap();
        let mut strictest = 0;
        for (group, regions) in way.groups.iter().zip(&way.parts) {
            let mut place = 0;
            for (slot, choices) in group.slots.iter().zip(&group.choices) {
                let name = self.divided.slots.get(*slot).unwrap().name();
                let value = match value_at(stands, &name) {
                    Some(Value::Array(items)) if items.len() == 1 && items[0].is_string() => items.first(),
                    other => other,
                };
                let found = match value {
                    Some(Value::String(_)) => {
                        choices.iter().position(|choice| choice.value.as_ref() == value)
                    }
                    // Whatever names nothing is alike.
                    other if !has_text(other) => match choices.iter().position(Choice::is_empty) {
                        None => {
                            return Err(format!("`{name}` names nothing in {stands}, and no region is so"));
                        }
                        found => found,
                    },
                    _ => return Ok(()),
                };
                let Some(found) = found else { return Ok(()) };
                place = place * choices.len() + found;
            }
            let decision = regions.get(place).unwrap().decision;
            strictest = strictest.max(strictness(decision));
        }
        if way.groups.is_empty() {
            let region = way.parts.first().and_then(|regions| regions.first()).unwrap();
            strictest = strictness(region.decision);
        }
        for region in &way.without {
            let mut places = region.places.iter();
            if places.all(|place| !has_text(value_at(stands, &place.argument))) {
                strictest = strictest.max(strictness(region.decision));
            }
        }
        tally.combined += 1;
        if strictest != verdict {
            return Err(format!(
                "the regions of {stands} say {strictest}, the engine {verdict}"
            ));
        }
        Ok(())
    }
}

fn strictness(decision: &str) -> u8 {
    match decision {
        "allow" => 0,
        "escalate" => 1,
        _ => 2,
    }
}

/// The groups, each with one argument.
fn split(group: Group) -> Vec<Group> {
    if group.extra.is_some() {
        return vec![group];
    }
    let each = group.slots.iter().zip(&group.choices);
    each.map(|(slot, choices)| Group {
        slots: vec![*slot],
        choices: vec![Arc::clone(choices)],
        extra: None,
    })
    .collect()
}

/// Where the argument stands: `*` is the first item.
fn pointer(name: &str) -> String {
    match name.starts_with('/') {
        true => name.replace('*', "0"),
        false => format!("/{name}"),
    }
}

fn value_at<'v>(arguments: &'v Value, name: &str) -> Option<&'v Value> {
    arguments.pointer(&pointer(name))
}

fn place<'v>(arguments: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    arguments.pointer_mut(&pointer(name))
}

/// Returns `true` if an argument has a value.
fn has_text(value: Option<&Value>) -> bool {
    match value {
        Some(Value::String(_)) => true,
        Some(Value::Array(items)) => items.iter().any(Value::is_string),
        _ => false,
    }
}

/// The text of a choice, or of the only item of its array.
fn text_of(choice: &Choice) -> &str {
    let value = choice.value.as_ref();
    let item = value.and_then(Value::as_array).and_then(|items| items.first());
    item.or(value).and_then(Value::as_str).unwrap_or_default()
}

/// Returns `true` if the text looks like a path and has the label of something else.
fn looks_like_path(choice: &Choice) -> bool {
    let label = match &choice.label {
        Label::InArray(label) => label,
        label => label,
    };
    text_of(choice).starts_with(['/', '.', '~']) && matches!(label, Label::Is(_) | Label::Of(..))
}

/// Holds `calls` calls of each tool against the regions.
pub(super) fn hold(
    documents: &Documents,
    seed: u64,
    calls: usize,
    tally: &mut Tally,
    mistake: Mistake,
) -> Result<(), String> {
    let Some(engine) = arbitrary::engine(documents) else {
        return Ok(());
    };
    let analysis = Analysis::new(&engine);
    let mut random = Random(seed | 1);
    for (at, (server, tool, _)) in calls::all_tools().enumerate() {
        if analysis.imagined.program().tool(server, tool).is_none() {
            continue;
        }
        let mut subject = Subject::new(&analysis, server, tool, mistake);
        for call in 0..calls {
            let mut arguments = calls::arguments(at, &mut random);
            // Once no argument is there.
            if call == 0 {
                arguments = Value::Object(serde_json::Map::new());
            }
            subject
                .check(&arguments, tally)
                .map_err(|why| format!("{server}/{tool} {arguments}: {why}\n{}", shown(documents)))?;
        }
    }
    Ok(())
}

/// The documents, but for the annotations, which are always the same.
pub(super) fn shown(documents: &Documents) -> String {
    let others = documents
        .iter()
        .filter(|(kind, _)| *kind != DocumentKind::Annotations);
    let mode = documents.iter().find_map(|(kind, value)| {
        let schema = value.pointer("/servers/files/tools/1/inputSchema");
        schema.filter(|_| *kind == DocumentKind::Annotations)
    });
    let others = others.map(|(kind, value)| format!("{}: {value}\n", kind.as_str()));
    others.chain(mode.map(|mode| format!("mode: {mode}\n"))).collect()
}

pub(super) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_261_123),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(25))]

    #[test]
    fn a_call_is_judged_as_its_regions_are(documents in arbitrary::more_documents(), seed in any::<u64>()) {
        let mut tally = Tally::default();
        if let Err(why) = hold(&documents, seed, 8, &mut tally, Mistake::None) {
            return Err(TestCaseError::fail(why));
        }
    }
}

/// `cargo test --release -p callgate-core --features analysis -- --ignored a_million_calls`
#[test]
#[ignore = "takes minutes in a release build"]
fn a_million_calls_are_judged_as_their_regions_are() {
    let (mut failed, mut tried) = (Vec::new(), 0);
    for first in SEEDS {
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[*first; 32]);
        let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
        let mut tally = Tally::default();
        let mut seed = u64::from(*first);
        while tally.calls < 1_000_000 && failed.len() < MOST_FAILURES {
            let documents = arbitrary::more_documents()
                .new_tree(&mut runner)
                .unwrap()
                .current();
            seed += 1;
            tried += 1;
            let calls = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed);
            failed.extend(hold(&documents, calls, 40, &mut tally, Mistake::None).err());
        }
        println!("{tally:?}");
        // A property that compares nothing says nothing.
        assert!(
            !failed.is_empty() || tally.combined > tally.calls / 10,
            "{tally:?}"
        );
    }
    let count = failed.len();
    assert!(
        failed.is_empty(),
        "{count} of {tried} documents\n{}",
        failed.join("\n")
    );
}

/// Seeds of the documents of which each is asked about a million calls.
const SEEDS: &[u8] = &[7, 8, 9];

/// Failures that are shown at most.
const MOST_FAILURES: usize = 20;

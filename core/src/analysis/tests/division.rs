//! The property: what judging sees of a value is what it sees of one of the values that stand for others, and a call in which
//! each value is replaced by that one is judged alike.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, RngSeed, TestRng, TestRunner};
use serde_json::Value;

use super::arbitrary::{self, Documents};
use super::calls::{self, Random, TOOLS};
use crate::analysis::choice::Choice;
use crate::analysis::divided::{Divided, Mode, SlotRoles};
use crate::analysis::label::Label;
use crate::analysis::modes::test_each;
use crate::analysis::slots::{self, Slot};
use crate::analysis::{Analysis, ToolRegions};
use crate::bind::Call;
use crate::config::DocumentKind;
use crate::judge::{Sight, ValueSight};
use crate::role::{RoleId, RoleSet};

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    calls: usize,
    /// Calls that are refused for their form.
    refused: usize,
    /// Calls with a value that is not what its role expects.
    unclear: usize,
    /// Calls whose verdict was compared with those of the regions of its parts.
    combined: usize,
}

/// What judging sees of each choice, by argument and roles.
type Known = BTreeMap<(usize, Vec<RoleId>, bool), Vec<(Vec<u8>, Choice)>>;

struct Subject<'a, 'e> {
    analysis: &'a Analysis<'e>,
    divided: Divided<'a, 'e>,
    regions: ToolRegions,
    modes: Vec<Mode>,
    known: Known,
    /// Choices that are left out, as a division with a mistake would.
    forgets: Mistake,
}

/// Whether a choice with this label is forgotten.
type Mistake = fn(&Label) -> bool;

impl<'a, 'e> Subject<'a, 'e> {
    fn new(analysis: &'a Analysis<'e>, server: &str, tool: &str, forgets: Mistake) -> Self {
        let tool = analysis.imagined.program().tool(server, tool).unwrap();
        let mut divided = Divided::new(analysis, tool);
        let modes = divided.modes();
        Self {
            analysis,
            regions: analysis.tool(&tool.server, &tool.name).unwrap(),
            modes,
            divided,
            known: Known::new(),
            forgets,
        }
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

    /// What judging sees of each value that stands for others under the argument, in a call like this one.
    fn choices(&mut self, sight: &Sight, argument: usize, arguments: &Value) -> &[(Vec<u8>, Choice)] {
        let roles = sight.roles.get(argument).cloned().unwrap_or_default();
        // What the name of a remote stands for depends on whether a path says in which repository.
        let has_path = arguments.get("path").is_some_and(Value::is_string);
        let key = (argument, roles.clone(), has_path);
        if !self.known.contains_key(&key) {
            let roles = SlotRoles {
                own: roles.into_iter().collect(),
                other: RoleSet::default(),
            };
            let mut found = Vec::new();
            let name = self.divided.slots.get(argument).unwrap().name();
            let forgets = self.forgets;
            let choices = self.divided.choices_for(argument, roles);
            for choice in choices.iter().filter(|choice| !forgets(&choice.label)) {
                let mut other = arguments.clone();
                if let Some(value) = &choice.value {
                    other[&name] = match arguments.get(&name) {
                        Some(Value::Array(_)) => Value::Array(vec![value.clone()]),
                        _ => value.clone(),
                    };
                    let seen = self.analysis.imagined.sight(&self.call(&other));
                    let seen = seen
                        .and_then(|seen| seen.values.into_iter().find(|one| one.argument == Some(argument)));
                    found.extend(seen.map(|one| (one.seen, choice.clone())));
                }
            }
            self.known.insert(key.clone(), found);
        }
        self.known.get(&key).unwrap()
    }

    fn check(&mut self, arguments: &Value, tally: &mut Tally) -> Result<(), String> {
        tally.calls += 1;
        let verdict = self.verdict(arguments);
        let Some(sight) = self.analysis.imagined.sight(&self.call(arguments)) else {
            tally.refused += 1;
            return match verdict.0 {
                2 => Ok(()),
                _ => Err(format!("refused by its form, and yet {verdict:?}")),
            };
        };
        if sight.looks_protected {
            return match verdict.0 {
                2 => Ok(()),
                _ => Err(format!("a protected path, and yet {verdict:?}")),
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
                    Some(value) => stands[self.divided.slots.get(argument).unwrap().name()] = value,
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
            match stands.get_mut(&name) {
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
        let given = arguments.get(slot.name());
        let is_alone = sight.values.iter().filter(of_argument).count() == 1;
        let is_plain = given
            .is_some_and(|given| given.is_string() || given.as_array().is_some_and(|all| all.len() == 1));
        if !is_alone || !is_plain || !one.is_clear || self.is_inexact() {
            return Ok(None);
        }
        let tests = test_each(&slot.tests, given);
        let fixed = self
            .modes
            .iter()
            .filter_map(|mode| mode.fixed.get(argument)?.as_ref());
        let known = fixed.filter(|choice| !(self.forgets)(&choice.label));
        let values = known.filter_map(|choice| Some(slots::as_accepted(slot, choice.value.as_ref()?)));
        for value in values.filter(|value| test_each(&slot.tests, Some(value)) == tests) {
            let mut other = arguments.clone();
            other[slot.name()] = value.clone();
            let seen = self.analysis.imagined.sight(&self.call(&other));
            let mut seen = seen.iter().flat_map(|seen| &seen.values).filter(of_argument);
            if let (Some(seen), None) = (seen.next(), seen.next())
                && seen.seen == one.seen
            {
                return Ok(Some(value));
            }
        }
        Err(format!(
            "no region for {given:?} {:?}, which conditions look at",
            one.seen
        ))
    }

    fn is_inexact(&self) -> bool {
        !self.regions.inexact.is_empty()
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
        if self.is_inexact() {
            return Ok(());
        }
        let tested: Vec<Vec<bool>> = self
            .divided
            .slots
            .iter()
            .map(|slot| test_each(&slot.tests, given.get(slot.name())))
            .collect();
        // What bears values that judging looks at is a mode of its own.
        let holds_values = |slot: &Slot<'_>| {
            let name = slot.name();
            let mut values = sight.values.iter().filter_map(|value| value.argument);
            let is_valued =
                values.any(|at| self.divided.slots.get(at).is_some_and(|slot| slot.name() == name));
            is_valued && !slot.tests.is_empty()
        };
        let is_mode =
            |mode: &Mode| {
                mode.roles == sight.roles
                    && self.divided.slots.iter().zip(&mode.fixed).zip(&tested).all(
                        |((slot, fixed), tested)| {
                            let value = fixed.as_ref().and_then(|choice| choice.value.as_ref());
                            let value = value.map(|value| slots::as_accepted(slot, value));
                            let value = value.as_ref();
                            let is_same = !holds_values(slot) || value == stands.get(slot.name());
                            slot.tests.is_empty() || is_same && test_each(&slot.tests, value) == *tested
                        },
                    )
            };
        let Some(at) = self.modes.iter().position(is_mode) else {
            let is_several = |slot: &Slot<'_>| {
                let value = stands.get(slot.name()).and_then(Value::as_array);
                holds_values(slot) && value.is_some_and(|all| all.len() != 1)
            };
            return match self.divided.slots.iter().any(is_several) {
                true => Ok(()),
                false => Err(format!("no mode for {given}, {stands}")),
            };
        };
        let mut part = 0;
        for mode in self.modes.iter().take(at) {
            part += self.divided.groups(mode).len().max(1);
        }
        let groups = self.divided.groups(self.modes.get(at).unwrap());
        let mut strictest = 0;
        for (nth, group) in groups.iter().enumerate() {
            let mut place = 0;
            for (slot, choices) in group.slots.iter().zip(&group.choices) {
                let value = stands.get(self.divided.slots.get(*slot).unwrap().name());
                let value = match value {
                    Some(Value::Array(items)) if items.len() == 1 => items.first(),
                    other => other,
                };
                let found = match value {
                    Some(Value::String(_)) => {
                        choices.iter().position(|choice| choice.value.as_ref() == value)
                    }
                    None => choices.iter().position(|choice| choice.value.is_none()),
                    Some(_) => return Ok(()),
                };
                let Some(found) = found else { return Ok(()) };
                place = place * choices.len() + found;
            }
            let regions = &self.regions.parts.get(part + nth).unwrap().regions;
            let decision = regions.get(place).unwrap().decision;
            strictest = strictest.max(strictness(decision));
        }
        if groups.is_empty() {
            let region = self.regions.parts.get(part).unwrap().regions.first().unwrap();
            strictest = strictness(region.decision);
        }
        // What is absent together has parts of its own, after all others.
        let modes = self.modes.iter();
        let alone: usize = modes.map(|mode| self.divided.groups(mode).len().max(1)).sum();
        let when = self.divided.when(self.modes.get(at).unwrap());
        for part in self
            .regions
            .parts
            .iter()
            .skip(alone)
            .filter(|part| part.when == when)
        {
            let region = part.regions.first().unwrap();
            if region
                .places
                .iter()
                .all(|place| !has_text(stands.get(&place.argument)))
            {
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

/// Whether an argument has a value.
fn has_text(value: Option<&Value>) -> bool {
    match value {
        Some(Value::String(_)) => true,
        Some(Value::Array(items)) => items.iter().any(Value::is_string),
        _ => false,
    }
}

/// Whether the text looks like a path and has the label of something else.
fn looks_like_path(choice: &Choice) -> bool {
    let text = choice.value.as_ref().and_then(Value::as_str).unwrap_or_default();
    text.starts_with(['/', '.', '~']) && matches!(choice.label, Label::Is(_) | Label::Of(..))
}

/// Holds `calls` calls of each tool against the regions.
fn hold(
    documents: &Documents,
    seed: u64,
    calls: usize,
    tally: &mut Tally,
    forgets: Mistake,
) -> Result<(), String> {
    let Some(engine) = arbitrary::engine(documents) else {
        return Ok(());
    };
    let analysis = Analysis::new(&engine);
    let mut random = Random(seed | 1);
    for (at, (server, tool, _)) in TOOLS.iter().enumerate() {
        let mut subject = Subject::new(&analysis, server, tool, forgets);
        for _ in 0..calls {
            let arguments = calls::arguments(at, &mut random);
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
    others
        .map(|(kind, value)| format!("{}: {value}\n", kind.as_str()))
        .collect()
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
    fn a_call_is_judged_as_its_regions_are(documents in arbitrary::documents(), seed in any::<u64>()) {
        let mut tally = Tally::default();
        if let Err(why) = hold(&documents, seed, 8, &mut tally, NOTHING) {
            return Err(TestCaseError::fail(why));
        }
    }
}

/// `cargo test --release -p callgate-core --features analysis -- --ignored a_million_calls`
#[test]
#[ignore = "takes a minute in a release build"]
fn a_million_calls_are_judged_as_their_regions_are() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut tally = Tally::default();
    let mut seed = 1;
    while tally.calls < 1_000_000 {
        let documents = arbitrary::documents().new_tree(&mut runner).unwrap().current();
        seed += 1;
        if let Err(why) = hold(
            &documents,
            0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed),
            40,
            &mut tally,
            NOTHING,
        ) {
            panic!("{why}");
        }
    }
    println!("{tally:?}");
}

/// No mistake.
const NOTHING: Mistake = |_| false;

/// What a division may forget.
const MISTAKES: &[(&str, Mistake)] = &[
    (
        "a directory",
        |label| matches!(label, Label::Under(directory, _) if directory == "/srv/app"),
    ),
    (
        "what is elsewhere",
        |label| matches!(label, Label::Under(directory, _) if directory == "/"),
    ),
    ("a directory that holds others", |label| {
        matches!(label, Label::Holds(..))
    }),
    ("a protected pattern", |label| matches!(label, Label::Matches(..))),
    ("other letters", |label| matches!(label, Label::OtherCase(..))),
    ("an entry or a host", |label| matches!(label, Label::Is(_))),
    ("what lies below, and other spellings", |label| {
        matches!(label, Label::Of(..))
    }),
    ("any other value", |label| {
        matches!(label, Label::Words("any other value"))
    }),
    ("any other host", |label| {
        matches!(label, Label::Words("any other host"))
    }),
];

/// Policies among which each mistake is looked for; most are found among the first ten.
const MOST: usize = 300;

/// A division that forgets values of one kind does not hold.
#[test]
fn a_missing_cut_is_noticed() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut some = Vec::new();
    for (what, mistake) in MISTAKES {
        let is_noticed = (0..MOST).any(|at| {
            if some.len() <= at {
                some.push(arbitrary::documents().new_tree(&mut runner).unwrap().current());
            }
            let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at as u64 + 1);
            hold(&some[at], seed, 12, &mut Tally::default(), *mistake).is_err()
        });
        assert!(is_noticed, "nobody notices that {what} is missing");
    }
}

//! One tool whose calls are held against its regions: each value of a call is replaced by the one that stands for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::division::{Mistake, Tally};
use crate::asked::{self, Asked};
use crate::choice::Choice;
use crate::divided::{Divided, Group, Mode, SlotRoles};
use crate::inexact::is_denied;
use crate::label::Label;
use crate::slots;
use crate::{Analysis, Region};
use callgate_engine::bind::Call;
use callgate_engine::judge::{PlaceSeen, Sight, ValueSight};
use callgate_engine::role::{RoleId, RoleSet};

/// How judging sees what is protected.
const PROTECTED: &[u8] = &[1];

/// How judging sees each choice, by argument, roles and context.
type Known = BTreeMap<(usize, Vec<RoleId>, bool, String), Vec<(Vec<u8>, Choice)>>;

/// The groups of one mode: the groups, the parts of which each is one, and those about what is absent together.
pub(super) struct Way {
    pub(super) groups: Vec<Group>,
    pub(super) parts: Vec<Vec<Region>>,
    pub(super) without: Vec<Region>,
}

/// The tool, and its regions.
pub(super) struct Subject<'a, 'e> {
    analysis: &'a Analysis<'e>,
    pub(super) divided: Divided<'a, 'e>,
    pub(super) modes: Vec<Mode>,
    pub(super) ways: Vec<Way>,
    known: Known,
    /// The context that the host gives with the call.
    context: Option<Value>,
    pub(super) mistake: Mistake,
}

impl<'a, 'e> Subject<'a, 'e> {
    pub(super) fn new(analysis: &'a Analysis<'e>, server: &str, tool: &str, mistake: Mistake) -> Self {
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
            if matches!(mistake, Mistake::ForgetsContexts) {
                let context = divided.context;
                groups.iter_mut().for_each(|group| leave_out(group, context));
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
            context: None,
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
        let tool = self.divided.tool;
        asked::call(&tool.server, &tool.name, arguments, self.context.as_ref())
    }

    fn verdict(&self, arguments: &Value) -> (u8, String) {
        self.verdict_in(arguments, self.context.as_ref())
    }

    fn verdict_in(&self, arguments: &Value, context: Option<&Value>) -> (u8, String) {
        let tool = self.divided.tool;
        let asked = Asked {
            arguments: arguments.clone(),
            context: context.cloned(),
        };
        let (strictness, judged) = self.analysis.judge((&tool.server, &tool.name), &asked);
        (strictness, judged.rule)
    }

    /// The call as judging sees it in every layer that judges it: a value is seen alike where each of them sees it alike. `None` where
    /// one of them refuses it for its form.
    fn sight(&self, call: &Call<'_>) -> Option<Sight> {
        let mut sight = self.analysis.imagined.sight(call)?;
        for layer in &self.divided.layers {
            let other = layer.imagined.sight(call)?;
            sight.looks_protected |= other.looks_protected;
            sight.is_above |= other.is_above;
            sight.has_unknown |= other.has_unknown;
            for one in &mut sight.values {
                let is_same =
                    |value: &&ValueSight| (value.argument, &value.text) == (one.argument, &one.text);
                let Some(other) = other.values.iter().find(is_same) else {
                    continue;
                };
                one.is_clear &= other.is_clear;
                // What is protected in one of them is denied, whatever else is seen of it.
                if one.seen != PROTECTED && other.seen != PROTECTED {
                    one.seen.push(u8::MAX);
                    one.seen.extend(&other.seen);
                } else {
                    one.seen = PROTECTED.to_vec();
                }
            }
        }
        Some(sight)
    }

    /// How judging sees each value that stands for others under the argument, in a call like this one.
    fn choices(&mut self, sight: &Sight, argument: usize, arguments: &Value) -> &[(Vec<u8>, Choice)] {
        let roles = sight.roles.get(argument).cloned().unwrap_or_default();
        // What the name of a remote stands for depends on whether a path says in which repository.
        let has_path = has_text(arguments.get("path"));
        let context = self.context.as_ref().map(Value::to_string);
        let key = (argument, roles.clone(), has_path, context.unwrap_or_default());
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
                    let seen = self.sight(&self.call(&other));
                    // What the ceiling refuses stands for nothing that it admits, but what is protected is denied before that.
                    let seen = seen.and_then(|seen| {
                        let own = seen.values.into_iter().find(|one| one.argument == Some(argument));
                        own.filter(|one| !seen.is_above || one.seen == PROTECTED)
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

    pub(super) fn check(
        &mut self,
        given: &Value,
        context: Option<Value>,
        tally: &mut Tally,
    ) -> Result<(), String> {
        tally.calls += 1;
        self.context = context;
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
        let Some(sight) = self.sight(&self.call(arguments)) else {
            tally.refused += 1;
            return match verdict.0 {
                2 => Ok(()),
                _ => Err(format!("refused by its form, and yet {verdict:?}")),
            };
        };
        if sight.looks_protected && verdict.1 == "structural-protected-path" && !self.shows_protected() {
            return Err("no region for a text that looks like a protected path".to_owned());
        }
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
        let (context, is_alike) = self.standing_context(&stands, &sight)?;
        let found = self.verdict_in(&stands, context.as_ref());
        // What is protected in one layer is denied; by which of them depends on what it is in the others.
        let is_alike = is_alike && (self.divided.layers.is_empty() || verdict.0 != 2);
        let is_same = found.0 == verdict.0 && (found.1 == verdict.1 || !is_alike);
        if !is_same {
            let context = context.unwrap_or_default();
            return Err(format!("{verdict:?}, but {found:?} for {stands} in {context}"));
        }
        if !is_unclear && !sight.has_unknown {
            let stand = (&stands, context.as_ref());
            self.check_combined(arguments, stand, &sight, verdict.0, tally)?;
        }
        Ok(())
    }

    /// Returns `true` if a region is about texts that look like protected paths. Another check may come first in its call.
    fn shows_protected(&self) -> bool {
        let is_meant = |text: String| text.contains("looks like a protected path");
        self.modes.iter().zip(&self.ways).any(|(mode, way)| {
            let mut fixed = mode.fixed.iter().flatten();
            let is_fixed = fixed.any(|choice| is_meant(choice.label.to_string()));
            let mut regions = way.parts.iter().flatten();
            regions.any(|region| {
                let mut places = region.places.iter();
                region.decision == "deny" && (is_fixed || places.any(|place| is_meant(place.is.clone())))
            })
        })
    }

    /// The context that stands for that of the call: the worlds answer alike to each of its addresses. The second value is `false`
    /// where only the verdict is alike: the call names several addresses, of which a session has some.
    fn standing_context(&mut self, stands: &Value, sight: &Sight) -> Result<(Option<Value>, bool), String> {
        let mode = self.modes.iter().find(|mode| mode.roles == sight.roles);
        let Some(mode) = mode.filter(|_| self.divided.context.is_some()) else {
            return Ok((None, true));
        };
        if matches!(self.mistake, Mistake::ForgetsContexts) {
            return Ok((None, true));
        }
        let address = self.analysis.imagined.program().address_roles;
        let mut addresses = Vec::new();
        for (slot, roles) in self.divided.slots.iter().zip(&sight.roles) {
            if roles.iter().any(|role| address.contains(*role)) {
                match value_at(stands, &slot.name()) {
                    Some(Value::String(text)) => addresses.push(text.clone()),
                    Some(Value::Array(items)) => {
                        addresses.extend(items.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    _ => {}
                }
            }
        }
        let contexts = self.divided.contexts(mode);
        let contexts: Vec<&Value> = contexts
            .iter()
            .filter(|choice| !self.forgets(&choice.label))
            .filter_map(|choice| choice.value.as_ref())
            .collect();
        let empty = Value::Null;
        let answers = |context: &Value| self.divided.answers(&addresses, context);
        let wanted = answers(self.context.as_ref().unwrap_or(&empty));
        if let Some(found) = contexts.iter().find(|context| answers(context) == wanted) {
            return Ok((Some((*found).clone()), true));
        }
        let decides = |answers: &[PlaceSeen]| {
            let mut all = answers.iter();
            let is_allowed = all.all(|one| one.is_visible && one.is_allowed);
            (is_allowed, answers.iter().any(|one| one.is_removed))
        };
        let found = contexts
            .iter()
            .find(|context| decides(&answers(context)) == decides(&wanted));
        match found.filter(|_| addresses.len() > 1) {
            Some(found) => Ok((Some((*found).clone()), false)),
            None => Err(format!("no context for {:?}: {wanted:?}", self.context)),
        }
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
        let values =
            known.filter_map(|choice| Some(slots::as_accepted(slot.accepts, choice.value.as_ref()?)));
        for value in values {
            let mut other = arguments.clone();
            *place(&mut other, &slot.name()).unwrap() = value.clone();
            if self.divided.met(&other) != met {
                continue;
            }
            let seen = self.sight(&self.call(&other));
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
        let matters = |why: &String| !is_denied(why);
        !matches!(self.mistake, Mistake::HidesNotes) && inexact.any(matters)
    }
}

/// Leaves the argument out of the group.
fn leave_out(group: &mut Group, slot: Option<usize>) {
    if let Some(at) = group.slots.iter().position(|one| Some(*one) == slot) {
        group.slots.remove(at);
        group.choices.remove(at);
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

pub(super) fn value_at<'v>(arguments: &'v Value, name: &str) -> Option<&'v Value> {
    arguments.pointer(&pointer(name))
}

fn place<'v>(arguments: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    arguments.pointer_mut(&pointer(name))
}

/// Returns `true` if an argument has a value.
pub(super) fn has_text(value: Option<&Value>) -> bool {
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

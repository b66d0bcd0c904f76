//! A tool's calls on the way to their regions: the values that its arguments are given.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::asked::Asked;
use super::atoms::{Atoms, ValueKinds};
use super::choice::Choice;
use super::choices::choices;
use super::label::Label;
use super::slots::{self, Accepts, Slot};
use super::texts::{Texts, fresh};
use super::{Analysis, Target, addresses, ceilings};
use crate::imagined::Imagined;
use callgate_engine::path::{expand_tilde, lexical};
use callgate_engine::program::Tool;
use callgate_engine::role::{RoleId, RoleSet};

/// One tool, and the values that its arguments are given.
pub(super) struct Divided<'a, 'e> {
    pub(super) analysis: &'a Analysis<'e>,
    pub(super) tool: &'e Tool,
    /// The same tool in the program that this one is compared with.
    pub(super) other: Option<Other<'a, 'e>>,
    /// The same tool in the layers above, which are taken to have the same roles in the same arguments.
    pub(super) layers: Vec<Other<'a, 'e>>,
    pub(super) slots: Vec<Slot<'e>>,
    /// The slot of the context, where one may count.
    pub(super) context: Option<usize>,
    /// The contexts that a world tells apart, by addresses with these roles.
    pub(super) contexts: Option<(BTreeSet<SlotRoles>, Arc<[Choice]>)>,
    /// An argument that no document names.
    pub(super) unnamed: String,
    pub(super) inexact: Vec<String>,
    /// `true` if there are more values, or combinations of them, than were looked at.
    pub(super) is_cut_short: bool,
    pub(super) calls: usize,
}

/// A tool in another program.
#[derive(Clone, Copy)]
pub(super) struct Other<'a, 'e> {
    pub(super) imagined: &'a Imagined<'e>,
    pub(super) tool: &'e Tool,
}

/// The roles of a slot: in the program that is divided, and in the other one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SlotRoles {
    pub(super) own: RoleSet,
    pub(super) other: RoleSet,
}

/// Slots that are looked at together, and the choices of each.
#[derive(PartialEq)]
pub(super) struct Group {
    pub(super) slots: Vec<usize>,
    pub(super) choices: Vec<Arc<[Choice]>>,
    /// The argument without a role that the group is about, if it is about one.
    pub(super) extra: Option<Extra>,
}

impl Group {
    /// The same, its choices shared.
    pub(super) fn shared(&self) -> Self {
        Self {
            slots: self.slots.clone(),
            choices: self.choices.clone(),
            extra: self.extra.clone(),
        }
    }
}

/// An argument that no role is about.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Extra {
    pub(super) argument: String,
    /// The arguments that it stands for.
    pub(super) shown: &'static str,
}

/// A value for every slot: the place of the choice of each slot of each group.
pub(super) type Picks = Vec<Vec<usize>>;

/// Calls in which the arguments that conditions look at are the same, as far as conditions can tell.
#[derive(PartialEq)]
pub(super) struct Mode {
    /// The choice of each slot that a condition looks at.
    pub(super) fixed: Vec<Option<Choice>>,
    /// Other values that conditions do not tell from these.
    pub(super) alike: Vec<Vec<Label>>,
    /// The roles of each of the tool's arguments.
    pub(super) roles: Vec<Vec<RoleId>>,
    /// The same in the other program.
    pub(super) other: Vec<Vec<RoleId>>,
}

impl<'a, 'e> Divided<'a, 'e> {
    /// Returns `true` if the slot may hold what the analysis looks for.
    pub(super) fn may_reach(&self, mode: &Mode, group: &Group) -> bool {
        let Some(target) = &self.analysis.target else {
            return true;
        };
        let mut slots = group.slots.iter();
        slots.any(|slot| {
            let roles = self.roles_at(mode, *slot);
            !self.naming(target, roles).is_empty()
        })
    }

    /// Returns `true` if an argument that conditions look at holds what the analysis looks for.
    pub(super) fn is_reached(&self, mode: &Mode) -> bool {
        let mut fixed = mode.fixed.iter().enumerate();
        fixed.any(|(slot, choice)| {
            let choice = choice.as_ref();
            choice.is_some_and(|choice| self.is_named(self.roles_at(mode, slot), choice))
        })
    }

    /// Returns `true` if the choice, or the only item of its array, names what the analysis looks for.
    pub(super) fn is_named(&self, roles: SlotRoles, choice: &Choice) -> bool {
        let (Some(target), Some(value)) = (&self.analysis.target, &choice.value) else {
            return false;
        };
        let item = value.as_array().and_then(|items| items.first());
        let text = item.unwrap_or(value);
        let named = self.naming(target, roles);
        named.iter().any(|one| one.value.as_ref() == Some(text))
    }

    /// The values of an argument with these roles that name what the analysis looks for.
    fn naming(&self, target: &Target, roles: SlotRoles) -> Vec<Choice> {
        let program = self.analysis.imagined.program();
        let mut kinds = ValueKinds::new(program, roles.own);
        if let Some(other) = self.other {
            kinds.join(ValueKinds::new(other.imagined.program(), roles.other));
        }
        let text = target.for_kinds(kinds);
        let mut found: Vec<Choice> = text
            .into_iter()
            .map(|text| Choice::text(text.clone(), Label::Is(text)))
            .collect();
        if let Target::Path(path) = target
            && kinds.is_address
        {
            let expanded = expand_tilde(path, &program.home);
            let path = lexical(&expanded, &program.current);
            found.extend(addresses::leading_to(&self.atoms(roles), &path));
        }
        found
    }

    pub(super) fn new(analysis: &'a Analysis<'e>, tool: &'e Tool) -> Self {
        let program = analysis.imagined.program();
        let other = analysis.other.as_ref().and_then(|imagined| {
            let tool = imagined.program().tool(&tool.server, &tool.name)?;
            Some(Other { imagined, tool })
        });
        let mut slots = slots::slots(program, tool);
        if let Some(other) = &other {
            slots::add(&mut slots, other.imagined.program(), other.tool);
        }
        let layers = analysis.above.judging(tool);
        for layer in &layers {
            slots::add_tests(&mut slots, layer.imagined.program(), layer.tool);
        }
        let others = layers.iter().chain(&other).map(|other| other.tool);
        let tools: Vec<&Tool> = std::iter::once(tool).chain(others).collect();
        let is_free = |name: &str| {
            !tools.iter().any(|tool| tool.names(name)) && !slots.iter().any(|slot| slot.begins_at(name))
        };
        let known = slots.len() + tools.iter().map(|tool| tool.known_names()).sum::<usize>();
        let unnamed = fresh("some-argument", known, is_free).unwrap_or_else(|name| name);
        let mut divided = Self {
            analysis,
            tool,
            other,
            layers,
            context: None,
            contexts: None,
            unnamed,
            slots,
            inexact: Vec::new(),
            is_cut_short: false,
            calls: 0,
        };
        if divided.has_context() {
            divided.context = Some(divided.slots.len());
            divided.slots.push(Slot::of_context());
        }
        divided
    }

    pub(super) fn note(&mut self, why: String) {
        if !self.inexact.contains(&why) {
            self.inexact.push(why);
        }
    }

    /// Notes that there is more than was looked at.
    pub(super) fn note_cut(&mut self, why: String) {
        self.is_cut_short = true;
        self.note(why);
    }

    /// The roles of a slot in a mode.
    pub(super) fn roles_at(&self, mode: &Mode, slot: usize) -> SlotRoles {
        let set = |roles: Option<&Vec<RoleId>>| roles.into_iter().flatten().copied().collect();
        let other = self.slots.get(slot).and_then(|slot| slot.other);
        SlotRoles {
            own: set(mode.roles.get(slot)),
            other: set(other.and_then(|at| mode.other.get(at))),
        }
    }

    /// Returns `true` if a judgement, or the question, looks at values of these roles.
    pub(super) fn are_valued(&self, roles: SlotRoles) -> bool {
        if roles.own.intersects(self.analysis.cuts.roles) {
            return true;
        }
        let own = self.analysis.imagined.program().valued_roles;
        roles.own.intersects(own)
            || self
                .beside(roles)
                .any(|(other, roles)| roles.intersects(other.imagined.program().valued_roles))
    }

    /// The tool in every other program: in the layers above, and in the one that this one is compared with.
    pub(super) fn others(&self) -> impl Iterator<Item = Other<'a, 'e>> {
        self.layers.iter().copied().chain(self.other)
    }

    /// The same, with the roles of a slot there.
    pub(super) fn beside(&self, roles: SlotRoles) -> impl Iterator<Item = (Other<'a, 'e>, RoleSet)> {
        let layers = self.layers.iter().map(move |layer| (*layer, roles.own));
        layers.chain(self.other.map(|other| (other, roles.other)))
    }

    /// The texts that an argument with these roles is given.
    pub(super) fn choices_for(&mut self, slot: usize, roles: SlotRoles) -> Arc<[Choice]> {
        let analysis = self.analysis;
        if let Some(target) = &analysis.target {
            let named = self.naming(target, roles);
            if !named.is_empty() {
                return named.into();
            }
        }
        let divided = self.texts(roles);
        for why in &divided.lacking {
            self.note(why.clone());
        }
        let texts = &divided.choices;
        let own = self.slots.get(slot);
        let (accepts, is_required) =
            own.map_or((Accepts::Either, false), |slot| (slot.accepts, slot.is_required));
        let empty = own.map(|slot| slot.empty.clone()).unwrap_or_default();
        let most = analysis.bounds.values;
        if texts.len() > most {
            let name = self.slots.get(slot).map(Slot::name).unwrap_or_default();
            self.note_cut(format!(
                "`{name}` has {} regions, of which {most} were looked at",
                texts.len()
            ));
        }
        let mut found: Vec<Choice> = match accepts {
            Accepts::Nothing => Vec::new(),
            Accepts::Either | Accepts::Text | Accepts::Array => texts.iter().take(most).cloned().collect(),
        };
        if accepts != Accepts::Nothing {
            self.add_admitted(slot, roles, &mut found);
        }
        let is_about_several = analysis.other.is_some() || analysis.is_about_several;
        if is_about_several && matches!(accepts, Accepts::Either | Accepts::Array) {
            self.add_pairs(slot, roles, &mut found);
        }
        if analysis.other.is_some() && accepts != Accepts::Nothing {
            // Which of these are refused depends on what rules say of the argument's roles.
            let label = Label::Words("a text that holds JSON");
            found.push(Choice::text("[]".to_owned(), label));
            if accepts == Accepts::Either {
                found.push(Choice::value(
                    Value::Object(Map::new()),
                    Label::Words("an object"),
                ));
            }
        }
        if self.other.is_some() && roles.own != roles.other && accepts != Accepts::Nothing {
            found.extend(resolved_by_some());
        }
        let shows_protected = match analysis.other {
            Some(_) => !self.is_path(roles) && accepts != Accepts::Nothing,
            None => self.text_in_place_of_value() == Some(slot),
        };
        if shows_protected {
            found.extend(self.protected_texts());
        }
        if !is_required {
            found.push(Choice::absent());
        }
        found.extend(empty);
        if found.is_empty() {
            found.push(Choice::absent());
        }
        found.into()
    }

    /// A text for each place between what values of these roles are compared with: the same for all tools of a server that the
    /// same rules are about.
    pub(super) fn texts(&self, roles: SlotRoles) -> Arc<Texts> {
        let analysis = self.analysis;
        let others = self.others().map(|other| other.tool.scopes.clone());
        let scopes = std::iter::once(self.tool.scopes.clone()).chain(others).collect();
        let mut ceiling = ceilings::directories(&analysis.imagined, self.tool);
        for other in self.others() {
            ceiling.extend(ceilings::directories(other.imagined, other.tool));
        }
        // Whether places are removed depends on the tool.
        let program = analysis.imagined.program();
        let other_roles = self.other.map(|other| other.imagined.program().address_roles);
        let is_address = roles.own.intersects(program.address_roles)
            || other_roles.is_some_and(|address| roles.other.intersects(address));
        let key = (
            is_address.then(|| self.tool.name.clone()),
            self.tool.server.clone(),
            scopes,
            ceiling,
            roles,
        );
        if let Some(known) = analysis.choices.borrow().get(&key) {
            return Arc::clone(known);
        }
        let atoms = self.atoms(roles);
        let is_matched = |path: &str| {
            let others = self.others().map(|other| other.imagined);
            let mut all = std::iter::once(&analysis.imagined).chain(others);
            all.any(|imagined| imagined.is_matched(path, atoms.kinds.is_removed, !atoms.kinds.is_changed))
        };
        let texts = Arc::new(choices(&atoms, &is_matched));
        analysis.choices.borrow_mut().insert(key, Arc::clone(&texts));
        texts
    }

    /// Everything that values of these roles are compared with.
    pub(super) fn atoms(&self, roles: SlotRoles) -> Atoms {
        let analysis = self.analysis;
        let mut atoms = Atoms::new(&analysis.imagined, self.tool, roles.own, &analysis.cuts);
        for (other, roles) in self.beside(roles) {
            atoms.join(Atoms::new(other.imagined, other.tool, roles, &analysis.cuts));
        }
        atoms.finish();
        atoms
    }

    pub(super) fn is_path(&self, roles: SlotRoles) -> bool {
        let other = self.other.map(|other| other.imagined.program().path_roles);
        roles.own.intersects(self.analysis.imagined.program().path_roles)
            || other.is_some_and(|paths| roles.other.intersects(paths))
    }

    /// The arguments of a call in which each slot holds its value, and whether all of them found a place.
    pub(super) fn given<'v>(&self, values: impl Iterator<Item = Option<&'v Value>>) -> (Value, bool) {
        let program = self.analysis.imagined.program();
        slots::arguments(program, self.tool, &self.slots, values)
    }

    /// The call of these choices.
    pub(super) fn asked(&mut self, mode: &Mode, groups: &[Group], picks: &Picks) -> Asked {
        let mut values: Vec<Option<&Value>> = mode
            .fixed
            .iter()
            .map(|choice| choice.as_ref().and_then(|choice| choice.value.as_ref()))
            .collect();
        let mut extra = Vec::new();
        for (group, picks) in groups.iter().zip(picks) {
            for ((at, choices), pick) in group.slots.iter().zip(&group.choices).zip(picks) {
                if let (Some(value), Some(choice)) = (values.get_mut(*at), choices.get(*pick)) {
                    *value = choice.value.as_ref();
                }
            }
            if let Some(own) = &group.extra {
                let choice = group.choices.first().zip(picks.first());
                let choice = choice.and_then(|(choices, pick)| choices.get(*pick));
                extra.extend(choice.and_then(|choice| Some((&own.argument, choice.value.clone()?))));
            }
        }
        let context = self.context.and_then(|at| values.get_mut(at)?.take());
        let is_said = |context: &&Value| context.as_object().is_some_and(|members| !members.is_empty());
        let context = context.filter(is_said).cloned();
        let (mut arguments, fits) = self.given(values.into_iter());
        if let Value::Object(members) = &mut arguments {
            members.extend(extra.into_iter().map(|(name, value)| (name.clone(), value)));
        }
        if !fits {
            self.note("an argument stands within another one that has a role or a condition".to_owned());
        }
        Asked { arguments, context }
    }
}

/// Texts that cannot be resolved under some roles, and can under others.
fn resolved_by_some() -> impl Iterator<Item = Choice> {
    let texts = [
        "",
        "-some-option",
        "~some-user",
        "file:///some-file",
        "/proc/self/some-file",
        "ext::some-command",
    ];
    let label = || Label::Words("a text that cannot be resolved under some roles");
    texts
        .into_iter()
        .map(move |text| Choice::text(text.to_owned(), label()))
}

/// Every choice of one out of each of these many, the last changing first; not more than `most`.
pub(super) fn products(sizes: &[usize], most: usize) -> impl Iterator<Item = Vec<usize>> + use<> {
    let sizes = sizes.to_vec();
    let mut next = sizes.iter().all(|size| *size > 0).then(|| vec![0; sizes.len()]);
    std::iter::from_fn(move || {
        let found = next.take()?;
        let mut following = found.clone();
        for (place, size) in following.iter_mut().zip(&sizes).rev() {
            *place += 1;
            if *place < *size {
                next = Some(following);
                break;
            }
            *place = 0;
        }
        Some(found)
    })
    .take(most)
}

/// The base, with each place in turn changed to every other choice.
pub(super) fn one_by_one(sizes: &[usize], base: &[usize], most: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        for pick in 0..*size {
            let mut picks = base.to_vec();
            if let Some(own) = picks.get_mut(at) {
                *own = pick;
            }
            found.push(picks);
        }
    }
    found.truncate(most);
    found
}

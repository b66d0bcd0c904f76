//! The capability ceiling (SPEC §8.3.4, §12): what the tool may be, and what single arguments must look like.

use super::StructuralRule;
use super::check::Finding;
use super::directory::Directory;
use super::operand::Operand;
use super::{Case, Verdict};
use crate::bind::{PointerToken, Reached, Value, descend, path_readings};
use crate::cost::CEILING_VALUE;
use crate::model::ArgumentName;
use crate::program::{ArgumentConstraint, Ceiling, Constrained, ToolCeiling};
use crate::role::RoleId;
use crate::sort;

/// One value that a constraint is about.
struct Found {
    /// The argument that holds it; `None` for a value that the server takes for an absent one.
    argument: Option<usize>,
    /// The operand that such a value is.
    taken: Option<usize>,
    place: Vec<PointerToken>,
    /// The string; `None` where it is something else, which matches no pattern.
    text: Option<String>,
    /// `true` if the tool's annotation says that it is a path.
    is_path: bool,
}

/// Every form of a value for which a pattern must hold.
#[derive(Default)]
struct ValueForms {
    /// A path as it was given, or as programs read it from the text, absolute and without `.` and `..`.
    lexical: Vec<String>,
    /// The places that a path stands for, and that of a link to be removed.
    canonical: Vec<String>,
    /// Any other text: as given, and as policy compares it.
    texts: Vec<String>,
}

/// A directory that patterns for paths are relative to: the workspace or home, as it is written, and canonical where it
/// can be resolved.
struct Anchor {
    written: String,
    canonical: Option<String>,
}

pub(super) fn check<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
    let Some(ceiling) = &case.program.ceiling else {
        return None;
    };
    let refusal = match case.tool {
        Some(tool) => tool.ceiling.refusal.as_deref().map(str::to_owned),
        None => ceiling.refusal(case.server(), &case.call.tool, &Default::default()),
    };
    let refusal = refusal
        .or_else(|| case.outside_roots(ceiling))
        .or_else(|| case.pattern_mismatch(ceiling));
    let Some(refusal) = refusal else {
        case.note_held(
            "capability-ceiling",
            "the tool and its arguments are within the ceiling",
        );
        return None;
    };
    let verdict = Verdict::deny(
        StructuralRule::CapabilityCeiling,
        format!("Above the capability ceiling: {refusal}"),
    );
    Some(Finding::Decided(verdict, Some(refusal)))
}

impl Case<'_, '_, '_> {
    /// The first path that does not lie within a root of each set.
    fn outside_roots(&mut self, ceiling: &Ceiling) -> Option<String> {
        if ceiling.roots.is_empty() {
            return None;
        }
        let roots = self.directories.roots(&mut self.canonicalizer);
        let is_within = |operand: &Operand<'_, '_>| {
            let located = operand.located().map(|located| &located.path);
            operand
                .paths()
                .chain(located)
                .all(|path| roots.iter().all(|set| set.iter().any(|root| root.grants(path))))
        };
        let outside = self.operands.iter().find(|operand| !is_within(operand))?;
        let name = self.name_of_value(&outside.bound);
        Some(format!(
            "argument {name:?} lies outside the ceiling's workspace roots"
        ))
    }

    /// The first constrained argument that matches none of the patterns.
    fn pattern_mismatch(&mut self, ceiling: &Ceiling) -> Option<String> {
        let tool = self.tool.filter(|tool| !tool.ceiling.constraints.is_empty())?;
        let anchors = self.anchors();
        let order = self.operands_by_place();
        let mut first: Option<(usize, String)> = None;
        for group in &tool.ceiling.groups {
            let found = self.mismatch_in(ceiling, &tool.ceiling, group, (&anchors, &order));
            if self.canonicalizer.facts.has_failed() {
                return None;
            }
            first = first.into_iter().chain(found).min();
        }
        let (place, name) = first?;
        let (at, _) = tool.ceiling.constraints.get(place)?;
        let shown = &ceiling.constraints.get(*at)?.shown;
        let tool = format!("{}/{}", self.call.server, self.call.tool);
        Some(format!(
            "argument {name:?} of tool \"{tool}\" does not match the ceiling's {shown}"
        ))
    }

    /// The first of the constraints that does not hold, by its place among those of the tool, and the name of the argument for
    /// which it does not. All of them look at the same values, of which the forms are found once.
    fn mismatch_in(
        &mut self,
        ceiling: &Ceiling,
        constrained: &ToolCeiling,
        group: &[usize],
        ([workspace, home], order): (&[Anchor; 2], &[usize]),
    ) -> Option<(usize, String)> {
        let mut constraints = Vec::with_capacity(group.len());
        for place in group {
            let (at, _) = constrained.constraints.get(*place)?;
            let constraint = ceiling.constraints.get(*at)?;
            let own = constraint.workspace.as_deref().map(|root| self.anchor(root));
            constraints.push((*place, constraint, own));
        }
        let (_, looked_at) = constrained.constraints.get(*group.first()?)?;
        let mut first = None;
        for found in self.parts_of(self.found(looked_at), order) {
            let operands = self.operands_at(order, &found);
            let forms = self.forms_of(&found, operands);
            if self.canonicalizer.facts.has_failed() {
                break;
            }
            let failed = constraints.iter().position(|(_, constraint, own)| {
                let anchors = [own.as_ref().unwrap_or(workspace), home];
                let holds = |forms| self.holds(forms, constraint, anchors);
                !forms.as_ref().is_some_and(holds)
            });
            // Those behind it no longer matter.
            constraints.truncate(failed.map_or(constraints.len(), |at| at + 1));
            if failed.is_some() {
                let name = self.name_of_found(&found);
                first = constraints.pop().map(|(place, ..)| (place, name));
            }
            if constraints.is_empty() {
                break;
            }
        }
        first
    }

    /// The values that a constraint is about, those that the server takes for absent arguments among them; none where it does
    /// not apply.
    fn found(&self, looked_at: &Constrained) -> Vec<Found> {
        let mut found = match looked_at {
            Constrained::Argument(name) => self.values_at(name, false),
            Constrained::PathParams(names) => {
                let mut values = names.iter().map(|name| self.values_at(name, true));
                let first = values.find(|values| values.iter().any(|found| found.text.is_some()));
                first.unwrap_or_default()
            }
        };
        let is_meant = |operand: &Operand<'_, '_>| {
            let argument = operand.bound.absent;
            argument.is_some_and(|argument| looked_at.names().contains(&argument.name))
        };
        let operands = self.operands.iter().enumerate();
        let taken = operands.filter(|(_, operand)| is_meant(operand));
        found.extend(taken.map(|(at, operand)| Found {
            argument: None,
            taken: Some(at),
            place: Vec::new(),
            text: operand.bound.text.as_deref().map(str::to_owned),
            is_path: matches!(looked_at, Constrained::PathParams(_)),
        }));
        found
    }

    fn name_of_found(&self, found: &Found) -> String {
        let taken = found.taken.and_then(|at| self.operands.get(at));
        let name = match taken {
            Some(operand) => self.name_of_value(&operand.bound),
            None => self.name_of(found.argument),
        };
        name.to_owned()
    }

    /// The values under a name: strings, items of arrays, and what is neither, null aside.
    fn values_at(&self, name: &ArgumentName, is_path: bool) -> Vec<Found> {
        let limits = &self.program.limits;
        let mut values = Vec::new();
        let members = self.call.arguments.members().iter().enumerate();
        for (argument, (_, value)) in
            members.filter(|(_, (member, _))| name.first().is_none_or(|first| first == member))
        {
            let mut push = |place: Vec<PointerToken>, text: Option<&str>| {
                let text = text
                    .filter(|text| text.len() <= limits.value_bytes)
                    .map(str::to_owned);
                if values.len() <= limits.values_per_role {
                    values.push(Found {
                        argument: Some(argument),
                        taken: None,
                        place,
                        text,
                        is_path,
                    });
                }
            };
            match value.read(limits.depth) {
                Ok(read) => descend(
                    &read,
                    name.rest(),
                    &mut Vec::new(),
                    &mut |place, reached| match reached {
                        Reached::Value(value) => each_string(place, value, &mut push),
                        Reached::Mismatch {
                            found: Value::Null, ..
                        } => {}
                        Reached::Mismatch { .. } => push(place, None),
                    },
                ),
                Err(_) => push(Vec::new(), None),
            }
        }
        if values.len() > limits.values_per_role {
            // Too many to be looked at: what cannot be judged does not match.
            values.iter_mut().for_each(|found| found.text = None);
        }
        values
    }

    /// The same values, but for each text of several those that it holds; `order` has the operands by their places.
    fn parts_of(&self, found: Vec<Found>, order: &[usize]) -> Vec<Found> {
        if self.operands.iter().all(|operand| operand.bound.part.is_none()) {
            return found;
        }
        let mut values = Vec::with_capacity(found.len());
        for found in found {
            if found.taken.is_some() {
                values.push(found);
                continue;
            }
            let wanted = Some((found.argument, &*found.place));
            let first = order.partition_point(|at| self.place_of(*at) < wanted);
            let within = order.get(first..).unwrap_or_default().iter();
            let within = within
                .filter_map(|at| self.operands.get(*at))
                .take_while(|operand| {
                    operand.bound.argument == found.argument && operand.bound.place.starts_with(&found.place)
                });
            let parts = within.filter(|operand| {
                operand.bound.part.is_some() && operand.bound.place.len() == found.place.len() + 1
            });
            let before = values.len();
            values.extend(parts.map(|operand| Found {
                argument: found.argument,
                taken: None,
                place: operand.bound.place.to_vec(),
                text: operand.bound.text.as_deref().map(str::to_owned),
                is_path: found.is_path,
            }));
            if values.len() == before {
                values.push(found);
            }
        }
        values
    }

    /// The operands by the argument that holds them and their place in it.
    fn operands_by_place(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.operands.len()).collect();
        sort::sort_by(&mut order, |one, other| {
            self.place_of(*one).cmp(&self.place_of(*other))
        });
        order
    }

    fn place_of(&self, at: usize) -> Option<(Option<usize>, &[PointerToken])> {
        let bound = &self.operands.get(at)?.bound;
        Some((bound.argument, &bound.place))
    }

    /// The operands that stand for a value, out of all of them in the order of their places.
    fn operands_at<'o>(&self, order: &'o [usize], found: &Found) -> &'o [usize] {
        if let Some(taken) = found.taken {
            let at = order.iter().position(|at| *at == taken);
            return at.and_then(|at| order.get(at..=at)).unwrap_or_default();
        }
        let wanted = Some((found.argument, &*found.place));
        let first = order.partition_point(|at| self.place_of(*at) < wanted);
        let rest = order.get(first..).unwrap_or_default();
        let count = rest.partition_point(|at| self.place_of(*at) == wanted);
        rest.get(..count).unwrap_or_default()
    }

    /// Returns `true` if one of the patterns holds for every form of the value.
    fn holds(&mut self, forms: &ValueForms, constraint: &ArgumentConstraint, anchors: [&Anchor; 2]) -> bool {
        let lexical_places = anchors.map(|one| Some((&*one.written, &*one.written)));
        let canonical_places = anchors.map(|one| Some((&*one.written, one.canonical.as_deref()?)));
        let all = [&forms.lexical, &forms.canonical, &forms.texts];
        let bytes = all.into_iter().flatten().map(String::len).sum();
        let mut patterns = constraint.patterns.iter();
        patterns.any(|pattern| {
            self.canonicalizer.facts.take_steps(pattern.cost(bytes));
            let mut lexical = forms.lexical.iter();
            let mut canonical = forms.canonical.iter();
            // What is sent is written from where a link leads, and has to pass again.
            let holds_as_written =
                |path| pattern.holds(path, lexical_places) || pattern.holds(path, canonical_places);
            !self.canonicalizer.facts.has_failed()
                && lexical.all(|path| holds_as_written(path))
                && canonical.all(|path| pattern.holds(path, canonical_places))
                && forms.texts.iter().all(|text| pattern.text.matches(text))
        })
    }

    /// Every form of the value at the operands; `None` where it is not a text, or looks like a path and cannot be resolved.
    fn forms_of(&mut self, found: &Found, operands: &[usize]) -> Option<ValueForms> {
        let text = found.text.as_deref()?;
        self.canonicalizer.facts.take_steps(CEILING_VALUE);
        let mut forms = ValueForms::default();
        let compared = |role: &RoleId| {
            self.program.resource_roles.contains(*role) && !self.program.path_roles.contains(*role)
        };
        let mut base = None;
        for at in operands {
            let operand = self.operands.get_mut(*at)?;
            if let Some(known) = operand.path_rest().and_then(|rest| rest.base.as_ref()) {
                base = Some(known.clone());
            }
            forms
                .canonical
                .extend(operand.paths().map(|path| path.as_str().to_owned()));
            for role in operand.bound.roles.iter().filter(|role| compared(role)) {
                forms
                    .texts
                    .push(self.canonicalizer.text(operand, *role).to_owned());
            }
        }
        let base = base.as_deref().unwrap_or(self.canonicalizer.base.directory);
        if !forms.canonical.is_empty() {
            forms.lexical.push(self.canonicalizer.lexical_from(text, base));
            return Some(forms);
        }
        let mut readings = path_readings(text);
        if !readings.iter().any(|reading| **reading == *text) {
            match found.is_path {
                true => readings.push(text.into()),
                false => {
                    // A NUL ends a text for a program in C.
                    let ended = text.split_once('\0').map(|(before, _)| before.to_owned());
                    forms.texts.extend(ended);
                    forms.texts.push(text.to_owned());
                }
            }
        }
        for reading in readings {
            let path = self.canonicalizer.path_like(&reading).ok()?;
            forms.canonical.push(path.as_str().to_owned());
            forms
                .lexical
                .push(self.canonicalizer.lexical_from(&reading, base));
        }
        Some(forms)
    }

    /// Patterns are relative to the sandbox's first directory, else to the directory that relative paths are relative
    /// to. Roots that are not the sandbox anchor no pattern: in an intersection it would then mean another thing than in
    /// the ceiling that it comes from.
    fn anchors(&mut self) -> [Anchor; 2] {
        let workspace = match self.program.sandbox.first() {
            Some(written) => {
                let sandbox = self.directories.sandbox(&mut self.canonicalizer);
                let canonical = sandbox.first().and_then(Directory::known);
                Anchor {
                    written: written.to_string(),
                    canonical: canonical.map(|path| path.as_str().to_owned()),
                }
            }
            None => self.anchor(self.canonicalizer.base.directory),
        };
        [workspace, self.anchor(&self.program.home)]
    }

    fn anchor(&mut self, directory: &str) -> Anchor {
        let canonical = self.canonicalizer.directory(directory).ok();
        Anchor {
            written: self.canonicalizer.lexical(directory),
            canonical: canonical.map(|path| path.as_str().to_owned()),
        }
    }
}

fn each_string(
    place: Vec<PointerToken>,
    value: &Value<'_>,
    push: &mut impl FnMut(Vec<PointerToken>, Option<&str>),
) {
    let mut one = |place, value: &Value<'_>| match value {
        Value::Null => {}
        Value::Text(text) => push(place, Some(text)),
        _ => push(place, None),
    };
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let mut place = place.clone();
                place.push(PointerToken::Item(at));
                one(place, item);
            }
        }
        other => one(place, other),
    }
}

//! The capability ceiling (SPEC §8.3.4, §12): what the tool may be, and what single arguments must look like.

use super::StructuralRule;
use super::Verdict;
use super::answers::text_of;
use super::asking::Asking;
use super::check::Finding;
use super::directory::Directory;
use super::inputs::Inputs;
use super::operand::Operand;
use crate::bind::{PointerToken, Reached, Value, descend, path_readings};
use crate::cost::CEILING_VALUE;
use crate::model::ArgumentName;
use crate::program::{ArgumentConstraint, Ceiling, Constrained, ToolCeiling};
use crate::role::RoleId;

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

pub(super) fn check<'p>(inputs: &Inputs<'p, '_>, asking: &mut Asking) -> Option<Finding<'p>> {
    let Some(ceiling) = &inputs.program.ceiling else {
        return None;
    };
    let refusal = match inputs.tool {
        Some(tool) => tool.ceiling.refusal.as_deref().map(str::to_owned),
        None => ceiling.refusal(inputs.server(), &inputs.call.tool, &Default::default()),
    };
    let refusal = refusal
        .or_else(|| outside_roots(inputs, asking, ceiling))
        .or_else(|| pattern_mismatch(inputs, asking, ceiling));
    let Some(refusal) = refusal else {
        asking.note_held(
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

/// The first path that does not lie within a root of each set.
fn outside_roots(inputs: &Inputs, asking: &mut Asking, ceiling: &Ceiling) -> Option<String> {
    if ceiling.roots.is_empty() {
        return None;
    }
    let roots = asking.directories.roots(&mut asking.canonicalizer);
    let is_within = |operand: &Operand<'_, '_>| {
        let located = operand.located().map(|located| &located.path);
        operand
            .paths()
            .chain(located)
            .all(|path| roots.iter().all(|set| set.iter().any(|root| root.grants(path))))
    };
    let outside = inputs.operands.iter().find(|operand| !is_within(operand))?;
    let name = inputs.name_of_value(&outside.bound);
    Some(format!(
        "argument {name:?} lies outside the ceiling's workspace roots"
    ))
}

/// The first constrained argument that matches none of the patterns.
fn pattern_mismatch(inputs: &Inputs, asking: &mut Asking, ceiling: &Ceiling) -> Option<String> {
    let tool = inputs.tool.filter(|tool| !tool.ceiling.constraints.is_empty())?;
    let anchors = anchors(inputs, asking);
    let order = inputs.operands_by_place();
    let mut first: Option<(usize, String)> = None;
    for group in &tool.ceiling.groups {
        let found = mismatch_in(inputs, asking, ceiling, &tool.ceiling, group, (&anchors, &order));
        if asking.has_failed() {
            return None;
        }
        first = first.into_iter().chain(found).min();
    }
    let (place, name) = first?;
    let (at, _) = tool.ceiling.constraints.get(place)?;
    let shown = &ceiling.constraints.get(*at)?.shown;
    let tool = format!("{}/{}", inputs.call.server, inputs.call.tool);
    Some(format!(
        "argument {name:?} of tool \"{tool}\" does not match the ceiling's {shown}"
    ))
}

/// The first of the constraints that does not hold, by its place among those of the tool, and the name of the argument for
/// which it does not. All of them look at the same values, of which the forms are found once.
fn mismatch_in(
    inputs: &Inputs,
    asking: &mut Asking,
    ceiling: &Ceiling,
    constrained: &ToolCeiling,
    group: &[usize],
    ([workspace, home], order): (&[Anchor; 2], &[usize]),
) -> Option<(usize, String)> {
    let mut constraints = Vec::with_capacity(group.len());
    for place in group {
        let (at, _) = constrained.constraints.get(*place)?;
        let constraint = ceiling.constraints.get(*at)?;
        let own = constraint.workspace.as_deref().map(|root| anchor(asking, root));
        constraints.push((*place, constraint, own));
    }
    let (_, looked_at) = constrained.constraints.get(*group.first()?)?;
    let mut first = None;
    for found in parts_of(inputs, constrained_values(inputs, looked_at), order) {
        let operands = operands_at(inputs, order, &found);
        let forms = forms_of(inputs, asking, &found, operands);
        if asking.has_failed() {
            break;
        }
        let failed = constraints.iter().position(|(_, constraint, own)| {
            let anchors = [own.as_ref().unwrap_or(workspace), home];
            let holds = |forms| holds_for(asking, forms, constraint, anchors);
            !forms.as_ref().is_some_and(holds)
        });
        // Those behind it no longer matter.
        constraints.truncate(failed.map_or(constraints.len(), |at| at + 1));
        if failed.is_some() {
            let name = name_of_found(inputs, &found);
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
fn constrained_values(inputs: &Inputs, looked_at: &Constrained) -> Vec<Found> {
    let mut found = match looked_at {
        Constrained::Argument(name) => values_at(inputs, name, false),
        Constrained::PathParams(names) => {
            let mut values = names.iter().map(|name| values_at(inputs, name, true));
            let first = values.find(|values| values.iter().any(|found| found.text.is_some()));
            first.unwrap_or_default()
        }
    };
    let is_meant = |operand: &Operand<'_, '_>| {
        let argument = operand.bound.absent;
        argument.is_some_and(|argument| looked_at.names().contains(&argument.name))
    };
    let operands = inputs.operands.iter().enumerate();
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

fn name_of_found(inputs: &Inputs, found: &Found) -> String {
    let taken = found.taken.and_then(|at| inputs.operands.get(at));
    let name = match taken {
        Some(operand) => inputs.name_of_value(&operand.bound),
        None => inputs.name_of(found.argument),
    };
    name.to_owned()
}

/// The values under a name: strings, items of arrays, and what is neither, null aside.
fn values_at(inputs: &Inputs, name: &ArgumentName, is_path: bool) -> Vec<Found> {
    let limits = &inputs.program.limits;
    let mut values = Vec::new();
    let members = inputs.call.arguments.members().iter().enumerate();
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
fn parts_of(inputs: &Inputs, found: Vec<Found>, order: &[usize]) -> Vec<Found> {
    if inputs.operands.iter().all(|operand| operand.bound.part.is_none()) {
        return found;
    }
    let mut values = Vec::with_capacity(found.len());
    for found in found {
        if found.taken.is_some() {
            values.push(found);
            continue;
        }
        let wanted = Some((found.argument, &*found.place));
        let first = order.partition_point(|at| inputs.place_of(*at) < wanted);
        let within = order.get(first..).unwrap_or_default().iter();
        let within = within
            .filter_map(|at| inputs.operands.get(*at))
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

/// The operands that stand for a value, out of all of them in the order of their places.
fn operands_at<'o>(inputs: &Inputs, order: &'o [usize], found: &Found) -> &'o [usize] {
    if let Some(taken) = found.taken {
        let at = order.iter().position(|at| *at == taken);
        return at.and_then(|at| order.get(at..=at)).unwrap_or_default();
    }
    let wanted = Some((found.argument, &*found.place));
    let first = order.partition_point(|at| inputs.place_of(*at) < wanted);
    let rest = order.get(first..).unwrap_or_default();
    let count = rest.partition_point(|at| inputs.place_of(*at) == wanted);
    rest.get(..count).unwrap_or_default()
}

/// Returns `true` if one of the patterns holds for every form of the value.
fn holds_for(
    asking: &mut Asking,
    forms: &ValueForms,
    constraint: &ArgumentConstraint,
    anchors: [&Anchor; 2],
) -> bool {
    let lexical_places = anchors.map(|one| Some((&*one.written, &*one.written)));
    let canonical_places = anchors.map(|one| Some((&*one.written, one.canonical.as_deref()?)));
    let all = [&forms.lexical, &forms.canonical, &forms.texts];
    let bytes = all.into_iter().flatten().map(String::len).sum();
    let mut patterns = constraint.patterns.iter();
    patterns.any(|pattern| {
        asking.take_steps(pattern.cost(bytes));
        let mut lexical = forms.lexical.iter();
        let mut canonical = forms.canonical.iter();
        // What is sent is written from where a link leads, and has to pass again.
        let holds_as_written =
            |path| pattern.holds(path, lexical_places) || pattern.holds(path, canonical_places);
        !asking.has_failed()
            && lexical.all(|path| holds_as_written(path))
            && canonical.all(|path| pattern.holds(path, canonical_places))
            && forms.texts.iter().all(|text| pattern.text.matches(text))
    })
}

/// Every form of the value at the operands; `None` where it is not a text, or looks like a path and cannot be resolved.
fn forms_of(inputs: &Inputs, asking: &mut Asking, found: &Found, operands: &[usize]) -> Option<ValueForms> {
    let text = found.text.as_deref()?;
    asking.take_steps(CEILING_VALUE);
    let mut forms = ValueForms::default();
    let compared = |role: &RoleId| {
        inputs.program.resource_roles.contains(*role) && !inputs.program.path_roles.contains(*role)
    };
    let mut base = None;
    for at in operands {
        let operand = inputs.operands.get(*at)?;
        if let Some(known) = operand.path_rest().and_then(|rest| rest.base.as_ref()) {
            base = Some(known.clone());
        }
        forms
            .canonical
            .extend(operand.paths().map(|path| path.as_str().to_owned()));
        for role in operand.bound.roles.iter().filter(|role| compared(role)) {
            forms.texts.push(text_of(inputs, asking, *at, *role).to_owned());
        }
    }
    let base = base.as_deref().unwrap_or(asking.canonicalizer.base.directory);
    if !forms.canonical.is_empty() {
        forms.lexical.push(asking.canonicalizer.lexical_from(text, base));
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
        let path = asking.canonicalizer.path_like(&reading).ok()?;
        forms.canonical.push(path.as_str().to_owned());
        forms
            .lexical
            .push(asking.canonicalizer.lexical_from(&reading, base));
    }
    Some(forms)
}

/// Patterns are relative to the sandbox's first directory, else to the directory that relative paths are relative
/// to. Roots that are not the sandbox anchor no pattern: in an intersection it would then mean another thing than in
/// the ceiling that it comes from.
fn anchors(inputs: &Inputs, asking: &mut Asking) -> [Anchor; 2] {
    let workspace = match inputs.program.sandbox.first() {
        Some(written) => {
            let sandbox = asking.directories.sandbox(&mut asking.canonicalizer);
            let canonical = sandbox.first().and_then(Directory::known);
            Anchor {
                written: written.to_string(),
                canonical: canonical.map(|path| path.as_str().to_owned()),
            }
        }
        None => anchor(asking, asking.canonicalizer.base.directory),
    };
    [workspace, anchor(asking, &inputs.program.home)]
}

fn anchor(asking: &mut Asking, directory: &str) -> Anchor {
    let canonical = asking.canonicalizer.directory(directory).ok();
    Anchor {
        written: asking.canonicalizer.lexical(directory),
        canonical: canonical.map(|path| path.as_str().to_owned()),
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

//! The capability ceiling (SPEC §8.3.4, §12): what the tool may be, and what single arguments must look like.

use super::directories::Directory;
use super::{Evaluation, Verdict};
use crate::bind::{Operand, Place, Value, descend};
use crate::host::HostError;
use crate::model::ArgumentName;
use crate::path::Failure;
use crate::program::{ArgumentConstraint, Ceiling, Constrained};

const RULE: &str = "structural-capability-ceiling";

/// One value that a constraint is about.
struct Found {
    argument: usize,
    place: Vec<Place>,
    /// The string; `None` where it is something else, which matches no pattern.
    text: Option<String>,
    /// Whether the tool's annotation says that it is a path.
    is_path: bool,
}

/// Every form of a value for which a pattern must hold.
#[derive(Default)]
struct Forms {
    /// A path as it was given, made absolute and without `.` and `..`.
    lexical: Option<String>,
    /// What a path stands for, and where a link to be removed stands.
    canonical: Vec<String>,
    /// What is no path: as given, and as policy compares it.
    texts: Vec<String>,
}

/// The directories that patterns for paths are relative to.
struct Anchors {
    workspace: Anchor,
    home: Anchor,
}

/// A directory as it is written, and canonical where it can be resolved.
struct Anchor {
    written: String,
    canonical: Option<String>,
}

impl<'p> Evaluation<'p, '_, '_> {
    pub(super) fn check_ceiling(&mut self) -> Result<Option<Verdict<'p>>, HostError> {
        let Some(ceiling) = &self.program.ceiling else {
            return Ok(None);
        };
        let refusal = match self.tool {
            Some(tool) => tool.ceiling.refusal.as_deref().map(str::to_owned),
            None => ceiling.refusal(self.server(), &self.call.tool, &Default::default()),
        };
        let refusal = match refusal {
            Some(refusal) => Some(refusal),
            None => match self.outside_roots(ceiling)? {
                Some(refusal) => Some(refusal),
                None => self.unlike_patterns(ceiling)?,
            },
        };
        Ok(match refusal {
            Some(refusal) => {
                self.note("capability-ceiling", false, || refusal.clone());
                Some(Verdict::deny(
                    RULE,
                    format!("Above the capability ceiling: {refusal}"),
                ))
            }
            None => {
                self.note("capability-ceiling", true, || {
                    "the tool and its arguments are within the ceiling".to_owned()
                });
                None
            }
        })
    }

    /// The first path that does not lie within a root of each set.
    fn outside_roots(&mut self, ceiling: &Ceiling) -> Result<Option<String>, HostError> {
        if ceiling.roots.is_empty() {
            return Ok(None);
        }
        let roots = self.directories.roots(&mut self.forms)?;
        let within = |operand: &Operand<'_, '_>| {
            operand
                .path()
                .into_iter()
                .chain(operand.entry())
                .chain(operand.located().map(|located| &located.path))
                .all(|path| roots.iter().all(|set| set.iter().any(|root| root.grants(path))))
        };
        let outside = self.reading.operands.iter().find(|operand| !within(operand));
        let name = outside.map(|operand| self.name_of(operand.argument));
        Ok(name.map(|name| format!("argument {name} lies outside the ceiling's workspace roots")))
    }

    /// The first constrained argument that matches none of the patterns.
    fn unlike_patterns(&mut self, ceiling: &Ceiling) -> Result<Option<String>, HostError> {
        let Some(tool) = self.tool else { return Ok(None) };
        if tool.ceiling.constraints.is_empty() {
            return Ok(None);
        }
        let anchors = self.anchors()?;
        for (at, looked_at) in &tool.ceiling.constraints {
            let Some(constraint) = ceiling.constraints.get(*at) else {
                continue;
            };
            for found in self.found(looked_at) {
                if !self.holds(&found, constraint, &anchors)? {
                    let (name, shown) = (self.name_of(Some(found.argument)), &constraint.shown);
                    let tool = format!("{}/{}", self.call.server, self.call.tool);
                    return Ok(Some(format!(
                        "argument {name} of tool \"{tool}\" does not match the ceiling's {shown}"
                    )));
                }
            }
        }
        Ok(None)
    }

    /// The values that a constraint is about; none where it does not apply.
    fn found(&self, looked_at: &Constrained) -> Vec<Found> {
        match looked_at {
            Constrained::Argument(name) => self.values_at(name, false),
            Constrained::PathParams(names) => {
                let mut values = names.iter().map(|name| self.values_at(name, true));
                let first = values.find(|values| values.iter().any(|found| found.text.is_some()));
                first.unwrap_or_default()
            }
        }
    }

    /// The values under a name: strings, items of arrays, and what is neither, null aside.
    fn values_at(&self, name: &ArgumentName, is_path: bool) -> Vec<Found> {
        let limits = &self.program.limits;
        let mut values = Vec::new();
        let members = self.call.arguments.members().iter().enumerate();
        for (argument, (_, value)) in
            members.filter(|(_, (member, _))| name.first().is_none_or(|first| first == member))
        {
            let mut push = |place: Vec<Place>, text: Option<&str>| {
                let text = text
                    .filter(|text| text.len() <= limits.value_bytes)
                    .map(str::to_owned);
                if values.len() <= limits.values_per_role {
                    values.push(Found {
                        argument,
                        place,
                        text,
                        is_path,
                    });
                }
            };
            match value.read(limits.depth) {
                Ok(read) => descend(&read, name.rest(), &mut Vec::new(), &mut |place, value| {
                    each_string(place, value, &mut push);
                }),
                Err(_) => push(Vec::new(), None),
            }
        }
        if values.len() > limits.values_per_role {
            // Too many to be looked at: what cannot be judged does not match.
            values.iter_mut().for_each(|found| found.text = None);
        }
        values
    }

    /// Whether one of the patterns holds for every form of the value.
    fn holds(
        &mut self,
        found: &Found,
        constraint: &ArgumentConstraint,
        anchors: &Anchors,
    ) -> Result<bool, HostError> {
        let Some(text) = found.text.as_deref() else {
            return Ok(false);
        };
        let Some(forms) = self.forms_of(found, text)? else {
            return Ok(false);
        };
        let Anchors { workspace, home } = anchors;
        let (lexical_places, canonical_places) = (
            [workspace, home].map(|one| Some((&*one.written, &*one.written))),
            [workspace, home].map(|one| Some((&*one.written, one.canonical.as_deref()?))),
        );
        Ok(constraint.patterns.iter().any(|pattern| {
            forms
                .lexical
                .iter()
                .all(|path| pattern.holds(path, lexical_places))
                && forms
                    .canonical
                    .iter()
                    .all(|path| pattern.holds(path, canonical_places))
                && forms.texts.iter().all(|text| pattern.text.matches(text))
        }))
    }

    /// Nothing, where the value looks like a path and is none that can be resolved.
    fn forms_of(&mut self, found: &Found, text: &str) -> Result<Option<Forms>, HostError> {
        let mut forms = Forms::default();
        let path_roles = self.program.path_roles;
        let is_meant = |operand: &Operand<'_, '_>| {
            operand.argument == Some(found.argument) && operand.place == found.place
        };
        for operand in self
            .reading
            .operands
            .iter_mut()
            .filter(|operand| is_meant(operand))
        {
            let paths = operand.path().into_iter().chain(operand.entry());
            forms.canonical.extend(paths.map(|path| path.as_str().to_owned()));
            let compared = self.program.resource_roles;
            for role in operand.roles.iter().copied() {
                if compared.contains(role) && !path_roles.contains(role) {
                    self.forms.spell(operand, role)?;
                    forms.texts.extend(operand.text_under(role).map(str::to_owned));
                }
            }
        }
        let is_path = found.is_path || !forms.canonical.is_empty() || looks_like_path(text);
        if !is_path {
            forms.texts.push(text.to_owned());
            return Ok(Some(forms));
        }
        if forms.canonical.is_empty() {
            match self.forms.path_like(text) {
                Ok(path) => forms.canonical.push(path.as_str().to_owned()),
                Err(Failure::Unresolvable(_)) => return Ok(None),
                Err(Failure::Host(error)) => return Err(error),
            }
        }
        forms.lexical = Some(self.forms.lexical(text));
        Ok(Some(forms))
    }

    /// Patterns are relative to the sandbox's first directory, else to what relative paths are relative to. Roots that
    /// are not the sandbox anchor none: in an intersection a pattern would then mean another thing than in the ceiling
    /// that it comes from.
    fn anchors(&mut self) -> Result<Anchors, HostError> {
        let workspace = match self.program.sandbox.first() {
            Some(written) => {
                let sandbox = self.directories.sandbox(&mut self.forms)?;
                let canonical = sandbox.first().and_then(Directory::known);
                Anchor {
                    written: written.to_string(),
                    canonical: canonical.map(|path| path.as_str().to_owned()),
                }
            }
            None => self.anchor(self.forms.shaped.base)?,
        };
        let home = self.anchor(&self.program.home)?;
        Ok(Anchors { workspace, home })
    }

    fn anchor(&mut self, directory: &str) -> Result<Anchor, HostError> {
        let canonical = match self.forms.directory(directory) {
            Ok(path) => Some(path.as_str().to_owned()),
            Err(Failure::Unresolvable(_)) => None,
            Err(Failure::Host(error)) => return Err(error),
        };
        let written = self.forms.lexical(directory);
        Ok(Anchor { written, canonical })
    }

    fn name_of(&self, argument: Option<usize>) -> String {
        let member = argument.and_then(|at| self.call.arguments.members().get(at));
        format!("{:?}", member.map_or("", |(name, _)| name))
    }
}

/// Whether a text that bears no role may be a path all the same, so that its canonical form counts as well.
fn looks_like_path(text: &str) -> bool {
    text.starts_with(['/', '.', '~']) || text.split('/').any(|name| name == "..")
}

fn each_string(place: Vec<Place>, value: &Value<'_>, push: &mut impl FnMut(Vec<Place>, Option<&str>)) {
    match value {
        Value::Null => {}
        Value::Text(text) => push(place, Some(text)),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let mut place = place.clone();
                place.push(Place::Item(at));
                match item {
                    Value::Null => {}
                    Value::Text(text) => push(place, Some(text)),
                    _ => push(place, None),
                }
            }
        }
        _ => push(place, None),
    }
}

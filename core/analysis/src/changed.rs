//! Parts of a tool's calls that two programs read differently, besides what their rules compare.
//!
//! A member that only one of them knows, or that only one of them holds against a type, is looked at in calls in which it is
//! something else than a text. What calls cannot show is said in words, so that nobody takes the programs for equal.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::asked::Asked;
use super::diff::Found;
use super::divided::{Divided, Group, Mode, Picks};
use super::inexact::LEFT;
use super::{Analysis, Place, same};
use callgate_engine::model::Argument;
use callgate_engine::program::{Program, RelativePaths, Tool};
use callgate_engine::role::RoleSet;

/// A tool in its program.
type Side<'p> = (&'p Program, &'p Tool);

/// Everything that differs between two annotations of a tool, or between what programs say of its server, and is not shown by calls.
pub(super) fn unshown(one: Side<'_>, other: Side<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut differs = |is_other: bool, what: String| {
        if is_other {
            found.push(format!("what follows from another {what}"));
        }
    };
    let ((first, tool), (second, other_tool)) = (one, other);
    let settings = [(first, tool), (second, other_tool)].map(|(program, tool)| program.server(&tool.server));
    let [own_server, other_server] = settings;
    let shapes = [tool, other_tool].map(|tool| &tool.semantics.arg_schema);
    let [own_shape, other_shape] = shapes;
    differs(
        own_server.kind != other_server.kind,
        "kind of the server (`serverAliases`)".to_owned(),
    );
    differs(
        own_shape.arg_aliases != other_shape.arg_aliases,
        "`arg_aliases`".to_owned(),
    );
    differs(
        own_shape.path_params != other_shape.path_params
            && (first.ceiling.is_some() || second.ceiling.is_some()),
        "`path_params`".to_owned(),
    );
    differs(
        tool.unnamed_roles != other_tool.unnamed_roles,
        "role of arguments that nobody names (`unjudged`)".to_owned(),
    );
    differs(
        everywhere(tool) != everywhere(other_tool),
        "pointer that begins with `*`".to_owned(),
    );
    differs(
        starts_otherwise(one, other),
        "directory that relative paths start from".to_owned(),
    );
    for argument in &tool.arguments {
        let mut others = other_tool.arguments.iter();
        let known = others.find(|known| known.name == argument.name);
        let is_other = known.is_some_and(|known| known.relative_to != argument.relative_to);
        differs(is_other, format!("`relativeTo` of `{}`", argument.name));
        let is_other = known.is_some_and(|known| known.reach != argument.reach);
        differs(is_other, format!("`reach` of `{}`", argument.name));
        let is_other = known.is_some_and(|known| known.scheme != argument.scheme);
        differs(is_other, format!("`scheme` of `{}`", argument.name));
        let is_other = known.is_some_and(|known| known.separator != argument.separator);
        differs(is_other, format!("`separator` of `{}`", argument.name));
        let is_other = known.is_some_and(|known| known.absent != argument.absent);
        differs(is_other, format!("`absent` of `{}`", argument.name));
    }
    for name in members(one.1, other.1) {
        let types = [tool, other_tool].map(|tool| &tool.member(name).schema);
        let [own_types, other_types] = types;
        let is_read = is_read(one, name) || is_read(other, name);
        differs(
            own_types != other_types && is_read,
            format!("type of `{name}` in the schema"),
        );
        let is_known = [tool, other_tool].map(|tool| tool.member(name).is_known);
        let is_constrained = |tool: &Tool| {
            tool.conditioned.keys().any(|(known, _)| *known == *name) || !tool.ceiling.constraints.is_empty()
        };
        differs(
            is_known == [true, false] && is_constrained(tool)
                || is_known == [false, true] && is_constrained(other_tool),
            format!("list of arguments: only one has `{name}`, which conditions look at"),
        );
    }
    found
}

/// The arguments that are found in every member.
fn everywhere(tool: &Tool) -> BTreeSet<String> {
    let names = tool
        .arguments
        .iter()
        .filter(|argument| argument.name.first().is_none());
    names.map(|argument| argument.name.to_string()).collect()
}

/// Returns `true` if a relative path stands for another place.
fn starts_otherwise(one: Side<'_>, other: Side<'_>) -> bool {
    let start = |program: &Program| {
        program
            .sandbox
            .first()
            .cloned()
            .unwrap_or_else(|| program.current.clone())
    };
    let reads = |(program, tool): Side<'_>| {
        let roles: RoleSet = tool
            .arguments
            .iter()
            .flat_map(|one| one.roles.possible())
            .collect();
        roles.intersects(program.path_roles) && program.relative_paths != RelativePaths::Deny
    };
    start(one.0) != start(other.0) && (reads(one) || reads(other))
}

/// Returns `true` if the type of the member counts: it bears a role that a judgement looks at.
fn is_read((program, tool): Side<'_>, name: &str) -> bool {
    let arguments = tool.member(name).arguments.iter();
    let mut roles = arguments
        .filter_map(|at| tool.arguments.get(*at))
        .flat_map(|argument: &Argument| argument.roles.possible());
    roles.any(|role| program.resource_roles.contains(role) || program.ruled_roles.contains(role))
}

/// The members that one of the tools names, and those that conditions of rules look at: an option may say that only one of the
/// programs takes them for known.
fn members<'p>(one: &'p Tool, other: &'p Tool) -> BTreeSet<&'p str> {
    let shapes = [one, other].into_iter().flat_map(|tool| {
        let shape = &tool.semantics.arg_schema;
        let required = tool.required.iter().chain(&shape.required).map(|name| &**name);
        let conditioned = tool.conditioned.keys().map(|(name, _)| name);
        tool.member_names().chain(required).chain(conditioned)
    });
    shapes.collect()
}

/// Values that a member may have instead of a text that is looked at. The first stands for all of them.
fn odd_values() -> [(Value, &'static str); 6] {
    [
        (json!("some-text"), "a text"),
        (Value::Null, "null"),
        (json!(true), "true"),
        (json!(1), "a number"),
        (json!({}), "an object"),
        (json!([[]]), "an array of arrays"),
    ]
}

impl Analysis<'_> {
    /// Where what is said of a tool's calls is not exact, because layers above read them in other ways.
    pub(super) fn doubts(&self, server: &str, name: &str) -> Vec<String> {
        let mut doubts = Vec::new();
        let lowest = self.imagined.program();
        let own = lowest.tool(server, name);
        for (layer, program) in self.above.programs() {
            if program.server(server).is_trusted {
                continue;
            }
            match (own, program.tool(server, name)) {
                (Some(own), Some(tool)) => {
                    let mut found = unshown((lowest, own), (program, tool));
                    let settings = same::differing(lowest, program).into_iter();
                    found.extend(settings.map(|setting| format!("what follows from another `{setting}`")));
                    if found.is_empty() && !own.is_same(tool) {
                        found.push("what follows from another annotation".to_owned());
                    }
                    let found = found.into_iter();
                    doubts.extend(found.map(|why| format!("{why} in the layer `{layer}`")));
                }
                (None, Some(_)) => doubts.push(format!(
                    "what the layer `{layer}` says of a tool that the lowest one trusts, and does not annotate"
                )),
                (_, None) if !program.protected.is_empty() || program.ceiling.is_some() => {
                    doubts.push(format!("{LEFT} `{layer}`"));
                }
                (_, None) => {}
            }
        }
        doubts
    }
}

impl Divided<'_, '_> {
    /// Notes what calls cannot show of the differences.
    pub(super) fn note_unshown(&mut self) {
        let Some(other) = self.other else { return };
        let own = (self.analysis.imagined.program(), self.tool);
        for why in unshown(own, (other.imagined.program(), other.tool)) {
            self.note(why);
        }
    }

    /// The members about whose form the programs may differ.
    fn of_other_form(&self) -> Vec<String> {
        let Some(other) = self.other else {
            return Vec::new();
        };
        let sides = [
            (self.analysis.imagined.program(), self.tool),
            (other.imagined.program(), other.tool),
        ];
        let form = |side: Side<'_>, name: &str| {
            let shape = &side.1.semantics.arg_schema;
            let is_among = |names: &[Box<str>]| names.iter().any(|known| **known == *name);
            let member = side.1.member(name);
            let is_read = is_read(side, name);
            let types = is_read.then(|| member.schema.clone());
            let is_required = is_among(&side.1.required) && is_read;
            (member.is_known, types, is_required, is_among(&shape.required))
        };
        let [one, other] = sides;
        let names = members(one.1, other.1).into_iter();
        let differing = names.filter(|name| form(one, name) != form(other, name));
        differing.map(str::to_owned).collect()
    }

    /// How the verdicts differ about the most harmless call, where a member is absent or not a text.
    pub(super) fn changes_of_form(
        &mut self,
        mode: &Mode,
        groups: &[Group],
        least: &Picks,
        is_new: bool,
    ) -> Vec<Found> {
        let mut found = Vec::new();
        for name in self.of_other_form() {
            let asked = self.asked(mode, groups, least);
            let Value::Object(base) = asked.arguments else {
                continue;
            };
            let asked_with = |members: Map<String, Value>| Asked {
                arguments: Value::Object(members),
                context: asked.context.clone(),
            };
            let with = |value: Value| {
                let mut members = base.clone();
                members.insert(name.clone(), value);
                members
            };
            let mut without = base.clone();
            without.remove(&name);
            found.extend(self.change_of_form(mode, (&name, "absent"), asked_with(without), is_new));
            let given = odd_values().map(|(value, is)| {
                let change = self.change_of_form(mode, (&name, is), asked_with(with(value)), is_new);
                (change, is)
            });
            let mut pairs = given.iter().map(|(change, _)| change.as_ref().map(Found::judged));
            let first = pairs.next();
            if first.is_some_and(|first| first.is_some() && pairs.all(|pair| pair == first)) {
                let [(first, _), ..] = given;
                found.extend(first.map(|mut one| {
                    one.say("given");
                    one
                }));
            } else {
                found.extend(given.into_iter().filter_map(|(change, _)| change));
            }
        }
        found
    }

    fn change_of_form(
        &mut self,
        mode: &Mode,
        (name, is): (&str, &str),
        asked: Asked,
        is_new: bool,
    ) -> Option<Found> {
        let pair = self.judge_both(&asked, is_new)?;
        let slot = self.slots.iter().position(|slot| slot.name() == name);
        let place = match slot {
            Some(slot) => self.place(mode, slot, is.to_owned()),
            None => Place {
                argument: name.to_owned(),
                roles: Vec::new(),
                is: is.to_owned(),
                within: None,
            },
        };
        Some(self.change(mode, &[place], pair, asked))
    }
}

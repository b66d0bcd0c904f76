//! The document of a world
//! `{roots, mounts?, visibility, operations, execTool?, areas?}`.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Severity};
use crate::document::{Members, Node, Object, Relative, did_you_mean, keys, listed};
use crate::limits::Limits;
use crate::named::Named;
use crate::sort;

use super::address::{refuse_key, refuse_name};
use super::condition::Condition;
use super::matrix::{Key, Matrix};
use super::operations::{Commands, OperationRule, Pair};
use super::reply::Area;
use super::{Directory, EXEC_TOOL, World};

/// Reads a world. Faults go to the document's report; if there are errors, returns what could be read.
///
/// Unknown and missing keys are errors: a misspelled `subdirectory` or `when` would make a row wider than it looks.
pub fn read(document: &Node<'_, '_>, limits: &Limits) -> World {
    let mut world = World::default();
    let Some(object) = document.object_of(keys::WORLD, Severity::Error) else {
        return world;
    };
    let mut roots_are_whole = false;
    if let Some(roots) = object.required("roots", "an object from key to directory") {
        world.roots = read_directories(&roots, limits, refuse_key);
        roots_are_whole = roots.value().as_object().map(Members::len) == Some(world.roots.len());
        check_legacy_forms(&roots, &world.roots);
    }
    if let Some(mounts) = object.optional("mounts") {
        world.mounts = read_directories(&mounts, limits, refuse_name);
    }
    let places = world.roots.len() + world.mounts.len();
    if !document.check_limit(places, "roots and mods", "places", limits.places) {
        return World::default();
    }
    let exec_tool = object.read("execTool", |node| node.name());
    world.exec_tool = exec_tool.unwrap_or(EXEC_TOOL).into();
    let visibility = read_rows(&object, "visibility", limits, |row, _| {
        row.require("when", "an array of conditions", |node| read_conditions(node))
    });
    let operations = read_rows(&object, "operations", limits, |row, limits| {
        let rules = row.required("rules", "an array of rules")?;
        let rules = rules.each("an array of rules", |rule| read_rule(rule, limits))?;
        Some(rules.into_boxed_slice())
    });
    world.is_whole = visibility.is_some() && operations.is_some() && roots_are_whole;
    world.visibility = Matrix::new(visibility.unwrap_or_default());
    world.operations = Matrix::new(operations.unwrap_or_default());
    let areas = object.optional("areas").map(|node| read_areas(&node));
    world.areas = classified(areas.unwrap_or_default(), &world.operations);
    world
}

/// Reports roots that share a legacy address.
fn check_legacy_forms(node: &Node<'_, '_>, roots: &[Directory]) {
    let mut seen = BTreeSet::new();
    for legacy in roots.iter().map(|root| root.name.to_ascii_uppercase()) {
        if seen.contains(&legacy) {
            node.error(
                Code::InvalidValue,
                format_args!(
                    "found two roots for `ROOT_{legacy}:/`, expected keys that differ in more than case"
                ),
            );
        }
        seen.insert(legacy);
    }
}

fn read_directories(
    node: &Node<'_, '_>,
    limits: &Limits,
    refuse: fn(&str) -> Option<&'static str>,
) -> Vec<Directory> {
    let Some(entries) = node.object() else {
        return Vec::new();
    };
    let read = |(name, node): (&str, Node<'_, '_>)| {
        if let Some(why) = refuse(name) {
            node.error(
                Code::InvalidValue,
                format_args!("found the name {name:?}, {why}, expected one that an address can contain"),
            );
        }
        let path = node.path(Relative::Refused, limits)?;
        Some(Directory {
            name: name.into(),
            path,
        })
    };
    entries.entries().filter_map(read).collect()
}

/// The rows of one table, at most `rules` of them; `None` if one cannot be read.
fn read_rows<T>(
    object: &Object<'_, '_>,
    key: &str,
    limits: &Limits,
    read: impl Fn(&Object<'_, '_>, &Limits) -> Option<T>,
) -> Option<Vec<(Key, T)>> {
    let node = object.required(key, "an array of rows")?;
    let items = node.array("an array of rows")?;
    let count = items.len();
    if !node.check_limit(count, "rows", "rules", limits.rules) {
        return None;
    }
    let known = if key == "visibility" {
        keys::VISIBILITY
    } else {
        keys::OPERATIONS
    };
    let row = |item: Node<'_, '_>| {
        let row = item.object_of(known, Severity::Error)?;
        let key = read_key(&row);
        let value = read(&row, limits);
        Some((key?, value?))
    };
    let rows: Vec<(Key, T)> = items.filter_map(row).collect();
    (rows.len() == count).then_some(rows)
}

/// The key of a row. The subdirectory is required, though it may be `null`.
pub fn read_key(row: &Object<'_, '_>) -> Option<Key> {
    let name = |key| row.require(key, "a name", |node| node.name());
    let (mode, root) = (name("mode"), name("root"));
    let subdirectory = row.required("subdirectory", "a name, or `null` for the whole root")?;
    let subdirectory = if subdirectory.value().is_null() {
        None
    } else {
        Some(subdirectory.name()?.into())
    };
    Some(Key {
        mode: mode?.into(),
        root: root?.into(),
        subdirectory,
    })
}

fn read_rule(node: &Node<'_, '_>, limits: &Limits) -> Option<OperationRule> {
    let rule = node.object_of(keys::OPERATION_RULE, Severity::Error)?;
    let commands = rule.require("commands", "pairs of tool and command, or `exec`", |node| {
        read_commands(node, limits)
    });
    let conditions = rule.require("when", "an array of conditions", |node| read_conditions(node));
    Some(OperationRule {
        commands: commands?,
        conditions: conditions?,
    })
}

fn read_commands(node: &Node<'_, '_>, limits: &Limits) -> Option<Commands> {
    if node.value().is_string() {
        return node.one_of(&[("exec", Commands::Exec)]);
    }
    let mut pairs = read_pairs(node)?;
    node.check_limit(pairs.len(), "commands", "list_entries", limits.list_entries);
    if pairs.is_empty() {
        node.warning(
            Code::NeverMatches,
            format_args!("found `[]`, which names no command, expected at least one"),
        );
    }
    sort::sort(&mut pairs);
    Some(Commands::Pairs(pairs.into()))
}

/// An array of pairs of tool and command.
pub fn read_pairs(node: &Node<'_, '_>) -> Option<Vec<Pair>> {
    node.each("an array of pairs `[tool, command]`", |item| {
        let pair = <[Box<str>; 2]>::try_from(item.names()?);
        let Ok([tool, command]) = pair else {
            return item.wrong_type("a pair `[tool, command]`");
        };
        Some((tool, command))
    })
}

fn read_conditions(node: &Node<'_, '_>) -> Option<Box<[Condition]>> {
    let read = |item: &Node<'_, '_>| {
        let name = item.string()?;
        let condition = Condition::parse(name);
        if condition.is_none() {
            item.fault(Severity::Error, Code::UnknownValue, || {
                let names = || Condition::names();
                let found = item.found();
                let message = format!(
                    "found {found}, expected one of {}, or `host:<name>`",
                    listed(names())
                );
                (message, did_you_mean(name, names()))
            });
        }
        condition
    };
    node.each("an array of conditions", read)
        .map(Vec::into_boxed_slice)
}

/// The areas that a document can declare for a command; every command of the exec tool is of the area `exec`.
pub fn declared_areas() -> impl Iterator<Item = &'static (&'static str, Area)> {
    Area::NAMES.iter().filter(|(_, area)| *area != Area::Exec)
}

/// The areas that the document declares; a command has one area.
fn read_areas(node: &Node<'_, '_>) -> Vec<(Pair, Area)> {
    let mut areas: Vec<(Pair, Area)> = Vec::new();
    let Some(object) = node.object() else {
        return areas;
    };
    let keys: Vec<&str> = declared_areas().map(|(name, _)| *name).collect();
    object.unknown_keys(&keys, Severity::Error);
    for (name, area) in declared_areas() {
        let pairs = object.read(name, |pairs| read_pairs(pairs));
        areas.extend(pairs.into_iter().flatten().map(|pair| (pair, *area)));
    }
    by_pair(&mut areas);
    for two in areas.windows(2) {
        if let [(pair, one), (same, other)] = two
            && pair == same
            && one != other
            && let Some((name, _)) = declared_areas().find(|(_, area)| area == other)
            && let Some(pairs) = object.optional(name)
        {
            pairs.error(Code::InvalidValue, || {
                let (tool, command) = pair;
                format!("found `{command}` of `{tool}`, which has another area already, expected one area a command")
            });
        }
    }
    areas.dedup_by(|(later, _), (earlier, _)| later == earlier);
    areas
}

/// The areas of all commands in the document: as declared, otherwise a read if no rule for it has conditions.
fn classified(
    mut areas: Vec<(Pair, Area)>,
    operations: &Matrix<Box<[OperationRule]>>,
) -> Box<[(Pair, Area)]> {
    let mut named: Vec<(Pair, Area)> = Vec::new();
    for rule in operations.rows().flat_map(|(_, rules)| rules.iter()) {
        if let Commands::Pairs(pairs) = &rule.commands {
            let area = if rule.conditions.is_empty() {
                Area::Read
            } else {
                Area::Write
            };
            named.extend(pairs.iter().map(|pair| (pair.clone(), area)));
        }
    }
    by_pair(&mut named);
    named.dedup_by(|(later, later_area), (earlier, area)| {
        if later == earlier && *later_area == Area::Write {
            *area = Area::Write;
        }
        later == earlier
    });
    named.retain(|(pair, _)| areas.binary_search_by(|(known, _)| known.cmp(pair)).is_err());
    areas.extend(named);
    by_pair(&mut areas);
    areas.into()
}

/// A stable sort by command.
fn by_pair(areas: &mut Vec<(Pair, Area)>) {
    sort::sort_by(areas, |(one, _), (other, _)| one.cmp(other));
}

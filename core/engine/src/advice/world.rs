//! Doubtful rows of a valid world: rows and rules that nothing reaches, and places that are missing in one of the two
//! tables.

use std::collections::BTreeSet;

use crate::diagnostic::Code;
use crate::document::{Node, Object};
use crate::text::is_at_or_below;

use crate::world::{
    Commands, Directory, EXEC_TOOL, Key, Matrix, OperationRule, World, find, read_key, read_pairs,
};

/// Reports what is doubtful in a world, unless a fault kept a table from being read in full.
pub fn check(world: &World, document: &Node<'_, '_>) {
    if !world.is_whole {
        return;
    }
    let Some(object) = document.object() else { return };
    for (key, name) in [
        ("visibility", Table::Visibility),
        ("operations", Table::Operations),
    ] {
        if let Some(node) = object.optional(key) {
            check_rows(&node, world, name);
        }
    }
    if object.optional("execTool").is_none() {
        let uses_exec = world
            .operations
            .rows()
            .any(|(_, rules)| rules.iter().any(|rule| matches!(rule.commands, Commands::Exec)));
        if let (true, Some(node)) = (uses_exec, object.optional("operations")) {
            node.warning(Code::MissingField, format_args!("found rules for `exec`, which stands for the tool `{EXEC_TOOL}`, expected `execTool` to name it"));
        }
    }
    // A place within two roots has two addresses, and each is judged by the rows of its root.
    check_directories(object.optional("roots"), &world.roots, Code::Overridden, |root| {
        let mut others = world.roots.iter().filter(|other| other.name != root.name);
        let outer = others.find(|other| is_at_or_below(&root.path, &other.path))?;
        Some(format!(
            "found a directory within that of the root `{}`: addresses in that root reach it too, by other rows",
            outer.name
        ))
    });
    check_directories(
        object.optional("mounts"),
        &world.mounts,
        Code::NeverMatches,
        |mount| {
            let mut roots = world.roots.iter();
            let is_in_a_root = roots.any(|root| is_at_or_below(&mount.path, &root.path));
            (!is_in_a_root).then(|| {
                let name = &mount.name;
                format!(
                    "found the mod `{name}` outside of every root, expected its directory in one: it has no operations"
                )
            })
        },
    );
}

/// Warns about directories as they are written; on the disk, a link may lead elsewhere.
fn check_directories(
    node: Option<Node<'_, '_>>,
    directories: &[Directory],
    code: Code,
    doubt: impl Fn(&Directory) -> Option<String>,
) {
    let Some(object) = node.and_then(|node| node.object()) else {
        return;
    };
    for directory in directories {
        if let (Some(entry), Some(message)) = (object.optional(&directory.name), doubt(directory)) {
            entry.warning(code, || message);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Visibility,
    Operations,
}

fn check_rows(node: &Node<'_, '_>, world: &World, table: Table) {
    let mut seen = BTreeSet::new();
    for item in node.array("an array of rows").into_iter().flatten() {
        let Some(row) = item.object() else { continue };
        let Some(key) = read_key(&row) else { continue };
        if let Some(subdirectory) = &key.subdirectory
            && (subdirectory.contains('/') || matches!(&**subdirectory, "." | ".."))
        {
            item.error(
                Code::NeverMatches,
                format_args!(
                    "found the subdirectory `{subdirectory}`, which no place has, expected one name"
                ),
            );
        }
        if find(&world.roots, &key.root).is_none() {
            item.warning(
                Code::NeverMatches,
                format_args!(
                    "found a row for the root `{}`, which `roots` does not have: nothing reaches it",
                    key.root
                ),
            );
        } else if !seen.insert(format!("{key:?}")) {
            item.error(
                Code::NeverMatches,
                format_args!("found a second row for one mode, root and subdirectory: nothing reaches it"),
            );
        } else {
            check_other_table(&item, &key, world, table);
        }
        if table == Table::Operations {
            check_rules(&row, &key, world);
            check_narrower(&item, &key, world);
        }
    }
}

/// Warns about a place that is visible but has no operations, and the reverse.
fn check_other_table(item: &Node<'_, '_>, key: &Key, world: &World, table: Table) {
    let message = match table {
        Table::Visibility => {
            if answers(&world.operations, key, |rules| !rules.is_empty()) {
                return;
            }
            "is visible, but has no operations"
        }
        Table::Operations => {
            let mounted = find(&world.roots, &key.root).is_some_and(|root| {
                world
                    .mounts
                    .iter()
                    .any(|mount| is_at_or_below(&mount.path, &root.path))
            });
            if mounted || answers(&world.visibility, key, |_| true) {
                return;
            }
            "has operations, but is not visible"
        }
    };
    item.warning(Code::OneSidedPlace, || {
        let place = match &key.subdirectory {
            Some(subdirectory) => format!("`{subdirectory}` of the root `{}`", key.root),
            None => format!("the root `{}`", key.root),
        };
        format!("in the mode `{}` {place} {message}", key.mode)
    });
}

/// Returns `true` if the other table has a row for some place of the key.
fn answers<T>(other: &Matrix<T>, key: &Key, counts: impl Fn(&T) -> bool) -> bool {
    match &key.subdirectory {
        None => other.of_root(&key.mode, &key.root).any(|(_, row)| counts(row)),
        Some(subdirectory) => [Some(&**subdirectory), None]
            .into_iter()
            .filter_map(|place| other.row(&key.mode, &key.root, place))
            .any(counts),
    }
}

/// Warns about a row for a subdirectory that has fewer commands than that of its root and changes nothing, since the rules of
/// the root hold there too.
fn check_narrower(item: &Node<'_, '_>, key: &Key, world: &World) {
    let row = |place| world.operations.row(&key.mode, &key.root, place);
    let Some(subdirectory) = key.subdirectory.as_deref() else {
        return;
    };
    let (Some(own), Some(wider)) = (row(Some(subdirectory)), row(None)) else {
        return;
    };
    let is_in = |rule: &OperationRule, rules: &[OperationRule], is_alike: bool| {
        let counts = |other: &OperationRule| !is_alike || other.conditions == rule.conditions;
        match &rule.commands {
            Commands::Exec => {
                let mut others = rules.iter();
                others.any(|other| matches!(other.commands, Commands::Exec) && counts(other))
            }
            Commands::Pairs(pairs) => pairs.iter().all(|(tool, command)| {
                let mut others = rules.iter();
                let first =
                    others.find(|other| other.commands.include(tool, Some(command), &world.exec_tool));
                first.is_some_and(counts)
            }),
        }
    };
    let changes_nothing = own.iter().all(|rule| is_in(rule, wider, true));
    if changes_nothing && !wider.iter().all(|rule| is_in(rule, own, false)) {
        item.warning(
            Code::Overridden,
            format_args!(
                "found a row for `{subdirectory}` that changes nothing: the rules of the whole root `{}` hold there too, expected a rule for a command of theirs",
                key.root
            ),
        );
    }
}

/// Warns about commands that an earlier rule of the row already names.
fn check_rules(row: &Object<'_, '_>, key: &Key, world: &World) {
    let rules = row.optional("rules");
    let items = rules.iter().filter_map(|rules| rules.array("an array of rules"));
    let mut seen = BTreeSet::new();
    let mut seen_exec = false;
    for item in items.flatten() {
        let rule = item.object();
        let Some(node) = rule.as_ref().and_then(|rule| rule.optional("commands")) else {
            continue;
        };
        if node.value().is_string() {
            if seen_exec {
                repeated(&node, "`exec`", key);
            }
            seen_exec = true;
            continue;
        }
        let nodes = node.array("an array of pairs").into_iter().flatten();
        for (node, (tool, command)) in nodes.zip(read_pairs(&node).unwrap_or_default()) {
            let repeats = !seen.insert(format!("{:?}", (&tool, &command)));
            if repeats || (seen_exec && tool == world.exec_tool) {
                repeated(&node, &format!("`{command}` of `{tool}`"), key);
            }
        }
    }
}

fn repeated(node: &Node<'_, '_>, what: &str, key: &Key) {
    node.warning(Code::RepeatedCommand, format_args!(
            "found {what} again in the mode `{}` at the root `{}`, expected it in one rule: the first decides",
            key.mode, key.root
        ));
}

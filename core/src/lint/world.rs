//! Doubtful parts of a valid world: rows and rules that nothing reaches, and places that are missing in one of the
//! two tables.

use crate::diagnostic::{Code, Severity};
use crate::document::{Node, Object};
use crate::sort;
use crate::text::is_at_or_below;

use crate::world::{Commands, EXEC_TOOL, Key, Matrix, World, find, read_key, read_pairs};

/// Reports doubtful parts of a world, unless a fault kept a table from being read in full.
pub(crate) fn check(world: &World, document: &Node<'_, '_>) {
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
            node.warning(Code::MissingField, || {
                format!("found rules for `exec`, which stands for the tool `{EXEC_TOOL}`, expected `execTool` to name it")
            });
        }
    }
    if let Some(node) = object.optional("roots") {
        check_roots(&node, world);
    }
    if let Some(node) = object.optional("mounts") {
        check_mounts(&node, world);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Visibility,
    Operations,
}

fn check_rows(node: &Node<'_, '_>, world: &World, table: Table) {
    let Some(items) = node.array("an array of rows") else {
        return;
    };
    // The table was read in full, so every row has a key.
    let keys: Vec<Key> = items
        .filter_map(|item| item.object().and_then(|row| read_key(&row)))
        .collect();
    let repetitions = sort::repetitions(keys.iter().map(|key| format!("{key:?}")).collect());
    let items = node.array("an array of rows").into_iter().flatten();
    for ((item, key), repeats) in items.zip(&keys).zip(repetitions) {
        if let Some(subdirectory) = &key.subdirectory
            && (subdirectory.contains('/') || matches!(&**subdirectory, "." | ".."))
        {
            item.error(Code::NeverMatches, || {
                format!("found the subdirectory `{subdirectory}`, which no place has, expected one name")
            });
        }
        if find(&world.roots, &key.root).is_none() {
            item.warning(Code::NeverMatches, || {
                format!(
                    "found a row for the root `{}`, which `roots` does not have: nothing reaches it",
                    key.root
                )
            });
        } else if repeats {
            item.error(Code::NeverMatches, || {
                "found a second row for one mode, root and subdirectory: nothing reaches it".to_owned()
            });
        } else {
            check_other_table(&item, key, world, table);
        }
        if let (Table::Operations, Some(row)) = (table, item.object()) {
            check_rules(&row, key, world);
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

/// Warns about commands that an earlier rule of the row already names.
fn check_rules(row: &Object<'_, '_>, key: &Key, world: &World) {
    let Some(rules) = row.optional("rules") else {
        return;
    };
    let commands = |rule: &Node<'_, '_>| -> Vec<(Box<str>, Box<str>)> {
        let rule = rule.object();
        let commands = rule.as_ref().and_then(|rule| rule.optional("commands"));
        let pairs = commands.filter(|commands| commands.value().is_array());
        pairs.and_then(|pairs| read_pairs(&pairs)).unwrap_or_default()
    };
    let items = || rules.array("an array of rules").into_iter().flatten();
    let all: Vec<String> = items()
        .flat_map(|rule| commands(&rule))
        .map(|pair| format!("{pair:?}"))
        .collect();
    let mut repeats = sort::repetitions(all).into_iter();
    let mut seen_exec = false;
    for item in items() {
        let Some(rule) = item.object() else { continue };
        let Some(node) = rule.optional("commands") else {
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
        for (node, (tool, command)) in nodes.zip(commands(&item)) {
            let is_exec = seen_exec && tool == world.exec_tool;
            if repeats.next().unwrap_or(false) || is_exec {
                repeated(&node, &format!("`{command}` of `{tool}`"), key);
            }
        }
    }
}

fn repeated(node: &Node<'_, '_>, what: &str, key: &Key) {
    node.fault(Severity::Warning, Code::RepeatedCommand, || {
        let message = format!(
            "found {what} again in the mode `{}` at the root `{}`, expected it in one rule: the first decides",
            key.mode, key.root
        );
        (message, None)
    });
}

/// Warns about nested roots: a place then has two addresses, each judged by its own rows.
fn check_roots(node: &Node<'_, '_>, world: &World) {
    let Some(object) = node.object() else { return };
    for (name, entry) in object.entries() {
        let Some(root) = find(&world.roots, name) else {
            continue;
        };
        let holder = world
            .roots
            .iter()
            .find(|other| other.name != root.name && is_at_or_below(&root.path, &other.path));
        if let Some(holder) = holder {
            entry.warning(Code::Overridden, || {
                format!(
                    "found a directory within that of the root `{}`, whose addresses reach it by that root's rows",
                    holder.name
                )
            });
        }
    }
}

/// Warns about mods outside every root, as written; a link may still lead into one.
fn check_mounts(node: &Node<'_, '_>, world: &World) {
    let Some(object) = node.object() else { return };
    for (name, entry) in object.entries() {
        let Some(mount) = find(&world.mounts, name) else {
            continue;
        };
        if !world
            .roots
            .iter()
            .any(|root| is_at_or_below(&mount.path, &root.path))
        {
            entry.warning(Code::NeverMatches, || {
                format!(
                    "found the mod `{name}` in no root, expected its directory in one: it has no operations"
                )
            });
        }
    }
}

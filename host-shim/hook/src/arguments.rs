//! The arguments of a call, as the hook makes them ready to be judged.

use callgate_engine::judge::{ValueStep, refused_spelling};
use callgate_engine::text::unescape_token;
use serde_json::{Map, Value};

use super::patch::Patch;
use super::tools::Table;

/// The roles whose values are paths.
pub(super) const PATH_ROLES: [&str; 5] = [
    "read-path",
    "write-path",
    "delete-path",
    "write-history",
    "delete-history",
];

/// The tool of several agents that takes a patch, and what its text is called.
const PATCH_TOOL: &str = "apply_patch";
const PATCH_TEXT: [&str; 3] = ["command", "input", "patch"];

/// The arguments of one of the agent's own tools, with what the agent fills in, and with the files of a patch.
///
/// # Errors
/// Why a patch cannot be judged.
pub(super) fn of_own_tool(table: &Table, tool: &str, given: Value) -> Result<Map<String, Value>, String> {
    let mut arguments = match given {
        Value::Null => Map::new(),
        Value::Object(arguments) => arguments,
        Value::String(text) if tool == PATCH_TOOL => {
            Map::from_iter([("patch".to_owned(), Value::String(text))])
        }
        _ => return Err("the tool's arguments are not an object".to_owned()),
    };
    for (names, value) in table.defaults.get(tool).into_iter().flatten() {
        let is_absent = |name: &str| arguments.get(name).is_none_or(Value::is_null);
        if names.split('|').all(is_absent) {
            let first = names.split('|').next().unwrap_or_default();
            arguments.insert(first.to_owned(), value.clone());
        }
    }
    if tool == PATCH_TOOL {
        add_files(&mut arguments)?;
    }
    Ok(arguments)
}

/// Returns `true` if more was judged than the agent gave, so that it must not be given back.
pub(super) fn is_patch(tool: &str) -> bool {
    tool == PATCH_TOOL
}

fn add_files(arguments: &mut Map<String, Value>) -> Result<(), String> {
    let mut texts = PATCH_TEXT.iter().filter_map(|name| arguments.get(*name));
    let (Some(Value::String(text)), None) = (texts.next(), texts.next()) else {
        return Err("the arguments do not hold one patch".to_owned());
    };
    let patch = Patch::read(text)?;
    for (name, paths) in [
        ("added", patch.added),
        ("updated", patch.updated),
        ("deleted", patch.deleted),
        ("movedFrom", patch.moved_from),
        ("movedTo", patch.moved_to),
    ] {
        match paths.is_empty() {
            true => drop(arguments.shift_remove(name)),
            false => drop(arguments.insert(name.to_owned(), Value::from(paths))),
        }
    }
    Ok(())
}

/// The values of a call that are paths, as they were explained.
pub(super) fn paths(values: &[ValueStep]) -> impl Iterator<Item = &ValueStep> {
    let is_path = |value: &&ValueStep| PATH_ROLES.contains(&&*value.role) && !value.argument.is_empty();
    values.iter().filter(is_path)
}

pub(super) fn is_relative(path: &str) -> bool {
    !path.is_empty() && !path.starts_with(['/', '~'])
}

/// How many alternatives of a pattern are looked at, and how many pairs of braces are taken apart for them.
const MOST_ALTERNATIVES: usize = 256;

/// Bytes of the longest pattern that is taken apart: that of a path on Linux, four times.
const LONGEST_PATTERN: usize = 16_384;

/// Returns `true` if a pattern of names may lead out of the directory that it starts from, by `..` or by an alternative that is
/// absolute, also where braces, brackets or escapes put that together.
pub(super) fn leads_elsewhere(pattern: &str) -> bool {
    let starts_elsewhere = |text: &str| text.starts_with(['/', '~']);
    let is_elsewhere = |text: String| {
        let plain = text.replace(['[', ']', '\\'], "");
        plain.split('/').any(|name| name == "..") || (starts_elsewhere(&plain) && !starts_elsewhere(pattern))
    };
    has_part_elsewhere(pattern)
        || alternatives(pattern).is_none_or(|found| found.into_iter().any(is_elsewhere))
}

/// The texts that a pattern with braces stands for; `None` if they are too many, or too long.
pub(super) fn alternatives(pattern: &str) -> Option<Vec<String>> {
    if pattern.len() > LONGEST_PATTERN {
        return None;
    }
    let (mut open, mut found) = (vec![pattern.to_owned()], Vec::new());
    for _ in 0..2 * MOST_ALTERNATIVES {
        let Some(text) = open.pop() else {
            return Some(found);
        };
        // The innermost braces first.
        let inner = text.split_once('}').and_then(|(before, after)| {
            let (before, within) = before.rsplit_once('{')?;
            let each = within.split(',').take(MOST_ALTERNATIVES + 1);
            Some(each.map(move |one| [before, one, after].concat()))
        });
        match inner {
            Some(inner) => open.extend(inner),
            None => found.push(text),
        }
        if open.len() + found.len() > MOST_ALTERNATIVES {
            return None;
        }
    }
    None
}

fn has_part_elsewhere(pattern: &str) -> bool {
    let is_part_of_name = |one: Option<char>| one.is_some_and(char::is_alphanumeric);
    let climbs = pattern.match_indices("..").any(|(at, dots)| {
        let (before, after) = (pattern.get(..at), pattern.get(at + dots.len()..));
        let before = before.and_then(|text| text.chars().next_back());
        let after = after.and_then(|text| text.chars().next());
        !is_part_of_name(before) && !is_part_of_name(after)
    });
    let mut pairs = pattern.chars().zip(pattern.chars().skip(1));
    climbs || pairs.any(|pair| matches!(pair, ('{' | ',' | '(' | '|', '/' | '~')))
}

/// The argument that a JSON Pointer leads into.
pub(super) fn top(pointer: &str) -> String {
    let first = pointer.strip_prefix('/').unwrap_or(pointer);
    let first = first.split('/').next().unwrap_or_default();
    unescape_token(first).unwrap_or_else(|| first.to_owned())
}

/// Makes paths absolute that are relative to no other argument. Returns `true` if there was one.
///
/// # Errors
/// Why one is refused for its spelling: behind a directory it would be another path than it is to programs that take it as it is.
pub(super) fn make_absolute(
    arguments: &mut Value,
    values: &[ValueStep],
    directory: &str,
) -> Result<bool, String> {
    let mut has_changed = false;
    for path in paths(values) {
        if !is_relative(&path.raw) || path.relative_to.is_some() {
            continue;
        }
        if let Some(Value::String(text)) = arguments.pointer_mut(&path.argument)
            && is_relative(text)
        {
            if let Some(why) = refused_spelling(text) {
                let shown: String = text.chars().take(200).collect();
                let name = top(&path.argument);
                return Err(format!(
                    "Unresolvable value of argument {}: {}: {why}",
                    Value::from(name),
                    Value::from(shown)
                ));
            }
            *text = format!("{}/{text}", directory.trim_end_matches('/'));
            has_changed = true;
        }
    }
    Ok(has_changed)
}

#[cfg(test)]
mod tests {
    use super::leads_elsewhere;

    #[test]
    fn patterns_stay_where_they_start() {
        for pattern in [
            "**/*.ts",
            "src/{a,b}/*",
            "v{1..3}/x",
            "a...b",
            "/etc/*",
            "[a-z]/(x|y)",
            "{src,test}/**/*.{test,spec}.{ts,tsx}",
            ".{git,github}/*",
            "{a/b,c/d}/[.]x",
            "/srv/{a,b}",
            "}{",
            "x{",
        ] {
            assert!(!leads_elsewhere(pattern), "{pattern}");
        }
        for pattern in [
            "../x",
            "a/..",
            "{..,a}/x",
            "@(..)/x",
            "{a,/etc}/*",
            "{/etc,a}",
            "(a|~/x)",
            "{~,a}/x",
            "...",
            ".{.,x}/far",
            "{.,x}{.,y}/far",
            ".{./,x}far",
            "{./.,x/}./far",
            "{a,{.,b}.}/far",
            "[.][.]/far",
            ".[.]/far",
            "\\.\\./far",
            ".\\./far",
            "{,x}/etc",
            "{,x}~/a",
        ] {
            assert!(leads_elsewhere(pattern), "{pattern}");
        }
        assert!(leads_elsewhere(&"{a,b}".repeat(9)) && !leads_elsewhere(&"{a,b}".repeat(8)));
        for long in [
            "{a}".repeat(5_000),
            format!("{{{}}}", ",".repeat(10_000)),
            "a".repeat(20_000),
        ] {
            assert!(leads_elsewhere(&long));
        }
    }
}

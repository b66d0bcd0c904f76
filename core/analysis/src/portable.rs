//! Calls that mean the same in another checkout, with paths from the sandbox and the home directory.

use serde_json::Value;

use crate::imagined::Imagined;
use callgate_engine::text::strip_directory;

/// The arguments, with each path that may be so written from the sandbox or from `~`. `is_same` is asked about every change.
pub(super) fn arguments(
    imagined: &Imagined<'_>,
    given: &Value,
    mut is_same: impl FnMut(&Value) -> bool,
) -> Value {
    let mut found = given.clone();
    for at in 0..texts(&mut found).len() {
        let mut changed = found.clone();
        let place = texts(&mut changed).into_iter().nth(at);
        let is_changed = place.is_some_and(|text| match shorter(imagined, text) {
            Some(other) => {
                *text = other;
                true
            }
            None => false,
        });
        if is_changed && is_same(&changed) {
            found = changed;
        }
    }
    found
}

/// Every text in the value.
fn texts(value: &mut Value) -> Vec<&mut String> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values_mut()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

fn shorter(imagined: &Imagined<'_>, text: &str) -> Option<String> {
    let program = imagined.program();
    let below = |directory: &str| strip_directory(text, directory).filter(|_| directory != "/");
    // Relative paths start from the first of the sandbox's directories.
    let in_sandbox = program.sandbox.first().and_then(|directory| below(directory));
    let in_sandbox = in_sandbox.map(|rest| if rest.is_empty() { "." } else { rest }.to_owned());
    in_sandbox.or_else(|| {
        let rest = below(&program.home)?;
        Some(match rest.is_empty() {
            true => "~".to_owned(),
            false => format!("~/{rest}"),
        })
    })
}

/// A directory, written so.
pub(super) fn directory(imagined: &Imagined<'_>, path: &str) -> String {
    shorter(imagined, path).unwrap_or_else(|| path.to_owned())
}

/// The description of a value, with its directories written so too.
pub(super) fn label(imagined: &Imagined<'_>, label: &str) -> String {
    let words = label.split(' ').map(|word| {
        let path = word.trim_end_matches(',');
        let rest = word.strip_prefix(path).unwrap_or_default();
        shorter(imagined, path).map_or_else(|| word.to_owned(), |path| path + rest)
    });
    words.collect::<Vec<_>>().join(" ")
}

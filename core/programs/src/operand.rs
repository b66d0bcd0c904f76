//! Values with their roles.

use super::Operand;
use super::role::Role;
use callgate_shell::{Construct, NotUnderstood, Place};
use callgate_shell::{Value, Word};

type Done = Result<(), NotUnderstood>;

fn fault(place: Place, construct: Construct) -> NotUnderstood {
    NotUnderstood { place, construct }
}

/// Files that keep nothing.
const STREAMS: &[&str] = &[
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
];

/// Returns `true` if nothing is kept under the name: a device that keeps nothing, or `-` where that is the input or the output. As a
/// path that is written it is a file of this name.
pub(super) fn is_stream(role: Role, text: &str) -> bool {
    match role {
        Role::ReadPath | Role::LocalPath | Role::LocalWrite => text == "-" || STREAMS.contains(&text),
        Role::WritePath => STREAMS.contains(&text),
        _ => false,
    }
}

/// Adds a value with its role, if the role can have it.
pub(super) fn operand(
    role: Role,
    word: &Word,
    directories: &Option<Vec<String>>,
    is_tree: bool,
    operands: &mut Vec<Operand>,
) -> Done {
    match word.exact() {
        Some(text) if is_stream(role, text) => Ok(()),
        _ => named(role, word, directories, is_tree, operands),
    }
}

/// Adds a value with its role, a device as a file as well: what a program changes is not always what is in it.
pub(super) fn named(
    role: Role,
    word: &Word,
    directories: &Option<Vec<String>>,
    is_tree: bool,
    operands: &mut Vec<Operand>,
) -> Done {
    let unknown = Err(fault(word.place, Construct::UnknownWord));
    let role = match role {
        Role::LocalPath | Role::LocalWrite if !is_local(&word.value) => return unknown,
        Role::LocalPath => Role::ReadPath,
        Role::LocalWrite => Role::WritePath,
        other => other,
    };
    match (&word.value, role) {
        (Value::Exact(text), Role::Number)
            if text.is_empty() || !text.bytes().all(|one| one.is_ascii_digit()) =>
        {
            return Err(fault(word.place, Construct::Operand(text.clone())));
        }
        (Value::Exact(text), _) if role.is_path() && !text.starts_with('/') && directories.is_none() => {
            return Err(fault(word.place, Construct::UnknownDirectory));
        }
        (Value::Pattern { before, .. }, _)
            if role.is_path() && !before.starts_with('/') && directories.is_none() =>
        {
            return Err(fault(word.place, Construct::UnknownDirectory));
        }
        (Value::Exact(text), Role::Revision) => {
            // What stands after the last `:` is a path in the revision.
            let path = text.rsplit(':').next().unwrap_or_default();
            return operand(Role::ReadPath, &exact(word, path), directories, false, operands);
        }
        (Value::Exact(text), Role::ConfigKey) if !text.contains('.') => return unknown,
        (Value::Exact(text), Role::Suffix) if text.contains(['/', '*']) => return unknown,
        (Value::Exact(text), Role::Filter) if names_outside(text) => return unknown,
        (Value::Exact(text), Role::Port) if text.contains('@') => return unknown,
        (Value::Exact(text), Role::FormatOfDate) if !text.starts_with('+') => return unknown,
        (Value::Exact(text), Role::Edit) => return super::sed::edit(text, word),
        (Value::Exact(text), Role::AtPath) => return at_path(text, word, directories, operands),
        (Value::Exact(text), Role::Mount) => return mount(text, word, directories, operands),
        (Value::Exact(text), Role::Variable) => return variable(text, word),
        (Value::Exact(_), _) => {}
        (Value::Pipe, Role::ReadPath | Role::WritePath | Role::Text | Role::None) => return Ok(()),
        (Value::Pattern { .. }, _) if role.is_path() || role.is_text() || role == Role::Execute => {}
        (
            Value::Unknown {
                is_number: true,
                is_many: false,
                ..
            },
            Role::Number,
        ) => {}
        (
            Value::Unknown { .. },
            Role::Text | Role::None | Role::CommitMessage | Role::BranchName | Role::Format,
        ) => {}
        _ => return unknown,
    }
    operands.push(Operand {
        role,
        value: word.value.clone(),
        place: word.place,
        directories: directories.clone(),
        is_tree: is_tree && role.is_path(),
        contents: None,
        arrives: false,
        is_edited_if_there: false,
    });
    Ok(())
}

/// Returns `true` if it is a path of this machine to every program: not `host:path`, nor the archive or the list that `@path` names,
/// nor an option that stands where operands do.
fn is_local(value: &Value) -> bool {
    let (text, is_whole) = match value {
        Value::Exact(text) => (text, true),
        Value::Pattern { pattern, .. } => (pattern, false),
        Value::Pipe | Value::Unknown { .. } => return true,
    };
    let may_begin_so = text.starts_with(['@', '+', '-']) || !is_whole && text.starts_with(['*', '?', '[']);
    !may_begin_so && !text.contains([':', '#'])
}

/// Returns `true` if a filter of `jq` may read the environment or another file: by a word that is no key (`.env`) and no part of one.
fn names_outside(filter: &str) -> bool {
    let is_letter = |one: char| one.is_alphanumeric() || one == '_';
    let stands = |(at, name): (usize, &str)| {
        let before = filter.get(..at).unwrap_or_default();
        let after = filter.get(at + name.len()..).unwrap_or_default();
        let is_key = before.ends_with('.') && !before.ends_with("..");
        !is_key && !before.ends_with(is_letter) && !after.starts_with(is_letter)
    };
    ["import", "include", "env", "ENV"]
        .iter()
        .any(|name| filter.match_indices(name).any(stands))
}

fn exact(word: &Word, text: &str) -> Word {
    Word {
        place: word.place,
        value: Value::Exact(text.to_owned()),
    }
}

/// A name that the shell gives a value: letters, digits and `_` alone, since a subscript would be computed.
fn variable(name: &str, word: &Word) -> Done {
    let is_name = name.bytes().all(|one| one.is_ascii_alphanumeric() || one == b'_');
    if is_name && !name.is_empty() {
        return Ok(());
    }
    Err(fault(word.place, Construct::Operand(name.to_owned())))
}

/// `@file`, `name=@file` and `name=<file` are files, everything else is data.
fn at_path(text: &str, word: &Word, directories: &Option<Vec<String>>, operands: &mut Vec<Operand>) -> Done {
    let file = match text.strip_prefix('@') {
        Some(file) => Some(file),
        None => text
            .split_once("=@")
            .or_else(|| text.split_once("=<"))
            .map(|(_, file)| file),
    };
    if file.is_some_and(|file| file.contains(['"', '@', ';', ',', '<'])) {
        // The name may be quoted, or further files follow.
        return Err(fault(word.place, Construct::UnknownWord));
    }
    let (role, text) = match file {
        Some(file) => (Role::ReadPath, file),
        None => (Role::Text, text),
    };
    let word = Word {
        place: word.place,
        value: Value::Exact(text.to_owned()),
    };
    operand(role, &word, directories, false, operands)
}

/// `source:target[:options]`: what a container sees of the disk.
fn mount(text: &str, word: &Word, directories: &Option<Vec<String>>, operands: &mut Vec<Operand>) -> Done {
    let mut parts = text.split(':');
    let (source, _, options) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    if !source.starts_with(['/', '.', '~']) {
        // The name of a volume.
        return Ok(());
    }
    let role = if options.is_some_and(|options| options.split(',').any(|one| one == "ro")) {
        Role::ReadPath
    } else {
        Role::WritePath
    };
    let source = Word {
        place: word.place,
        value: Value::Exact(source.to_owned()),
    };
    operand(role, &source, directories, true, operands)
}

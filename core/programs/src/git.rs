//! What git's commands touch beyond their words.

use super::options::Words;
use super::program::{Case, Program};
use super::role::Role;
use super::{Invocation, Operand};
use callgate_shell::{Command, Construct, NotUnderstood, Value};

/// Refuses pathspecs of git that are patterns, or begin with words of git.
pub(super) fn plain_pathspecs(operands: &[Operand]) -> Result<(), NotUnderstood> {
    let is_magic = |one: &&Operand| {
        let text = one.value.exact().unwrap_or_default();
        one.role.is_path() && (text.starts_with(':') || text.contains(['*', '?', '[', '\\']))
    };
    match operands.iter().find(is_magic) {
        Some(one) => Err(NotUnderstood {
            place: one.place,
            construct: Construct::UnknownWord,
        }),
        None => Ok(()),
    }
}

/// Takes the pathspecs out that leave something out (`:!name`). Returns the names, as far as they are plain.
pub(super) fn exclusions(invocation: &Invocation, program: &Program, found: &mut Words) -> Vec<String> {
    if invocation.program != "git" || program.without.is_none() {
        return Vec::new();
    }
    // The first word of a search is what is looked for.
    let is_search = invocation.commands == ["grep"] && !found.options.iter().any(|option| option == "-e");
    // What git keeps itself it does not add or search, but it compares directories as they are.
    let own = [".git", ".git/"]
        .iter()
        .filter(|_| invocation.commands != ["diff"]);
    let mut left_out: Vec<String> = own.map(|name| (*name).to_owned()).collect();
    let mut at = 0;
    found.operands.retain(|word| {
        at += 1;
        let text = word.exact().filter(|_| at > 1 || !is_search).unwrap_or_default();
        let name = [":!", ":^", ":(exclude)"]
            .iter()
            .find_map(|magic| text.strip_prefix(magic));
        let Some(name) = name else {
            return true;
        };
        let stem = name.strip_prefix('*').unwrap_or(name);
        let is_plain = |one: u8| one.is_ascii_alphanumeric() || b"._-/".contains(&one);
        if !stem.is_empty() && stem.bytes().all(is_plain) && !stem.starts_with('/') && !stem.contains("..") {
            left_out.push(if stem == name {
                format!("/{name}")
            } else {
                name.to_owned()
            });
        }
        false
    });
    left_out
}

/// What stands after `--` alone is paths, which `checkout` writes as the index has them, and nothing else.
pub(super) fn checked_out(found: &Words, invocation: &mut Invocation) {
    if invocation.commands != ["checkout"] || !found.begins_with_dashes || found.operands.is_empty() {
        return;
    }
    let (place, was) = (invocation.place, std::mem::take(&mut invocation.operands));
    let named = was
        .into_iter()
        .filter(|one| one.role != Role::WritePath || one.place != place);
    invocation.operands = named
        .map(|one| match one.role {
            Role::BranchName => Operand {
                role: Role::WritePath,
                is_tree: true,
                ..one
            },
            _ => one,
        })
        .collect();
}

/// Two paths of which one is outside of the work tree are compared as they are on the disk, with everything below them.
pub(super) fn compared(found: &Words, invocation: &mut Invocation) {
    let is_outside = |text: &str| text.starts_with('/') || text == ".." || text.starts_with("../");
    let place = invocation.place;
    let given = |one: &&mut Operand| one.role == Role::ReadPath && one.place != place;
    let mut paths: Vec<_> = invocation.operands.iter_mut().filter(given).collect();
    let is_told = found.options.iter().any(|option| option == "--no-index");
    let is_outside = |one: &&mut Operand| one.value.exact().is_some_and(is_outside);
    if invocation.commands == ["diff"] && (is_told || paths.iter().any(is_outside)) {
        paths.iter_mut().for_each(|one| one.is_tree = true);
    }
}

/// Adds the remote, and the branch, that git uses where none is named: empty texts.
pub(super) fn default_remote(case: &Case, command: &Command, operands: &mut Vec<Operand>) {
    let takes = |role| {
        case.operands
            .iter()
            .any(|slot| slot.role == role && slot.is_optional)
    };
    if !takes(Role::GitRemoteUrl) {
        return;
    }
    for role in [Role::GitRemoteUrl, Role::BranchName] {
        if takes(role) && !operands.iter().any(|one| one.role == role) {
            operands.push(Operand {
                role,
                value: Value::Exact(String::new()),
                place: command.place,
                directories: command.directories.clone(),
                is_tree: false,
                contents: None,
                arrives: false,
                is_edited_if_there: false,
            });
        }
    }
}

/// Adds the current branch where git gives it another history.
pub(super) fn rewritten_branch(case: &Case, found: &Words, command: &Command, invocation: &mut Invocation) {
    let of_git = match (invocation.program.as_str(), invocation.commands.as_slice()) {
        ("git", [name]) => name.as_str(),
        _ => return,
    };
    let modes = ["--soft", "--mixed", "--hard", "--merge", "--keep"];
    let is_rewritten = match of_git {
        "commit" | "rebase" => case.implied == Some(Role::DeleteHistory),
        // With paths it changes the index alone; one operand may be a revision.
        "reset" => {
            found
                .options
                .iter()
                .any(|option| modes.contains(&option.as_str()))
                || matches!(found.operands.as_slice(), [one] if one.exact() != Some("HEAD"))
        }
        _ => false,
    };
    if is_rewritten {
        invocation.operands.push(Operand {
            role: Role::BranchName,
            value: Value::Exact("HEAD".to_owned()),
            place: command.place,
            directories: command.directories.clone(),
            is_tree: false,
            contents: None,
            arrives: false,
            is_edited_if_there: false,
        });
    }
}

//! What git's commands touch beyond their words.

use super::options::Words;
use super::program::Case;
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
        });
    }
}

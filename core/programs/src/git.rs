//! What git's commands touch beyond their words.

use super::options::Words;
use super::program::{Case, Program};
use super::role::Role;
use super::{Invocation, Operand};
use callgate_shell::{Command, Construct, NotUnderstood, Value, Word};

/// Refuses pathspecs of git that are patterns, or begin with words of git. A pattern of the shell that matches nothing stays one of
/// git's, which matches hidden names and those of directories as well.
pub(super) fn plain_pathspecs(operands: &[Operand]) -> Result<(), NotUnderstood> {
    let is_magic = |one: &&Operand| match &one.value {
        Value::Exact(text) => text.starts_with(':') || text.contains(['*', '?', '[', '\\']),
        Value::Pattern { .. } => true,
        Value::Pipe | Value::Unknown { .. } => false,
    };
    let is_magic = |one: &&Operand| one.role.is_path() && is_magic(one);
    match operands.iter().find(is_magic) {
        Some(one) => Err(NotUnderstood {
            place: one.place,
            construct: Construct::UnknownWord,
        }),
        None => Ok(()),
    }
}

/// Names that pathspecs leave out (`:!name`), where git runs.
#[derive(Default)]
pub(super) struct Exclusions {
    /// Names of directories that git leaves out by itself.
    own: Vec<&'static str>,
    /// Paths, as far as they are plain, and ends of names after `*`.
    named: Vec<String>,
    /// Names of files and directories in any of the directories there.
    anywhere: Vec<String>,
}

/// Takes the pathspecs out that leave something out. To `git diff` one may be a file of its own, which it compares.
pub(super) fn exclusions(
    invocation: &Invocation,
    program: &Program,
    found: &mut Words,
) -> Result<Exclusions, NotUnderstood> {
    if invocation.program != "git" || program.without.is_none() {
        return Ok(Exclusions::default());
    }
    // The first word of a search is what is looked for.
    let is_search = invocation.commands == ["grep"] && !found.options.iter().any(|option| option == "-e");
    let compares = invocation.commands == ["diff"];
    let is_told = found.options.iter().any(|option| option == "--no-index");
    let may_be_outside = |word: &Word| {
        word.exact()
            .is_none_or(|text| text.starts_with('/') || text.contains(".."))
    };
    let is_of_disk = compares && (is_told || found.operands.iter().any(may_be_outside));
    let mut exclusions = Exclusions {
        // What git keeps itself it does not add or search, but it compares directories as they are.
        own: if compares {
            Vec::new()
        } else {
            vec![".git", ".git/"]
        },
        ..Exclusions::default()
    };
    let mut refused = None;
    let mut at = 0;
    found.operands.retain(|word| {
        at += 1;
        let text = word.exact().filter(|_| at > 1 || !is_search).unwrap_or_default();
        let mut magic = [":!", ":^", ":(exclude)"].iter();
        let name = magic.find_map(|magic| text.strip_prefix(magic));
        let anywhere = text.strip_prefix(":(exclude,glob)**/");
        let Some(name) = name.or(anywhere) else {
            return true;
        };
        if is_of_disk {
            refused = Some(word.place);
        }
        let stem = name.strip_prefix('*').unwrap_or(name);
        let is_plain = |one: u8| one.is_ascii_alphanumeric() || b"._-/".contains(&one);
        if !stem.is_empty() && stem.bytes().all(is_plain) && !stem.starts_with('/') && !stem.contains("..") {
            match anywhere {
                Some(name) if !name.contains(['*', '/']) => exclusions.anywhere.push(name.to_owned()),
                Some(_) => {}
                None => exclusions.named.push(name.to_owned()),
            }
        }
        false
    });
    match refused {
        Some(place) => Err(NotUnderstood {
            place,
            construct: Construct::UnknownWord,
        }),
        None => Ok(exclusions),
    }
}

impl Exclusions {
    /// What they leave out of the tree that an operand names: where git runs their names begin, so of another place they leave out
    /// nothing.
    pub(super) fn below(&self, tree: &Operand) -> Vec<String> {
        let mut left_out: Vec<String> = self.own.iter().map(|name| (*name).to_owned()).collect();
        let Some(place) = tree.value.exact().and_then(below_here) else {
            return left_out;
        };
        let anywhere = self.anywhere.iter();
        left_out.extend(anywhere.flat_map(|name| [name.clone(), format!("{name}/")]));
        for name in &self.named {
            let path = name.strip_prefix("./").unwrap_or(name).trim_end_matches('/');
            if name.starts_with('*') {
                left_out.push(name.clone());
            } else if place.is_empty() {
                left_out.push(format!("/{path}"));
            } else if let Some(path) = path.strip_prefix(&place).and_then(|rest| rest.strip_prefix('/')) {
                left_out.push(format!("/{path}"));
            }
        }
        left_out
    }
}

/// The path below the directory of the command, without `.`; `None` where it may lie elsewhere.
fn below_here(path: &str) -> Option<String> {
    let is_odd = path.starts_with('/') || path.split('/').any(|name| name == "..");
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    (!is_odd).then(|| names.collect::<Vec<_>>().join("/"))
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

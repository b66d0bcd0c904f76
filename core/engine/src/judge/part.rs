//! A program that a command runs, as a call: its operands by the arguments of its tool (SPEC §8.9).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use callgate_programs::{Invocation, Operand as ProgramOperand, Role};
use callgate_shell::Value as Word;

use super::asking::Asking;
use super::inputs::Inputs;
use super::operand::Operand;
use super::trees::{Tree, known_in};
use super::{StructuralRule, Verdict};
use crate::bind::{Arguments, PointerToken, Value};
use crate::path::Pathspec;

/// The arguments of a program's call, by their names.
#[derive(Default)]
pub(super) struct Part {
    command: String,
    /// The values of each argument, and what is read below them.
    values: BTreeMap<&'static str, Values>,
    /// Why the program may do something else.
    pub(super) doubt: Option<&'static str>,
}

/// Why a value is not understood.
const UNTOLD: &str = "a value that the text does not tell";

/// Values, each with what is read below it.
type Values = Vec<(String, Option<Tree>)>;

impl Part {
    /// The call of a program that runs in a command of the directory.
    pub(super) fn of(invocation: &Invocation, directory: &str) -> Self {
        let mut part = Self {
            command: invocation.commands.join(" "),
            ..Self::default()
        };
        let mut run = Vec::new();
        for operand in &invocation.operands {
            let Some(argument) = argument(operand) else {
                continue;
            };
            if operand.role.is_path() {
                part.add_paths(argument, operand);
                continue;
            }
            let Some(text) = operand.value.exact() else {
                part.doubt(UNTOLD);
                continue;
            };
            if operand.role == Role::Execute {
                let paths = operand.paths();
                match paths.as_slice() {
                    // A program that is started by its path is the file in its directory.
                    [path] if invocation.program.contains('/') => run.push(quoted(path)),
                    _ => run.push(quoted(text)),
                }
                continue;
            }
            if operand.role == Role::FetchUrl && !is_plain_url(text) {
                part.doubt("a URL that programs may read differently");
            }
            let values = part.values_of(argument);
            // None at all is git's default remote, or its current branch.
            values.extend((!text.is_empty()).then(|| (text.to_owned(), None)));
        }
        if invocation.runs || !run.is_empty() {
            if run.is_empty() {
                run.push(quoted(&invocation.program));
            }
            let here = invocation.directories.as_deref().unwrap_or_default();
            match here {
                [one] if one.trim_end_matches('/') == directory.trim_end_matches('/') => {}
                // The same words are something else in another directory.
                [one] => run.insert(0, format!("cd {} &&", quoted(one))),
                _ => part.doubt("a working directory that the text does not name"),
            }
            part.values_of("execute").push((run.join(" "), None));
        }
        part
    }

    /// Says that the program may do something else than its arguments tell. The first reason is shown.
    pub(super) fn doubt(&mut self, why: &'static str) {
        self.doubt.get_or_insert(why);
    }

    /// Says below which directories ignore files may say something else than they do now.
    pub(super) fn unsettle(&mut self, places: &Arc<[String]>) {
        let trees = self.values.values_mut().flatten();
        for tree in trees.filter_map(|(_, tree)| tree.as_mut()) {
            tree.unsettled = Arc::clone(places);
        }
    }

    fn add_paths(&mut self, argument: &'static str, operand: &ProgramOperand) {
        let paths = operand.paths();
        if paths.is_empty() {
            return self.doubt(UNTOLD);
        }
        if matches!(operand.role, Role::WritePath | Role::DeletePath)
            && paths.iter().any(|path| is_of_git(path))
        {
            self.doubt("git runs what its own files say");
        }
        let names = match &operand.value {
            Word::Pattern { before, pattern, .. } => {
                // What is no pattern has a backslash before it, so that the length is another.
                let depth = before.matches('/').count();
                let mut names = Some(pattern.as_str());
                for _ in 0..depth {
                    names = names
                        .and_then(|names| names.split_once('/'))
                        .map(|(_, names)| names);
                }
                names.map(|names| names.trim_end_matches('/'))
            }
            Word::Exact(_) | Word::Pipe | Word::Unknown { .. } => None,
        };
        let is_odd = |name: &str| matches!(name, "" | "." | "..");
        if names.is_some_and(|names| names.split('/').any(is_odd)) {
            self.doubt("a pattern with `.`, `..` or `//` behind it");
        }
        if names.is_some() && operand.role == Role::WritePath && !operand.arrives {
            self.doubt("what a pattern matches may be a link");
        }
        if names.is_some_and(|names| names.contains('/')) && operand.role == Role::DeletePath {
            self.doubt("a directory that a pattern matches may be a link");
        }
        let is_everything = names == Some("**");
        let contents = operand.contents.as_ref();
        let tree = (names.is_some() || operand.contents.is_some()).then(|| Tree {
            names: names.filter(|_| !is_everything).map(str::to_owned),
            is_deep: operand.is_tree || is_everything && !operand.arrives,
            left_out: contents
                .map(|contents| contents.left_out.clone())
                .unwrap_or_default(),
            // What the program does below a directory is not done to the names that were looked for alone.
            taken_in: contents
                .and_then(|contents| contents.taken_in.clone())
                .filter(|_| !is_everything || !operand.is_tree),
            hidden: contents.map(|contents| contents.hidden).unwrap_or_default(),
            ignored: contents.map(|contents| contents.ignored).unwrap_or_default(),
            unsettled: Arc::default(),
            without: contents.and_then(|contents| contents.without.clone()),
            arrives: operand.arrives,
        });
        let values = self.values_of(argument);
        values.extend(paths.into_iter().map(|path| (path, tree.clone())));
    }

    fn values_of(&mut self, argument: &'static str) -> &mut Values {
        self.values.entry(argument).or_default()
    }

    pub(super) fn arguments(&self) -> Arguments<'_> {
        let command =
            (!self.command.is_empty()).then(|| ("command".into(), Value::Text(self.command.as_str().into())));
        let values = self.values.iter().map(|(argument, values)| {
            let values = values.iter().map(|(text, _)| Value::Text(text.as_str().into()));
            (Cow::Borrowed(*argument), Value::Array(values.collect()))
        });
        Arguments::Members(command.into_iter().chain(values).collect())
    }

    /// Asks where something protected is known to lie in what the program reads without being named.
    pub(super) fn reads_protected<'p>(
        &self,
        inputs: &Inputs<'p, '_>,
        asking: &mut Asking,
        program: &str,
    ) -> Option<Verdict<'p>> {
        for operand in &inputs.operands {
            let Some(tree) = self.tree_of(inputs, operand) else {
                continue;
            };
            let found = known_in(inputs, asking, operand, tree);
            if found.is_empty() {
                continue;
            }
            let expected = match &tree.without {
                Some(without) if without.contains('…') => {
                    let names = found.iter().filter_map(|path| path.rsplit('/').next());
                    let mut options: Vec<String> = names.map(|name| without.replace('…', name)).collect();
                    options.dedup();
                    format!("; `{}` leaves it out", options.join(" "))
                }
                Some(without) => format!("; `{without}` leaves something out"),
                None => String::new(),
            };
            let found = found.join(", ");
            let reason = format!("`{program}` may touch the protected path {found}{expected}");
            let roles = vec!["shell-command"];
            return Some(Verdict::escalate(roles, StructuralRule::ProtectedBelow, reason));
        }
        None
    }

    /// The patterns of what is removed, by the argument and the item in it; where one reaches below, its directory counts.
    pub(super) fn patterns(&self) -> Vec<(&'static str, usize, Pathspec)> {
        let removed = self.values.get_key_value("delete-path");
        let values = removed.into_iter().flat_map(|(argument, values)| {
            values
                .iter()
                .enumerate()
                .map(|(at, (_, tree))| (*argument, at, tree))
        });
        let patterns = values.filter_map(|(argument, at, tree)| {
            let tree = tree.as_ref().filter(|tree| !tree.is_deep)?;
            Some((argument, at, Pathspec::of_shell(tree.names.as_deref()?)?))
        });
        patterns.collect()
    }

    fn tree_of(&self, inputs: &Inputs, operand: &Operand<'_, '_>) -> Option<&Tree> {
        let name = inputs.name_of(operand.bound.argument);
        let values = self.values.get(name)?;
        let [PointerToken::Item(at)] = &*operand.bound.place else {
            return None;
        };
        values.get(*at)?.1.as_ref()
    }
}

/// The argument of a program's call that has the operand; `None` for data.
fn argument(operand: &ProgramOperand) -> Option<&'static str> {
    // What a pattern matches is named one by one.
    let is_tree = operand.is_tree && operand.value.exact().is_some();
    Some(match operand.role {
        Role::ReadPath => "read-path",
        Role::WritePath if is_tree => "write-tree",
        Role::WritePath => "write-path",
        Role::DeletePath if is_tree => "delete-tree",
        Role::DeletePath => "delete-path",
        Role::WriteHistory => "write-history",
        Role::DeleteHistory => "delete-history",
        Role::FetchUrl => "fetch-url",
        Role::GitRemoteUrl => "git-remote-url",
        Role::BranchName => "branch-name",
        Role::CommitMessage => "commit-message",
        Role::Execute => "execute",
        _ => return None,
    })
}

/// Returns `true` if nobody reads another host, or several URLs, in it.
fn is_plain_url(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_odd =
        |one: char| matches!(one, '\\' | '{' | '}' | '[' | ']') || one.is_whitespace() || one.is_control();
    !text.contains(is_odd) && !authority.contains('@')
}

/// Returns `true` if the path is one of a repository's own files, of what may become one, or of the hooks that projects keep.
fn is_of_git(path: &str) -> bool {
    let of_git = [".git", ".husky", ".githooks"];
    let mut names = path.split('/');
    let is_named = |known: &&str, name: &str| name.eq_ignore_ascii_case(known);
    names.any(|name| of_git.iter().any(|known| is_named(known, name)))
        || path
            .rsplit('/')
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case("HEAD"))
}

/// A word as a shell writes it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |one: u8| one.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&one);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

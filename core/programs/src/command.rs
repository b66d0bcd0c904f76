//! From a command to what it touches.

use super::assign::assign;
use super::beside::beside;
use super::git::{compared, default_remote, exclusions, plain_pathspecs, rewritten_branch};
use super::operand::{named, operand};
use super::options::{Words, scan};
use super::program::{Case, Program};
use super::role::Role;
use super::table::Table;
use super::{Contents, Described, Invocation, Operand};
use callgate_shell::{Assignment, Command, Reading, RedirectionKind, Value, Word};
use callgate_shell::{Construct, NotUnderstood, Place};

/// Describes commands, and those that they run.
pub(super) struct Describe<'t> {
    table: &'t Table,
    pub(super) home: &'t str,
    pub(super) described: Described,
    pub(super) depth: usize,
    /// Commands run as another user, whose home directory is not known.
    pub(super) is_other_user: bool,
}

/// How deep programs may run each other: `sh -c "env …"`.
const MAX_TEXTS: usize = 4;

type Done = Result<(), NotUnderstood>;

fn fault(place: Place, construct: Construct) -> NotUnderstood {
    NotUnderstood { place, construct }
}

/// Folders in which a program is the one of its name.
const SYSTEM: &[&str] = &["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"];

impl<'t> Describe<'t> {
    pub(super) fn new(table: &'t Table, home: &'t str) -> Self {
        Self {
            table,
            home,
            described: Described::default(),
            depth: 0,
            is_other_user: false,
        }
    }

    pub(super) fn reading(&mut self, reading: &Reading) {
        self.described
            .not_understood
            .extend(reading.not_understood.iter().cloned());
        for command in &reading.commands {
            if let Err(error) = self.command(command) {
                self.described.not_understood.push(error);
            }
        }
    }

    /// Describes a command that another one runs.
    pub(super) fn inner(&mut self, command: &Command) -> Done {
        if self.depth == MAX_TEXTS {
            return Err(fault(
                command.place,
                Construct::Limit("4 commands that run commands"),
            ));
        }
        self.depth += 1;
        let done = self.command(command);
        self.depth -= 1;
        done
    }

    fn command(&mut self, command: &Command) -> Done {
        for one in &command.assignments {
            self.assignment(one)?;
        }
        let mut invocation = Invocation {
            place: command.place,
            program: String::new(),
            commands: Vec::new(),
            operands: Vec::new(),
            runs: false,
            directories: command.directories.clone(),
        };
        self.redirections(command, &mut invocation)?;
        let Some((first, words)) = command.words.split_first() else {
            if !invocation.operands.is_empty() {
                self.described.invocations.push(invocation);
            }
            return Ok(());
        };
        let Some(written) = first.exact() else {
            return Err(fault(first.place, Construct::UnknownProgram));
        };
        let system = SYSTEM.iter().find_map(|folder| written.strip_prefix(folder));
        let name = system.filter(|name| !name.contains('/')).unwrap_or(written);
        invocation.program = name.to_owned();
        if name.contains('/') {
            return self.file(command, first, words, invocation);
        }
        let table = self.table;
        let Some(program) = table.find(name) else {
            return Err(fault(first.place, Construct::Program(name.to_owned())));
        };
        self.program(command, program, words, invocation)
    }

    /// A variable that programs are given, or that the shell has.
    pub(super) fn assignment(&self, one: &Assignment) -> Done {
        let name = one.name.as_str();
        let is_refused = if one.is_exported {
            !self.table.is_harmless(name)
        } else {
            self.table.is_influential(name)
        };
        if is_refused {
            return Err(fault(one.place, Construct::Variable(name.to_owned())));
        }
        Ok(())
    }

    fn redirections(&self, command: &Command, invocation: &mut Invocation) -> Done {
        for one in &command.redirections {
            let roles: &[Role] = match one.kind {
                RedirectionKind::Read => &[Role::ReadPath],
                RedirectionKind::Write | RedirectionKind::Append => &[Role::WritePath],
                RedirectionKind::ReadWrite => &[Role::ReadPath, Role::WritePath],
                RedirectionKind::Text | RedirectionKind::Duplicate => &[],
            };
            for role in roles {
                let Some(value) = &one.target else { continue };
                let word = Word {
                    place: one.place,
                    value: value.clone(),
                };
                operand(
                    *role,
                    &word,
                    &command.directories,
                    false,
                    &mut invocation.operands,
                )?;
            }
        }
        Ok(())
    }

    /// A program that is a file: it runs, whatever it does.
    fn file(&mut self, command: &Command, first: &Word, words: &[Word], mut invocation: Invocation) -> Done {
        invocation.runs = true;
        operand(
            Role::ReadPath,
            first,
            &command.directories,
            false,
            &mut invocation.operands,
        )?;
        operand(
            Role::Execute,
            first,
            &command.directories,
            false,
            &mut invocation.operands,
        )?;
        for word in words {
            operand(
                Role::Text,
                word,
                &command.directories,
                false,
                &mut invocation.operands,
            )?;
        }
        self.described.invocations.push(invocation);
        Ok(())
    }

    fn program(
        &mut self,
        command: &Command,
        program: &Program,
        words: &[Word],
        mut invocation: Invocation,
    ) -> Done {
        let has_commands = !program.commands.is_empty();
        let mut found = scan(program, words, has_commands)?;
        let mut directories = command.directories.clone();
        change_directory(&found, &mut directories)?;
        if has_commands && !found.operands.is_empty() {
            let sub = found.operands.remove(0);
            let inner = sub.exact().and_then(|name| program.commands.get(name));
            let Some(inner) = inner else {
                let name = sub.exact().unwrap_or_default().to_owned();
                return Err(fault(sub.place, Construct::Operand(name)));
            };
            invocation
                .commands
                .push(sub.exact().unwrap_or_default().to_owned());
            self.values(
                program,
                &program.ordinary,
                &found,
                &command.directories,
                &mut invocation,
            )?;
            let command = Command {
                directories,
                ..command.clone()
            };
            invocation.directories.clone_from(&command.directories);
            return self.program(&command, inner, &found.operands, invocation);
        }
        let excluded = exclusions(&invocation, program, &mut found);
        let case = program.case(&found.options, !found.operands.is_empty());
        invocation.runs |= case.runs;
        self.values(program, case, &found, &command.directories, &mut invocation)?;
        let roles = assign(&case.operands, &found.operands, command.place)?;
        let mut has_path = false;
        let mut nested = Vec::new();
        let mut scripts = Vec::new();
        for (at, (role, word)) in roles.iter().enumerate() {
            has_path |= role.is_path();
            match role {
                Role::Assignments => self.assignment(&given(word))?,
                Role::Export => self.assignment(&given(word))?,
                Role::Variable if word.exact().is_some_and(|name| self.table.is_influential(name)) => {
                    let name = word.exact().unwrap_or_default().to_owned();
                    return Err(fault(word.place, Construct::Variable(name)));
                }
                Role::Setting => super::expression::setting(word)?,
                Role::Transfer => {
                    let is_last = at + 1 == roles.len();
                    let role = transfer(word, is_last);
                    invocation.runs |= role == Role::Execute;
                    operand(role, word, &directories, case.is_tree, &mut invocation.operands)?;
                }
                Role::Edit if found.has_empty_suffix => {
                    operand(*role, word, &directories, case.is_tree, &mut invocation.operands)?;
                    // GNU has the empty word for the script, and this one for a file.
                    operand(
                        Role::WritePath,
                        word,
                        &directories,
                        false,
                        &mut invocation.operands,
                    )?;
                }
                Role::Command => nested.push(word.clone()),
                Role::Script => scripts.push(word),
                Role::Expression => {}
                Role::WritePath if invocation.program != "tee" => {
                    named(*role, word, &directories, case.is_tree, &mut invocation.operands)?;
                }
                Role::Execute if !invocation.runs => {
                    invocation.runs = true;
                    operand(*role, word, &directories, case.is_tree, &mut invocation.operands)?;
                }
                _ => operand(*role, word, &directories, case.is_tree, &mut invocation.operands)?,
            }
        }
        if matches!(case.operands.as_slice(), [slot] if slot.role == Role::Expression) {
            let name = invocation.program.clone();
            super::expression::read(&name, &found.operands, command, &mut invocation.operands)?;
        }
        if let Some((Role::Format, word)) = roles.first() {
            super::expression::format(word, &found.operands)?;
        }
        let here = Word {
            place: command.place,
            value: Value::Exact(".".to_owned()),
        };
        let absent = case.absent.filter(|_| !has_path);
        for role in absent.into_iter().chain(case.implied) {
            operand(role, &here, &directories, case.is_tree, &mut invocation.operands)?;
        }
        if program.into {
            into(
                &roles,
                &found,
                &directories,
                case.is_tree,
                &mut invocation.operands,
            )?;
        }
        if invocation.program == "git" {
            plain_pathspecs(&invocation.operands)?;
            compared(&found, &mut invocation);
        }
        beside(&found, &directories, &mut invocation)?;
        default_remote(case, command, &mut invocation.operands);
        rewritten_branch(case, &found, command, &mut invocation);
        if let Some(contents) = contents(program, &found, excluded) {
            let trees = invocation.operands.iter_mut();
            for tree in trees.filter(|one| one.is_tree && one.role == Role::ReadPath) {
                tree.contents = Some(contents.clone());
            }
        }
        self.input(program, &found, command, &mut invocation)?;
        let paths = invocation.operands.iter().filter(|one| one.role.is_path());
        let paths: Vec<String> = paths.flat_map(Operand::paths).collect();
        self.described.invocations.push(invocation);
        let outer = Command {
            directories,
            ..command.clone()
        };
        for words in &found.commands {
            self.run_on(&outer, words, &paths)?;
        }
        for script in scripts {
            self.run_script(&outer, script)?;
        }
        if !nested.is_empty() {
            // Of the programs that run their operands, these run them as somebody else.
            let was = self.is_other_user;
            self.is_other_user |= case.runs;
            let done = self.run_words(&outer, program, &found, nested);
            self.is_other_user = was;
            done?;
        }
        Ok(())
    }

    /// The values of options.
    fn values(
        &self,
        program: &Program,
        case: &Case,
        found: &Words,
        directories: &Option<Vec<String>>,
        invocation: &mut Invocation,
    ) -> Done {
        let runs_words = case.operands.iter().any(|slot| slot.role == Role::Command);
        for (option, role, word) in &found.values {
            let role = case.values.get(option).copied().unwrap_or(*role);
            // The directory that things are copied or unpacked to.
            let is_tree = case.is_tree && (program.into || case.implied == Some(Role::WritePath));
            match role {
                Role::Directory if !runs_words => {}
                Role::Directory => {
                    operand(Role::ReadPath, word, directories, false, &mut invocation.operands)?
                }
                role => operand(role, word, directories, is_tree, &mut invocation.operands)?,
            }
        }
        Ok(())
    }
}

/// Adds what the operands mean in the last one, or in the directory that an option names, where that is a directory.
fn into(
    roles: &[(Role, Word)],
    found: &Words,
    directories: &Option<Vec<String>>,
    is_tree: bool,
    operands: &mut Vec<Operand>,
) -> Done {
    let named = found.values.iter().find(|(_, role, _)| *role == Role::WritePath);
    let (others, role, target) = match (named, roles.split_last()) {
        (Some((_, role, word)), _) => (roles, *role, word),
        (None, Some(((role, word), others))) => (others, *role, word),
        (None, None) => return Ok(()),
    };
    for (_, source) in others {
        let names = (source.exact(), target.exact());
        let (Some(source), Some(target_text)) = names else {
            // What matches a pattern keeps its name, and a pipe has none.
            let is_plain = |word: &Word| !matches!(word.value, Value::Unknown { .. });
            if let (Value::Pattern { pattern, .. }, Some(target_text), Role::WritePath | Role::Transfer) =
                (&source.value, target.exact(), role)
            {
                let names = pattern
                    .trim_end_matches('/')
                    .rsplit('/')
                    .next()
                    .unwrap_or_default();
                let before = format!("{}/", target_text.trim_end_matches('/'));
                operands.push(Operand {
                    role: Role::WritePath,
                    value: Value::Pattern {
                        pattern: format!("{before}{names}"),
                        before,
                        is_many: true,
                    },
                    place: target.place,
                    directories: directories.clone(),
                    is_tree,
                    contents: None,
                    arrives: true,
                });
                continue;
            }
            if is_plain(source) && is_plain(target) {
                continue;
            }
            return Err(fault(source.place, Construct::UnknownWord));
        };
        let name = source
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default();
        let word = Word {
            place: target.place,
            value: Value::Exact(format!("{}/{name}", target_text.trim_end_matches('/'))),
        };
        let role = match role {
            Role::Transfer => Role::WritePath,
            role => role,
        };
        if !name.is_empty() && name != "." && name != ".." {
            operand(role, &word, directories, false, operands)?;
        }
    }
    Ok(())
}

/// What is left out of a tree whose contents the program reads.
fn contents(program: &Program, found: &Words, excluded: Vec<String>) -> Option<Contents> {
    let without = program.without.clone()?;
    // Where the option also takes names in, those that it leaves out begin with `!`.
    let is_marked = without.contains('!');
    let mut left_out = excluded;
    // What takes names in counts beside what leaves them out, and the last one decides.
    let takes_in = |(option, _, word): &&(String, Role, Word)| {
        let is_glob = program.leaves_out.contains(option) && is_marked;
        option == "--include" || is_glob && !word.exact().is_some_and(|name| name.starts_with('!'))
    };
    let is_plain = |name: &str| {
        let stem = name.strip_prefix('*').unwrap_or(name);
        !stem.is_empty()
            && stem
                .bytes()
                .all(|one| one.is_ascii_alphanumeric() || b"._-".contains(&one))
    };
    let has_others = found.values.iter().any(|value| takes_in(&value));
    for (option, _, word) in found.values.iter().filter(|_| !has_others) {
        let name = word.exact().filter(|_| program.leaves_out.contains(option));
        let name = if is_marked {
            name.and_then(|name| name.strip_prefix('!'))
        } else {
            name
        };
        let Some(name) = name.filter(|name| is_plain(name)) else {
            continue;
        };
        let is_directory = option.ends_with("-dir");
        left_out.extend((is_marked || is_directory).then(|| format!("{name}/")));
        left_out.extend((!is_directory).then(|| name.to_owned()));
    }
    let reads_hidden = |option: &String| program.hidden.contains(option);
    if !program.hidden.is_empty() && !found.options.iter().any(reads_hidden) {
        left_out.extend([".*".to_owned(), ".*/".to_owned()]);
    }
    Some(Contents { without, left_out })
}

/// Where a program works after an option that changes its directory.
fn change_directory(found: &Words, directories: &mut Option<Vec<String>>) -> Done {
    let mut changes = found
        .values
        .iter()
        .filter(|(_, role, _)| *role == Role::Directory);
    let Some((_, _, word)) = changes.next() else {
        return Ok(());
    };
    let Some(path) = word.exact() else {
        return Err(fault(word.place, Construct::UnknownDirectory));
    };
    if let Some((_, _, second)) = changes.next() {
        return Err(fault(second.place, Construct::UnknownDirectory));
    }
    *directories = if path.starts_with('/') {
        Some(vec![path.to_owned()])
    } else {
        let all = directories.iter().flatten();
        let all = all.map(|directory| format!("{}/{path}", directory.trim_end_matches('/')));
        directories.is_some().then(|| all.collect())
    };
    Ok(())
}

/// A variable that programs are given, written as an argument.
fn given(word: &Word) -> Assignment {
    let text = match &word.value {
        Value::Exact(text) => text,
        Value::Unknown {
            before,
            is_many: false,
            ..
        } if before.contains('=') => before,
        _ => "",
    };
    let name = text.split('=').next().unwrap_or_default();
    Assignment {
        name: name.to_owned(),
        value: word.value.clone(),
        place: word.place,
        is_exported: true,
    }
}

/// The role of a path that may be of another machine: `host:path`.
fn transfer(word: &Word, is_last: bool) -> Role {
    let text = word.exact().unwrap_or_default();
    let is_remote = text.split('/').next().is_some_and(|first| first.contains(':'));
    match (is_remote, is_last) {
        (true, _) => Role::Execute,
        (false, true) => Role::WritePath,
        (false, false) => Role::ReadPath,
    }
}

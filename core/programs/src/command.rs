//! From a command to what it touches.

use super::assign::assign;
use super::beside::beside;
use super::contents::contents;
use super::git::{checked_out, compared, default_remote, exclusions, plain_pathspecs, rewritten_branch};
use super::into::into;
use super::operand::{named, operand};
use super::options::{Words, scan};
use super::program::{Case, Program, Style};
use super::role::Role;
use super::table::Table;
use super::variable;
use super::{Described, Invocation, Operand};
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

/// Programs that run whatever their arguments say, but nothing of a project's for `--version`. Others do: `cargo` the toolchain, and
/// `yarn` the release, that a file of the project names.
const TELL_VERSIONS: &[&str] = &[
    "npm",
    "pip",
    "pip3",
    "make",
    "gmake",
    "cmake",
    "ninja",
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "ruby",
    "perl",
    "php",
    "java",
    "javac",
    "psql",
    "mysql",
    "sqlite3",
    "terraform",
    "aws",
    "gh",
    "brew",
];

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
        if TELL_VERSIONS.contains(&name) && matches!(words, [one] if one.exact() == Some("--version")) {
            self.described.invocations.push(invocation);
            return Ok(());
        }
        self.program(command, program, words, invocation)
    }

    /// A variable that programs are given, or that the shell has.
    pub(super) fn assignment(&self, one: &Assignment) -> Done {
        if variable::is_refused(one, self.table) {
            return Err(fault(one.place, Construct::Variable(one.name.clone())));
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
        let excluded = exclusions(&invocation, program, &mut found)?;
        let case = program.case(&found.options, !found.operands.is_empty());
        let (before, after) = found
            .options
            .split_at_checked(found.before_operands)
            .unwrap_or_default();
        if program.style == Style::Bsd && program.case(before, !found.operands.is_empty()) != case {
            // To some it is an operand there.
            let option = after.first().cloned().unwrap_or_default();
            return Err(fault(command.place, Construct::Option(option)));
        }
        invocation.runs |= case.runs;
        self.values(program, case, &found, &command.directories, &mut invocation)?;
        let roles = assign(&case.operands, &found.operands, command.place)?;
        let mut has_path = false;
        let mut nested = Vec::new();
        let mut scripts = Vec::new();
        for (at, (role, word)) in roles.iter().enumerate() {
            has_path |= role.is_path();
            match role {
                Role::Assignments => self.assignment(&variable::given(word))?,
                Role::Export => self.assignment(&variable::given(word))?,
                Role::Variable if word.exact().is_some_and(|name| self.table.is_influential(name)) => {
                    let name = word.exact().unwrap_or_default().to_owned();
                    return Err(fault(word.place, Construct::Variable(name)));
                }
                Role::Setting => super::expression::setting(word)?,
                Role::Awk if word.exact().is_some_and(super::awk::is_plain) => {}
                Role::Awk => {
                    invocation.runs = true;
                    operand(Role::Execute, word, &directories, false, &mut invocation.operands)?;
                }
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
                Role::WritePath | Role::LocalWrite if invocation.program != "tee" => {
                    // An archive is a file.
                    let is_tree = case.is_tree && invocation.program != "zip";
                    named(*role, word, &directories, is_tree, &mut invocation.operands)?;
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
            checked_out(&found, &mut invocation);
            plain_pathspecs(&invocation.operands)?;
            compared(&found, &mut invocation);
        }
        beside(&found, &directories, &mut invocation)?;
        default_remote(case, command, &mut invocation.operands);
        rewritten_branch(case, &found, command, &mut invocation);
        if let Some(mut contents) = contents(program, &found, &invocation.program) {
            let is_forced = found.options.iter().any(|one| one == "-f" || one == "--force");
            let adds = |name: &String| name == "add" || name == "stage";
            if invocation.program == "git" && invocation.commands.iter().any(adds) && !is_forced {
                contents.ignored = super::Ignored::SkippedByGit;
            }
            let trees = invocation.operands.iter_mut();
            for tree in trees.filter(|one| one.is_tree && one.role == Role::ReadPath) {
                let mut contents = contents.clone();
                contents.left_out.extend(excluded.below(tree));
                tree.contents = Some(contents);
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
        let name = looked_for(&found);
        for words in &found.commands {
            self.run_on(&outer, words, &paths, name)?;
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
            // The directory that things are copied or unpacked to, and not the archive.
            let is_target = program.into || case.implied == Some(Role::WritePath);
            let is_tree = case.is_tree && is_target && !matches!(role, Role::LocalPath | Role::LocalWrite);
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

/// The only names of files that `find` runs a program on, where it is told before that by a plain pattern.
fn looked_for(found: &Words) -> Option<&str> {
    let odd = ["-o", "-or", ",", "!", "-not"];
    let mut options = found.options.iter().map(String::as_str);
    let (_, _, name) = found.values.iter().find(|(option, _, _)| option == "-name")?;
    let name = name.exact()?;
    let is_first = options
        .clone()
        .find(|one| ["-exec", "-ok", "-name"].contains(one))
        == Some("-name");
    let is_plain = |one: u8| one.is_ascii_alphanumeric() || b"._-*".contains(&one);
    let is_known = is_first && !options.any(|one| odd.contains(&one)) && name.bytes().all(is_plain);
    is_known.then_some(name).filter(|name| !name.contains("**"))
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

/// The role of a path that may be of another machine: `host:path`, or a pattern that may stay as it is written and be one.
fn transfer(word: &Word, is_last: bool) -> Role {
    let (text, odd) = match &word.value {
        Value::Exact(text) => (text.as_str(), ":"),
        Value::Pattern { pattern, .. } => (pattern.as_str(), ":["),
        Value::Pipe | Value::Unknown { .. } => ("", ""),
    };
    let first = text.split('/').next().unwrap_or_default();
    match (first.contains(|one| odd.contains(one)), is_last) {
        (true, _) => Role::Execute,
        (false, true) => Role::WritePath,
        (false, false) => Role::ReadPath,
    }
}

//! Programs that run other programs.

use super::Invocation;
use super::command::Describe;
use super::operand::operand;
use super::options::Words;
use super::program::{Input, Program};
use super::role::Role;
use callgate_shell::{Command, RedirectionKind, Value, Within, Word};
use callgate_shell::{Construct, NotUnderstood, Place};
use callgate_shell::{Surroundings, read};

type Done = Result<(), NotUnderstood>;

fn fault(place: Place, construct: Construct) -> NotUnderstood {
    NotUnderstood { place, construct }
}

impl Describe<'_> {
    /// `env`, `timeout`, `xargs`: the operands are a command.
    pub(super) fn run_words(
        &mut self,
        outer: &Command,
        program: &Program,
        found: &Words,
        words: Vec<Word>,
    ) -> Done {
        let mut words = words;
        let replaced = found.values.iter().find(|(_, role, _)| *role == Role::Replaced);
        let counts = ["-n", "-L", "--max-args", "--max-lines"];
        if replaced.is_some()
            && found
                .options
                .iter()
                .any(|option| counts.contains(&option.as_str()))
        {
            // The last of them counts, and what is replaced then stands at the end.
            return Err(fault(outer.place, Construct::UnknownWord));
        }
        if let Some((_, _, marker)) = replaced {
            let Some(marker) = marker.exact().filter(|marker| !marker.is_empty()) else {
                return Err(fault(marker.place, Construct::UnknownWord));
            };
            for word in &mut words {
                replace(word, marker);
            }
        } else if program.values.values().any(|role| *role == Role::Replaced) {
            words.push(Word {
                place: outer.place,
                value: Value::Unknown {
                    before: String::new(),
                    is_many: true,
                    is_number: false,
                },
            });
        }
        self.inner(&plain(outer, words))
    }

    /// `find -exec`: `{}` stands for what is below the paths.
    pub(super) fn run_on(
        &mut self,
        outer: &Command,
        words: &[Word],
        paths: &[String],
        name: Option<&str>,
    ) -> Done {
        let is_used = words
            .iter()
            .any(|word| word.exact().is_some_and(|text| text.contains("{}")));
        if paths.is_empty() {
            // It runs on what is no path of the disk, such as `/dev/null`.
            return Err(fault(outer.place, Construct::UnknownWord));
        }
        let paths = if is_used {
            paths
        } else {
            paths.get(..1).unwrap_or_default()
        };
        for path in paths {
            let words = words.iter().map(|word| match word.exact() {
                Some("{}") => Word {
                    place: word.place,
                    value: Value::Pattern {
                        before: format!("{}/", path.trim_end_matches('/')),
                        pattern: format!("{}/**", path.trim_end_matches('/')),
                        is_many: true,
                    },
                },
                Some(text) if text.contains("{}") => {
                    let mut word = word.clone();
                    replace(&mut word, "{}");
                    word
                }
                _ => word.clone(),
            });
            let words = words.collect();
            let known = self.described.invocations.len();
            self.inner(&plain(outer, words))?;
            let Some(name) = name.filter(|_| is_used) else {
                continue;
            };
            let new = self.described.invocations.iter_mut().skip(known);
            for operand in new.flat_map(|one| &mut one.operands) {
                if matches!(&operand.value, Value::Pattern { pattern, .. } if pattern.ends_with("/**")) {
                    let contents = operand.contents.get_or_insert_default();
                    contents.taken_in = Some(vec![name.to_owned()]);
                }
            }
        }
        Ok(())
    }

    /// `sh -c text`.
    pub(super) fn run_script(&mut self, outer: &Command, script: &Word) -> Done {
        let Some(text) = script.exact() else {
            return Err(fault(script.place, Construct::UnknownWord));
        };
        let names_home = ["~", "HOME", "cd"].iter().any(|name| text.contains(name));
        if self.is_other_user && names_home {
            return Err(fault(script.place, Construct::UnknownDirectory));
        }
        let elsewhere = vec![String::new()];
        for directory in outer.directories.as_ref().unwrap_or(&elsewhere) {
            let surroundings = Surroundings {
                directory,
                home: self.home,
            };
            let mut reading = read(text, &surroundings);
            // Places are those of the text outside.
            reading.not_understood.truncate(1);
            if let Some(first) = reading.not_understood.pop() {
                return Err(fault(script.place, first.construct));
            }
            for command in &mut reading.commands {
                command.place = script.place;
                command.within.input |= has_input(outer);
                command
                    .assignments
                    .iter_mut()
                    .for_each(|one| one.place = script.place);
                command
                    .words
                    .iter_mut()
                    .for_each(|word| word.place = script.place);
                command
                    .redirections
                    .iter_mut()
                    .for_each(|one| one.place = script.place);
                self.inner(command)?;
            }
        }
        Ok(())
    }

    /// What a program without operands runs of its input.
    pub(super) fn input(
        &mut self,
        program: &Program,
        found: &Words,
        command: &Command,
        invocation: &mut Invocation,
    ) -> Done {
        let Some(input) = program.input else {
            return Ok(());
        };
        let reads = match found.operands.first() {
            None => true,
            Some(word) => word.exact() == Some("-"),
        };
        // `-c`, `-e` and `-m` give what runs.
        let is_given = found
            .values
            .iter()
            .any(|(_, role, _)| matches!(role, Role::Execute | Role::Script));
        if !reads || is_given {
            return Ok(());
        }
        let redirected = command.redirections.iter().rev().find(|one| one.descriptor == 0);
        match redirected.map(|one| (one.kind, one.target.as_ref(), one.place)) {
            Some((RedirectionKind::Text, Some(value), place)) => {
                let word = Word {
                    place,
                    value: value.clone(),
                };
                invocation.runs = true;
                match input {
                    Input::Script => self.run_script(command, &word),
                    Input::Code => operand(
                        Role::Execute,
                        &word,
                        &command.directories,
                        false,
                        &mut invocation.operands,
                    ),
                }
            }
            None if !command.within.input => Ok(()),
            _ => Err(fault(command.place, Construct::Input(invocation.program.clone()))),
        }
    }
}

/// What runs in the place of a command has its input.
fn has_input(outer: &Command) -> bool {
    outer.within.input || outer.redirections.iter().any(|one| one.descriptor == 0)
}

/// A command in the place of the one that runs it.
fn plain(outer: &Command, words: Vec<Word>) -> Command {
    Command {
        assignments: Vec::new(),
        redirections: Vec::new(),
        within: Within {
            input: has_input(outer),
            ..outer.within
        },
        words,
        ..outer.clone()
    }
}

/// Makes a word unknown from where the marker stands in it.
fn replace(word: &mut Word, marker: &str) {
    let before = word
        .exact()
        .and_then(|text| text.split_once(marker))
        .map(|(before, _)| before.to_owned());
    if let Some(before) = before {
        word.value = Value::Unknown {
            before,
            is_many: false,
            is_number: false,
        };
    }
}

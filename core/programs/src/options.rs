//! Which words of a command are options, values of options, and operands.

use super::program::{Program, Style};
use super::role::Role;
use callgate_shell::{Construct, NotUnderstood};
use callgate_shell::{Value, Word};

/// The words of a command, told apart.
#[derive(Default)]
pub(super) struct Words {
    /// The options that are given, by name.
    pub(super) options: Vec<String>,
    /// The values of options: the option, its role, and the value.
    pub(super) values: Vec<(String, Role, Word)>,
    /// Commands that options have up to a `;`.
    pub(super) commands: Vec<Vec<Word>>,
    pub(super) operands: Vec<Word>,
    /// An empty word follows an option that may have a suffix.
    pub(super) has_empty_suffix: bool,
    /// The words after `sed -i -e`: to BSD, `-e` is the suffix, the first of them the script, and the others are files.
    pub(super) after_suffix: Option<Vec<Word>>,
    /// `--` stands before every operand.
    pub(super) begins_with_dashes: bool,
    /// How many of the options stand before every operand.
    pub(super) before_operands: usize,
}

/// Tells the words of a command apart. With `stops`, what follows the first operand is operands too.
pub(super) fn scan(program: &Program, words: &[Word], stops: bool) -> Result<Words, NotUnderstood> {
    let mut scan = Scan {
        program,
        found: Words::default(),
        rest: words.iter(),
        is_over: false,
    };
    let mut is_first = true;
    while let Some(word) = scan.rest.next() {
        let is_bundle = is_first && program.style == Style::Bundle;
        is_first = false;
        scan.word(word, is_bundle)?;
        let has_operand = !scan.found.operands.is_empty();
        if !has_operand {
            scan.found.before_operands = scan.found.options.len();
        }
        if has_operand && (stops || matches!(program.style, Style::Posix | Style::Apart)) {
            scan.is_over = true;
        }
    }
    Ok(scan.found)
}

struct Scan<'s> {
    program: &'s Program,
    found: Words,
    rest: std::slice::Iter<'s, Word>,
    /// Only operands follow.
    is_over: bool,
}

fn fault(word: &Word, construct: Construct) -> NotUnderstood {
    NotUnderstood {
        place: word.place,
        construct,
    }
}

impl Scan<'_> {
    fn word(&mut self, word: &Word, is_bundle: bool) -> Result<(), NotUnderstood> {
        if self.is_over || self.program.style == Style::Plain {
            self.found.operands.push(word.clone());
            return Ok(());
        }
        let (before, is_whole) = match &word.value {
            Value::Exact(text) => (text.as_str(), true),
            Value::Pattern { before, .. } | Value::Unknown { before, .. } => (before.as_str(), false),
            Value::Pipe => ("/", false),
        };
        if is_bundle && is_whole && !before.starts_with('-') && !before.is_empty() {
            return self.bundle(word, before);
        }
        if self.program.style == Style::Words && self.program.flags.contains(before) && is_whole {
            self.found.options.push(before.to_owned());
            return Ok(());
        }
        if !is_whole && self.partly_known(word, before) {
            return Ok(());
        }
        let is_number = matches!(
            word.value,
            Value::Unknown {
                is_number: true,
                is_many: false,
                ..
            }
        );
        let may_be_option = !is_whole && (before.is_empty() && !is_number || before.starts_with('-'));
        let splits = matches!(word.value, Value::Unknown { is_many: true, .. });
        if may_be_option && !(self.program.is_harmless && before.is_empty()) || splits {
            let is_pattern = matches!(word.value, Value::Pattern { .. }) && before.is_empty();
            let construct = if is_pattern {
                Construct::MayMatchOption
            } else {
                Construct::MayBeOption
            };
            return Err(fault(word, construct));
        }
        if !is_whole || before == "-" || !before.starts_with('-') {
            self.found.operands.push(word.clone());
            return Ok(());
        }
        if before == "--" {
            self.found.begins_with_dashes = self.found.operands.is_empty();
            self.is_over = true;
            return Ok(());
        }
        let digits = before.get(1..).unwrap_or_default();
        if self.program.number && digits.bytes().all(|one| one.is_ascii_digit()) {
            return Ok(());
        }
        if self.program.style == Style::Words {
            return self.long(word, before);
        }
        if before.starts_with("--") {
            self.long(word, before)
        } else {
            self.short(word, before)
        }
    }

    /// `--name=*.rs`: an option whose value is a pattern, or begins with what is known.
    fn partly_known(&mut self, word: &Word, before: &str) -> bool {
        let Some((name, start)) = before.split_once('=') else {
            return false;
        };
        let role = self
            .program
            .values
            .get(name)
            .or_else(|| self.program.optional.get(name));
        let Some(role) = role.filter(|role| role.is_text()) else {
            return false;
        };
        if matches!(word.value, Value::Unknown { is_many: true, .. }) {
            return false;
        }
        self.found.options.push(name.to_owned());
        let value = Value::Unknown {
            before: start.to_owned(),
            is_many: false,
            is_number: false,
        };
        self.give(
            name,
            *role,
            Word {
                place: word.place,
                value,
            },
        );
        true
    }

    /// `--name`, `--name=value` and `--name value`.
    fn long(&mut self, word: &Word, text: &str) -> Result<(), NotUnderstood> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        self.found.options.push(name.to_owned());
        if let Some(role) = self.program.pairs.get(name) {
            return self.pair(word, name, *role, value);
        }
        if let Some(role) = self.program.values.get(name) {
            return match value {
                // A command ends in a word of its own.
                Some(_) if *role == Role::CommandTo => Err(fault(word, Construct::Option(name.to_owned()))),
                Some(value) => {
                    self.give(name, *role, exact(word, value));
                    Ok(())
                }
                None => self.take(word, name, *role),
            };
        }
        match (self.program.optional.get(name), value) {
            (Some(role), Some(value)) => {
                self.give(name, *role, exact(word, value));
                Ok(())
            }
            (Some(_), None) => Ok(()),
            (None, None) if self.program.flags.contains(name) => Ok(()),
            _ => Err(fault(word, Construct::Option(name.to_owned()))),
        }
    }

    /// `--arg name value`: the name is data.
    fn pair(
        &mut self,
        word: &Word,
        name: &str,
        role: Role,
        value: Option<&str>,
    ) -> Result<(), NotUnderstood> {
        if value.is_some() || self.rest.next().and_then(Word::exact).is_none() {
            return Err(fault(word, Construct::Option(name.to_owned())));
        }
        self.take(word, name, role)
    }

    /// `-abc`, of which the last may have a value.
    fn short(&mut self, word: &Word, text: &str) -> Result<(), NotUnderstood> {
        let mut letters = text.chars();
        letters.next();
        match self.program.style {
            Style::Letters => return self.bundle(word, letters.as_str()),
            Style::Apart if letters.as_str().chars().count() > 1 => {
                return Err(fault(word, Construct::Option(text.to_owned())));
            }
            _ => {}
        }
        while let Some(letter) = letters.next() {
            let name = format!("-{letter}");
            self.found.options.push(name.clone());
            let rest = letters.as_str();
            if let Some(role) = self.program.values.get(&name) {
                if rest.is_empty() {
                    return self.take(word, &name, *role);
                }
                if *role == Role::CommandTo {
                    return Err(fault(word, Construct::Option(name)));
                }
                self.give(&name, *role, exact(word, rest));
                return Ok(());
            }
            if let Some(role) = self.program.optional.get(&name) {
                let next = self.rest.as_slice().split_first();
                let (next, after) = next.map_or((None, &[][..]), |(next, after)| (next.exact(), after));
                if !rest.is_empty() {
                    self.give(&name, *role, exact(word, rest));
                } else if *role == Role::Suffix && next.is_some_and(|next| next.starts_with('-')) {
                    self.found.after_suffix = Some(after.to_vec());
                    let suffix = next.filter(|next| !next.contains(['/', '*']));
                    suffix
                        .map(|suffix| exact(word, suffix))
                        .into_iter()
                        .for_each(|suffix| self.give(&name, Role::Suffix, suffix));
                } else if *role == Role::Suffix && next == Some("") {
                    // BSD takes the empty word for the suffix, and GNU for an operand.
                    self.rest.next();
                    self.found.has_empty_suffix = true;
                }
                return Ok(());
            }
            if !self.program.flags.contains(&name) {
                return Err(fault(word, Construct::Option(name)));
            }
        }
        Ok(())
    }

    /// `xzf`, and `-xzf` to programs that never have a value in the same word: each letter that has one takes the next word.
    fn bundle(&mut self, word: &Word, text: &str) -> Result<(), NotUnderstood> {
        for letter in text.chars() {
            let name = format!("-{letter}");
            self.found.options.push(name.clone());
            if let Some(role) = self.program.values.get(&name) {
                self.take(word, &name, *role)?;
            } else if !self.program.flags.contains(&name) {
                return Err(fault(word, Construct::Option(name)));
            }
        }
        Ok(())
    }

    /// Takes the next word as the value.
    fn take(&mut self, word: &Word, name: &str, role: Role) -> Result<(), NotUnderstood> {
        if role == Role::CommandTo {
            let mut command: Vec<Word> = Vec::new();
            for word in self.rest.by_ref() {
                let is_last = word.exact() == Some(";")
                    || word.exact() == Some("+") && command.last().and_then(Word::exact) == Some("{}");
                if is_last {
                    self.found.commands.push(command);
                    return Ok(());
                }
                command.push(word.clone());
            }
            return Err(fault(word, Construct::Unfinished("a command")));
        }
        let Some(value) = self.rest.next() else {
            return Err(fault(word, Construct::Option(name.to_owned())));
        };
        if matches!(
            &value.value,
            Value::Unknown { is_many: true, .. } | Value::Pattern { is_many: true, .. }
        ) {
            return Err(fault(value, Construct::UnknownWord));
        }
        if value.exact().is_some_and(looks_like_option) {
            return Err(fault(value, Construct::Option(name.to_owned())));
        }
        let is_number = |text: &str| {
            text.trim_start_matches(['-', '+'])
                .bytes()
                .all(|one| one.is_ascii_digit())
        };
        if self.program.style == Style::Bsd
            && role.is_text()
            && !self.found.operands.is_empty()
            && !value.exact().is_some_and(is_number)
        {
            return Err(fault(value, Construct::MayBeOption));
        }
        self.give(name, role, value.clone());
        Ok(())
    }

    fn give(&mut self, name: &str, role: Role, value: Word) {
        self.is_over |= self.program.last.contains(name);
        self.found.values.push((name.to_owned(), role, value));
    }
}

/// A value is not taken from such a word: the program may know the option before it without one, and this one then counts.
fn looks_like_option(text: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|rest| !rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn exact(word: &Word, text: &str) -> Word {
    Word {
        place: word.place,
        value: Value::Exact(text.to_owned()),
    }
}

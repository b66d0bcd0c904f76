//! The values of words.

use super::Walk;
use super::state::{State, Variable};
use crate::fault::Construct;
use crate::limits::MAX_BRACES;
use crate::reading::{Shells, Value};
use crate::syntax::tree::{Compound, List, Node, Operator, Part, Simple, Target, Word};

/// A word while its parts are put together.
#[derive(Clone, Default)]
struct Field {
    text: String,
    pattern: String,
    /// How long the text before the first pattern is.
    globbed: Option<usize>,
    /// The text is only what it begins with.
    is_unknown: bool,
    is_number: bool,
    is_many: bool,
    is_pipe: bool,
    /// Something in it is in quotes, so that it is a word even if it is empty.
    is_quoted: bool,
    parts: usize,
}

impl Field {
    fn add(&mut self, text: &str) {
        if self.is_unknown {
            return;
        }
        self.text.push_str(text);
        for one in text.chars() {
            if matches!(one, '*' | '?' | '[' | '\\') {
                self.pattern.push('\\');
            }
            self.pattern.push(one);
        }
    }

    fn glob(&mut self, one: char) {
        self.is_many = true;
        if self.is_unknown {
            return;
        }
        self.globbed.get_or_insert(self.text.len());
        self.text.push(one);
        self.pattern.push(one);
    }

    fn unknown(&mut self, is_many: bool) {
        // A pattern before it is cut to what stands before the pattern.
        if let Some(length) = self.globbed.take() {
            self.text.truncate(length);
            self.is_unknown = true;
        }
        self.is_unknown = true;
        self.is_many |= is_many;
    }

    fn value(self) -> Value {
        if self.is_unknown {
            return Value::Unknown {
                before: self.text,
                is_many: self.is_many,
                is_number: self.is_number && self.parts == 1,
            };
        }
        if self.is_pipe {
            return Value::Pipe;
        }
        let names = self.pattern.split('/');
        let mut below = names.skip_while(|name| !name.contains(['*', '?', '[']));
        match self.globbed {
            // Where `..` leads depends on which directories match.
            Some(length) if below.any(|name| name == "..") => Value::Unknown {
                before: self.text.get(..length).unwrap_or_default().to_owned(),
                is_many: self.is_many,
                is_number: false,
            },
            Some(length) => Value::Pattern {
                before: self.text.get(..length).unwrap_or_default().to_owned(),
                pattern: self.pattern,
                is_many: self.is_many,
            },
            None => Value::Exact(self.text),
        }
    }
}

/// How words are expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Arguments: patterns stand for names, and values without quotes are divided.
    Divided,
    /// Assignments, here-documents and `[[`: one value, in which patterns are text.
    Single,
}

impl<'s> Walk<'s> {
    /// Returns `true` if dash reads the word differently than bash and zsh.
    pub(super) fn is_read_differently(&self, word: &Word) -> bool {
        word.parts.iter().any(|part| matches!(part, Part::Escaped { .. })) || has_braces(&word.parts)
    }

    /// The words that an argument becomes.
    pub(super) fn fields(&self, word: &'s Word, state: &State, shells: Shells) -> Vec<Value> {
        let all: Vec<&Part> = word.parts.iter().collect();
        let alternatives = if shells != Shells::Dash && has_braces(&word.parts) {
            braces(&all).unwrap_or_else(|| vec![all])
        } else {
            vec![all]
        };
        let mut values = Vec::new();
        for parts in alternatives {
            let field = self.field(&parts, state, shells, Mode::Divided);
            let is_absent = field.text.is_empty() && !field.is_quoted && !field.is_unknown && !field.is_pipe;
            if !is_absent {
                values.push(field.value());
            }
        }
        values
    }

    /// The value of a word that is not divided.
    pub(super) fn single(&self, word: &'s Word, state: &State) -> Value {
        let parts: Vec<&Part> = word.parts.iter().collect();
        self.field(&parts, state, Shells::All, Mode::Single).value()
    }

    fn field(&self, parts: &[&'s Part], state: &State, shells: Shells, mode: Mode) -> Field {
        let mut field = Field {
            parts: parts.len(),
            ..Field::default()
        };
        for part in parts {
            match *part {
                Part::Bare(text) => field.add(text),
                Part::Quoted(text) => {
                    field.is_quoted = true;
                    // A quote that is empty is no part of its own.
                    if text.is_empty() {
                        field.parts = field.parts.saturating_sub(1).max(1);
                    }
                    field.add(text);
                }
                Part::Tilde => field.add(self.home),
                Part::Glob(one) if mode == Mode::Divided => field.glob(*one),
                Part::Glob(one) => field.add(one.encode_utf8(&mut [0; 4])),
                Part::Open => field.add("{"),
                Part::Comma => field.add(","),
                Part::Close => field.add("}"),
                Part::Escaped { decoded, raw } => {
                    field.is_quoted = true;
                    field.add(if shells == Shells::Dash { raw } else { decoded });
                }
                Part::Process(_) => field.is_pipe = true,
                Part::Variable { name, is_quoted } => {
                    self.variable(&mut field, name, *is_quoted, state, mode)
                }
                Part::Arithmetic { is_quoted, .. } | Part::Number { is_quoted } => {
                    field.is_quoted |= is_quoted;
                    field.unknown(false);
                    field.is_number = true;
                }
                Part::Substitution { list, is_quoted } => {
                    let divides = !is_quoted && mode == Mode::Divided;
                    match self.known_output(list, state) {
                        Some(text) if !divides => {
                            field.is_quoted = true;
                            field.add(&text);
                        }
                        _ => field.unknown(divides),
                    }
                }
                Part::Unknown { is_quoted, is_many } => {
                    field.unknown(*is_many || !is_quoted && mode == Mode::Divided);
                }
            }
        }
        field
    }

    fn variable(&self, field: &mut Field, name: &str, is_quoted: bool, state: &State, mode: Mode) {
        let divides = !is_quoted && mode == Mode::Divided;
        field.is_quoted |= is_quoted;
        let known;
        let value = match (state.variable(name), name) {
            (Some(variable), _) => variable,
            (None, "HOME") => {
                known = Variable::Exact(self.home.to_owned());
                &known
            }
            (None, "PWD") => {
                known = match state.directories.as_deref() {
                    Some([only]) => Variable::Exact(only.clone()),
                    _ => Variable::Unknown,
                };
                &known
            }
            (None, _) => &Variable::Unknown,
        };
        match value {
            // Shells differ in whether they divide it.
            Variable::Exact(text) if divides && text.contains([' ', '\t', '\n', '*', '?', '[', '\\']) => {
                field.unknown(true)
            }
            Variable::Exact(text) => field.add(text),
            Variable::Number => {
                field.unknown(false);
                field.is_number = true;
            }
            Variable::Pattern(before, pattern)
                if !divides && !field.is_unknown && field.globbed.is_none() =>
            {
                field.add(before);
                field.globbed = Some(field.text.len());
                let rest = pattern.chars().skip(escaped(before).chars().count());
                let rest: String = rest.collect();
                field.text.push_str(&rest);
                field.pattern.push_str(&rest);
            }
            Variable::Pattern(..) | Variable::Unknown => field.unknown(divides),
        }
    }

    /// What a substitution gives, where that is plain: `cat` of a here-document, and `pwd`.
    fn known_output(&self, list: &'s List, state: &State) -> Option<String> {
        let [item] = list.items.as_slice() else {
            return None;
        };
        let [Node::Simple(simple)] = item.first.stages.as_slice() else {
            return None;
        };
        if !item.rest.is_empty()
            || item.is_background
            || item.first.is_negated
            || !simple.assignments.is_empty()
        {
            return None;
        }
        let [program] = simple.words.as_slice() else {
            return None;
        };
        match (program.bare()?, simple.redirects.as_slice()) {
            ("pwd", []) => match state.directories.as_deref() {
                Some([only]) => Some(only.clone()),
                _ => None,
            },
            ("cat", [redirect])
                if redirect.operator == Operator::Text && redirect.descriptor.is_none_or(|one| one == 0) =>
            {
                let Target::Document(number) = redirect.target else {
                    return None;
                };
                let document = self.script.documents.get(number)?;
                let value = self.single(document, state);
                Some(value.exact()?.trim_end_matches('\n').to_owned())
            }
            _ => None,
        }
    }

    /// Walks the commands in substitutions of words, and looks at what their arithmetic reads.
    pub(super) fn substitutions(&mut self, words: impl IntoIterator<Item = &'s Word>, state: &State) {
        for word in words {
            for part in &word.parts {
                match part {
                    Part::Substitution { list, .. } | Part::Process(list) => self.substitution(list, state),
                    Part::Arithmetic { names, .. } => {
                        let is_known = |name: &String| match state.variable(name) {
                            Some(Variable::Number) => true,
                            Some(Variable::Exact(text)) => {
                                !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit())
                            }
                            _ => false,
                        };
                        if !names.iter().all(is_known) {
                            self.fault(word.place, Construct::Arithmetic);
                        }
                    }
                    Part::Tilde if !is_first(word, part) && !is_assignment(word) => {
                        self.fault(word.place, Construct::ShellsDiffer("`~` within a word"));
                    }
                    _ => {}
                }
            }
            if has_braces(&word.parts) && braces(&word.parts.iter().collect::<Vec<_>>()).is_none() {
                self.fault(word.place, Construct::ShellsDiffer("braces of this form"));
            }
        }
    }

    fn substitution(&mut self, list: &'s List, state: &State) {
        let joiner = std::mem::take(&mut self.joiner);
        self.inside(|within| within.substitution = true, |walk| walk.list(list, state));
        self.joiner = joiner;
    }
}

fn escaped(text: &str) -> String {
    let mut field = Field::default();
    field.add(text);
    field.pattern
}

fn is_first(word: &Word, part: &Part) -> bool {
    word.parts.first().is_some_and(|first| std::ptr::eq(first, part))
}

/// The value of an assignment begins where `~` may stand; its name is gone.
fn is_assignment(word: &Word) -> bool {
    let length: usize = word
        .parts
        .iter()
        .map(|part| match part {
            Part::Bare(text) => text.len(),
            Part::Tilde => 1,
            _ => 0,
        })
        .sum();
    let plain = word
        .parts
        .iter()
        .all(|part| matches!(part, Part::Bare(_) | Part::Tilde));
    plain && length < word.place.end - word.place.start
}

/// Returns `true` if a `{` is followed by a `,` or by `..`, so that bash and zsh may make several words of it.
fn has_braces(parts: &[Part]) -> bool {
    let mut is_open = false;
    for part in parts {
        match part {
            Part::Open => is_open = true,
            Part::Comma if is_open => return true,
            Part::Bare(text) if is_open && text.contains("..") => return true,
            _ => {}
        }
    }
    false
}

/// The words that braces stand for, or `None` if they are nested, do not end, count, or may be nothing.
fn braces<'p>(parts: &[&'p Part]) -> Option<Vec<Vec<&'p Part>>> {
    let mut words: Vec<Vec<&Part>> = vec![Vec::new()];
    let mut rest = parts.iter();
    let mut is_odd = false;
    while let Some(part) = rest.next() {
        if is_odd && matches!(part, Part::Comma | Part::Close) {
            // bash takes `{a},b}` for `a}` and `b`.
            return None;
        }
        if !matches!(part, Part::Open) {
            words.iter_mut().for_each(|word| word.push(part));
            continue;
        }
        let mut alternatives: Vec<Vec<&Part>> = vec![Vec::new()];
        let mut is_closed = false;
        for inner in rest.by_ref() {
            match inner {
                Part::Open => return None,
                Part::Close => {
                    is_closed = true;
                    break;
                }
                Part::Comma => alternatives.push(Vec::new()),
                // Ranges are text to this reader: their words do not stand in it.
                Part::Bare(text) if text.contains("..") => return None,
                inner => alternatives.last_mut()?.push(inner),
            }
        }
        if !is_closed {
            return None;
        }
        // `{}` and `{name}` are themselves.
        if let [only] = alternatives.as_slice() {
            is_odd = true;
            for word in &mut words {
                word.push(&Part::Open);
                word.extend(only);
                word.push(&Part::Close);
            }
            continue;
        }
        if words.len() * alternatives.len() > MAX_BRACES {
            return None;
        }
        words = words
            .iter()
            .flat_map(|word| {
                alternatives
                    .iter()
                    .map(move |more| word.iter().chain(more).copied().collect())
            })
            .collect();
    }
    // zsh keeps a word that is empty, where bash drops it.
    let is_told = |part: &&Part| matches!(part, Part::Bare(_) | Part::Quoted(_) | Part::Glob(_) | Part::Open);
    words.iter().all(|word| word.iter().any(is_told)).then_some(words)
}

/// Each simple command in a node, those of its substitutions left out: they run in subshells.
pub(super) fn each_of<'s>(list: &'s List, found: &mut impl FnMut(&'s Simple)) {
    for item in &list.items {
        let pipelines = std::iter::once(&item.first).chain(item.rest.iter().map(|(_, one)| one));
        for node in pipelines.flat_map(|pipeline| &pipeline.stages) {
            each_in(node, found);
        }
    }
}

pub(super) fn each_in<'s>(node: &'s Node, found: &mut dyn FnMut(&'s Simple)) {
    let mut visit = |list: &'s List| each_of(list, &mut |simple| found(simple));
    match node {
        Node::Simple(simple) => found(simple),
        Node::Test(..) => {}
        Node::Compound(compound, ..) => match compound {
            Compound::Subshell(list) | Compound::Group(list) | Compound::For(_, _, list) => visit(list),
            Compound::If(branches, otherwise) => {
                for (condition, list) in branches {
                    visit(condition);
                    visit(list);
                }
                otherwise.iter().for_each(visit);
            }
            Compound::Loop(condition, list) => {
                visit(condition);
                visit(list);
            }
            Compound::Case(_, arms) => arms.iter().for_each(|(_, list)| visit(list)),
        },
    }
}

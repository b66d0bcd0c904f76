//! The table as it is written: JSON, read with the place of every fault.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::program::{Case, Input, Program, Slot, Style};
use super::role::Role;

/// What is wrong with a value of a document, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// The way to the value from the document.
    pub place: Vec<Step>,
    /// What is wrong.
    pub fault: TableFault,
}

/// A step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The member with this key.
    Key(String),
    /// The item at this place, from 0.
    Item(usize),
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableFault {
    /// It has a member whose key is none of these.
    UnknownKey(&'static [&'static str]),
    /// It lacks this member.
    Missing(&'static str),
    /// It is not this.
    WrongType(&'static str),
    /// It has a word that is none of those that are known.
    UnknownWord(String, Vec<&'static str>),
    /// It has a meaning that cannot be, for this reason.
    Invalid(String),
}

/// The keys of a document, of a program in it, and of what belongs to one.
pub mod keys {
    /// The document.
    pub const PROGRAMS: &[&str] = &["programs", "variables"];
    /// Names of variables.
    pub const VARIABLES: &[&str] = &["harmless", "influential"];
    /// A program.
    pub const PROGRAM: &[&str] = &[
        "names",
        "flags",
        "values",
        "optional",
        "pairs",
        "operands",
        "cases",
        "absent",
        "implied",
        "tree",
        "without",
        "leavesOut",
        "hidden",
        "into",
        "last",
        "style",
        "number",
        "isHarmless",
        "runs",
        "input",
        "commands",
    ];
    /// What is different with some options.
    pub const CASE: &[&str] = &[
        "with", "and", "alone", "operands", "values", "absent", "implied", "tree", "runs",
    ];
}

const STYLES: &[(&str, Style)] = &[
    ("gnu", Style::Gnu),
    ("posix", Style::Posix),
    ("words", Style::Words),
    ("plain", Style::Plain),
    ("bundle", Style::Bundle),
    ("bsd", Style::Bsd),
    ("letters", Style::Letters),
    ("apart", Style::Apart),
];

const INPUTS: &[(&str, Input)] = &[("script", Input::Script), ("code", Input::Code)];

/// The most cases of a program: each is held against the options of a command.
const MAX_CASES: usize = 64;

/// A document that was read, without what has faults.
#[derive(Default)]
pub(super) struct Document<'v> {
    pub(super) programs: Vec<Described<'v>>,
    pub(super) harmless: Vec<Name<'v>>,
    pub(super) influential: Vec<Name<'v>>,
    pub(super) faults: Vec<TableError>,
}

/// A program with its names.
pub(super) struct Described<'v> {
    pub(super) names: Vec<Name<'v>>,
    pub(super) program: Program,
    /// It says whether it runs what its arguments or files say.
    pub(super) says_runs: bool,
}

/// A name, and where it stands.
pub(super) struct Name<'v> {
    place: Vec<At<'v>>,
    pub(super) text: &'v str,
}

impl Name<'_> {
    pub(super) fn fault(&self, why: String) -> TableError {
        error(&self.place, TableFault::Invalid(why))
    }
}

/// A step on the way to what is read.
#[derive(Clone, Copy)]
enum At<'v> {
    Key(&'v str),
    Item(usize),
}

fn error(place: &[At<'_>], fault: TableFault) -> TableError {
    let steps = place.iter().map(|step| match step {
        At::Key(key) => Step::Key((*key).to_owned()),
        At::Item(at) => Step::Item(*at),
    });
    TableError {
        place: steps.collect(),
        fault,
    }
}

pub(super) fn read(document: &Value) -> Document<'_> {
    let (mut reader, mut found) = (Reader::default(), Document::default());
    let Some(members) = reader.object(document, keys::PROGRAMS) else {
        found.faults = reader.faults;
        return found;
    };
    found.programs = reader.items(members, "programs", |reader, value| {
        let members = reader.object(value, keys::PROGRAM)?;
        if !members.contains_key("names") {
            reader.fault(TableFault::Missing("names"));
        }
        let names = reader.names(members, "names");
        let program = reader.program(members);
        Some(Described {
            names,
            program,
            says_runs: members.contains_key("runs"),
        })
    });
    reader.member(members, "variables", |reader, value| {
        let members = reader.object(value, keys::VARIABLES)?;
        found.harmless = reader.names(members, "harmless");
        found.influential = reader.names(members, "influential");
        Some(())
    });
    found.faults = reader.faults;
    found
}

type Members = Map<String, Value>;

#[derive(Default)]
struct Reader<'v> {
    place: Vec<At<'v>>,
    faults: Vec<TableError>,
}

impl<'v> Reader<'v> {
    fn fault(&mut self, fault: TableFault) {
        self.faults.push(error(&self.place, fault));
    }

    fn invalid(&mut self, why: impl Into<String>) {
        self.fault(TableFault::Invalid(why.into()));
    }

    fn wrong<T>(&mut self, expected: &'static str) -> Option<T> {
        self.fault(TableFault::WrongType(expected));
        None
    }

    /// Reads the value of a key, if the key is there.
    fn member<T>(
        &mut self,
        members: &'v Members,
        key: &'v str,
        read: impl FnOnce(&mut Self, &'v Value) -> Option<T>,
    ) -> Option<T> {
        let value = members.get(key)?;
        self.place.push(At::Key(key));
        let found = read(self, value);
        self.place.pop();
        found
    }

    /// Reads each item of an array; those with a fault are left out.
    fn items<T>(
        &mut self,
        members: &'v Members,
        key: &'v str,
        mut read: impl FnMut(&mut Self, &'v Value) -> Option<T>,
    ) -> Vec<T> {
        let found = self.member(members, key, |reader, value| {
            let Some(items) = value.as_array() else {
                return reader.wrong("an array");
            };
            let mut found = Vec::new();
            for (at, item) in items.iter().enumerate() {
                reader.place.push(At::Item(at));
                found.extend(read(reader, item));
                reader.place.pop();
            }
            Some(found)
        });
        found.unwrap_or_default()
    }

    fn object(&mut self, value: &'v Value, known: &'static [&'static str]) -> Option<&'v Members> {
        let Some(members) = value.as_object() else {
            return self.wrong("an object");
        };
        let is_known = |key: &str| known.contains(&key) || key == "$schema" && self.place.is_empty();
        if members.keys().any(|key| !is_known(key)) {
            self.fault(TableFault::UnknownKey(known));
        }
        Some(members)
    }

    fn text(&mut self, members: &'v Members, key: &'v str) -> Option<&'v str> {
        self.member(members, key, |reader, value| match value.as_str() {
            Some(text) => Some(text),
            None => reader.wrong("a string"),
        })
    }

    fn flag(&mut self, members: &'v Members, key: &'v str) -> Option<bool> {
        self.member(members, key, |reader, value| match value.as_bool() {
            Some(flag) => Some(flag),
            None => reader.wrong("`true` or `false`"),
        })
    }

    /// Names that are not empty, with their places.
    fn names(&mut self, members: &'v Members, key: &'v str) -> Vec<Name<'v>> {
        self.items(members, key, |reader, value| match value.as_str() {
            Some(name) if !name.is_empty() => Some(Name {
                place: reader.place.clone(),
                text: name,
            }),
            _ => reader.wrong("a name"),
        })
    }

    fn word<T: Copy>(
        &mut self,
        members: &'v Members,
        key: &'v str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.text(members, key)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let words = words.iter().map(|(word, _)| *word).collect();
            self.member(members, key, |reader, _| {
                reader.fault(TableFault::UnknownWord(text.to_owned(), words));
                Some(())
            });
        }
        found.map(|(_, value)| *value)
    }

    /// A program, or a command of one.
    fn program(&mut self, members: &'v Members) -> Program {
        let style = self.word(members, "style", STYLES).unwrap_or_default();
        let mut program = Program {
            style,
            flags: self.options(members, "flags", style),
            values: self.roles(members, "values", style),
            optional: self.roles(members, "optional", style),
            pairs: self.roles(members, "pairs", style),
            ordinary: Case {
                operands: self.slots(members).unwrap_or_default(),
                absent: self.path_role(members, "absent"),
                implied: self.path_role(members, "implied"),
                is_tree: self.flag(members, "tree").unwrap_or_default(),
                runs: self.flag(members, "runs").unwrap_or_default(),
                ..Case::default()
            },
            number: self.flag(members, "number").unwrap_or_default(),
            is_harmless: self.flag(members, "isHarmless").unwrap_or_default(),
            input: self.word(members, "input", INPUTS),
            without: self.text(members, "without").map(str::to_owned),
            into: self.flag(members, "into").unwrap_or_default(),
            ..Program::default()
        };
        if program.optional.values().any(|role| *role == Role::CommandTo) {
            self.invalid("the value of an option in `optional` is in one word, and a command is not");
        }
        if let Some(double) = program.double() {
            self.invalid(format!("the option `{double}` is given twice"));
        }
        program.last = self.known_options(members, "last", &program);
        program.leaves_out = self.known_options(members, "leavesOut", &program);
        program.hidden = self.known_options(members, "hidden", &program);
        program.cases = self.items(members, "cases", |reader, value| {
            let members = reader.object(value, keys::CASE)?;
            Some(reader.case(members, &program))
        });
        if program.cases.len() > MAX_CASES {
            self.invalid(format!("a program has at most {MAX_CASES} cases"));
        }
        self.member(members, "commands", |reader, value| {
            let Some(commands) = value.as_object() else {
                return reader.wrong::<()>("an object");
            };
            for names in commands.keys() {
                reader.member(commands, names, |reader, value| {
                    let (_, known) = keys::PROGRAM.split_first()?;
                    let members = reader.object(value, known)?;
                    let command = Arc::new(reader.program(members));
                    let names = names.split_whitespace().map(str::to_owned);
                    program
                        .commands
                        .extend(names.map(|name| (name, Arc::clone(&command))));
                    Some(())
                });
            }
            None
        });
        program
    }

    fn case(&mut self, members: &'v Members, program: &Program) -> Case {
        let sets = ["with", "and"].map(|key| self.known_options(members, key, program));
        if !members.contains_key("with") {
            self.fault(TableFault::Missing("with"));
        } else if sets.first().is_none_or(BTreeSet::is_empty) {
            self.invalid("a case without options in `with` would always apply");
        }
        let values = self.roles(members, "values", program.style);
        if values.keys().any(|option| !program.has_option(option)) {
            self.invalid("the `values` of a case are those of options of the program");
        }
        let ordinary = &program.ordinary;
        Case {
            with: sets.into_iter().filter(|set| !set.is_empty()).collect(),
            is_alone: self.flag(members, "alone").unwrap_or_default(),
            operands: self.slots(members).unwrap_or_else(|| ordinary.operands.clone()),
            values,
            absent: self.path_role(members, "absent").or(ordinary.absent),
            implied: self.path_role(members, "implied").or(ordinary.implied),
            is_tree: self.flag(members, "tree").unwrap_or(ordinary.is_tree),
            runs: self.flag(members, "runs").unwrap_or(ordinary.runs),
        }
    }

    /// Options that stand in one text.
    fn options(&mut self, members: &'v Members, key: &'v str, style: Style) -> BTreeSet<String> {
        let text = self.text(members, key).unwrap_or_default();
        let found: BTreeSet<String> = split(text, style).collect();
        self.member(members, key, |reader, _| {
            reader.check_options(&found, style);
            Some(())
        });
        found
    }

    fn check_options(&mut self, options: &BTreeSet<String>, style: Style) {
        let is_odd =
            |option: &&String| style != Style::Words && (option.len() < 2 || !option.starts_with('-'));
        if let Some(odd) = options.iter().find(is_odd) {
            self.invalid(format!("`{odd}` is no option, which begins with `-`"));
        }
    }

    /// The same of options that the program has. One that it does not have is misspelled, and would never be given.
    fn known_options(&mut self, members: &'v Members, key: &'v str, program: &Program) -> BTreeSet<String> {
        let found = self.options(members, key, program.style);
        if let Some(unknown) = found.iter().find(|option| !program.has_option(option)) {
            self.member(members, key, |reader, _| {
                reader.invalid(format!("the program has no option `{unknown}`"));
                Some(())
            });
        }
        found
    }

    /// Options with the roles of their values.
    fn roles(&mut self, members: &'v Members, key: &'v str, style: Style) -> BTreeMap<String, Role> {
        let mut found = BTreeMap::new();
        self.member(members, key, |reader, value| {
            let Some(roles) = value.as_object() else {
                return reader.wrong::<()>("an object");
            };
            for options in roles.keys() {
                let role = reader.text(roles, options)?;
                reader.member(roles, options, |reader, _| {
                    let options: BTreeSet<String> = split(options, style).collect();
                    reader.check_options(&options, style);
                    let role = reader.role(role, "the value of an option", Role::is_of_option)?;
                    for option in options {
                        match found.entry(option) {
                            Entry::Vacant(free) => {
                                free.insert(role);
                            }
                            Entry::Occupied(known) => {
                                reader.invalid(format!("the option `{}` is given twice", known.key()));
                            }
                        }
                    }
                    Some(())
                });
            }
            None
        });
        found
    }

    /// The role of the working directory.
    fn path_role(&mut self, members: &'v Members, key: &'v str) -> Option<Role> {
        let name = self.text(members, key)?;
        self.member(members, key, |reader, _| {
            reader.role(name, "a directory", Role::is_path)
        })
    }

    fn role(&mut self, name: &str, of: &str, is_allowed: impl Fn(Role) -> bool) -> Option<Role> {
        let found = Role::find(name);
        match found {
            Some(role) if is_allowed(role) => return found,
            Some(_) => self.invalid(format!("`{name}` is not a role of {of}")),
            None => self.fault(TableFault::UnknownWord(name.to_owned(), Role::names())),
        }
        None
    }

    /// The roles of operands, in order.
    fn slots(&mut self, members: &'v Members) -> Option<Vec<Slot>> {
        let text = self.text(members, "operands")?;
        self.member(members, "operands", |reader, _| {
            let mut found: Vec<Slot> = Vec::new();
            for word in text.split_whitespace() {
                let (name, mark) = match word.char_indices().next_back() {
                    Some((at, mark @ ('?' | '*' | '+'))) => (word.get(..at).unwrap_or_default(), mark),
                    _ => (word, ' '),
                };
                if Role::find(name).is_none() {
                    reader.invalid(format!("`{name}` is no role"));
                    continue;
                }
                let role = reader.role(name, "an operand", Role::is_of_operand);
                found.extend(role.map(|role| Slot {
                    role,
                    is_optional: matches!(mark, '?' | '*'),
                    is_many: matches!(mark, '*' | '+'),
                }));
            }
            if found.iter().filter(|slot| slot.is_many).count() > 1 {
                reader.invalid("it has two places for any number of operands");
            }
            if found.len() > 1 && found.iter().any(|slot| slot.role == Role::Expression) {
                reader.invalid("an `expression` is all operands");
            }
            if found.iter().skip(1).any(|slot| slot.role == Role::Format) {
                reader.invalid("a `format` is the first operand");
            }
            Some(found)
        })
    }
}

/// The options in a text: `-ab --all` are three.
fn split(text: &str, style: Style) -> impl Iterator<Item = String> {
    text.split_whitespace().flat_map(move |word| {
        let letters = word.strip_prefix('-');
        let letters = letters.filter(|letters| style != Style::Words && !letters.starts_with('-'));
        let short = letters.into_iter().flat_map(str::chars);
        let whole = letters.is_none_or(str::is_empty).then(|| word.to_owned());
        short.map(|one| String::from_iter(['-', one])).chain(whole)
    })
}

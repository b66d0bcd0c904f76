//! The table, ready to be asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::entry::{Entry, File, Input, Style, Variables};
use super::files::FILES;
use super::role::Role;

/// The programs that are known.
#[derive(Clone, Debug, Default)]
pub struct Table {
    programs: BTreeMap<String, Program>,
    harmless: Vec<String>,
    influential: Vec<String>,
}

/// Why a table cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError(String);

impl fmt::Display for TableError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for TableError {}

/// A program, or a command of one.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) flags: BTreeSet<String>,
    pub(super) values: BTreeMap<String, Role>,
    pub(super) optional: BTreeMap<String, Role>,
    /// The options after which only operands follow.
    pub(super) last: BTreeSet<String>,
    pub(super) ordinary: Case,
    pub(super) cases: Vec<Case>,
    pub(super) style: Style,
    pub(super) number: bool,
    pub(super) is_harmless: bool,
    pub(super) input: Option<Input>,
    /// What leaves something out of a tree whose contents it reads; `None` where it reads none.
    pub(super) without: Option<String>,
    /// The options whose values are the names that are left out.
    pub(super) leaves_out: BTreeSet<String>,
    /// The options with which it reads hidden files; without such options it always does.
    pub(super) hidden: BTreeSet<String>,
    /// Where the last operand is a directory, the others mean what has their name in it.
    pub(super) into: bool,
    pub(super) commands: BTreeMap<String, Program>,
}

/// The roles of operands.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    /// It applies where one of each of these sets is given.
    with: Vec<BTreeSet<String>>,
    pub(super) operands: Vec<Slot>,
    /// The roles of values of options, where they differ.
    pub(super) values: BTreeMap<String, Role>,
    pub(super) absent: Option<Role>,
    pub(super) implied: Option<Role>,
    pub(super) is_tree: bool,
    pub(super) runs: bool,
}

impl Program {
    /// What counts with these options.
    pub(super) fn case(&self, options: &[String]) -> &Case {
        let applies = |case: &&Case| {
            case.with
                .iter()
                .all(|set| options.iter().any(|option| set.contains(option)))
        };
        self.cases.iter().find(applies).unwrap_or(&self.ordinary)
    }
}

/// A place for operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) role: Role,
    pub(super) is_optional: bool,
    pub(super) is_many: bool,
}

impl Table {
    /// The table that comes with this crate. Tests read each of its files.
    #[must_use]
    pub fn builtin() -> Self {
        let mut table = Self::default();
        for text in FILES {
            // A file that cannot be read has no programs, so that none of its is understood.
            let _ = table.add(text);
        }
        table
    }

    /// The files of the table that comes with this crate.
    #[must_use]
    pub fn files() -> &'static [&'static str] {
        FILES
    }

    /// Adds the programs of a file; a name that is there already gets the new entry.
    ///
    /// # Errors
    /// The text is not JSON, has a key or a role that is not known, or an entry has operands whose roles cannot be told apart.
    pub fn add(&mut self, text: &str) -> Result<(), TableError> {
        let file: File = serde_json::from_str(text).map_err(|error| TableError(error.to_string()))?;
        for entry in file.programs {
            let program = program(&entry)?;
            for name in &entry.names {
                self.programs.insert(name.clone(), program.clone());
            }
        }
        let Variables {
            harmless,
            influential,
        } = file.variables;
        self.harmless.extend(harmless);
        self.influential.extend(influential);
        Ok(())
    }

    /// The names of the programs, in the order of the alphabet.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.programs.keys().map(String::as_str)
    }

    pub(super) fn find(&self, name: &str) -> Option<&Program> {
        self.programs.get(name)
    }

    /// Returns `true` if programs may be given the variable.
    pub(super) fn is_harmless(&self, name: &str) -> bool {
        is_among(&self.harmless, name)
    }

    /// Returns `true` if the variable decides what runs or what is read.
    pub(super) fn is_influential(&self, name: &str) -> bool {
        is_among(&self.influential, name) && !self.is_harmless(name)
    }
}

fn is_among(names: &[String], name: &str) -> bool {
    names.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == known,
    })
}

fn program(entry: &Entry) -> Result<Program, TableError> {
    let style = entry.style;
    let mut commands = BTreeMap::new();
    for (names, inner) in &entry.commands {
        let inner = program(inner)?;
        for name in names.split(' ') {
            commands.insert(name.to_owned(), inner.clone());
        }
    }
    let ordinary = Case {
        with: Vec::new(),
        operands: slots(entry.operands.as_deref().unwrap_or_default())?,
        values: BTreeMap::new(),
        absent: optional_role(entry.absent.as_deref())?,
        implied: optional_role(entry.implied.as_deref())?,
        is_tree: entry.tree,
        runs: entry.runs,
    };
    let cases = entry.cases.iter().map(|case| {
        let inherited = ordinary.clone();
        let sets = [&case.with, &case.and].into_iter().filter(|set| !set.is_empty());
        let with = sets.map(|set| names(set, style).into_iter().collect());
        Ok(Case {
            with: with.collect(),
            operands: match &case.operands {
                Some(operands) => slots(operands)?,
                None => inherited.operands,
            },
            values: roles(&case.values, style)?,
            absent: optional_role(case.absent.as_deref())?.or(inherited.absent),
            implied: optional_role(case.implied.as_deref())?.or(inherited.implied),
            is_tree: case.tree.unwrap_or(inherited.is_tree),
            runs: case.runs.unwrap_or(inherited.runs),
        })
    });
    Ok(Program {
        flags: names(&entry.flags, style).into_iter().collect(),
        values: roles(&entry.values, style)?,
        optional: roles(&entry.optional, style)?,
        last: names(&entry.last, style).into_iter().collect(),
        cases: cases.collect::<Result<_, TableError>>()?,
        ordinary,
        style,
        number: entry.number,
        is_harmless: entry.is_harmless,
        input: entry.input,
        without: entry.without.clone(),
        leaves_out: names(&entry.leaves_out, style).into_iter().collect(),
        hidden: names(&entry.hidden, style).into_iter().collect(),
        into: entry.into,
        commands,
    })
}

/// The options in a list of the table: `-ab --all` are three.
fn names(list: &str, style: Style) -> Vec<String> {
    let mut found = Vec::new();
    for word in list.split_whitespace() {
        match word.strip_prefix('-') {
            Some(letters) if style != Style::Words && !letters.starts_with('-') => {
                found.extend(letters.chars().map(|one| format!("-{one}")));
            }
            _ => found.push(word.to_owned()),
        }
    }
    found
}

fn roles(list: &BTreeMap<String, String>, style: Style) -> Result<BTreeMap<String, Role>, TableError> {
    let mut found = BTreeMap::new();
    for (options, name) in list {
        let role = role(name)?;
        found.extend(names(options, style).into_iter().map(|option| (option, role)));
    }
    Ok(found)
}

fn role(name: &str) -> Result<Role, TableError> {
    Role::find(name).ok_or_else(|| TableError(format!("`{name}` is no role")))
}

fn optional_role(name: Option<&str>) -> Result<Option<Role>, TableError> {
    name.map(role).transpose()
}

fn slots(list: &str) -> Result<Vec<Slot>, TableError> {
    let mut found = Vec::new();
    for word in list.split_whitespace() {
        let name = word.trim_end_matches(['?', '*', '+']);
        let mark = word.get(name.len()..).unwrap_or_default();
        found.push(Slot {
            role: role(name)?,
            is_optional: matches!(mark, "?" | "*"),
            is_many: matches!(mark, "*" | "+"),
        });
    }
    if found.iter().filter(|slot| slot.is_many).count() > 1 {
        return Err(TableError(format!("`{list}` has two places for many operands")));
    }
    Ok(found)
}

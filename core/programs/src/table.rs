//! The table, ready to be asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::document::{self, Document, TableError};
use super::files::FILES;
use super::program::Program;
use callgate_shell::is_builtin;

/// The programs that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    programs: BTreeMap<String, Arc<Program>>,
    harmless: Vec<String>,
    influential: Vec<String>,
}

impl Table {
    /// The table that comes with this crate. Tests read each of its files.
    #[must_use]
    pub fn builtin() -> Self {
        let mut table = Self::default();
        for text in FILES {
            // A file that cannot be read has no programs, so that none of its is understood.
            let text = serde_json::from_str(text).unwrap_or(Value::Null);
            table.take(document::read(&text));
        }
        table
    }

    /// The files of the table that comes with this crate.
    #[must_use]
    pub fn files() -> &'static [&'static str] {
        FILES
    }

    /// Adds the programs of a document that people wrote; a name that is there already gets the new entry. Returns what is wrong
    /// with it: a table with such a document is not to be used.
    pub fn add(&mut self, document: &Value) -> Vec<TableError> {
        let mut document = document::read(document);
        let mut faults = std::mem::take(&mut document.faults);
        for entry in &document.programs {
            let names = entry.names.iter();
            faults
                .extend(names.filter_map(|name| Some(name.fault(self.refusal(name.text, entry.says_runs)?))));
        }
        let own = document.influential.iter().map(|name| name.text);
        let influential: Vec<&str> = self.influential.iter().map(String::as_str).chain(own).collect();
        for name in &document.harmless {
            let covered = influential.iter().find(|known| covers(name.text, known));
            let why = |known| format!("it covers `{known}`, which decides what runs or what is read");
            faults.extend(covered.map(|known| name.fault(why(known))));
        }
        self.take(document);
        faults
    }

    /// Why people may not say what this program does.
    fn refusal(&self, name: &str, says_runs: bool) -> Option<String> {
        let is_odd = |one: char| one == '/' || one.is_whitespace() || one.is_control();
        if name.contains(is_odd) || name.starts_with('-') {
            return Some("expected the name of a program, without its directory".to_owned());
        }
        if is_builtin(name) {
            return Some("shells have a command of their own by this name".to_owned());
        }
        // `python3.13` is an interpreter like `python`.
        let stem = name.trim_end_matches(|one: char| one.is_ascii_digit() || matches!(one, '.' | '-'));
        let runs = [name, stem].into_iter().find(|name| {
            let known = self.find(&name.to_ascii_lowercase());
            known.is_some_and(Program::may_run)
        });
        runs.filter(|_| !says_runs).map(|known| {
            format!("`{known}` is known to run what its arguments or files say, expected `runs` in its entry")
        })
    }

    fn take(&mut self, document: Document<'_>) {
        for entry in document.programs {
            let program = Arc::new(entry.program);
            let names = entry.names.into_iter();
            self.programs
                .extend(names.map(|name| (name.text.to_owned(), Arc::clone(&program))));
        }
        self.harmless
            .extend(document.harmless.iter().map(|name| name.text.to_owned()));
        self.influential
            .extend(document.influential.iter().map(|name| name.text.to_owned()));
    }

    /// The names of the programs, in the order of the alphabet.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.programs.keys().map(String::as_str)
    }

    pub(super) fn find(&self, name: &str) -> Option<&Program> {
        self.programs.get(name).map(Arc::as_ref)
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

/// Returns `true` if a pattern of names has another one, or a part of it, in it.
fn covers(pattern: &str, known: &str) -> bool {
    let Some(start) = pattern.strip_suffix('*') else {
        return false;
    };
    match known.strip_suffix('*') {
        Some(known) => known.starts_with(start) || start.starts_with(known),
        None => known.starts_with(start),
    }
}

//! What programs do with their arguments: a table, and the roles that it gives to the words of a command.
//!
//! ```
//! use callgate_programs::{Role, Table, describe};
//! use callgate_shell::{Surroundings, read};
//!
//! let reading = read("cd src && cp a.rs ../b.rs", &Surroundings { directory: "/repo", home: "/home/u" });
//! let described = describe(&reading, &Table::builtin(), "/home/u");
//! assert!(described.not_understood.is_empty());
//! let [_, copy] = described.invocations.as_slice() else { panic!() };
//! let [from, to, _in_it] = copy.operands.as_slice() else { panic!() };
//! assert_eq!((from.role, from.paths()), (Role::ReadPath, vec!["/repo/src/a.rs".to_owned()]));
//! assert_eq!((to.role, to.paths()), (Role::WritePath, vec!["/repo/src/../b.rs".to_owned()]));
//! ```
//!
//! The table is JSON, `table/*.json` here; `programs.schema.json` is its schema. An entry has
//!
//! - `names` of the program, and `commands` of those that have commands in turn (`git push`), each an entry;
//! - `flags`: the options without a value. Letters of short ones may stand together: `"-lah --all"`;
//! - `values`: options with a value, and its role: `{"-o --output": "write-path"}`; `optional`: those whose value has to be in the same word;
//! - `pairs`: options with a name, which is data and a word of its own, and a value;
//! - `operands`: the roles of what is no option, in order. `?` marks one that may be absent, `*` any number and `+` at least one;
//! - `cases`: what is different where one of the options in `with` is given (and one of `and`; with `alone` no operand); the first that
//!   applies counts;
//! - `absent`: the role of the working directory where no path is given; `implied`: its role in any case;
//! - `tree`: everything below the paths is read or changed too. Where its contents are printed or copied, `without` says what leaves
//!   something out; the values of the options `leavesOut` are the names that are, and hidden files are unless one of the options
//!   `hidden` is given;
//! - `style`: `gnu` (options stand anywhere), `posix` (before operands), `words` (an option is a word with one dash, and is never divided),
//!   `plain` (there are none), `bsd` (as `gnu`, and on other systems what follows an operand is operands), `bundle` (as `gnu`, and the first operand may be options without a dash);
//! - `into`: where the last operand is a directory, the others mean what has their name in it;
//! - `last`: options after which only operands follow (`python -m`);
//! - `number`: `-5` is an option; `isHarmless`: no option, known or not, opens or runs anything, so that names which begin with `-` do no harm;
//! - `runs`: the program runs what its arguments or its files say; `input`: without operands it runs what it reads, as a `script` of a shell or
//!   as other `code`.
//!
//! An option that is not in the table makes a command not understood, and so does a shortened long one.
//!
//! The engine judges what is described here in `core/engine/src/judge/commands.rs`, by its own roles: [`Role`] has a few more,
//! of which it makes those.

mod assign;
mod awk;
mod beside;
mod command;
mod contents;
mod document;
mod expression;
mod files;
mod git;
mod into;
mod nested;
mod operand;
mod options;
mod program;
mod role;
mod sed;
mod table;
mod variable;

use callgate_shell::{NotUnderstood, Place};
use callgate_shell::{Reading, Value};

pub use document::{Step, TableError, TableFault, keys};
pub use files::SCHEMA;
pub use role::Role;
pub use table::Table;

/// What the commands of a text do, as far as it is understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// In the order of the text; a program that runs another stands before it.
    pub invocations: Vec<Invocation>,
    /// What was not understood, of the text and of its commands.
    pub not_understood: Vec<NotUnderstood>,
}

/// A program that runs, with the roles of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Where its command stands.
    pub place: Place,
    /// The program's name, or its path as it is written; empty for redirections and assignments alone.
    pub program: String,
    /// The commands of the program: `remote`, `add`.
    pub commands: Vec<String>,
    /// What it touches: its operands, the values of its options, and the files of its redirections.
    pub operands: Vec<Operand>,
    /// Whether it runs what its arguments or files say.
    pub runs: bool,
    /// The working directories that it may run in.
    pub directories: Option<Vec<String>>,
}

/// A value with its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its role.
    pub role: Role,
    /// Its value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
    /// The directories that it may be relative to.
    pub directories: Option<Vec<String>>,
    /// Everything below it is meant too.
    pub is_tree: bool,
    /// What is left out of it, where the program reads or copies the contents of a tree.
    pub contents: Option<Contents>,
    /// Other files arrive there under names that match: the value is a pattern, and what it matches is not there yet.
    pub arrives: bool,
    /// It is a file to one kind of the program alone, and one that is not there is not made.
    pub is_edited_if_there: bool,
}

/// A tree whose contents are read or copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// What leaves something out, as people write it: `--exclude`.
    pub without: Option<String>,
    /// Patterns of the names that are left out; those that end with `/` are of directories, and one that begins with `/` is a path
    /// below the tree.
    pub left_out: Vec<String>,
    /// Patterns of the only names of files that are read; all where there are none.
    pub taken_in: Option<Vec<String>>,
    /// Whether names that begin with `.` are read.
    pub hidden: Hidden,
    /// Whether what git ignores is read.
    pub ignored: Ignored,
}

/// What a program does with names that git's ignore files exclude.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignored {
    /// It reads them.
    #[default]
    Read,
    /// It skips them as git does.
    SkippedByGit,
    /// It skips them as `rg` does: `.ignore` and `.rgignore` come before git's files, and what is named is read.
    SkippedByRipgrep,
}

/// What a program does with names that begin with `.`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hidden {
    /// It reads them.
    #[default]
    Read,
    /// It skips them.
    Skipped,
    /// It skips them unless a file such as `.ignore` names them.
    SkippedUnlessNamed,
}

impl Operand {
    /// The absolute paths that it may be, or that it begins with, as they are written: neither links nor `..` are resolved.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let (text, is_prefix) = match &self.value {
            Value::Exact(text) => (text.as_str(), false),
            Value::Pattern { before, .. } => (before.as_str(), true),
            Value::Pipe | Value::Unknown { .. } => return Vec::new(),
        };
        // The directory that names are looked for in.
        let text = if is_prefix {
            text.rfind('/')
                .map_or("", |at| text.get(..=at).unwrap_or_default())
        } else {
            text
        };
        if text.starts_with('/') {
            return vec![text.to_owned()];
        }
        let directories = self.directories.iter().flatten();
        directories
            .map(|directory| match (directory.trim_end_matches('/'), text) {
                (directory, "" | ".") => directory.to_owned(),
                (directory, text) => format!("{directory}/{text}"),
            })
            .collect()
    }
}

/// Says what the commands of a reading do. `home` is the home directory.
#[must_use]
pub fn describe(reading: &Reading, table: &Table, home: &str) -> Described {
    let mut describe = command::Describe::new(table, home);
    describe.reading(reading);
    describe.described
}

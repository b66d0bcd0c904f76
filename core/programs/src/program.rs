//! A program of the table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::role::Role;

/// A program, or a command of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) flags: BTreeSet<String>,
    pub(super) values: BTreeMap<String, Role>,
    pub(super) optional: BTreeMap<String, Role>,
    /// Options with a name, which is a word of its own, and a value.
    pub(super) pairs: BTreeMap<String, Role>,
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
    /// Names that share an entry share the program.
    pub(super) commands: BTreeMap<String, Arc<Program>>,
}

/// The roles of operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Case {
    /// It applies where one of each of these sets is given.
    pub(super) with: Vec<BTreeSet<String>>,
    /// And where no operand is.
    pub(super) is_alone: bool,
    pub(super) operands: Vec<Slot>,
    /// The roles of values of options, where they differ.
    pub(super) values: BTreeMap<String, Role>,
    pub(super) absent: Option<Role>,
    pub(super) implied: Option<Role>,
    pub(super) is_tree: bool,
    pub(super) runs: bool,
}

/// A place for operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) role: Role,
    pub(super) is_optional: bool,
    pub(super) is_many: bool,
}

/// How options are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    #[default]
    Gnu,
    Posix,
    Words,
    Plain,
    Bundle,
    Bsd,
    Letters,
    Apart,
}

/// What a program runs of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Script,
    Code,
}

impl Program {
    /// What counts with these options.
    pub(super) fn case(&self, options: &[String], has_operands: bool) -> &Case {
        let applies = |case: &&Case| {
            !(case.is_alone && has_operands)
                && case
                    .with
                    .iter()
                    .all(|set| options.iter().any(|option| set.contains(option)))
        };
        self.cases.iter().find(applies).unwrap_or(&self.ordinary)
    }

    pub(super) fn has_option(&self, option: &str) -> bool {
        let with_values = [&self.values, &self.optional, &self.pairs];
        self.flags.contains(option) || with_values.iter().any(|known| known.contains_key(option))
    }

    /// An option that is given twice.
    pub(super) fn double(&self) -> Option<&str> {
        let with_values = [&self.values, &self.optional, &self.pairs];
        let times = |option: &String| {
            let known = with_values.iter().filter(|known| known.contains_key(option));
            known.count() + usize::from(self.flags.contains(option))
        };
        let mut options = with_values.into_iter().flat_map(BTreeMap::keys);
        options.find(|option| times(option) > 1).map(String::as_str)
    }

    /// Returns `true` if it, or a command of it, runs what its arguments, its files or its input say.
    pub(super) fn may_run(&self) -> bool {
        let cases = || self.cases.iter().chain([&self.ordinary]);
        let of_operands = cases().flat_map(|case| case.operands.iter().map(|slot| slot.role));
        let of_cases = cases().flat_map(|case| case.values.values().copied());
        let of_options = [&self.values, &self.optional, &self.pairs].map(|roles| roles.values().copied());
        self.input.is_some()
            || cases().any(|case| case.runs)
            || of_operands
                .chain(of_cases)
                .chain(of_options.into_iter().flatten())
                .any(Role::runs)
            || self.commands.values().any(|command| command.may_run())
    }
}

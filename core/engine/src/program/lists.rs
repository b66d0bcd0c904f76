//! List conditions: emails, identifiers and domains, compared in the canonical form of the value's role.

use super::{DirectoryId, mailbox};
use crate::cost::{LISTED_BYTES, LOOK_UP};
use crate::net::DomainSet;
use crate::path::PathCase;
use crate::role::Step;
use crate::table::Set;

/// The entries of one list condition, ready to be compared.
pub enum ListMatcher {
    /// Patterns as in SPEC §3.
    Domains(DomainSet),
    /// E-mail addresses.
    Emails(Emails),
    /// Names, exactly.
    Identifiers(Identifiers),
}

/// Names as lists compare them.
#[derive(Clone, Debug)]
pub struct Identifiers {
    /// The entries in each canonical form that the roles of the condition have.
    pub sets: Vec<(Step, Entries)>,
    /// The branches that the entries name, where the condition looks at branches.
    branches: Entries,
    /// The same in the form that all spellings of a name share, where the condition restricts and paths ignore case.
    folded: Option<Entries>,
    /// The entries that are paths, where the condition restricts and looks at paths: a link means what it leads to.
    pub paths: Box<[DirectoryId]>,
}

impl Identifiers {
    /// The `entries`, canonical by each of the steps, paths as `lexical` has them; `branches` are those that they name.
    pub fn new<'a>(
        entries: &[&'a str],
        steps: &[Step],
        branches: impl IntoIterator<Item = &'a str>,
        lexical: impl Fn(&str) -> String,
    ) -> Self {
        let canonical = |step: &Step| {
            let canonical = |entry: &&str| match step {
                Step::Path => lexical(entry),
                step => step.apply(entry).into_owned(),
            };
            (*step, Entries::new(entries.iter().map(canonical)))
        };
        Self {
            sets: steps.iter().map(canonical).collect(),
            branches: Entries::new(branches.into_iter().map(str::to_owned)),
            folded: None,
            paths: Box::default(),
        }
    }

    /// Lets the entries mean every spelling that is the same file where paths ignore case: a branch is a file of its repository.
    pub fn fold_branches(&mut self) {
        let branches = self.branches.iter();
        let folded = branches.map(|branch| PathCase::Insensitive.fold_text(branch).into_owned());
        self.folded = Some(Entries::new(folded));
    }

    /// Returns `true` if an entry names the branch, or may where paths ignore case.
    pub fn may_name_branch(&self, branch: &str) -> bool {
        let holds = |entries: &Entries| entries.contains(&PathCase::Insensitive.fold_text(branch));
        self.name_branch(branch) || self.folded.as_ref().is_some_and(holds)
    }

    /// Returns `true` if an entry names the branch, in whatever spelling.
    pub fn name_branch(&self, branch: &str) -> bool {
        self.branches.contains(branch)
    }
}

/// E-mail addresses as a grant and as a restriction compare them.
#[derive(Clone, Debug)]
pub struct Emails {
    /// The entries as they are written, in lower case.
    written: Entries,
    /// The addresses that they name.
    addresses: Entries,
}

impl Emails {
    /// Returns `true` if a deny or escalate rule takes one of the addresses, as they may be read from a value, as listed.
    pub fn restrict_any(&self, addresses: &[String]) -> bool {
        addresses.iter().any(|address| self.addresses.contains(address))
    }

    /// The entries as they are written, and the addresses that they name.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.written.iter().chain(self.addresses.iter())
    }

    pub fn new<'a>(entries: impl Iterator<Item = &'a str> + Clone) -> Self {
        Self {
            written: Entries::new(entries.clone().map(mailbox::fold)),
            addresses: Entries::new(entries.flat_map(mailbox::named)),
        }
    }
}

/// A set of strings.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    set: Set<Box<str>>,
    /// The bytes of the longest entry. A longer value is not even hashed.
    longest: usize,
}

impl Entries {
    pub fn new(entries: impl IntoIterator<Item = String>) -> Self {
        let set: Set<Box<str>> = entries.into_iter().map(String::into_boxed_str).collect();
        let longest = set.iter().map(|entry| entry.len()).max().unwrap_or_default();
        Self { set, longest }
    }

    pub fn contains(&self, value: &str) -> bool {
        value.len() <= self.longest && self.set.contains(value)
    }

    /// The same of the value in lower case.
    fn contains_lower(&self, value: &str) -> bool {
        self.may_be_lower(value) && self.contains(&value.to_lowercase())
    }

    /// Returns `true` unless the value is longer than every entry, whatever case it is in.
    fn may_be_lower(&self, value: &str) -> bool {
        // In lower case no text has less than a third of its bytes: the Kelvin sign has three, and becomes a `k`.
        const SHRINKS_TO: usize = 3;
        value.len() / SHRINKS_TO <= self.longest
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.set.iter().map(|entry| &**entry)
    }

    pub fn len(&self) -> usize {
        self.set.len()
    }
}

impl ListMatcher {
    /// Returns `true` if an allow rule may take the value as listed: a look-alike does not count.
    pub fn grants_text(&self, step: Step, value: &str) -> bool {
        self.holds_text(step, value, |emails| {
            if !emails.written.may_be_lower(value) {
                return false;
            }
            let lower = value.to_lowercase();
            // A letter outside ASCII whose lower case is within it, such as the Kelvin sign, is a look-alike.
            let foreign = |text: &str| text.chars().filter(|one| !one.is_ascii()).count();
            foreign(value) == foreign(&lower) && emails.written.contains(&lower)
        })
    }

    /// Returns `true` if the value is listed as it is written, apart from the case of addresses.
    pub fn lists_text(&self, step: Step, value: &str) -> bool {
        self.holds_text(step, value, |emails| emails.written.contains_lower(value))
    }

    /// About how many steps it takes to look a value of this length up.
    pub fn cost(&self, bytes: usize) -> usize {
        let longest = match self {
            Self::Domains(_) => 0,
            Self::Emails(emails) => emails.written.longest.saturating_mul(3),
            Self::Identifiers(names) => {
                let sets = names.sets.iter().map(|(_, entries)| entries.longest);
                match names.folded {
                    // A value of any length is folded.
                    Some(_) => usize::MAX,
                    None => sets.max().unwrap_or_default(),
                }
            }
        };
        match bytes <= longest {
            true => LOOK_UP + bytes / LISTED_BYTES,
            false => LOOK_UP,
        }
    }

    /// Domains are compared as locations, never as text.
    fn holds_text(&self, step: Step, value: &str, is_address: impl FnOnce(&Emails) -> bool) -> bool {
        match self {
            Self::Domains(_) => false,
            Self::Emails(emails) => is_address(emails),
            Self::Identifiers(names) => names
                .sets
                .iter()
                .any(|(known, entries)| *known == step && entries.contains(value)),
        }
    }
}

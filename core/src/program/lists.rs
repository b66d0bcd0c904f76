//! List conditions: emails, identifiers and domains, compared in the canonical form of the value's role.

use crate::net::DomainSet;
use crate::role::Step;
use crate::table::Set;

/// The entries of one list condition, ready to be compared.
pub(crate) enum ListMatcher {
    /// Patterns as in SPEC §3.
    Domains(DomainSet),
    /// E-mail addresses, in lower case.
    Emails(Entries),
    /// Names, exactly: the entries in each canonical form that the roles of the condition have.
    Identifiers(Vec<(Step, Entries)>),
}

/// A set of strings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries(Set<Box<str>>);

impl Entries {
    pub(crate) fn new(entries: impl IntoIterator<Item = String>) -> Self {
        Self(entries.into_iter().map(String::into_boxed_str).collect())
    }

    pub(crate) fn contains(&self, value: &str) -> bool {
        self.0.contains(value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| &**entry)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl ListMatcher {
    /// Returns `true` if an allow rule may take the value as listed: a look-alike does not count.
    pub(crate) fn grants_text(&self, step: Step, value: &str) -> bool {
        self.holds_text(step, value, |entries| {
            let lower = value.to_lowercase();
            // A letter outside ASCII whose lower case is within it, such as the Kelvin sign, is a look-alike.
            let foreign = |text: &str| text.chars().filter(|one| !one.is_ascii()).count();
            foreign(value) == foreign(&lower) && entries.contains(&lower)
        })
    }

    /// Returns `true` if the value is listed as it is written, apart from the case of addresses.
    pub(crate) fn lists_text(&self, step: Step, value: &str) -> bool {
        self.holds_text(step, value, |entries| entries.contains(&value.to_lowercase()))
    }

    /// Returns `true` if a deny or escalate rule takes the value as listed: a look-alike counts too.
    pub(crate) fn restricts_text(&self, step: Step, value: &str) -> bool {
        self.holds_text(step, value, |entries| {
            mailboxes(value).any(|mailbox| entries.contains(&mailbox))
        })
    }

    /// Domains are compared as locations, never as text.
    fn holds_text(&self, step: Step, value: &str, is_address: impl FnOnce(&Entries) -> bool) -> bool {
        match self {
            Self::Domains(_) => false,
            Self::Emails(entries) => is_address(entries),
            Self::Identifiers(sets) => sets
                .iter()
                .any(|(known, entries)| *known == step && entries.contains(value)),
        }
    }
}

/// The addresses that may be read from the text of a recipient: the text itself, and what is in `<…>` or between
/// separators.
fn mailboxes(value: &str) -> impl Iterator<Item = String> {
    let parts = value.split([',', ';', '<', '>', ' ', '\t', '\r', '\n', '"', '(', ')']);
    std::iter::once(value)
        .chain(parts)
        .map(|part| fold_email(part.trim()))
}

/// Lower case, and without what mail systems drop: a trailing dot of the domain, ignorable characters.
pub(crate) fn fold_email(address: &str) -> String {
    let address: String = address
        .chars()
        .filter(|one| !matches!(one, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{ad}'))
        .collect();
    let address = address.trim_start_matches("mailto:").to_lowercase();
    address.trim_end_matches('.').to_owned()
}

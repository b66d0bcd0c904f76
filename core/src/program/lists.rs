//! List conditions: emails, identifiers and domains, compared in the canonical form of the value's role.

use super::mailbox;
use crate::net::DomainSet;
use crate::role::Step;
use crate::table::Set;

/// The entries of one list condition, ready to be compared.
pub(crate) enum ListMatcher {
    /// Patterns as in SPEC §3.
    Domains(DomainSet),
    /// E-mail addresses.
    Emails(Emails),
    /// Names, exactly: the entries in each canonical form that the roles of the condition have.
    Identifiers(Vec<(Step, Entries)>),
}

/// E-mail addresses as a grant and as a restriction compare them.
#[derive(Clone, Debug)]
pub(crate) struct Emails {
    /// The entries as they are written, in lower case.
    written: Entries,
    /// The addresses that they name.
    addresses: Entries,
}

impl Emails {
    /// Returns `true` if a deny or escalate rule takes one of the addresses, as they may be read from a value, as listed.
    pub(crate) fn restrict_any(&self, addresses: &[String]) -> bool {
        addresses.iter().any(|address| self.addresses.contains(address))
    }

    /// The entries as they are written, and the addresses that they name.
    #[cfg(feature = "analysis")]
    pub(crate) fn entries(&self) -> impl Iterator<Item = &str> {
        self.written.iter().chain(self.addresses.iter())
    }

    pub(crate) fn new<'a>(entries: impl Iterator<Item = &'a str> + Clone) -> Self {
        Self {
            written: Entries::new(entries.clone().map(mailbox::fold)),
            addresses: Entries::new(entries.flat_map(mailbox::named)),
        }
    }
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
        self.holds_text(step, value, |emails| {
            let lower = value.to_lowercase();
            // A letter outside ASCII whose lower case is within it, such as the Kelvin sign, is a look-alike.
            let foreign = |text: &str| text.chars().filter(|one| !one.is_ascii()).count();
            foreign(value) == foreign(&lower) && emails.written.contains(&lower)
        })
    }

    /// Returns `true` if the value is listed as it is written, apart from the case of addresses.
    pub(crate) fn lists_text(&self, step: Step, value: &str) -> bool {
        self.holds_text(step, value, |emails| {
            emails.written.contains(&value.to_lowercase())
        })
    }

    /// Domains are compared as locations, never as text.
    fn holds_text(&self, step: Step, value: &str, is_address: impl FnOnce(&Emails) -> bool) -> bool {
        match self {
            Self::Domains(_) => false,
            Self::Emails(emails) => is_address(emails),
            Self::Identifiers(sets) => sets
                .iter()
                .any(|(known, entries)| *known == step && entries.contains(value)),
        }
    }
}

//! The effect of a rule, and how values are compared with lists.

/// The effect of a rule. The engine's decision has its own type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The call may be made.
    Allow,
    /// A person decides.
    Escalate,
    /// The call may not be made.
    Deny,
}

impl Effect {
    pub(crate) const TABLE: [(&'static str, Self); 3] = [
        (Self::Allow.as_str(), Self::Allow),
        (Self::Escalate.as_str(), Self::Escalate),
        (Self::Deny.as_str(), Self::Deny),
    ];

    /// The effect as written in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Escalate => "escalate",
            Self::Deny => "deny",
        }
    }
}

/// How a value is compared with the entries of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchType {
    /// As a domain, with patterns.
    Domains,
    /// As e-mail addresses, ignoring case.
    Emails,
    /// Exactly.
    Identifiers,
}

impl MatchType {
    pub(crate) const TABLE: [(&'static str, Self); 3] = [
        ("domains", Self::Domains),
        ("emails", Self::Emails),
        ("identifiers", Self::Identifiers),
    ];

    /// The type with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::TABLE
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| kind)
    }

    /// The type as written in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Domains => "domains",
            Self::Emails => "emails",
            Self::Identifiers => "identifiers",
        }
    }
}

//! What a rule says about the calls that it matches, and how it compares values with lists.

/// What a rule says. What the engine decides is another type.
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

    /// The effect as documents write it.
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
    /// As a domain with patterns.
    Domains,
    /// As e-mail addresses, without regard to case.
    Emails,
    /// As a whole, exactly.
    Identifiers,
}

impl MatchType {
    pub(crate) const TABLE: [(&'static str, Self); 3] = [
        ("domains", Self::Domains),
        ("emails", Self::Emails),
        ("identifiers", Self::Identifiers),
    ];

    /// The type of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::TABLE
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| kind)
    }

    /// The type as documents write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Domains => "domains",
            Self::Emails => "emails",
            Self::Identifiers => "identifiers",
        }
    }
}

//! The effect of a rule, and how values are compared with lists.

use crate::named::named;

named! {
    /// The effect of a rule. The engine's decision has its own type.
    pub enum Effect {
        /// The call may be made.
        Allow = "allow",
        /// A person decides.
        Escalate = "escalate",
        /// The call may not be made.
        Deny = "deny",
    }
}

named! {
    /// A respect in which it is said who asks for a call.
    pub enum Caller {
        /// A person or a service.
        Subject = "subject",
        /// A program that acts for one.
        Agent = "agent",
        /// A conversation of that program.
        Session = "session",
    }
}

named! {
    /// How a value is compared with the entries of a list.
    pub enum MatchType {
        /// As a domain, with patterns.
        Domains = "domains",
        /// As e-mail addresses, ignoring case.
        Emails = "emails",
        /// Exactly.
        Identifiers = "identifiers",
    }
}

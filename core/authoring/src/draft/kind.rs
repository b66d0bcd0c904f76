//! The kinds of things that arguments name.

/// The kind of thing that an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Path,
    /// A path that a transfer starts at.
    Source,
    /// A path that a transfer ends at.
    Destination,
    /// A path in a repository that the server keeps elsewhere.
    RemotePath,
    Url,
    /// Where a database is, with what it is asked for.
    Connection,
    Remote,
    Owner,
    Repo,
    Branch,
    CommitMessage,
    EmailAddress,
    EmailBody,
    Permission,
    Domain,
    /// It runs, or asks for anything.
    Code,
    /// It selects among names, which may be those of resources.
    Pattern,
    /// It names no resource that a role is for.
    Data,
}

impl Kind {
    /// The kind for people, as a noun with its article.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Path => "a path",
            Self::Source => "a path to take something from",
            Self::Destination => "a path to put something at",
            Self::RemotePath => "a path in the repository on the server",
            Self::Url => "a URL",
            Self::Connection => "the place of a database, which no role is for",
            Self::Remote => "a git remote",
            Self::Owner => "an owner on GitHub",
            Self::Repo => "a repository on GitHub",
            Self::Branch => "a branch or another revision",
            Self::CommitMessage => "a commit message",
            Self::EmailAddress => "an e-mail address",
            Self::EmailBody => "text for people",
            Self::Permission => "a permission that sharing grants",
            Self::Domain => "a domain that a proxy lets through",
            Self::Code => "code, a command or a query, which may name anything",
            Self::Pattern => "a pattern or a question, which may select anything",
            Self::Data => "data, which names no resource",
        }
    }
}

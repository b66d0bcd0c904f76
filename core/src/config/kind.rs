//! The kinds of documents that an engine is built from.

/// A kind of document that an engine is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentKind {
    /// The compiled policy; required.
    CompiledPolicy,
    /// The annotations of every tool; required.
    ToolAnnotations,
    /// The lists that `@names` in the policy stand for.
    DynamicLists,
    /// An array of paths that no call may touch.
    ProtectedPaths,
    /// The sandbox: a directory within which `filesystem` and `git` may do anything.
    AllowedDirectory,
    /// An object from server to the domain patterns that its URLs must match.
    ServerDomainAllowlists,
    /// An array of servers whose every call is allowed.
    TrustedServers,
    /// The capability ceiling: the most that calls may use.
    Ceiling,
    /// How the engine behaves.
    Options,
    /// The host-defined roles.
    Roles,
    /// The world: places with addresses, and what may be done there.
    World,
}

impl DocumentKind {
    /// Every part.
    pub const ALL: [Self; 11] = [
        Self::CompiledPolicy,
        Self::ToolAnnotations,
        Self::DynamicLists,
        Self::ProtectedPaths,
        Self::AllowedDirectory,
        Self::ServerDomainAllowlists,
        Self::TrustedServers,
        Self::Ceiling,
        Self::Options,
        Self::Roles,
        Self::World,
    ];

    /// The name of the part, with which the paths in its diagnostics begin.
    pub const fn key(self) -> &'static str {
        match self {
            Self::CompiledPolicy => "compiledPolicy",
            Self::ToolAnnotations => "toolAnnotations",
            Self::DynamicLists => "dynamicLists",
            Self::ProtectedPaths => "protectedPaths",
            Self::AllowedDirectory => "allowedDirectory",
            Self::ServerDomainAllowlists => "serverDomainAllowlists",
            Self::TrustedServers => "trustedServers",
            Self::Ceiling => "ceiling",
            Self::Options => "options",
            Self::Roles => "roles",
            Self::World => "world",
        }
    }

    /// The part of that name.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.key() == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_found_by_its_key() {
        for part in DocumentKind::ALL {
            assert_eq!(DocumentKind::from_key(part.key()), Some(part));
        }
        assert_eq!(DocumentKind::from_key("policy"), None);
    }
}

//! The kinds of documents that an engine is built from.

use crate::named::named;

named! {
    /// A kind of document that an engine is built from.
    pub enum DocumentKind {
        /// The compiled policy; required.
        CompiledPolicy = "compiledPolicy",
        /// The annotations of every tool; required.
        ToolAnnotations = "toolAnnotations",
        /// The lists that `@names` in the policy stand for.
        DynamicLists = "dynamicLists",
        /// An array of paths that no call may touch, and of patterns of them (`**/.env`).
        ProtectedPaths = "protectedPaths",
        /// The sandbox: a directory within which file and git servers may do anything, unless the options say otherwise.
        AllowedDirectory = "allowedDirectory",
        /// An object from server to the domain patterns that its URLs must match.
        ServerDomainAllowlists = "serverDomainAllowlists",
        /// An array of servers whose every call is allowed.
        TrustedServers = "trustedServers",
        /// The capability ceiling: the most that calls may use.
        Ceiling = "ceiling",
        /// How the engine behaves.
        Options = "options",
        /// The host-defined roles.
        Roles = "roles",
        /// The world: places with addresses, and what may be done there.
        World = "world",
    }
}

impl DocumentKind {
    /// Returns `true` if null means that the document is absent.
    pub(super) fn may_be_null(self) -> bool {
        matches!(self, Self::DynamicLists | Self::AllowedDirectory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_found_by_its_key() {
        for kind in DocumentKind::ALL {
            assert_eq!(DocumentKind::parse(kind.as_str()), Some(*kind));
        }
        assert_eq!(DocumentKind::parse("policy"), None);
    }
}

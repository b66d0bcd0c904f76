//! The kinds of documents that an engine is built from.

use crate::named::named;

named! {
    /// A kind of document that an engine is built from.
    pub enum DocumentKind {
        /// The rules; required.
        Policy = "policy",
        /// The annotations of every tool; required.
        Annotations = "annotations",
        /// The lists that `@names` in the policy stand for.
        Lists = "lists",
        /// Programs that the commands of shells may run, beside those that are known.
        Programs = "programs",
        /// The sandbox: a directory within which file and git servers need no rule, unless the options say otherwise.
        Sandbox = "sandbox",
        /// An array of paths that no call may touch, and of patterns of them (`**/.env`).
        ProtectedPaths = "protectedPaths",
        /// An object from server to the domain patterns that its URLs must match.
        DomainAllowlists = "domainAllowlists",
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
        /// An array of statements that must hold about the verdicts; who judges calls does not look at them.
        Invariants = "invariants",
        /// The directory that relative paths of the documents start from. A document that is read from a file has its
        /// directory; without one, relative paths are refused or, with a warning, start from the current directory.
        Folder = "folder",
    }
}

impl DocumentKind {
    /// Returns `true` if null means that the document is absent.
    pub(super) fn may_be_null(self) -> bool {
        matches!(self, Self::Lists | Self::Sandbox)
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
        assert_eq!(DocumentKind::parse("compiledPolicy"), None);
    }
}

//! Servers with structural rules of their own, and where the sandbox decides (SPEC §8.3).

use crate::named::{Named, named};
use crate::table::TextTable;

named! {
    /// A kind of server that has structural rules.
    pub enum ServerKind {
        /// Files. Paths within the sandbox need no rule there, and a tool tells the directories that are allowed.
        Filesystem = "filesystem",
        /// Git. A missing remote there means git's default remote.
        Git = "git",
    }
}

named! {
    /// When the sandbox decides about paths within it.
    pub enum SandboxOrder {
        /// Before any rule is read.
        BeforeRules = "before-rules",
        /// Where no rule has decided.
        AfterRules = "after-rules",
    }
}

/// The kinds of servers, by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers {
    /// Servers that are of a kind without having its name.
    pub aliases: TextTable<ServerKind>,
    /// The servers, or kinds of servers, on which the sandbox decides.
    pub sandboxed: Vec<Box<str>>,
    /// Somebody wrote that list.
    pub are_listed: bool,
}

impl Default for Servers {
    fn default() -> Self {
        Self {
            aliases: TextTable::default(),
            sandboxed: ServerKind::names().map(Box::from).collect(),
            are_listed: false,
        }
    }
}

impl Servers {
    /// The kind of a server, if it has structural rules.
    pub fn kind(&self, server: &str) -> Option<ServerKind> {
        ServerKind::find(server).or_else(|| self.aliases.get(server).copied())
    }

    /// Returns `true` if the sandbox decides about calls of the server.
    pub fn is_sandboxed(&self, server: &str) -> bool {
        let kind = self.kind(server).map(ServerKind::word);
        self.sandboxed
            .iter()
            .any(|one| **one == *server || Some(&**one) == kind)
    }

    /// The servers of a kind.
    pub fn of_kind(&self, kind: ServerKind) -> impl Iterator<Item = &str> {
        let aliases = self.aliases.iter().filter(move |(_, of)| **of == kind);
        std::iter::once(kind.word()).chain(aliases.map(|(name, _)| &**name))
    }

    /// The servers on which the sandbox decides.
    pub fn sandboxed(&self) -> impl Iterator<Item = &str> {
        let aliases = self.aliases.keys().map(|name| &**name);
        let others = aliases
            .filter(|name| self.is_sandboxed(name) && !self.sandboxed.iter().any(|one| **one == **name));
        self.sandboxed.iter().map(|name| &**name).chain(others)
    }
}

impl ServerKind {
    /// The name of the server that is of this kind by itself.
    pub fn word(self) -> &'static str {
        let named = Self::NAMES.iter().find(|(_, kind)| *kind == self);
        named.map(|(name, _)| *name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed;

    #[test]
    fn kinds_have_the_names_of_their_servers() {
        assert_eq!(ServerKind::names().collect::<Vec<_>>(), seed::SANDBOXED_SERVERS);
        assert_eq!(ServerKind::Git.word(), seed::GIT);
        assert_eq!(ServerKind::Filesystem.word(), seed::FILESYSTEM);
    }

    #[test]
    fn an_alias_is_of_its_kind_everywhere() {
        let mut servers = Servers::default();
        servers.aliases.insert("fs".into(), ServerKind::Filesystem);
        servers.aliases.insert("forge".into(), ServerKind::Git);
        assert_eq!(servers.kind("fs"), Some(ServerKind::Filesystem));
        assert_eq!(servers.kind("filesystem"), Some(ServerKind::Filesystem));
        assert_eq!(servers.kind("fetch"), None);
        assert_eq!(
            servers.of_kind(ServerKind::Git).collect::<Vec<_>>(),
            ["git", "forge"]
        );
        assert_eq!(
            servers.sandboxed().collect::<Vec<_>>(),
            ["filesystem", "git", "fs", "forge"]
        );
        servers.sandboxed = vec!["forge".into(), "filesystem".into(), "notes".into()];
        for (server, expected) in [
            ("fs", true),
            ("filesystem", true),
            ("forge", true),
            ("git", false),
            ("notes", true),
        ] {
            assert_eq!(servers.is_sandboxed(server), expected, "{server}");
        }
        assert_eq!(
            servers.sandboxed().collect::<Vec<_>>(),
            ["forge", "filesystem", "notes", "fs"]
        );
    }
}

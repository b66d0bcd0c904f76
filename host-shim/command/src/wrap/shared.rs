//! Places of a project as its configuration of an agent can name them on every machine.

use std::path::{Path, PathBuf};

/// The project that a configuration is a part of.
pub(super) struct Project {
    folder: PathBuf,
    /// What stands for the folder in the configuration, with a slash.
    begin: &'static str,
}

impl Project {
    /// The project of an agent's configuration, by the file's place: the agent says by a variable of its own where the project is, or
    /// starts servers there.
    pub(super) fn of(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_str()?;
        let parent = file.parent()?;
        let own = parent
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let begin = match (own, name) {
            (".vscode" | ".cursor", _) => "${workspaceFolder}/",
            (_, ".mcp.json") => "${CLAUDE_PROJECT_DIR:-.}/",
            (_, _) => "./",
        };
        let folder = if own.starts_with('.') {
            parent.parent()?
        } else {
            parent
        };
        Some(Self {
            folder: folder.to_owned(),
            begin,
        })
    }

    /// A file of the project as the configuration names it.
    pub(super) fn named(&self, file: &Path) -> Option<String> {
        let below = file.strip_prefix(&self.folder).ok()?;
        Some(format!("{}{}", self.begin, below.to_str()?))
    }

    /// Returns `true` for what is the user's, and no project.
    pub(super) fn is_home(&self) -> bool {
        std::env::home_dir()
            .and_then(|home| home.canonicalize().ok())
            .is_some_and(|home| home == self.folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_its_own_way_to_name_the_project() {
        for (file, expected) in [
            ("/p/.mcp.json", "${CLAUDE_PROJECT_DIR:-.}/callgate.json"),
            ("/p/.vscode/mcp.json", "${workspaceFolder}/callgate.json"),
            ("/p/.cursor/mcp.json", "${workspaceFolder}/callgate.json"),
            ("/p/.gemini/settings.json", "./callgate.json"),
            ("/p/.codex/config.toml", "./callgate.json"),
            ("/p/opencode.json", "./callgate.json"),
        ] {
            let project = Project::of(Path::new(file)).unwrap();
            let named = project.named(Path::new("/p/callgate.json"));
            assert_eq!(named.as_deref(), Some(expected), "{file}");
            assert_eq!(project.named(Path::new("/q/callgate.json")), None, "{file}");
        }
    }
}

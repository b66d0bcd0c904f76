//! The bundle of the project that an agent is in.

use std::path::{Path, PathBuf};

use callgate_hook::Agent;
use callgate_host::BUNDLE_FILE;

/// The bundle of the project that the agent is in, if it has one.
pub(super) fn bundle(agent: &Agent, directory: &str) -> Option<PathBuf> {
    // The project that the agent was started for, wherever it is now.
    let told = agent.project_variable().and_then(std::env::var_os);
    let told = told.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let directory = told.unwrap_or_else(|| PathBuf::from(directory));
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let folder = directory.canonicalize().ok()?;
    let file = project(&folder, home.as_deref())?.join(BUNDLE_FILE);
    file.is_file().then_some(file)
}

/// The folder of the outermost repository that a directory is in, else the directory itself. A repository in another one, such as a
/// package that was fetched, has no say. The home directory, and what holds it, are no projects.
fn project<'d>(directory: &'d Path, home: Option<&Path>) -> Option<&'d Path> {
    let is_above_home = |folder: &Path| home.is_some_and(|home| home.starts_with(folder));
    let folders = directory
        .ancestors()
        .take_while(|folder| folder.parent().is_some() && !is_above_home(folder));
    let repository = folders
        .clone()
        .filter(|folder| folder.join(".git").exists())
        .last();
    repository.or_else(|| folders.into_iter().next())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_outermost_repository_is_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home/.git", "home/p/.git", "home/p/a/package/.git", "home/q/r"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let home = root.join("home");
        for (directory, expected) in [
            ("home/p", Some("home/p")),
            ("home/p/a/package", Some("home/p")),
            ("home/q/r", Some("home/q/r")),
            ("home", None),
            ("", None),
        ] {
            let directory = root.join(directory);
            let expected = expected.map(|name| root.join(name));
            assert_eq!(
                project(&directory, Some(&home)),
                expected.as_deref(),
                "{directory:?}"
            );
        }
    }
}

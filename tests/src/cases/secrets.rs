//! Paths that only the host may know.

use serde_json::{Map, Value};

use crate::subject::Surroundings;

/// The directories of the roots and mods of a world, the home directory, and where local git remotes are.
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// The secrets of the world with this JSON text; empty without a world.
    pub(super) fn of(world: Option<&str>, surroundings: &Surroundings) -> Self {
        let Some(text) = world else {
            return Self(Vec::new());
        };
        // A world that is not JSON has no roots, and the engine refuses it.
        let world: Value = serde_json::from_str(text).unwrap_or_default();
        let named = ["roots", "mounts"]
            .into_iter()
            .filter_map(|key| world[key].as_object());
        let paths = named.flat_map(Map::values).filter_map(Value::as_str);
        let home = match surroundings {
            Surroundings::Machine(machine) => machine["home"].as_str(),
            Surroundings::Recording(recording) => recording["homeDir"].as_str(),
        };
        let paths = paths
            .chain(home)
            .chain(remotes_of(surroundings))
            .map(|path| path.strip_prefix("file://").unwrap_or(path))
            .filter(|path| path.starts_with('/') && path.len() > 1);
        Self(paths.map(str::to_owned).collect())
    }

    /// The first secret in the text.
    pub(super) fn named_in(&self, text: &str) -> Option<&str> {
        let mut secrets = self.0.iter().map(String::as_str);
        secrets.find(|secret| text.contains(secret))
    }
}

/// The URLs of the remotes in a machine's repositories.
fn remotes_of(surroundings: &Surroundings) -> impl Iterator<Item = &str> {
    let repositories = match surroundings {
        Surroundings::Machine(machine) => machine["git"].as_object(),
        Surroundings::Recording(_) => None,
    };
    let remotes = repositories.into_iter().flat_map(Map::values);
    remotes
        .filter_map(|repository| repository["remotes"].as_object())
        .flat_map(Map::values)
        .filter_map(Value::as_str)
}

//! The packs, and a bundle to begin with. This is all that the crate takes from outside its source.

/// A pack, as its files in `packs` have it.
pub struct Pack {
    /// Its name, that of the server in its files.
    pub name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) annotations: &'static str,
    pub(crate) tools: &'static str,
    pub(crate) scenarios: &'static str,
}

macro_rules! packs {
    ($($name:literal)*) => {
        [$(Pack {
            name: $name,
            about: include_str!(concat!("../packs/", $name, "/pack.json")),
            annotations: include_str!(concat!("../packs/", $name, "/annotations.json")),
            tools: include_str!(concat!("../packs/", $name, "/tools.json")),
            scenarios: include_str!(concat!("../packs/", $name, "/scenarios.jsonl")),
        }),*]
    };
}

/// All packs. The name is that of the server in their files.
pub const PACKS: &[Pack] = &packs![
    "context7"
    "desktop-commander"
    "fetch"
    "filesystem"
    "git"
    "github"
    "gitlab"
    "kubernetes"
    "memory"
    "notion"
    "playwright"
    "postgres"
    "sequential-thinking"
    "slack"
    "sqlite"
    "time"
];

/// The files for any project.
pub(crate) const START: [(&str, &str); 3] = [
    ("callgate.json", include_str!("start/usual/callgate.json")),
    ("calls.jsonl", include_str!("start/usual/calls.jsonl")),
    ("scenarios.jsonl", include_str!("start/usual/scenarios.jsonl")),
];

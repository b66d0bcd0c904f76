//! Whether what is installed holds: agents, their hooks, plugins and guards, the documents that they judge by, and the clock.
//!
//! [`look`] reads the settings of agents, and starts what they name with a question that has to be denied. What settings mean to the
//! command, such as where a guard stands in a configuration, the command knows, and says it by [`Caller`]. Nothing is written.

mod clock;
mod documents;
mod finding;
mod guards;
mod hooks;
mod plugins;
mod running;
mod stand_in;
mod written;

use std::path::{Path, PathBuf};

use callgate_host::Document;

pub use documents::writable_by_others;
pub use finding::{Finding, Standing};
pub use stand_in::serve;
pub use written::in_path;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where to look.
#[derive(Clone, Debug)]
pub struct Place {
    /// The user's home directory.
    pub home: PathBuf,
    /// The project's folder.
    pub project: PathBuf,
    /// This program.
    pub own: PathBuf,
    /// The folder with questions and approvals, if there is one.
    pub state: Option<PathBuf>,
    /// Start nothing that the settings name.
    pub only_look: bool,
}

/// A server of an agent's configuration, and the guard before it, if there is one.
#[derive(Clone, Debug)]
pub struct Guarding {
    /// The name of the server.
    pub server: String,
    /// The command of the guard, without what leads to the server.
    pub guard: Option<Vec<String>>,
}

/// Why documents cannot be used.
#[derive(Clone, Debug)]
pub struct Unusable {
    /// What is wrong with them.
    pub why: String,
    /// What says more.
    pub help: String,
}

/// What the command knows of what it has written into settings.
pub trait Caller {
    /// The servers of a configuration.
    ///
    /// # Errors
    /// Why the file has none.
    fn guarding(&self, file: &Path) -> Result<Vec<Guarding>, String>;

    /// Where what a guard was put before is kept.
    fn beside(&self, file: &Path) -> PathBuf;

    /// The words of a line, as a shell has them; `None` if only a shell can take it apart.
    fn split(&self, line: &str) -> Option<Vec<String>>;

    /// The documents of a bundle in a file or at an address, which these keys sign. Nothing is fetched and nothing is remembered.
    ///
    /// # Errors
    /// Why they cannot be used.
    fn documents(&self, bundle: &Path, keys: &[PathBuf]) -> Result<Vec<Document>, Unusable>;
}

/// Looks at everything but this program itself.
pub fn look(place: &Place, caller: &dyn Caller) -> Vec<Finding> {
    let mut found = vec![clock::look(place)];
    found.extend(hooks::look(place, caller));
    found.extend(plugins::look(place));
    found.extend(guards::look(place, caller));
    found
}

//! Where the git remotes of a call are looked up.

/// Where a call's git remotes are looked up.
#[derive(Debug)]
pub(crate) struct Repositories {
    /// Directories in repositories, or perhaps in none: canonical, each once.
    pub(super) directories: Vec<String>,
    /// `true` if these are all: not so if a place has no canonical form, or if there are too many.
    pub(super) are_all: bool,
    /// `true` if the call names them, or the configuration says where the server is started; otherwise they are the
    /// current directory.
    pub(super) are_named: bool,
}

impl Default for Repositories {
    fn default() -> Self {
        Self {
            directories: Vec::new(),
            are_all: true,
            are_named: true,
        }
    }
}

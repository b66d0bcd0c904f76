//! The names that SPEC gives a meaning of their own: servers with structural rules, and the introspection tool.

/// The server of files. What lies within the sandbox needs no rule there.
pub(crate) const FILESYSTEM: &str = "filesystem";

/// The server of git. An absent remote there means git's default remote.
pub(crate) const GIT: &str = "git";

/// The servers on which the sandbox decides before any rule does.
pub(crate) const SANDBOXED_SERVERS: [&str; 2] = [FILESYSTEM, GIT];

/// The tool of the filesystem server that is always allowed without arguments.
pub(crate) const INTROSPECTION_TOOL: &str = "list_allowed_directories";

/// Servers that a runtime offers itself: no policy has to name a real one.
pub(crate) const RESERVED_SERVERS: [&str; 1] = ["proxy"];

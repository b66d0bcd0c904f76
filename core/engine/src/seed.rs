//! Names with a meaning in SPEC: servers with structural rules, and the introspection tool.

/// The file server. Paths within the sandbox need no rule there.
pub const FILESYSTEM: &str = "filesystem";

/// The git server. A missing remote there means git's default remote.
pub const GIT: &str = "git";

/// The servers on which the sandbox decides before the rules.
pub const SANDBOXED_SERVERS: [&str; 2] = [FILESYSTEM, GIT];

/// The tool of the file server that is always allowed without arguments.
pub const INTROSPECTION_TOOL: &str = "list_allowed_directories";

/// Servers provided by the runtime itself, not real ones.
pub const RESERVED_SERVERS: [&str; 1] = ["proxy"];

/// The server whose tools the programs are.
pub const SHELL: &str = "shell";

/// The tool that stands for a program which is started by its path.
pub const PROGRAM_FILE: &str = "program-file";

/// The tool that stands for redirections without a program.
pub const REDIRECTION: &str = ":";

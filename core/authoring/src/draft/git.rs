//! The effects of git's commands on a repository and the files in it.

use callgate_engine::role::RoleId;

const READ: RoleId = RoleId::READ_PATH;
const WRITE: RoleId = RoleId::WRITE_PATH;
const DELETE: RoleId = RoleId::DELETE_PATH;
const GAIN: RoleId = RoleId::WRITE_HISTORY;
const LOSE: RoleId = RoleId::DELETE_HISTORY;

/// The effects of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The words of a tool's name that say so.
    pub(super) words: &'static [&'static str],
    /// The roles of the repository.
    pub(super) repository: &'static [RoleId],
    /// The roles of files in it.
    pub(super) files: &'static [RoleId],
}

/// Commands that only read.
const READING: Command = Command {
    words: &[
        "status",
        "diff",
        "log",
        "show",
        "blame",
        "describe",
        "shortlog",
        "reflog",
        "grep",
        "rev",
        "history",
        "changelog",
        "annotate",
        "contributors",
        "list",
        "get",
        "search",
        "inspect",
        "working",
        "session",
    ],
    repository: &[READ],
    files: &[READ],
};

/// The command that may do anything, for names that are not in the table.
const ANY: Command = Command {
    words: &[],
    repository: &[READ, WRITE, GAIN, LOSE],
    files: &[READ, WRITE],
};

const COMMANDS: &[Command] = &[
    READING,
    Command {
        words: &["commit", "add", "stage", "unstage", "fetch", "push", "notes"],
        repository: &[READ, GAIN],
        files: &[READ],
    },
    Command {
        words: &[
            "merge",
            "pull",
            "cherry",
            "revert",
            "am",
            "apply",
            "checkout",
            "switch",
            "restore",
            "submodule",
            "bisect",
        ],
        repository: &[READ, WRITE, GAIN],
        files: &[READ, WRITE],
    },
    Command {
        words: &["reset", "rebase", "stash"],
        repository: &[READ, WRITE, GAIN, LOSE],
        files: &[READ, WRITE],
    },
    Command {
        words: &["branch", "tag", "remote", "gc", "filter"],
        repository: &[READ, GAIN, LOSE],
        files: &[READ],
    },
    Command {
        words: &["clone", "init"],
        repository: &[WRITE, GAIN],
        files: &[WRITE],
    },
    Command {
        words: &["clean"],
        repository: &[READ, DELETE],
        files: &[DELETE],
    },
    Command {
        words: &["rm", "mv"],
        repository: &[READ, WRITE, GAIN],
        files: &[READ, WRITE, DELETE],
    },
    Command {
        words: &["worktree"],
        repository: &[READ, WRITE, GAIN],
        files: &[READ, WRITE, DELETE],
    },
    Command {
        words: &["config"],
        repository: &[READ, WRITE],
        files: &[READ, WRITE],
    },
];

/// The command in the words of a tool's name, with the word that names it; the word is empty if no command is in the table.
///
/// `creates` and `deletes` are for names such as `git_create_branch`, whose first verb says more than the command.
pub(super) fn command(words: &[String], creates: bool, deletes: bool, only_lists: bool) -> (Command, String) {
    let named = words.iter().filter(|word| *word != "git").find_map(|word| {
        let found = COMMANDS
            .iter()
            .find(|command| command.words.contains(&word.as_str()));
        found.map(|command| (*command, word.clone()))
    });
    let (command, word) = named.unwrap_or((ANY, String::new()));
    let repository: &'static [RoleId] = match word.as_str() {
        "branch" | "tag" | "remote" if creates => &[READ, GAIN],
        "branch" | "tag" | "remote" if deletes => &[READ, LOSE],
        "branch" | "tag" | "remote" if only_lists => &[READ],
        _ => command.repository,
    };
    (
        Command {
            repository,
            ..command
        },
        word,
    )
}

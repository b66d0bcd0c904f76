//! The roles of words.

/// What a word means to a program. The names are those of the engine's roles, and a few more for what only a shell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// `read-path`
    ReadPath,
    /// `write-path`
    WritePath,
    /// `delete-path`
    DeletePath,
    /// `write-history`
    WriteHistory,
    /// `delete-history`
    DeleteHistory,
    /// `fetch-url`
    FetchUrl,
    /// `git-remote-url`
    GitRemoteUrl,
    /// `branch-name`
    BranchName,
    /// `commit-message`
    CommitMessage,
    /// `text`
    Text,
    /// `none`
    None,
    /// `execute`: a file, code, or the name of what a program runs.
    Execute,
    /// `number`: a number that the shell itself reads.
    Number,
    /// `variable`: the name of a variable that gets a value.
    Variable,
    /// `export`: a name, or a name and a value.
    Export,
    /// `assignments`: names and values before a command.
    Assignments,
    /// `format`: a format of `printf`.
    Format,
    /// `expression`: a condition of `test`.
    Expression,
    /// `directory`: the working directory of what follows.
    Directory,
    /// `mount`: a path, a colon, and where it is seen.
    Mount,
    /// `command`: a program and its arguments.
    Command,
    /// `command;`: a program and its arguments, up to `;` or `+`.
    CommandTo,
    /// `script`: the text of a shell.
    Script,
    /// `edit`: a script of `sed`.
    Edit,
    /// `setting`: an option of the shell itself.
    Setting,
    /// `transfer`: a path of this machine or of another; the last one is written.
    Transfer,
    /// `at-path`: data, or `@` and the path of a file with data.
    AtPath,
    /// `replaced`: what stands for input in a command.
    Replaced,
    /// `revision`: a revision of git, `revision:path`, or a path.
    Revision,
    /// `local-path`: a path that is read, in which `:`, `@` and `#` would mean something else.
    LocalPath,
    /// `local-write`: the same of one that is written.
    LocalWrite,
    /// `suffix`: the end of a copy's name.
    Suffix,
    /// `filter`: a program of `jq`.
    Filter,
    /// `format-of-date`: `+` and a format of `date`.
    FormatOfDate,
    /// `port`: a protocol and a port, without a host.
    Port,
    /// `awk`: a program of `awk`.
    Awk,
    /// `config-key`: the name of a setting of git's, which has a dot, as no command of `git config` does.
    ConfigKey,
}

impl Role {
    const ALL: [(Self, &'static str); 37] = [
        (Self::ReadPath, "read-path"),
        (Self::WritePath, "write-path"),
        (Self::DeletePath, "delete-path"),
        (Self::WriteHistory, "write-history"),
        (Self::DeleteHistory, "delete-history"),
        (Self::FetchUrl, "fetch-url"),
        (Self::GitRemoteUrl, "git-remote-url"),
        (Self::BranchName, "branch-name"),
        (Self::CommitMessage, "commit-message"),
        (Self::Text, "text"),
        (Self::None, "none"),
        (Self::Execute, "execute"),
        (Self::Number, "number"),
        (Self::Variable, "variable"),
        (Self::Export, "export"),
        (Self::Assignments, "assignments"),
        (Self::Format, "format"),
        (Self::Expression, "expression"),
        (Self::Directory, "directory"),
        (Self::Mount, "mount"),
        (Self::Command, "command"),
        (Self::CommandTo, "command;"),
        (Self::Script, "script"),
        (Self::Edit, "edit"),
        (Self::Setting, "setting"),
        (Self::Transfer, "transfer"),
        (Self::AtPath, "at-path"),
        (Self::Replaced, "replaced"),
        (Self::Revision, "revision"),
        (Self::LocalPath, "local-path"),
        (Self::LocalWrite, "local-write"),
        (Self::Suffix, "suffix"),
        (Self::Filter, "filter"),
        (Self::FormatOfDate, "format-of-date"),
        (Self::Port, "port"),
        (Self::Awk, "awk"),
        (Self::ConfigKey, "config-key"),
    ];

    /// Its name in the table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let found = Self::ALL.iter().find(|(role, _)| *role == self);
        found.map_or("none", |(_, name)| name)
    }

    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(role, _)| *role)
    }

    /// Returns `true` if its values are paths.
    #[must_use]
    pub fn is_path(self) -> bool {
        matches!(
            self,
            Self::ReadPath | Self::WritePath | Self::DeletePath | Self::WriteHistory | Self::DeleteHistory
        )
    }

    /// The names of all.
    pub(super) fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|(_, name)| *name).collect()
    }

    /// Returns `true` if values of options may bear it.
    pub(super) fn is_of_option(self) -> bool {
        !matches!(
            self,
            Self::Export
                | Self::Assignments
                | Self::Format
                | Self::Expression
                | Self::Command
                | Self::Script
                | Self::Setting
                | Self::Transfer
        )
    }

    /// Returns `true` if operands may bear it.
    pub(super) fn is_of_operand(self) -> bool {
        !matches!(self, Self::Directory | Self::CommandTo | Self::Replaced)
    }

    /// Returns `true` if a program that takes it runs something, or may with some values.
    pub(super) fn runs(self) -> bool {
        matches!(
            self,
            Self::Execute
                | Self::Command
                | Self::CommandTo
                | Self::Script
                | Self::Edit
                | Self::Filter
                | Self::Transfer
                | Self::Awk
        )
    }

    /// Returns `true` if any value does no harm under it.
    pub(super) fn is_text(self) -> bool {
        matches!(
            self,
            Self::Text | Self::None | Self::CommitMessage | Self::BranchName | Self::Replaced
        )
    }
}

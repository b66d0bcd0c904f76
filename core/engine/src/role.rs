//! The registry of argument roles: what an argument means, and its canonical form.
//!
//! Each built-in role is one entry of the table below. An engine adds host-defined roles; both kinds are a
//! [`RoleId`].

mod name;

use std::borrow::Cow;
use std::fmt;

use crate::named::named;
use crate::net;
use crate::seed;
pub use name::is_plain_name;

named! {
    /// The kind of thing that a role's values name, which decides the checks that apply to them.
    pub enum Category {
        /// A path of the filesystem.
        Path = "path",
        /// A URL, or the name of a git remote that stands for one.
        Url = "url",
        /// A name that is compared as a whole.
        Identifier = "identifier",
        /// An address in the world of the engine.
        Address = "address",
        /// A command of a shell.
        Command = "command",
        /// Data that names no resource.
        Opaque = "opaque",
    }
}

named! {
    /// The texts that may be values of a role of the category `identifier`.
    pub enum Form {
        /// Texts that are names, as [`is_plain_name`] has them.
        Name = "name",
        /// Any text.
        Free = "free",
    }
}

impl Category {
    /// How values become canonical under a role that does not say so.
    pub fn canonicalize(self) -> Step {
        match self {
            Self::Path => Step::Path,
            Self::Url => Step::Url,
            Self::Identifier => Step::Lowercase,
            Self::Address | Self::Command | Self::Opaque => Step::Identity,
        }
    }
}

named! {
    /// A step from a value to its canonical form, or from there to the value that policy sees.
    pub enum Step {
        /// The value as it is.
        Identity = "identity",
        /// Full Unicode lower case, like JavaScript's `toLowerCase`.
        Lowercase = "lowercase",
        /// The canonical path (SPEC §2).
        Path = "path",
        /// `normalizeUrl` (SPEC §3).
        Url = "url",
        /// `normalizeGitUrl` (SPEC §3).
        GitUrl = "git-url",
        /// `extractDomain` (SPEC §3).
        Domain = "domain",
        /// A placeholder: policy and explanations never see the value.
        Redact = "redact",
        /// The value without control characters.
        StripControl = "strip-control",
        /// A callback of the host.
        Callback = "callback",
    }
}

impl Step {
    /// Applies the step to a value. Paths and callbacks need the host, so they leave it unchanged.
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Identity | Self::Path | Self::Callback => Cow::Borrowed(text),
            Self::Lowercase if is_lower_case(text) => Cow::Borrowed(text),
            Self::Lowercase => Cow::Owned(text.to_lowercase()),
            Self::Url => net::normalize_url(text),
            Self::GitUrl => net::normalize_git_url(text),
            Self::Domain => net::extract_domain(text),
            Self::Redact => Cow::Borrowed(REDACTED),
            Self::StripControl => text
                .chars()
                .filter(|one| !one.is_control() || matches!(one, '\n' | '\t'))
                .collect(),
        }
    }
}

/// Returns `true` if lower case changes nothing. `false` says nothing about the text.
fn is_lower_case(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
}

/// The placeholder for a redacted value of any length.
pub const REDACTED: &str = "[redacted]";

/// A role: what it means and how its values become canonical.
#[derive(Clone, Debug)]
pub struct RoleDefinition {
    /// The name in documents, for example `read-path`.
    pub name: Box<str>,
    /// The meaning of an argument with this role for security.
    pub description: Box<str>,
    /// The kind of thing that the values name.
    pub category: Category,
    /// From the value to its canonical form, which is sent on.
    pub canonicalize: Step,
    /// From the canonical form to the value that policy sees, if they differ.
    pub extract_policy_value: Option<Step>,
    /// The texts that may be its values, where it is of the category `identifier`.
    pub form: Form,
    /// When an annotator should assign this role.
    pub annotation_guidance: Box<str>,
    /// The servers whose tools have this role; empty for any.
    pub server_names: &'static [&'static str],
}

impl RoleDefinition {
    /// Returns `true` if the values name an external resource, and so are judged. A command is judged by what its programs name.
    pub fn is_resource_identifier(&self) -> bool {
        !matches!(self.category, Category::Command | Category::Opaque)
    }

    /// Returns `true` if its values are identifiers that have to be names.
    pub fn has_names(&self) -> bool {
        self.category == Category::Identifier && self.form == Form::Name
    }

    /// Returns `true` if preparing may change values of this role.
    pub fn is_prepared(&self) -> bool {
        self.is_resource_identifier()
            || self.canonicalize != Step::Identity
            || self.extract_policy_value.is_some()
    }
}

macro_rules! builtin_roles {
    ($($constant:ident = $number:literal, $name:literal, $category:ident, $step:ident, $form:ident, $servers:expr, $description:literal, $guidance:literal;)+) => {
        impl RoleId {
            $(#[doc = concat!("`", $name, "`: ", $description)]
            pub const $constant: RoleId = RoleId($number);)+
        }

        /// How many roles are built in.
        const BUILTIN: usize = [$($name),+].len();

        fn builtin_definitions() -> Vec<RoleDefinition> {
            vec![$(RoleDefinition {
                name: $name.into(),
                description: $description.into(),
                category: Category::$category,
                canonicalize: Step::$step,
                extract_policy_value: None,
                form: Form::$form,
                annotation_guidance: $guidance.into(),
                server_names: $servers,
            },)+]
        }
    };
}

/// A role of one [`Registry`]: its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleId(u8);

const FILES: &[&str] = &seed::SANDBOXED_SERVERS;
const GIT: &[&str] = &[seed::GIT];

builtin_roles! {
    READ_PATH = 0, "read-path", Path, Path, Name, FILES,
        "filesystem path that will be read",
        "Assign to paths whose contents or metadata the tool reads, directories that it lists included.";
    WRITE_PATH = 1, "write-path", Path, Path, Name, FILES,
        "filesystem path that will be written: created or changed",
        "Assign to paths that the tool creates, writes or changes, and to the destination of a copy or move.";
    DELETE_PATH = 2, "delete-path", Path, Path, Name, FILES,
        "filesystem path that will be deleted",
        "Assign to paths that the tool removes, and to the source of a move.";
    WRITE_HISTORY = 3, "write-history", Path, Path, Name, GIT,
        "git repository whose history will be written: commits, branches or tags added or changed",
        "Assign to the repository path of tools that commit, branch, tag, merge or rebase.";
    DELETE_HISTORY = 4, "delete-history", Path, Path, Name, GIT,
        "git repository of whose history something may be deleted: commits, branches or tags",
        "Assign to the repository path of tools that delete branches or tags, drop stashes or reset.";
    FETCH_URL = 5, "fetch-url", Url, Url, Name, &["fetch"],
        "URL that will be fetched over HTTP or HTTPS",
        "Assign to arguments that hold a URL which the tool requests.";
    GIT_REMOTE_URL = 6, "git-remote-url", Url, GitUrl, Name, GIT,
        "git remote, by URL or by name, that will be fetched from or pushed to",
        "Assign to arguments that hold a remote's URL or name, also where the tool fills in a default.";
    GITHUB_OWNER = 7, "github-owner", Identifier, Lowercase, Name, &["github"],
        "owner of a GitHub repository",
        "Assign to arguments that hold the user or organization which owns a repository.";
    GITHUB_REPO = 8, "github-repo", Identifier, Lowercase, Name, &["github"],
        "name of a GitHub repository",
        "Assign to arguments that hold a repository's name without its owner.";
    PROXY_DOMAIN = 9, "proxy-domain", Identifier, Lowercase, Name, &["proxy"],
        "domain that a network proxy will let through",
        "Assign to arguments that hold a domain which becomes reachable.";
    SHARE_PERMISSION = 10, "share-permission", Opaque, Lowercase, Name, &["google-workspace"],
        "permission that sharing a document grants",
        "Assign to arguments that choose who may see or change a shared document, or how.";
    BRANCH_NAME = 11, "branch-name", Opaque, Identity, Name, &["git", "github"],
        "name of a git branch, tag or revision",
        "Assign to arguments that name a branch, a tag or another revision.";
    COMMIT_MESSAGE = 12, "commit-message", Opaque, Identity, Name, GIT,
        "message of a commit or an annotated tag",
        "Assign to arguments that hold the text of a commit or tag message.";
    EMAIL_ADDRESS = 13, "email-address", Opaque, Identity, Name, &["google-workspace"],
        "e-mail address that will receive something",
        "Assign to recipients: to, cc, bcc, attendees, and people a document is shared with.";
    EMAIL_BODY = 14, "email-body", Opaque, Identity, Name, &["google-workspace"],
        "text that will be sent to people",
        "Assign to the text of messages, invitations and comments.";
    NONE = 15, "none", Opaque, Identity, Name, &[],
        "argument that names no resource",
        "Assign to everything else: flags, limits, formats, identifiers of other systems.";
    TEXT = 16, "text", Opaque, Identity, Name, &[],
        "prose or data that is never taken for a path",
        "Assign to contents, messages, queries, patterns, selectors, names of patterns that are left out, and notes.";
    RESOURCE_URI = 17, "resource-uri", Url, Identity, Name, &[],
        "URI of something that will be read: a file of this machine or a web page, or data in itself",
        "Assign to arguments that take a `file:`, `http:`, `https:` or `data:` URI, or a path in its place.";
    SHELL_COMMAND = 18, "shell-command", Command, Identity, Name, &[],
        "command of a POSIX shell, which is judged by what its programs read, write, fetch and run",
        "Assign to arguments that hold a whole command line for sh, bash, dash or zsh; not to one program's words, and not to other shells.";
    EXECUTE = 19, "execute", Identifier, Identity, Free, &["shell"],
        "what a program runs: a file, code, or the name of a task, as a shell writes it",
        "Assign to arguments that name what a tool runs, such as a script or a task.";
}

/// A set of roles of one registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleSet(u64);

impl RoleSet {
    /// The five path roles that the sandbox resolves.
    pub const SANDBOX_SAFE: RoleSet = RoleSet(
        1 << RoleId::READ_PATH.0
            | 1 << RoleId::WRITE_PATH.0
            | 1 << RoleId::DELETE_PATH.0
            | 1 << RoleId::WRITE_HISTORY.0
            | 1 << RoleId::DELETE_HISTORY.0,
    );
    /// The roles of what is sent to people, and of who may see it.
    pub const SENT: RoleSet =
        RoleSet(1 << RoleId::SHARE_PERMISSION.0 | 1 << RoleId::EMAIL_ADDRESS.0 | 1 << RoleId::EMAIL_BODY.0);
    /// The roles of data that tells what a call does, so that an approval says which values it is for.
    pub const TELLING: RoleSet =
        RoleSet(1 << RoleId::SHARE_PERMISSION.0 | 1 << RoleId::EMAIL_ADDRESS.0 | 1 << RoleId::BRANCH_NAME.0);
    /// The roles of data that nobody opens, however much it looks like a path.
    pub const DATA: RoleSet = RoleSet(
        1 << RoleId::SHARE_PERMISSION.0
            | 1 << RoleId::BRANCH_NAME.0
            | 1 << RoleId::COMMIT_MESSAGE.0
            | 1 << RoleId::EMAIL_ADDRESS.0
            | 1 << RoleId::EMAIL_BODY.0
            | 1 << RoleId::TEXT.0
            | 1 << RoleId::SHELL_COMMAND.0,
    );
    /// The roles of texts for people and programs to read as they stand, JSON among them.
    pub const PROSE: RoleSet =
        RoleSet(1 << RoleId::COMMIT_MESSAGE.0 | 1 << RoleId::EMAIL_BODY.0 | 1 << RoleId::TEXT.0);
    /// The roles under which a `resource-uri` is judged.
    pub const OF_URIS: RoleSet = RoleSet(1 << RoleId::READ_PATH.0 | 1 << RoleId::FETCH_URL.0);
    /// Every possible role.
    pub const ALL: RoleSet = RoleSet(u64::MAX);

    /// Adds a role.
    pub fn insert(&mut self, role: RoleId) {
        self.0 |= 1 << role.0;
    }

    /// Returns `true` if the role is in the set.
    pub fn contains(self, role: RoleId) -> bool {
        self.0 & (1 << role.0) != 0
    }

    /// The roles in both sets.
    pub fn intersection(self, other: RoleSet) -> RoleSet {
        RoleSet(self.0 & other.0)
    }

    /// The roles in either set.
    pub fn union(self, other: RoleSet) -> RoleSet {
        RoleSet(self.0 | other.0)
    }

    /// The roles in this set that are not in the other.
    pub fn without(self, other: RoleSet) -> RoleSet {
        RoleSet(self.0 & !other.0)
    }

    /// Returns `true` if the set has no role.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns `true` if the sets share a role.
    pub fn intersects(self, other: RoleSet) -> bool {
        self.0 & other.0 != 0
    }

    /// The roles in the set, in table order.
    pub fn iter(self) -> impl Iterator<Item = RoleId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let lowest = RoleId(u8::try_from(left.trailing_zeros()).ok()?);
            // Taking one away clears the lowest bit and sets those below it.
            left &= left.checked_sub(1)?;
            Some(lowest)
        })
    }
}

impl From<RoleId> for RoleSet {
    fn from(role: RoleId) -> Self {
        Self(1 << role.0)
    }
}

impl FromIterator<RoleId> for RoleSet {
    fn from_iter<I: IntoIterator<Item = RoleId>>(roles: I) -> Self {
        let mut set = Self::default();
        roles.into_iter().for_each(|role| set.insert(role));
        set
    }
}

/// Why a host-defined role is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleError {
    /// Another role has this name.
    Taken(Box<str>),
    /// The registry already has [`Registry::CAPACITY`] roles.
    Full,
}

impl fmt::Display for RoleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(name) => write!(formatter, "a role `{name}` exists already, expected a new name"),
            Self::Full => write!(formatter, "more than {} roles", Registry::CAPACITY),
        }
    }
}

/// The roles of one engine: the built-in ones, `address` if it has a world, then the host's.
#[derive(Clone, Debug)]
pub struct Registry {
    definitions: Vec<RoleDefinition>,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            definitions: builtin_definitions(),
        }
    }
}

impl Registry {
    /// How many roles one registry can hold.
    pub const CAPACITY: usize = 64;

    /// The built-in roles, and `address` if the engine has a world (SPEC §13).
    pub fn new(has_world: bool) -> Self {
        let mut registry = Self::default();
        registry.definitions.extend(has_world.then(|| {
            RoleDefinition {
            name: "address".into(),
            description: "address of a place in the engine's world".into(),
            category: Category::Address,
            canonicalize: Step::Identity,
            extract_policy_value: None,
            form: Form::Name,
            annotation_guidance:
                "Assign to arguments that hold an address such as `root:repo/src/main.rs` or `mod:Name/file`."
                    .into(),
            server_names: &[],
        }
        }));
        registry
    }

    /// Adds a role that the host defines (SPEC §4).
    ///
    /// # Errors
    /// The name is taken, or there is no room.
    pub fn add(&mut self, role: RoleDefinition) -> Result<(), RoleError> {
        if self.find(&role.name).is_some() {
            return Err(RoleError::Taken(role.name));
        }
        if self.definitions.len() == Self::CAPACITY {
            return Err(RoleError::Full);
        }
        self.definitions.push(role);
        Ok(())
    }

    /// The role with this name.
    pub fn find(&self, name: &str) -> Option<RoleId> {
        self.definitions
            .iter()
            .position(|known| *known.name == *name)
            .map(|at| RoleId(at as u8))
    }

    /// The definition of a role of this registry.
    pub fn get(&self, role: RoleId) -> &RoleDefinition {
        match self.definitions.get(usize::from(role.0)) {
            Some(definition) => definition,
            // A role of another registry. `none` grants nothing.
            None => self.get(RoleId::NONE),
        }
    }

    /// The name of a role of this registry.
    pub fn name(&self, role: RoleId) -> &str {
        &self.get(role).name
    }

    /// Every role with its definition, in table order.
    pub fn iter(&self) -> impl Iterator<Item = (RoleId, &RoleDefinition)> {
        self.definitions
            .iter()
            .enumerate()
            .map(|(at, definition)| (RoleId(at as u8), definition))
    }

    /// The roles for which `keep` returns `true`.
    pub fn select(&self, keep: impl Fn(&RoleDefinition) -> bool) -> RoleSet {
        self.iter()
            .filter(|(_, definition)| keep(definition))
            .map(|(role, _)| role)
            .collect()
    }

    /// Returns `true` if the role is built in.
    pub fn is_builtin(role: RoleId) -> bool {
        usize::from(role.0) < BUILTIN
    }

    /// The roles whose values are addresses; empty without a world.
    pub fn addresses(&self) -> RoleSet {
        self.select(|definition| definition.category == Category::Address)
    }
}

#[cfg(test)]
mod tests;

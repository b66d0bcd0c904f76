//! The questions to a host and its answers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{GitIgnore, Host, HostError, RealpathError};

macro_rules! questions {
    ($($(#[$doc:meta])+ $variant:ident = $method:ident($($(#[$of_field:meta])+ $field:ident,)+);)+) => {
        /// A question to the host, by the name of the callback that answers it.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(tag = "ask", rename_all = "camelCase", rename_all_fields = "camelCase")]
        pub enum Question {
            $($(#[$doc])+ $variant { $($(#[$of_field])+ $field: String,)+ },)+
        }

        impl Question {
            $(pub fn $method($($field: &str),+) -> Self {
                Self::$variant { $($field: $field.to_owned()),+ }
            })+

            /// The last of its fields, which differs most from that of the next question.
            pub fn about(&self) -> &str {
                match self {
                    $(Self::$variant { $($field),+ } => last(&[$($field),+]),)+
                }
            }

            /// Asks the host.
            pub fn ask(&self, host: &dyn Host) -> Answer {
                match self {
                    $(Self::$variant { $($field),+ } => host.$method($($field),+).into(),)+
                }
            }
        }
    };
}

fn last<'f>(fields: &[&'f String]) -> &'f str {
    fields.last().map_or("", |field| field.as_str())
}

questions! {
    /// [`Host::realpath`].
    Realpath = realpath(
        /// The absolute lexical path.
        path,
    );
    /// [`Host::read_link`].
    ReadLink = read_link(
        /// The absolute lexical path.
        path,
    );
    /// [`Host::is_directory`].
    IsDirectory = is_directory(
        /// The absolute lexical path.
        path,
    );
    /// [`Host::git_remote_urls`].
    GitRemoteUrls = git_remote_urls(
        /// The canonical path of the repository or a directory within it.
        repo,
        /// The name of the remote.
        remote,
    );
    /// [`Host::git_default_remote_urls`].
    GitDefaultRemoteUrls = git_default_remote_urls(
        /// The canonical path of the repository or a directory within it.
        repo,
    );
    /// [`Host::git_url`].
    GitUrl = git_url(
        /// The canonical path of the repository or a directory within it.
        repo,
        /// The explicit URL.
        url,
    );
    /// [`Host::git_branch`].
    GitBranch = git_branch(
        /// The canonical path of the repository or a directory within it.
        repo,
    );
    /// [`Host::git_push_refs`].
    GitPushRefs = git_push_refs(
        /// The canonical path of the repository or a directory within it.
        repo,
        /// The name or the URL of the remote; empty for the default remote.
        remote,
        /// The ref that is pushed; empty for a push that does not say.
        reference,
    );
    /// [`Host::git_check_ignore`].
    GitCheckIgnore = git_check_ignore(
        /// The absolute path, without links on the way.
        path,
    );
    /// [`Host::role_value`].
    RoleValue = role_value(
        /// The name of the host-defined role.
        role,
        /// The step of the role that is a callback.
        step,
        /// The value given to the callback.
        value,
    );
    /// [`Host::condition`].
    Condition = condition(
        /// The name after `host:`.
        name,
        /// The subject, as JSON text.
        subject,
    );
}

/// An answer of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// A canonical path.
    Path(String),
    /// `realpath`: the path does not exist.
    NotFound,
    /// `realpath`: too many symbolic links.
    Loop,
    /// `realpath`: a directory on the way may not be searched.
    Denied,
    /// `realpath`: the canonical path is not UTF-8.
    NotUtf8,
    /// `realpath`: any other error of the file system.
    Other,
    /// `readLink`: the link's target, or `null` if the path is not a link.
    Link(Option<String>),
    /// `isDirectory`; `null` if the host cannot tell.
    Directory(Option<bool>),
    /// The URLs of a git question.
    Urls(Vec<String>),
    /// `gitPushRefs`; `null` if the refs cannot be told.
    Refs(Option<Vec<String>>),
    /// `gitCheckIgnore`; `null` if it cannot be told.
    Ignore(Option<GitIgnore>),
    /// A host-defined role's value, or a branch.
    Text(String),
    /// `condition`.
    Holds(bool),
    /// The host failed, with its message.
    Failed(String),
}

/// Converts each kind of content to its answer and back; an answer of another kind is returned as it is.
macro_rules! answers {
    ($($variant:ident($content:ty);)+) => {$(
        impl From<Result<$content, HostError>> for Answer {
            fn from(result: Result<$content, HostError>) -> Self {
                result.map_or_else(|error| Self::Failed(error.message), Self::$variant)
            }
        }

        impl TryFrom<Answer> for $content {
            type Error = Answer;

            fn try_from(answer: Answer) -> Result<Self, Answer> {
                match answer {
                    Answer::$variant(content) => Ok(content),
                    other => Err(other),
                }
            }
        }
    )+};
}

answers! {
    Link(Option<String>);
    Directory(Option<bool>);
    Urls(Vec<String>);
    Refs(Option<Vec<String>>);
    Ignore(Option<GitIgnore>);
    Text(String);
    Holds(bool);
}

/// As `answers`, for `realpath`, whose errors are answers too.
macro_rules! realpath_answers {
    ($($error:ident),+) => {
        impl From<Result<Cow<'_, str>, RealpathError>> for Answer {
            fn from(result: Result<Cow<'_, str>, RealpathError>) -> Self {
                match result {
                    Ok(real) => Self::Path(real.into_owned()),
                    $(Err(RealpathError::$error) => Self::$error,)+
                    Err(RealpathError::Host(error)) => Self::Failed(error.message),
                }
            }
        }

        impl TryFrom<Answer> for Result<String, RealpathError> {
            type Error = Answer;

            fn try_from(answer: Answer) -> Result<Self, Answer> {
                match answer {
                    Answer::Path(real) => Ok(Ok(real)),
                    $(Answer::$error => Ok(Err(RealpathError::$error)),)+
                    other => Err(other),
                }
            }
        }
    };
}

realpath_answers!(NotFound, Loop, Denied, NotUtf8, Other);

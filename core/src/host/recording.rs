//! Recorded answers of a host, which can be replayed as a host.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Host, HostError, RealpathError};
use crate::sort;

/// A question to the host, by the name of the callback that answers it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Question {
    /// [`Host::realpath`].
    Realpath {
        /// The absolute lexical path.
        path: String,
    },
    /// [`Host::read_link`].
    ReadLink {
        /// The absolute lexical path.
        path: String,
    },
    /// [`Host::is_directory`].
    IsDirectory {
        /// The absolute lexical path.
        path: String,
    },
    /// [`Host::git_remote_urls`].
    GitRemoteUrls {
        /// The canonical path of the repository or a directory within it.
        repo: String,
        /// The name of the remote.
        remote: String,
    },
    /// [`Host::git_default_remote_urls`].
    GitDefaultRemoteUrls {
        /// The canonical path of the repository or a directory within it.
        repo: String,
    },
    /// [`Host::git_url`].
    GitUrl {
        /// The canonical path of the repository or a directory within it.
        repo: String,
        /// The explicit URL.
        url: String,
    },
    /// [`Host::role_value`].
    RoleValue {
        /// The name of the host-defined role.
        role: String,
        /// The step of the role that is a callback.
        step: String,
        /// The value given to the callback.
        value: String,
    },
    /// [`Host::condition`].
    Condition {
        /// The name after `host:`.
        name: String,
        /// The subject, as JSON text.
        subject: String,
    },
}

impl Question {
    /// What the host answers.
    pub fn ask(&self, host: &dyn Host) -> Answer {
        let failed = |error: HostError| Answer::Failed(error.message);
        match self {
            Self::Realpath { path } => match host.realpath(path) {
                Ok(real) => Answer::Path(real.into_owned()),
                Err(RealpathError::NotFound) => Answer::NotFound,
                Err(RealpathError::Loop) => Answer::Loop,
                Err(RealpathError::Denied) => Answer::Denied,
                Err(RealpathError::NotUtf8) => Answer::NotUtf8,
                Err(RealpathError::Other) => Answer::Other,
                Err(RealpathError::Host(error)) => failed(error),
            },
            Self::ReadLink { path } => host.read_link(path).map_or_else(failed, Answer::Link),
            Self::IsDirectory { path } => host.is_directory(path).map_or_else(failed, Answer::Directory),
            Self::GitRemoteUrls { repo, remote } => host
                .git_remote_urls(repo, remote)
                .map_or_else(failed, Answer::Urls),
            Self::GitDefaultRemoteUrls { repo } => host
                .git_default_remote_urls(repo)
                .map_or_else(failed, Answer::Urls),
            Self::GitUrl { repo, url } => host.git_url(repo, url).map_or_else(failed, Answer::Urls),
            Self::RoleValue { role, step, value } => host
                .role_value(role, step, value)
                .map_or_else(failed, Answer::Text),
            Self::Condition { name, subject } => {
                host.condition(name, subject).map_or_else(failed, Answer::Holds)
            }
        }
    }
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
    /// A host-defined role's value.
    Text(String),
    /// `condition`.
    Holds(bool),
    /// The host failed, with its message.
    Failed(String),
}

/// A question with its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// The host's answer to it.
    pub answer: Answer,
}

/// Everything that one evaluation asked, in order. As a [`Host`] it gives the same answers again.
///
/// A question that was not recorded is a host error: a replay that differs from the recorded evaluation is denied,
/// not guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recording {
    home_dir: String,
    current_dir: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ignores_path_case: bool,
    exchanges: Vec<Exchange>,
    #[serde(skip)]
    index: BTreeMap<Question, usize>,
}

impl<'de> Deserialize<'de> for Recording {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Wire {
            home_dir: String,
            current_dir: String,
            #[serde(default)]
            ignores_path_case: bool,
            exchanges: Vec<Exchange>,
        }
        let wire = Wire::deserialize(deserializer)?;
        let recording = Self::new(&wire.home_dir, &wire.current_dir, wire.exchanges);
        Ok(recording.ignoring_path_case(wire.ignores_path_case))
    }
}

impl Recording {
    /// A recording of `exchanges` with a home and a current directory.
    pub fn new(home_dir: &str, current_dir: &str, exchanges: Vec<Exchange>) -> Self {
        let questions = exchanges.iter().map(|one| one.question.clone());
        let index = sort::map(questions.zip(0..));
        Self {
            home_dir: home_dir.to_owned(),
            current_dir: current_dir.to_owned(),
            ignores_path_case: false,
            exchanges,
            index,
        }
    }

    /// The same recording on a file system that ignores case, or does not.
    #[must_use]
    pub fn ignoring_path_case(mut self, ignores: bool) -> Self {
        self.ignores_path_case = ignores;
        self
    }

    /// The recorded exchanges, in order.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    fn answer(&self, question: &Question) -> Result<&Answer, HostError> {
        self.index
            .get(question)
            .and_then(|at| self.exchanges.get(*at))
            .map(|exchange| &exchange.answer)
            .ok_or_else(|| HostError::new(format!("the recording holds no answer to {question:?}")))
    }

    fn unfitting<T>(question: &Question, answer: &Answer) -> Result<T, HostError> {
        Err(match answer {
            Answer::Failed(message) => HostError::new(message.clone()),
            other => HostError::new(format!("the recording answers {question:?} with {other:?}")),
        })
    }

    fn urls(&self, question: &Question) -> Result<Vec<String>, HostError> {
        match self.answer(question)? {
            Answer::Urls(urls) => Ok(urls.clone()),
            other => Self::unfitting(question, other),
        }
    }
}

impl Host for Recording {
    fn home_dir(&self) -> &str {
        &self.home_dir
    }

    fn current_dir(&self) -> &str {
        &self.current_dir
    }

    fn ignores_path_case(&self) -> bool {
        self.ignores_path_case
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        let question = Question::Realpath {
            path: path.to_owned(),
        };
        match self.answer(&question).map_err(RealpathError::Host)? {
            Answer::Path(path) => Ok(Cow::Owned(path.clone())),
            Answer::NotFound => Err(RealpathError::NotFound),
            Answer::Loop => Err(RealpathError::Loop),
            Answer::Denied => Err(RealpathError::Denied),
            Answer::NotUtf8 => Err(RealpathError::NotUtf8),
            Answer::Other => Err(RealpathError::Other),
            other => Self::unfitting(&question, other).map_err(RealpathError::Host),
        }
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        let question = Question::ReadLink {
            path: path.to_owned(),
        };
        match self.answer(&question)? {
            Answer::Link(target) => Ok(target.clone()),
            other => Self::unfitting(&question, other),
        }
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        let question = Question::IsDirectory {
            path: path.to_owned(),
        };
        match self.answer(&question)? {
            Answer::Directory(answer) => Ok(*answer),
            other => Self::unfitting(&question, other),
        }
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.urls(&Question::GitRemoteUrls {
            repo: repo.to_owned(),
            remote: remote.to_owned(),
        })
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.urls(&Question::GitDefaultRemoteUrls {
            repo: repo.to_owned(),
        })
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.urls(&Question::GitUrl {
            repo: repo.to_owned(),
            url: url.to_owned(),
        })
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        let question = Question::RoleValue {
            role: role.to_owned(),
            step: step.to_owned(),
            value: value.to_owned(),
        };
        match self.answer(&question)? {
            Answer::Text(text) => Ok(text.clone()),
            other => Self::unfitting(&question, other),
        }
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        let question = Question::Condition {
            name: name.to_owned(),
            subject: subject.to_owned(),
        };
        match self.answer(&question)? {
            Answer::Holds(holds) => Ok(*holds),
            other => Self::unfitting(&question, other),
        }
    }
}

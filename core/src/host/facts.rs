//! One evaluation's memory of the host's answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::text::{has_only_normal_components, strip_directory};

use super::{Answer, Exchange, Host, HostError, Question, RealpathError, Recording};

/// Missing directories that are remembered as such; past this many they are simply asked about again.
const MISSING_ROOTS: usize = 64;

/// Asks each distinct question at most once, and refuses malformed answers.
///
/// INVARIANT: a path below one that the host called missing is missing too, so it is not asked about.
pub(crate) struct Facts<'h> {
    host: &'h dyn Host,
    realpaths: BTreeMap<Arc<str>, Realpath>,
    missing_roots: Vec<Box<str>>,
    others: BTreeMap<Question, Answer>,
    log: Option<Vec<Exchange>>,
}

type Realpath = Result<Arc<str>, RealpathError>;

impl<'h> Facts<'h> {
    /// An empty memory; `recorded` keeps every exchange for [`Facts::into_recording`].
    pub(crate) fn new(host: &'h dyn Host, recorded: bool) -> Self {
        Self {
            host,
            realpaths: BTreeMap::new(),
            missing_roots: Vec::new(),
            others: BTreeMap::new(),
            log: recorded.then(Vec::new),
        }
    }

    /// The recording of this evaluation for an engine of that home and current directory.
    pub(crate) fn into_recording(self, home_dir: &str, current_dir: &str) -> Recording {
        Recording::new(home_dir, current_dir, self.log.unwrap_or_default())
    }

    /// [`Host::realpath`] of a normalized path, once; the answer is absolute and normalized.
    pub(crate) fn realpath(&mut self, path: &str) -> Realpath {
        if let Some(known) = self.realpaths.get(path) {
            return known.clone();
        }
        if self.missing_roots.iter().any(|root| is_below(path, root)) {
            return Err(RealpathError::NotFound);
        }
        let answer: Realpath = match self.host.realpath(path) {
            Ok(real) if *real == *path || is_normalized(&real) => Ok(Arc::from(real)),
            Ok(real) => Err(RealpathError::Host(HostError::new(format!(
                "realpath answered {real:?} for `{path}`, expected an absolute path without `.`, `..` or `//`"
            )))),
            Err(error) => Err(error),
        };
        self.note(|| Exchange {
            question: Question::Realpath {
                path: path.to_owned(),
            },
            answer: match &answer {
                Ok(real) => Answer::Path(real.to_string()),
                Err(RealpathError::NotFound) => Answer::NotFound,
                Err(RealpathError::Loop) => Answer::Loop,
                Err(RealpathError::Denied) => Answer::Denied,
                Err(RealpathError::NotUtf8) => Answer::NotUtf8,
                Err(RealpathError::Other) => Answer::Other,
                Err(RealpathError::Host(error)) => Answer::Failed(error.message.clone()),
            },
        });
        let asked = match &answer {
            Ok(real) if **real == *path => Arc::clone(real),
            Ok(_) | Err(_) => Arc::from(path),
        };
        self.realpaths.insert(asked, answer.clone());
        answer
    }

    /// Remembers that everything below `root` is missing: `root` is, and its parent exists.
    pub(crate) fn note_missing_root(&mut self, root: &str) {
        if self.missing_roots.len() < MISSING_ROOTS
            && !self.missing_roots.iter().any(|known| **known == *root)
        {
            self.missing_roots.push(root.into());
        }
    }

    /// [`Host::read_link`], once.
    pub(crate) fn read_link(&mut self, path: &str) -> Result<Option<String>, HostError> {
        if self.missing_roots.iter().any(|root| is_below(path, root)) {
            return Ok(None);
        }
        let answer = self.ask(
            Question::ReadLink {
                path: path.to_owned(),
            },
            |host| match host.read_link(path) {
                Ok(target) => Answer::Link(target),
                Err(error) => Answer::Failed(error.message),
            },
        );
        match answer {
            Answer::Link(target) => Ok(target),
            other => Err(failure(other)),
        }
    }

    /// [`Host::is_directory`], once.
    pub(crate) fn is_directory(&mut self, path: &str) -> Result<Option<bool>, HostError> {
        let question = Question::IsDirectory {
            path: path.to_owned(),
        };
        let answer = self.ask(question, |host| match host.is_directory(path) {
            Ok(answer) => Answer::Directory(answer),
            Err(error) => Answer::Failed(error.message),
        });
        match answer {
            Answer::Directory(answer) => Ok(answer),
            other => Err(failure(other)),
        }
    }

    /// [`Host::git_remote_urls`], once.
    pub(crate) fn git_remote_urls(&mut self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        let question = Question::GitRemoteUrls {
            repo: repo.to_owned(),
            remote: remote.to_owned(),
        };
        self.urls(question, |host| host.git_remote_urls(repo, remote))
    }

    /// [`Host::git_default_remote_urls`], once.
    pub(crate) fn git_default_remote_urls(&mut self, repo: &str) -> Result<Vec<String>, HostError> {
        let question = Question::GitDefaultRemoteUrls {
            repo: repo.to_owned(),
        };
        self.urls(question, |host| host.git_default_remote_urls(repo))
    }

    /// [`Host::git_url`], once.
    pub(crate) fn git_url(&mut self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        let question = Question::GitUrl {
            repo: repo.to_owned(),
            url: url.to_owned(),
        };
        self.urls(question, |host| host.git_url(repo, url))
    }

    /// [`Host::role_value`], once.
    pub(crate) fn role_value(&mut self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        let question = Question::RoleValue {
            role: role.to_owned(),
            step: step.to_owned(),
            value: value.to_owned(),
        };
        let answer = self.ask(question, |host| match host.role_value(role, step, value) {
            Ok(text) => Answer::Text(text),
            Err(error) => Answer::Failed(error.message),
        });
        match answer {
            Answer::Text(text) => Ok(text),
            other => Err(failure(other)),
        }
    }

    /// [`Host::condition`], once.
    pub(crate) fn condition(&mut self, name: &str, subject: &str) -> Result<bool, HostError> {
        let question = Question::Condition {
            name: name.to_owned(),
            subject: subject.to_owned(),
        };
        let answer = self.ask(question, |host| match host.condition(name, subject) {
            Ok(holds) => Answer::Holds(holds),
            Err(error) => Answer::Failed(error.message),
        });
        match answer {
            Answer::Holds(holds) => Ok(holds),
            other => Err(failure(other)),
        }
    }

    fn urls(
        &mut self,
        question: Question,
        ask: impl FnOnce(&dyn Host) -> Result<Vec<String>, HostError>,
    ) -> Result<Vec<String>, HostError> {
        let answer = self.ask(question, |host| match ask(host) {
            Ok(urls) => Answer::Urls(urls),
            Err(error) => Answer::Failed(error.message),
        });
        match answer {
            Answer::Urls(urls) => Ok(urls),
            other => Err(failure(other)),
        }
    }

    fn ask(&mut self, question: Question, ask: impl FnOnce(&dyn Host) -> Answer) -> Answer {
        if let Some(known) = self.others.get(&question) {
            return known.clone();
        }
        let answer = ask(self.host);
        self.note(|| Exchange {
            question: question.clone(),
            answer: answer.clone(),
        });
        self.others.insert(question, answer.clone());
        answer
    }

    fn note(&mut self, exchange: impl FnOnce() -> Exchange) {
        if let Some(log) = &mut self.log {
            log.push(exchange());
        }
    }
}

fn failure(answer: Answer) -> HostError {
    match answer {
        Answer::Failed(message) => HostError::new(message),
        other => HostError::new(format!("the host answered with {other:?}")),
    }
}

fn is_below(path: &str, root: &str) -> bool {
    strip_directory(path, root).is_some_and(|names| !names.is_empty())
}

/// Whether `path` is absolute and free of `.`, `..`, empty components, a trailing `/` and NUL.
fn is_normalized(path: &str) -> bool {
    path == "/"
        || path
            .strip_prefix('/')
            .is_some_and(|names| !names.contains('\0') && has_only_normal_components(names))
}

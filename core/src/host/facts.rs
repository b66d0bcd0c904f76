//! The memory of the host's answers during one evaluation.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::text::{has_only_normal_components, strip_directory};

use super::{Answer, Exchange, Host, HostError, Question, RealpathError, Recording};

/// How many missing directories are remembered; others are asked about again.
const MISSING_ROOTS: usize = 64;

/// Asks each distinct question at most once, and refuses malformed answers.
///
/// A host failure decides the call, so the first one is kept ([`Facts::failure`]). From then on the host is not asked
/// again, and every answer is that nothing is there. Users of the answers check for a failure at the end.
///
/// INVARIANT: a path below a missing one is missing too, so the host is not asked about it.
pub(crate) struct Facts<'h> {
    host: &'h dyn Host,
    failure: Option<HostError>,
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
            failure: None,
            realpaths: BTreeMap::new(),
            missing_roots: Vec::new(),
            others: BTreeMap::new(),
            log: recorded.then(Vec::new),
        }
    }

    /// The recording of this evaluation, for an engine with this home and current directory.
    pub(crate) fn into_recording(self, home_dir: &str, current_dir: &str) -> Recording {
        Recording::new(home_dir, current_dir, self.log.unwrap_or_default())
    }

    /// The host's first failure. If there is one, no answer counts.
    pub(crate) fn failure(&self) -> Option<&HostError> {
        self.failure.as_ref()
    }

    /// Returns `true` if the host has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// `value`, unless the host has failed.
    ///
    /// # Errors
    /// The first failure.
    pub(crate) fn check<T>(&self, value: T) -> Result<T, HostError> {
        match &self.failure {
            Some(error) => Err(error.clone()),
            None => Ok(value),
        }
    }

    /// [`Host::realpath`] of a normalized path, once; the answer is absolute and normalized.
    pub(crate) fn realpath(&mut self, path: &str) -> Realpath {
        if let Some(known) = self.realpaths.get(path) {
            return known.clone();
        }
        if self.has_failed() || self.missing_roots.iter().any(|root| is_below(path, root)) {
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
        if let Err(RealpathError::Host(error)) = answer {
            self.failure = Some(error);
            return Err(RealpathError::NotFound);
        }
        let asked = match &answer {
            Ok(real) if **real == *path => Arc::clone(real),
            Ok(_) | Err(_) => Arc::from(path),
        };
        self.realpaths.insert(asked, answer.clone());
        answer
    }

    /// Remembers that `root`, whose parent exists, and everything below it are missing.
    pub(crate) fn note_missing_root(&mut self, root: &str) {
        if self.missing_roots.len() < MISSING_ROOTS
            && !self.missing_roots.iter().any(|known| **known == *root)
        {
            self.missing_roots.push(root.into());
        }
    }

    /// [`Host::read_link`], once.
    pub(crate) fn read_link(&mut self, path: &str) -> Option<String> {
        if self.missing_roots.iter().any(|root| is_below(path, root)) {
            return None;
        }
        let path = path.to_owned();
        let answer = self.ask(Question::ReadLink { path: path.clone() }, |host| {
            host.read_link(&path).map(Answer::Link)
        });
        match answer {
            Some(Answer::Link(target)) => target,
            other => self.unexpected(other),
        }
    }

    /// [`Host::is_directory`], once.
    pub(crate) fn is_directory(&mut self, path: &str) -> Option<bool> {
        let question = Question::IsDirectory {
            path: path.to_owned(),
        };
        let answer = self.ask(question, |host| host.is_directory(path).map(Answer::Directory));
        match answer {
            Some(Answer::Directory(answer)) => answer,
            other => self.unexpected(other),
        }
    }

    /// [`Host::git_remote_urls`], once.
    pub(crate) fn git_remote_urls(&mut self, repo: &str, remote: &str) -> Vec<String> {
        let question = Question::GitRemoteUrls {
            repo: repo.to_owned(),
            remote: remote.to_owned(),
        };
        self.urls(question, |host| host.git_remote_urls(repo, remote))
    }

    /// [`Host::git_default_remote_urls`], once.
    pub(crate) fn git_default_remote_urls(&mut self, repo: &str) -> Vec<String> {
        let question = Question::GitDefaultRemoteUrls {
            repo: repo.to_owned(),
        };
        self.urls(question, |host| host.git_default_remote_urls(repo))
    }

    /// [`Host::git_url`], once.
    pub(crate) fn git_url(&mut self, repo: &str, url: &str) -> Vec<String> {
        let question = Question::GitUrl {
            repo: repo.to_owned(),
            url: url.to_owned(),
        };
        self.urls(question, |host| host.git_url(repo, url))
    }

    /// [`Host::role_value`], once.
    pub(crate) fn role_value(&mut self, role: &str, step: &str, value: &str) -> String {
        let question = Question::RoleValue {
            role: role.to_owned(),
            step: step.to_owned(),
            value: value.to_owned(),
        };
        let answer = self.ask(question, |host| {
            host.role_value(role, step, value).map(Answer::Text)
        });
        match answer {
            Some(Answer::Text(text)) => text,
            other => self.unexpected(other),
        }
    }

    /// [`Host::condition`], once. A host that has failed is still asked, so that a reply can name every condition
    /// that does not hold.
    pub(crate) fn condition(&mut self, name: &str, subject: &str) -> bool {
        let question = Question::Condition {
            name: name.to_owned(),
            subject: subject.to_owned(),
        };
        let answer = self.ask_always(question, |host| host.condition(name, subject).map(Answer::Holds));
        match answer {
            Some(Answer::Holds(holds)) => holds,
            other => self.unexpected(other),
        }
    }

    fn urls(
        &mut self,
        question: Question,
        ask: impl FnOnce(&dyn Host) -> Result<Vec<String>, HostError>,
    ) -> Vec<String> {
        match self.ask(question, |host| ask(host).map(Answer::Urls)) {
            Some(Answer::Urls(urls)) => urls,
            other => self.unexpected(other),
        }
    }

    /// The answer; `None` if the host has failed.
    fn ask(
        &mut self,
        question: Question,
        ask: impl FnOnce(&dyn Host) -> Result<Answer, HostError>,
    ) -> Option<Answer> {
        match self.failure {
            Some(_) => None,
            None => self.ask_always(question, ask),
        }
    }

    fn ask_always(
        &mut self,
        question: Question,
        ask: impl FnOnce(&dyn Host) -> Result<Answer, HostError>,
    ) -> Option<Answer> {
        if let Some(known) = self.others.get(&question) {
            return Some(known.clone());
        }
        let answer = ask(self.host);
        self.note(|| Exchange {
            question: question.clone(),
            answer: match &answer {
                Ok(answer) => answer.clone(),
                Err(error) => Answer::Failed(error.message.clone()),
            },
        });
        match answer {
            Ok(answer) => {
                self.others.insert(question, answer.clone());
                Some(answer)
            }
            Err(error) => {
                self.failure.get_or_insert(error);
                None
            }
        }
    }

    /// Records an answer that does not belong to the question as a failure.
    fn unexpected<T: Default>(&mut self, answer: Option<Answer>) -> T {
        if let Some(answer) = answer {
            let error = HostError::new(format!("the host answered with {answer:?}"));
            self.failure.get_or_insert(error);
        }
        T::default()
    }

    fn note(&mut self, exchange: impl FnOnce() -> Exchange) {
        if let Some(log) = &mut self.log {
            log.push(exchange());
        }
    }
}

fn is_below(path: &str, root: &str) -> bool {
    strip_directory(path, root).is_some_and(|names| !names.is_empty())
}

/// Returns `true` if `path` is absolute and free of `.`, `..`, empty components, a trailing `/` and NUL.
fn is_normalized(path: &str) -> bool {
    path == "/"
        || path
            .strip_prefix('/')
            .is_some_and(|names| !names.contains('\0') && has_only_normal_components(names))
}

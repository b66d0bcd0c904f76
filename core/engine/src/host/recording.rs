//! Recorded answers of a host, which can be replayed as a host.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Answer, GitIgnore, Host, HostError, Question, RealpathError};
use crate::sort;

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

    /// The recorded answer; a missing one is an error, and so is an answer to another question.
    fn answer<T: TryFrom<Answer, Error = Answer>>(&self, question: &Question) -> Result<T, HostError> {
        let answer = self.recorded(question)?;
        T::try_from(answer).map_err(|answer| other_answer(question, answer))
    }

    fn recorded(&self, question: &Question) -> Result<Answer, HostError> {
        let exchange = self.index.get(question).and_then(|at| self.exchanges.get(*at));
        let missing = || HostError::new(format!("the recording holds no answer to {question:?}"));
        exchange.map(|one| one.answer.clone()).ok_or_else(missing)
    }
}

/// The error for an answer of another kind than the question asks for.
fn other_answer(question: &Question, answer: Answer) -> HostError {
    match answer {
        Answer::Failed(message) => HostError::new(message),
        other => HostError::new(format!("the recording answers {question:?} with {other:?}")),
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
        let answer: Result<Result<String, _>, _> = self.answer(&Question::realpath(path));
        answer.map_err(RealpathError::Host)?.map(Cow::Owned)
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        self.answer(&Question::read_link(path))
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        self.answer(&Question::is_directory(path))
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.answer(&Question::git_remote_urls(repo, remote))
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.answer(&Question::git_default_remote_urls(repo))
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.answer(&Question::git_url(repo, url))
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        self.answer(&Question::git_branch(repo))
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        self.answer(&Question::git_push_refs(repo, remote, reference))
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        self.answer(&Question::git_check_ignore(path))
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        self.answer(&Question::role_value(role, step, value))
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        self.answer(&Question::condition(name, subject))
    }
}

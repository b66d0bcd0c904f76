//! The host's side of an instance: questions are passed on, memory is counted.

use std::borrow::Cow;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use callgate_core::{Answer, Exchange, Host, HostError, Question, RealpathError, Recording};
use wasmtime::ResourceLimiter;

use super::bindings::callgate::gate::{host as imported, types};
use super::fault::MemoryRefused;

/// A host that many instances ask.
pub(crate) type SharedHost = Arc<dyn Host + Send + Sync>;

/// What an instance has of the outside.
pub(crate) struct State {
    host: SharedHost,
    memory: usize,
    limit: usize,
    /// Whether the host was asked anything in the work that the instance is at.
    was_asked: bool,
}

impl State {
    /// For an instance of at most `limit` bytes of memory.
    pub(super) fn new(host: SharedHost, limit: usize) -> Self {
        Self {
            host,
            memory: 0,
            limit,
            was_asked: false,
        }
    }

    /// Bytes of memory that the instance has.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Has another host answer from now on.
    pub(super) fn ask(&mut self, host: SharedHost) {
        self.host = host;
    }

    /// Whether the host was asked anything since the last time that this was.
    pub(super) fn take_was_asked(&mut self) -> bool {
        mem::take(&mut self.was_asked)
    }

    /// The answer, unless the host panics, which ends the instance.
    fn answer<T>(&mut self, question: impl FnOnce(&dyn Host) -> T) -> wasmtime::Result<T> {
        self.was_asked = true;
        let host = self.host.as_ref();
        catch_unwind(AssertUnwindSafe(|| question(host)))
            .map_err(|_| wasmtime::Error::msg("the host panicked"))
    }
}

impl ResourceLimiter for State {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let together = self.memory.saturating_add(desired.saturating_sub(current));
        if together > self.limit {
            return Err(MemoryRefused.into());
        }
        self.memory = together;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= 100_000)
    }
}

impl types::Host for State {}

impl imported::Host for State {
    fn home_dir(&mut self) -> wasmtime::Result<String> {
        self.answer(|host| host.home_dir().to_owned())
    }

    fn current_dir(&mut self) -> wasmtime::Result<String> {
        self.answer(|host| host.current_dir().to_owned())
    }

    fn ignores_path_case(&mut self) -> wasmtime::Result<bool> {
        self.answer(|host| host.ignores_path_case())
    }

    fn realpath(&mut self, path: String) -> wasmtime::Result<Result<types::Location, types::RealpathError>> {
        self.answer(|host| match host.realpath(&path) {
            Ok(real) if real == path => Ok(types::Location::Unchanged),
            Ok(real) => Ok(types::Location::At(real.into_owned())),
            Err(error) => Err(match error {
                RealpathError::NotFound => types::RealpathError::NotFound,
                RealpathError::Loop => types::RealpathError::TooManyLinks,
                RealpathError::Denied => types::RealpathError::Denied,
                RealpathError::NotUtf8 => types::RealpathError::NotUtf8,
                RealpathError::Other => types::RealpathError::Other,
                RealpathError::Host(error) => types::RealpathError::Failed(error.into()),
            }),
        })
    }

    fn read_link(&mut self, path: String) -> wasmtime::Result<Result<Option<String>, types::HostError>> {
        self.answer(|host| host.read_link(&path).map_err(Into::into))
    }

    fn is_directory(&mut self, path: String) -> wasmtime::Result<Result<Option<bool>, types::HostError>> {
        self.answer(|host| host.is_directory(&path).map_err(Into::into))
    }

    fn git_remote_urls(
        &mut self,
        repo: String,
        remote: String,
    ) -> wasmtime::Result<Result<Vec<String>, types::HostError>> {
        self.answer(|host| host.git_remote_urls(&repo, &remote).map_err(Into::into))
    }

    fn git_default_remote_urls(
        &mut self,
        repo: String,
    ) -> wasmtime::Result<Result<Vec<String>, types::HostError>> {
        self.answer(|host| host.git_default_remote_urls(&repo).map_err(Into::into))
    }

    fn git_url(
        &mut self,
        repo: String,
        url: String,
    ) -> wasmtime::Result<Result<Vec<String>, types::HostError>> {
        self.answer(|host| host.git_url(&repo, &url).map_err(Into::into))
    }

    fn role_value(
        &mut self,
        role: String,
        step: types::RoleStep,
        value: String,
    ) -> wasmtime::Result<Result<String, types::HostError>> {
        let step = step_name(step);
        self.answer(|host| host.role_value(&role, step, &value).map_err(Into::into))
    }

    fn condition(
        &mut self,
        name: String,
        subject: String,
    ) -> wasmtime::Result<Result<bool, types::HostError>> {
        self.answer(|host| host.condition(&name, &subject).map_err(Into::into))
    }
}

/// The step by the name that the core has for it.
pub(super) fn step_name(step: types::RoleStep) -> &'static str {
    match step {
        types::RoleStep::Canonicalize => "canonicalize",
        types::RoleStep::ExtractPolicyValue => "extractPolicyValue",
    }
}

impl From<HostError> for types::HostError {
    fn from(error: HostError) -> Self {
        Self {
            message: error.message,
        }
    }
}

/// A host that remembers what was asked while the first instance was loaded, so that every later one is loaded alike:
/// pinned directories are those of the moment when the gate was built.
pub(super) struct Remembering {
    host: SharedHost,
    exchanges: Mutex<Vec<Exchange>>,
}

impl Remembering {
    pub(super) fn new(host: SharedHost) -> Self {
        Self {
            host,
            exchanges: Mutex::default(),
        }
    }

    /// What was asked and answered so far, as a host.
    pub(super) fn recording(&self) -> Recording {
        let exchanges = self
            .exchanges
            .lock()
            .map_or_else(|_| Vec::new(), |exchanges| exchanges.clone());
        Recording::new(self.host.home_dir(), self.host.current_dir(), exchanges)
            .ignoring_path_case(self.host.ignores_path_case())
    }

    fn note(&self, question: Question, answer: Answer) {
        if let Ok(mut exchanges) = self.exchanges.lock() {
            exchanges.push(Exchange { question, answer });
        }
    }

    fn noted<T: Clone>(
        &self,
        question: Question,
        result: Result<T, HostError>,
        answer: impl FnOnce(T) -> Answer,
    ) -> Result<T, HostError> {
        let noted = match result.clone() {
            Ok(value) => answer(value),
            Err(error) => Answer::Failed(error.message),
        };
        self.note(question, noted);
        result
    }
}

impl Host for Remembering {
    fn home_dir(&self) -> &str {
        self.host.home_dir()
    }

    fn current_dir(&self) -> &str {
        self.host.current_dir()
    }

    fn ignores_path_case(&self) -> bool {
        self.host.ignores_path_case()
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        let result = self.host.realpath(path);
        let answer = match result.clone() {
            Ok(path) => Answer::Path(path.into_owned()),
            Err(RealpathError::NotFound) => Answer::NotFound,
            Err(RealpathError::Loop) => Answer::Loop,
            Err(RealpathError::Denied) => Answer::Denied,
            Err(RealpathError::NotUtf8) => Answer::NotUtf8,
            Err(RealpathError::Other) => Answer::Other,
            Err(RealpathError::Host(error)) => Answer::Failed(error.message),
        };
        let path = path.to_owned();
        self.note(Question::Realpath { path }, answer);
        result
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        let question = Question::ReadLink {
            path: path.to_owned(),
        };
        self.noted(question, self.host.read_link(path), Answer::Link)
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        let question = Question::IsDirectory {
            path: path.to_owned(),
        };
        self.noted(question, self.host.is_directory(path), Answer::Directory)
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        let question = Question::GitRemoteUrls {
            repo: repo.to_owned(),
            remote: remote.to_owned(),
        };
        self.noted(question, self.host.git_remote_urls(repo, remote), Answer::Urls)
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        let question = Question::GitDefaultRemoteUrls {
            repo: repo.to_owned(),
        };
        self.noted(question, self.host.git_default_remote_urls(repo), Answer::Urls)
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        let question = Question::GitUrl {
            repo: repo.to_owned(),
            url: url.to_owned(),
        };
        self.noted(question, self.host.git_url(repo, url), Answer::Urls)
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        let question = Question::RoleValue {
            role: role.to_owned(),
            step: step.to_owned(),
            value: value.to_owned(),
        };
        self.noted(question, self.host.role_value(role, step, value), Answer::Text)
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        let question = Question::Condition {
            name: name.to_owned(),
            subject: subject.to_owned(),
        };
        self.noted(question, self.host.condition(name, subject), Answer::Holds)
    }
}

//! The host's side of an instance: questions are passed on, memory is counted.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use callgate_engine::host::{Answer, Exchange, Host, Question, Recording};
use wasmtime::ResourceLimiter;

use super::bindings::callgate::gate::{host as imported, types};
use super::fault::MemoryRefused;
use crate::backend::SharedHost;
use types::{Existence, GitIgnore, Link, Location, PushRefs};

/// The outside as an instance sees it.
pub(crate) struct State {
    host: SharedHost,
    /// [`Host::begin`], once the evaluation that is running has a question.
    begun: Option<Option<Box<dyn Host + Send>>>,
    memory: usize,
    limit: usize,
    /// `true` if the host was asked anything since [`State::end`].
    was_asked: bool,
    /// The questions and answers, while they are recorded.
    record: Option<Vec<Exchange>>,
}

impl State {
    /// For an instance of at most `limit` bytes of memory.
    pub(super) fn new(host: SharedHost, limit: usize) -> Self {
        Self {
            host,
            begun: None,
            memory: 0,
            limit,
            was_asked: false,
            record: Some(Vec::new()),
        }
    }

    /// Bytes of memory that the instance has.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Returns the questions so far with their answers, as a host. From now on `host` answers, and nothing is recorded.
    pub(super) fn ask(&mut self, host: SharedHost) -> Recording {
        let exchanges = self.record.take().unwrap_or_default();
        let recording = Recording::new(self.host.home_dir(), self.host.current_dir(), exchanges)
            .ignoring_path_case(self.host.ignores_path_case());
        self.host = host;
        recording
    }

    /// Ends an evaluation: what the host has kept for it goes. Returns whether the host was asked anything.
    pub(super) fn end(&mut self) -> bool {
        self.begun = None;
        mem::take(&mut self.was_asked)
    }

    fn question(&mut self, question: Question) -> wasmtime::Result<Answer> {
        let mut begun = self.begun.take();
        let answer = self.guarded(|host| match begun.get_or_insert_with(|| host.begin()) {
            Some(begun) => question.ask(&**begun),
            None => question.ask(host),
        })?;
        self.begun = begun;
        if let Some(record) = &mut self.record {
            let answer = answer.clone();
            record.push(Exchange { question, answer });
        }
        Ok(answer)
    }

    /// The answer, unless the host panics, which ends the instance.
    fn guarded<T>(&mut self, question: impl FnOnce(&dyn Host) -> T) -> wasmtime::Result<T> {
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
        self.guarded(|host| host.home_dir().to_owned())
    }

    fn current_dir(&mut self) -> wasmtime::Result<String> {
        self.guarded(|host| host.current_dir().to_owned())
    }

    fn ignores_path_case(&mut self) -> wasmtime::Result<bool> {
        self.guarded(|host| host.ignores_path_case())
    }

    fn realpath(&mut self, path: String) -> wasmtime::Result<Location> {
        let question = Question::Realpath { path };
        let answer = self.question(question.clone())?;
        Ok(match (answer, question) {
            (Answer::Path(real), Question::Realpath { path }) if real == path => Location::Unchanged,
            (Answer::Path(real), _) => Location::At(real),
            (Answer::NotFound, _) => Location::NotFound,
            (Answer::Loop, _) => Location::TooManyLinks,
            (Answer::Denied, _) => Location::Denied,
            (Answer::NotUtf8, _) => Location::NotUtf8,
            (Answer::Other, _) => Location::Other,
            (other, _) => Location::Failed(failed(other)?),
        })
    }

    fn read_link(&mut self, path: String) -> wasmtime::Result<Link> {
        Ok(match self.question(Question::ReadLink { path })? {
            Answer::Link(target) => target.map_or(Link::Absent, Link::To),
            other => Link::Failed(failed(other)?),
        })
    }

    fn is_directory(&mut self, path: String) -> wasmtime::Result<Existence> {
        Ok(match self.question(Question::IsDirectory { path })? {
            Answer::Directory(Some(true)) => Existence::Yes,
            Answer::Directory(Some(false)) => Existence::No,
            Answer::Directory(None) => Existence::Unknown,
            other => Existence::Failed(failed(other)?),
        })
    }

    fn git_remote_urls(&mut self, repo: String, remote: String) -> wasmtime::Result<Urls> {
        urls(self.question(Question::GitRemoteUrls { repo, remote })?)
    }

    fn git_default_remote_urls(&mut self, repo: String) -> wasmtime::Result<Urls> {
        urls(self.question(Question::GitDefaultRemoteUrls { repo })?)
    }

    fn git_url(&mut self, repo: String, url: String) -> wasmtime::Result<Urls> {
        urls(self.question(Question::GitUrl { repo, url })?)
    }

    fn git_branch(&mut self, repo: String) -> wasmtime::Result<Result<String, types::HostError>> {
        Ok(match self.question(Question::GitBranch { repo })? {
            Answer::Text(branch) => Ok(branch),
            other => Err(failed(other)?),
        })
    }

    fn git_push_refs(
        &mut self,
        repo: String,
        remote: String,
        reference: String,
    ) -> wasmtime::Result<PushRefs> {
        let question = Question::GitPushRefs {
            repo,
            remote,
            reference,
        };
        Ok(match self.question(question)? {
            Answer::Refs(refs) => refs.map_or(PushRefs::Unknown, PushRefs::Known),
            other => PushRefs::Failed(failed(other)?),
        })
    }

    fn git_check_ignore(&mut self, path: String) -> wasmtime::Result<GitIgnore> {
        use callgate_engine::host::GitIgnore as Said;
        Ok(match self.question(Question::GitCheckIgnore { path })? {
            Answer::Ignore(Some(Said::Ignored)) => GitIgnore::Ignored,
            Answer::Ignore(Some(Said::Included)) => GitIgnore::Included,
            Answer::Ignore(Some(Said::Unmentioned)) => GitIgnore::Unmentioned,
            Answer::Ignore(None) => GitIgnore::Unknown,
            other => GitIgnore::Failed(failed(other)?),
        })
    }

    fn role_value(
        &mut self,
        role: String,
        step: types::RoleStep,
        value: String,
    ) -> wasmtime::Result<Result<String, types::HostError>> {
        let step = step_name(step).to_owned();
        Ok(match self.question(Question::RoleValue { role, step, value })? {
            Answer::Text(text) => Ok(text),
            other => Err(failed(other)?),
        })
    }

    fn condition(
        &mut self,
        name: String,
        subject: String,
    ) -> wasmtime::Result<Result<bool, types::HostError>> {
        Ok(match self.question(Question::Condition { name, subject })? {
            Answer::Holds(holds) => Ok(holds),
            other => Err(failed(other)?),
        })
    }
}

type Urls = Result<Vec<String>, types::HostError>;

fn urls(answer: Answer) -> wasmtime::Result<Urls> {
    Ok(match answer {
        Answer::Urls(urls) => Ok(urls),
        other => Err(failed(other)?),
    })
}

/// The host's failure. Any other answer would be one to another question, and ends the instance.
fn failed(answer: Answer) -> wasmtime::Result<types::HostError> {
    match answer {
        Answer::Failed(message) => Ok(types::HostError { message }),
        Answer::Path(_)
        | Answer::NotFound
        | Answer::Loop
        | Answer::Denied
        | Answer::NotUtf8
        | Answer::Other
        | Answer::Link(_)
        | Answer::Directory(_)
        | Answer::Urls(_)
        | Answer::Refs(_)
        | Answer::Ignore(_)
        | Answer::Text(_)
        | Answer::Holds(_) => Err(wasmtime::Error::msg("the host answered another question")),
    }
}

/// The step by the name that the core has for it.
fn step_name(step: types::RoleStep) -> &'static str {
    match step {
        types::RoleStep::Canonicalize => "canonicalize",
        types::RoleStep::ExtractPolicyValue => "extractPolicyValue",
    }
}

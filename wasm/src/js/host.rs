//! The host: an object of the package whose two methods never throw.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use callgate_core::{Host, HostError, RealpathError};
use wasm_bindgen::prelude::wasm_bindgen;

/// Room for an answer: the longest canonical path of Linux and more. Longer answers are fetched again.
const ROOM: usize = 4096 + 4;

#[wasm_bindgen]
extern "C" {
    /// The package's side of a host.
    pub type Callbacks;

    /// Answers `question` about the texts at `first` and `second`, and returns the answer's type; its length and
    /// its bytes are written to `answer`, as far as there is `room`.
    #[wasm_bindgen(method)]
    fn ask(
        this: &Callbacks,
        question: u32,
        first: *const u8,
        first_bytes: usize,
        second: *const u8,
        second_bytes: usize,
        answer: *mut u8,
        room: usize,
    ) -> u32;

    /// Writes the length and the bytes of the last answer again.
    #[wasm_bindgen(method)]
    fn repeat(this: &Callbacks, answer: *mut u8, room: usize);
}

/// What can be asked; the package has the same numbers.
#[derive(Clone, Copy)]
enum Question {
    Realpath = 0,
    ReadLink = 1,
    IsDirectory = 2,
    GitRemoteUrls = 3,
    GitDefaultRemoteUrls = 4,
    GitUrl = 5,
    Canonicalize = 6,
    ExtractPolicyValue = 7,
    Condition = 8,
}

/// What comes back.
enum Answer {
    /// `realpath`: nothing is there, and the deepest ancestor that exists.
    Missing(String),
    Text(String),
    Nothing,
    Yes,
    No,
    Strings(Vec<String>),
    Failed(RealpathError),
}

/// The callbacks of a host, with the memory that its answers are written to.
pub(super) struct HostBridge {
    callbacks: Callbacks,
    answer: Cell<Vec<u8>>,
}

impl HostBridge {
    pub(super) fn new(callbacks: Callbacks) -> Self {
        Self {
            callbacks,
            answer: Cell::default(),
        }
    }

    fn ask(&self, question: Question, first: &str, second: &str) -> Result<Answer, HostError> {
        // Taken away for the time of the question: a callback may ask something itself.
        let mut bytes = self.answer.take();
        bytes.resize(bytes.len().max(ROOM), 0);
        let kind = self.callbacks.ask(
            question as u32,
            first.as_ptr(),
            first.len(),
            second.as_ptr(),
            second.len(),
            bytes.as_mut_ptr(),
            bytes.len(),
        );
        let length = length(&bytes);
        if length > bytes.len() - 4 {
            bytes.resize(length + 4, 0);
            self.callbacks.repeat(bytes.as_mut_ptr(), bytes.len());
        }
        let answer = bytes.get(4..4 + length).and_then(|bytes| decode(kind, bytes));
        bytes.truncate(ROOM);
        self.answer.set(bytes);
        answer.ok_or_else(|| HostError::new("the host's answer is malformed"))
    }

    fn urls(&self, question: Question, first: &str, second: &str) -> Result<Vec<String>, HostError> {
        match self.ask(question, first, second)? {
            Answer::Strings(urls) => Ok(urls),
            other => Err(unexpected_answer(other)),
        }
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        match self.ask(Question::ReadLink, path, "")? {
            Answer::Text(target) => Ok(Some(target)),
            Answer::Nothing => Ok(None),
            other => Err(unexpected_answer(other)),
        }
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        match self.ask(Question::IsDirectory, path, "")? {
            Answer::Yes => Ok(Some(true)),
            Answer::No => Ok(Some(false)),
            Answer::Nothing => Ok(None),
            other => Err(unexpected_answer(other)),
        }
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        match self.ask(Question::Condition, name, subject)? {
            Answer::Yes => Ok(true),
            Answer::No => Ok(false),
            other => Err(unexpected_answer(other)),
        }
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        let question = match step {
            "canonicalize" => Question::Canonicalize,
            _ => Question::ExtractPolicyValue,
        };
        match self.ask(question, role, value)? {
            Answer::Text(text) => Ok(text),
            other => Err(unexpected_answer(other)),
        }
    }
}

fn length(bytes: &[u8]) -> usize {
    let length = bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    usize::try_from(length).unwrap_or_default()
}

fn decode(kind: u32, bytes: &[u8]) -> Option<Answer> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    Some(match kind {
        0 => Answer::Text(text(bytes)?),
        1 => Answer::Nothing,
        2 => Answer::Yes,
        3 => Answer::No,
        4 => {
            let mut strings = Vec::new();
            let mut rest = bytes;
            while !rest.is_empty() {
                let (one, after) = rest.get(4..)?.split_at_checked(length(rest))?;
                strings.push(text(one)?);
                rest = after;
            }
            Answer::Strings(strings)
        }
        5 => Answer::Failed(RealpathError::NotFound),
        6 => Answer::Failed(RealpathError::Loop),
        7 => Answer::Failed(RealpathError::Denied),
        8 => Answer::Failed(RealpathError::NotUtf8),
        9 => Answer::Failed(RealpathError::Other),
        10 => Answer::Failed(RealpathError::Host(HostError::new(text(bytes)?))),
        11 => Answer::Missing(text(bytes)?),
        _ => return None,
    })
}

fn unexpected_answer(answer: Answer) -> HostError {
    match answer {
        Answer::Failed(RealpathError::Host(error)) => error,
        Answer::Missing(_)
        | Answer::Text(_)
        | Answer::Nothing
        | Answer::Yes
        | Answer::No
        | Answer::Strings(_)
        | Answer::Failed(_) => {
            HostError::new("the host's answer is of another type than the question asks for")
        }
    }
}

/// A host with the two directories that it had when it was asked for them, for the time of one evaluation.
pub(super) struct JsHost<'a> {
    bridge: &'a HostBridge,
    home: &'a str,
    current: &'a str,
    ignores_path_case: bool,
    /// What the host said is missing, each without what is missing below it: there is nothing, and no link.
    missing: RefCell<Vec<String>>,
}

impl<'a> JsHost<'a> {
    pub(super) fn new(bridge: &'a HostBridge, home: &'a str, current: &'a str) -> Self {
        Self {
            bridge,
            home,
            current,
            ignores_path_case: false,
            missing: RefCell::default(),
        }
    }

    /// The same for a machine whose names may differ in case.
    pub(super) fn ignoring_case(self, ignores_path_case: bool) -> Self {
        Self {
            ignores_path_case,
            ..self
        }
    }

    fn is_missing(&self, path: &str) -> bool {
        let is_at_or_below = |root: &String| {
            path.strip_prefix(root.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.missing.borrow().iter().any(is_at_or_below)
    }

    /// Notes what is missing on the way from an ancestor that exists.
    fn note_missing(&self, path: &str, ancestor: &str) {
        let ancestor = ancestor.trim_end_matches('/');
        let below = path
            .strip_prefix(ancestor)
            .and_then(|rest| rest.strip_prefix('/'));
        if let Some(first) = below.and_then(|rest| rest.split('/').next()) {
            self.missing.borrow_mut().push(format!("{ancestor}/{first}"));
        }
    }
}

impl Host for JsHost<'_> {
    fn home_dir(&self) -> &str {
        self.home
    }

    fn current_dir(&self) -> &str {
        self.current
    }

    fn ignores_path_case(&self) -> bool {
        self.ignores_path_case
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        if self.is_missing(path) {
            return Err(RealpathError::NotFound);
        }
        let answer = self.bridge.ask(Question::Realpath, path, "");
        match answer.map_err(RealpathError::Host)? {
            Answer::Text(path) => Ok(Cow::Owned(path)),
            Answer::Failed(error) => Err(error),
            Answer::Missing(ancestor) => {
                self.note_missing(path, &ancestor);
                Err(RealpathError::NotFound)
            }
            other => Err(RealpathError::Host(unexpected_answer(other))),
        }
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        if self.is_missing(path) {
            return Ok(None);
        }
        self.bridge.read_link(path)
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        self.bridge.is_directory(path)
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.bridge.urls(Question::GitRemoteUrls, repo, remote)
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.bridge.urls(Question::GitDefaultRemoteUrls, repo, "")
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.bridge.urls(Question::GitUrl, repo, url)
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        self.bridge.role_value(role, step, value)
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        self.bridge.condition(name, subject)
    }
}

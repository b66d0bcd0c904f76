//! The host: an object of the package whose two methods never throw.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use callgate_engine::text::strip_directory;
use wasm_bindgen::prelude::wasm_bindgen;

/// Room for an answer: the longest canonical path of Linux and more. Longer answers are fetched again.
const ROOM: usize = 4096 + 4;

#[wasm_bindgen]
extern "C" {
    /// The package's side of a host.
    pub type Callbacks;

    /// Answers `question` about the strings at `first` and `second`, and returns the answer's type. The answer's length
    /// and bytes are written to `answer`, as far as there is `room`.
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

/// The questions. The package uses the same numbers. Where a question is about a third string, the second one holds both,
/// with a NUL between them.
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
    GitBranch = 9,
    GitPushRefs = 10,
    GitCheckIgnore = 11,
}

/// The answers.
enum Answer {
    /// For `realpath`: nothing is at the path; the text is its deepest ancestor that exists.
    Missing(String),
    Text(String),
    Nothing,
    Bool(bool),
    Strings(Vec<String>),
    Failed(RealpathError),
}

/// A host of the package, with its directories as they were when it was handed over.
#[wasm_bindgen]
pub struct WasmHost {
    callbacks: Callbacks,
    home: String,
    current: String,
    ignores_path_case: bool,
    /// The memory that answers are written to.
    answer: Cell<Vec<u8>>,
}

#[wasm_bindgen]
impl WasmHost {
    /// Takes the callbacks, the home directory, the current directory, and whether names may differ in case.
    #[wasm_bindgen(constructor)]
    pub fn new(callbacks: Callbacks, home: String, current: String, ignores_path_case: bool) -> Self {
        Self {
            callbacks,
            home,
            current,
            ignores_path_case,
            answer: Cell::default(),
        }
    }
}

impl WasmHost {
    /// The host for the time of one evaluation.
    pub fn asked(&self) -> JsHost<'_> {
        JsHost {
            host: self,
            missing: RefCell::default(),
        }
    }

    fn ask(&self, question: Question, first: &str, second: &str) -> Result<Answer, HostError> {
        // Taken away for the time of the question, because a callback may ask something itself.
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
        2 => Answer::Bool(true),
        3 => Answer::Bool(false),
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
    if let Answer::Failed(RealpathError::Host(error)) = answer {
        return error;
    }
    HostError::new("the host's answer is of another type than the question asks for")
}

/// A host for the time of one evaluation.
pub struct JsHost<'a> {
    host: &'a WasmHost,
    /// The path that was last found to be missing although its parent exists. Core goes up from a missing path step by
    /// step; what lies below this one need not cross to JavaScript.
    missing: RefCell<Option<String>>,
}

impl JsHost<'_> {
    fn is_missing(&self, path: &str) -> bool {
        let missing = self.missing.borrow();
        missing
            .as_ref()
            .is_some_and(|root| strip_directory(path, root).is_some())
    }

    /// Remembers the component below an ancestor that exists.
    fn note_missing(&self, path: &str, ancestor: &str) {
        let ancestor = ancestor.trim_end_matches('/');
        let below = strip_directory(path, ancestor).filter(|below| !below.is_empty());
        let first = below.and_then(|below| below.split('/').next());
        self.missing
            .replace(first.map(|first| format!("{ancestor}/{first}")));
    }
}

impl Host for JsHost<'_> {
    fn home_dir(&self) -> &str {
        &self.host.home
    }

    fn current_dir(&self) -> &str {
        &self.host.current
    }

    fn ignores_path_case(&self) -> bool {
        self.host.ignores_path_case
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        if self.is_missing(path) {
            return Err(RealpathError::NotFound);
        }
        let answer = self.host.ask(Question::Realpath, path, "");
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
        match self.host.ask(Question::ReadLink, path, "")? {
            Answer::Text(target) => Ok(Some(target)),
            Answer::Nothing => Ok(None),
            other => Err(unexpected_answer(other)),
        }
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        match self.host.ask(Question::IsDirectory, path, "")? {
            Answer::Bool(answer) => Ok(Some(answer)),
            Answer::Nothing => Ok(None),
            other => Err(unexpected_answer(other)),
        }
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.host.urls(Question::GitRemoteUrls, repo, remote)
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.host.urls(Question::GitDefaultRemoteUrls, repo, "")
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.host.urls(Question::GitUrl, repo, url)
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        match self.host.ask(Question::GitBranch, repo, "")? {
            Answer::Text(branch) => Ok(branch),
            other => Err(unexpected_answer(other)),
        }
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        if remote.contains('\0') {
            return Err(HostError::new("a remote holds a NUL"));
        }
        let second = [remote, "\0", reference].concat();
        match self.host.ask(Question::GitPushRefs, repo, &second)? {
            Answer::Strings(refs) => Ok(Some(refs)),
            Answer::Nothing => Ok(None),
            other => Err(unexpected_answer(other)),
        }
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        match self.host.ask(Question::GitCheckIgnore, path, "")? {
            Answer::Text(word) => match GitIgnore::parse(&word) {
                Some(said) => Ok(Some(said)),
                None => Err(unexpected_answer(Answer::Text(word))),
            },
            Answer::Nothing => Ok(None),
            other => Err(unexpected_answer(other)),
        }
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        let question = match step {
            "canonicalize" => Question::Canonicalize,
            _ => Question::ExtractPolicyValue,
        };
        match self.host.ask(question, role, value)? {
            Answer::Text(text) => Ok(text),
            other => Err(unexpected_answer(other)),
        }
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        match self.host.ask(Question::Condition, name, subject)? {
            Answer::Bool(holds) => Ok(holds),
            other => Err(unexpected_answer(other)),
        }
    }
}

//! Who answers the engine's questions: this machine, a machine that is data, recorded answers, or an object of the caller's.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use callgate_engine::host::{GitIgnore, Host, HostError as Failure, RealpathError, Recording};
use callgate_host::{RealHost, VirtualHost};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use serde::Deserialize as _;
use serde_json::Value;

use crate::errors::{self, HostError};
use crate::json;

pub(crate) type SharedHost = Arc<dyn Host + Send + Sync>;

/// A host that is built in: from `real_host`, `virtual_host` or `recorded_host`. A host of your own may hand it what it does not
/// answer itself.
#[pyclass(frozen, module = "callgate")]
pub struct BuiltinHost(SharedHost);

/// This machine: its filesystem, and git's configuration. It keeps nothing between two questions. Without the two directories, those of
/// this process.
#[pyfunction]
#[pyo3(signature = (home_dir = None, current_dir = None))]
pub fn real_host(home_dir: Option<&str>, current_dir: Option<&str>) -> PyResult<BuiltinHost> {
    let host = match (home_dir, current_dir) {
        (None, None) => RealHost::from_env(),
        (Some(home), Some(current)) => RealHost::new(home, current),
        (Some(_), None) | (None, Some(_)) => {
            let why = "expected both of home_dir and current_dir, or neither";
            return Err(PyValueError::new_err(why));
        }
    };
    match host {
        Ok(host) => Ok(BuiltinHost(Arc::new(host))),
        Err(error) => Err(HostError::new_err(error.message)),
    }
}

/// A machine that is data: a dict with `home`, `cwd`, `fs` and `git`, or the same as JSON text.
#[pyfunction]
pub fn virtual_host(machine: &Bound<'_, PyAny>) -> PyResult<BuiltinHost> {
    match VirtualHost::from_value(&data(machine, "machine")?) {
        Ok(host) => Ok(BuiltinHost(Arc::new(host))),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    }
}

/// The answers of an explanation's `recording`, once more. A question that was not recorded is an error.
#[pyfunction]
pub fn recorded_host(recording: &Bound<'_, PyAny>) -> PyResult<BuiltinHost> {
    match Recording::deserialize(data(recording, "recording")?) {
        Ok(host) => Ok(BuiltinHost(Arc::new(host))),
        Err(error) => Err(PyValueError::new_err(format!("recording: {error}"))),
    }
}

#[pymethods]
impl BuiltinHost {
    #[getter]
    fn home_dir(&self) -> &str {
        self.0.home_dir()
    }

    #[getter]
    fn current_dir(&self) -> &str {
        self.0.current_dir()
    }

    #[getter]
    fn ignores_path_case(&self) -> bool {
        self.0.ignores_path_case()
    }

    /// Raises `OSError` for a path without a canonical form.
    fn realpath(&self, py: Python<'_>, path: &str) -> PyResult<String> {
        let real = py.detach(|| self.0.realpath(path));
        real.map(Cow::into_owned).map_err(|error| raised(py, &error))
    }

    fn read_link(&self, py: Python<'_>, path: &str) -> PyResult<Option<String>> {
        py.detach(|| self.0.read_link(path)).map_err(said)
    }

    fn is_directory(&self, py: Python<'_>, path: &str) -> PyResult<Option<bool>> {
        py.detach(|| self.0.is_directory(path)).map_err(said)
    }

    fn git_remote_urls(&self, py: Python<'_>, repository: &str, remote: &str) -> PyResult<Vec<String>> {
        py.detach(|| self.0.git_remote_urls(repository, remote))
            .map_err(said)
    }

    fn git_default_remote_urls(&self, py: Python<'_>, repository: &str) -> PyResult<Vec<String>> {
        py.detach(|| self.0.git_default_remote_urls(repository))
            .map_err(said)
    }

    fn git_url(&self, py: Python<'_>, repository: &str, url: &str) -> PyResult<Vec<String>> {
        py.detach(|| self.0.git_url(repository, url)).map_err(said)
    }

    fn git_branch(&self, py: Python<'_>, repository: &str) -> PyResult<String> {
        py.detach(|| self.0.git_branch(repository)).map_err(said)
    }

    fn git_push_refs(
        &self,
        py: Python<'_>,
        repository: &str,
        remote: &str,
        reference: &str,
    ) -> PyResult<Option<Vec<String>>> {
        py.detach(|| self.0.git_push_refs(repository, remote, reference))
            .map_err(said)
    }

    fn git_check_ignore(&self, py: Python<'_>, path: &str) -> PyResult<Option<&'static str>> {
        let said = py.detach(|| self.0.git_check_ignore(path)).map_err(said)?;
        Ok(said.map(GitIgnore::as_str))
    }

    fn role_value(&self, py: Python<'_>, role: &str, step: &str, value: &str) -> PyResult<String> {
        py.detach(|| self.0.role_value(role, step, value)).map_err(said)
    }

    fn condition(&self, py: Python<'_>, name: &str, subject: &str) -> PyResult<bool> {
        py.detach(|| self.0.condition(name, subject)).map_err(said)
    }
}

fn said(error: Failure) -> PyErr {
    HostError::new_err(error.message)
}

/// Why a path has no canonical form, as Python says it.
fn raised(py: Python<'_>, error: &RealpathError) -> PyErr {
    let name = match error {
        RealpathError::NotFound => "ENOENT",
        RealpathError::Loop => "ELOOP",
        RealpathError::Denied => "EACCES",
        RealpathError::NotUtf8 => "EILSEQ",
        RealpathError::Other => "EIO",
        RealpathError::Host(error) => return said(error.clone()),
    };
    let number = py.import("errno").and_then(|module| module.getattr(name));
    match number {
        Ok(number) => PyOSError::new_err((number.unbind(), error.to_string())),
        Err(error) => error,
    }
}

fn data(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Value> {
    serde_json::from_str(&json::document(value, what)?).map_err(errors::other)
}

/// The host that an object is, or stands for.
pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<SharedHost> {
    if let Ok(host) = object.cast::<BuiltinHost>() {
        return Ok(Arc::clone(&host.get().0));
    }
    Ok(Arc::new(PythonHost::new(object)?))
}

/// How often a host may be asked for what another question to it needs.
const DEEPEST: usize = 8;

/// What a host must have. Everything else is optional.
const METHODS: [&str; 9] = [
    "realpath",
    "read_link",
    "is_directory",
    "git_remote_urls",
    "git_default_remote_urls",
    "git_url",
    "git_branch",
    "git_push_refs",
    "git_check_ignore",
];

/// An object of Python's that answers.
struct PythonHost {
    object: Py<PyAny>,
    home: String,
    current: String,
    ignores_path_case: bool,
}

impl PythonHost {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let lacks = |name: &&str| !object.getattr(*name).is_ok_and(|method| method.is_callable());
        let missing: Vec<&str> = METHODS.into_iter().filter(lacks).collect();
        if !missing.is_empty() {
            return Err(HostError::new_err(format!(
                "the host lacks `{}`",
                missing.join("`, `")
            )));
        }
        let text = |name: &str| -> PyResult<String> {
            let value = object.getattr(name)?;
            value
                .extract()
                .map_err(|_| HostError::new_err(format!("the host's `{name}` is not well-formed text")))
        };
        Ok(Self {
            home: text("home_dir")?,
            current: text("current_dir")?,
            ignores_path_case: match object.getattr_opt("ignores_path_case")? {
                Some(answer) => answer.cast::<PyBool>()?.is_true(),
                None => true,
            },
            object: object.clone().unbind(),
        })
    }

    /// The answer of a method, if it has the expected type.
    fn ask<T>(
        &self,
        name: &str,
        question: &[&str],
        expected: &str,
        read: impl FnOnce(&Bound<'_, PyAny>) -> Option<T>,
    ) -> Result<T, Failure> {
        Python::attach(|py| {
            let answer = self
                .call(py, name, question)
                .map_err(|error| failure(py, name, &error))?;
            read(&answer).ok_or_else(|| wrong(name, &answer, expected))
        })
    }

    fn call<'py>(&self, py: Python<'py>, name: &str, question: &[&str]) -> PyResult<Bound<'py, PyAny>> {
        thread_local! {
            static DEPTH: Cell<usize> = const { Cell::new(0) };
        }
        // A host whose answers need verdicts would end the stack.
        let depth = DEPTH.get();
        if depth >= DEEPEST {
            return Err(HostError::new_err("a host that asks a gate which asks it"));
        }
        DEPTH.set(depth + 1);
        let answer = self.called(py, name, question);
        DEPTH.set(depth);
        answer
    }

    fn called<'py>(&self, py: Python<'py>, name: &str, question: &[&str]) -> PyResult<Bound<'py, PyAny>> {
        let question = pyo3::types::PyTuple::new(py, question)?;
        self.object.bind(py).call_method1(name, question)
    }

    /// Fails if the object lacks a method that a host need not have.
    fn has(&self, name: &str) -> Result<(), Failure> {
        let has = Python::attach(|py| self.object.bind(py).hasattr(name));
        match has {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Failure::new(format!("the host has no method `{name}`"))),
        }
    }

    fn texts(&self, name: &str, question: &[&str]) -> Result<Vec<String>, Failure> {
        self.ask(name, question, "a list of str", texts)
    }
}

fn text(answer: &Bound<'_, PyAny>) -> Option<String> {
    Some(answer.cast::<PyString>().ok()?.to_str().ok()?.to_owned())
}

fn texts(answer: &Bound<'_, PyAny>) -> Option<Vec<String>> {
    // Text is a sequence of texts too, and would be read as its letters.
    if answer.cast::<PyString>().is_ok() {
        return None;
    }
    answer.extract().ok()
}

fn truth(answer: &Bound<'_, PyAny>) -> Option<bool> {
    Some(answer.cast::<PyBool>().ok()?.is_true())
}

/// `None` as an answer, or one of another type.
fn optional<T>(
    read: impl FnOnce(&Bound<'_, PyAny>) -> Option<T>,
) -> impl FnOnce(&Bound<'_, PyAny>) -> Option<Option<T>> {
    |answer| match answer.is_none() {
        true => Some(None),
        false => read(answer).map(Some),
    }
}

fn wrong(name: &str, answer: &Bound<'_, PyAny>, expected: &str) -> Failure {
    let shown = answer.repr().map(|shown| shown.to_string_lossy().into_owned());
    let shown = shown.unwrap_or_else(|_| "a value that cannot be shown".to_owned());
    Failure::new(format!("{name} answered {shown}, expected {expected}"))
}

/// What a method raised. A question that a person interrupts is not answered, and the program is told.
fn failure(py: Python<'_>, name: &str, error: &PyErr) -> Failure {
    if error.is_instance_of::<HostError>(py) {
        return Failure::new(error.value(py).to_string());
    }
    if error.is_instance_of::<PyKeyboardInterrupt>(py)
        && let Ok(threads) = py.import("_thread")
    {
        let _ = threads.call_method0("interrupt_main");
    }
    match error.is_instance_of::<PyException>(py) {
        true => Failure::new(format!("{name} raised {error}")),
        false => Failure::new(format!("{name} was interrupted")),
    }
}

/// Why a path has no canonical form, by the number of an error of the operating system.
fn unresolved(py: Python<'_>, error: &PyErr) -> Option<RealpathError> {
    if !error.is_instance_of::<PyOSError>(py) {
        return None;
    }
    let number: i32 = error.value(py).getattr("errno").ok()?.extract().ok()?;
    Some(callgate_host::realpath_error(&std::io::Error::from_raw_os_error(
        number,
    )))
}

impl Host for PythonHost {
    fn home_dir(&self) -> &str {
        &self.home
    }

    fn current_dir(&self) -> &str {
        &self.current
    }

    fn ignores_path_case(&self) -> bool {
        self.ignores_path_case
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        Python::attach(|py| match self.call(py, "realpath", &[path]) {
            Ok(answer) => match text(&answer) {
                Some(real) if real == path => Ok(Cow::Borrowed(path)),
                Some(real) => Ok(Cow::Owned(real)),
                None => Err(wrong("realpath", &answer, "str").into()),
            },
            Err(error) => {
                Err(unresolved(py, &error).unwrap_or_else(|| failure(py, "realpath", &error).into()))
            }
        })
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, Failure> {
        self.ask("read_link", &[path], "str or None", optional(text))
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, Failure> {
        self.ask("is_directory", &[path], "bool or None", optional(truth))
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, Failure> {
        self.texts("git_remote_urls", &[repo, remote])
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, Failure> {
        self.texts("git_default_remote_urls", &[repo])
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, Failure> {
        self.texts("git_url", &[repo, url])
    }

    fn git_branch(&self, repo: &str) -> Result<String, Failure> {
        self.ask("git_branch", &[repo], "str", text)
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, Failure> {
        let question = [repo, remote, reference];
        self.ask(
            "git_push_refs",
            &question,
            "a list of str or None",
            optional(texts),
        )
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, Failure> {
        let word = |answer: &Bound<'_, PyAny>| GitIgnore::parse(&text(answer)?);
        let expected = "`ignored`, `included`, `unmentioned` or None";
        self.ask("git_check_ignore", &[path], expected, optional(word))
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, Failure> {
        self.has("role_value")?;
        self.ask("role_value", &[role, step, value], "str", text)
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, Failure> {
        self.has("condition")?;
        self.ask("condition", &[name, subject], "bool", truth)
    }
}

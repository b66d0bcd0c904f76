//! A process under test: a JavaScript runtime with the npm package or with the component transpiled for JavaScript, or Python with its
//! module or with the component.

use std::env;
use std::io::{BufRead, BufReader, Write, copy, stderr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use super::python;
use crate::subject::{Batch, Need, Outcome, Subject, SubjectKind, Surroundings};
use serde_json::json;

/// A program that drives the engine. Each line of its input is a batch, each line of its output the outcomes.
pub(crate) struct ProcessSubject {
    name: &'static str,
    kind: SubjectKind,
    process: Child,
    /// `None` once the process is told to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl ProcessSubject {
    /// Starts the runtime `name` with the npm package.
    ///
    /// # Errors
    /// The runtime or Node is missing, or the package is not built.
    pub(crate) fn package(name: &'static str) -> Result<Self, String> {
        Self::start(
            name,
            SubjectKind::Js,
            &["dist/node.js", "wasm/callgate.wasm", "wasm/tools.wasm"],
        )
    }

    /// Starts Node with the component, transpiled for JavaScript.
    ///
    /// # Errors
    /// Node is missing, or the component is not built.
    pub(crate) fn component() -> Result<Self, String> {
        // The answers of the virtual host are typed, as for other hosts of components.
        Self::start(
            "jco",
            SubjectKind::Wasmtime,
            &["component/callgate.js", "dist/node.js"],
        )
    }

    fn start(name: &'static str, kind: SubjectKind, built: &[&str]) -> Result<Self, String> {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../js");
        for built in built {
            let path: PathBuf = package.join(built);
            if !path.exists() {
                return Err(format!(
                    "`{}` is missing: run `npm run build` in `js`",
                    path.display()
                ));
            }
        }
        let mut node = Command::new("node");
        node.arg(package.join(format!("test/conformance/{name}.mjs")));
        Self::run_as(name, kind, node)
    }

    /// Starts Python with the module that was built beside this program.
    ///
    /// # Errors
    /// Python is missing, or the module is not built.
    pub(crate) fn python() -> Result<Self, String> {
        Self::run_python(
            "python",
            SubjectKind::Native,
            "host-shim/python/tests/conformance.py",
        )
    }

    /// Starts Python with the component in wasmtime's package, which is installed on the first run.
    ///
    /// # Errors
    /// Python is missing, its module or the component is not built, or the package cannot be installed.
    pub(crate) fn component_in_python() -> Result<Self, String> {
        Self::run_python("wasmtime-py", SubjectKind::Wasmtime, "wasm/python/conformance.py")
    }

    fn run_python(name: &'static str, kind: SubjectKind, program: &str) -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let module = root.join("host-shim/python");
        let path = [python::module(&module.join("python"))?, module.join("tests")];
        let mut python = Command::new("python3");
        python
            .arg(root.join(program))
            .env(
                "PYTHONPATH",
                env::join_paths(path).map_err(|error| error.to_string())?,
            )
            .env("PYTHONDONTWRITEBYTECODE", "1");
        Self::run_as(name, kind, python)
    }

    fn run_as(name: &'static str, kind: SubjectKind, mut command: Command) -> Result<Self, String> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("`{}` cannot be started: {error}", command.get_program().display()))?;
        // Node makes the pipes that it inherits non-blocking, and this process may print its tables to the same one.
        if let Some(mut errors) = process.stderr.take() {
            thread::spawn(move || copy(&mut errors, &mut stderr()));
        }
        let input = process.stdin.take();
        let output = process.stdout.take().ok_or("the process has no output")?;
        let mut subject = Self {
            name,
            kind,
            process,
            input,
            output: BufReader::new(output),
        };
        let nothing = Batch {
            surroundings: Surroundings::Machine(json!({"home": "/", "cwd": "/"})),
            engine: None,
            operations: Vec::new(),
        };
        match subject.ask(&nothing) {
            Ok(_) => Ok(subject),
            Err(error) => Err(format!("`{name}` cannot be started: {error}")),
        }
    }

    fn ask(&mut self, batch: &Batch) -> Result<Vec<Outcome>, String> {
        let mut line = serde_json::to_vec(batch).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let input = self.input.as_mut().ok_or("the process has no input")?;
        input.write_all(&line).map_err(|error| error.to_string())?;
        input.flush().map_err(|error| error.to_string())?;
        let mut answer = String::new();
        self.output
            .read_line(&mut answer)
            .map_err(|error| error.to_string())?;
        serde_json::from_str(&answer).map_err(|error| format!("the process answered {answer:?}: {error}"))
    }
}

impl Subject for ProcessSubject {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> SubjectKind {
        self.kind
    }

    fn offers(&self, need: Need) -> bool {
        match need {
            Need::CaseInsensitive
            | Need::NormalizationInsensitive
            | Need::GitUrl
            | Need::GitDefaultRemote
            | Need::GitPush
            | Need::Script => true,
            Need::Free | Need::Functions => self.kind == SubjectKind::Js,
            Need::IgnorableFolding | Need::Windows | Need::Fuel => false,
        }
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        self.ask(batch).unwrap_or_else(|message| batch.faults(&message))
    }
}

impl Drop for ProcessSubject {
    fn drop(&mut self) {
        // At the end of its input the process closes what it started, such as a browser.
        drop(self.input.take());
        drop(self.process.wait());
    }
}

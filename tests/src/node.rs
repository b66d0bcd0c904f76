//! A Node process under test: the npm package, or the component transpiled for JavaScript.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use callgate_host::replay::{Batch, Need, Outcome, Subject, SubjectKind};

/// A script in Node: a line of its input is a batch, a line of its output the outcomes.
pub(crate) struct NodeSubject {
    name: &'static str,
    kind: SubjectKind,
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl NodeSubject {
    /// Starts the npm package.
    ///
    /// # Errors
    /// When Node is not there, or the package is not built.
    pub(crate) fn package() -> Result<Self, String> {
        let built = ["dist/node.js", "wasm/callgate.wasm"];
        Self::start("node", SubjectKind::Js, "test/conformance.mjs", &built)
    }

    /// Starts the component, transpiled for JavaScript.
    ///
    /// # Errors
    /// When Node is not there, or the component is not built.
    pub(crate) fn component() -> Result<Self, String> {
        let built = ["component/callgate.js", "dist/node.js"];
        // What the virtual host answers is typed, as it is for other hosts of components.
        Self::start("jco", SubjectKind::Wasmtime, "test/conformance/jco.mjs", &built)
    }

    fn start(name: &'static str, kind: SubjectKind, script: &str, built: &[&str]) -> Result<Self, String> {
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
        let mut process = Command::new("node")
            .arg(package.join(script))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("`node` cannot be started: {error}"))?;
        let input = process.stdin.take().ok_or("node has no input")?;
        let output = process.stdout.take().ok_or("node has no output")?;
        Ok(Self {
            name,
            kind,
            process,
            input,
            output: BufReader::new(output),
        })
    }

    fn ask(&mut self, batch: &Batch) -> Result<Vec<Outcome>, String> {
        let mut line = serde_json::to_vec(batch).map_err(|error| error.to_string())?;
        line.push(b'\n');
        self.input.write_all(&line).map_err(|error| error.to_string())?;
        self.input.flush().map_err(|error| error.to_string())?;
        let mut answer = String::new();
        self.output
            .read_line(&mut answer)
            .map_err(|error| error.to_string())?;
        serde_json::from_str(&answer).map_err(|error| format!("the process answered {answer:?}: {error}"))
    }
}

impl Subject for NodeSubject {
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
            Need::Free => self.kind == SubjectKind::Js,
            Need::IgnorableFolding | Need::Windows | Need::Fuel => false,
        }
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        self.ask(batch).unwrap_or_else(|message| {
            let fault = Outcome::Fault(message);
            batch.operations.iter().map(|_| fault.clone()).collect()
        })
    }
}

impl Drop for NodeSubject {
    fn drop(&mut self) {
        // It may have ended already, and there is nobody left to tell.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

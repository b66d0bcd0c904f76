//! The answers of `callgate map`, `lint`, `diff` and `check`, for JavaScript.
//!
//! Each answer is a line of JSON, the same that the command writes, and is handed over as soon as it is known.

use callgate_analysis::lines::{MapQuestion, tell_changes, tell_map};
use callgate_analysis::{Analysis, Comparison, check_invariants, lint_policy};
use callgate_boundary_wasm::{WasmHost, refusal};
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{BuildError, Engine};
use callgate_engine::host::Host;
use serde::Serialize;
use serde_json::json;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Who gets the answers.
    pub type Listener;

    /// Takes a line of JSON, and returns `true` if more are wanted. It never throws.
    #[wasm_bindgen(method)]
    fn hear(this: &Listener, line: &str) -> bool;
}

impl Listener {
    pub(crate) fn tell(&self, answer: &impl Serialize) -> bool {
        serde_json::to_string(answer).is_ok_and(|line| self.hear(&line))
    }
}

/// The documents of a policy and the engine that they make.
#[wasm_bindgen]
pub struct WasmPolicy {
    documents: Vec<(DocumentKind, String)>,
    engine: Engine,
    host: WasmHost,
}

#[wasm_bindgen]
impl WasmPolicy {
    /// Takes the documents, names and JSON texts in turn.
    ///
    /// # Errors
    /// The faults of the documents.
    #[wasm_bindgen(constructor)]
    pub fn new(texts: Vec<String>, host: WasmHost) -> Result<Self, JsValue> {
        let mut documents = Vec::new();
        let mut texts = texts.into_iter();
        while let (Some(name), Some(text)) = (texts.next(), texts.next()) {
            let unknown = || refusal(&format!("an engine has no document `{name}`"), &[]);
            documents.push((DocumentKind::parse(&name).ok_or_else(unknown)?, text));
        }
        let engine = build(&documents, &host.asked(), None);
        let engine = engine.map_err(|error| refusal(&error, &error.diagnostics))?;
        Ok(Self {
            documents,
            engine,
            host,
        })
    }

    /// Tells the calls that the documents allow, a tool a line: rows, or, `apart`, regions. `asked` is JSON: `{tools,
    /// to, only, apart}`, each of which may be absent. `disk`: with the links and repositories of the host.
    ///
    /// # Errors
    /// A message when no tool has one of the names.
    #[wasm_bindgen(js_name = tellMap)]
    pub fn tell_map(&self, asked: &str, disk: bool, listener: &Listener) -> Result<(), JsValue> {
        let asked: MapQuestion = serde_json::from_str(asked).map_err(|error| refusal(&error, &[]))?;
        let host = self.host.asked();
        let analysis = match disk {
            true => Analysis::with_host(&self.engine, &host),
            false => Analysis::new(&self.engine),
        };
        tell_map(analysis, &asked, &mut |line| listener.hear(line)).map_err(|error| refusal(&error, &[]))
    }

    /// Tells findings about the documents, a finding a line; the warnings of loading first. `disk`: with the links and
    /// repositories of the host.
    ///
    /// # Errors
    /// The faults of the documents, though there cannot be any by now.
    #[wasm_bindgen(js_name = tellFindings)]
    pub fn tell_findings(&self, disk: bool, listener: &Listener) -> Result<(), JsValue> {
        let mut warnings = self.engine.warnings().iter();
        if !warnings.all(|warning| listener.tell(warning)) {
            return Ok(());
        }
        let host = self.host.asked();
        let disk = disk.then_some(&host as &dyn Host);
        let found = lint_policy(&self.parts(), &host, disk, &|_| {})
            .map_err(|error| refusal(&error, &error.diagnostics))?;
        found.iter().all(|finding| listener.tell(finding));
        Ok(())
    }

    /// How the verdicts of a later policy differ, a tool that changes a line, and a line that counts. `disk`: with the links and
    /// repositories of its host.
    #[wasm_bindgen(js_name = tellChanges)]
    pub fn tell_changes(&self, later: &WasmPolicy, disk: bool, listener: &Listener) {
        let host = later.host.asked();
        let comparison = match disk {
            true => Comparison::with_host(&self.engine, &later.engine, &host),
            false => Comparison::new(&self.engine, &later.engine),
        };
        tell_changes(&comparison, &mut |line| listener.hear(line));
    }

    /// Tells the standing of the documents' statements about all calls, a statement a line. `disk`: with the links and
    /// repositories of the host.
    #[wasm_bindgen(js_name = tellStatements)]
    pub fn tell_statements(&self, disk: bool, listener: &Listener) {
        let host = self.host.asked();
        let disk = disk.then_some(&host as &dyn Host);
        let statements = check_invariants(&self.engine, disk, &|_| {});
        statements.iter().all(|statement| listener.tell(statement));
    }
}

impl WasmPolicy {
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn host(&self) -> &WasmHost {
        &self.host
    }

    /// The documents.
    pub(crate) fn parts(&self) -> Vec<(DocumentKind, DocumentSource<'_>)> {
        let documents = self.documents.iter();
        documents
            .map(|(kind, text)| (*kind, DocumentSource::Text(text)))
            .collect()
    }

    /// The engine on another host; in a world the bundle lies in this folder, wherever it lies here.
    pub(crate) fn build(&self, host: &dyn Host, folder: Option<&str>) -> Result<Engine, BuildError> {
        build(&self.documents, host, folder)
    }
}

fn build(
    documents: &[(DocumentKind, String)],
    host: &dyn Host,
    folder: Option<&str>,
) -> Result<Engine, BuildError> {
    let folder = folder.map(|folder| json!(folder).to_string());
    let mut builder = Engine::builder();
    for (kind, text) in documents {
        let text = match (kind, &folder) {
            (DocumentKind::Folder, Some(folder)) => folder,
            _ => text,
        };
        builder = builder.part(*kind, DocumentSource::Text(text));
    }
    builder.build(host)
}

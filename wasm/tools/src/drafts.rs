//! Drafts of annotations, and bundles to begin with.

use callgate_analysis::{Doubts, lint_policy};
use callgate_authoring::draft::{Held, Proposal, missing_annotations};
use callgate_authoring::packs::{self, PackError};
use callgate_authoring::start::Start;
use callgate_boundary_wasm::refusal;
use callgate_engine::bind::Call;
use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::Request;
use serde_json::{Value, json};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::analysis::WasmPolicy;

/// Drafts annotations for the tools of a server. The answer is a `Proposal` as JSON text.
///
/// # Errors
/// The faults of the documents.
#[wasm_bindgen(js_name = proposeAnnotations)]
pub fn propose_annotations(
    tools_list: &str,
    server_name: &str,
    existing: Option<String>,
) -> Result<String, JsValue> {
    let existing = existing.as_deref().map(DocumentSource::Text);
    Ok(json!(propose(tools_list, server_name, existing)?).to_string())
}

fn propose(
    tools_list: &str,
    server: &str,
    existing: Option<DocumentSource<'_>>,
) -> Result<Proposal, JsValue> {
    let tools = DocumentSource::Text(tools_list);
    callgate_authoring::draft::propose_annotations(tools, server, existing).map_err(|faults| {
        let listed: String = faults.iter().map(|fault| format!("\n{fault}")).collect();
        refusal(&format!("no annotations can be drafted:{listed}"), &faults)
    })
}

/// A draft, as `callgate annotate` tells it.
#[wasm_bindgen]
pub struct WasmDraft {
    proposal: Proposal,
    has_existing: bool,
}

#[wasm_bindgen]
impl WasmDraft {
    /// Drafts annotations beside those that there are: a text, or those of a pack.
    ///
    /// # Errors
    /// The faults of the documents, or of the name of the pack.
    #[wasm_bindgen(constructor)]
    pub fn new(
        tools_list: &str,
        server: &str,
        existing: Option<String>,
        pack: Option<String>,
    ) -> Result<Self, JsValue> {
        let of_pack = pack
            .map(|pack| packs::find(&pack)?.annotations(server))
            .transpose();
        let of_pack = of_pack.map_err(|error| unpacked(&error))?;
        let existing = match (&of_pack, &existing) {
            (Some(annotations), _) => Some(DocumentSource::Value(annotations)),
            (None, existing) => existing.as_deref().map(DocumentSource::Text),
        };
        Ok(Self {
            has_existing: existing.is_some(),
            proposal: propose(tools_list, server, existing)?,
        })
    }

    /// The annotations as text.
    pub fn text(&self) -> String {
        self.proposal.text.clone()
    }

    /// Returns `true` if the server differs from the annotations that there were.
    #[wasm_bindgen(js_name = hasDrift)]
    pub fn has_drift(&self) -> bool {
        self.has_existing && !self.proposal.drift.is_empty()
    }

    /// The answer for a program; without the annotations themselves where they are in a file. `doubts` are those of a bundle's
    /// policy, if there is one.
    pub fn answer(&self, doubts: Option<String>, is_in_file: bool) -> String {
        let doubts = doubts.and_then(|doubts| serde_json::from_str(&doubts).ok());
        let (findings, rule): (Vec<Value>, Value) = doubts.unwrap_or_default();
        let mut answer = json!(self.proposal);
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("doubts".to_owned(), findings.into());
            answer.insert("rule".to_owned(), rule);
            if is_in_file {
                answer.shift_remove("annotations");
                answer.shift_remove("text");
            }
        }
        answer.to_string()
    }
}

#[wasm_bindgen]
impl WasmPolicy {
    /// What the policy makes of the tools of a server, as JSON for [`WasmDraft::answer`].
    pub fn doubts(&self, server: &str) -> String {
        let host = self.host().asked();
        let found = lint_policy(&self.parts(), &host, None, &|_| {}).unwrap_or_default();
        let doubts = Doubts::about(server, found, |call| {
            let call = Call::from_json(call).ok()?;
            let verdict = self.engine().judge(&Request::prepared(&call), &host).verdict;
            Some(verdict.rule.into_owned())
        });
        json!((doubts.findings, doubts.rule)).to_string()
    }
}

/// The text of a file that annotations are added to.
#[wasm_bindgen]
pub struct WasmHeld {
    text: String,
    held: Held,
}

#[wasm_bindgen]
impl WasmHeld {
    /// Looks at the text.
    #[wasm_bindgen(constructor)]
    pub fn new(text: String) -> Self {
        let held = Held::by(&text);
        Self { text, held }
    }

    /// The same, of a file that a bundle names: it is annotations, whatever is in it.
    #[wasm_bindgen(js_name = whole)]
    pub fn whole(text: String) -> Self {
        let held = Held::Whole;
        Self { text, held }
    }

    /// The file of the annotations, if the text is a bundle that names it.
    pub fn named(&self) -> Option<String> {
        match &self.held {
            Held::Named(file) => Some(file.clone()),
            Held::Whole | Held::Within(_) | Held::Missing => None,
        }
    }

    /// What is wrong with the file of this path, if it is a bundle without annotations.
    pub fn missing(&self, path: &str) -> Option<String> {
        (self.held == Held::Missing).then(|| missing_annotations(path))
    }

    /// Returns `true` if the text is a bundle that has annotations.
    #[wasm_bindgen(js_name = isBundle)]
    pub fn is_bundle(&self) -> bool {
        matches!(self.held, Held::Within(_))
    }

    /// The annotations in the text.
    pub fn annotations(&self) -> Option<String> {
        self.held.of(&self.text).map(str::to_owned)
    }

    /// The text with these annotations in their place; `undefined` if they are there already.
    pub fn replaced(&self, annotations: &str) -> Option<String> {
        let is_new = self.held.of(&self.text) != Some(annotations);
        is_new.then(|| self.held.replaced(&self.text, annotations))
    }
}

/// A bundle to begin with, as `callgate init` writes it.
#[wasm_bindgen]
pub struct WasmStart {
    start: Start,
}

#[wasm_bindgen]
impl WasmStart {
    /// For the servers that have these packs, `PACK` or `SERVER=PACK`; for any project if there are none.
    ///
    /// # Errors
    /// What is wrong with a name.
    #[wasm_bindgen(constructor)]
    pub fn new(packs: Vec<String>) -> Result<Self, JsValue> {
        let start = Start::new(&packs, Vec::new(), "").map_err(|error| unpacked(&error))?;
        Ok(Self { start })
    }

    /// The files, names and texts in turn.
    pub fn files(&self) -> Vec<String> {
        let files = self.start.files.iter();
        files
            .flat_map(|(name, text)| [(*name).to_owned(), text.clone()])
            .collect()
    }

    /// The answer for a program, once the files are written to these paths.
    ///
    /// # Errors
    /// The fault of a pack, which the tests would have found.
    pub fn report(&self, paths: Vec<String>) -> Result<String, JsValue> {
        let report = self.start.report(&paths).map_err(|error| unpacked(&error))?;
        Ok(report.to_string())
    }
}

fn unpacked(error: &PackError) -> JsValue {
    let mut fault = Diagnostic::error(Code::InvalidValue, "packs", error.message.clone());
    fault.help.clone_from(&error.help);
    refusal(error, &[fault])
}

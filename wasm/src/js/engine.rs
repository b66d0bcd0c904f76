//! Building an engine and asking it.

use callgate_engine::approval::{Approvals, Approving, Moment};
use callgate_engine::bind::Call;
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{Audience, Engine, Existence, Operation, Request};
use callgate_engine::model::Semantics;
use callgate_engine::world::{Context, References};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::verdicts::Verdicts;
use super::wire::{self, Incoming, Tool};
use callgate_boundary_wasm::WasmHost;
use callgate_boundary_wasm::{refusal, to_js, to_js_error};

/// Collects the documents of an engine.
#[wasm_bindgen]
#[derive(Default)]
pub struct WasmBuilder {
    parts: Vec<(DocumentKind, String)>,
}

#[wasm_bindgen]
impl WasmBuilder {
    /// A builder without documents.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the JSON text of one document, as UTF-8.
    ///
    /// # Errors
    /// A message when engines have no such document, or the bytes are not UTF-8.
    pub fn part(&mut self, name: &str, text: Vec<u8>) -> Result<(), JsValue> {
        let unknown = || to_js_error(format!("an engine has no document `{name}`"));
        let part = DocumentKind::parse(name).ok_or_else(unknown)?;
        let text = String::from_utf8(text).map_err(to_js_error)?;
        self.parts.push((part, text));
        Ok(())
    }

    /// Builds the engine.
    ///
    /// # Errors
    /// `{message, diagnostics}` with every fault of every document.
    pub fn build(self, host: WasmHost) -> Result<WasmEngine, JsValue> {
        let mut builder = Engine::builder();
        for (part, text) in &self.parts {
            builder = builder.part(*part, DocumentSource::Text(text));
        }
        let engine = builder
            .build(&host.asked())
            .map_err(|error| refusal(&error, &error.diagnostics))?;
        let references = engine.places().map(|places| places.references());
        Ok(WasmEngine {
            references,
            engine,
            host,
            tools: Vec::new(),
            input: Vec::new(),
            output: Vec::new(),
            verdicts: Verdicts::default(),
            approvals: None,
            now: None,
        })
    }
}

/// An engine with the memory through which its calls come and go.
#[wasm_bindgen]
pub struct WasmEngine {
    pub(super) engine: Engine,
    pub(super) host: WasmHost,
    tools: Vec<Tool>,
    input: Vec<u8>,
    output: Vec<u8>,
    verdicts: Verdicts,
    /// The resolved places; `None` without a world.
    references: Option<References>,
    /// Approvals by a person; `None` if there are none.
    approvals: Option<Approvals>,
    /// When the next call is made.
    now: Option<Moment>,
}

#[wasm_bindgen]
impl WasmEngine {
    /// Where calls are written, with room for at least `bytes`. What was written there before is kept.
    pub fn reserve(&mut self, bytes: usize) -> *mut u8 {
        if self.input.len() < bytes {
            self.input.resize(bytes.next_power_of_two(), 0);
        }
        self.input.as_mut_ptr()
    }

    /// How many bytes there is room for.
    pub fn room(&self) -> usize {
        self.input.len()
    }

    /// Frees the memory of a large call beyond `bytes`.
    pub fn shrink(&mut self, bytes: usize) {
        self.input.truncate(bytes);
        self.input.shrink_to_fit();
        self.output = Vec::new();
    }

    /// `[number, members, others]` for an annotated tool, so that the package can write its calls: `members` are pairs of
    /// a name and whether its value matters. `undefined` for any other tool.
    pub fn tool(&mut self, server: &str, tool: &str) -> JsValue {
        if !self.engine.knows_tool(server, tool) {
            return JsValue::UNDEFINED;
        }
        let interest = self.engine.interest(server, tool);
        let shown = to_js(&(self.tools.len(), &interest.members, interest.others));
        let members = interest.members.iter().map(|(name, _)| (*name).to_owned());
        self.tools.push(Tool {
            server: server.to_owned(),
            name: tool.to_owned(),
            members: members.collect(),
        });
        shown
    }

    /// Returns `true` if a value that looks like a path matters under any name.
    #[wasm_bindgen(js_name = checksPathLike)]
    pub fn checks_path_like(&self) -> bool {
        self.engine.interest("", "").path_like
    }

    /// The warnings about the engine's documents.
    pub fn warnings(&self) -> JsValue {
        to_js(self.engine.warnings())
    }

    /// Returns `true` if calls of the server are allowed without being judged.
    #[wasm_bindgen(js_name = isTrustedServer)]
    pub fn is_trusted_server(&self, server: &str) -> bool {
        self.engine.is_trusted_server(server)
    }

    /// Returns `true` if every call of the tool is denied, whatever its arguments.
    #[wasm_bindgen(js_name = deniesEveryCall)]
    pub fn denies_every_call(&self, server: &str, tool: &str) -> bool {
        self.engine.denies_every_call(server, tool)
    }

    /// The semantics of an annotated tool; `null` for any other.
    pub fn semantics(&self, server: &str, tool: &str) -> JsValue {
        to_js(&self.engine.semantics(server, tool).map(Semantics::described))
    }

    /// The capability ceiling; `null` without one.
    pub fn ceiling(&self) -> JsValue {
        to_js(&self.engine.ceiling())
    }

    /// The absolute directory of the sandbox to which relative paths are relative; `undefined` without a sandbox.
    #[wasm_bindgen(js_name = sandbox)]
    pub fn allowed_directory(&self) -> Option<String> {
        self.engine.allowed_directories().next().map(str::to_owned)
    }

    /// Resolves the directories of allow rules again, and all pinned ones.
    ///
    /// # Errors
    /// A message when the host fails.
    pub fn refresh(&mut self) -> Result<(), JsValue> {
        self.engine.refresh(&self.host.asked()).map_err(to_js_error)
    }

    /// Judges escalated calls by these approvals from now on: a document as JSON text, or none.
    ///
    /// # Errors
    /// `{message, diagnostics}` with every fault of the document.
    #[wasm_bindgen(js_name = setApprovals)]
    pub fn set_approvals(&mut self, document: Option<String>) -> Result<(), JsValue> {
        self.approvals = None;
        if let Some(text) = document {
            self.approvals = Some(super::approval::read(&text)?);
        }
        Ok(())
    }

    /// When the next calls are made, in milliseconds since 1970.
    #[wasm_bindgen(js_name = setNow)]
    pub fn set_now(&mut self, milliseconds: f64) {
        self.now = Some(Moment::from_millis(milliseconds as i64));
    }

    /// The constraints of an approval that would cover the call, as JSON text; `undefined` unless it escalates and can
    /// be covered.
    pub fn offer(&self, tool: usize, bytes: usize) -> Option<String> {
        let Incoming { call, container } = incoming(&self.input, &self.tools, tool, bytes);
        let offer = self
            .engine
            .offer(&Request::gate(&call).in_container(container), &self.host.asked());
        offer.map(|offer| offer.to_json())
    }

    /// Judges the call in the first `bytes` and returns the verdict's number.
    pub fn evaluate(&mut self, tool: usize, bytes: usize) -> u32 {
        let Incoming { call, .. } = incoming(&self.input, &self.tools, tool, bytes);
        let request = approved(Request::prepared(&call), self.approvals.as_ref(), self.now);
        let response = self.engine.judge(&request, &self.host.asked());
        self.verdicts.number(&response.verdict)
    }

    /// The same for a call as JSON text, with a context as JSON text if it has one.
    ///
    /// # Errors
    /// A message when the text is not a call.
    #[wasm_bindgen(js_name = evaluateText)]
    pub fn evaluate_text(&mut self, text: &str, context: Option<String>) -> Result<u32, JsValue> {
        let mut call = Call::from_json(text).map_err(to_js_error)?;
        if let Some(context) = context {
            call = call.within(read_context(&context));
        }
        let request = approved(Request::prepared(&call), self.approvals.as_ref(), self.now);
        let response = self.engine.judge(&request, &self.host.asked());
        Ok(self.verdicts.number(&response.verdict))
    }

    /// Prepares and judges, and returns the verdict's number. The changes to the arguments are in the output.
    pub fn gate(&mut self, tool: usize, bytes: usize) -> u32 {
        let Incoming { call, container } = incoming(&self.input, &self.tools, tool, bytes);
        let request = approved(
            Request::gate(&call).in_container(container),
            self.approvals.as_ref(),
            self.now,
        );
        let gated = self.engine.judge(&request, &self.host.asked());
        wire::write(&gated.prepared.unwrap_or_default(), &mut self.output);
        self.verdicts.number(&gated.verdict)
    }

    /// Prepares without judging. The changes to the arguments are in the output.
    ///
    /// # Errors
    /// A message when the host fails, or the arguments are not an object.
    pub fn prepare(
        &mut self,
        tool: usize,
        bytes: usize,
        allowed_directory: Option<String>,
    ) -> Result<(), JsValue> {
        let Incoming { call, container } = incoming(&self.input, &self.tools, tool, bytes);
        let (host, directory) = (self.host.asked(), allowed_directory.as_deref());
        let prepared = self.engine.prepare(&call, directory, container, &host);
        wire::write(&prepared.map_err(to_js_error)?, &mut self.output);
        Ok(())
    }

    /// The address of the output.
    pub fn output(&self) -> *const u8 {
        self.output.as_ptr()
    }

    /// The verdict of that number.
    pub fn verdict(&self, number: u32) -> JsValue {
        to_js(&self.verdicts.verdict(number))
    }

    /// The reason of the last verdict, where its number says that it depends on the call.
    pub fn reason(&self) -> String {
        self.verdicts.reason().to_owned()
    }

    /// Explains the verdict of `evaluate`, or of `gate`. An explanation for an agent says nothing about the host.
    pub fn explain(&self, tool: usize, bytes: usize, gates: bool, for_agent: bool) -> JsValue {
        let Incoming { call, container } = incoming(&self.input, &self.tools, tool, bytes);
        let request = match gates {
            true => Request::gate(&call).in_container(container),
            false => Request::prepared(&call),
        };
        let request = approved(request, self.approvals.as_ref(), self.now);
        let audience = match for_agent {
            true => Audience::Agent,
            false => Audience::Operator,
        };
        let host = self.host.asked();
        to_js(&self.engine.judge(&request.explained(audience), &host).explanation)
    }

    /// `[reply, reference]`: the place of an address, and the number of a reference to it or `null`; `undefined` without a
    /// world.
    pub fn resolve(&mut self, address: &str, require_exists: bool, context: &str) -> JsValue {
        let (Some(places), Some(references)) = (self.engine.places(), &mut self.references) else {
            return JsValue::UNDEFINED;
        };
        let existence = match require_exists {
            true => Existence::Required,
            false => Existence::NotRequired,
        };
        let (host, context) = (self.host.asked(), read_context(context));
        let (reply, reference) = places.resolve(address, existence, &context, references, &host);
        to_js(&(reply, reference.map(|one| one.number())))
    }

    /// The path that a reference stands for.
    #[wasm_bindgen(js_name = hostPath)]
    pub fn host_path(&self, reference: f64) -> Option<String> {
        let references = self.references.as_ref()?;
        references.numbered(reference as u64).map(str::to_owned)
    }

    /// Ends a reference, or all of them. Returns `true` if that one was valid.
    pub fn revoke(&mut self, reference: Option<f64>) -> bool {
        let Some(references) = &mut self.references else {
            return false;
        };
        match reference {
            Some(reference) => references.revoke_numbered(reference as u64),
            None => {
                references.revoke_all();
                false
            }
        }
    }

    /// The reply that allows or refuses an operation; `undefined` without a world.
    #[expect(clippy::too_many_arguments, reason = "the fields of an operation, one by one")]
    pub fn enforce(
        &self,
        mode: Option<String>,
        tool: &str,
        command: &str,
        root: &str,
        subdirectory: Option<String>,
        address: Option<String>,
        context: &str,
    ) -> JsValue {
        let Some(places) = self.engine.places() else {
            return JsValue::UNDEFINED;
        };
        let operation = Operation {
            tool,
            command,
            root,
            subdirectory: subdirectory.as_deref(),
            address: address.as_deref(),
        };
        let (host, context) = (self.host.asked(), read_context(context));
        to_js(&places.enforce(mode.as_deref(), &operation, &context, &host))
    }

    /// The roles of each argument in the call, as pairs; `null` for a tool without annotation.
    pub fn annotation(&self, tool: usize, bytes: usize) -> JsValue {
        let incoming = incoming(&self.input, &self.tools, tool, bytes);
        to_js(&self.engine.annotation(&incoming.call))
    }
}

fn approved<'r>(request: Request<'r>, approvals: Option<&'r Approvals>, now: Option<Moment>) -> Request<'r> {
    Request {
        approvals: approvals.map(|approvals| Approving { approvals, now }),
        ..request
    }
}

/// A context that cannot be read counts as empty, so a rule that needs it denies the call.
fn read_context(text: &str) -> Context {
    Context::from_json(text).unwrap_or_default()
}

fn incoming<'b>(input: &'b [u8], tools: &'b [Tool], tool: usize, bytes: usize) -> Incoming<'b> {
    wire::read(input.get(..bytes).unwrap_or_default(), tools.get(tool))
}

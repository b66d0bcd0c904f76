//! Building an engine, and asking it.

use callgate_core::{
    Audience, Call, Context, DocumentKind, DocumentSource, Engine, Existence, Operation, PrepareError,
    References, Reply, Request,
};
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::host::{Callbacks, HostBridge, JsHost};
use super::to_js;
use super::verdicts::Verdicts;
use super::wire::{self, Incoming, Tool};

/// Why something is refused, as the package's errors have it.
#[derive(Serialize)]
struct Refusal {
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<callgate_core::Diagnostic>,
}

pub(super) fn refusal(message: impl ToString, diagnostics: Vec<callgate_core::Diagnostic>) -> JsValue {
    let message = message.to_string();
    to_js(&Refusal { message, diagnostics })
}

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
    /// When an engine has no such document, or the bytes are not UTF-8.
    pub fn part(&mut self, name: &str, text: Vec<u8>) -> Result<(), JsValue> {
        let part = DocumentKind::from_key(name)
            .ok_or_else(|| refusal(format!("an engine has no document `{name}`"), Vec::new()))?;
        let text = String::from_utf8(text).map_err(|error| refusal(error, Vec::new()))?;
        self.parts.push((part, text));
        Ok(())
    }

    /// Builds the engine.
    ///
    /// # Errors
    /// `{message, diagnostics}` with every fault of every document.
    pub fn build(
        self,
        callbacks: Callbacks,
        home: String,
        current: String,
        ignores_path_case: bool,
    ) -> Result<WasmEngine, JsValue> {
        let builder = self
            .parts
            .iter()
            .fold(Engine::builder(), |builder, (part, text)| {
                builder.part(*part, DocumentSource::Text(text))
            });
        let bridge = HostBridge::new(callbacks);
        let host = JsHost::new(&bridge, &home, &current).ignoring_case(ignores_path_case);
        let engine = builder
            .build(&host)
            .map_err(|error| refusal(&error, error.diagnostics.clone()))?;
        let references = engine.places().map(|places| places.references());
        Ok(WasmEngine {
            references,
            engine,
            bridge,
            home,
            current,
            tools: Vec::new(),
            input: Vec::new(),
            output: Vec::new(),
            verdicts: Verdicts::default(),
        })
    }
}

/// What the package must know to write the calls of one tool.
#[derive(Serialize)]
struct ShownTool<'e> {
    number: usize,
    members: Vec<(&'e str, bool)>,
    others: bool,
}

/// An engine with the memory through which its calls come and go.
#[wasm_bindgen]
pub struct WasmEngine {
    engine: Engine,
    bridge: HostBridge,
    home: String,
    current: String,
    tools: Vec<Tool>,
    input: Vec<u8>,
    output: Vec<u8>,
    verdicts: Verdicts,
    /// Places that were resolved; none without a world.
    references: Option<References>,
}

#[wasm_bindgen]
impl WasmEngine {
    /// Where calls are written, with room for at least `bytes`; what was written there stays.
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

    /// Lets go of the memory that one large call took.
    pub fn shrink(&mut self, bytes: usize) {
        self.input.truncate(bytes);
        self.input.shrink_to_fit();
        self.output = Vec::new();
    }

    /// `{number, members, others}` for an annotated tool, `undefined` for any other.
    pub fn tool(&mut self, server: &str, tool: &str) -> JsValue {
        if !self.engine.knows_tool(server, tool) {
            return JsValue::UNDEFINED;
        }
        let interest = self.engine.interest(server, tool);
        let shown = to_js(&ShownTool {
            number: self.tools.len(),
            members: interest.members.clone(),
            others: interest.others,
        });
        self.tools.push(Tool {
            server: server.to_owned(),
            name: tool.to_owned(),
            members: interest
                .members
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect(),
        });
        shown
    }

    /// Whether what looks like a path matters whatever its name.
    #[wasm_bindgen(js_name = checksPathLike)]
    pub fn checks_path_like(&self) -> bool {
        self.engine.interest("", "").path_like
    }

    /// What was noticed when the engine was built.
    pub fn warnings(&self) -> JsValue {
        to_js(self.engine.warnings())
    }

    /// Whether calls of the server are allowed unseen.
    #[wasm_bindgen(js_name = isTrustedServer)]
    pub fn is_trusted_server(&self, server: &str) -> bool {
        self.engine.is_trusted_server(server)
    }

    /// What an annotated tool does, with what follows from its kind; `null` for any other.
    pub fn semantics(&self, server: &str, tool: &str) -> JsValue {
        let semantics = self.engine.semantics(server, tool);
        to_js(&semantics.map(callgate_core::Semantics::described))
    }

    /// The capability ceiling; `null` without one.
    pub fn ceiling(&self) -> JsValue {
        to_js(&self.engine.ceiling())
    }

    /// The directory of the sandbox that relative paths are relative to, absolute; `undefined` without a sandbox.
    #[wasm_bindgen(js_name = allowedDirectory)]
    pub fn allowed_directory(&self) -> Option<String> {
        self.engine.allowed_directories().next().map(str::to_owned)
    }

    /// Resolves pinned directories anew.
    ///
    /// # Errors
    /// `{message}` when the host fails.
    pub fn refresh(&mut self) -> Result<(), JsValue> {
        let host = JsHost::new(&self.bridge, &self.home, &self.current);
        self.engine
            .refresh(&host)
            .map_err(|error| refusal(error, Vec::new()))
    }

    /// Judges the call that stands in the first `bytes`; the verdict's number.
    pub fn evaluate(&mut self, tool: usize, bytes: usize) -> u32 {
        let Incoming { call, .. } = incoming(&self.input, &self.tools, tool, bytes);
        let host = JsHost::new(&self.bridge, &self.home, &self.current);
        self.verdicts.number(&self.engine.evaluate(&call, &host))
    }

    /// The same for a call as JSON text, in a context as JSON text where it has one.
    ///
    /// # Errors
    /// `{message}` when the text is not a call.
    #[wasm_bindgen(js_name = evaluateText)]
    pub fn evaluate_text(&mut self, text: &str, context: Option<String>) -> Result<u32, JsValue> {
        let mut call = Call::from_json(text).map_err(|error| refusal(error, Vec::new()))?;
        if let Some(context) = context {
            call = call.within(read_context(&context));
        }
        let host = JsHost::new(&self.bridge, &self.home, &self.current);
        Ok(self.verdicts.number(&self.engine.evaluate(&call, &host)))
    }

    /// Prepares and judges; the verdict's number. What changes in the arguments is in the output.
    pub fn gate(&mut self, tool: usize, bytes: usize) -> u32 {
        let Incoming { call, container } = incoming(&self.input, &self.tools, tool, bytes);
        let host = JsHost::new(&self.bridge, &self.home, &self.current);
        let gated = self.engine.gate(&call, container, &host);
        wire::write(&gated.prepared.unwrap_or_default(), &mut self.output);
        self.verdicts.number(&gated.verdict)
    }

    /// Prepares without judging. What changes in the arguments is in the output.
    ///
    /// # Errors
    /// `{message}` when the host fails, or the arguments are not an object.
    pub fn prepare(
        &mut self,
        tool: usize,
        bytes: usize,
        allowed_directory: Option<String>,
    ) -> Result<(), JsValue> {
        let Incoming { call, container } = incoming(&self.input, &self.tools, tool, bytes);
        let host = JsHost::new(&self.bridge, &self.home, &self.current);
        let prepared = self
            .engine
            .prepare(&call, allowed_directory.as_deref(), container, &host);
        let prepared = prepared.map_err(|error: PrepareError| refusal(error, Vec::new()))?;
        wire::write(&prepared, &mut self.output);
        Ok(())
    }

    /// Where the output stands.
    pub fn output(&self) -> *const u8 {
        self.output.as_ptr()
    }

    /// The verdict of that number.
    pub fn verdict(&self, number: u32) -> JsValue {
        to_js(self.verdicts.shown(number))
    }

    /// Explains what `evaluate` would say, or what `gate` would; for an agent without anything of the host.
    pub fn explain(&self, tool: usize, bytes: usize, gates: bool, for_agent: bool) -> JsValue {
        let Incoming { call, container } = incoming(&self.input, &self.tools, tool, bytes);
        let host = JsHost::new(&self.bridge, &self.home, &self.current);
        let request = if gates {
            Request::gate(&call, container)
        } else {
            Request::prepared(&call)
        };
        let audience = if for_agent {
            Audience::Agent
        } else {
            Audience::Operator
        };
        to_js(&self.engine.judge(&request.explained(audience), &host).explanation)
    }

    /// `{reply, reference}`: the place of an address, and the number of a reference to it where there is one;
    /// `undefined` without a world.
    pub fn resolve(&mut self, address: &str, require_exists: bool, context: &str) -> JsValue {
        #[derive(Serialize)]
        struct Resolved {
            reply: Reply,
            reference: Option<u64>,
        }
        let (Some(places), Some(references)) = (self.engine.places(), &mut self.references) else {
            return JsValue::UNDEFINED;
        };
        let existence = if require_exists {
            Existence::Required
        } else {
            Existence::NotRequired
        };
        let host = JsHost::new(&self.bridge, &self.home, &self.current);
        let (reply, reference) =
            places.resolve(address, existence, &read_context(context), references, &host);
        let reference = reference.map(|one| one.number());
        to_js(&Resolved { reply, reference })
    }

    /// The path that a reference stands for.
    #[wasm_bindgen(js_name = hostPath)]
    pub fn host_path(&self, reference: f64) -> Option<String> {
        let path = self.references.as_ref()?.numbered(reference as u64)?;
        Some(path.to_owned())
    }

    /// Ends a reference, or all of them; whether the one was valid.
    pub fn revoke(&mut self, reference: Option<f64>) -> bool {
        match (&mut self.references, reference) {
            (Some(references), Some(reference)) => references.revoke_numbered(reference as u64),
            (Some(references), None) => {
                references.revoke_all();
                false
            }
            (None, _) => false,
        }
    }

    /// The reply whether an operation is allowed; `undefined` without a world.
    #[expect(
        clippy::too_many_arguments,
        reason = "they are what the question has, and none is to be an object"
    )]
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
        let host = JsHost::new(&self.bridge, &self.home, &self.current);
        to_js(&places.enforce(mode.as_deref(), &operation, &read_context(context), &host))
    }

    /// The roles of each argument in the call, as pairs; `null` for a tool without annotation.
    pub fn annotation(&self, tool: usize, bytes: usize) -> JsValue {
        let incoming = incoming(&self.input, &self.tools, tool, bytes);
        to_js(&self.engine.annotation(&incoming.call))
    }
}

/// A context that cannot be read is an empty one, and what needs it is denied.
fn read_context(text: &str) -> Context {
    Context::from_json(text).unwrap_or_default()
}

fn incoming<'b>(input: &'b [u8], tools: &'b [Tool], tool: usize, bytes: usize) -> Incoming<'b> {
    wire::read(input.get(..bytes).unwrap_or_default(), tools.get(tool))
}

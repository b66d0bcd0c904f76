//! The resources: building an engine, and asking it.

use std::cell::RefCell;

use callgate_engine::approval::{Approvals, Approving, Moment};
use callgate_engine::bind::Call;
use callgate_engine::config::DocumentKind;
use callgate_engine::document::{DocumentSource, unknown_key};
use callgate_engine::engine::{Engine, Existence, Operation, Paths, Request};
use callgate_engine::world::{Context, References};

use super::contract::{self, GuestEngine, GuestReferences, ReferencesBorrow};
use super::encode::json;
use super::host::Imported;
use super::types::{self, Document, Resolution, TextError, ToolName, WorldError};

/// An engine, and the directories that its host had when it was loaded.
pub(super) struct Loaded {
    engine: RefCell<Engine>,
    host: Imported,
}

impl GuestEngine for Loaded {
    fn load(documents: Vec<Document>) -> Result<contract::Engine, String> {
        let mut builder = Engine::builder();
        let mut faults = Vec::new();
        let names: Vec<&str> = DocumentKind::ALL.iter().map(|part| part.as_str()).collect();
        for Document { name, text } in &documents {
            match DocumentKind::parse(name) {
                Some(part) => builder = builder.part(part, DocumentSource::Text(text)),
                None => faults.push(unknown_key(name, name, &names)),
            }
        }
        let host = Imported::ask();
        match builder.build(&host) {
            Ok(engine) if faults.is_empty() => {
                let engine = RefCell::new(engine);
                return Ok(contract::Engine::new(Self { engine, host }));
            }
            Ok(engine) => faults.extend_from_slice(engine.warnings()),
            Err(error) => faults.extend(error.diagnostics),
        }
        Err(json(&faults))
    }

    fn warnings(&self) -> String {
        json(&self.engine.borrow().warnings())
    }

    fn judge(&self, request: types::Request) -> Result<types::Response, TextError> {
        let call = read_call(&request)?;
        let approvals = read_approvals(&request)?;
        let asked = asked(&request, &call, approvals.as_ref());
        Ok(self.engine.borrow().judge(&asked, &self.host).into())
    }

    fn offer(&self, request: types::Request) -> Result<Option<String>, TextError> {
        let call = read_call(&request)?;
        let asked = asked(&request, &call, None);
        Ok(self.engine.borrow().offer(&asked, &self.host).as_ref().map(json))
    }

    fn refresh(&self) -> Result<(), types::HostError> {
        Ok(self.engine.borrow_mut().refresh(&self.host)?)
    }

    fn semantics(&self, tool: ToolName) -> Option<String> {
        let engine = self.engine.borrow();
        let semantics = engine.semantics(&tool.server, &tool.name)?;
        Some(json(&semantics.described()))
    }

    fn tools(&self) -> Vec<ToolName> {
        let named = |(server, name): (&str, &str)| ToolName {
            server: server.to_owned(),
            name: name.to_owned(),
        };
        self.engine.borrow().tools().map(named).collect()
    }

    fn ceiling(&self) -> Option<String> {
        self.engine.borrow().ceiling().map(json)
    }

    fn references(&self) -> Option<contract::References> {
        let table = self.engine.borrow().places()?.references();
        Some(contract::References::new(Table(RefCell::new(table))))
    }

    fn resolve(
        &self,
        table: ReferencesBorrow<'_>,
        address: String,
        must_exist: bool,
        context: Option<String>,
    ) -> Result<Resolution, WorldError> {
        let engine = self.engine.borrow();
        let places = engine.places().ok_or(WorldError::NoWorld)?;
        let existence = if must_exist {
            Existence::Required
        } else {
            Existence::NotRequired
        };
        let context = read_context(context.as_deref()).map_err(WorldError::Context)?;
        let mut references = table.get::<Table>().0.borrow_mut();
        let (reply, reference) = places.resolve(&address, existence, &context, &mut references, &self.host);
        Ok(Resolution {
            reply: json(&reply),
            reference: reference.map(|reference| reference.number()),
        })
    }

    fn enforce(&self, operation: types::Operation, context: Option<String>) -> Result<String, WorldError> {
        let engine = self.engine.borrow();
        let places = engine.places().ok_or(WorldError::NoWorld)?;
        let context = read_context(context.as_deref()).map_err(WorldError::Context)?;
        let asked = Operation {
            tool: &operation.tool,
            command: &operation.command,
            root: &operation.root,
            subdirectory: operation.subdirectory.as_deref(),
            address: operation.address.as_deref(),
        };
        let mode = operation.mode.as_deref();
        Ok(json(&places.enforce(mode, &asked, &context, &self.host)))
    }
}

/// A table of references, as a resource.
pub(super) struct Table(RefCell<References>);

impl GuestReferences for Table {
    fn host_path(&self, reference: u64) -> Option<String> {
        self.0.borrow().numbered(reference).map(str::to_owned)
    }

    fn revoke(&self, reference: u64) -> bool {
        self.0.borrow_mut().revoke_numbered(reference)
    }

    fn revoke_all(&self) {
        self.0.borrow_mut().revoke_all();
    }
}

/// Without a context there is an empty one.
fn read_context(context: Option<&str>) -> Result<Context, String> {
    context.map_or_else(|| Ok(Context::default()), Context::from_json)
}

fn read_call(request: &types::Request) -> Result<Call<'_>, TextError> {
    let call = Call::from_json(&request.call)?;
    match &request.context {
        Some(context) => Ok(call.within_json(context)?),
        None => Ok(call),
    }
}

fn read_approvals(request: &types::Request) -> Result<Option<Approvals>, TextError> {
    let read = |given: &types::Approving| Approvals::from_json(&given.document);
    let read = request.approvals.as_ref().map(read).transpose();
    // Every fault names its place in the document.
    read.map_err(|error| TextError {
        line: 1,
        column: 1,
        message: error.to_string(),
    })
}

fn asked<'r>(
    request: &'r types::Request,
    call: &'r Call<'r>,
    approvals: Option<&'r Approvals>,
) -> Request<'r> {
    let now = request.approvals.as_ref().and_then(|given| given.now);
    Request {
        call,
        paths: match &request.paths {
            types::Paths::Prepared => Paths::Prepared,
            types::Paths::Gate(container) => Paths::Gate {
                container_workspace_dir: container.as_deref(),
            },
        },
        explain: request.explain.map(|audience| match audience {
            types::Audience::Operator => callgate_engine::engine::Audience::Operator,
            types::Audience::Agent => callgate_engine::engine::Audience::Agent,
        }),
        approvals: approvals.map(|approvals| Approving {
            approvals,
            now: now.map(Moment::from_millis),
        }),
    }
}

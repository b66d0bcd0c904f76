//! The core in this process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use callgate_engine::approval::Offer;
use callgate_engine::bind::{Call, CallError};
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{Engine, Existence, Operation, Places, Request as Asked};
use callgate_engine::model::Semantics;
use callgate_engine::policy::Ceiling;
use callgate_engine::world::Context;
use serde::Serialize;

use super::{
    Backend, EngineFault, EngineKind, NotStarted, References, Reply, Request, Resolution, Response, Session,
    SharedHost, Started, Unanswered,
};
use crate::clock::Instant;
use crate::documents::Document;

/// An engine with its host.
struct Native {
    engine: Engine,
    host: SharedHost,
}

pub(crate) fn start(documents: &[Document], host: SharedHost) -> Result<Started, NotStarted> {
    let begun = Instant::now();
    let mut builder = Engine::builder();
    for document in documents {
        builder = builder.part(document.part, DocumentSource::Text(&document.text));
    }
    let engine = guarded(|| {
        let built = builder.build(host.as_ref());
        built.map_err(|error| NotStarted::Refused(error.diagnostics))
    })?;
    let loading = begun.elapsed();
    Ok(Started {
        warnings: engine.warnings().to_vec(),
        backend: Arc::new(Native { engine, host }),
        component: None,
        loading,
    })
}

impl Native {
    fn places(&self) -> Result<Places<'_>, Unanswered> {
        self.engine.places().ok_or(Unanswered::NoWorld)
    }
}

impl Backend for Native {
    fn kind(&self) -> EngineKind {
        EngineKind::Native
    }

    fn judge(&self, request: &Request<'_>) -> Result<Result<Response, CallError>, EngineFault> {
        let call = match request.call.read() {
            Ok(call) => call,
            Err(error) => return Ok(Err(error)),
        };
        let asked = asked(request, &call);
        guarded(|| {
            let response = self.engine.judge(&asked, self.host.as_ref());
            Ok(Ok(Response {
                arguments: response.arguments(),
                explanation: response.explanation.as_ref().map(json).transpose()?,
                verdict: response.verdict.into_owned(),
            }))
        })
    }

    fn offer(&self, request: &Request<'_>) -> Result<Result<Option<Offer>, CallError>, EngineFault> {
        let call = match request.call.read() {
            Ok(call) => call,
            Err(error) => return Ok(Err(error)),
        };
        let asked = asked(request, &call);
        guarded(|| Ok(Ok(self.engine.offer(&asked, self.host.as_ref()))))
    }

    fn semantics(&self, server: &str, tool: &str) -> Result<Option<Semantics>, EngineFault> {
        Ok(self.engine.semantics(server, tool).cloned())
    }

    fn tools(&self) -> Result<Vec<(String, String)>, EngineFault> {
        let owned = |(server, tool): (&str, &str)| (server.to_owned(), tool.to_owned());
        Ok(self.engine.tools().map(owned).collect())
    }

    fn ceiling(&self) -> Result<Option<Ceiling>, EngineFault> {
        Ok(self.engine.ceiling().cloned())
    }

    fn references(self: Arc<Self>) -> Result<References, Unanswered> {
        let table = self.places()?.references();
        Ok(References(Box::new(NativeSession { native: self, table })))
    }

    fn enforce(
        &self,
        mode: Option<&str>,
        operation: &Operation<'_>,
        context: Option<&str>,
    ) -> Result<Reply, Unanswered> {
        let places = self.places()?;
        let context = read(context)?;
        let host = self.host.as_ref();
        guarded(|| Ok(written(&places.enforce(mode, operation, &context, host))?))
    }
}

fn asked<'r>(request: &Request<'r>, call: &'r Call<'r>) -> Asked<'r> {
    Asked {
        call,
        paths: request.paths,
        explain: request.explain,
        approvals: request.approvals,
    }
}

/// References, and what they are to.
struct NativeSession {
    native: Arc<Native>,
    table: callgate_engine::world::References,
}

impl Session for NativeSession {
    fn resolve(
        &mut self,
        address: &str,
        existence: Existence,
        context: Option<&str>,
    ) -> Result<Resolution, Unanswered> {
        let places = self.native.places()?;
        let context = read(context)?;
        let (host, table) = (self.native.host.as_ref(), &mut self.table);
        guarded(|| {
            let (reply, reference) = places.resolve(address, existence, &context, table, host);
            Ok(Resolution {
                reply: written(&reply)?,
                reference: reference.map(|reference| reference.number()),
            })
        })
    }

    fn host_path(&mut self, reference: u64) -> Result<Option<String>, EngineFault> {
        Ok(self.table.numbered(reference).map(str::to_owned))
    }

    fn revoke(&mut self, reference: u64) -> Result<bool, EngineFault> {
        Ok(self.table.revoke_numbered(reference))
    }

    fn revoke_all(&mut self) -> Result<(), EngineFault> {
        self.table.revoke_all();
        Ok(())
    }
}

/// The value, unless the host panics, or the engine, which should not.
fn guarded<T, E: From<EngineFault>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(EngineFault::Failed.into()))
}

fn read(context: Option<&str>) -> Result<Context, Unanswered> {
    let read = context.map_or_else(|| Ok(Context::default()), Context::from_json);
    read.map_err(Unanswered::Context)
}

fn written(reply: &callgate_engine::world::Reply) -> Result<Reply, EngineFault> {
    serde_json::from_value(json(reply)?).map_err(|_| EngineFault::Failed)
}

fn json(value: &impl Serialize) -> Result<serde_json::Value, EngineFault> {
    serde_json::to_value(value).map_err(|_| EngineFault::Failed)
}

//! The answers of a pool of instances.

use std::sync::Arc;

use callgate_engine::approval::Offer;
use callgate_engine::bind::CallError;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::Operation;
use callgate_engine::model::Semantics;
use callgate_engine::policy::Ceiling;

use super::bindings::callgate::gate::types;
use super::decode::{call_error, complete, json, response, unanswered};
use super::pool::Pool;
use super::session::ComponentSession;
use crate::backend::{Backend, EngineFault, EngineKind, References, Reply, Request, Response, Unanswered};

impl Backend for Pool {
    fn kind(&self) -> EngineKind {
        EngineKind::Component
    }

    fn judge(&self, request: &Request<'_>) -> Result<Result<Response, CallError>, EngineFault> {
        let sent = request.into();
        match self.ask(|guest, store, engine| guest.engine().call_judge(store, engine, &sent))? {
            Ok(answer) => complete(request, response(answer)?).map(Ok),
            Err(error) => Ok(Err(call_error(error))),
        }
    }

    fn offer(&self, request: &Request<'_>) -> Result<Result<Option<Offer>, CallError>, EngineFault> {
        let request = request.into();
        match self.ask(|guest, store, engine| guest.engine().call_offer(store, engine, &request))? {
            Ok(answer) => answer.map(|text| json(&text)).transpose().map(Ok),
            Err(error) => Ok(Err(call_error(error))),
        }
    }

    fn semantics(&self, server: &str, tool: &str) -> Result<Option<Semantics>, EngineFault> {
        let tool = types::ToolName {
            server: server.to_owned(),
            name: tool.to_owned(),
        };
        let found = self.ask(|guest, store, engine| guest.engine().call_semantics(store, engine, &tool))?;
        found.map(|text| json(&text)).transpose()
    }

    fn tools(&self) -> Result<Vec<(String, String)>, EngineFault> {
        let tools = self.ask(|guest, store, engine| guest.engine().call_tools(store, engine))?;
        Ok(tools.into_iter().map(|tool| (tool.server, tool.name)).collect())
    }

    fn ceiling(&self) -> Result<Option<Ceiling>, EngineFault> {
        let found = self.ask(|guest, store, engine| guest.engine().call_ceiling(store, engine))?;
        let read = |text: String| Ceiling::load(DocumentSource::Text(&text)).map_err(|_| EngineFault::Failed);
        found.map(read).transpose()
    }

    fn references(self: Arc<Self>) -> Result<References, Unanswered> {
        Ok(References(Box::new(ComponentSession::new(self)?)))
    }

    fn enforce(
        &self,
        mode: Option<&str>,
        operation: &Operation<'_>,
        context: Option<&str>,
    ) -> Result<Reply, Unanswered> {
        let operation = types::Operation {
            mode: mode.map(str::to_owned),
            tool: operation.tool.to_owned(),
            command: operation.command.to_owned(),
            root: operation.root.to_owned(),
            subdirectory: operation.subdirectory.map(str::to_owned),
            address: operation.address.map(str::to_owned),
        };
        let reply =
            self.ask(|guest, store, engine| guest.engine().call_enforce(store, engine, &operation, context))?;
        Ok(json(&reply.map_err(unanswered)?)?)
    }
}

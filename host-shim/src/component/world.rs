//! The world of an engine in a component, as the conformance suite asks about it.

use serde_json::{Value, json};
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::bindings::callgate::gate::types::{self, WorldError};
use super::bindings::exports::callgate::gate::engine::Guest;
use super::described;
use super::host::State;
use super::pool::Pool;

/// What is wrong, for a person.
type Refusal = String;

/// One step on a table of references; references are meant by their place in the order of their making.
#[derive(Clone, Debug)]
pub enum ReferenceStep {
    /// Resolves an address in a mode; the answer is the reply's code.
    Resolve(String, String),
    /// The path that a reference stands for, or `null`.
    HostPath(usize),
    /// Ends a reference; whether it was valid.
    Revoke(usize),
    /// Ends every reference; `null`.
    RevokeAll,
}

impl Pool {
    /// What an annotated tool does, as JSON; `null` for an unknown tool.
    pub(crate) fn semantics(&self, server: &str, name: &str) -> Result<Value, Refusal> {
        let tool = types::ToolName {
            server: server.to_owned(),
            name: name.to_owned(),
        };
        let found = self.ask(|guest, store, engine| guest.engine().call_semantics(store, engine, &tool));
        let found = found.map_err(|fault| fault.to_string())?;
        Ok(found.map_or(Value::Null, described::semantics))
    }

    /// `{reply, hostPath}` of an address, the path by way of a reference.
    pub(crate) fn resolve(
        &self,
        address: &str,
        must_exist: bool,
        context: Option<&str>,
    ) -> Result<Value, Refusal> {
        let answer = self.ask(|guest, store, engine| {
            let Some(table) = guest.engine().call_references(&mut *store, engine)? else {
                return Ok(Err(WorldError::NoWorld));
            };
            let found =
                guest
                    .engine()
                    .call_resolve(&mut *store, engine, table, address, must_exist, context)?;
            let answer = match found {
                Ok(resolution) => {
                    let path = match resolution.reference {
                        Some(number) => guest.references().call_host_path(&mut *store, table, number)?,
                        None => None,
                    };
                    Ok(json!({"reply": described::reply(resolution.reply), "hostPath": path}))
                }
                Err(error) => Err(error),
            };
            table.resource_drop(store)?;
            Ok(answer)
        });
        answer.map_err(|fault| fault.to_string())?.map_err(refusal)
    }

    /// The reply to whether an operation is allowed.
    pub(crate) fn enforce(
        &self,
        operation: &types::Operation,
        context: Option<&str>,
    ) -> Result<Value, Refusal> {
        let reply = self
            .ask(|guest, store, engine| guest.engine().call_enforce(store, engine, operation, context))
            .map_err(|fault| fault.to_string())?;
        reply.map(described::reply).map_err(refusal)
    }

    /// Does the steps on one table of references; an answer each.
    pub(crate) fn references(&self, steps: &[ReferenceStep]) -> Result<Value, Refusal> {
        let answers = self.ask(|guest, store, engine| {
            let Some(table) = guest.engine().call_references(&mut *store, engine)? else {
                return Ok(Err(WorldError::NoWorld));
            };
            let mut given = Vec::new();
            let mut answers = Vec::new();
            for step in steps {
                answers.push(take(step, guest, store, engine, table, &mut given)?);
            }
            table.resource_drop(store)?;
            Ok(Ok(Value::Array(answers)))
        });
        answers.map_err(|fault| fault.to_string())?.map_err(refusal)
    }
}

fn take(
    step: &ReferenceStep,
    guest: &Guest,
    store: &mut Store<State>,
    engine: ResourceAny,
    table: ResourceAny,
    given: &mut Vec<u64>,
) -> wasmtime::Result<Value> {
    Ok(match step {
        ReferenceStep::Resolve(address, mode) => {
            let context = json!({"mode": mode}).to_string();
            let context = Some(context.as_str());
            let found = guest
                .engine()
                .call_resolve(store, engine, table, address, true, context)?;
            match found {
                Ok(resolution) => {
                    given.extend(resolution.reference);
                    json!(resolution.reply.code)
                }
                Err(error) => json!(refusal(error)),
            }
        }
        ReferenceStep::HostPath(at) => match given.get(*at) {
            Some(number) => json!(guest.references().call_host_path(store, table, *number)?),
            None => Value::Null,
        },
        ReferenceStep::Revoke(at) => match given.get(*at) {
            Some(number) => json!(guest.references().call_revoke(store, table, *number)?),
            None => json!(false),
        },
        ReferenceStep::RevokeAll => {
            guest.references().call_revoke_all(store, table)?;
            Value::Null
        }
    })
}

fn refusal(error: WorldError) -> Refusal {
    match error {
        WorldError::NoWorld => "the engine has no world".to_owned(),
        WorldError::Context(why) => why,
    }
}

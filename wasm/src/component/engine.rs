//! The resource: building an engine, and asking it.

use std::cell::RefCell;

use callgate_core::{
    Call, Context, Engine, Existence, Explanation, Input, Operation, Part, PrepareError, References, View,
    did_you_mean,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::contract::{self, GuestEngine, GuestReferences, ReferencesBorrow};
use super::encode::diagnostics;
use super::host::Imported;
use super::types::{
    self, ArgumentRoles, Audience, Diagnostic, Document, Gated, Prepared, Resolution, TextError, ToolName,
    Verdict, WorldError,
};

/// An engine, and the directories that its host had when it was loaded.
pub(super) struct Loaded {
    engine: RefCell<Engine>,
    host: Imported,
}

impl GuestEngine for Loaded {
    fn load(documents: Vec<Document>) -> Result<contract::Engine, Vec<Diagnostic>> {
        let mut builder = Engine::builder();
        let mut unknown = Vec::new();
        for Document { name, text } in &documents {
            match Part::from_key(name) {
                Some(part) => builder = builder.part(part, Input::Text(text)),
                None => unknown.push(unknown_document(name)),
            }
        }
        let host = Imported::ask();
        match builder.build(&host) {
            Ok(engine) if unknown.is_empty() => Ok(contract::Engine::new(Self {
                engine: RefCell::new(engine),
                host,
            })),
            Ok(engine) => {
                unknown.extend(diagnostics(engine.warnings()));
                Err(unknown)
            }
            Err(error) => {
                unknown.extend(diagnostics(&error.diagnostics));
                Err(unknown)
            }
        }
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        diagnostics(self.engine.borrow().warnings())
    }

    fn evaluate(&self, call: String, context: Option<String>) -> Result<Verdict, TextError> {
        let call = read(&call, context.as_deref())?;
        Ok(self.engine.borrow().evaluate(&call, &self.host).into())
    }

    fn gate(
        &self,
        text: String,
        context: Option<String>,
        container_workspace_dir: Option<String>,
    ) -> Result<Gated, TextError> {
        let call = read(&text, context.as_deref())?;
        let engine = self.engine.borrow();
        let gated = engine.gate(&call, container_workspace_dir.as_deref(), &self.host);
        Ok(Gated {
            args_for_transport: gated.arguments(),
            verdict: gated.verdict.into(),
        })
    }

    fn explain(
        &self,
        call: String,
        context: Option<String>,
        audience: Audience,
    ) -> Result<types::Explanation, TextError> {
        let call = read(&call, context.as_deref())?;
        Ok(told(self.engine.borrow().explain(&call, &self.host), audience))
    }

    fn explain_gate(
        &self,
        call: String,
        context: Option<String>,
        container_workspace_dir: Option<String>,
        audience: Audience,
    ) -> Result<types::Explanation, TextError> {
        let call = read(&call, context.as_deref())?;
        let engine = self.engine.borrow();
        let explanation = engine.explain_gate(&call, container_workspace_dir.as_deref(), &self.host);
        Ok(told(explanation, audience))
    }

    fn prepare(
        &self,
        text: String,
        allowed_directory: Option<String>,
        container_workspace_dir: Option<String>,
    ) -> Result<Prepared, types::PrepareError> {
        let call = Call::from_json(&text).map_err(|error| types::PrepareError::Call(error.into()))?;
        let (allowed, container) = (allowed_directory.as_deref(), container_workspace_dir.as_deref());
        let engine = self.engine.borrow();
        let prepared =
            engine
                .prepare(&call, allowed, container, &self.host)
                .map_err(|error| match error {
                    PrepareError::Unreadable(why) => types::PrepareError::Unreadable(why),
                    PrepareError::Shape(error) => types::PrepareError::Shape(error.to_string()),
                    PrepareError::Host(error) => types::PrepareError::Host(error.into()),
                })?;
        let view = |view| {
            let changed = prepared.apply_to_json(arguments_of(&text), view);
            changed.ok_or_else(|| types::PrepareError::Unreadable("`arguments` are no object".to_owned()))
        };
        Ok(Prepared {
            args_for_transport: view(View::Transport)?,
            args_for_policy: view(View::Policy)?,
        })
    }

    fn annotation(&self, call: String) -> Result<Option<Vec<ArgumentRoles>>, TextError> {
        let call = Call::from_json(&call)?;
        let engine = self.engine.borrow();
        let owned = |roles: Vec<&str>| roles.into_iter().map(str::to_owned).collect();
        let resolved = engine.annotation(&call).map(|arguments| {
            let arguments = arguments.into_iter();
            arguments
                .map(|(name, roles)| ArgumentRoles {
                    name,
                    roles: owned(roles),
                })
                .collect()
        });
        Ok(resolved)
    }

    fn refresh(&self) -> Result<(), types::HostError> {
        self.engine.borrow_mut().refresh(&self.host).map_err(Into::into)
    }

    fn semantics(&self, tool: ToolName) -> Option<types::Semantics> {
        let engine = self.engine.borrow();
        engine.semantics(&tool.server, &tool.name).map(Into::into)
    }

    fn tools(&self) -> Vec<ToolName> {
        let named = |(server, name): (&str, &str)| ToolName {
            server: server.to_owned(),
            name: name.to_owned(),
        };
        self.engine.borrow().tools().map(named).collect()
    }

    fn ceiling(&self) -> Option<String> {
        serde_json::to_string(self.engine.borrow().ceiling()?).ok()
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
        let context = context_of(context.as_deref()).map_err(WorldError::Context)?;
        let mut references = table.get::<Table>().0.borrow_mut();
        let (reply, reference) = places.resolve(&address, existence, &context, &mut references, &self.host);
        Ok(Resolution {
            reply: reply.into(),
            reference: reference.map(|reference| reference.number()),
        })
    }

    fn enforce(
        &self,
        operation: types::Operation,
        context: Option<String>,
    ) -> Result<types::Reply, WorldError> {
        let engine = self.engine.borrow();
        let places = engine.places().ok_or(WorldError::NoWorld)?;
        let context = context_of(context.as_deref()).map_err(WorldError::Context)?;
        let asked = Operation {
            tool: &operation.tool,
            command: &operation.command,
            root: &operation.root,
            subdirectory: operation.subdirectory.as_deref(),
            address: operation.address.as_deref(),
        };
        let mode = operation.mode.as_deref();
        Ok(places.enforce(mode, &asked, &context, &self.host).into())
    }
}

fn told(explanation: Explanation, audience: Audience) -> types::Explanation {
    match audience {
        Audience::Operator => explanation.into(),
        Audience::Agent => explanation.for_agent().into(),
    }
}

/// References to places, as a resource.
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

fn context_of(context: Option<&str>) -> Result<Context, String> {
    context.map_or_else(|| Ok(Context::default()), Context::from_json)
}

/// A call, in a context where one is given.
fn read<'c>(call: &'c str, context: Option<&str>) -> Result<Call<'c>, TextError> {
    let call = Call::from_json(call)?;
    if context.is_none() {
        return Ok(call);
    }
    let context = context_of(context).map_err(|why| TextError {
        line: 1,
        column: 1,
        message: format!("the context: {why}"),
    })?;
    Ok(call.within(context))
}

fn unknown_document(name: &str) -> Diagnostic {
    let names = || Part::ALL.iter().map(|part| part.key());
    let expected: Vec<String> = names().map(|name| format!("`{name}`")).collect();
    Diagnostic {
        code: types::Code::UnknownKey,
        severity: types::Severity::Error,
        path: name.to_owned(),
        message: format!(
            "found the document `{name}`, expected one of {}",
            expected.join(", ")
        ),
        help: did_you_mean(name, names()),
    }
}

/// The JSON text of a call's arguments; absent ones are an empty object.
fn arguments_of(call: &str) -> &str {
    #[derive(Deserialize)]
    struct Members<'c> {
        #[serde(borrow, default, deserialize_with = "given")]
        arguments: Option<&'c RawValue>,
    }

    fn given<'c, D: serde::Deserializer<'c>>(deserializer: D) -> Result<Option<&'c RawValue>, D::Error> {
        <&RawValue>::deserialize(deserializer).map(Some)
    }

    let members = serde_json::from_str::<Members<'_>>(call);
    let arguments = members.ok().and_then(|members| members.arguments);
    arguments.map_or("{}", RawValue::get)
}

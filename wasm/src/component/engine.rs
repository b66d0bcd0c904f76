//! The resource: building an engine, and asking it.

use std::cell::RefCell;

use callgate_core::{Call, Engine, Input, Part, PrepareError, View, did_you_mean};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::contract::{self, GuestEngine};
use super::encode::diagnostics;
use super::host::Imported;
use super::types::{self, ArgumentRoles, Diagnostic, Document, Gated, Prepared, TextError, Verdict};

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

    fn evaluate(&self, call: String) -> Result<Verdict, TextError> {
        let call = Call::from_json(&call)?;
        Ok(self.engine.borrow().evaluate(&call, &self.host).into())
    }

    fn gate(&self, text: String, container_workspace_dir: Option<String>) -> Result<Gated, TextError> {
        let call = Call::from_json(&text)?;
        let engine = self.engine.borrow();
        let gated = engine.gate(&call, container_workspace_dir.as_deref(), &self.host);
        Ok(Gated {
            args_for_transport: gated.prepared.apply_to_json(arguments_of(&text), View::Transport),
            verdict: gated.verdict.into(),
        })
    }

    fn explain(&self, call: String) -> Result<types::Explanation, TextError> {
        let call = Call::from_json(&call)?;
        Ok(self.engine.borrow().explain(&call, &self.host).into())
    }

    fn explain_gate(
        &self,
        call: String,
        container_workspace_dir: Option<String>,
    ) -> Result<types::Explanation, TextError> {
        let call = Call::from_json(&call)?;
        let engine = self.engine.borrow();
        Ok(engine
            .explain_gate(&call, container_workspace_dir.as_deref(), &self.host)
            .into())
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

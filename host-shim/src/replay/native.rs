//! The engine as a Rust library, under test.

use std::panic::{AssertUnwindSafe, catch_unwind};

use callgate_core::functions::{self, ApprovalWhitelist, extract_whitelist_candidates};
use callgate_core::{Call, Engine, Host, HostError, Input, Part, RealpathError, Recording};
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};

use super::subject::{
    Batch, EngineParts, Need, Operation, Outcome, Subject, SubjectKind, Surroundings, WhitelistScript,
};
use crate::VirtualHost;

/// callgate-core in this process. A panic is an [`Outcome::Fault`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeSubject;

impl Subject for NativeSubject {
    fn name(&self) -> &str {
        "native"
    }

    fn kind(&self) -> SubjectKind {
        SubjectKind::Native
    }

    fn offers(&self, need: Need) -> bool {
        match need {
            Need::CaseInsensitive
            | Need::NormalizationInsensitive
            | Need::GitUrl
            | Need::GitDefaultRemote
            | Need::GitPush
            | Need::Script => true,
            Need::IgnorableFolding | Need::Windows | Need::Free | Need::Fuel => false,
        }
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        let place = match Place::of(&batch.surroundings) {
            Ok(place) => place,
            Err(message) => {
                return batch
                    .operations
                    .iter()
                    .map(|_| Outcome::Fault(message.clone()))
                    .collect();
            }
        };
        let mut session = Session {
            place,
            engine: Err("no engine was asked for".to_owned()),
        };
        if let Some(parts) = &batch.engine {
            session.build(parts);
        }
        batch
            .operations
            .iter()
            .map(|operation| session.guarded(operation))
            .collect()
    }
}

enum Place {
    Virtual(VirtualHost),
    Recorded(Recording),
}

impl Place {
    fn of(surroundings: &Surroundings) -> Result<Self, String> {
        match surroundings {
            Surroundings::World(world) => VirtualHost::from_world(world)
                .map(Self::Virtual)
                .map_err(|error| error.to_string()),
            Surroundings::Recording(recording) => Recording::deserialize(recording)
                .map(Self::Recorded)
                .map_err(|error| error.to_string()),
        }
    }

    fn host(&self) -> &dyn Host {
        match self {
            Self::Virtual(host) => host,
            Self::Recorded(recording) => recording,
        }
    }
}

/// One batch's host and engine.
struct Session {
    place: Place,
    engine: Result<Engine, String>,
}

/// Why an operation has no answer, when nothing is broken.
type Refusal = String;

impl Session {
    fn build(&mut self, parts: &EngineParts) {
        let host = self.place.host();
        let built = catch_unwind(AssertUnwindSafe(|| build(parts, host)));
        self.engine = built.unwrap_or_else(|_| Err("building the engine panicked".to_owned()));
    }

    fn guarded(&mut self, operation: &Operation) -> Outcome {
        match catch_unwind(AssertUnwindSafe(|| self.answer(operation))) {
            Ok(Ok(value)) => Outcome::Answer(value),
            Ok(Err(refusal)) => Outcome::Refused(refusal),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied());
                Outcome::Fault(format!("panic: {}", text.unwrap_or("without words")))
            }
        }
    }

    fn answer(&mut self, operation: &Operation) -> Result<Value, Refusal> {
        match operation {
            Operation::Construct => self.engine().map(|_| Value::Null),
            Operation::Replace { engine } => {
                self.build(engine);
                self.engine().map(|_| Value::Null)
            }
            Operation::Evaluate { request, times } => self.evaluate(request, *times),
            Operation::EvaluateText { text } => self.evaluate(text, 1),
            Operation::Gate {
                request,
                container_workspace_dir,
            } => {
                let engine = self.engine()?;
                let call = Call::from_json(request).map_err(refusal)?;
                let host = Reentrant::new(&self.place, engine);
                let gated = engine.gate(&call, container_workspace_dir.as_deref(), &host);
                Ok(json!({"verdict": gated.verdict, "argsForTransport": gated.arguments}))
            }
            Operation::Explain { request } => {
                let engine = self.engine()?;
                let call = Call::from_json(request).map_err(refusal)?;
                value(&engine.explain(&call, self.place.host()))
            }
            Operation::GetAnnotation { server, tool, args } => {
                value(&self.engine()?.annotation(server, tool, args))
            }
            Operation::PrepareToolArgs {
                server,
                tool,
                args,
                allowed_directory,
                container_workspace_dir,
            } => {
                let (allowed, container) = (allowed_directory.as_deref(), container_workspace_dir.as_deref());
                let host = self.place.host();
                let prepared = self
                    .engine()?
                    .prepare(server, tool, args, allowed, container, host);
                value(&prepared.map_err(refusal)?)
            }
            Operation::Function { name, args } => {
                functions::call(name, args, self.place.host()).map_err(refusal)
            }
            Operation::Whitelist(script) => whitelist(script, self.place.host()),
            Operation::EvaluateJs { .. } => Err("no JavaScript runs here".to_owned()),
            Operation::Free => Err("a Rust engine is not freed by hand".to_owned()),
            Operation::Fuel { .. } => Err("a Rust engine burns no fuel".to_owned()),
        }
    }

    fn engine(&self) -> Result<&Engine, Refusal> {
        self.engine.as_ref().map_err(Clone::clone)
    }

    fn evaluate(&self, request: &str, times: u32) -> Result<Value, Refusal> {
        let engine = self.engine()?;
        let call = Call::from_json(request).map_err(refusal)?;
        let host = Reentrant::new(&self.place, engine);
        let first = value(&engine.evaluate(&call, &host))?;
        for _ in 1..times {
            let again = value(&engine.evaluate(&call, &host))?;
            if again != first {
                return Ok(again);
            }
        }
        Ok(first)
    }
}

fn build(parts: &EngineParts, host: &dyn Host) -> Result<Engine, Refusal> {
    let mut builder = Engine::builder();
    for (name, text) in parts.iter() {
        let part = part(name).ok_or_else(|| format!("an engine has no part `{name}`"))?;
        builder = builder.part(part, Input::Text(text));
    }
    builder.build(host).map_err(refusal)
}

fn part(name: &str) -> Option<Part> {
    Some(match name {
        "compiledPolicy" => Part::CompiledPolicy,
        "toolAnnotations" => Part::ToolAnnotations,
        "dynamicLists" => Part::DynamicLists,
        "protectedPaths" => Part::ProtectedPaths,
        "allowedDirectory" => Part::AllowedDirectory,
        "serverDomainAllowlists" => Part::ServerDomainAllowlists,
        "trustedServers" => Part::TrustedServers,
        "options" => Part::Options,
        "roles" => Part::Roles,
        _ => return None,
    })
}

fn whitelist(script: &WhitelistScript, host: &dyn Host) -> Result<Value, Refusal> {
    let mut whitelist = ApprovalWhitelist::new();
    let mut ids = Vec::new();
    let mut extracted = Vec::new();
    for one in &script.extract {
        let candidates = extract_whitelist_candidates(
            &one.server,
            &one.tool,
            &one.args,
            &one.annotation,
            one.escalated_roles.as_deref(),
            "escalation",
            &one.reason,
            host,
        );
        let (mut patterns, mut descriptions) = (Vec::new(), Vec::new());
        for pattern in candidates.map_err(refusal)? {
            patterns.push(value(&pattern)?);
            descriptions.push(pattern.description.clone());
            ids.push(whitelist.add(pattern).map_err(refusal)?);
        }
        extracted.push(json!({"patterns": patterns, "descriptions": descriptions}));
    }
    let mut matches = Vec::new();
    for one in &script.matches {
        let roles = one.escalated_roles.as_deref();
        let id = whitelist.matches(&one.server, &one.tool, &one.args, &one.annotation, roles, host);
        let at = id.and_then(|id| ids.iter().position(|known| *known == id));
        matches.push(at.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1));
    }
    Ok(json!({"extract": extracted, "match": matches}))
}

/// A host that has its engine evaluate the world's reentrant request whenever it is asked for a real path.
struct Reentrant<'s> {
    host: &'s dyn Host,
    engine: &'s Engine,
    call: Option<Call>,
}

impl<'s> Reentrant<'s> {
    fn new(place: &'s Place, engine: &'s Engine) -> Self {
        let request = match place {
            Place::Virtual(host) => host.reentrant_request(),
            Place::Recorded(_) => None,
        };
        Self {
            host: place.host(),
            engine,
            call: request.and_then(|request| Call::from_json(&request.to_string()).ok()),
        }
    }
}

impl Host for Reentrant<'_> {
    fn home_dir(&self) -> &str {
        self.host.home_dir()
    }

    fn current_dir(&self) -> &str {
        self.host.current_dir()
    }

    fn realpath(&self, path: &str) -> Result<String, RealpathError> {
        if let Some(call) = &self.call {
            drop(self.engine.evaluate(call, self.host));
        }
        self.host.realpath(path)
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        self.host.read_link(path)
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        self.host.is_directory(path)
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.host.git_remote_urls(repo, remote)
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.host.git_default_remote_urls(repo)
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.host.git_url(repo, url)
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        self.host.role_value(role, step, value)
    }
}

fn value(answer: &impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(answer).map_err(refusal)
}

fn refusal(error: impl std::fmt::Display) -> Refusal {
    error.to_string()
}

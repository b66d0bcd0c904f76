//! The facade: building an engine, and asking it.

mod interest;
mod linkless;
mod prepare;
mod request;
mod show;
mod world;

use std::fmt;

use crate::approval::Offer;
use crate::bind::{BoundArguments, Call, shape};
use crate::config::{self, Directories, DocumentKind};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::DocumentSource;
use crate::host::{Facts, Host, HostError};
use crate::judge::{Canonicalizer, Grants, Judging, Known, PathBase, Pinned, Task, Verdict};
use crate::model::{Semantics, ServerKind};
use crate::policy::Ceiling;
use crate::policy::Invariant;
use crate::program::{Program, RelativePaths, ServerSettings, compile};

pub use interest::Interest;
pub use linkless::{DisklessHost, LinklessHost};
pub use prepare::PrepareError;
pub use request::{Audience, Paths, Request, Response};
pub use world::{Existence, Operation, Places};

/// Collects the parts of an engine.
#[derive(Default)]
pub struct EngineBuilder<'a> {
    parts: Vec<(DocumentKind, DocumentSource<'a>)>,
}

/// Why an engine cannot be built: everything that is wrong, warnings included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// At least one of these is an error, or loading is strict.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self
            .diagnostics
            .iter()
            .filter(|one| one.severity == Severity::Error)
            .count();
        write!(formatter, "the engine cannot be built: {errors} errors")?;
        self.diagnostics
            .iter()
            .try_for_each(|one| write!(formatter, "\n{one}"))
    }
}

impl std::error::Error for BuildError {}

impl<'a> EngineBuilder<'a> {
    /// Adds one part of the configuration, which replaces an earlier part of the same kind.
    pub fn part(mut self, part: DocumentKind, input: impl Into<DocumentSource<'a>>) -> Self {
        self.parts.retain(|(known, _)| *known != part);
        self.parts.push((part, input.into()));
        self
    }

    /// Reads and compiles everything. The host says where home and the current directory are; with pinned
    /// directories it is also asked to resolve them now.
    ///
    /// # Errors
    /// Every error in every part, with its place; with `options.strict` warnings count as errors.
    pub fn build(self, host: &dyn Host) -> Result<Engine, BuildError> {
        let setup = config::read(&self.parts).map_err(|diagnostics| BuildError { diagnostics })?;
        for (name, path) in [("homeDir", host.home_dir()), ("currentDir", host.current_dir())] {
            if !path.starts_with('/') {
                let message = format!("the host's directory is `{path}`, expected an absolute path");
                return Err(BuildError {
                    diagnostics: vec![Diagnostic::error(Code::InvalidPath, name, message)],
                });
            }
        }
        let warnings = setup.warnings.clone();
        let invariants = setup.invariants.clone();
        let pins = setup.options.directories == Directories::Pinned;
        let mut engine = Engine {
            program: compile(setup, host),
            warnings,
            invariants,
            pins,
            pinned: None,
            grants: None,
        };
        engine.refresh(host).map_err(|error| BuildError {
            diagnostics: vec![Diagnostic::error(
                Code::InvalidPath,
                "options.directories",
                error.message,
            )],
        })?;
        Ok(engine)
    }
}

/// A policy decision point: immutable, without state between calls, safe to share between threads.
pub struct Engine {
    program: Program,
    warnings: Vec<Diagnostic>,
    /// Statements about verdicts, which judging does not look at.
    invariants: Vec<Invariant>,
    pins: bool,
    pinned: Option<Pinned>,
    /// Where the directories of grants were, unless all are pinned.
    grants: Option<Grants>,
}

impl Engine {
    /// Starts building an engine.
    pub fn builder<'a>() -> EngineBuilder<'a> {
        EngineBuilder::default()
    }

    /// The warnings about the documents, which did not prevent loading.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    pub fn invariants(&self) -> &[Invariant] {
        &self.invariants
    }

    /// Resolves the directories that rules grant anew, and where `options.directories` is `pinned` every other one.
    ///
    /// # Errors
    /// When the host fails while it resolves what is pinned; the directories stay as they were.
    pub fn refresh(&mut self, host: &dyn Host) -> Result<(), HostError> {
        let base = self.base(Paths::Prepared, self.program.server(""));
        let mut canonicalizer = Canonicalizer::new(&self.program, Facts::new(host, false), &base);
        if self.pins {
            let pinned = Pinned::resolve(&mut canonicalizer);
            let pinned = canonicalizer.facts.check(pinned)?;
            drop(canonicalizer);
            self.pinned = Some(pinned);
        } else if self.program.defaults.grants_known_directories {
            let grants = Grants::resolve(&mut canonicalizer, host);
            drop(canonicalizer);
            self.grants = Some(grants);
        }
        Ok(())
    }

    /// What is known of the directories before a call.
    fn known(&self) -> Known<'_> {
        match (&self.pinned, &self.grants) {
            (Some(pinned), _) => Known::All(pinned),
            (None, Some(grants)) => Known::Grants(grants),
            (None, None) => Known::Nothing,
        }
    }

    /// Judges a call. It is total: what cannot be judged is denied with a named rule.
    pub fn judge<'r>(&self, request: &Request<'r>, host: &dyn Host) -> Response<'_, 'r> {
        let call = request.call;
        let (settings, tool) = self.program.server_and_tool(call.server(), call.tool());
        let base = self.base(request.paths, settings);
        let shape = shape(request.call, tool);
        let task = Task {
            settings,
            tool,
            given: request.call,
            shape: &shape,
            base: &base,
            traced: request.explain.is_some(),
            approving: request.approvals,
        };
        let mut judging = Judging::new(&self.program, self.known(), &task, host);
        let (verdict, prepared) = match request.paths {
            Paths::Prepared => (judging.judge(), None),
            Paths::Gate { .. } => {
                let (verdict, prepared) = judging.gate();
                (verdict, Some(prepared))
            }
        };
        let explanation = request.explain.map(|audience| {
            let explanation = judging.explain(verdict.clone());
            explanation.shown_to(audience)
        });
        Response {
            verdict,
            prepared,
            explanation,
            given: &request.call.arguments,
        }
    }

    /// The constraints of an approval that would cover the escalated call: calls of the same tool whose values lie
    /// where those of this call lie. Approvals in the request are ignored.
    ///
    /// Returns `None` if the call does not escalate; if something that escalates cannot be constrained, such as a
    /// branch, an address of a world, a remote whose URL is not known or a file at the root; if a rule that the domain
    /// allowlist left unasked would deny the call; and if the host fails.
    pub fn offer(&self, request: &Request<'_>, host: &dyn Host) -> Option<Offer> {
        let call = request.call;
        let (settings, tool) = self.program.server_and_tool(call.server(), call.tool());
        let shape = Ok(shape(request.call, tool).ok()?);
        let task = Task {
            settings,
            tool,
            given: request.call,
            shape: &shape,
            base: &self.base(request.paths, settings),
            traced: false,
            approving: None,
        };
        Judging::new(&self.program, self.known(), &task, host).offer()
    }

    /// The verdict for a call whose arguments are prepared.
    pub fn evaluate(&self, call: &Call<'_>, host: &dyn Host) -> Verdict<'_> {
        self.judge(&Request::prepared(call), host).verdict
    }

    /// The verdict for a call, and the arguments to forward.
    pub fn gate<'r>(&self, call: &'r Call<'r>, host: &dyn Host) -> Response<'_, 'r> {
        self.judge(&Request::gate(call), host)
    }

    /// The roles of each argument of an annotated tool, conditions resolved against the call's arguments, in the
    /// annotation's order; none for an unknown tool.
    pub fn annotation(&self, call: &Call<'_>) -> Option<Vec<(String, Vec<&str>)>> {
        let tool = self.program.tool(call.server(), call.tool())?;
        let mut bound = BoundArguments::default();
        bound.read(&self.program, Some(tool), call);
        let names = tool.arguments.iter().map(|argument| argument.name.to_string());
        let roles = bound.resolved.iter().map(|roles| {
            roles
                .iter()
                .map(|role| self.program.registry.name(*role))
                .collect()
        });
        Some(names.zip(roles).collect())
    }

    /// Returns `true` if calls of the server are allowed without being judged.
    pub fn is_trusted_server(&self, server: &str) -> bool {
        self.program.server(server).is_trusted
    }

    /// The parts of a tool's arguments that a judgement may look at. A caller need not hand over the rest
    /// ([`Value::Unread`](crate::bind::Value::Unread)).
    pub fn interest(&self, server: &str, tool: &str) -> Interest<'_> {
        Interest::new(&self.program, self.program.tool(server, tool))
    }

    /// Returns `true` if every call of the tool is denied, whatever its arguments: nobody annotated it, the ceiling forbids it,
    /// or no rule that allows or escalates can hold before one that denies it by server, tool and roles alone, or at all. An
    /// agent need not be told of it.
    ///
    /// `false` says nothing: values are not looked at, so that rules whose directories, domains or lists leave nothing to
    /// allow are not noticed.
    pub fn denies_every_call(&self, server: &str, tool: &str) -> bool {
        self.program.denies_every_call(server, tool)
    }

    /// Returns `true` if the tool is annotated.
    pub fn knows_tool(&self, server: &str, tool: &str) -> bool {
        self.program.tool(server, tool).is_some()
    }

    /// The server and name of every annotated tool.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &str)> {
        self.program.tools.iter().map(|tool| (&*tool.server, &*tool.name))
    }

    /// The semantics of an annotated tool, for schedulers and telemetry.
    pub fn semantics(&self, server: &str, tool: &str) -> Option<&Semantics> {
        self.program.tool(server, tool).map(|tool| &tool.semantics)
    }

    /// The most that calls may do. The host must count the recursion itself.
    pub fn ceiling(&self) -> Option<&Ceiling> {
        self.program.ceiling.as_ref().map(|ceiling| ceiling.document())
    }

    /// The directories of the sandbox as they are configured, absolute: `sandbox`, or the workspace roots of the
    /// ceiling if `options.workspaceRoots` makes them the sandbox. Relative paths are relative to the first.
    pub fn allowed_directories(&self) -> impl ExactSizeIterator<Item = &str> {
        self.program.sandbox.iter().map(|directory| &**directory)
    }

    /// The bounds of this engine.
    pub fn limits(&self) -> &crate::limits::Limits {
        &self.program.limits
    }

    /// The compiled configuration.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Where the relative paths of a call lie.
    pub fn base<'s>(&'s self, paths: Paths<'s>, settings: &'s ServerSettings) -> PathBase<'s> {
        let (sandbox, container, server_paths) = match paths {
            Paths::Prepared => (None, None, None),
            Paths::Gate {
                container_workspace_dir,
            } => (
                self.program.sandbox.first(),
                container_workspace_dir,
                settings.paths.as_deref(),
            ),
        };
        let sandbox = sandbox.map(|first| &**first);
        let keeps_relative = sandbox.is_some() && self.program.relative_paths == RelativePaths::AsGiven;
        PathBase {
            directory: sandbox.unwrap_or(&self.program.current),
            container: container.zip(sandbox),
            keeps_relative,
            may_send_given: keeps_relative || matches!(paths, Paths::Prepared),
            is_git: settings.kind == Some(ServerKind::Git),
            server_paths,
        }
    }
}

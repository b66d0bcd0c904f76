//! What is asked of an engine under test, and what it answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An engine under test, in some host.
pub trait Subject {
    /// What reports call it.
    fn name(&self) -> &str;

    /// What kind of host it runs in.
    fn kind(&self) -> SubjectKind;

    /// Whether its host offers what some adversarial cases need.
    fn offers(&self, need: Need) -> bool;

    /// Does the operations of `batch` in order, and gives one outcome each.
    ///
    /// Documents that the engine refuses make every operation that needs an engine
    /// [`Outcome::Refused`]. Nothing is remembered from one batch to the next.
    fn run(&mut self, batch: &Batch) -> Vec<Outcome>;
}

/// What a subject runs in; some cases are for one kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SubjectKind {
    /// The engine as a Rust library.
    Native,
    /// The engine behind its JavaScript face.
    Js,
    /// The engine as a component in wasmtime.
    Wasmtime,
}

/// What a host must offer for a case to be due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The engine can be told that names differing in case are one name.
    CaseInsensitive,
    /// The engine can be told that names differing in Unicode composition are one name.
    NormalizationInsensitive,
    /// The engine can be told that invisible characters in names do not count.
    IgnorableFolding,
    /// The host has Windows paths.
    Windows,
    /// The host answers what git makes of an explicit URL.
    GitUrl,
    /// The host answers which remote git takes by default, whatever names it.
    GitDefaultRemote,
    /// The host knows where git pushes to.
    GitPush,
    /// Several operations can be made on one engine.
    Script,
    /// The functions beside the engine: those of the core that the existing runtime calls by themselves.
    Functions,
    /// An engine can be freed by hand.
    Free,
    /// An engine's fuel can be limited.
    Fuel,
}

/// Whether the subject's host offers what the operation needs.
pub(crate) fn is_offered(subject: &dyn Subject, operation: &Operation) -> bool {
    operation.need().is_none_or(|need| subject.offers(need))
}

/// The outcomes of `batch`, one per operation; `None` where the subject's host does not offer what it needs.
pub(crate) fn run_offered(subject: &mut dyn Subject, batch: &Batch) -> Vec<Option<Outcome>> {
    let offered: Vec<bool> = batch
        .operations
        .iter()
        .map(|operation| is_offered(subject, operation))
        .collect();
    let mut asked = batch.clone();
    let mut flags = offered.iter();
    asked
        .operations
        .retain(|_| flags.next().copied().unwrap_or_default());
    let mut outcomes = subject.run(&asked).into_iter();
    let silence = || Outcome::Fault("no outcome".to_owned());
    offered
        .into_iter()
        .map(|is_offered| is_offered.then(|| outcomes.next().unwrap_or_else(silence)))
        .collect()
}

/// One world, at most one engine, and what is to be done with them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    /// Where the host's answers come from.
    pub surroundings: Surroundings,
    /// The documents of the engine; absent where only plain functions are called.
    pub engine: Option<EngineParts>,
    /// What is to be done, in order.
    pub operations: Vec<Operation>,
}

/// Where the host's answers come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Surroundings {
    /// A machine, as [`callgate_host::VirtualHost::from_value`] reads it.
    Machine(Value),
    /// What a host answered once, as [`callgate_core::Recording`] reads it.
    Recording(Value),
}

/// What an engine is built from: JSON texts by the names of the vectors' engine keys (`compiledPolicy`, …).
///
/// Texts, not values, because a text may hold what no value can: duplicate keys, comments, nothing at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EngineParts(BTreeMap<String, String>);

impl EngineParts {
    /// Sets the part called `name`; the text `null` is as good as none, "not configured".
    pub fn set(&mut self, name: &str, text: String) {
        if text == "null" {
            self.0.remove(name);
        } else {
            self.0.insert(name.to_owned(), text);
        }
    }

    /// The names and texts of the parts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The parts as JSON where they are, for a report.
    pub(super) fn to_value(&self) -> Value {
        let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        self.iter()
            .map(|(name, text)| (name.to_owned(), value(text)))
            .collect()
    }
}

/// One thing to do. Fields that are said to be JSON text hold it as a string, never parsed on the way.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Operation {
    /// Builds the engine; the answer is `null`.
    Construct,
    /// Replaces the engine by another one; the answer is `null`.
    Replace {
        /// The other engine's documents.
        engine: EngineParts,
    },
    /// Frees the engine by hand; the answer is `null`. Only where [`Need::Free`] is offered.
    Free,
    /// Sets the fuel of the next operations, or takes the limit away; the answer is `null`. Only where
    /// [`Need::Fuel`] is offered.
    Fuel {
        /// Units of fuel.
        value: Option<u64>,
    },
    /// Evaluates a call, `times` over; the answer is the verdict, the first that differs if they differ.
    Evaluate {
        /// JSON text: `{serverName, toolName, arguments}`.
        request: String,
        /// How often, at least once.
        times: u32,
    },
    /// Evaluates a call through the door that takes text: the engine itself parses it.
    EvaluateText {
        /// What should be JSON text.
        text: String,
    },
    /// Evaluates the call that a JavaScript expression makes. Only for [`SubjectKind::Js`].
    EvaluateJs {
        /// The expression.
        expression: String,
        /// Statements to run afterwards.
        cleanup: Option<String>,
    },
    /// Prepares and judges a call; the answer is `{verdict, argsForTransport}`.
    Gate {
        /// JSON text: `{serverName, toolName, arguments}`.
        request: String,
        /// The working directory as the tool's container names it.
        container_workspace_dir: Option<String>,
    },
    /// Explains a call; the answer is the explanation.
    Explain {
        /// JSON text: `{serverName, toolName, arguments}`.
        request: String,
    },
    /// What a tool does: `{…, isReadOnly, mutationClass}` with the fields of its annotation, or `null`.
    Semantics {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
    },
    /// What was noticed when the engine was built, as lines.
    Diagnostics,
    /// The annotation of a tool with its conditions resolved: `{args: {name: [roles]}}` or `null`.
    GetAnnotation {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
        /// JSON text: the call's arguments.
        args: String,
    },
    /// The two views of a call's arguments: `{argsForTransport, argsForPolicy}`.
    PrepareToolArgs {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
        /// JSON text: the call's arguments.
        args: String,
        /// The sandbox; never the engine's own.
        allowed_directory: Option<String>,
        /// The working directory as the tool's container names it.
        container_workspace_dir: Option<String>,
    },
    /// Calls one plain function; the answer is its result.
    Function {
        /// Its name, as in the vectors.
        name: String,
        /// Its positional arguments.
        args: Vec<Value>,
    },
    /// Runs a script on a fresh approval whitelist; the answer is
    /// `{extract: [{patterns, descriptions}], match: [index or -1]}`.
    Whitelist(WhitelistScript),
    /// Asks the engine about its world.
    World(WorldQuestion),
}

impl Operation {
    /// What a host must offer for this to be asked; `None`: every host can be asked it.
    pub fn need(&self) -> Option<Need> {
        match self {
            Self::GetAnnotation { .. }
            | Self::PrepareToolArgs { .. }
            | Self::Function { .. }
            | Self::Whitelist(_) => Some(Need::Functions),
            Self::Free => Some(Need::Free),
            Self::Fuel { .. } => Some(Need::Fuel),
            Self::Construct
            | Self::Replace { .. }
            | Self::Evaluate { .. }
            | Self::EvaluateText { .. }
            | Self::EvaluateJs { .. }
            | Self::Gate { .. }
            | Self::Explain { .. }
            | Self::Semantics { .. }
            | Self::Diagnostics
            | Self::World(_) => None,
        }
    }
}

/// What an engine with a world is asked. A context is JSON text; without one the call has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "ask",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum WorldQuestion {
    /// The place of an address: `{reply, hostPath}`, the path by way of the reference.
    Resolve {
        /// The address.
        address: String,
        /// Whether something must be there already.
        #[serde(default = "truth")]
        require_exists: bool,
        /// The context.
        context: Option<String>,
    },
    /// Whether an operation is allowed: the reply.
    Enforce {
        /// The mode.
        mode: Option<String>,
        /// The tool's name.
        tool: String,
        /// Its command.
        command: String,
        /// The root.
        root: String,
        /// The first name below it.
        subdirectory: Option<String>,
        /// The address of the place.
        address: Option<String>,
        /// The context.
        context: Option<String>,
    },
    /// A call through the gate: `{verdict, argsForTransport, explanation}`, the explanation being that for an agent.
    Gate {
        /// JSON text: `{serverName, toolName, arguments}`.
        request: String,
        /// The context.
        context: Option<String>,
    },
    /// A call whose arguments are prepared: `{verdict, explanation}`, the explanation being the whole one.
    Evaluate {
        /// JSON text: `{serverName, toolName, arguments}`.
        request: String,
        /// The context.
        context: Option<String>,
    },
    /// Steps on one table of references: an array with an answer each.
    References {
        /// The steps.
        steps: Vec<ReferenceStep>,
    },
    /// What is said about the engine's documents: `[{code, severity, path}]`, whether they are refused or not.
    Diagnostics,
}

/// One step on a table of references; references are meant by their place in the order of their making.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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

fn truth() -> bool {
    true
}

/// Extractions in order, every pattern added as it is made; then the matches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhitelistScript {
    /// The extractions.
    pub extract: Vec<Extraction>,
    /// The calls to match, each answered with the index of the pattern in the order of adding.
    #[serde(rename = "match")]
    pub matches: Vec<Match>,
}

/// One escalated call to make candidate patterns of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Extraction {
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// The call's arguments.
    pub args: Value,
    /// The tool's annotation: `{args: {name: [roles]}}`.
    pub annotation: Value,
    /// The roles that escalated; `None`: every resource role of the annotation.
    pub escalated_roles: Option<Vec<String>>,
    /// Why the call escalated.
    pub reason: String,
    /// The recorded answer; not for the subject.
    #[serde(default, skip_serializing)]
    pub expect: Value,
}

/// One call to match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Match {
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// The call's arguments.
    pub args: Value,
    /// The tool's annotation.
    pub annotation: Value,
    /// The roles that escalated, each of which must be constrained; `None`: not known.
    #[serde(default)]
    pub escalated_roles: Option<Vec<String>>,
    /// The recorded answer; not for the subject.
    #[serde(default, skip_serializing)]
    pub expect: Value,
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// With an answer.
    Answer(Value),
    /// With an error that the engine's face declares: a document or a call that it does not take.
    Refused(String),
    /// With what no host may see: a panic, a trap, an exception without a type, silence.
    Fault(String),
}

//! The questions to an engine under test, and its answers.

use std::collections::BTreeMap;

use callgate_engine::approval::Moment;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An engine under test, in some host.
pub trait Subject {
    /// The name that reports use.
    fn name(&self) -> &str;

    /// The kind of host that it runs in.
    fn kind(&self) -> SubjectKind;

    /// Returns `true` if its host offers `need`.
    fn offers(&self, need: Need) -> bool;

    /// Runs the operations of `batch` in order, and returns one outcome for each.
    ///
    /// If the engine refuses its documents, the outcome of every operation that needs an engine is
    /// [`Outcome::Refused`]. Nothing is kept from one batch to the next.
    fn run(&mut self, batch: &Batch) -> Vec<Outcome>;
}

/// The kind of host that a subject runs in. Some cases are for one kind only.
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

/// Something that a host must offer for a case to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The engine can treat names that differ only in case as the same.
    CaseInsensitive,
    /// The engine can treat names that differ only in Unicode composition as the same.
    NormalizationInsensitive,
    /// The engine can ignore invisible characters in names.
    IgnorableFolding,
    /// The host has Windows paths.
    Windows,
    /// The host says where git connects for an explicit URL.
    GitUrl,
    /// The host says which remote git uses by default, however it is configured.
    GitDefaultRemote,
    /// The host says where git pushes to.
    GitPush,
    /// Several operations can run on one engine.
    Script,
    /// The functions of the core that the existing runtime calls without an engine.
    Functions,
    /// An engine can be freed explicitly.
    Free,
    /// An engine's fuel can be limited.
    Fuel,
}

/// Returns `true` if the subject's host offers what the operation needs.
pub(crate) fn is_offered(subject: &dyn Subject, operation: &Operation) -> bool {
    operation.need().is_none_or(|need| subject.offers(need))
}

/// The outcomes of `batch`, one per operation; `None` if the subject's host does not offer what the operation needs.
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

/// A host, at most one engine, and the operations to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    /// Where the host's answers come from.
    pub surroundings: Surroundings,
    /// The documents of the engine; absent if only plain functions are called.
    pub engine: Option<EngineParts>,
    /// The operations, in order.
    pub operations: Vec<Operation>,
}

impl Batch {
    /// The outcomes if the host of the batch cannot be made, or does not answer.
    pub(crate) fn faults(&self, message: &str) -> Vec<Outcome> {
        let fault = |_: &Operation| Outcome::Fault(message.to_owned());
        self.operations.iter().map(fault).collect()
    }
}

/// Where the host's answers come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Surroundings {
    /// A machine, as [`callgate_host::VirtualHost::from_value`] reads it.
    Machine(Value),
    /// The recorded answers of a host, as [`callgate_engine::host::Recording`] reads them.
    Recording(Value),
}

/// The documents that an engine is built from: JSON text by their names, as a bundle has them (`policy`, …).
///
/// They are text rather than values because text may contain what values cannot: duplicate keys, comments, nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineParts(BTreeMap<String, String>);

/// The documents' names in the runtime that the vectors were recorded with.
const RECORDED_NAMES: [(&str, &str); 5] = [
    ("compiledPolicy", "policy"),
    ("toolAnnotations", "annotations"),
    ("dynamicLists", "lists"),
    ("allowedDirectory", "sandbox"),
    ("serverDomainAllowlists", "domainAllowlists"),
];

impl EngineParts {
    /// Sets the part `name`, which may be the name that the vectors have for it (`compiledPolicy`, …). The text `null`
    /// means "not configured".
    pub fn set(&mut self, name: &str, text: String) {
        let recorded = RECORDED_NAMES.iter().find(|(recorded, _)| *recorded == name);
        let name = recorded.map_or(name, |(_, name)| *name);
        if text == "null" {
            self.0.remove(name);
        } else {
            self.0.insert(name.to_owned(), text);
        }
    }

    /// The name and text of each part.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The parts for a report, as JSON if they are valid JSON.
    pub(super) fn to_value(&self) -> Value {
        let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        self.iter()
            .map(|(name, text)| (name.to_owned(), value(text)))
            .collect()
    }
}

/// One operation. A field documented as JSON text is a string that is never parsed on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Operation {
    /// Builds the engine; the answer is `null`.
    Construct,
    /// Replaces the engine; the answer is `null`.
    Replace {
        /// The other engine's documents.
        engine: EngineParts,
    },
    /// Frees the engine explicitly; the answer is `null`. Needs [`Need::Free`].
    Free,
    /// Sets or removes the limit on the fuel of later operations; the answer is `null`. Needs [`Need::Fuel`].
    Fuel {
        /// Units of fuel.
        value: Option<u64>,
    },
    /// Evaluates a call `times` times. The answer is the verdict, or the first verdict that differs.
    Evaluate {
        /// JSON text: `{serverName, toolName, arguments}`.
        request: String,
        /// The number of times, at least 1.
        times: u32,
    },
    /// Evaluates a call given as text, which the engine itself parses.
    EvaluateText {
        /// The text, which need not be JSON.
        text: String,
    },
    /// Evaluates the call that a JavaScript expression returns. Only for [`SubjectKind::Js`].
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
    /// The semantics of a tool: the fields of its annotation with `isReadOnly` and `mutationClass`, or `null`.
    Semantics {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
    },
    /// The warnings from building the engine, as lines.
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
        /// The sandbox, instead of the engine's own.
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
    /// Asks about a call with what a person approved.
    Approved(ApprovedCall),
}

impl Operation {
    /// The ability that a host needs for this operation; `None` if every host can run it.
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
            | Self::World(_)
            | Self::Approved(_) => None,
        }
    }
}

/// A call, and what a person approved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovedCall {
    /// The question.
    pub ask: ApprovedQuestion,
    /// JSON text: `{serverName, toolName, arguments}`.
    pub request: String,
    /// The context, as JSON text.
    pub context: Option<String>,
    /// The working directory as the tool's container names it.
    pub container_workspace_dir: Option<String>,
    /// JSON text: a document of approvals; `None` for an empty one.
    pub approvals: Option<String>,
    /// JSON text: another call. What the engine offers for it, if anything, is added to the approvals.
    pub offered_for: Option<String>,
    /// When the call is made: milliseconds since 1970, or RFC 3339 text.
    pub now: Option<Value>,
}

/// The questions about a call with approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovedQuestion {
    /// The answer is `{verdict, argsForTransport, explanation}`, with the explanation for an agent.
    Gate,
    /// The answer is `{verdict, explanation}`, with the full explanation.
    Evaluate,
    /// The same for a call that is prepared and judged.
    ExplainGate,
    /// The answer is what approving the call would cover, or `null`.
    Offer,
}

impl ApprovedCall {
    /// The time of the call.
    ///
    /// # Errors
    /// It is not a time.
    pub(crate) fn now(&self) -> Result<Option<Moment>, String> {
        let Some(now) = &self.now else { return Ok(None) };
        let moment = match now {
            Value::String(text) => Moment::parse(text),
            other => other.as_i64().map(Moment::from_millis),
        };
        moment.map(Some).ok_or_else(|| format!("{now} is not a time"))
    }
}

/// A question to an engine with a world. A context is JSON text; if it is `None`, the call has no context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "ask",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum WorldQuestion {
    /// Resolves an address. The answer is `{reply, hostPath}`; the path is that of the reference.
    Resolve {
        /// The address.
        address: String,
        /// `true` if something must exist there.
        #[serde(default = "truth")]
        require_exists: bool,
        /// The context.
        context: Option<String>,
    },
    /// Asks if an operation is allowed. The answer is the reply.
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
    /// Gates a call. The answer is `{verdict, argsForTransport, explanation}`, with the explanation for an agent.
    Gate {
        /// JSON text: `{serverName, toolName, arguments}`.
        request: String,
        /// The context.
        context: Option<String>,
    },
    /// Judges a call whose arguments are prepared. The answer is `{verdict, explanation}`, with the full explanation.
    Evaluate {
        /// JSON text: `{serverName, toolName, arguments}`.
        request: String,
        /// The context.
        context: Option<String>,
    },
    /// Runs steps on one table of references. The answer is an array with the answer to each.
    References {
        /// The steps.
        steps: Vec<ReferenceStep>,
    },
    /// Diagnoses the engine's documents, refused or not. The answer is `[{code, severity, path}]`.
    Diagnostics,
}

/// One step on a table of references. A reference is named by its position in the order of creation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum ReferenceStep {
    /// Resolves an address in a mode. The answer is the code of the reply.
    Resolve(String, String),
    /// The path that a reference stands for, or `null`.
    HostPath(usize),
    /// Ends a reference. The answer is `true` if it was valid.
    Revoke(usize),
    /// Ends every reference. The answer is `null`.
    RevokeAll,
}

fn truth() -> bool {
    true
}

/// Extractions, whose patterns are added in order, then matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhitelistScript {
    /// The extractions.
    pub extract: Vec<Extraction>,
    /// The calls to match, each answered with the index of the pattern in the order of adding.
    #[serde(rename = "match")]
    pub matches: Vec<Match>,
}

/// One escalated call from which candidate patterns are made.
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
    /// The roles that escalated; `None` stands for every resource role of the annotation.
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
    /// The roles that escalated, each of which must be constrained; `None` if they are not known.
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
    /// With a declared error: the engine refused a document or a call.
    Refused(String),
    /// With a fault that no host may ever see: a panic, a trap, an untyped exception, or silence.
    Fault(String),
}

//! Callgate's engine: it judges the tool calls of AI agents, and does nothing else.
//!
//! A call of [MCP's `tools/call`](https://modelcontextprotocol.io/specification) comes in with its `arguments`;
//! those that name resources are made canonical, judged by declarative rules, and one [`Verdict`] goes out:
//! allow, escalate or deny, with the rule and the reason.
//!
//! ```
//! use callgate_core::{Call, Decision, DocumentKind, Engine, Request};
//! # use std::borrow::Cow;
//! # use callgate_core::{Host, HostError, RealpathError};
//! # struct Disk;
//! # impl Host for Disk {
//! #     fn home_dir(&self) -> &str { "/home/u" }
//! #     fn current_dir(&self) -> &str { "/" }
//! #     fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> { Ok(path.into()) }
//! #     fn read_link(&self, _: &str) -> Result<Option<String>, HostError> { Ok(None) }
//! #     fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> { Ok(Some(false)) }
//! #     fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> { Ok(vec![url.to_owned()]) }
//! #     fn git_branch(&self, _: &str) -> Result<String, HostError> { Ok(String::new()) }
//! #     fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
//! #         Ok(Some(Vec::new()))
//! #     }
//! #     fn git_remote_urls(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> { Ok(Vec::new()) }
//! #     fn git_default_remote_urls(&self, _: &str) -> Result<Vec<String>, HostError> { Ok(Vec::new()) }
//! # }
//! let policy = r#"{"rules": [
//!     {"name": "read-documents", "if": {"paths": {"roles": "read-path", "within": "~/Documents"}},
//!      "then": "allow", "reason": "documents are open"}]}"#;
//! let annotations = r#"{"servers": {"filesystem": {"tools": [
//!     {"toolName": "read_text_file", "args": {"path": "read-path"}}]}}}"#;
//! let host = Disk; // answers `realpath` and questions about git
//! let engine = Engine::builder()
//!     .part(DocumentKind::Policy, policy)
//!     .part(DocumentKind::Annotations, annotations)
//!     .build(&host)?;
//!
//! let request = r#"{"serverName": "filesystem", "toolName": "read_text_file", "arguments": {"path": "~/Documents/a"}}"#;
//! let call = Call::from_json(request)?;
//! let response = engine.judge(&Request::gate(&call), &host);
//! assert_eq!(response.verdict.decision, Decision::Allow);
//! // What was judged is what is sent on.
//! assert_eq!(response.arguments().as_deref(), Some(r#"{"path":"/home/u/Documents/a"}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What holds
//!
//! - **Pure.** The core does no input or output, and uses no time, randomness or global state. It asks its [`Host`] about
//!   everything outside, each distinct question at most once in one evaluation. A verdict is a function of the documents,
//!   the call, the host's answers, and the approvals and the time that come with the call; the same on every target.
//! - **Total.** Deciding has no error and no panic: what cannot be judged is denied with a named rule. Errors
//!   ([`BuildError`], [`CallError`]) are for building an engine and reading a call.
//! - **Bounded.** Every size has a limit ([`Limits`]). A verdict takes a microsecond or two, plus the time of the host's
//!   answers; an argument that no role names costs only its name.
//! - **Made for untrusted input**: calls, documents and the host's answers are checked. What is trusted is the choice of
//!   documents, and that the host is honest: a host that lies consistently is believed.
//!
//! A person may approve calls that escalate: [`Engine::offer`] says what an approval of a call would cover, [`Approvals`] is a
//! list of what was approved, and a [`Request`] may bring one, with the time of the call. What one covers is allowed
//! instead of escalated; no other verdict changes, and the core keeps nothing of them.
//!
//! It does not run tools, hold secrets, or watch what a tool does with a path afterwards: between the verdict and
//! the tool's `open` the disk can change.
//!
//! The reference pages are in [`docs`]: [policy](docs::policy), [annotations](docs::annotations), [roles](docs::roles),
//! [lists](docs::lists), [options](docs::options), [structural rules](docs::structural_rules),
//! [worlds and ceilings](docs::worlds), [scenarios](docs::scenarios), [lint](docs::lint),
//! [recipes](docs::recipes). The contract, which the code cites as SPEC, is `docs/specification.md`.
//!
//! # Code map
//!
//! Bottom to top; a module uses only what stands below it.
//!
//! | module | is | knows nothing of |
//! |---|---|---|
//! | `limits`, `named`, `seed`, `sort`, `table`, `text` | every bound in one place; enums whose variants are words; the names to which SPEC gives a meaning; sorting; tables by hash; small text helpers | anything else |
//! | `diagnostic` | a fault or a warning about a document, with its place | documents |
//! | `host` | the [`Host`] trait, the memory of its answers during one evaluation, recordings | paths, URLs, rules |
//! | `path` | the lexical form, links, ambiguity; `CanonicalPath`, which only `path::resolve` makes | roles, rules |
//! | `net` | URLs, domains, git remotes: read strictly where a match grants, broadly where it restricts | roles, rules |
//! | `glob` | patterns over whole texts | what they are compared with |
//! | `role` | the registry of roles, built in and host-defined | documents |
//! | `model` | the vocabulary: annotated arguments, effects, kinds of tools, side-effect levels | documents |
//! | `document` | strict JSON with the place of every fault | what documents mean |
//! | `annotation`, `policy` | the documents of this name; conditionals, lists, ceilings | each other, calls |
//! | `approval` | what a person approved: constraints on the calls of one tool, and moments | calls, rules |
//! | `world` | addresses; visibility and operations, each a table; conditions, replies, references | calls, rules |
//! | `lint` | advice about documents that are valid but doubtful | calls |
//! | `draft` | drafts of annotations, from what a server says of its tools | calls |
//! | `scenario` | files of calls with what is expected of them | what a call means |
//! | `config` | all the parts of an engine, read together | calls |
//! | `bundle` | one text that names or holds all the parts | what a part means |
//! | `schema` | JSON Schemas of the documents | what a document means |
//! | `program` | the compiled configuration: sorted slices, sets, the index of rules | JSON |
//! | `bind` | a call's arguments, read as far as needed and bound to the roles of its tool | rules |
//! | `judge` | structural checks, canonical forms, rules, combining, approvals, the trace | documents, JSON text |
//! | `frame` | a call, or a frame of MCP, as one line of text | engines |
//! | `compat` | the functions that a runtime calls outside an engine | engines |
//! | `engine` | the facade | |
//! | `analysis` (a feature) | what a policy allows, seen as a whole: regions of calls, of which the engine is asked, and which of them scenarios reach | how a verdict is found |
//! | [`docs`] | the reference pages | everything |
//!
//! Absences that tests check: no `std::{fs, env, net, process, thread, time}`; no `unsafe`; no `HashMap` with a random
//! state; no `CanonicalPath` made elsewhere; only `host` names the outside.
//!
//! POSIX path semantics on every target. A host's disk has other ones on Windows, so the core is not built natively for it;
//! there the engine runs as WebAssembly.

#[cfg(windows)]
compile_error!("callgate-core has POSIX path semantics; on Windows run it as WebAssembly");

#[cfg(feature = "analysis")]
mod analysis;
mod annotation;
mod approval;
mod bind;
mod bundle;
mod compat;
mod config;
mod diagnostic;
pub mod docs;
mod document;
mod draft;
mod engine;
mod frame;
mod glob;
mod host;
mod judge;
mod limits;
mod lint;
mod model;
mod named;
mod net;
mod path;
mod policy;
mod program;
#[cfg(test)]
mod properties;
mod role;
mod scenario;
mod schema;
mod seed;
mod sort;
mod table;
mod text;
mod world;

#[cfg(feature = "analysis")]
pub use analysis::{
    Advice, Analysis, Bounds, Column, Comparison, Coverage, CoverageReport, CoveredRule, Finding, Judged,
    Outcome, Part, Place, Progress, Region, Row, Statement, Subject, Suggestion, Target, ToolChanges,
    ToolRegions, Unreached, VerdictChange, Watcher, check_invariants, lint_policy, lint_tools, names_tool,
    suggest_rules,
};
pub use approval::{
    Approval, ApprovalConstraint, ApprovalError, Approvals, Approving, ArgumentConstraint, Moment, Offer,
};
pub use bind::{Arguments, Call, CallError, PointerToken, Prepared, Replacement, ShapeError, Value, View};
pub use bundle::{Bundle, InlineDocument, NamedFile, read_bundle};
pub use compat::{
    ApprovalPattern, ApprovalWhitelist, Escalation, McpRoot, PolicyRoot, ResolvedAnnotation, Unconstrained,
    directory_for_path, expand_home, extract_policy_roots, extract_required_servers,
    extract_whitelist_candidates, is_within_directory, list_entry_matches, normalize_git_url, parse_json,
    resolve_default_git_remote, resolve_git_remote, resolve_real_path, resolve_stored_annotation,
    rewrite_result_content, rewrite_text, to_mcp_roots, validate_compiled_rules,
};
pub use config::DocumentKind;
pub use diagnostic::{Code, Diagnostic, Position, Severity};
pub use document::{
    DocumentSource, MOST_FILE_BYTES, anchored, check_json, did_you_mean, document_text, unknown_key, utf8,
    without_comments,
};
pub use draft::{Change, DraftedArgument, Drift, Proposal, propose_annotations};
#[cfg(feature = "analysis")]
pub use engine::LinklessHost;
pub use engine::{
    Audience, BuildError, Engine, EngineBuilder, Existence, Interest, Operation, Paths, Places, PrepareError,
    Request, Response,
};
pub use frame::{Asked, Line, NotCall, help_for_unknown_tool, read_line};
pub use host::{Answer, Exchange, Host, HostError, Question, RealpathError, Recording};
pub use judge::{
    CheckStep, Decision, Explanation, RoleStep, RuleStep, ValueStep, Verdict, WalkStep, refused_spelling,
};
pub use limits::Limits;
pub use lint::Validation;
pub use model::{
    ArgSchema, Described, Effect, MatchType, MutationClass, ReplyCode, ReplyStatus, Semantics,
    SideEffectLevel, ToolKind,
};
pub use net::{domain_matches_allowlist, extract_domain, extract_git_domain, is_ip_address, normalize_url};
pub use path::PathCase;
pub use policy::{Ceiling, CeilingError, Exceeds, ToolArgConstraint};
pub use role::{Category, Registry, RoleDefinition, RoleId, RoleSet, Step};
pub use scenario::{Expectation, Scenario, ScenarioPart, ScenarioPlace, read_scenarios};
pub use schema::Schema;
pub use text::{escape_token, strip_directory, unescape_token};
pub use world::{Context, References, Reply, ReplyData, VisibilityRef};

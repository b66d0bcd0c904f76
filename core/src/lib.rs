//! Callgate's engine: it judges the tool calls of AI agents, and does nothing else.
//!
//! A call of [MCP's `tools/call`](https://modelcontextprotocol.io/specification) comes in with its `arguments`;
//! those that name resources are made canonical, judged by declarative rules, and one [`Verdict`](verdicts::Verdict) goes out:
//! allow, escalate or deny, with the rule and the reason.
//!
//! ```
//! use callgate_core::calls::{Call, Request};
//! use callgate_core::documents::DocumentKind;
//! use callgate_core::verdicts::Decision;
//! use callgate_core::Engine;
//! use callgate_core::hosts::LinklessHost;
//!
//! let policy = r#"{"rules": [
//!     {"name": "read-documents", "if": {"paths": {"roles": "read-path", "within": "~/Documents"}},
//!      "then": "allow", "reason": "documents are open"}]}"#;
//! let annotations = r#"{"servers": {"filesystem": {"tools": [
//!     {"toolName": "read_text_file", "args": {"path": "read-path"}}]}}}"#;
//! // A host answers `realpath` and questions about git; this one has no links and no repositories.
//! let host = LinklessHost::new("/home/u", "/");
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
//! - **Pure.** The core does no input or output, and uses no time, randomness or global state. It asks its [`Host`](hosts::Host) about
//!   everything outside, each distinct question at most once in one evaluation. A verdict is a function of the documents,
//!   where the directories of allow rules lay when the engine was built, the call, the host's answers, and the approvals and the time
//!   that come with the call; the same on every target.
//! - **Total.** Deciding has no error and no panic: what cannot be judged is denied with a named rule. Errors
//!   ([`BuildError`](documents::BuildError), [`CallError`](calls::CallError)) are for building an engine and reading a call.
//! - **Bounded.** Every size has a limit ([`Limits`](documents::Limits)). A verdict takes a microsecond or two, plus the time of the host's
//!   answers; an argument that no role names costs only its name.
//! - **Made for untrusted input**: calls, documents and the host's answers are checked. What is trusted is the choice of
//!   documents, and that the host is honest: a host that lies consistently is believed.
//!
//! A person may approve calls that escalate: [`Engine::offer`] says what an approval of a call would cover,
//! [`Approvals`](approvals::Approvals) is a list of what was approved, and a [`Request`](calls::Request) may bring one, with the time
//! of the call. What one covers is allowed instead of escalated; no other verdict changes, and the core keeps nothing of them.
//!
//! It does not run tools, hold secrets, or watch what a tool does with a path afterwards: between the verdict and
//! the tool's `open` the disk can change.
//!
//! The reference pages are in [`docs`]: [policy](docs::policy), [annotations](docs::annotations), [roles](docs::roles),
//! [lists](docs::lists), [options](docs::options), [structural rules](docs::structural_rules),
//! [worlds and ceilings](docs::worlds), [scenarios](docs::scenarios), [lint](docs::lint),
//! [recipes](docs::recipes). The contract, which the code cites as SPEC, is `docs/specification.md`.
//!
//!
//! # Layout
//!
//! The names stand in modules by what they are for: [`documents`], [`calls`], [`verdicts`], [`hosts`], [`approvals`] and
//! [`worlds`]. The code is in `callgate-engine`, whose first page is its code map.

pub mod docs;

pub use callgate_engine::engine::{Engine, EngineBuilder};

/// What an engine is built from, and what is said of it.
pub mod documents {
    pub use callgate_engine::bundle::{Bundle, NamedFile, read_bundle};
    pub use callgate_engine::config::DocumentKind;
    pub use callgate_engine::diagnostic::{Code, Diagnostic, Position, Severity};
    pub use callgate_engine::document::DocumentSource;
    pub use callgate_engine::engine::BuildError;
    pub use callgate_engine::limits::Limits;
}

/// What is judged, and what is sent on.
pub mod calls {
    pub use callgate_engine::bind::{Arguments, Call, CallError, Prepared, Replacement, Value};
    pub use callgate_engine::engine::{Interest, Paths, PrepareError, Request, Response};
    pub use callgate_engine::model::Semantics;
}

/// What the engine answers, and why.
pub mod verdicts {
    pub use callgate_engine::engine::Audience;
    pub use callgate_engine::judge::{
        CheckStep, Decision, Explanation, RoleStep, RuleStep, ValueStep, Verdict, WalkStep,
    };
}

/// What the engine asks, and of whom.
pub mod hosts {
    pub use callgate_engine::engine::LinklessHost;
    pub use callgate_engine::host::{
        Answer, Exchange, GitIgnore, Host, HostError, Question, RealpathError, Recording,
    };
}

/// What a person allowed.
pub mod approvals {
    pub use callgate_engine::approval::{
        Approval, ApprovalConstraint, ApprovalError, Approvals, Approving, ArgumentConstraint, Moment, Offer,
    };
}

/// Places with addresses, and ceilings.
pub mod worlds {
    pub use callgate_engine::engine::{Existence, Operation, Places};
    pub use callgate_engine::model::ReplyCode;
    pub use callgate_engine::policy::Ceiling;
    pub use callgate_engine::world::{Context, References, Reply, VisibilityRef};
}

//! The engine behind [`callgate-core`](https://docs.rs/callgate-core), for the crates beside it.
//!
//! Every module is public to the workspace, and there is no promise to anybody else: `callgate-core` is the face for programs,
//! with the documentation of what holds.
//!
//! # Code map
//!
//! Bottom to top; a module uses only what stands below it.
//!
//! | module | is | knows nothing of |
//! |---|---|---|
//! | `cost`, `limits`, `named`, `seed`, `sort`, `table`, `text` | every price of a step, and every bound, in one place; enums whose variants are words; the names to which SPEC gives a meaning; sorting; tables by hash; small text helpers | anything else |
//! | `diagnostic` | a fault or a warning about a document, with its place | documents |
//! | `host` | the [`Host`](host::Host) trait, the memory of its answers during one evaluation, recordings | paths, URLs, rules |
//! | `path` | the lexical form, links, ambiguity; `CanonicalPath`, which only `path::resolve` makes | roles, rules |
//! | `net` | URLs, domains, git remotes: read strictly where a match grants, broadly where it restricts | roles, rules |
//! | `glob` | patterns over whole texts | what they are compared with |
//! | `role` | the registry of roles, built in and host-defined | documents |
//! | `model` | the vocabulary: annotated arguments, effects, kinds of tools, side-effect levels | documents |
//! | `document` | strict JSON with the place of every fault | what documents mean |
//! | `annotation`, `policy` | the documents of this name; conditionals, lists, ceilings | each other, calls |
//! | `approval` | what a person approved: constraints on the calls of one tool, and moments | calls, rules |
//! | `world` | addresses; visibility and operations, each a table; conditions, replies, references | calls, rules |
//! | `advice` | advice about documents that are valid but doubtful | calls |
//! | `config` | all the parts of an engine, read together | calls |
//! | `bundle` | one text that names or holds all the parts | what a part means |
//! | `program` | the compiled configuration: sorted slices, sets, the index of rules | JSON |
//! | `bind` | a call's arguments, read as far as needed and bound to the roles of its tool | rules |
//! | `judge` | structural checks, canonical forms, rules, combining, approvals, the trace | documents, JSON text |
//! | `engine` | the facade | |
//!
//! Absences that tests check: no `std::{fs, env, net, process, thread, time}`; no `unsafe`; no `HashMap` with a random
//! state; no `CanonicalPath` made elsewhere; only `host` names the outside.
//!
//! POSIX path semantics on every target. A host's disk has other ones on Windows, so the core is not built natively for it;
//! there the engine runs as WebAssembly.

#[cfg(windows)]
compile_error!("the engine has POSIX path semantics; on Windows run it as WebAssembly");

pub mod advice;
pub mod annotation;
pub mod approval;
pub mod bind;
pub mod bundle;
pub mod config;
pub mod cost;
pub mod diagnostic;
pub mod document;
pub mod engine;
pub mod glob;
pub mod host;
pub mod judge;
pub mod limits;
pub mod model;
pub mod named;
pub mod net;
pub mod path;
pub mod policy;
pub mod program;
pub mod role;
pub mod seed;
pub mod sort;
pub mod table;
#[cfg(test)]
mod tests;
pub mod text;
pub mod world;

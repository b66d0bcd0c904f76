//! Permission hooks of coding agents: what an agent asks before it runs a tool, judged by a [`Gate`](callgate_host::Gate), and
//! answered as that agent wants it.
//!
//! An agent starts a program for each call, writes a JSON object to its standard input, and reads its answer from standard
//! output and the exit code. [`HookCall::read`] reads the object, [`HookCall::answer`] judges the call, and [`fault`] is the
//! answer if anything goes wrong: it denies. Most agents let a call pass if its hook fails in another way.
//!
//! - **The agent's own tools** (files, search, the web, notebooks, patches, the shell) are annotated here, as tools of a
//!   server that has the agent's name; [`HookCall::added_to`] adds them to the documents. What the documents say of a tool
//!   takes precedence. The sandbox holds for them. No MCP server may have such a name.
//! - **Tools of MCP servers** are judged as everywhere else. Agents write server and tool as one name; where it could be read
//!   in several ways, each is judged, and the strictest verdict stands.
//! - **A shell command** is judged by the programs that it runs, in the directory that the agent says it is in.
//! - **A tool whose arguments name nothing** that could be judged, such as a sub-agent, says in its annotation what happens
//!   where no rule of its own decides (`unjudged`), as those of any server can.
//! - **Relative paths** start from the directory that the agent says it is in.
//!
//! Where an agent takes arguments, it gets those that were judged. Where it does not, a call passes only if the arguments
//! that it has mean the same to every program.

// A panic here would leave a call without an answer.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod agents;
mod answer;
mod arguments;
mod asking;
mod call;
mod counting;
mod documents;
mod entries;
mod globs;
mod installed;
mod judge;
mod names;
mod options;
mod patch;
mod protocols;
mod settings;
mod tools;

pub use agents::Agent;
pub use answer::{HookAnswer, fault};
pub use call::HookCall;
pub use installed::{Installed, installed};
pub use options::HookOptions;
pub use settings::{SettingsFile, SettingsOf, settings, settings_without};

//! Hosts for the Callgate engine, and the replaying of recorded cases.
//!
//! [`VirtualHost`] answers the engine's questions from a world that is data: a virtual filesystem and virtual
//! git repositories. [`replay`] feeds case files to an engine under test and compares its answers.

pub mod replay;
mod virtual_host;

pub use virtual_host::{
    Filesystem, Misbehaviour, Platform, Repository, Urls, VirtualHost, World, WorldError,
};

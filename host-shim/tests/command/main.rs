//! The built `callgate` command, as a shell and as a program that talks to it use it.
#![cfg(feature = "command")]

mod analysis;
mod annotate;
#[cfg(feature = "guard")]
mod asking;
mod ceilings;
#[cfg(feature = "guard")]
mod changes;
mod documents;
#[cfg(feature = "http")]
mod ending;
#[cfg(feature = "guard")]
mod faults;
mod files;
mod formats;
mod frames;
#[cfg(feature = "guard")]
mod guarding;
#[cfg(feature = "guard")]
mod hooks;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "guard")]
mod installing;
mod judging;
mod lints;
#[cfg(feature = "guard")]
mod load;
#[cfg(feature = "guard")]
mod logged;
mod looked;
mod messages;
mod packs;
mod pages;
#[cfg(feature = "http")]
mod pinning;
mod project;
#[cfg(feature = "guard")]
mod relayed;
mod scenario_files;
mod scenarios;
#[cfg(feature = "guard")]
mod shared;
mod suggest;
#[cfg(feature = "otel")]
mod telemetry;
#[cfg(feature = "http")]
mod upstream;
mod waiting;
#[cfg(feature = "http")]
mod wire;
#[cfg(feature = "http")]
mod workers;
mod world;
#[cfg(feature = "guard")]
mod wrapping;

//! The built `callgate` command, as a shell and as a program that talks to it use it.
#![cfg(feature = "command")]

mod ceilings;
mod documents;
mod files;
mod judging;
mod project;
mod world;

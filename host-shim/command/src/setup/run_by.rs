//! The two ways to run the engine, as flags name them.

use std::fmt;

use callgate_host::EngineKind;
use clap::ValueEnum;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunBy {
    /// A WebAssembly component in wasmtime, with limits of time and memory; compiled once and kept on disk
    Component,
    /// A library of this process
    #[default]
    Native,
}

impl fmt::Display for RunBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kind().as_str())
    }
}

impl RunBy {
    pub(crate) fn kind(self) -> EngineKind {
        match self {
            Self::Component => EngineKind::Component,
            Self::Native => EngineKind::Native,
        }
    }
}

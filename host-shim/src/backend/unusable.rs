//! Why a component cannot be the engine.

use std::fmt;

/// The interfaces that a component may import; its engine must be able to do nothing else.
pub(crate) const IMPORTS: [&str; 2] = ["callgate:gate/host@0.1.0", "callgate:gate/types@0.1.0"];

/// Why there is no component to be the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// This build of the library can run none.
    Absent,
    /// The bytes are not a component, or a damaged one: what wasmtime said.
    Malformed(String),
    /// It imports more than the host: the names.
    Imports(Vec<String>),
    /// It does not match the contract: what wasmtime said.
    Contract(String),
    /// The machine cannot run it: what wasmtime or the operating system said.
    Machine(String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => formatter.write_str(
                "this build runs no component, expected one with the feature `component`, or the native engine",
            ),
            Self::Malformed(why) => write!(formatter, "the component is malformed: {why}"),
            Self::Imports(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                write!(
                    formatter,
                    "the component imports {}, expected nothing besides `{}`",
                    names.join(", "),
                    IMPORTS[0]
                )
            }
            Self::Contract(why) => write!(formatter, "the component does not keep the contract: {why}"),
            Self::Machine(why) => write!(formatter, "the component cannot be run here: {why}"),
        }
    }
}

impl std::error::Error for Unusable {}

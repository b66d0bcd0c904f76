//! How a command ends: what it tells standard error, and its exit code.

use std::io::{self, Write as _};
use std::process::ExitCode;

use callgate_authoring::packs::PackError;
use callgate_host::{Fault, GateError, clean};

use super::diagnosis::diagnosis;
use super::style::{DIM, RED, paint};

/// How the process ends, from what lets a call pass to what cannot even judge it: where there are several
/// answers, the last of these stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    Allow,
    Escalate,
    Deny,
    Invalid,
    Fault,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Allow => 0,
            Exit::Escalate => 3,
            Exit::Deny => 2,
            Exit::Invalid => 4,
            Exit::Fault => 1,
        })
    }
}

/// Why a command cannot answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something that is not the fault of a document.
    Fault(String),
    /// The same, with what to do about it.
    Helped { message: String, help: String },
    /// A document that is not a bundle, a policy or the like.
    Invalid(String),
    /// Documents that cannot be read, or not be loaded, with what to do about it where that is known.
    Unloaded { message: String, help: Option<String> },
    /// Documents that are refused.
    Refused(Vec<Fault>),
    /// Whoever read the answers has gone away.
    Closed,
}

impl Failure {
    /// The fault in a few words.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Fault(message)
            | Self::Invalid(message)
            | Self::Helped { message, .. }
            | Self::Unloaded { message, .. } => message,
            Self::Refused(_) => "documents are refused",
            Self::Closed => "nobody reads the answer",
        }
    }

    /// The fault with every fault of the documents.
    pub(crate) fn told(self) -> String {
        match self {
            Self::Refused(faults) => GateError::Refused(faults).to_string(),
            other => other.message().to_owned(),
        }
    }

    /// Tells standard error, and gives the exit code that says the same.
    pub(crate) fn report(self) -> Exit {
        match self {
            Self::Fault(message) => {
                complain(&message);
                Exit::Fault
            }
            Self::Helped { message, help } => {
                complain(&message);
                helping(&help);
                Exit::Fault
            }
            Self::Unloaded { message, help } => {
                complain(&message);
                help.iter().for_each(|help| helping(help));
                Exit::Invalid
            }
            Self::Invalid(message) => {
                complain(&message);
                Exit::Invalid
            }
            Self::Refused(faults) => {
                let mut stderr = anstream::stderr();
                for fault in faults {
                    let _ = write!(stderr, "{}", diagnosis(&fault));
                }
                Exit::Invalid
            }
            Self::Closed => Exit::Fault,
        }
    }
}

impl From<GateError> for Failure {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Refused(faults) => Self::Refused(faults),
            GateError::Component(_) => Self::Fault(error.to_string()),
            GateError::Unreadable { .. } => Self::Unloaded {
                message: error.to_string(),
                help: Some("expected the file of a document, as the bundle or a flag names it".to_owned()),
            },
            GateError::Engine(_) | GateError::Layers(_) => Self::Unloaded {
                message: error.to_string(),
                help: None,
            },
            GateError::Host(_) => Self::Fault(error.to_string()),
        }
    }
}

impl From<PackError> for Failure {
    fn from(PackError { message, help }: PackError) -> Self {
        match help {
            Some(help) => Self::Helped { message, help },
            None => Self::Fault(message),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Fault(format!("cannot write the answer: {error}"))
        }
    }
}

fn helping(help: &str) {
    let _ = writeln!(anstream::stderr(), "  {} {}", paint(DIM, "help:"), clean(help));
}

/// One line on standard error, `error: …`. Whether it arrives cannot be helped.
fn complain(message: &str) {
    let mut stderr = anstream::stderr();
    let _ = writeln!(stderr, "{} {}", paint(RED, "error:"), clean(message));
}

/// One line on standard error for whoever watches.
pub(crate) fn note(message: &str) {
    let mut stderr = anstream::stderr();
    let _ = writeln!(stderr, "{} {}", paint(DIM, "note:"), clean(message));
}

//! From documents and a host to a gate.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_core::{Code, Engine, Host, HostError, Input, Part};

use super::additions::Additions;
use super::{Gate, SharedHost};
use crate::RealHost;
use crate::bundle::{self, Bundle};
use crate::documents::{Document, Fault, Source, Unread};

/// Collects what a [`Gate`] is built from. Nothing is read before [`GateBuilder::build`].
#[derive(Default)]
pub struct GateBuilder {
    bundle: Option<PathBuf>,
    parts: Vec<(Part, Source)>,
    additions: Additions,
    host: Option<SharedHost>,
}

/// Why a gate cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateError {
    /// A file cannot be read.
    Unreadable {
        /// The file.
        file: String,
        /// What the operating system said.
        reason: String,
    },
    /// The host does not know its own directories.
    Host(HostError),
    /// The documents are refused. Warnings are among the faults; there may be nothing else where loading is
    /// strict.
    Refused(Vec<Fault>),
}

impl fmt::Display for GateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, reason } => write!(formatter, "cannot read `{file}`: {reason}"),
            Self::Host(error) => error.fmt(formatter),
            Self::Refused(faults) => {
                formatter.write_str("the documents are refused")?;
                faults.iter().try_for_each(|fault| write!(formatter, "\n{fault}"))
            }
        }
    }
}

impl std::error::Error for GateError {}

impl From<Unread> for GateError {
    fn from(Unread { file, reason }: Unread) -> Self {
        Self::Unreadable { file, reason }
    }
}

impl GateBuilder {
    /// Takes the parts that the bundle at `path` gives ([`bundle`](crate::bundle) has the format).
    pub fn bundle(mut self, path: impl AsRef<Path>) -> Self {
        self.bundle = Some(path.as_ref().to_owned());
        self
    }

    /// Takes one part from a file, in place of the bundle's.
    pub fn file(self, part: Part, path: impl AsRef<Path>) -> Self {
        self.source(part, Source::File(path.as_ref().to_owned()))
    }

    /// Takes one part from JSON text, in place of the bundle's.
    pub fn part(self, part: Part, text: impl Into<String>) -> Self {
        let (text, file) = (text.into(), None);
        self.source(part, Source::Text { text, file })
    }

    /// Adds a path to those that no call may touch: absolute, `~` or `~/…`.
    pub fn protect(mut self, path: impl Into<String>) -> Self {
        self.additions.protected_paths.push(path.into());
        self
    }

    /// Adds a pattern to those that the URLs of a server's calls must match. A server without any is not gated.
    pub fn allow_domain(mut self, server: impl Into<String>, pattern: impl Into<String>) -> Self {
        self.additions.domains.push((server.into(), pattern.into()));
        self
    }

    /// Adds a server whose every call is allowed.
    pub fn trust(mut self, server: impl Into<String>) -> Self {
        self.additions.trusted_servers.push(server.into());
        self
    }

    /// Takes the answers from `host`; without this, from [`RealHost::from_env`].
    pub fn host(mut self, host: Arc<dyn Host + Send + Sync>) -> Self {
        self.host = Some(host);
        self
    }

    /// Reads and compiles everything.
    ///
    /// # Errors
    /// When a file cannot be read, a document is refused (then with every fault of every document), or the host
    /// does not know its directories.
    pub fn build(mut self) -> Result<Gate, GateError> {
        let Bundle { parts, mut faults } = match &self.bundle {
            Some(path) => bundle::read(path)?,
            None => Bundle::default(),
        };
        for (part, source) in parts {
            if self.parts.iter().all(|(given, _)| *given != part) {
                self.parts.push((part, source));
            }
        }
        let mut documents = Vec::new();
        for (part, source) in self.parts {
            match source.read(part)? {
                Ok(document) => documents.push(document),
                Err(fault) => faults.push(fault),
            }
        }
        self.additions.add_to(&mut documents);
        let host = match self.host {
            Some(host) => host,
            None => Arc::new(RealHost::from_env().map_err(GateError::Host)?),
        };
        let mut builder = Engine::builder();
        for document in &documents {
            builder = builder.part(document.part, Input::Text(&document.text));
        }
        let engine = match builder.build(host.as_ref()) {
            Ok(engine) if faults.is_empty() => engine,
            Ok(engine) => {
                faults.extend(located(engine.warnings(), &documents));
                return Err(GateError::Refused(faults));
            }
            Err(error) => {
                // What could not be read is reported already, and must not be reported as missing too.
                let unread = |path: &str| {
                    let part = Part::from_key(path);
                    part.is_some_and(|part| documents.iter().all(|document| document.part != part))
                };
                let repeats = |fault: &Fault| {
                    !faults.is_empty()
                        && fault.diagnostic.code == Code::MissingField
                        && unread(&fault.diagnostic.path)
                };
                let found = located(&error.diagnostics, &documents).filter(|fault| !repeats(fault));
                let found: Vec<Fault> = found.collect();
                faults.extend(found);
                return Err(GateError::Refused(faults));
            }
        };
        let warnings = located(engine.warnings(), &documents).collect();
        Ok(Gate {
            engine,
            host,
            documents,
            warnings,
        })
    }

    fn source(mut self, part: Part, source: Source) -> Self {
        self.parts.retain(|(given, _)| *given != part);
        self.parts.push((part, source));
        self
    }
}

/// The diagnostics with the files of their documents, whose names their paths begin with.
fn located<'d>(
    diagnostics: &'d [callgate_core::Diagnostic],
    documents: &'d [Document],
) -> impl Iterator<Item = Fault> + 'd {
    diagnostics.iter().map(|diagnostic| {
        let name = diagnostic.path.split(['.', '[']).next().unwrap_or_default();
        let document = documents.iter().find(|document| document.part.key() == name);
        Fault::new(
            document.and_then(|document| document.file.clone()),
            diagnostic.clone(),
        )
    })
}

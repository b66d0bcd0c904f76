//! From documents and a host to a gate.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::{Code, Position};
use callgate_engine::host::{Host, HostError};

use super::Gate;
use super::additions::{AddedServer, Additions};
use super::layers;
use crate::backend::{EngineKind, NotStarted, SharedHost, Started, Unusable, native};
use crate::bundle::{self, Bundle, BundleTexts};
use crate::clock::Instant;
use crate::component::Settings;
use crate::documents::{Document, Fault, Source, Unread};
use crate::leaves::Leaves;
use crate::timings::Timings;

/// Collects what a [`Gate`] is built from. Nothing is read before [`GateBuilder::build`].
#[derive(Default)]
pub struct GateBuilder {
    bundle: Option<Given>,
    parts: Vec<(DocumentKind, Source)>,
    additions: Additions,
    protects_documents: bool,
    host: Option<SharedHost>,
    name: Option<String>,
    above: Vec<Arc<Gate>>,
    is_upper: bool,
    engine: EngineKind,
    pub(crate) component: Settings,
}

/// A bundle: its file, or what was in it.
enum Given {
    File(PathBuf),
    Texts(BundleTexts),
}

/// Why a gate cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateError {
    /// A file cannot be read.
    Unreadable {
        /// The file.
        file: String,
        /// The message of the operating system.
        reason: String,
    },
    /// The host does not know its own directories.
    Host(HostError),
    /// The documents are refused. Warnings are among the faults; there may be nothing else where loading is
    /// strict.
    Refused(Vec<Fault>),
    /// The component cannot be used.
    Component(Unusable),
    /// The engine failed while it loaded the documents, or met a limit: what happened.
    Engine(String),
    /// The layers do not go together: why.
    Layers(String),
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
            Self::Component(error) => error.fmt(formatter),
            Self::Engine(what) => write!(formatter, "{what} while it loaded the documents"),
            Self::Layers(why) => write!(formatter, "the layers do not go together: {why}"),
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
        self.bundle = Some(Given::File(path.as_ref().to_owned()));
        self
    }

    /// Takes the parts of a bundle whose files were read already.
    pub fn bundle_texts(mut self, texts: BundleTexts) -> Self {
        self.bundle = Some(Given::Texts(texts));
        self
    }

    /// Takes one part from a file, in place of the bundle's.
    pub fn file(self, part: DocumentKind, path: impl AsRef<Path>) -> Self {
        self.source(part, Source::File(path.as_ref().to_owned()))
    }

    /// Takes one part from its text, in place of the bundle's: JSON, which may have comments and trailing commas.
    pub fn part(self, part: DocumentKind, text: impl Into<String>) -> Self {
        let (text, file) = (text.into(), None);
        self.source(part, Source::Text { text, file })
    }

    /// Takes the rules, as JSON text.
    pub fn policy(self, text: impl Into<String>) -> Self {
        self.part(DocumentKind::Policy, text)
    }

    /// Takes the annotations of every tool, as JSON text.
    pub fn annotations(self, text: impl Into<String>) -> Self {
        self.part(DocumentKind::Annotations, text)
    }

    /// Takes the contents of the lists that the policy names, as JSON text.
    pub fn lists(self, text: impl Into<String>) -> Self {
        self.part(DocumentKind::Lists, text)
    }

    /// Takes programs that commands of shells may run, beside those that are known, as JSON text.
    pub fn programs(self, text: impl Into<String>) -> Self {
        self.part(DocumentKind::Programs, text)
    }

    /// Takes the sandbox: a directory, absolute or `~/…`, in which file and git servers may do anything.
    pub fn sandbox(self, directory: impl AsRef<str>) -> Self {
        self.part(DocumentKind::Sandbox, Value::from(directory.as_ref()).to_string())
    }

    /// Takes the capability ceiling, as JSON text.
    pub fn ceiling(self, text: impl Into<String>) -> Self {
        self.part(DocumentKind::Ceiling, text)
    }

    /// Takes the engine's options, as JSON text: `{"unknownArguments": "deny"}`.
    pub fn options(self, text: impl Into<String>) -> Self {
        self.part(DocumentKind::Options, text)
    }

    /// Takes the host's own roles, as JSON text.
    pub fn roles(self, text: impl Into<String>) -> Self {
        self.part(DocumentKind::Roles, text)
    }

    /// Takes the world, as JSON text.
    pub fn world(self, text: impl Into<String>) -> Self {
        self.part(DocumentKind::World, text)
    }

    /// Takes the directory, absolute, that relative paths of the documents start from; without this, the bundle's.
    pub fn folder(self, directory: impl AsRef<str>) -> Self {
        self.part(DocumentKind::Folder, Value::from(directory.as_ref()).to_string())
    }

    /// Adds a path to those that no call may touch: absolute, `~`, `~/…`, or a pattern such as `**/.env`.
    pub fn protect(mut self, path: impl Into<String>) -> Self {
        self.additions.protected_paths.push(path.into().into());
        self
    }

    /// Adds a path that may be read, and that no call may change, as [`Self::protect`] has them.
    #[must_use]
    pub fn protect_writes(mut self, path: impl Into<String>) -> Self {
        self.additions.protect_writes(path.into());
        self
    }

    /// Protects the files that the documents are read from against writing: whoever writes them decides what is allowed.
    pub fn protect_documents(mut self) -> Self {
        self.protects_documents = true;
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

    /// Adds the annotations of a server's tools, each as a document has them (`{"toolName": …}`), where the documents have
    /// none. Unless they say so themselves, the server is of the given kind, and its commands run in the given directory.
    #[must_use]
    pub fn server(
        mut self,
        name: &'static str,
        kind: &'static str,
        tools: Vec<Value>,
        directory: Option<&str>,
    ) -> Self {
        self.additions.servers.push(AddedServer {
            name,
            kind,
            tools,
            directory: directory.map(str::to_owned),
        });
        self
    }

    /// Has another gate stand above this one, below those that were named before. A call is judged by each, and the strictest verdict
    /// stands. No call touches the paths that the other protects.
    #[must_use]
    pub fn above(mut self, gate: Arc<Gate>) -> Self {
        self.above.push(gate);
        self
    }

    /// Builds the gate to stand above others: what its bundle leaves to them gets no tool by [`GateBuilder::server`].
    #[must_use]
    pub fn upper(mut self) -> Self {
        self.is_upper = true;
        self
    }

    /// Names the gate as a layer. Without this it has the name of its bundle's place.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Takes the answers from `host`; without this, from [`RealHost::from_env`](crate::RealHost::from_env).
    pub fn host(mut self, host: Arc<dyn Host + Send + Sync>) -> Self {
        self.host = Some(host);
        self
    }

    /// Has the engine run as said: natively without this, or as a component once a component, its limits or its cache
    /// are named. What is said last holds.
    pub fn engine(mut self, engine: EngineKind) -> Self {
        self.engine = engine;
        self
    }

    /// Reads and compiles everything.
    ///
    /// # Errors
    /// When a file cannot be read, a document is refused (then with every fault of every document), the host
    /// does not know its directories, or the component cannot be used.
    pub fn build(mut self) -> Result<Gate, GateError> {
        let begun = Instant::now();
        let Bundle {
            parts,
            tests,
            leaves,
            mut faults,
        } = match &self.bundle {
            Some(Given::File(path)) => bundle::read(path)?,
            Some(Given::Texts(texts)) => texts.clone().contents()?,
            None => Bundle::default(),
        };
        let (place, file) = match self.bundle {
            Some(Given::File(path)) => (Some(path.display().to_string()), Some(path)),
            Some(Given::Texts(texts)) => (Some(texts.place), None),
            None => (None, None),
        };
        for (part, source) in parts {
            if self.parts.iter().all(|(given, _)| *given != part) {
                self.parts.push((part, source));
            }
        }
        let mut files = files_of(file.as_deref(), &self.parts);
        for gate in &self.above {
            self.additions
                .protected_paths
                .extend(layers::protected_by(gate.documents()));
            let new = gate.files().iter().filter(|file| !files.contains(file));
            files.extend(new.cloned().collect::<Vec<PathBuf>>());
        }
        let mut documents = Vec::new();
        for (part, source) in self.parts {
            match source.read(part)? {
                Ok(document) => documents.push(document),
                Err(fault) => faults.push(fault),
            }
        }
        if self.is_upper {
            self.additions.leave(&Leaves::new(&leaves, &documents));
        }
        if self.protects_documents {
            for file in files.iter().filter_map(|file| file.to_str()) {
                self.additions.protect_writes(file.to_owned());
            }
        }
        faults.extend(self.additions.add_to(&mut documents));
        let host = match self.host {
            Some(host) => host,
            None => own_host().map_err(GateError::Host)?,
        };
        let reading = begun.elapsed();
        let started = match self.engine {
            EngineKind::Component => self.component.start(&documents, Arc::clone(&host)),
            EngineKind::Native => native::start(&documents, Arc::clone(&host)),
        };
        let name = self.name.or_else(|| place.clone());
        let name = name.unwrap_or_else(|| "documents".to_owned());
        match started {
            Ok(started) if faults.is_empty() => Ok(Gate {
                backend: layers::below((&name, started.backend, &documents), &self.above)
                    .map_err(GateError::Layers)?,
                warnings: self
                    .above
                    .iter()
                    .flat_map(|gate| gate.warnings().to_vec())
                    .chain(located(&started.warnings, &documents, place.as_deref()))
                    .collect(),
                name,
                above: self.above,
                leaves,
                documents,
                files,
                scenario_files: tests,
                timings: Timings {
                    reading,
                    component: started.component,
                    loading: started.loading,
                },
                host,
            }),
            Ok(Started { warnings, .. }) => {
                faults.extend(located(&warnings, &documents, place.as_deref()));
                Err(GateError::Refused(faults))
            }
            Err(NotStarted::Refused(diagnostics)) => {
                // A document that could not be read is reported already, and must not be reported as missing too.
                let unread = |path: &str| {
                    let part = DocumentKind::parse(path);
                    part.is_some_and(|part| documents.iter().all(|document| document.part != part))
                };
                let repeats = |fault: &Fault| {
                    !faults.is_empty()
                        && fault.diagnostic.code == Code::MissingField
                        && unread(&fault.diagnostic.path)
                };
                let found =
                    located(&diagnostics, &documents, place.as_deref()).filter(|fault| !repeats(fault));
                let found: Vec<Fault> = found.collect();
                faults.extend(found);
                Err(GateError::Refused(faults))
            }
            Err(NotStarted::Component(error)) => Err(GateError::Component(error)),
            Err(NotStarted::Engine(fault)) => Err(GateError::Engine(fault.to_string())),
        }
    }

    fn source(mut self, part: DocumentKind, source: Source) -> Self {
        self.parts.retain(|(given, _)| *given != part);
        self.parts.push((part, source));
        self
    }
}

/// The host of a gate that is given none.
#[cfg(unix)]
fn own_host() -> Result<SharedHost, HostError> {
    Ok(Arc::new(crate::real_host::RealHost::from_env()?))
}

#[cfg(not(unix))]
fn own_host() -> Result<SharedHost, HostError> {
    Err(HostError::new("there is no disk here, expected a host"))
}

/// The bundle and the files of the documents, as absolute paths.
fn files_of(bundle: Option<&Path>, parts: &[(DocumentKind, Source)]) -> Vec<PathBuf> {
    let named = parts.iter().filter_map(|(_, source)| match source {
        Source::File(file) => Some(file.as_path()),
        Source::Text { .. } => None,
    });
    let mut files: Vec<PathBuf> = Vec::new();
    for file in bundle
        .into_iter()
        .chain(named)
        .filter_map(|file| std::path::absolute(file).ok())
    {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// The diagnostics with the files of their documents, whose names their paths begin with.
///
/// Faults with their files. A document that the bundle must name and does not is a fault of the bundle.
fn located<'d>(
    diagnostics: &'d [callgate_engine::diagnostic::Diagnostic],
    documents: &'d [Document],
    bundle: Option<&'d str>,
) -> impl Iterator<Item = Fault> + 'd {
    diagnostics.iter().map(move |diagnostic| {
        let name = diagnostic.path.split(['.', '[']).next().unwrap_or_default();
        let document = documents.iter().find(|document| document.part.as_str() == name);
        let mut diagnostic = diagnostic.clone();
        let file = match (document, bundle) {
            (Some(document), _) => document.file.clone(),
            // A bundle that lacks a document lacks it from its beginning.
            (None, Some(bundle)) => {
                diagnostic.position.get_or_insert(Position::START);
                Some(bundle.to_owned())
            }
            (None, None) => None,
        };
        Fault::new(file, diagnostic)
    })
}

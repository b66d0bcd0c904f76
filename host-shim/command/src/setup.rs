//! The documents and the host that a command works with.

mod renewal;
mod run_by;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_bundle::{Payload, Remote};
use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;
use callgate_engine::host::Host;
use callgate_engine::model::Effect;
use callgate_host::{BUNDLE_FILE, EngineKind, Gate, GateBuilder, RealHost, VirtualHost, bundle};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::Value;

pub(crate) use run_by::RunBy;

use crate::above::{Above, Layers, Upper};
use crate::folder::{in_folder, no_documents};
use crate::signed::{self, Pinned};
use crate::terminal::{Failure, note};

/// What is added to a builder.
pub(crate) type Added<'a> = &'a dyn Fn(GateBuilder) -> Result<GateBuilder, Failure>;

const DOCUMENTS: &str = "Documents";
const HOST: &str = "Host";
const ENGINE: &str = "Engine";

/// The documents: a bundle, flags, or flags laid over a bundle. Without `--bundle`, and without both of `--policy`
/// and `--annotations`, the bundle is the `callgate.json` of the current directory; none above it is looked for.
#[derive(Args, Clone)]
pub(crate) struct Setup {
    /// A bundle: one file that names or holds all documents, the folder of one called callgate.json, or the https:// or oci://
    /// address of a signed one [default: ./callgate.json]
    #[arg(long, short, value_name = "FILE", help_heading = DOCUMENTS)]
    bundle: Option<PathBuf>,
    #[command(flatten)]
    pinned: Pinned,
    #[command(flatten)]
    above: Above,
    /// The compiled policy
    #[arg(long, short, value_name = "FILE", help_heading = DOCUMENTS)]
    policy: Option<PathBuf>,
    /// The annotations of the tools
    #[arg(long, short, value_name = "FILE", help_heading = DOCUMENTS)]
    annotations: Option<PathBuf>,
    /// The dynamic lists that the policy's @names stand for
    #[arg(long, value_name = "FILE", help_heading = DOCUMENTS)]
    lists: Option<PathBuf>,
    /// The capability ceiling: what calls may use at most
    #[arg(long, value_name = "FILE", help_heading = DOCUMENTS)]
    ceiling: Option<PathBuf>,
    /// The directory in which filesystem and git may do what they like
    #[arg(long, value_name = "DIR", help_heading = DOCUMENTS)]
    sandbox: Option<String>,
    /// A path that no call may touch, or a pattern of paths, besides the bundle's; may be repeated
    #[arg(long, value_name = "PATH", help_heading = DOCUMENTS)]
    protected_path: Vec<String>,
    /// A domain pattern that the URLs of a server's calls may match, besides the bundle's; may be repeated
    #[arg(long, value_name = "SERVER=PATTERN", value_parser = server_pattern, help_heading = DOCUMENTS)]
    allow_domain: Vec<(String, String)>,
    /// A server whose every call is allowed, besides the bundle's; may be repeated
    #[arg(long, value_name = "SERVER", help_heading = DOCUMENTS)]
    trust: Vec<String>,
    /// The engine's options, an object such as '{"unknownArguments": "deny"}'
    #[arg(long, value_name = "JSON", help_heading = DOCUMENTS)]
    options: Option<String>,
    /// The directory that `~` stands for [default: the user's home directory]
    #[arg(long, value_name = "DIR", help_heading = HOST)]
    home: Option<PathBuf>,
    /// The directory that relative paths of calls and flags start from [default: the current directory]
    #[arg(long, value_name = "DIR", help_heading = HOST)]
    cwd: Option<PathBuf>,
    /// Judge in the virtual world of this file instead of on this machine's disk
    #[arg(long, value_name = "FILE", conflicts_with_all = ["home", "cwd"], help_heading = HOST)]
    world: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) running: Running,
}

/// How the engine is run.
#[derive(Args, Clone)]
pub(crate) struct Running {
    /// The engine to run; both give the same answers
    #[arg(long, value_name = "ENGINE", default_value_t, help_heading = ENGINE)]
    engine: RunBy,
    /// Write to standard error where the time of starting went
    #[arg(long, help_heading = ENGINE)]
    timings: bool,
    /// Write to standard error which bundle is used; explain also shows what the host was asked
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,
}

fn server_pattern(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once('=') {
        Some((server, pattern)) if !server.is_empty() && !pattern.is_empty() => {
            Ok((server.to_owned(), pattern.to_owned()))
        }
        _ => Err("expected a server and a pattern, for example `fetch=*.example.com`"),
    }
}

impl Setup {
    pub(crate) fn gate(&self) -> Result<Gate, Failure> {
        let gate = self.build(&Ok)?;
        if self.running.timings {
            anstream::eprintln!("{}", gate.timings());
        }
        Ok(gate)
    }

    /// The files of the documents where they are named from the root; an error if they are looked for in the directory that
    /// this process happens to run in, which somebody else may have chosen.
    pub(crate) fn check_absolute(&self) -> Result<(), Failure> {
        let files = [
            &self.bundle,
            &self.policy,
            &self.annotations,
            &self.lists,
            &self.ceiling,
        ];
        if files.iter().all(|file| file.is_none()) {
            return Err(Failure::Fault(
                "there are no documents, expected `--bundle FILE`".to_owned(),
            ));
        }
        let named = files.into_iter().flatten().chain(self.pinned.keys());
        let mut named = named.chain(self.above.named());
        match named.find(|file| file.is_relative() && signed::address(file).is_none()) {
            Some(file) => Err(Failure::Fault(format!(
                "the path `{}` is relative to a directory that the agent chooses, expected an absolute one",
                file.display()
            ))),
            None => Ok(()),
        }
    }

    /// The same with another bundle.
    pub(crate) fn by_bundle(&self, bundle: PathBuf) -> Self {
        Self {
            bundle: Some(bundle),
            ..self.clone()
        }
    }

    /// The gate of the documents, to which `add` adds what else it is built from.
    pub(crate) fn build(&self, add: Added<'_>) -> Result<Gate, Failure> {
        self.build_on(&self.host()?, add)
    }

    /// Adds to a gate what one before an agent has: whoever writes the documents, or this program, decides what is allowed. So does who
    /// writes what is found in the PATH under its name, which starts it: settings and plugins may have that name alone.
    pub(crate) fn protecting(&self, builder: GateBuilder) -> Result<GateBuilder, Failure> {
        let programs = [std::env::current_exe().ok(), callgate_doctor::in_path("callgate")];
        let programs = programs.iter().flatten().filter(|program| program.is_absolute());
        let builder = programs
            .filter_map(|program| program.to_str())
            .fold(builder.protect_documents(), GateBuilder::protect);
        let mut places = self.signed_files()?;
        if !places.is_empty() {
            // Whoever writes there has an older bundle be used, or none.
            places.extend(signed::folders()?);
        }
        places
            .iter()
            .try_fold(builder, |builder, place| match place.to_str() {
                Some(place) => Ok(builder.protect(place)),
                None => Err(Failure::Fault(format!(
                    "the path `{}` is not UTF-8",
                    place.display()
                ))),
            })
    }

    /// The signed bundles and the keys that are pinned, as absolute paths: whoever writes them decides what is allowed. None if any
    /// bundle is used.
    pub(crate) fn signed_files(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut files = self.pinned.keys().to_vec();
        if !files.is_empty() {
            files.extend(self.bundle()?);
        }
        for upper in self
            .uppers()?
            .iter()
            .filter(|upper| !upper.pinned.keys().is_empty())
        {
            files.extend(upper.pinned.keys().iter().cloned());
            files.push(upper.file()?);
        }
        let files = files.into_iter().map(std::path::absolute);
        files
            .collect::<io::Result<_>>()
            .map_err(|error| Failure::Fault(error.to_string()))
    }

    fn uppers(&self) -> Result<Vec<Upper>, Failure> {
        self.above.layers(self.pinned.seconds())
    }

    /// The same on another host. In a world the bundle lies in the current directory, wherever it lies here.
    pub(crate) fn build_in_world(&self, world: &Arc<dyn Host + Send + Sync>) -> Result<Gate, Failure> {
        let has_bundle = self.bundle()?.is_some();
        self.build_on(world, &|builder| {
            Ok(match has_bundle {
                true => builder.folder(world.current_dir()),
                false => builder,
            })
        })
    }

    pub(crate) fn build_on(
        &self,
        host: &Arc<dyn Host + Send + Sync>,
        add: Added<'_>,
    ) -> Result<Gate, Failure> {
        let above = self.above_on(host, add)?;
        let with = |builder| {
            let builder = add(self.laid_over(builder, host)?)?;
            Ok(above.iter().cloned().fold(builder, GateBuilder::above).build()?)
        };
        let named = match &self.bundle {
            Some(named) if signed::address(named).is_some() => Some(named.clone()),
            _ => self.bundle()?,
        };
        let Some(bundle) = named else {
            return with(Gate::builder());
        };
        let (gate, payload) = self.pinned.build(&bundle, &with)?;
        self.mention(&self.pinned, &bundle, payload.as_ref())?;
        Ok(gate)
    }

    /// The gates of the layers above, the uppermost first.
    pub(crate) fn above_on(
        &self,
        host: &Arc<dyn Host + Send + Sync>,
        add: Added<'_>,
    ) -> Result<Vec<Arc<Gate>>, Failure> {
        let mut above = Vec::new();
        for Upper { bundle, pinned } in self.uppers()? {
            let (gate, payload) = pinned.build(&bundle, &|builder| self.upper(builder, host, add))?;
            self.mention(&pinned, &bundle, payload.as_ref())?;
            above.push(Arc::new(gate));
        }
        Ok(above)
    }

    /// The gate of a layer above. The flags are about the lowest.
    fn upper(
        &self,
        builder: GateBuilder,
        host: &Arc<dyn Host + Send + Sync>,
        add: Added<'_>,
    ) -> Result<Gate, Failure> {
        let builder = builder.upper().engine(self.running.engine.kind());
        Ok(add(builder.host(Arc::clone(host)))?.build()?)
    }

    /// Lays the flags over the documents of a bundle.
    fn laid_over(
        &self,
        builder: GateBuilder,
        host: &Arc<dyn Host + Send + Sync>,
    ) -> Result<GateBuilder, Failure> {
        let mut builder = builder.engine(self.running.engine.kind());
        for (part, file) in [
            (DocumentKind::Policy, &self.policy),
            (DocumentKind::Annotations, &self.annotations),
            (DocumentKind::Lists, &self.lists),
            (DocumentKind::Ceiling, &self.ceiling),
        ] {
            if let Some(file) = file {
                builder = builder.file(part, file);
            }
        }
        if let Some(sandbox) = &self.sandbox {
            let sandbox = bundle::anchored(sandbox, host.current_dir());
            builder = builder.part(DocumentKind::Sandbox, Value::from(sandbox).to_string());
        }
        if let Some(options) = &self.options {
            builder = builder.part(DocumentKind::Options, options.as_str());
        }
        for path in &self.protected_path {
            builder = builder.protect(bundle::anchored(path, host.current_dir()));
        }
        for (server, pattern) in &self.allow_domain {
            builder = builder.allow_domain(server, pattern);
        }
        for server in &self.trust {
            builder = builder.trust(server);
        }
        Ok(builder.host(Arc::clone(host)))
    }

    /// The engine that runs.
    pub(crate) fn engine(&self) -> EngineKind {
        self.running.engine.kind()
    }

    /// Returns `true` if a flag names or holds a document.
    pub(crate) fn has_documents(&self) -> bool {
        let files = [
            &self.bundle,
            &self.policy,
            &self.annotations,
            &self.lists,
            &self.ceiling,
        ];
        files.iter().any(|file| file.is_some())
            || !self.above.is_empty()
            || self.sandbox.is_some()
            || self.options.is_some()
            || !self.protected_path.is_empty()
            || !self.allow_domain.is_empty()
            || !self.trust.is_empty()
    }

    /// The layers as engines of this process, whatever `--engine` says.
    pub(crate) fn layers(&self) -> Result<Layers, Failure> {
        let host = self.host()?;
        let gate = self.build_on(&host, &|builder| Ok(builder.engine(EngineKind::Native)))?;
        Layers::of(&gate, host.as_ref())
    }

    /// The documents as an engine of this process, whatever `--engine` says.
    pub(crate) fn compiled(&self) -> Result<Engine, Failure> {
        self.check_alone()?;
        let host = self.host()?;
        let gate = self.build_on(&host, &|builder| Ok(builder.engine(EngineKind::Native)))?;
        compiled(&gate, host.as_ref())
    }

    /// # Errors
    /// There are layers, for a command that looks at one policy.
    pub(crate) fn check_alone(&self) -> Result<(), Failure> {
        match self.above.is_empty() {
            true => Ok(()),
            false => Err(Failure::Helped {
                message: "--above: this command looks at one policy, and several bundles are not one"
                    .to_owned(),
                help: "look at each bundle by itself: what one layer denies or asks about no other allows"
                    .to_owned(),
            }),
        }
    }

    /// Returns `true` if the host is a world and not this machine.
    pub(crate) fn has_world(&self) -> bool {
        self.world.is_some()
    }

    /// That world, as a document.
    pub(crate) fn world(&self) -> Result<Option<Value>, Failure> {
        let Some(path) = &self.world else {
            return Ok(None);
        };
        let world = serde_json::to_value(read_world(path)?.machine()).map_err(io::Error::from)?;
        Ok(Some(world))
    }

    /// The folder that the bundle's paths start from, if a bundle is used.
    pub(crate) fn bundle_folder(&self) -> Result<Option<String>, Failure> {
        let Some(bundle) = self.bundle()? else {
            return Ok(None);
        };
        let folder = bundle.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
        Ok(folder.into_os_string().into_string().ok())
    }

    /// Says which bundle is used.
    fn mention(&self, pinned: &Pinned, bundle: &Path, payload: Option<&Payload>) -> Result<(), Failure> {
        let remote = pinned.remote(bundle)?;
        if self.running.verbose {
            let file = remote.as_ref().map_or(bundle, Remote::file);
            let shown = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
            let shown = shown.display();
            note(&match payload {
                Some(payload) => {
                    let (name, revision, expires) = (payload.name(), payload.revision(), payload.expires());
                    format!("the bundle is `{shown}`: revision {revision} of `{name}`, until {expires}")
                }
                None => format!("the bundle is `{shown}`"),
            });
        }
        if let Some(why) = remote.and_then(|remote| remote.failure()) {
            note(&format!("the last good bundle is used, until it expires: {why}"));
        }
        Ok(())
    }

    /// The file of the bundle that is used, if one is. Nothing is fetched.
    fn bundle(&self) -> Result<Option<PathBuf>, Failure> {
        match &self.bundle {
            Some(named) => match self.pinned.remote(named)? {
                Some(remote) => Ok(Some(remote.file().to_owned())),
                None => in_folder(named).map(Some),
            },
            None if self.policy.is_some() || self.annotations.is_some() => Ok(None),
            None => {
                let usual = PathBuf::from(BUNDLE_FILE);
                match fs::symlink_metadata(&usual) {
                    Ok(_) => Ok(Some(usual)),
                    Err(_) => Err(no_documents()),
                }
            }
        }
    }

    pub(crate) fn host(&self) -> Result<Arc<dyn Host + Send + Sync>, Failure> {
        if let Some(world) = &self.world {
            return Ok(Arc::new(read_world(world)?));
        }
        let fault = |error: callgate_engine::host::HostError| Failure::Fault(error.to_string());
        let (home, cwd) = match (&self.home, &self.cwd) {
            (None, None) => return Ok(Arc::new(RealHost::from_env().map_err(fault)?)),
            (Some(home), Some(cwd)) => (directory(home)?, directory(cwd)?),
            (Some(home), None) => (directory(home)?, directory(Path::new("."))?),
            (None, Some(cwd)) => {
                let own = RealHost::from_env().map_err(fault)?;
                (own.home_dir().to_owned(), directory(cwd)?)
            }
        };
        Ok(Arc::new(RealHost::new(&home, &cwd).map_err(fault)?))
    }
}

/// A gate's documents as an engine of this process.
pub(crate) fn compiled(gate: &Gate, host: &dyn Host) -> Result<Engine, Failure> {
    gate.compile(host)
        .map_err(|error| Failure::Invalid(error.to_string()))
}

fn read_world(path: &Path) -> Result<VirtualHost, Failure> {
    let place = path.display();
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Failure::Invalid(format!("{place}: expected JSON in UTF-8")),
        _ => Failure::Unloaded {
            message: format!("cannot read `{place}`: {error}"),
            help: None,
        },
    })?;
    let invalid = |error: &dyn std::fmt::Display| Failure::Invalid(format!("{place}: {error}"));
    let world: Value = serde_json::from_str(&text).map_err(|error| invalid(&format!("not JSON: {error}")))?;
    if !world.is_object() {
        return Err(invalid(&"expected an object, a world"));
    }
    VirtualHost::from_value(&world).map_err(|error| invalid(&error))
}

/// The directory as an absolute path, where the kernel finds it. One that is not there would be a misspelled one, and `~` or
/// relative paths would be judged where nobody meant them.
fn directory(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let found = path
        .canonicalize()
        .map_err(|error| Failure::Fault(format!("cannot use the directory `{shown}`: {error}")))?;
    if !found.is_dir() {
        return Err(Failure::Fault(format!(
            "cannot use `{shown}`: it is not a directory"
        )));
    }
    let text = found.into_os_string().into_string();
    text.map_err(|path| Failure::Fault(format!("the directory `{}` is not UTF-8", path.display())))
}

/// Reads `allow`, `escalate` or `deny`.
pub(crate) fn effects() -> impl TypedValueParser<Value = Effect> {
    let words = Effect::ALL.iter().map(|effect| effect.as_str());
    PossibleValuesParser::new(words).try_map(|word| Effect::parse(&word).ok_or("expected a decision"))
}

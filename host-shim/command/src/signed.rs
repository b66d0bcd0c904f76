//! Signed bundles: the keys that are pinned, and the documents that one of them has signed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_bundle::{
    Credentials, Envelope, MOST_BYTES, NamedText, Opened, Payload, PublicKey, Refused, Remote, Timestamp,
    Trust, is_address, is_envelope, is_name,
};
use callgate_host::{BundleTexts, Gate, GateBuilder};
use clap::Args;

use crate::replace::{read_file, read_most};
use crate::terminal::Failure;

/// Whose bundles are used.
#[derive(Args, Clone)]
pub(crate) struct Pinned {
    /// Use the bundle only if it is signed, by a key whose public half is in this file; may be repeated: by any of them
    #[arg(long = BUNDLE_KEY, value_name = "FILE", requires = "bundle", help_heading = "Documents")]
    keys: Vec<PathBuf>,
    /// Use the signed bundle only if it has this name
    #[arg(
        long = BUNDLE_NAME,
        value_name = "NAME",
        requires = "keys", value_parser = bundle_name,
        help_heading = "Documents"
    )]
    name: Option<String>,
    /// How long a bundle from an address is used before a newer one is asked for, in seconds
    #[arg(
        long = BUNDLE_REFRESH,
        value_name = "SECONDS",
        default_value_t = REFRESH,
        help_heading = "Documents"
    )]
    refresh: u64,
}

pub(crate) const BUNDLE_KEY: &str = "bundle-key";
const BUNDLE_NAME: &str = "bundle-name";
const BUNDLE_REFRESH: &str = "bundle-refresh";

/// Seconds, unless somebody says otherwise.
const REFRESH: u64 = 60;

pub(crate) fn bundle_name(text: &str) -> Result<String, &'static str> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err("expected a name of a-z, 0-9, `.`, `_` and `-`"),
    }
}

impl Pinned {
    /// Those of a command line that somebody else has written.
    pub(crate) fn by(keys: Vec<PathBuf>) -> Self {
        Self::new(keys, None, REFRESH)
    }

    pub(crate) fn new(keys: Vec<PathBuf>, name: Option<String>, refresh: u64) -> Self {
        Self { keys, name, refresh }
    }

    /// After how many seconds a bundle at an address is asked for again.
    pub(crate) fn seconds(&self) -> u64 {
        self.refresh
    }

    /// The files of the keys; none if any bundle is used.
    pub(crate) fn keys(&self) -> &[PathBuf] {
        &self.keys
    }

    pub(crate) fn trust(&self) -> Result<Trust, Failure> {
        let keys = self.keys.iter().map(|file| {
            let text = read_file(file).map_err(|error| unreadable(file, &error))?;
            PublicKey::read(&text).map_err(|why| Failure::Invalid(format!("{}: {why}", file.display())))
        });
        Ok(Trust {
            keys: keys.collect::<Result<_, _>>()?,
            name: self.name.clone(),
            state: state()?,
        })
    }

    /// The address of a bundle, unless it is a file.
    pub(crate) fn remote(&self, bundle: &Path) -> Result<Option<Remote>, Failure> {
        let Some(url) = address(bundle) else {
            return Ok(None);
        };
        if self.keys.is_empty() {
            return Err(Failure::Unloaded {
                message: format!("the bundle `{url}` is at an address, and no key is pinned"),
                help: Some(format!(
                    "`--{BUNDLE_KEY} FILE` pins the public key of whoever signs it"
                )),
            });
        }
        at(url).map(Some)
    }

    /// How often a bundle at an address is asked for.
    pub(crate) fn refresh(&self) -> Duration {
        Duration::from_secs(self.refresh.max(1))
    }

    /// Has the last good bundle of an address be the newest, unless it was asked for less than `fresh` ago. A newer one is good if the
    /// gate can be built with it.
    pub(crate) fn renew(
        &self,
        remote: &Remote,
        fresh: Duration,
        with: &dyn Fn(GateBuilder) -> Result<Gate, Failure>,
    ) -> Result<(), String> {
        let trust = self.trust().map_err(|failure| failure.told())?;
        remote.refresh(&trust, fresh, Timestamp::now(), |opened| {
            let built = builder(&opened.payload, remote.file()).and_then(with);
            built.map(drop).map_err(|failure| failure.told())
        })
    }

    /// The gate of a bundle in a file or at an address, and what was signed if a key is pinned. `with` builds it, with whatever else it
    /// is built from. No older revision is used from then on.
    pub(crate) fn build(
        &self,
        bundle: &Path,
        with: &dyn Fn(GateBuilder) -> Result<Gate, Failure>,
    ) -> Result<(Gate, Option<Payload>), Failure> {
        let remote = self.remote(bundle)?;
        if let Some(remote) = &remote {
            let renewed = self.renew(remote, self.refresh(), with);
            renewed.map_err(|why| Failure::Unloaded {
                message: format!("the bundle `{}` is not used: {why}", bundle.display()),
                help: None,
            })?;
        }
        let file = remote.as_ref().map_or(bundle, Remote::file);
        if self.keys.is_empty() {
            check_unsigned(file)?;
            return Ok((with(Gate::builder().bundle(file))?, None));
        }
        let trust = self.trust()?;
        let opened = open(&trust, file)?;
        let gate = with(builder(&opened.payload, file)?)?;
        trust.accept(&opened).map_err(|why| unused(file, &why))?;
        Ok((gate, Some(opened.payload)))
    }

    /// The documents of a bundle in a file, or the last good one of an address, for who only looks at it: nothing is fetched and
    /// nothing is accepted.
    pub(crate) fn looked_at(&self, bundle: &Path) -> Result<Gate, Failure> {
        let remote = self.remote(bundle)?;
        let file = remote.as_ref().map_or(bundle, Remote::file);
        let opened = open(&self.trust()?, file)?;
        Ok(builder(&opened.payload, file)?.build()?)
    }

    /// The documents of a bundle in a file or at an address, for who writes down where it is. It is fetched if it never was, and nothing
    /// is accepted.
    pub(crate) fn looked_for(&self, bundle: &Path) -> Result<GateBuilder, Failure> {
        Ok(match self.remote(bundle)? {
            Some(remote) => {
                let opened = remote.look(&self.trust()?, Timestamp::now());
                let opened = opened.map_err(|why| Failure::Unloaded {
                    message: format!("the bundle `{}` is not used: {why}", bundle.display()),
                    help: None,
                })?;
                builder(&opened.payload, remote.file())?
            }
            None if self.keys.is_empty() => {
                check_unsigned(bundle)?;
                Gate::builder().bundle(bundle)
            }
            None => builder(&open(&self.trust()?, bundle)?.payload, bundle)?,
        })
    }

    /// The flags that say the same, with the names that files have where they are written.
    pub(crate) fn flags(
        &self,
        named: impl Fn(&Path) -> Result<String, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let mut flags = Vec::new();
        for key in &self.keys {
            flags.extend([format!("--{BUNDLE_KEY}"), named(key)?]);
        }
        if let Some(name) = &self.name {
            flags.extend([format!("--{BUNDLE_NAME}"), name.clone()]);
        }
        if self.refresh != REFRESH {
            flags.extend([format!("--{BUNDLE_REFRESH}"), self.refresh.to_string()]);
        }
        Ok(flags)
    }
}

/// The address that stands in place of a file.
pub(crate) fn address(bundle: &Path) -> Option<&str> {
    bundle.to_str().filter(|text| is_address(text))
}

/// The variable with secrets for the servers of bundles.
const CREDENTIALS: &str = "CALLGATE_BUNDLE_CREDENTIALS";

/// The bundle at an address.
pub(crate) fn at(address: &str) -> Result<Remote, Failure> {
    let client = callgate_guard::http::client(Remote::options);
    let client = client.map_err(|error| Failure::Fault(format!("no client of HTTP can be made: {error}")))?;
    let secrets = std::env::var(CREDENTIALS).unwrap_or_default();
    let secrets = Credentials::read(&secrets);
    let secrets = secrets.map_err(|why| Failure::Fault(format!("`{CREDENTIALS}`: {why}")))?;
    Remote::new(address, &cache()?, client, secrets).map_err(Failure::Fault)
}

/// The documents of a signed file that nobody has verified, for who only compares them; `None` for another file.
pub(crate) fn unverified(file: &Path) -> Result<Option<BundleTexts>, Failure> {
    let text = read(file)?;
    if !is_envelope(&text) {
        return Ok(None);
    }
    let payload = Envelope::read(&text).and_then(|envelope| envelope.unverified());
    let payload = payload.map_err(|why| Failure::Invalid(format!("{}: {why}", file.display())))?;
    texts(&payload, file).map(Some)
}

/// Opens a signed file, as of now.
pub(crate) fn open(trust: &Trust, file: &Path) -> Result<Opened, Failure> {
    let text = read(file)?;
    trust
        .open(&text, Timestamp::now())
        .map_err(|why| unused(file, &why))
}

/// The text of a file that may be a signed bundle; of a longer one than is read as such, one byte more.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    read_most(file, MOST_BYTES + 1).map_err(|error| unreadable(file, &error))
}

/// Refuses a signed file where nobody says whose signature counts.
fn check_unsigned(file: &Path) -> Result<(), Failure> {
    // What cannot be read is said by whoever reads it as documents.
    let text = read_most(file, MOST_BYTES).unwrap_or_default();
    if !is_envelope(&text) {
        return Ok(());
    }
    let file = file.display();
    Err(Failure::Unloaded {
        message: format!("the bundle `{file}` is signed, and no key is pinned"),
        help: Some(format!(
            "`--{BUNDLE_KEY} FILE` pins the public key of whoever signs it, and `callgate bundle show {file}` names the key that did"
        )),
    })
}

/// The folder with the revisions that were accepted.
fn state() -> Result<PathBuf, Failure> {
    own("XDG_STATE_HOME", ".local/state")
}

/// The folder with the last good bundles of addresses.
fn cache() -> Result<PathBuf, Failure> {
    own("XDG_CACHE_HOME", ".cache")
}

/// Both, for who protects them.
pub(crate) fn folders() -> Result<[PathBuf; 2], Failure> {
    Ok([state()?, cache()?])
}

/// A folder of this user. A relative one would depend on where the process runs.
fn own(variable: &str, usual: &str) -> Result<PathBuf, Failure> {
    let named = std::env::var_os(variable).filter(|named| !named.is_empty());
    let folder = named
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join(usual)));
    let folder = folder.filter(|folder| folder.is_absolute());
    let folder = folder.map(|folder| folder.join("callgate/bundles"));
    folder.ok_or_else(|| {
        Failure::Fault(format!(
            "the home directory is not known, expected an absolute path in `{variable}`"
        ))
    })
}

/// The builder of a gate by what was signed, under its name and revision.
fn builder(payload: &Payload, file: &Path) -> Result<GateBuilder, Failure> {
    let name = format!("{}@{}", payload.name(), payload.revision());
    Ok(Gate::builder().name(name).bundle_texts(texts(payload, file)?))
}

/// The documents, whose relative paths start from the file's folder.
fn texts(payload: &Payload, file: &Path) -> Result<BundleTexts, Failure> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    let folder = folder.map_err(|error| unreadable(file, &error))?;
    let folder = folder
        .into_os_string()
        .into_string()
        .map_err(|folder| Failure::Fault(format!("the directory `{}` is not UTF-8", folder.display())))?;
    let files = payload.files().iter();
    Ok(BundleTexts {
        place: file.display().to_string(),
        folder: Some(folder),
        files: files
            .map(|NamedText { name, text }| (name.clone(), text.clone()))
            .collect(),
    })
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::Unloaded {
        message: format!("cannot read `{}`: {error}", file.display()),
        help: None,
    }
}

pub(crate) fn unused(file: &Path, why: &Refused) -> Failure {
    let help = match why {
        Refused::NotAnEnvelope(_) => Some(
            "`callgate bundle build` and `callgate bundle sign` write a signed bundle; no other is used with a pinned key".to_owned(),
        ),
        Refused::Unsigned => Some("`callgate bundle sign` signs it".to_owned()),
        Refused::UnknownKey { .. } => Some(format!("`--{BUNDLE_KEY} FILE` pins another key too")),
        Refused::Expired { .. } => Some("`callgate bundle build` with a higher revision and a later `--expires` renews it".to_owned()),
        _ => None,
    };
    Failure::Unloaded {
        message: format!("the bundle `{}` is not used: {why}", file.display()),
        help,
    }
}

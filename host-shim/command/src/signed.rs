//! Signed bundles: the keys that are pinned, and the documents that one of them has signed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use callgate_bundle::{
    MOST_BYTES, NamedText, Opened, PublicKey, Refused, Remote, Timestamp, Trust, is_envelope,
};
use callgate_engine::host::Host;
use callgate_host::{BundleTexts, Gate, GateError};
use clap::Args;

use crate::approvals;
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
        long = "bundle-name",
        value_name = "NAME",
        requires = "keys",
        help_heading = "Documents"
    )]
    name: Option<String>,
    /// How long a bundle from an address is used before a newer one is asked for, in seconds
    #[arg(
        long = "bundle-refresh",
        value_name = "SECONDS",
        default_value_t = 60,
        help_heading = "Documents"
    )]
    refresh: u64,
}

pub(crate) const BUNDLE_KEY: &str = "bundle-key";

impl Pinned {
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
        let client = callgate_guard::http::client(Remote::options);
        let client =
            client.map_err(|error| Failure::Fault(format!("no client of HTTP can be made: {error}")))?;
        Remote::new(url, &cache()?, client)
            .map(Some)
            .map_err(Failure::Fault)
    }

    /// How often a bundle at an address is asked for.
    pub(crate) fn refresh(&self) -> Duration {
        Duration::from_secs(self.refresh.max(1))
    }

    /// Has the last good bundle of an address be the newest, unless it was asked for less than `fresh` ago.
    pub(crate) fn renew(
        &self,
        remote: &Remote,
        fresh: Duration,
        host: &Arc<dyn Host + Send + Sync>,
    ) -> Result<(), String> {
        let trust = self.trust().map_err(|failure| failure.message().to_owned())?;
        remote.refresh(&trust, fresh, Timestamp::now(), |opened| {
            let texts = texts(opened, remote.file()).map_err(|failure| failure.message().to_owned())?;
            check(texts, host).map_err(|error| error.to_string())
        })
    }

    /// The documents in a signed file. From now on no older revision is used, if these are documents that an engine takes.
    pub(crate) fn texts(
        &self,
        file: &Path,
        host: &Arc<dyn Host + Send + Sync>,
    ) -> Result<(BundleTexts, Opened), Failure> {
        let trust = self.trust()?;
        let opened = open(&trust, file)?;
        let texts = texts(&opened, file)?;
        if !trust.has_accepted(&opened).map_err(|why| unused(file, &why))? {
            check(texts.clone(), host)?;
            trust.accept(&opened).map_err(|why| unused(file, &why))?;
        }
        Ok((texts, opened))
    }
}

/// Refuses documents that no engine takes.
fn check(texts: BundleTexts, host: &Arc<dyn Host + Send + Sync>) -> Result<(), GateError> {
    let builder = Gate::builder().host(Arc::clone(host)).bundle_texts(texts);
    builder.build().map(|_| ())
}

/// The address that stands in place of a file.
pub(crate) fn address(bundle: &Path) -> Option<&str> {
    let text = bundle.to_str()?;
    let is_address = ["https://", "http://"]
        .iter()
        .any(|begin| text.starts_with(begin));
    is_address.then_some(text)
}

/// The folder with the last good bundles of addresses.
fn cache() -> Result<PathBuf, Failure> {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|cache| !cache.is_empty());
    let cache = cache
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join(".cache")));
    let folder = cache.map(|cache| cache.join("callgate/bundles"));
    folder.ok_or_else(|| {
        Failure::Fault(
            "the home directory is not known, expected `XDG_CACHE_HOME` in the environment".to_owned(),
        )
    })
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
pub(crate) fn check_unsigned(file: &Path) -> Result<(), Failure> {
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
    let folder = approvals::folder(None).map(|folder| folder.join("bundles"));
    folder.ok_or_else(|| {
        Failure::Fault(
            "the home directory is not known, expected `XDG_STATE_HOME` in the environment".to_owned(),
        )
    })
}

/// The documents, whose relative paths start from the file's folder.
fn texts(opened: &Opened, file: &Path) -> Result<BundleTexts, Failure> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    let folder = folder.map_err(|error| unreadable(file, &error))?;
    let folder = folder
        .into_os_string()
        .into_string()
        .map_err(|folder| Failure::Fault(format!("the directory `{}` is not UTF-8", folder.display())))?;
    let files = opened.payload.files().iter();
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

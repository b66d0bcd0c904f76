//! The highest revision that was accepted of a key under a name: one file for both, in the user's folder of state. What another key
//! signs under the name says nothing of it: anybody can make a key.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::json;
use crate::refused::Refused;

const FORMAT: &str = "callgate-bundle-state/1";

/// Bytes of the longest file that is read.
const MOST_BYTES: u64 = 4096;

/// A revision, and the digest of the payload that it was.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Accepted {
    format: String,
    pub(crate) revision: u64,
    pub(crate) sha256: String,
}

impl Accepted {
    pub(crate) fn new(revision: u64, sha256: &str) -> Self {
        let (format, sha256) = (FORMAT.to_owned(), sha256.to_owned());
        Self {
            format,
            revision,
            sha256,
        }
    }
}

/// The folder with what was accepted.
pub(crate) struct State<'f>(pub(crate) &'f Path);

impl State<'_> {
    /// What was accepted under the name, signed by the key with this id; `None` if nothing was.
    pub(crate) fn accepted(&self, name: &str, key: &str) -> Result<Option<Accepted>, Refused> {
        let file = self.file(name, key);
        let text = match bounded(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(file, error.to_string())),
        };
        let accepted: Result<Accepted, String> = json::read(&text).map_err(|error| error.to_string());
        match accepted {
            Ok(accepted) if accepted.format == FORMAT => Ok(Some(accepted)),
            Ok(other) => {
                let found = other.format.escape_debug();
                Err(refused(
                    file,
                    format!("`format` is `{found}`, expected `{FORMAT}`"),
                ))
            }
            Err(reason) => Err(refused(file, reason)),
        }
    }

    /// Writes what is accepted, unless `is_left` says that it is not to be, while no other process does. There is the old text or the
    /// new one, whatever happens.
    pub(crate) fn accept(
        &self,
        (name, key): (&str, &str),
        next: &Accepted,
        is_left: impl FnOnce() -> Result<bool, Refused>,
    ) -> Result<(), Refused> {
        let file = self.file(name, key);
        let failed = |error: io::Error| refused(file.clone(), error.to_string());
        let mut folder = DirBuilder::new();
        folder
            .recursive(true)
            .mode(0o700)
            .create(self.0)
            .map_err(failed)?;
        let mut owned = OpenOptions::new();
        owned.write(true).create(true).truncate(false).mode(0o600);
        let lock = owned.open(self.0.join("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        if is_left()? {
            return Ok(());
        }
        let new = file.with_extension("new");
        let written = owned.truncate(true).open(&new).and_then(|mut to: File| {
            writeln!(to, "{}", json::write(next))?;
            to.sync_all()
        });
        written.and_then(|()| fs::rename(&new, &file)).map_err(failed)
    }

    fn file(&self, name: &str, key: &str) -> PathBuf {
        self.0.join(format!("{name}.{key}.json"))
    }
}

fn bounded(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(file)?.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

fn refused(file: PathBuf, reason: String) -> Refused {
    Refused::State { file, reason }
}

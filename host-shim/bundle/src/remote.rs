//! A bundle at an address: fetched, and the last good one kept.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{AUTHORIZATION, ETAG, IF_NONE_MATCH};
use reqwest::{Client, ClientBuilder, StatusCode, Url};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::address::Address;
use crate::credentials::Credentials;
use crate::envelope::MOST_BYTES;
use crate::http::{self, FETCHING, Fetched, Unfetched};
use crate::json;
use crate::key::hexadecimal;
use crate::opened::Opened;
use crate::refused::Refused;
use crate::registry::Repository;
use crate::trust::Trust;

/// An address, and where the last good bundle from it is kept.
#[derive(Clone)]
pub struct Remote {
    address: Address,
    file: PathBuf,
    note: PathBuf,
    client: Client,
    credentials: Credentials,
}

/// When the address was asked, and what came of it.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// Seconds since 1970.
    asked: i64,
    /// The name that the server gave to what is kept.
    etag: Option<String>,
    /// Why what came is not used, or why nothing came.
    failed: Option<String>,
}

impl Remote {
    /// A bundle at this address, which is kept in a folder. The client is made with [`Remote::options`].
    ///
    /// # Errors
    /// When it is not an address of HTTPS (`https://…`) or in a registry of OCI (`oci://REGISTRY/NAME:TAG`). HTTP is for this machine
    /// alone.
    pub fn new(
        address: &str,
        folder: &Path,
        client: Client,
        credentials: Credentials,
    ) -> Result<Self, String> {
        let name = hexadecimal(&Sha256::digest(address));
        Ok(Self {
            address: Address::read(address)?,
            file: folder.join(format!("{name}.json")),
            note: folder.join(format!("{name}.asked.json")),
            client,
            credentials,
        })
    }

    /// The options of a client that fetches bundles.
    pub fn options(client: ClientBuilder) -> ClientBuilder {
        http::options(client)
    }

    /// What the address has now, whatever it is. Nothing is kept.
    ///
    /// # Errors
    /// When it cannot be fetched.
    pub fn pull(&self) -> Result<Vec<u8>, String> {
        match self.fetch(None)? {
            Fetched::New { text, .. } => Ok(text),
            Fetched::Unchanged => Err("the server answered that nothing has changed".to_owned()),
        }
    }

    /// Puts a bundle into the registry, and gives the digest that the manifest has there.
    ///
    /// # Errors
    /// When the address is not in a registry, or the registry does not take it.
    pub fn push(&self, bundle: &[u8]) -> Result<String, String> {
        let Address::Registry(reference) = &self.address else {
            let server = self.address.server();
            return Err(format!(
                "`{server}` is not a registry, expected `oci://REGISTRY/NAME:TAG`"
            ));
        };
        http::run(async {
            let mut repository = Repository::new(&self.client, reference, &self.credentials)?;
            repository.push(bundle).await
        })
    }

    /// The file that has the last good bundle. It changes when another one is taken up.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Why the last good bundle may not be the newest: the last time, the server did not answer, or with something that is not used.
    pub fn failure(&self) -> Option<String> {
        self.note().failed
    }

    /// Asks for a newer bundle, unless that was done less than `fresh` ago. What comes is kept, and its revision accepted, if it is
    /// trusted and `check` says that its documents are right; otherwise the last good bundle stays, until it expires.
    ///
    /// # Errors
    /// When there is no good bundle: why the newest is none.
    pub fn refresh(
        &self,
        trust: &Trust,
        fresh: Duration,
        now: Timestamp,
        check: impl FnOnce(&Opened) -> Result<(), String>,
    ) -> Result<(), String> {
        make_folder(&self.file).map_err(|error| format!("`{}`: {error}", self.file.display()))?;
        let is_good = fs::read(&self.file).is_ok_and(|text| trust.open(&text, now).is_ok());
        let before = self.note();
        let since = now.as_second().checked_sub(before.asked);
        let is_fresh = since.is_some_and(|since| (0..fresh.as_secs().cast_signed()).contains(&since));
        if is_good && is_fresh {
            return Ok(());
        }
        let etag = before.etag.filter(|_| is_good);
        let taken = match self.fetch(etag.as_deref()) {
            Ok(Fetched::Unchanged) => Ok(etag.clone()),
            Ok(Fetched::New { text, etag }) => take(&self.file, trust, &text, now, check).map(|()| etag),
            Err(why) => Err(why),
        };
        let (etag, failed) = match taken {
            Ok(etag) => (etag, None),
            Err(why) => (etag, Some(why)),
        };
        let asked = now.as_second();
        let note = json::write(&Note {
            asked,
            etag,
            failed: failed.clone(),
        });
        // Without a note it is asked again, and that is all.
        drop(keep(&self.note, note.as_bytes()));
        match failed {
            Some(why) if !is_good => Err(why),
            Some(_) | None => Ok(()),
        }
    }

    /// The last good bundle, or the one that the server has if there is none. Nothing is kept.
    ///
    /// # Errors
    /// When neither is good: why the server's is not.
    pub fn look(&self, trust: &Trust, now: Timestamp) -> Result<Opened, String> {
        make_folder(&self.file).map_err(|error| format!("`{}`: {error}", self.file.display()))?;
        let kept = fs::read(&self.file).ok();
        if let Some(opened) = kept.and_then(|text| trust.open(&text, now).ok()) {
            return Ok(opened);
        }
        trust.open(&self.pull()?, now).map_err(|why| why.to_string())
    }

    fn note(&self) -> Note {
        let text = fs::read(&self.note).unwrap_or_default();
        json::read(&text).unwrap_or_default()
    }

    fn fetch(&self, etag: Option<&str>) -> Result<Fetched, String> {
        http::run(http::within(FETCHING, async {
            match &self.address {
                Address::Url(url) => self.answer(url, etag).await,
                Address::Registry(reference) => {
                    let mut repository = Repository::new(&self.client, reference, &self.credentials)?;
                    repository.pull(etag).await
                }
            }
        }))
    }

    async fn answer(&self, url: &Url, etag: Option<&str>) -> Result<Fetched, Unfetched> {
        let mut request = self.client.get(url.clone());
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        if let Some(secret) = self.credentials.of(url) {
            request = request.header(AUTHORIZATION, secret.header()?);
        }
        let response = request.send().await?;
        match response.status() {
            StatusCode::NOT_MODIFIED if etag.is_some() => return Ok(Fetched::Unchanged),
            StatusCode::OK => {}
            status => return Err(Unfetched::Other(format!("the server answered HTTP {status}"))),
        }
        let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
        let etag = etag.map(str::to_owned);
        let text = http::body(response, MOST_BYTES).await?;
        Ok(Fetched::New { text, etag })
    }
}

/// Keeps a bundle that is trusted and right, and accepts its revision.
fn take(
    file: &Path,
    trust: &Trust,
    text: &[u8],
    now: Timestamp,
    check: impl FnOnce(&Opened) -> Result<(), String>,
) -> Result<(), String> {
    let said = |why: Refused| why.to_string();
    let opened = trust.open(text, now).map_err(said)?;
    if !trust.has_accepted(&opened).map_err(said)? {
        check(&opened)?;
    }
    let kept = || {
        keep(file, text).map_err(|error| Refused::Unkept {
            file: file.to_owned(),
            reason: error.to_string(),
        })
    };
    // It is kept before an older one is refused: there is a good one, whenever this ends.
    trust.accept_once(&opened, kept).map_err(said)
}

fn make_folder(file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new(""));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Writes a file so that there is the old text or the new one, whatever happens.
fn keep(file: &Path, text: &[u8]) -> io::Result<()> {
    let new = file.with_extension(format!("{}.new", std::process::id()));
    let written = fs::File::create(&new).and_then(|mut to| {
        to.write_all(text)?;
        to.sync_all()
    });
    written.and_then(|()| fs::rename(&new, file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Envelope;
    use crate::key::SecretKey;
    use crate::payload::{NamedText, Payload};

    #[test]
    fn who_comes_late_with_an_older_one_does_not_keep_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, key) = (folder.path().join("kept"), SecretKey::generate().unwrap());
        let trust = Trust {
            keys: vec![key.public()],
            name: None,
            state: folder.path().join("state"),
        };
        let now: Timestamp = "2029-01-01T00:00:00Z".parse().unwrap();
        let end = "2030-01-01T00:00:00Z".parse().unwrap();
        let revision = |revision| {
            let named = NamedText {
                name: "callgate.json".to_owned(),
                text: "{}".to_owned(),
            };
            let payload = Payload::new("acme", revision, end, vec![named]).unwrap();
            let mut envelope = Envelope::of(&payload).unwrap();
            envelope.sign(&key).unwrap();
            envelope.to_json().into_bytes()
        };
        // While one process looks at an older one, another takes the newer.
        let late = take(&file, &trust, &revision(7), now, |_| {
            take(&file, &trust, &revision(8), now, |_| Ok(()))
        });
        let late = late.unwrap_err();
        assert!(
            late.contains("revision 7 of the bundle `acme` is lower than 8"),
            "{late}"
        );
        assert_eq!(fs::read(&file).unwrap(), revision(8));
        // What was accepted is kept again where it is gone.
        fs::remove_file(&file).unwrap();
        take(&file, &trust, &revision(8), now, |_| Err("looked at".to_owned())).unwrap();
        assert_eq!(fs::read(&file).unwrap(), revision(8));
    }
}

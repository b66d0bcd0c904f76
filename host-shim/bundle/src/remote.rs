//! A bundle at an address: fetched, and the last good one kept.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{ETAG, IF_NONE_MATCH};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, ClientBuilder, StatusCode, Url};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::envelope::MOST_BYTES;
use crate::json;
use crate::key::hexadecimal;
use crate::refused::Refused;
use crate::trust::{Opened, Trust};

/// How long a connection may take, and the whole answer. Hooks have little time.
const CONNECTING: Duration = Duration::from_secs(3);
const ANSWERING: Duration = Duration::from_secs(10);

/// How often an answer may lead elsewhere.
const MOST_REDIRECTS: usize = 5;

/// An address, and where the last good bundle from it is kept.
#[derive(Clone, Debug)]
pub struct Remote {
    url: Url,
    file: PathBuf,
    note: PathBuf,
    client: Client,
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

enum Fetched {
    Unchanged,
    New { text: Vec<u8>, etag: Option<String> },
}

impl Remote {
    /// A bundle at this address, which is kept in a folder. The client is made with [`Remote::options`].
    ///
    /// # Errors
    /// When it is not an address of HTTPS. HTTP is for this machine alone.
    pub fn new(url: &str, folder: &Path, client: Client) -> Result<Self, String> {
        let parsed = Url::parse(url).ok().filter(is_private);
        let parsed = parsed
            .ok_or_else(|| format!("`{}` is not an address, expected `https://…`", url.escape_debug()))?;
        let name = hexadecimal(&Sha256::digest(url));
        Ok(Self {
            url: parsed,
            file: folder.join(format!("{name}.json")),
            note: folder.join(format!("{name}.asked.json")),
            client,
        })
    }

    /// The options of a client that fetches bundles.
    pub fn options(client: ClientBuilder) -> ClientBuilder {
        client
            .connect_timeout(CONNECTING)
            .timeout(ANSWERING)
            .redirect(Policy::custom(follow))
            .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
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
        match self.fetch(None)? {
            Fetched::New { text, .. } => trust.open(&text, now).map_err(|why| why.to_string()),
            Fetched::Unchanged => Err("the server answered that nothing has changed".to_owned()),
        }
    }

    fn note(&self) -> Note {
        let text = fs::read(&self.note).unwrap_or_default();
        json::read(&text).unwrap_or_default()
    }

    fn fetch(&self, etag: Option<&str>) -> Result<Fetched, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        runtime.block_on(self.answer(etag)).map_err(|error| match error {
            Unfetched::Http(error) => format!("it cannot be fetched: {}", cause(&error)),
            Unfetched::Other(why) => why,
        })
    }

    async fn answer(&self, etag: Option<&str>) -> Result<Fetched, Unfetched> {
        let request = self.client.get(self.url.clone());
        let request = match etag {
            Some(etag) => request.header(IF_NONE_MATCH, etag),
            None => request,
        };
        let mut response = request.send().await?;
        match response.status() {
            StatusCode::NOT_MODIFIED if etag.is_some() => return Ok(Fetched::Unchanged),
            StatusCode::OK => {}
            status => return Err(Unfetched::Other(format!("the server answered HTTP {status}"))),
        }
        let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
        let etag = etag.map(str::to_owned);
        let mut text = Vec::new();
        while let Some(piece) = response.chunk().await? {
            if text.len() + piece.len() > MOST_BYTES {
                let why = format!("the server answered with more than {MOST_BYTES} bytes");
                return Err(Unfetched::Other(why));
            }
            text.extend_from_slice(&piece);
        }
        Ok(Fetched::New { text, etag })
    }
}

enum Unfetched {
    Http(reqwest::Error),
    Other(String),
}

impl From<reqwest::Error> for Unfetched {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error)
    }
}

/// The first cause of an error. The others repeat the address, which may hold a secret.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    match error.is_timeout() {
        true => "the server does not answer in time".to_owned(),
        false if cause.is::<reqwest::Error>() => "the server's answer is broken".to_owned(),
        false => cause.to_string(),
    }
}

fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    // A server elsewhere has nothing to ask of this machine's own.
    let is_own = attempt
        .previous()
        .first()
        .is_some_and(|first| first.scheme() == "http");
    let is_private = attempt.url().scheme() == "https" || is_own && is_private(attempt.url());
    let is_followed = attempt.previous().len() <= MOST_REDIRECTS && is_private;
    match is_followed {
        true => attempt.follow(),
        false => attempt.error("the server leads to an address that is not followed"),
    }
}

/// Returns `true` if nobody on the way reads along.
fn is_private(url: &Url) -> bool {
    let is_own = matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"));
    url.scheme() == "https" || url.scheme() == "http" && is_own
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

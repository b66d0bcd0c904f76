//! `callgate bundle`: one signed file with every document.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use callgate_bundle::{Envelope, NamedText, Payload, Refused, SecretKey, Timestamp, expiry};
use callgate_host::{BUNDLE_FILE, BundleTexts, Gate};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::eval::mention_warnings;
use crate::folder::in_folder;
use crate::replace::{read_file, replace};
use crate::signed::{self, Pinned};
use crate::terminal::{Exit, Failure, Out, clean, counted};

/// Put every document of a bundle into one signed file
///
/// Whoever judges by such a file pins the key that signs it (`--bundle FILE --bundle-key FILE`). It is not used if anybody has changed
/// it, once it has expired, and if a higher revision was used before.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bundle {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Make a key: NAME.key signs and is this user's alone to read, NAME.pub is for those who pin it
    Keygen {
        /// The name of the two files, which must not be there yet
        name: PathBuf,
    },
    Build(Build),
    /// Sign a bundle
    Sign {
        /// The bundle, which has the signature then
        file: PathBuf,
        /// The key that signs
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
    },
    /// Say whether a signed bundle would be used now, and change nothing
    Verify {
        /// The bundle
        #[arg(id = "bundle", value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        pinned: Pinned,
    },
    /// Put a signed bundle into a registry of OCI
    Push {
        /// The bundle
        file: PathBuf,
        /// Where it is put: oci://REGISTRY/NAME:TAG
        #[arg(value_name = "ADDRESS")]
        to: String,
    },
    /// Fetch a bundle from an address. Without a pinned key its signatures are not verified
    Pull {
        /// The address: oci://REGISTRY/NAME:TAG, or of HTTPS
        #[arg(id = "bundle", value_name = "ADDRESS")]
        from: String,
        /// The file to write
        #[arg(long, short, value_name = "FILE")]
        out: PathBuf,
        #[command(flatten)]
        pinned: Pinned,
    },
    /// Show what is in a bundle, whoever signed it
    Show {
        /// The bundle
        file: PathBuf,
        /// Write the text of this file in it
        #[arg(long, value_name = "NAME")]
        text: Option<String>,
    },
}

/// Put every document of a bundle into one file, which is not signed yet
///
/// The files that a bundle names are put into it as they are; files of scenarios are not. Documents with an error are refused.
#[derive(Args)]
struct Build {
    /// The bundle: a file that names or holds all documents, or the folder of one called callgate.json
    #[arg(long, short, value_name = "FILE", default_value = BUNDLE_FILE)]
    bundle: PathBuf,
    /// Who or what it is for, such as an organisation: revisions are counted under this name
    #[arg(long, value_name = "NAME")]
    name: String,
    /// A whole number that is higher than that of every bundle of this name before
    #[arg(long, value_name = "NUMBER")]
    revision: u64,
    /// When it is not used any more: `30d`, `12h`, or a time such as 2030-01-31T00:00:00Z
    #[arg(long, value_name = "TIME")]
    expires: String,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
For example:
  callgate bundle keygen acme
  callgate bundle build --name acme --revision 7 --expires 30d --out acme.json
  callgate bundle sign acme.json --key acme.key
  callgate bundle verify acme.json --bundle-key acme.pub
  callgate bundle push acme.json oci://registry.example/policies:7
  callgate eval --bundle acme.json --bundle-key acme.pub calls.jsonl";

impl Bundle {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        match &self.what {
            What::Keygen { name } => keygen(name, out),
            What::Build(build) => build.run(out),
            What::Sign { file, key } => sign(file, key, out),
            What::Verify { file, pinned } => verify(file, pinned, out),
            What::Push { file, to } => push(file, to, out),
            What::Pull {
                from,
                out: file,
                pinned,
            } => pull(from, file, pinned, out),
            What::Show { file, text } => show(file, text.as_deref(), out),
        }
    }
}

fn keygen(name: &Path, out: &mut Out) -> Result<Exit, Failure> {
    let key = SecretKey::generate().map_err(|error| Failure::Fault(format!("no randomness: {error}")))?;
    let (secret, public) = (with_ending(name, ".key"), with_ending(name, ".pub"));
    create(&secret, &key.to_line(), 0o600)?;
    create(&public, &format!("{}\n", key.public()), 0o644)?;
    let id = key.public().id();
    if out.human {
        let (secret, public) = (secret.display(), public.display());
        out.line(&format!(
            "`{secret}` signs, and `{public}` is for those who pin it: the key `{id}`"
        ))?;
    } else {
        out.json(&json!({"key": id, "private": secret, "public": public}))?;
    }
    Ok(Exit::Allow)
}

fn with_ending(name: &Path, ending: &str) -> PathBuf {
    let mut file = name.as_os_str().to_owned();
    file.push(ending);
    file.into()
}

/// Writes a file that is not there yet.
fn create(file: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    let written = options.open(file).and_then(|mut to| {
        to.write_all(text.as_bytes())?;
        to.sync_all()
    });
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::Fault(format!(
            "there is a `{}`, and no key is overwritten",
            file.display()
        )),
        _ => unwritten(file, &error),
    })
}

fn unwritten(file: &Path, error: &io::Error) -> Failure {
    Failure::Fault(format!("cannot write `{}`: {error}", file.display()))
}

impl Build {
    fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let now = Timestamp::now();
        let expires =
            expiry(&self.expires, now).map_err(|why| Failure::Fault(format!("`--expires`: {why}")))?;
        let bundle = in_folder(&self.bundle)?;
        let texts = BundleTexts::read(&bundle)?;
        // Faults are shown where the documents are written.
        let gate = Gate::builder().bundle(&bundle).build()?;
        mention_warnings(&gate, out)?;
        let files = texts.files.into_iter();
        let files: Vec<NamedText> = files.map(|(name, text)| NamedText { name, text }).collect();
        let invalid = |why: Refused| Failure::Invalid(why.to_string());
        let payload = Payload::new(&self.name, self.revision, expires, files).map_err(invalid)?;
        let envelope = Envelope::of(&payload).map_err(invalid)?;
        replace(&self.out, &envelope.to_json()).map_err(|error| unwritten(&self.out, &error))?;
        tell(&payload, &envelope, None, out)
    }
}

fn sign(file: &Path, key: &Path, out: &mut Out) -> Result<Exit, Failure> {
    let text = read_file(key)
        .map_err(|error| Failure::Fault(format!("cannot read `{}`: {error}", key.display())))?;
    let key = SecretKey::read(&text).map_err(|why| Failure::Invalid(format!("{}: {why}", key.display())))?;
    let (mut envelope, payload) = read(file)?;
    envelope.sign(&key).map_err(|why| signed::unused(file, &why))?;
    replace(file, &envelope.to_json()).map_err(|error| unwritten(file, &error))?;
    tell(&payload, &envelope, None, out)
}

fn verify(file: &Path, pinned: &Pinned, out: &mut Out) -> Result<Exit, Failure> {
    if pinned.keys().is_empty() {
        let message = format!("no key is pinned, expected `--{} FILE`", signed::BUNDLE_KEY);
        return Err(Failure::Fault(message));
    }
    signed::open(&pinned.trust()?, file)?;
    let (envelope, payload) = read(file)?;
    tell(&payload, &envelope, Some("valid"), out)
}

fn push(file: &Path, to: &str, out: &mut Out) -> Result<Exit, Failure> {
    let (envelope, payload) = read(file)?;
    if envelope.signed_by().next().is_none() {
        return Err(signed::unused(file, &Refused::Unsigned));
    }
    let pushed = signed::at(to)?.push(&signed::read(file)?);
    let digest = pushed.map_err(|why| Failure::Fault(format!("the bundle is not put there: {why}")))?;
    let (name, revision) = (payload.name(), payload.revision());
    if out.human {
        out.line(&format!(
            "{name}, revision {revision}, is `{to}` with the digest {digest}"
        ))?;
    } else {
        out.json(&json!({"name": name, "revision": revision, "address": to, "digest": digest}))?;
    }
    Ok(Exit::Allow)
}

fn pull(from: &str, file: &Path, pinned: &Pinned, out: &mut Out) -> Result<Exit, Failure> {
    let unused = |why: String| Failure::Unloaded {
        message: format!("the bundle `{from}` is not used: {why}"),
        help: None,
    };
    let text = signed::at(from)?.pull().map_err(unused)?;
    let is_pinned = !pinned.keys().is_empty();
    if is_pinned {
        let opened = pinned.trust()?.open(&text, Timestamp::now());
        opened.map_err(|why| unused(why.to_string()))?;
    }
    let envelope = Envelope::read(&text).map_err(|why| unused(why.to_string()))?;
    let payload = envelope.unverified().map_err(|why| unused(why.to_string()))?;
    let text = std::str::from_utf8(&text).map_err(|error| unused(error.to_string()))?;
    replace(file, text).map_err(|error| unwritten(file, &error))?;
    tell(&payload, &envelope, is_pinned.then_some("valid"), out)
}

fn show(file: &Path, text: Option<&str>, out: &mut Out) -> Result<Exit, Failure> {
    let (envelope, payload) = read(file)?;
    let Some(name) = text else {
        return tell(&payload, &envelope, None, out);
    };
    let found = payload.files().iter().find(|file| file.name == name);
    let found = found.ok_or_else(|| Failure::Fault(format!("the bundle has no file `{name}`")))?;
    out.text(&found.text)?;
    Ok(Exit::Allow)
}

/// A bundle that nobody has verified.
fn read(file: &Path) -> Result<(Envelope, Payload), Failure> {
    let envelope = Envelope::read(&signed::read(file)?);
    let read = envelope.and_then(|envelope| envelope.unverified().map(|payload| (envelope, payload)));
    read.map_err(|why| Failure::Invalid(format!("{}: {why}", file.display())))
}

fn tell(
    payload: &Payload,
    envelope: &Envelope,
    verdict: Option<&str>,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let (name, revision, expires) = (payload.name(), payload.revision(), payload.expires().to_string());
    let signed_by: Vec<&str> = envelope.signed_by().collect();
    if !out.human {
        let files = payload.files().iter();
        let files: Vec<_> = files
            .map(|file| json!({"name": file.name, "bytes": file.text.len()}))
            .collect();
        let mut told = json!({"name": name, "revision": revision, "expires": expires, "files": files, "signedBy": signed_by});
        if verdict.is_some() {
            told["valid"] = true.into();
        }
        out.json(&told)?;
        return Ok(Exit::Allow);
    }
    out.line(&format!("{name}, revision {revision}, until {expires}"))?;
    for file in payload.files() {
        let bytes = counted(file.text.len(), "byte", "bytes");
        out.line(&format!("  {}  {bytes}", clean(&file.name)))?;
    }
    match signed_by.as_slice() {
        [] => out.line("not signed")?,
        several => several
            .iter()
            .try_for_each(|key| out.line(&format!("signed by the key {}", clean(key))))?,
    }
    out.line(verdict.unwrap_or("the signatures were not verified"))?;
    Ok(Exit::Allow)
}

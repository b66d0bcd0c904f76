//! The documents that a hook or a guard judges by, and who can write them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use callgate_host::{BUNDLE_FILE, Document};
use rustix::process::{getegid, geteuid};

use super::finding::{Finding, Standing};
use super::{Caller, Unusable};

/// The bit of a folder in which only the owner of a file replaces it.
const STICKY: u32 = 0o1000;

/// The bundle that a command line names, and whose signature counts.
pub(super) struct Named {
    bundle: PathBuf,
    /// The files of the keys that are pinned.
    keys: Vec<PathBuf>,
}

impl Named {
    /// Paths start from the project. `None` if no bundle is named.
    pub(super) fn by(arguments: &[String], project: &Path) -> Option<Self> {
        let bundle = values_of(arguments, &["--bundle", "-b"]).next()?;
        let keys = values_of(arguments, &["--bundle-key"]);
        Some(Self::of(bundle, keys, project))
    }

    /// The bundles that stand above it, by the same command line.
    pub(super) fn above(arguments: &[String], project: &Path) -> Vec<Self> {
        let above = values_of(arguments, &["--above"]);
        let keys = || values_of(arguments, &["--above-key"]);
        above.map(|bundle| Self::of(bundle, keys(), project)).collect()
    }

    fn of(bundle: PathBuf, keys: impl Iterator<Item = PathBuf>, project: &Path) -> Self {
        let keys = keys.map(|key| project.join(key)).collect();
        let is_address = bundle.to_str().is_some_and(|bundle| bundle.contains("://"));
        let bundle = if is_address { bundle } else { project.join(bundle) };
        // One that is not there is a fault of the gate.
        let bundle = match bundle.is_dir() {
            true => bundle.join(BUNDLE_FILE),
            false => bundle,
        };
        Self { bundle, keys }
    }

    pub(super) fn documents(&self, caller: &dyn Caller) -> Result<Vec<Document>, Unusable> {
        caller.documents(&self.bundle, &self.keys)
    }
}

/// The values of a flag, by each of its names.
fn values_of<'w>(words: &'w [String], flags: &'w [&str]) -> impl Iterator<Item = PathBuf> + 'w {
    let value = |at: usize, word: &'w str| {
        flags.iter().find_map(|flag| match word.strip_prefix(flag)? {
            "" => words.get(at + 1).map(PathBuf::from),
            rest => rest.strip_prefix('=').map(PathBuf::from),
        })
    };
    let words = words.iter().enumerate();
    words.filter_map(move |(at, word)| value(at, word))
}

/// What is wrong with a bundle and with those who can write it.
pub(super) fn look(about: &str, named: &Named, caller: &dyn Caller) -> Vec<Finding> {
    let bundle = &named.bundle;
    let documents = match named.documents(caller) {
        Ok(documents) => documents,
        Err(Unusable { why, help }) => {
            let shown = bundle.display();
            let message =
                format!("the documents of `{shown}` cannot be used, so every call is denied: {why}");
            return vec![Finding::wrong(about, message).helped(help)];
        }
    };
    let documents = documents.iter();
    let mut files: BTreeSet<PathBuf> = documents
        .filter_map(|one| one.file.as_ref())
        .map(PathBuf::from)
        .collect();
    files.insert(bundle.to_owned());
    files.extend(named.keys.iter().cloned());
    files
        .iter()
        .flat_map(|file| writable_by_others(about, file))
        .collect()
}

/// Findings where somebody else can write a file, or put another in its place.
pub fn writable_by_others(about: &str, file: &Path) -> Vec<Finding> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let found = [writable(file, false), writable(folder, true)];
    let found = found
        .into_iter()
        .flatten()
        .map(|(standing, message, help)| Finding::new(about.to_owned(), standing, message).helped(help));
    found.collect()
}

/// Returns `true` if nobody but this user and root can write a file, or put another in its place.
pub(super) fn is_own(file: &Path) -> bool {
    file.is_file() && writable_by_others("", file).is_empty()
}

fn writable(path: &Path, is_folder: bool) -> Option<(Standing, String, String)> {
    let found = fs::metadata(path).ok()?;
    let shown = path.display();
    let (mode, owner) = (found.mode(), found.uid());
    if owner != 0 && owner != geteuid().as_raw() {
        let message = format!("`{shown}` belongs to another user, who decides what is allowed");
        return Some((
            Standing::Wrong,
            message,
            format!("expected a file of yours or of root's: `chown $(id -u) {shown}`"),
        ));
    }
    if is_folder && mode & STICKY != 0 {
        return None;
    }
    if mode & 0o002 != 0 {
        let message = format!("every user can write `{shown}`, and so decide what is allowed");
        return Some((Standing::Wrong, message, format!("`chmod o-w {shown}`")));
    }
    if mode & 0o020 != 0 && found.gid() != getegid().as_raw() && found.gid() != 0 {
        let message = format!("the users of a group can write `{shown}`, and so decide what is allowed");
        return Some((Standing::Doubtful, message, format!("`chmod g-w {shown}`")));
    }
    None
}

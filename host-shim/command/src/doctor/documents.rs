//! The documents that a hook or a guard judges by, and who can write them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use callgate_host::Gate;
use rustix::process::{getegid, geteuid};

use super::finding::{Finding, Standing};
use crate::setup::in_folder;

/// The bit of a folder in which only the owner of a file replaces it.
const STICKY: u32 = 0o1000;

/// What is wrong with a bundle and with those who can write it.
pub(super) fn look(about: &str, bundle: &Path) -> Vec<Finding> {
    // One that is not there is a fault of the gate.
    let bundle = &in_folder(bundle).unwrap_or_else(|_| bundle.to_owned());
    let shown = bundle.display();
    let gate = match Gate::builder().bundle(bundle).build() {
        Ok(gate) => gate,
        Err(error) => {
            let message =
                format!("the documents of `{shown}` cannot be used, so every call is denied: {error}");
            let help = format!("`callgate validate --bundle {shown}` shows each fault with its line");
            return vec![Finding::wrong(about, message).helped(help)];
        }
    };
    let documents = gate.documents().iter();
    let mut files: BTreeSet<PathBuf> = documents
        .filter_map(|one| one.file.as_ref())
        .map(PathBuf::from)
        .collect();
    files.insert(bundle.to_owned());
    files
        .iter()
        .flat_map(|file| writable_by_others(about, file))
        .collect()
}

/// Findings where somebody else can write a file, or put another in its place.
pub(super) fn writable_by_others(about: &str, file: &Path) -> Vec<Finding> {
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

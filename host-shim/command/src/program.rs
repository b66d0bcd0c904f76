//! The place of this program, as it is written into settings that outlive it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::terminal::{Failure, note};

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where this program lies, with links followed.
pub(crate) fn own() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize());
    own.map_err(|error| Failure::Fault(format!("the place of this program is not known: {error}")))
}

/// The path of this program for settings. A launcher such as npx or uvx runs it from a cache, which is emptied without a word, so
/// that a copy is what is named; `writes` says that it is to be there, and not only named.
pub(crate) fn lasting(writes: bool) -> Result<PathBuf, Failure> {
    let own = own()?;
    if !is_cached(&own) {
        return Ok(own);
    }
    let copy = copy().ok_or_else(|| Failure::Helped {
        message: format!("`{}` is in the cache of a launcher, which may be emptied", own.display()),
        help: "install the program (`npm install -g callgate`, `uv tool install callgate-cli`), and run this with it".to_owned(),
    })?;
    if writes {
        keep(&own, &copy)
            .map_err(|error| Failure::Fault(format!("cannot write `{}`: {error}", copy.display())))?;
        note(&format!(
            "`{}` is in the cache of a launcher, which may be emptied: the settings name a copy, `{}`",
            own.display(),
            copy.display()
        ));
    }
    Ok(copy)
}

/// The place of the copy: one for each version, so that an older one goes on as it was.
fn copy() -> Option<PathBuf> {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let data = data
        .filter(|data| data.is_absolute())
        .or_else(|| Some(std::env::home_dir()?.join(".local/share")))?;
    Some(data.join("callgate").join(VERSION).join("callgate"))
}

fn keep(own: &Path, copy: &Path) -> io::Result<()> {
    let folder = copy.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let new = folder.join(format!("callgate.{}.new", std::process::id()));
    let written = fs::copy(own, &new)
        .and_then(|_| fs::set_permissions(&new, fs::Permissions::from_mode(0o755)))
        .and_then(|()| fs::rename(&new, copy));
    if written.is_err() {
        // It is of no use; the error that is reported says why.
        let _ = fs::remove_file(&new);
    }
    written
}

/// Returns `true` for a place that launchers use: npx, pnpm dlx, yarn dlx, bunx, uvx and pipx run.
pub(crate) fn is_cached(path: &Path) -> bool {
    let mut folders = path.components().map(|one| one.as_os_str().to_string_lossy());
    folders.any(|name| {
        let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        matches!(&*name, "_npx" | "dlx") || begins(&["dlx-", "bunx-", "xfs-", "archive-v", "environments-v"])
    }) || path.to_string_lossy().contains("/pipx/.cache/")
        || path.to_string_lossy().contains("/.cache/pipx/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_launchers_clean_up_is_known() {
        for (path, expected) in [
            (
                "/home/u/.npm/_npx/1f/node_modules/@callgate/cli-linux-x64/callgate",
                true,
            ),
            (
                "/home/u/.cache/pnpm/dlx/a/b/node_modules/@callgate/cli-linux-x64/callgate",
                true,
            ),
            (
                "/tmp/bunx-1000-callgate@latest/node_modules/@callgate/cli-linux-x64/callgate",
                true,
            ),
            (
                "/tmp/xfs-1a/dlx-3/node_modules/@callgate/cli-linux-x64/callgate",
                true,
            ),
            ("/home/u/.cache/uv/archive-v0/x/bin/callgate", true),
            ("/home/u/.cache/uv/environments-v2/x/bin/callgate", true),
            ("/home/u/.local/pipx/.cache/x/bin/callgate", true),
            ("/home/u/.local/share/uv/tools/callgate-cli/bin/callgate", false),
            (
                "/usr/lib/node_modules/callgate/node_modules/@callgate/cli-linux-x64/callgate",
                false,
            ),
            ("/home/u/callgate/target/debug/callgate", false),
        ] {
            assert_eq!(is_cached(Path::new(path)), expected, "{path}");
        }
    }
}

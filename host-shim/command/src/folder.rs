//! The bundle that a path names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use callgate_host::BUNDLE_FILE;

use crate::terminal::Failure;

/// The bundle that `named` is, or the one of the folder that it is.
pub(crate) fn in_folder(named: &Path) -> Result<PathBuf, Failure> {
    let shown = named.display();
    match fs::metadata(named) {
        Ok(found) if found.is_dir() => {
            let file = named.join(BUNDLE_FILE);
            if fs::symlink_metadata(&file).is_ok() {
                return Ok(file);
            }
            Err(Failure::Unloaded {
                message: format!("the folder `{shown}` has no `{BUNDLE_FILE}`"),
                help: Some(format!("`callgate init {shown}` writes one")),
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::Unloaded {
            message: format!("cannot read `{shown}`: {error}"),
            help: Some(format!(
                "expected a bundle, or a folder with a `{BUNDLE_FILE}`; `callgate init` writes one"
            )),
        }),
        Ok(_) | Err(_) => Ok(named.to_owned()),
    }
}

/// Nothing is looked for in the folders above; one that has a bundle is named.
pub(crate) fn no_documents() -> Failure {
    let message = format!("there are no documents: the current folder has no `{BUNDLE_FILE}`");
    let above = Path::new(".").canonicalize().ok().and_then(|folder| {
        let found = folder
            .ancestors()
            .skip(1)
            .find(|above| above.join(BUNDLE_FILE).is_file());
        found.map(Path::to_owned)
    });
    let help = match above {
        Some(above) => format!("`{}` has one: --bundle takes it", above.display()),
        None => {
            "expected `--bundle FILE`, or `--policy FILE --annotations FILE`; `callgate init` writes a bundle"
                .to_owned()
        }
    };
    Failure::Unloaded {
        message,
        help: Some(help),
    }
}

//! Where Python finds the module that was built with this program.

use std::env;
use std::fs;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A folder for Python's path, with the package as it is in `sources` and the engine as it was built.
///
/// # Errors
/// The engine is not built.
pub(crate) fn module(sources: &Path) -> Result<PathBuf, String> {
    let here = env::current_exe().map_err(|error| error.to_string())?;
    let suffix = env::consts::DLL_SUFFIX;
    let mut folders = here.ancestors().skip(1).take(2);
    let built = folders.find_map(|folder| {
        let library = folder.join(format!("libcallgate_python{suffix}"));
        library.exists().then_some((folder, library))
    });
    let Some((folder, library)) = built else {
        return Err("Python's module is missing: run `cargo build -p callgate-python`".to_owned());
    };
    let path = folder.join("python");
    let package = path.join("callgate");
    let linked = || -> Result<(), Error> {
        fs::create_dir_all(&package)?;
        link(&library, &package.join("_engine.abi3.so"))?;
        for source in fs::read_dir(sources.join("callgate"))? {
            let source = source?;
            link(&source.path().canonicalize()?, &package.join(source.file_name()))?;
        }
        Ok(())
    };
    linked().map_err(|error| format!("{}: {error}", package.display()))?;
    Ok(path)
}

/// A link that may be there already, as when two processes make it.
fn link(target: &Path, place: &Path) -> Result<(), Error> {
    match symlink(target, place) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

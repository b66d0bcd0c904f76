//! Where Python finds the module that was built with this program.

use std::env;
use std::fs;
use std::io::Error;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process;

/// A folder for Python's path, with the package as it is in `sources` and the engine as it was built.
///
/// # Errors
/// The engine is not built.
pub(crate) fn module(sources: &Path) -> Result<PathBuf, String> {
    let here = env::current_exe().map_err(|error| error.to_string())?;
    let folder = here.ancestors().find(|folder| folder.join("deps").is_dir());
    let folder = folder.ok_or("this program does not lie in cargo's folder")?;
    // Cargo leaves it in the inner folder when it builds it for a test alone.
    let library = format!("libcallgate_python{}", env::consts::DLL_SUFFIX);
    let places = [folder.join(&library), folder.join("deps").join(&library)];
    let built = places.into_iter().filter_map(|path| {
        let changed = path.metadata().and_then(|found| found.modified());
        Some((changed.ok()?, path))
    });
    let Some((_, library)) = built.max() else {
        return Err("Python's module is missing: run `cargo build -p callgate-python`".to_owned());
    };
    let path = folder.join("python");
    let package = path.join("callgate");
    let linked = || -> Result<(), Error> {
        fs::create_dir_all(&package)?;
        replace(&library, &package.join("_engine.abi3.so"))?;
        for source in fs::read_dir(sources.join("callgate"))? {
            let source = source?;
            replace(&source.path().canonicalize()?, &package.join(source.file_name()))?;
        }
        Ok(())
    };
    linked().map_err(|error| format!("{}: {error}", package.display()))?;
    Ok(path)
}

/// Makes a link at a place where another may be, in one step: other processes may be looking.
fn replace(target: &Path, place: &Path) -> Result<(), Error> {
    let new = place.with_extension(format!("{}.new", process::id()));
    symlink(target, &new)?;
    fs::rename(&new, place)
}

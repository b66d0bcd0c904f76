//! Manual pages and completions, as the command describes its own arguments.

use std::fs;
use std::process::Command;

use crate::archive::Entry;
use crate::binary::Binary;
use crate::{Folders, read, run};

/// A shell, with the file of its completions.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "callgate.bash"),
    ("fish", "callgate.fish"),
    ("zsh", "_callgate"),
];

/// The files in `man` and `completions`. The program has to run on this machine.
pub(crate) fn of(folders: &Folders, binary: &Binary) -> Result<Vec<Entry>, String> {
    let program = folders
        .target
        .join(binary.platform.triple())
        .join("dist/callgate");
    let written = folders.target.join("release-tools/man");
    let failed = |error| format!("`{}`: {error}", written.display());
    if written.exists() {
        fs::remove_dir_all(&written).map_err(failed)?;
    }
    run(Command::new(&program).arg("manual").arg(&written))?;
    let mut pages = Vec::new();
    for page in fs::read_dir(&written).map_err(failed)? {
        let page = page.map_err(failed)?;
        let name = page.file_name().to_string_lossy().into_owned();
        pages.push(Entry::file(&name, read(&page.path())?).within("man"));
    }
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    for (shell, file) in SHELLS {
        let script = run(Command::new(&program).args(["completions", shell]))?;
        pages.push(Entry::file(file, script).within("completions"));
    }
    Ok(pages)
}

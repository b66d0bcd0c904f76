//! The module as Python loads it: the first example of its page, with nothing installed but Python.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The example in the README.
fn example() -> String {
    let page = include_str!("../README.md");
    let code = page.split("```python\n").nth(1).expect("an example");
    code.split("```").next().expect("its end").to_owned()
}

/// A package as Python finds it: the sources, and the engine as it was built.
fn package(folder: &Path) {
    let library = format!("libcallgate_python{}", env::consts::DLL_SUFFIX);
    let here = env::current_exe().expect("this program's path");
    let mut folders = here.ancestors().skip(1).take(2);
    let library = folders.find_map(|folder| {
        let path: PathBuf = folder.join(&library);
        path.exists().then_some(path)
    });
    let package = folder.join("callgate");
    fs::create_dir(&package).expect("a folder");
    fs::copy(library.expect("the engine"), package.join("_engine.abi3.so")).expect("a copy");
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/python/callgate");
    for source in fs::read_dir(sources).expect("the sources") {
        let source = source.expect("a source").path();
        if source.extension().is_some_and(|extension| extension == "py") {
            fs::copy(&source, package.join(source.file_name().expect("a name"))).expect("a copy");
        }
    }
}

#[test]
fn the_first_example_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    package(folder.path());
    let home = folder.path().join("home");
    fs::create_dir_all(home.join("Documents")).expect("a home");
    let home = home.canonicalize().expect("a home");
    let mut python = Command::new("python3");
    python.args(["-c", &example()]).env("PYTHONPATH", folder.path());
    let output = match python.env("HOME", &home).output() {
        Ok(output) => output,
        Err(error) if env::var_os("CI").is_none_or(|value| value != "true") => {
            eprintln!("skipped: python3 cannot be started: {error}");
            return;
        }
        Err(error) => panic!("python3 cannot be started: {error}"),
    };
    let printed = String::from_utf8_lossy(&output.stdout);
    let expected = format!(
        "allow read-documents {{'path': '{}/Documents/a.md'}}\n",
        home.display()
    );
    assert_eq!(printed, expected, "{}", String::from_utf8_lossy(&output.stderr));
}

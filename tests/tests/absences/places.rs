//! Where tests stand: no file under `src` is a test unless it is named `tests.rs` or lies under `tests`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::circles::CRATES;
use super::search::check;
use super::source::sources;

/// What stands in for a module where a feature is off.
const STAND_IN: &str = "absent.rs";

#[test]
fn no_file_is_a_test_under_another_name() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut tests = Vec::new();
    // The suite is a test by itself.
    for (folder, root) in CRATES.iter().filter(|(folder, _)| *folder != "tests/src") {
        let folder_path = checkout.join(folder);
        // A program beside a library has modules of its own.
        let roots = [*root, "main.rs"].into_iter();
        let roots = roots.filter(|root| folder_path.join(root).exists());
        let product = roots.flat_map(|root| sources(&folder_path, root));
        let product: BTreeSet<String> = product.map(|source| source.file).collect();
        let mut files = Vec::new();
        collect(&folder_path, &mut files);
        for file in files {
            let inside = file.strip_prefix(&folder_path).expect("a file of the folder");
            let name = inside.to_str().expect("UTF-8");
            if !product.contains(name) && !name.starts_with("bin/") && !is_named_as_test(inside) {
                tests.push(format!("{folder}/{name}"));
            }
        }
    }
    check("only tests reach it, and its name does not say so", tests);
}

fn is_named_as_test(file: &Path) -> bool {
    let name = file
        .file_name()
        .is_some_and(|name| name == "tests.rs" || name == STAND_IN);
    name || file.components().any(|part| part.as_os_str() == "tests")
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

//! No circle of imports: no file is used by a file that it uses. Re-exports and a module's own parent do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::graph::Graph;
use super::search::check;
use super::source::{Source, sources};

/// The folder and the root of each Rust crate, relative to the checkout.
pub(crate) const CRATES: &[(&str, &str)] = &[
    ("core/analysis/src", "lib.rs"),
    ("core/authoring/src", "lib.rs"),
    ("core/compat/src", "lib.rs"),
    ("core/engine/src", "lib.rs"),
    ("core/git/src", "lib.rs"),
    ("core/programs/src", "lib.rs"),
    ("core/shell/src", "lib.rs"),
    ("core/virtual-host/src", "lib.rs"),
    ("host-shim/src", "lib.rs"),
    ("host-shim/bundle/src", "lib.rs"),
    ("host-shim/command/src", "main.rs"),
    ("host-shim/doctor/src", "lib.rs"),
    ("host-shim/guard/src", "lib.rs"),
    ("host-shim/hook/src", "lib.rs"),
    ("host-shim/serve/src", "lib.rs"),
    ("tests/launch/src", "main.rs"),
    ("tests/release/src", "main.rs"),
    ("tests/src", "lib.rs"),
    ("wasm/boundary/src", "lib.rs"),
    ("wasm/git/src", "lib.rs"),
    ("wasm/pack/src", "lib.rs"),
    ("wasm/proxy/src", "lib.rs"),
    ("wasm/src", "lib.rs"),
    ("wasm/tools/src", "lib.rs"),
];

/// Circles that are still to be broken. A circle that is gone must leave the list, so it only gets shorter.
const KNOWN: &[&str] = &[];

/// The same for the folders of `host-shim`.
const KNOWN_FOLDERS: &[&str] = &[];

#[test]
fn no_files_use_each_other() {
    let mut circles = Vec::new();
    for (folder, root) in CRATES {
        circles.extend(crate_graph(folder, root).circles());
    }
    for folder in ["js/src", "js/playground/src"] {
        circles.extend(package_graph(folder).circles());
    }
    compare("circles of imports", circles, KNOWN);
}

#[test]
fn no_folders_of_the_host_use_each_other() {
    compare("circles of folders", host_folders().circles(), KNOWN_FOLDERS);
}

/// A backend judges for any owner, and a host answers anyone who asks.
#[test]
fn no_backend_and_no_host_knows_its_caller() {
    const BLIND: &[(&str, &[&str])] = &[("backend", &["gate"]), ("real_host", &["backend", "gate"])];
    let folders = host_folders();
    let names: BTreeSet<&str> = folders.files().collect();
    let mut faults = Vec::new();
    for (folder, hidden) in BLIND {
        for name in std::iter::once(folder).chain(*hidden) {
            if !names.contains(name) {
                faults.push(format!("`host-shim/src/{name}` does not exist"));
            }
        }
        let used = hidden.iter().filter(|other| folders.reaches(folder, other));
        faults.extend(used.map(|other| format!("{folder} uses {other}")));
    }
    check("folders that know their caller", faults);
}

#[test]
fn circles_are_found() {
    let mut graph = Graph::default();
    for (one, other) in [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "e")] {
        graph.uses(one, other);
    }
    assert_eq!(graph.circles(), ["b <-> c"]);
    let graph = crate_graph("core/engine/src", "lib.rs");
    let one_folder = graph.merged(|file| {
        file.rsplit_once('/')
            .map_or(file, |(folder, _)| folder)
            .to_owned()
    });
    assert!(!one_folder.circles().is_empty(), "the imports of core are read");
    assert_eq!(
        imported(
            "import type { A } from \"./a.js\";\nexport { b } from \"./b.js\";\nimport {\n  c,\n} from \"../c.js\";"
        ),
        ["./a.js", "../c.js"]
    );
}

/// Fails with every circle that is not known, and with every known one that no longer exists as it is listed.
#[track_caller]
fn compare(what: &str, circles: Vec<String>, known: &[&str]) {
    let stale = known
        .iter()
        .filter(|one| !circles.iter().any(|circle| circle == *one));
    let stale = stale.map(|one| (*one).to_owned()).collect();
    let new = circles.iter().filter(|circle| !known.contains(&circle.as_str()));
    check(what, new.cloned().collect());
    check("listed among the known circles, and gone", stale);
}

/// `host-shim/src`, each folder with its parent file as one.
fn host_folders() -> Graph {
    crate_graph("host-shim/src", "lib.rs").merged(|file| {
        let inside = file.strip_prefix("host-shim/src/").unwrap_or(file);
        let top = inside.split('/').next().unwrap_or(inside);
        top.strip_suffix(".rs").unwrap_or(top).to_owned()
    })
}

fn checkout() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the checkout").to_owned()
}

fn crate_graph(folder: &str, root: &str) -> Graph {
    let sources = sources(&checkout().join(folder), root);
    let by_module: BTreeMap<&[String], &Source> = sources
        .iter()
        .map(|source| (source.module.as_slice(), source))
        .collect();
    let mut graph = Graph::default();
    for source in &sources {
        for path in &source.paths {
            let Some(segments) = in_crate(&path.segments, source, &by_module) else {
                continue;
            };
            let used = defined_in(&segments, &by_module, 0);
            let is_parent = source
                .module
                .split_last()
                .is_some_and(|(_, parent)| parent == used.module);
            if !is_parent {
                graph.uses(
                    &format!("{folder}/{}", source.file),
                    &format!("{folder}/{}", used.file),
                );
            }
        }
    }
    graph
}

type Modules<'s> = BTreeMap<&'s [String], &'s Source>;

/// The path below the crate's root, if it starts with `crate` or with a submodule of `source`.
fn in_crate(segments: &[String], source: &Source, modules: &Modules<'_>) -> Option<Vec<String>> {
    let (first, rest) = segments.split_first()?;
    if first == "crate" {
        // `crate` alone is the visibility `pub(crate)`.
        return (!rest.is_empty()).then(|| rest.to_vec());
    }
    let own: Vec<String> = source
        .module
        .iter()
        .chain(std::iter::once(first))
        .cloned()
        .collect();
    let is_own = !rest.is_empty() && modules.contains_key(own.as_slice());
    is_own.then(|| own.into_iter().chain(rest.iter().cloned()).collect())
}

/// The file that defines the item at the path, whichever file re-exports it.
fn defined_in<'s>(segments: &[String], modules: &Modules<'s>, depth: usize) -> &'s Source {
    let longest = (0..=segments.len())
        .rev()
        .find_map(|length| Some((length, *modules.get(&segments[..length])?)));
    let (length, source) = longest.expect("a crate has a root");
    let Some(name) = segments.get(length).filter(|_| depth < 8) else {
        return source;
    };
    let re_exported = source.paths.iter().find_map(|path| {
        let is_named = path.segments.len() > 1 && path.segments.last() == Some(name);
        let path = is_named.then(|| in_crate(&path.segments, source, modules))??;
        let other = defined_in(&path, modules, depth + 1);
        // The module uses a type whose name is also its own; that is not a re-export.
        (other.file != source.file).then_some(other)
    });
    re_exported.unwrap_or(source)
}

fn package_graph(folder: &str) -> Graph {
    let root = checkout().join(folder);
    let mut files = Vec::new();
    typescript(&root, &mut files);
    assert!(files.len() > 10, "{} files in {folder}", files.len());
    let mut graph = Graph::default();
    for file in &files {
        let text = fs::read_to_string(file).expect("a file that can be read");
        for specifier in imported(&text) {
            let beside = file.parent().unwrap_or(&root).join(&specifier);
            let used = normalized(&beside).with_extension("ts");
            let is_parent = file
                .parent()
                .is_some_and(|parent| parent.with_extension("ts") == used);
            if used.exists() && !is_parent {
                graph.uses(&shown(&root, folder, file), &shown(&root, folder, &used));
            }
        }
    }
    graph
}

fn shown(root: &Path, folder: &str, file: &Path) -> String {
    let inside = file.strip_prefix(root).unwrap_or(file);
    format!("{folder}/{}", inside.display())
}

/// The path without `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normalized.pop()),
            other => normalized.push(other),
        }
    }
    normalized
}

/// Every TypeScript file of a folder.
pub(crate) fn typescript(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            typescript(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ts") {
            found.push(path);
        }
    }
}

/// The relative files that a TypeScript file imports, type imports included and re-exports excluded.
fn imported(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for statement in text.split(';') {
        let statement = statement.trim_start();
        let code = statement
            .lines()
            .find(|line| !is_comment(line))
            .unwrap_or_default();
        let is_import = code.trim_start().starts_with("import") || statement.contains("import(");
        let specifier = statement.rsplit('"').nth(1).unwrap_or_default();
        if is_import && specifier.starts_with('.') {
            found.push(specifier.to_owned());
        }
    }
    found
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with("//") || line.starts_with("/*") || line.starts_with('*')
}

//! Things that the source of core, and of every package, must not contain.

#[path = "absences/agents.rs"]
mod agents;
#[path = "absences/circles.rs"]
mod circles;
#[path = "absences/facade.rs"]
mod facade;
#[path = "absences/features.rs"]
mod features;
#[path = "absences/graph.rs"]
mod graph;
#[path = "absences/hidden.rs"]
mod hidden;
#[path = "absences/layering.rs"]
mod layering;
#[path = "absences/places.rs"]
mod places;
#[path = "absences/prices.rs"]
mod prices;
#[path = "absences/recipes.rs"]
mod recipes;
#[path = "absences/search.rs"]
mod search;
#[path = "absences/source.rs"]
mod source;
#[path = "absences/specification.rs"]
mod specification;
#[path = "absences/structural.rs"]
mod structural;

use std::collections::BTreeSet;
use std::fs;

use search::{begins, check, wrong_paths, wrong_tokens};
use source::{BESIDE, core_folder, core_sources, pure_sources};

/// The parts of the standard library that core uses. None of it reaches outside the process or keeps state.
const STANDARD: &[&str] = &[
    "std::borrow::Borrow",
    "std::borrow::Cow",
    "std::cell::Cell",
    "std::cell::RefCell",
    "std::cmp",
    "std::collections::BinaryHeap",
    "std::collections::BTreeMap",
    "std::collections::btree_map::Entry",
    "std::collections::BTreeSet",
    "std::error::Error",
    "std::fmt",
    "std::hash",
    // Only what went wrong for a host.
    "std::io::Error",
    "std::io::ErrorKind",
    // The traits; another test forbids the standard streams.
    "std::iter",
    "std::marker::PhantomData",
    "std::mem::replace",
    "std::mem::swap",
    "std::mem::take",
    "core::net::IpAddr",
    "core::net::Ipv4Addr",
    "core::net::Ipv6Addr",
    "std::ops::Bound",
    "std::ops::Range",
    "std::ptr::eq",
    "std::slice::Iter",
    "std::slice::from_ref",
    "std::str::Bytes",
    "std::string::FromUtf8Error",
    "std::sync::Arc",
    "std::vec::IntoIter",
];

/// The dependencies of the pure crates, beside each other. None of them does input or output.
const CRATES: &[&str] = &[
    "fast_glob",
    "hmac",
    "icu_normalizer",
    "indexmap",
    "lexical_parse_float",
    "memchr",
    "path_clean",
    "rustc_hash",
    "serde",
    "serde_json",
    "sha2",
    "smallvec",
    "url",
];

#[test]
fn the_whole_library_is_looked_at() {
    let sources = core_sources();
    let files: BTreeSet<&str> = sources.iter().map(|source| source.file.as_str()).collect();
    for file in ["lib.rs", "judge/rules.rs", "path/resolve.rs", "host/facts.rs"] {
        assert!(files.contains(file), "{file} in {files:?}");
    }
    for file in ["path/tests/disk.rs", "path/tests/resolve.rs"] {
        assert!(!files.contains(file), "{file} is compiled for tests alone");
    }
    let tokens: usize = sources.iter().map(|source| source.tokens.len()).sum();
    assert!(tokens > 20_000, "{tokens} tokens");
    let tests = wrong_tokens(&sources, |[before, token, _]| *before == "[" && *token == "test");
    check("tests are left out", tests);
}

#[test]
fn nothing_reaches_outside_the_process() {
    let sources = pure_sources();
    let faults = wrong_paths(&sources, |_, path| {
        let standard = matches!(path[0].as_str(), "std" | "core" | "alloc") && path.len() > 1;
        standard && !STANDARD.iter().any(|known| begins(path, known))
    });
    check(
        "not in the list of what core takes from the standard library",
        faults,
    );
    let unused: Vec<String> = STANDARD
        .iter()
        .filter(|known| wrong_paths(&sources, |_, path| begins(path, known)).is_empty())
        .map(|known| (*known).to_owned())
        .collect();
    check("listed, but not used", unused);
}

#[test]
fn the_crates_below_core_are_those_of_the_list() {
    let mut named = BTreeSet::new();
    for (name, manifest) in &manifests() {
        let names = section(manifest, "[dependencies]").into_iter();
        let names = names.filter_map(|line| line.split(['.', '=', ' ']).next());
        named.extend(names.map(|name| name.replace('-', "_")));
        for one in ["[build-dependencies]", "[target."] {
            assert!(!manifest.contains(one), "{name}: {one}");
        }
    }
    let own = [
        "analysis",
        "authoring",
        "compat",
        "engine",
        "jsontext",
        "programs",
        "shell",
        "virtual_host",
    ];
    named.retain(|name| !own.iter().any(|own| *name == format!("callgate_{own}")));
    assert_eq!(named.into_iter().collect::<Vec<_>>(), CRATES);
}

#[test]
fn there_is_no_randomness_and_no_global_state() {
    const WORDS: &[&str] = &[
        "HashMap",
        "HashSet",
        "RandomState",
        "DefaultHasher",
        "OnceLock",
        "LazyLock",
        "OnceCell",
        "LazyCell",
        "thread_local",
        "lazy_static",
        "extern",
        "include_str",
        "include_bytes",
        "env",
        "option_env",
        "println",
        "eprintln",
        "print",
        "eprint",
        "dbg",
        "stdin",
        "stdout",
        "stderr",
    ];
    // The reference pages are files of the crate; nothing judges by them.
    let mut sources = pure_sources();
    sources.retain(|source| source.file != "docs.rs");
    // The table of programs is data, of which commands are understood or not.
    sources.retain(|source| !source.file.ends_with("programs/src/files.rs"));
    // Packs are data that a person asks for.
    sources.retain(|source| !source.file.ends_with("authoring/src/files.rs"));
    let faults = wrong_tokens(&sources, |[before, token, after]| {
        let lifetime = *before == "'";
        let spoken = WORDS.contains(token) && !(["env", "print"].contains(token) && *after != "!");
        (*token == "static" && !lifetime) || spoken
    });
    check(
        "state that outlives an evaluation, randomness, or the build's surroundings",
        faults,
    );
}

#[test]
fn nothing_is_unsafe() {
    check(
        "unsafe",
        wrong_tokens(&pure_sources(), |[_, token, _]| *token == "unsafe"),
    );
    for (name, manifest) in manifests() {
        assert!(
            section(&manifest, "[lints.rust]").contains(&"unsafe_code = \"forbid\""),
            "{name}"
        );
    }
}

/// Clippy makes these errors outside tests; CI runs it.
#[test]
fn panics_are_denied_by_lint() {
    let manifests = manifests();
    let lints = section(&manifests[0].1, "[lints.clippy]");
    for (name, manifest) in &manifests {
        assert_eq!(section(manifest, "[lints.clippy]"), lints, "{name}");
    }
    for lint in [
        "expect_used",
        "indexing_slicing",
        "panic",
        "string_slice",
        "todo",
        "unimplemented",
        "unreachable",
        "unwrap_used",
    ] {
        assert!(
            lints.contains(&format!("{lint} = \"deny\"").as_str()),
            "{lint}: {lints:#?}"
        );
    }
    let sources = pure_sources();
    let asserts = |token: &str| matches!(token, "assert" | "assert_eq" | "assert_ne");
    check(
        "asserts outside debug builds",
        wrong_tokens(&sources, |[_, token, after]| asserts(token) && *after == "!"),
    );
    check(
        "allowed lints",
        wrong_tokens(&sources, |[before, token, after]| {
            [*before, token, after] == ["[", "allow", "("]
        }),
    );
    let denied: Vec<&str> = lints
        .iter()
        .filter_map(|line| line.strip_suffix(" = \"deny\""))
        .collect();
    let exceptions = wrong_paths(&sources, |_, path| {
        begins(path, "clippy") && denied.contains(&path[1].as_str())
    });
    check("exceptions from the lints", exceptions);
}

/// The manifests of the pure crates, that of the engine first.
fn manifests() -> Vec<(String, String)> {
    let names = ["engine", "."].iter().chain(BESIDE);
    let read = |name: &&str| {
        let file = core_folder().join(name).join("Cargo.toml");
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        ((*name).to_owned(), text)
    };
    names.map(read).collect()
}

/// The lines of one section that are neither blank nor comments.
fn section<'m>(manifest: &'m str, name: &str) -> Vec<&'m str> {
    let lines = manifest.lines().skip_while(|line| *line != name).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

//! What core must not hold, looked for in its source (DESIGN.md, "Absences that must hold").

#[path = "common/source.rs"]
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use source::{Source, core_folder, core_sources};

/// The modules of core from bottom to top: one uses only what stands in a row above its own here, and those of
/// one row are blind to each other.
///
/// `program` stands below `args`, since reading a call needs the compiled tool; `document`, `setup`, `plain` and
/// `results` are not in the first plan.
const LAYERS: &[&[&str]] = &[
    &["limits"],
    &["diagnostic"],
    &["host"],
    &["path", "net"],
    &["role"],
    &["document"],
    &["annotation", "policy"],
    &["setup"],
    &["program"],
    &["args"],
    &["eval"],
    &["plain", "results"],
    &["roots"],
    &["approval"],
    &["engine"],
    &["lib"],
];

/// Uses against the order that stand today: `(module, used, why)`. One that is gone must go from here too.
const AGAINST_THE_ORDER: &[(&str, &str, &str)] = &[(
    "program",
    "crate::args::apply_pure",
    "list entries take the canonical form of values; the steps of a role belong to `role`",
)];

/// What core takes from the standard library; nothing of it reaches outside the process or keeps state.
const STANDARD: &[&str] = &[
    "std::borrow::Cow",
    "std::cell::RefCell",
    "std::cmp::Reverse",
    "std::collections::BTreeMap",
    "std::collections::BTreeSet",
    "std::collections::BinaryHeap",
    "std::collections::btree_map",
    "std::error::Error",
    "std::fmt",
    // The traits; the words of the standard streams are looked for beside.
    "std::io",
    "std::iter",
    "std::mem::take",
    "std::ptr::eq",
    "std::sync::Arc",
];

/// The crates that core stands on. None does input or output.
const CRATES: &[&str] = &["icu_normalizer", "path_clean", "serde", "serde_json", "url"];

/// The modules that are handed a host, to build its memory or for the two directories that it names.
const HANDED_A_HOST: &[&str] = &["approval", "engine", "eval", "plain", "program", "roots"];

/// Fails with every line of `faults`.
#[track_caller]
fn check(what: &str, faults: Vec<String>) {
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

/// Every path of core that `wrong` complains about.
fn wrong_paths(sources: &[Source], wrong: impl Fn(&Source, &[String]) -> bool) -> Vec<String> {
    let named = sources
        .iter()
        .flat_map(|source| source.paths.iter().map(move |path| (source, path)));
    named
        .filter(|(source, path)| wrong(source, &path.segments))
        .map(|(source, path)| format!("{}: {}", source.at(path.line), path.segments.join("::")))
        .collect()
}

/// Every token of core that `wrong` complains about, given those before and after it.
fn wrong_tokens(sources: &[Source], wrong: impl Fn(&[&str; 3]) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        for three in source.tokens.windows(3) {
            if wrong(&[&three[0].text, &three[1].text, &three[2].text]) {
                faults.push(format!("{}: {}", source.at(three[1].line), three[1].text));
            }
        }
    }
    faults
}

fn begins(path: &[String], with: &str) -> bool {
    let with: Vec<&str> = with.split("::").collect();
    path.len() >= with.len() && path.iter().zip(with).all(|(one, other)| one == other)
}

#[test]
fn the_whole_library_is_looked_at() {
    let sources = core_sources();
    let files: BTreeSet<&str> = sources.iter().map(|source| source.file.as_str()).collect();
    for file in ["lib.rs", "eval/rules.rs", "path/resolve.rs", "host/facts.rs"] {
        assert!(files.contains(file), "{file} in {files:?}");
    }
    for file in ["path/disk.rs", "path/resolve/tests.rs"] {
        assert!(!files.contains(file), "{file} is compiled for tests alone");
    }
    let tokens: usize = sources.iter().map(|source| source.tokens.len()).sum();
    assert!(tokens > 20_000, "{tokens} tokens");
    let tests = wrong_tokens(&sources, |[before, token, _]| *before == "[" && *token == "test");
    check("tests are left out", tests);
}

#[test]
fn nothing_reaches_outside_the_process() {
    let sources = core_sources();
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
    check("listed and not used", unused);
}

fn split(path: &str) -> Vec<String> {
    path.split("::").map(str::to_owned).collect()
}

#[test]
fn the_crates_below_core_are_those_of_the_list() {
    let manifest = manifest();
    let named: Vec<String> = section(&manifest, "[dependencies]")
        .iter()
        .map(|line| {
            line.split(['.', '=', ' '])
                .next()
                .unwrap_or_default()
                .replace('-', "_")
        })
        .collect();
    assert_eq!(named, CRATES);
    let sections = ["[build-dependencies]", "[target."];
    check(
        "other dependencies",
        sections
            .iter()
            .filter(|one| manifest.contains(**one))
            .map(|one| (*one).to_owned())
            .collect(),
    );
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
    let sources = core_sources();
    let faults = wrong_tokens(&sources, |[before, token, after]| {
        let lifetime = *before == "'";
        let spoken = WORDS.contains(token) && !(*token == "env" && *after != "!");
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
        wrong_tokens(&core_sources(), |[_, token, _]| *token == "unsafe"),
    );
    let manifest = manifest();
    assert!(
        section(&manifest, "[lints.rust]").contains(&"unsafe_code = \"forbid\""),
        "{manifest}"
    );
}

/// Clippy makes these errors outside tests; CI runs it.
#[test]
fn panics_are_denied_by_lint() {
    let manifest = manifest();
    let lints = section(&manifest, "[lints.clippy]");
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
    let sources = core_sources();
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

#[test]
fn a_module_uses_only_what_stands_below_it() {
    let sources = core_sources();
    let row = |module: &str| LAYERS.iter().position(|row| row.contains(&module));
    let modules: BTreeSet<&str> = sources.iter().map(Source::top).collect();
    let unlisted = modules
        .iter()
        .filter(|module| row(module).is_none())
        .map(|one| (*one).to_owned());
    check("modules without a layer", unlisted.collect());
    let gone = LAYERS
        .iter()
        .copied()
        .flatten()
        .filter(|module| !modules.contains(**module));
    check(
        "layers without a module",
        gone.map(|one| (*one).to_owned()).collect(),
    );

    let facade = facade(&sources);
    let mut met = BTreeSet::new();
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.top() != "lib") {
        for path in source.paths.iter().filter(|path| path.segments[0] == "crate") {
            let Some(used) = path.segments.get(1) else {
                continue;
            };
            let used = facade.get(used).unwrap_or(used);
            if used == source.top() || row(used) < row(source.top()) && row(used).is_some() {
                continue;
            }
            let whole = path.segments.join("::");
            let known = |(module, path, _): &&(&str, &str, &str)| *module == source.top() && *path == whole;
            match AGAINST_THE_ORDER.iter().find(known) {
                Some(known) => drop(met.insert(*known)),
                None => faults.push(format!("{}: {} uses {whole}", source.at(path.line), source.top())),
            }
        }
    }
    check("against the order", faults);
    let gone = AGAINST_THE_ORDER.iter().filter(|known| !met.contains(*known));
    check(
        "listed and mended",
        gone.map(|known| format!("{known:?}")).collect(),
    );
}

/// What the crate's root re-exports, and from which module.
fn facade(sources: &[Source]) -> BTreeMap<String, String> {
    let root = sources
        .iter()
        .find(|source| source.top() == "lib")
        .expect("lib.rs is read");
    let exports = root.paths.iter().filter(|path| path.segments.len() == 2);
    exports
        .map(|path| (path.segments[1].clone(), path.segments[0].clone()))
        .collect()
}

/// Documents end where the program begins: judging sees compiled data and operands.
#[test]
fn judging_sees_no_document_and_no_text_of_one() {
    const SEEN: &[&str] = &[
        "crate::policy::Effect",
        "crate::policy::MatchType",
        "crate::annotation::ArgumentName",
    ];
    let sources = core_sources();
    let faults = wrong_paths(&sources, |source, path| {
        let documents = [
            "crate::document",
            "crate::policy",
            "crate::annotation",
            "crate::setup",
        ];
        let document = documents.iter().any(|module| begins(path, module));
        let text =
            path[0] == "serde_json" && !(source.file == "eval/trace.rs" && begins(path, "serde_json::Value"));
        source.top() == "eval" && ((document && !SEEN.iter().any(|seen| begins(path, seen))) || text)
    });
    check("eval sees a document", faults);
}

#[test]
fn only_the_host_module_names_the_outside() {
    let sources = core_sources();
    let handed: BTreeSet<&str> = sources
        .iter()
        .filter(|source| !matches!(source.top(), "host" | "lib"))
        .filter(|source| {
            source
                .paths
                .iter()
                .any(|path| path.segments.ends_with(&split("host::Host")))
        })
        .map(Source::top)
        .collect();
    assert_eq!(handed.into_iter().collect::<Vec<_>>(), HANDED_A_HOST);
    // Whoever is handed a host gives it to `Facts`; asking it directly would ask twice and go unrecorded.
    let questions = [
        "realpath",
        "read_link",
        "is_directory",
        "git_remote_urls",
        "git_url",
        "role_value",
    ];
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.top() != "host") {
        for three in source.tokens.windows(3) {
            if three[0].text == "host" && three[1].text == "." && questions.contains(&three[2].text.as_str())
            {
                faults.push(format!("{}: host.{}", source.at(three[2].line), three[2].text));
            }
        }
    }
    check("questions that no memory keeps", faults);
}

/// The field and the constructor are private to `path::resolve`, and nothing else gives a way in.
#[test]
fn a_canonical_path_is_made_by_the_resolver_alone() {
    let sources = core_sources();
    let resolve = sources
        .iter()
        .find(|source| source.file == "path/resolve.rs")
        .expect("path::resolve is read");
    let text: Vec<&str> = resolve.tokens.iter().map(|token| token.text.as_str()).collect();
    let text = text.join(" ");
    for part in [
        "# [ derive ( Clone , Debug , PartialEq , Eq , PartialOrd , Ord ) ] pub ( crate ) struct CanonicalPath ( Arc < str > ) ;",
        "impl CanonicalPath { fn new (",
    ] {
        assert!(text.contains(part), "`{part}` in path/resolve.rs");
    }
    let made = wrong_paths(&sources, |source, path| {
        source.file != "path/resolve.rs" && path.ends_with(&split("CanonicalPath::new"))
    });
    check("made elsewhere", made);
    let converted = wrong_tokens(&sources, |[before, token, after]| {
        *token == "for" && *before == ">" && *after == "CanonicalPath"
    });
    check("converted into", converted);
}

fn manifest() -> String {
    fs::read_to_string(core_folder().join("Cargo.toml")).expect("core has a manifest")
}

/// The lines of one section that are neither blank nor comments.
fn section<'m>(manifest: &'m str, name: &str) -> Vec<&'m str> {
    let lines = manifest.lines().skip_while(|line| *line != name).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

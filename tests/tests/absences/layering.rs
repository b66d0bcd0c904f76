//! Which module of core may use which, checked in its source (the code map in `core/engine/src/lib.rs`).

use std::collections::{BTreeMap, BTreeSet};

use super::search::{begins, check, wrong_paths, wrong_tokens};
use super::source::{Source, core_sources};

/// The modules of core from bottom to top. A module uses only modules of earlier rows; modules of one row do not use
/// each other.
///
/// Three rows differ from the plan. `model` stands above `role`, since the roles of an argument are part of the
/// vocabulary. `document` stands above `model`, since it reads levels by their names. `advice` stands below `config`,
/// which decides whether advice refuses a document.
const LAYERS: &[&[&str]] = &[
    &["cost", "limits", "named", "seed", "sort", "table", "text"],
    &["diagnostic"],
    &["host"],
    &["path", "net", "glob"],
    &["role"],
    &["model"],
    &["document"],
    &["annotation", "approval", "policy", "world"],
    &["advice"],
    &["config"],
    &["bundle", "program"],
    &["bind"],
    &["judge"],
    &["engine"],
    &["lib"],
];

/// The modules that are given a host, to wrap it in `Facts` or to ask for its two directories.
const HANDED_A_HOST: &[&str] = &["engine", "judge", "program"];

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
            faults.push(format!("{}: {} uses {whole}", source.at(path.line), source.top()));
        }
    }
    check("against the order", faults);
}

/// Each item that the crate's root re-exports, with the module that it comes from.
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

/// Judging sees compiled data and operands, never a document.
#[test]
fn judging_sees_no_document_and_no_text_of_one() {
    let sources = core_sources();
    let faults = wrong_paths(&sources, |source, path| {
        let documents = [
            "crate::document",
            "crate::policy",
            "crate::annotation",
            "crate::config",
            "crate::advice",
        ];
        let document = documents.iter().any(|module| begins(path, module));
        let text = path[0] == "serde_json";
        source.top() == "judge" && (document || text)
    });
    check("judge sees a document", faults);
}

/// `options.compatibility` is resolved into named defaults when the program is compiled.
#[test]
fn judging_does_not_know_the_compatibility() {
    let sources = core_sources();
    let judging = |source: &Source| matches!(source.top(), "bind" | "judge" | "engine");
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| judging(source)) {
        let named = |text: &str| text.eq_ignore_ascii_case("compatibility");
        let found = source.tokens.iter().filter(|token| named(&token.text));
        faults.extend(found.map(|token| source.at(token.line)));
    }
    check("judging by the compatibility", faults);
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
    // Modules ask through `Facts`. A question put to the host directly could be asked twice and would not be recorded.
    let questions = [
        "realpath",
        "read_link",
        "is_directory",
        "git_remote_urls",
        "git_url",
        "git_branch",
        "git_push_refs",
        "git_check_ignore",
        "role_value",
        "condition",
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
    check("questions that bypass `Facts`", faults);
}

/// The field and the constructor are private to `path::resolve`, and there is no other way to make one.
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
        "# [ derive ( Clone , Debug , PartialEq , Eq , PartialOrd , Ord ) ] pub struct CanonicalPath ( Arc < str > ) ;",
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

fn split(path: &str) -> Vec<String> {
    path.split("::").map(str::to_owned).collect()
}

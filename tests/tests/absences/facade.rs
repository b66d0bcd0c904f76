//! Every public item of the product is there for a user: the product itself, an example or the documentation uses it.
//!
//! Items are found by their names, so an item with a common name may pass although nobody uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::circles::typescript;
use super::search::check;
use super::source::{Source, Token, sources};

/// The crates with public items, and those that may use them: folder and root, relative to the checkout.
const LIBRARIES: &[(&str, &str)] = &[
    ("core/src", "lib.rs"),
    ("core/analysis/src", "lib.rs"),
    ("core/authoring/src", "lib.rs"),
    ("core/compat/src", "lib.rs"),
    ("core/engine/src", "lib.rs"),
    ("core/git/src", "lib.rs"),
    ("core/virtual-host/src", "lib.rs"),
    ("host-shim/src", "lib.rs"),
    ("host-shim/bundle/src", "lib.rs"),
    ("host-shim/doctor/src", "lib.rs"),
    ("host-shim/guard/src", "lib.rs"),
    ("host-shim/hook/src", "lib.rs"),
    ("host-shim/serve/src", "lib.rs"),
];
const USERS: &[(&str, &str)] = &[
    ("wasm/src", "lib.rs"),
    ("wasm/boundary/src", "lib.rs"),
    ("wasm/git/src", "lib.rs"),
    ("wasm/tools/src", "lib.rs"),
    ("wasm/pack/src", "main.rs"),
    ("wasm/proxy/src", "lib.rs"),
    ("host-shim/command/src", "main.rs"),
    ("host-shim/examples", "agent.rs"),
    ("host-shim/examples", "agent_async.rs"),
    ("host-shim/examples", "embed.rs"),
];

/// Pages that name items for users.
const PAGES: &[&str] = &[
    "README.md",
    "host-shim/README.md",
    "host-shim/bundle/README.md",
    "host-shim/command/README.md",
    "host-shim/guard/README.md",
    "host-shim/hook/README.md",
    "host-shim/serve/README.md",
    "js/MIGRATING.md",
    "js/README.md",
    "js/TOOLS.md",
];

/// Items that no product, example or page uses, with the reason why users have them. An item that is used, or gone, must
/// leave the list.
const FOR_USERS: &[(&str, &str)] = &[
    (
        "rewrite_result_content",
        "the existing runtime's function, for programs in Rust; the package rewrites each block by itself",
    ),
    (
        "with_system_git_config",
        "for tool servers whose git was built with an unusual prefix",
    ),
];

#[test]
fn every_public_item_has_a_user() {
    let libraries: Vec<Source> = LIBRARIES.iter().flat_map(read).collect();
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for source in libraries
        .iter()
        .chain(&USERS.iter().flat_map(read).collect::<Vec<_>>())
    {
        for word in without_re_exports(&source.tokens) {
            *used.entry(word.to_owned()).or_default() += 1;
        }
    }
    let documented = documented_words();
    let mut defined: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in &libraries {
        for (name, line) in public_items(&source.tokens) {
            defined
                .entry(name)
                .or_default()
                .push(format!("{}:{line}", source.file));
        }
    }
    assert!(defined.len() > 200, "{} public items", defined.len());
    let idle: BTreeMap<&str, &Vec<String>> = defined
        .iter()
        .filter(|(name, places)| used.get(**name).is_none_or(|count| *count <= places.len()))
        .filter(|(name, _)| !documented.contains(**name))
        .map(|(name, places)| (*name, places))
        .collect();
    let known = |name: &str| FOR_USERS.iter().any(|(item, _)| *item == name);
    let new = idle.iter().filter(|(name, _)| !known(name));
    check(
        "public items that nobody uses but tests",
        new.map(|(name, places)| format!("{name} at {}", places.join(", ")))
            .collect(),
    );
    let stale = FOR_USERS.iter().filter(|(name, _)| !idle.contains_key(name));
    check(
        "listed as items for users, but used or gone",
        stale.map(|(name, _)| (*name).to_owned()).collect(),
    );
}

/// What programs in Rust see of the engine is small enough to be read as a whole.
#[test]
fn the_face_of_the_engine_has_at_most_sixty_names() {
    let faces = sources(&checkout().join("core/src"), "lib.rs");
    let face = faces
        .iter()
        .find(|source| source.file == "lib.rs")
        .expect("lib.rs");
    let exported = face
        .paths
        .iter()
        .filter(|path| path.segments[0] == "callgate_engine");
    let names: BTreeSet<&String> = exported.filter_map(|path| path.segments.last()).collect();
    assert!(
        (40..=60).contains(&names.len()),
        "{} names: {names:?}",
        names.len()
    );
}

/// The module of the package exports to TypeScript only what that calls.
#[test]
fn the_package_uses_all_of_its_module() {
    let used: BTreeSet<String> = package()
        .values()
        .flat_map(|text| words(text).map(str::to_owned))
        .collect();
    let mut exported = 0;
    let mut faults = Vec::new();
    let modules = [
        ("wasm/src", "lib.rs"),
        ("wasm/boundary/src", "lib.rs"),
        ("wasm/git/src", "lib.rs"),
        ("wasm/tools/src", "lib.rs"),
    ];
    for source in modules.iter().flat_map(read) {
        for three in source
            .tokens
            .windows(3)
            .filter(|three| three[0].text == "js_name" && three[1].text == "=")
        {
            exported += 1;
            if !used.contains(&three[2].text) {
                faults.push(format!("{}:{}: {}", source.file, three[2].line, three[2].text));
            }
        }
    }
    assert!(exported > 30, "{exported} names");
    check("exported to the package, which does not use it", faults);
}

/// Values that the entries export are in the pages, and  whatever else a file exports is used by another file.
#[test]
fn every_export_of_the_package_has_a_user() {
    const ENTRIES: &[&str] = &[
        "ai.ts",
        "bundle.ts",
        "claude.ts",
        "functions.ts",
        "index.ts",
        "langchain.ts",
        "mastra.ts",
        "node.ts",
        "openai-agents.ts",
        "slim.ts",
        "web.ts",
        "tools.ts",
        "tools-node.ts",
        "tools-web.ts",
    ];
    /// The entries that others export as a whole.
    const LISTS: [&str; 2] = ["functions.ts", "index.ts"];
    let pages = PAGES.iter().filter(|page| page.starts_with("js/"));
    let pages: Vec<String> = pages
        .map(|page| fs::read_to_string(checkout().join(page)).expect("a page of the package"))
        .collect();
    let documented: BTreeSet<&str> = pages.iter().flat_map(|page| words(page)).collect();
    let package = package();
    let is_entry = |file: &str| ENTRIES.contains(&file);
    let public: BTreeSet<&str> = package
        .iter()
        .filter(|(file, _)| is_entry(file))
        .flat_map(|(_, text)| words(text))
        .collect();
    let mut count = 0;
    let mut faults = Vec::new();
    for (file, text) in &package {
        for (name, is_type) in exports(text) {
            count += 1;
            let whole = format!("export * from \"./{}.js\"", file.trim_end_matches(".ts"));
            let is_whole = |list: &str| package[list].contains(&whole);
            let is_public = public.contains(name) || LISTS.into_iter().any(is_whole);
            let is_documented = is_type || documented.contains(name);
            let mut others = package
                .iter()
                .filter(|(other, _)| *other != file && !LISTS.contains(&other.as_str()));
            let is_shared = others.any(|(_, text)| words(text).any(|word| word == name));
            // The types of documents are public together.
            if !(is_public && is_documented || is_shared || file.starts_with("types/")) {
                faults.push(format!("js/src/{file}: {name}"));
            }
        }
    }
    assert!(count > 100, "{count} exports");
    check(
        "exports that are neither in the pages of js nor used by another file",
        faults,
    );
}

/// The files of the package by their path below `js/src`.
fn package() -> BTreeMap<String, String> {
    let root = checkout().join("js/src");
    let mut files = Vec::new();
    typescript(&root, &mut files);
    let content = |file: &PathBuf| {
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    let named = files.iter().map(|file| {
        (
            file.strip_prefix(&root).unwrap_or(file).display().to_string(),
            content(file),
        )
    });
    named.collect()
}

/// The names that a TypeScript file declares and exports, and whether each is only a type.
fn exports(text: &str) -> Vec<(&str, bool)> {
    let declared = text.lines().filter_map(|line| line.strip_prefix("export "));
    declared
        .filter_map(|line| {
            let mut words = words(line).filter(|word| !["async", "abstract", "declare"].contains(word));
            let kind = words.next()?;
            let is_type = matches!(kind, "interface" | "type");
            let is_value = matches!(kind, "class" | "const" | "enum" | "function" | "let");
            let name = words
                .next()
                .filter(|name| !name.is_empty() && (is_type || is_value))?;
            Some((name, is_type))
        })
        .collect()
}

fn read((folder, root): &(&str, &str)) -> Vec<Source> {
    sources(&checkout().join(folder), root)
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The tokens that are not in a `pub use`, which makes an item public but does not use it.
fn without_re_exports(tokens: &[Token]) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut is_re_export = false;
    for (at, token) in tokens.iter().enumerate() {
        is_re_export = (is_re_export && token.text != ";")
            || (token.text == "pub" && tokens.get(at + 1).is_some_and(|next| next.text == "use"));
        if !is_re_export {
            kept.push(token.text.as_str());
        }
    }
    kept
}

/// The names and lines of the items that are `pub` without a restriction; fields and modules do not count.
fn public_items(tokens: &[Token]) -> Vec<(&str, usize)> {
    const KINDS: &[&str] = &[
        "fn", "struct", "enum", "trait", "type", "const", "static", "union",
    ];
    let starts = tokens.iter().enumerate().filter(|(_, token)| token.text == "pub");
    let mut items = Vec::new();
    for (at, _) in starts {
        let mut rest = tokens[at + 1..]
            .iter()
            .skip_while(|token| ["async", "unsafe", "const"].contains(&token.text.as_str()))
            .peekable();
        let before = &tokens[at + 1];
        let is_item = rest
            .peek()
            .is_some_and(|token| KINDS.contains(&token.text.as_str()));
        if is_item {
            rest.next();
        }
        // `pub const NAME`, where the keyword was skipped.
        let is_constant = before.text == "const" && !is_item;
        if let Some(name) = rest.next().filter(|_| is_item || is_constant) {
            items.push((name.text.as_str(), name.line));
        }
    }
    items
}

/// The words of the pages, and of the examples in the libraries' documentation.
fn documented_words() -> BTreeSet<String> {
    let mut text = String::new();
    for page in PAGES {
        text += &fs::read_to_string(checkout().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
    }
    for (folder, root) in LIBRARIES {
        for source in sources(&checkout().join(folder), root) {
            let file = checkout().join(folder).join(&source.file);
            let content =
                fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            text += &examples(&content);
        }
    }
    words(&text).map(str::to_owned).collect()
}

/// The lines between the fences of a file's documentation.
fn examples(content: &str) -> String {
    let comments = content.lines().map(str::trim_start);
    let docs = comments.filter_map(|line| line.strip_prefix("///").or_else(|| line.strip_prefix("//!")));
    let mut is_inside = false;
    let mut found = String::new();
    for line in docs {
        if line.trim_start().starts_with("```") {
            is_inside = !is_inside;
        } else if is_inside {
            found += line;
            found.push('\n');
        }
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_' && character != '$')
}

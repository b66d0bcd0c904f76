//! Paths that stand for all others between the directories that anything names.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::atoms::Atoms;
use super::choice::Choice;
use super::label::Label;
use super::texts::Texts;
use callgate_engine::path::PathCase;
use callgate_engine::text::{is_at_or_below, strip_directory};

/// A path for each place between the directories.
pub(super) fn choices(atoms: &Atoms, is_matched: &dyn Fn(&str) -> bool, texts: &mut Texts) {
    let found = &mut texts.choices;
    let mut directories: BTreeSet<&str> = atoms.directories.iter().map(String::as_str).collect();
    directories.insert("/");
    let below = children(&directories);
    for directory in &directories {
        let except: Vec<String> = below
            .get(directory)
            .map(|children| children.iter().map(|child| (*child).to_owned()).collect())
            .unwrap_or_default();
        let label = Label::Under((*directory).to_owned(), except);
        let (path, is_right) = unmatched(atoms, directory, &directories, is_matched);
        if !is_right {
            let why = format!("which paths under {directory} no protected pattern matches");
            texts.lacking.push(why);
        }
        found.push(Choice::text(path, label));
        if let Some(name) = atoms.base.as_deref().and_then(|base| name_in(directory, base)) {
            found.push(Choice::text(name.to_owned(), Label::Is(name.to_owned())));
        }
    }
    if atoms.base.is_some() {
        found.push(Choice::text("~".to_owned(), Label::Is("~".to_owned())));
    }
    let roots = atoms.roots.iter().chain(&atoms.base);
    let roots: Vec<&str> = roots.map(String::as_str).collect();
    for (begin, pattern) in &atoms.patterns {
        for (directory, path) in matching(begin, pattern, &roots) {
            if let Some(name) = atoms.base.as_deref().and_then(|base| name_in(&path, base)) {
                found.push(Choice::text(name.to_owned(), Label::Is(name.to_owned())));
            }
            found.push(Choice::text(path, Label::Matches(directory, pattern.clone())));
        }
    }
    if atoms.kinds.is_removed {
        holding(&directories, found);
    }
    if atoms.kinds.ignores_case {
        in_other_case(atoms, &directories, is_matched, texts);
    }
    texts.choices.push(Choice::text(
        "\u{0}".to_owned(),
        Label::Words("a path that cannot be resolved"),
    ));
}

/// Where a path lies between the directories: paths of one class lie in one region.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathClass {
    /// The nearest directory that holds it.
    nearest: String,
    /// The same in letters of any case, where that is another one.
    other_case: Option<String>,
    /// The directories that are removed with it.
    held: Vec<String>,
    /// `true` if it is one of them.
    is_known: bool,
    /// The first pattern of protected paths that matches it, and the directory in which it does. Nothing else counts then.
    pattern: Option<(String, String)>,
}

/// The class of a path that this pattern of protected paths matches, if one does. `shown` is how a directory is written.
pub(super) fn class(
    atoms: &Atoms,
    path: &str,
    pattern: Option<(&str, &str)>,
    shown: impl Fn(&str) -> String,
) -> PathClass {
    if let Some((begin, pattern)) = pattern {
        let root = nearest(path, |one| one == begin || atoms.roots.contains(one));
        return PathClass {
            pattern: Some((shown(root), pattern.to_owned())),
            ..PathClass::default()
        };
    }
    let is_known = |one: &str| atoms.directories.contains(one);
    let directory = nearest(path, is_known);
    let other_case = atoms
        .kinds
        .ignores_case
        .then(|| PathCase::Insensitive.fold_text(path))
        .map(|folded| nearest(&folded, |one| atoms.folded.contains(one)).to_owned())
        .filter(|folded| *folded != PathCase::Insensitive.fold_text(directory));
    let held = match atoms.kinds.is_removed {
        true => held(path, &atoms.directories).map(&shown).collect(),
        false => Vec::new(),
    };
    PathClass {
        nearest: shown(directory),
        other_case: other_case.map(|folded| shown(&folded)),
        is_known: !held.is_empty() && is_known(path),
        held,
        pattern: None,
    }
}

/// The nearest of the directories that hold the path; `/` holds all.
fn nearest(path: &str, is_known: impl Fn(&str) -> bool) -> &str {
    let mut above = std::iter::once(path).chain(above(path));
    above.find(|one| is_known(one)).unwrap_or("/")
}

/// The directories at or below the path, but for `/`.
fn held<'d, D: Borrow<str> + Ord>(path: &str, directories: &'d BTreeSet<D>) -> impl Iterator<Item = &'d str> {
    let from = directories.range::<str, _>((Bound::Included(path), Bound::Unbounded));
    let texts = from
        .map(Borrow::borrow)
        .take_while(move |one: &&str| one.starts_with(path));
    texts.filter(move |one| *one != "/" && is_at_or_below(one, path))
}

/// Paths that a protected pattern matches, each with the directory that it stands for. Whatever a pattern matches is denied,
/// unless the sandbox excepts it.
pub(super) fn matching(begin: &str, pattern: &str, roots: &[&str]) -> Vec<(String, String)> {
    let directories = std::iter::once(begin).chain(roots.iter().copied());
    let below = directories.filter(|directory| is_at_or_below(directory, begin));
    below
        .filter_map(|directory| Some((directory.to_owned(), instance(directory, begin, pattern)?)))
        .collect()
}

/// The directories right below each, in the order of their names.
fn children<'d>(directories: &BTreeSet<&'d str>) -> BTreeMap<&'d str, Vec<&'d str>> {
    let mut children: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for directory in directories {
        if let Some(above) = above(directory).find(|above| directories.contains(above))
            && let Some(known) = directories.get(above)
        {
            children.entry(known).or_default().push(directory);
        }
    }
    children
}

/// The directories that hold the path, the nearest first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    std::iter::from_fn(move || {
        let at = rest.rfind('/')?;
        let parent = rest.get(..at)?;
        if rest == "/" {
            return None;
        }
        rest = if parent.is_empty() { "/" } else { parent };
        Some(rest)
    })
}

/// The name of the path in the directory right above it.
fn name_in<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    strip_directory(path, directory).filter(|name| !name.is_empty() && !name.contains('/'))
}

/// The nearest of the directories that hold the path.
pub(super) fn nearest_of<'p>(atoms: &Atoms, path: &'p str) -> &'p str {
    nearest(path, |one| atoms.directories.contains(one))
}

/// Names of files that are tried where patterns match some of them.
pub(super) const NAMES: &[&str] = &[
    "some-file",
    "any-file",
    "other",
    "x",
    "0",
    "Z",
    "x/some-file",
    "x/y/0",
    "x/y/z/Z",
];

/// Returns `true` if the path lies in the directory and in none of those below it, and holds none of these.
pub(super) fn lies_right_in(atoms: &Atoms, path: &str, directory: &str) -> bool {
    let class = class(atoms, path, None, str::to_owned);
    class.nearest == directory && class.other_case.is_none() && class.held.is_empty()
}

/// A path in the directory but in none of those below it, preferably one that no protected pattern matches. The second value is
/// `true` if the path stands for the rest of the directory: where patterns match everything that was tried, that is known only
/// if they match the directory itself, and so everything in it.
fn unmatched(
    atoms: &Atoms,
    directory: &str,
    directories: &BTreeSet<&str>,
    is_matched: &dyn Fn(&str) -> bool,
) -> (String, bool) {
    let first = free(directory, directories);
    if atoms.patterns.is_empty() || !is_matched(&first) {
        return (first, true);
    }
    let above = directory.trim_end_matches('/');
    let tried = NAMES.iter().map(|name| format!("{above}/{name}"));
    let itself = std::iter::once(directory.to_owned()).filter(|_| !atoms.kinds.is_removed);
    let mut right = tried
        .chain(itself)
        .filter(|path| lies_right_in(atoms, path, directory));
    match right.find(|path| !is_matched(path)) {
        Some(path) => (path, true),
        None => (first, is_matched(directory)),
    }
}

/// A path in the directory and in none of those below it.
fn free(directory: &str, directories: &BTreeSet<&str>) -> String {
    let directory = directory.trim_end_matches('/');
    let mut name = format!("{directory}/some-file");
    while held(&name, directories).next().is_some() {
        name.push('-');
    }
    name
}

/// A path in the directory that the pattern matches, which begins at `begin`.
fn instance(directory: &str, begin: &str, pattern: &str) -> Option<String> {
    let mut given = strip_directory(directory, begin)?
        .split('/')
        .filter(|name| !name.is_empty());
    let mut path = begin.trim_end_matches('/').to_owned();
    for name in pattern.split('/') {
        if name == "**" {
            for name in given.by_ref() {
                path.push('/');
                path.push_str(name);
            }
            continue;
        }
        path.push('/');
        match given.next() {
            Some(known) => path.push_str(known),
            None => path.push_str(&name.replace('*', "some")),
        }
    }
    (is_at_or_below(&path, directory) && given.next().is_none()).then_some(path)
}

/// Directories whose removal removes others, one for each set of these.
fn holding(directories: &BTreeSet<&str>, found: &mut Vec<Choice>) {
    let mut held: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for directory in directories.iter().filter(|one| **one != "/") {
        held.entry(directory).or_default().push(directory);
        for above in above(directory) {
            held.entry(above).or_default().push(directory);
        }
    }
    // The root holds itself, where there is nothing else.
    if held.is_empty() {
        held.insert("/", vec!["/"]);
    }
    // A directory and its only entry hold the same, so the outermost one stands for both.
    let mut seen: BTreeSet<(&str, &[&str], bool)> = BTreeSet::new();
    for (directory, inside) in &held {
        let nearest = nearest(directory, |one| directories.contains(one));
        if seen.insert((nearest, inside, directories.contains(directory))) {
            let names = inside.iter().map(|one| (*one).to_owned()).collect();
            let label = Label::Holds((*directory).to_owned(), names);
            found.push(Choice::text((*directory).to_owned(), label));
        }
    }
}

/// Paths below each directory in other letters, from each directory above it on.
fn in_other_case(
    atoms: &Atoms,
    directories: &BTreeSet<&str>,
    is_matched: &dyn Fn(&str) -> bool,
    texts: &mut Texts,
) {
    for directory in directories {
        for above in above(directory).filter(|one| directories.contains(one)) {
            let names = strip_directory(directory, above).unwrap_or_default();
            let other = format!("{}/{}", above.trim_end_matches('/'), other_case(names));
            if other != *directory {
                let label = Label::OtherCase((*directory).to_owned(), above.to_owned());
                let first = free(&other, directories);
                let wanted = class(atoms, &first, None, str::to_owned);
                let tried = NAMES.iter().map(|name| format!("{other}/{name}"));
                let mut right = std::iter::once(first.clone()).chain(tried);
                let right =
                    right.find(|path| !is_matched(path) && class(atoms, path, None, str::to_owned) == wanted);
                if right.is_none() && !is_matched(&other) {
                    let why = format!(
                        "which paths under {directory} in other letters no protected pattern matches"
                    );
                    texts.lacking.push(why);
                }
                texts.choices.push(Choice::text(right.unwrap_or(first), label));
            }
        }
    }
}

/// The path in other letters that count as the same where their case does not.
pub(super) fn other_case(path: &str) -> String {
    let mut other = String::with_capacity(path.len());
    for one in path.chars() {
        let changed: String = match one.is_lowercase() {
            true => one.to_uppercase().collect(),
            false => one.to_lowercase().collect(),
        };
        // Some letters are other ones in another case, such as `ı`.
        let folded = |text: &str| PathCase::Insensitive.fold_text(text).into_owned();
        match folded(&changed) == folded(&one.to_string()) {
            true => other.push_str(&changed),
            false => other.push(one),
        }
    }
    other
}

//! Addresses that stand for all others between the places that anything names.
//!
//! A place of a world lies in a directory, so addresses are divided as paths are: once for each root and each mod.

use super::atoms::Atoms;
use super::choice::Choice;
use super::label::Label;
use super::places;
use super::texts::Texts;
use callgate_engine::text::strip_directory;

/// An address for each place between the directories, in each root and mod that holds it.
pub(super) fn choices(atoms: &Atoms, is_matched: &dyn Fn(&str) -> bool, texts: &mut Texts) {
    let mut paths = Texts::default();
    places::choices(atoms, is_matched, &mut paths);
    for (base, directory) in &atoms.bases {
        let address = |path: &str| Some(written(base, strip_directory(path, directory)?));
        for choice in &paths.choices {
            let path = choice.value.as_ref().and_then(|value| value.as_str());
            let shown = |path: &str| Some(address(path)?.trim_end_matches('/').to_owned());
            let (Some(path), Some(label)) = (path, label(&choice.label, &shown)) else {
                continue;
            };
            let Some(text) = address(path) else { continue };
            match unlisted(atoms, path, &choice.label, is_matched).and_then(|path| address(&path)) {
                Some(text) => texts.choices.push(Choice::text(text, label)),
                None => {
                    texts
                        .lacking
                        .push(format!("which addresses no list names: {label}"));
                    texts.choices.push(Choice::text(text, label));
                }
            }
        }
    }
    texts.lacking.append(&mut paths.lacking);
    let listed = atoms.names.iter();
    texts
        .choices
        .extend(listed.map(|name| Choice::text(name.clone(), Label::Is(name.clone()))));
    texts.choices.push(Choice::text(
        "some-text".to_owned(),
        Label::Words("no address of the world"),
    ));
    texts.choices.push(Choice::text(
        "\u{0}".to_owned(),
        Label::Words("an address that cannot be resolved"),
    ));
}

/// The addresses of a path, one for each root and mod that holds it.
pub(super) fn leading_to(atoms: &Atoms, path: &str) -> Vec<Choice> {
    let each = atoms.bases.iter().filter_map(|(base, directory)| {
        let text = written(base, strip_directory(path, directory)?);
        Some(Choice::text(text.clone(), Label::Is(text)))
    });
    each.collect()
}

/// The address with the rest of a path below its beginning.
fn written(base: &str, rest: &str) -> String {
    format!("{base}/{rest}")
}

/// A path in the place of this one that no list names by its address.
fn unlisted(atoms: &Atoms, path: &str, label: &Label, is_matched: &dyn Fn(&str) -> bool) -> Option<String> {
    let is_listed = |path: &str| {
        let mut bases = atoms.bases.iter();
        bases.any(|(base, directory)| {
            let rest = strip_directory(path, directory);
            rest.is_some_and(|rest| atoms.names.contains(&written(base, rest)))
        })
    };
    if !is_listed(path) {
        return Some(path.to_owned());
    }
    let wanted = places::class(atoms, path, None, str::to_owned);
    let begin = match label {
        Label::Under(..) | Label::OtherCase(..) => path,
        _ => return None,
    };
    let mut tried = (2..atoms.names.len().saturating_add(4)).map(|number| format!("{begin}-{number}"));
    tried.find(|path| {
        let is_alike = places::class(atoms, path, None, str::to_owned) == wanted;
        is_alike && !is_listed(path) && !is_matched(path)
    })
}

/// The description of a path's place as that of an address; `None` for a place outside.
fn label(label: &Label, address: &dyn Fn(&str) -> Option<String>) -> Option<Label> {
    let all = |paths: &[String]| paths.iter().filter_map(|path| address(path)).collect();
    Some(match label {
        Label::Under(directory, except) => Label::Under(address(directory)?, all(except)),
        Label::Holds(directory, held) => Label::Holds(address(directory)?, all(held)),
        Label::Matches(directory, pattern) => Label::Matches(address(directory)?, pattern.clone()),
        Label::OtherCase(directory, above) => Label::OtherCase(address(directory)?, address(above)?),
        _ => return None,
    })
}

//! Searching source for what must not be there.

use super::source::Source;

/// Fails with every line of `faults`.
#[track_caller]
pub(crate) fn check(what: &str, faults: Vec<String>) {
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

/// Every path in `sources` for which `wrong` returns `true`.
pub(crate) fn wrong_paths(sources: &[Source], wrong: impl Fn(&Source, &[String]) -> bool) -> Vec<String> {
    let named = sources
        .iter()
        .flat_map(|source| source.paths.iter().map(move |path| (source, path)));
    named
        .filter(|(source, path)| wrong(source, &path.segments))
        .map(|(source, path)| format!("{}: {}", source.at(path.line), path.segments.join("::")))
        .collect()
}

/// Every token in `sources` for which `wrong` returns `true`, given the token with its two neighbours.
pub(crate) fn wrong_tokens(sources: &[Source], wrong: impl Fn(&[&str; 3]) -> bool) -> Vec<String> {
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

/// Returns `true` if `path` is `with` or continues it.
pub(crate) fn begins(path: &[String], with: &str) -> bool {
    let with: Vec<&str> = with.split("::").collect();
    path.len() >= with.len() && path.iter().zip(with).all(|(one, other)| one == other)
}

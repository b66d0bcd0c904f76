//! The texts that an argument is given, and names that nothing else has.

use super::choice::Choice;

/// The texts for an argument.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) choices: Vec<Choice>,
    /// Places for which no text was found, and other reasons why there may be more.
    pub(super) lacking: Vec<String>,
}

/// The name, or the first of `name-2`, `name-3` and so on of which that holds; the name itself if there is none among so many as
/// there are names that it could be confused with, and two more.
pub(super) fn fresh(name: &str, known: usize, is_free: impl Fn(&str) -> bool) -> Result<String, String> {
    let others = (2..known.saturating_add(3)).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(others);
    names.find(|name| is_free(name)).ok_or_else(|| name.to_owned())
}

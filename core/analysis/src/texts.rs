//! The texts that an argument is given, and names that nothing else has.

use super::choice::Choice;

/// The texts for an argument.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) choices: Vec<Choice>,
    /// Places for which no text was found, and other reasons why there may be more.
    pub(super) lacking: Vec<String>,
}

/// The first of the name, `name-2`, `name-3` and so on that is free. Two more are tried than there are names to be confused with.
///
/// # Errors
/// The name itself, if none of them is free.
pub(super) fn fresh(name: &str, known: usize, is_free: impl Fn(&str) -> bool) -> Result<String, String> {
    let others = (2..known.saturating_add(3)).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(others);
    names.find(|name| is_free(name)).ok_or_else(|| name.to_owned())
}

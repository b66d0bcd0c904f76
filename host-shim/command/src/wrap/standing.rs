//! Guards that stand in a configuration after undoing.

use std::collections::BTreeMap;

use super::server::{NOT_ASKED_FOR, Plan, Server, Way, Wrapped};

/// The flag that only `callgate wrap` writes.
const WRAPPED: &str = "--wrapped";

/// The servers before which a guard is in `text` and was not in `before`. Whoever changes an entry by hand may leave a guard in it that
/// is not known as one: without its flags, in the line of a shell, beside an address, or moved to another place.
///
/// # Errors
/// Why a text is not a configuration of MCP servers.
pub(super) fn standing(
    before: &str,
    text: &str,
    wrap: impl Fn(&str, &mut dyn FnMut(&Server<'_>) -> Plan) -> Result<Wrapped, String>,
) -> Result<Vec<String>, String> {
    let guarded = |text: &str| {
        let mut servers = BTreeMap::new();
        let wrapped = wrap(text, &mut |server| {
            *servers.entry(server.name.to_owned()).or_insert(false) |= has_guard(&server.way);
            Plan::Leave(NOT_ASKED_FOR.into())
        })?;
        Ok::<_, String>((servers, wrapped))
    };
    let (earlier, _) = guarded(before)?;
    let (now, wrapped) = guarded(text)?;
    let mut standing: Vec<String> = now
        .into_iter()
        .filter(|(name, is_guarded)| *is_guarded && earlier.get(name) == Some(&false))
        .map(|(name, _)| name)
        .collect();
    let count = |text: &str| text.matches(WRAPPED).count();
    if standing.is_empty() && count(text) > count(before) {
        let left = wrapped.left.into_iter();
        let unread = left.filter(|(_, reason)| reason != NOT_ASKED_FOR);
        standing.extend(unread.map(|(name, _)| name));
        if standing.is_empty() {
            standing.push(WRAPPED.to_owned());
        }
    }
    Ok(standing)
}

/// Returns `true` if `callgate` is started with `guard`, by itself or in the words of another program.
fn has_guard(way: &Way) -> bool {
    let Way::Program(command) = way else { return false };
    let is_end = |one: char| one.is_whitespace() || "'\"".contains(one);
    let mut words = command.iter().flat_map(|word| word.split(is_end));
    let is_program = |word: &str| word.rsplit('/').next() == Some("callgate");
    words.by_ref().any(is_program) && words.any(|word| word == "guard")
}

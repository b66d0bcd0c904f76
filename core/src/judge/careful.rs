//! Values that the careful defaults refuse whatever the rules say: programs behind the tool read them as something else
//! (SPEC §2.5, §4).

use crate::bind::json_in_text;
use crate::path::Unresolvable;
use crate::program::{Compatibility, Program};
use crate::role::{RoleId, RoleSet};

/// Why no value with these roles may be this text; `None` if it may, and always under the defaults of the existing
/// runtime.
pub(super) fn refusal(program: &Program, roles: RoleSet, text: &str) -> Option<Unresolvable> {
    if program.compatibility == Compatibility::Runtime {
        return None;
    }
    let is_remote = roles.contains(RoleId::GIT_REMOTE_URL);
    if text.starts_with('-') && (is_remote || roles.intersects(program.path_roles)) {
        return Some(Unresolvable::Option);
    }
    if is_remote && names_helper(text) {
        return Some(Unresolvable::Helper);
    }
    if roles.intersects(program.ruled_roles.union(program.resource_roles))
        && let Some(found) = json_in_text(text)
    {
        return Some(Unresolvable::Json { found });
    }
    let is_name = roles.contains(RoleId::GITHUB_OWNER) || roles.contains(RoleId::GITHUB_REPO);
    (is_name && !is_plain_name(text)).then_some(Unresolvable::Name)
}

/// `helper::address`, for which git runs `git-remote-helper`.
fn names_helper(text: &str) -> bool {
    text.split_once("::")
        .is_some_and(|(name, _)| !name.contains(['/', '[', '@', ':']))
}

/// Returns `true` if a server that puts the name into a URL unescaped asks for that name and nothing else.
fn is_plain_name(text: &str) -> bool {
    let is_foreign =
        |c: char| matches!(c, '/' | '\\' | '?' | '#' | '%') || c.is_whitespace() || c.is_control();
    !matches!(text, "." | "..") && !text.contains(is_foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_are_told_from_addresses() {
        for text in ["ext::sh -c id", "fd::3", "persistent-https::x", "::x"] {
            assert!(names_helper(text), "{text}");
        }
        for text in [
            "https://[::1]/a",
            "git@[::1]:a",
            "ssh://a::b/c",
            "user@host:a::b",
            "./a::b",
            "origin",
        ] {
            assert!(!names_helper(text), "{text}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_found() {
        for text in [
            "w/../../x",
            "./evil",
            "%65vil",
            "evil?",
            "a b",
            "a\u{a0}b",
            "..",
            ".",
            "a#",
            "a\\b",
            "a\u{7f}",
        ] {
            assert!(!is_plain_name(text), "{text}");
        }
        for text in ["acme", "a.b", "...", ".github", "A-b_c", "é", ""] {
            assert!(is_plain_name(text), "{text}");
        }
    }
}

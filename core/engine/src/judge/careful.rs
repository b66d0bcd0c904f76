//! Values that the careful defaults refuse whatever the rules say: programs behind the tool read them as something else
//! (SPEC §2.5, §4).

use memchr::memchr3;

use crate::bind::{is_space, json_in_text};
use crate::limits::Limits;
use crate::path::{Unresolvable, check_value};
use crate::program::Program;
use crate::role::{RoleId, RoleSet};
use crate::text::is_line_break;

/// Why no value with these roles may be this text; `is_sent_absolute` if its absolute path is sent in its place to a server that
/// is not git's. `None` if it may, and always under the defaults of the existing
/// runtime.
pub(super) fn refusal(
    program: &Program,
    roles: RoleSet,
    text: &str,
    is_sent_absolute: bool,
) -> Option<Unresolvable> {
    if !program.defaults.wants_one_reading {
        return None;
    }
    let is_remote = roles.contains(RoleId::GIT_REMOTE_URL);
    let is_path = roles.intersects(program.path_roles);
    if text.starts_with('-') && (is_remote || is_path && !is_sent_absolute) {
        return Some(Unresolvable::Option);
    }
    if is_remote && names_helper(text) {
        return Some(Unresolvable::Helper);
    }
    if roles.intersects(program.judged_roles.without(RoleSet::PROSE))
        && let Some(found) = json_in_text(text)
    {
        return Some(Unresolvable::Json { found });
    }
    if is_path && has_space_left_out(text) {
        return Some(Unresolvable::Space);
    }
    // Of a URL the query and the fragment are judged as further URLs where they hold some.
    let compared = match is_remote {
        true => text,
        false => text.split(['?', '#']).next().unwrap_or_default(),
    };
    (roles.intersects(program.url_roles) && holds_urls(compared)).then_some(Unresolvable::Several)
}

/// Why a path is refused for its text alone, whatever is on the disk: programs read it as something else. `None` if it is not.
///
/// The reason completes the sentence “the path …”. Whoever puts a directory before a relative path asks for it first.
pub fn refused_spelling(text: &str) -> Option<String> {
    let refusal = if text.starts_with('-') {
        Some(Unresolvable::Option)
    } else if let Some(found) = json_in_text(text) {
        Some(Unresolvable::Json { found })
    } else if has_space_left_out(text) {
        Some(Unresolvable::Space)
    } else {
        check_value(text, &Limits::default()).err()
    };
    refusal.map(|refusal| refusal.to_string())
}

/// Refuses a path that whoever gets it reads as another one; `is_of_repository` if a git server opens a repository there.
pub(super) fn check_sent(path: &str, is_of_repository: bool) -> Result<(), Unresolvable> {
    if has_space_left_out(path) {
        return Err(Unresolvable::Space);
    }
    if is_of_repository && names_variable(path) {
        return Err(Unresolvable::Variable);
    }
    Ok(())
}

/// Returns `true` if programs may leave out white space of the path, and so take it for another one: many cut off what stands
/// around a text, and whoever makes a URL of it loses tabs and line breaks (<https://url.spec.whatwg.org/#url-parsing>). Others
/// read a line each, whichever break is between them (<https://docs.python.org/3/library/stdtypes.html#str.splitlines>).
fn has_space_left_out(path: &str) -> bool {
    // A NUL is a reason of its own.
    let is_cut = |one: char| is_space(one) && one != '\0';
    memchr3(b'\t', b'\n', b'\r', path.as_bytes()).is_some()
        || path.contains(is_line_break)
        || path.starts_with(is_cut)
        || path.ends_with(is_cut)
}

/// Returns `true` for a path in which `$NAME` or `${NAME}` is an environment variable to whoever expands them
/// (<https://docs.python.org/3/library/os.path.html#os.path.expandvars>), as the library of many git servers does.
fn names_variable(path: &str) -> bool {
    let is_name = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '{');
    path.split('$').skip(1).any(|after| after.starts_with(is_name))
}

/// The characters that servers split a text of several values at.
const SEPARATORS: [char; 2] = [',', ';'];

/// The parts of a text that may be several values; `None` if nothing separates any.
pub(super) fn parts(text: &str) -> Option<impl Iterator<Item = &str>> {
    let parts = || text.split(SEPARATORS).map(str::trim);
    text.contains(SEPARATORS).then(parts)
}

/// Returns `true` for a text in which a URL of its own follows a separator, or in which one stands within the host of a URL. In
/// the path and the query of one URL they are ordinary characters.
pub(super) fn holds_urls(text: &str) -> bool {
    let authority = text.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.contains(SEPARATORS) || further_urls(text).next().is_some()
}

/// The URLs that follow a separator in the text, as a server reads them that splits it.
pub(super) fn further_urls(text: &str) -> impl Iterator<Item = &str> {
    let is_url = |part: &&str| {
        let scheme = part.split_once("://").map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| {
            let known = ["http", "https", "ssh", "git", "file", "ftp"].iter();
            known.into_iter().any(|known| scheme.eq_ignore_ascii_case(known))
        })
    };
    parts(text).into_iter().flatten().skip(1).filter(is_url)
}

/// `helper::address`, for which git runs `git-remote-helper`.
fn names_helper(text: &str) -> bool {
    text.split_once("::")
        .is_some_and(|(name, _)| !name.contains(['/', '[', '@', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_that_programs_read_differently_are_refused() {
        for text in [
            "-x",
            " a",
            "a ",
            "a\tb",
            "[\"/etc/passwd\"]",
            "null",
            "file:///etc/passwd",
            "FILE:a",
            "~bob",
            "a\0",
            "",
        ] {
            assert!(refused_spelling(text).is_some(), "{text:?}");
        }
        for text in [
            "a",
            "./-x",
            "./file:x",
            "a b",
            "src/[id].ts",
            "~/a",
            "/a",
            "..",
            "profile:x",
        ] {
            assert_eq!(refused_spelling(text), None, "{text:?}");
        }
    }

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
    fn several_urls_in_one_text_are_found() {
        for text in [
            "https://a.example/,https://b.example/",
            "https://a.example/x; HTTP://b.example",
            "a,http://b.example",
            "https://a.example,b.example/",
            "https://a.example/?q=1,https://b.example/",
        ] {
            assert!(holds_urls(text), "{text}");
        }
        for text in [
            "https://a.example/a,b;c=d?e=1,2;f=3#g,h",
            "https://web.archive.org/web/2024/https://a.example/",
            "https://u,v@a.example/",
            "a,b",
            "",
        ] {
            assert!(!holds_urls(text), "{text}");
        }
    }

    #[test]
    fn white_space_that_programs_leave_out_is_found() {
        for path in [
            " a",
            "a ",
            "/a\n",
            "/a/.\n./b",
            "/.e\tnv",
            "a\r",
            "\u{feff}a",
            "a\u{a0}",
            "a\u{1f}",
            "a\u{b}b",
            "a\u{1c}b",
            "a\u{85}b",
            "a\u{2028}b",
            " ",
        ] {
            assert!(has_space_left_out(path), "{path:?}");
        }
        for path in ["", "a b", "/My Project/a b.txt", "a\u{a0}b", "a\0"] {
            assert!(!has_space_left_out(path), "{path:?}");
        }
    }

    #[test]
    fn variables_of_the_environment_are_found() {
        for path in ["/srv/$HOME", "/srv/.${EMPTY}./b", "/a$_", "/$1", "/$$x"] {
            assert!(names_variable(path), "{path}");
        }
        for path in ["/srv/a", "/srv/a$", "/srv/$/a", "/srv/$-a", "/srv/50%"] {
            assert!(!names_variable(path), "{path}");
        }
    }
}

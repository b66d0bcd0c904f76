//! Lexical paths, without asking the host.

use std::borrow::Cow;

use crate::text;

/// Replaces a leading `~` by the home directory (SPEC §2.1).
///
/// Only `~` and `~/…` stand for the home directory; `~name` is returned unchanged.
pub fn expand_tilde<'a>(value: &'a str, home: &'a str) -> Cow<'a, str> {
    match value.strip_prefix('~') {
        Some("") => Cow::Borrowed(home),
        Some(rest) if rest.starts_with('/') => Cow::Owned(format!("{home}{rest}")),
        Some(_) | None => Cow::Borrowed(value),
    }
}

/// The lexical form of `value`: made absolute with `base`, without `.`, `..`, `//` or a trailing `/`. The parent of
/// the root is the root (SPEC §2.2).
///
/// Borrows a value that already has this form. `~` has no meaning here, see [`expand_tilde`].
pub fn lexical<'a>(value: &'a str, base: &str) -> Cow<'a, str> {
    match absolute(value, base) {
        Cow::Borrowed(text) => collapse(text),
        Cow::Owned(text) => Cow::Owned(collapse(&text).into_owned()),
    }
}

/// `value`, appended to `base` if it is relative; always begins with `/`. It is collapsed if both are.
pub(super) fn absolute<'a>(value: &'a str, base: &str) -> Cow<'a, str> {
    if value.starts_with('/') {
        return Cow::Borrowed(value);
    }
    let names = base.trim_matches('/');
    Cow::Owned(match names.is_empty() {
        true => ["/", value].concat(),
        false => ["/", names, "/", value].concat(),
    })
}

/// Removes `.`, `..`, `//` and a trailing `/` from an absolute path.
pub(super) fn collapse(path: &str) -> Cow<'_, str> {
    if is_collapsed(path) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(path_clean::clean(path).to_string_lossy().into_owned())
}

/// Returns `true` if `path` is absolute and collapsed.
pub(super) fn is_collapsed(path: &str) -> bool {
    path == "/"
        || path
            .strip_prefix('/')
            .is_some_and(text::has_only_normal_components)
}

/// Returns `true` if a `..` follows a normal component in the absolute `path`, so that its meaning may depend on
/// links.
pub(super) fn climbs(path: &str) -> bool {
    let mut depth = 0_usize;
    path.contains("..")
        && path.split('/').any(|name| {
            match name {
                "" | "." => {}
                ".." => return depth > 0,
                _ => depth += 1,
            }
            false
        })
}

/// The directory and the last name of a collapsed path; `None` for the root.
pub(super) fn split_last(path: &str) -> Option<(&str, &str)> {
    let slash = path.bytes().rposition(|byte| byte == b'/')?;
    match (path.get(..slash)?, path.get(slash + 1..)?) {
        (_, "") => None,
        ("", name) => Some(("/", name)),
        split => Some(split),
    }
}

/// The parent of a collapsed path; the root is its own parent.
pub fn parent(path: &str) -> &str {
    split_last(path).map_or("/", |(directory, _)| directory)
}

/// `names` below the collapsed `directory`; the directory itself if `names` is empty.
pub(super) fn join(directory: &str, names: &str) -> String {
    match (directory, names) {
        (_, "") => directory.to_owned(),
        ("/", _) => format!("/{names}"),
        (_, _) => format!("{directory}/{names}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tilde_stands_for_the_home_directory_alone_or_before_a_slash() {
        for (value, expected) in [
            ("~", "/home/u"),
            ("~/", "/home/u/"),
            ("~/a/../b", "/home/u/a/../b"),
            ("~//x", "/home/u//x"),
            ("~bob/x", "~bob/x"),
            ("~+", "~+"),
            ("/~", "/~"),
            ("a/~/b", "a/~/b"),
            (" ~/x", " ~/x"),
            ("", ""),
        ] {
            assert_eq!(expand_tilde(value, "/home/u"), expected, "{value:?}");
        }
    }

    #[test]
    fn the_lexical_form_is_absolute_and_collapsed() {
        for (value, expected) in [
            ("", "/srv/app"),
            (".", "/srv/app"),
            ("a", "/srv/app/a"),
            ("./a//b/", "/srv/app/a/b"),
            ("..", "/srv"),
            ("../../../x", "/x"),
            ("/", "/"),
            ("//", "/"),
            ("/..", "/"),
            ("/../../etc", "/etc"),
            ("/a/b", "/a/b"),
            ("/a/b/", "/a/b"),
            ("///a/./b/../c", "/a/c"),
            ("/a/..hidden/...", "/a/..hidden/..."),
            ("/a/\\..\\b", "/a/\\..\\b"),
            ("/a /b\n/é", "/a /b\n/é"),
            ("~/x", "/srv/app/~/x"),
        ] {
            assert_eq!(lexical(value, "/srv/app"), expected, "{value:?}");
        }
    }

    #[test]
    fn a_collapsed_value_is_borrowed() {
        assert!(matches!(lexical("/a/b", "/srv"), Cow::Borrowed("/a/b")));
        assert!(matches!(lexical("/a/b/", "/srv"), Cow::Owned(_)));
    }

    #[test]
    fn only_a_parent_of_a_name_depends_on_links() {
        for (path, expected) in [
            ("/", false),
            ("/..", false),
            ("/../../a", false),
            ("/./../a/b", false),
            ("/a/..b", false),
            ("/a/..", true),
            ("/a/./../b", true),
            ("/../a//..", true),
        ] {
            assert_eq!(climbs(path), expected, "{path:?}");
        }
    }

    #[test]
    fn containment_ends_at_a_name() {
        for (directory, path, expected) in [
            ("/", "/", true),
            ("/", "/a", true),
            ("/a", "/", false),
            ("/a", "/a", true),
            ("/a", "/a/b", true),
            ("/a", "/ab", false),
            ("/a", "/A", false),
            ("/a/b", "/a", false),
        ] {
            assert_eq!(
                text::is_at_or_below(path, directory),
                expected,
                "{path:?} in {directory:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn the_lexical_form_of_any_text_is_collapsed_and_stays_so(
            value in "[./~a\\\\\u{e9}]{0,12}|\\PC{0,12}", base in "(/[a-c.]{1,3}){0,3}",
        ) {
            let once = lexical(&value, &base).into_owned();
            prop_assert!(is_collapsed(&once), "{once:?}");
            prop_assert_eq!(lexical(&once, "/elsewhere"), once.as_str());
        }

        #[test]
        fn a_path_is_collapsed_where_cleaning_changes_nothing(path in "/?[./~a\\\\\u{e9}]{0,14}|/\\PC{0,12}") {
            let is_clean = path.starts_with('/') && path_clean::clean(&path).to_str() == Some(&*path);
            prop_assert_eq!(is_collapsed(&path), is_clean);
        }

        #[test]
        fn splitting_undoes_joining(directory in "/|(/[a-c]{1,3}){1,3}", name in "[a-c]{1,3}") {
            let joined = join(&directory, &name);
            prop_assert_eq!(split_last(&joined), Some((directory.as_str(), name.as_str())));
            prop_assert_eq!(parent(&joined), directory);
        }
    }
}

//! Small helpers for text: paths, their components, and the tokens of JSON Pointers.

use std::borrow::Cow;

use lexical_parse_float::FromLexical as _;

/// Returns `true` if `path` is `directory` or below it, compared as text: the rest must begin with a `/`.
///
/// Both should be collapsed; a `/` at the end of `directory` is ignored. Every comparison of paths with directories
/// ends up here, so that `/a` never contains `/ab`.
pub fn is_at_or_below(path: &str, directory: &str) -> bool {
    strip_directory(path, directory).is_some()
}

/// `path` relative to `directory`: empty for the directory itself, `None` if `path` is not at or below it.
pub fn strip_directory<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    let directory = directory.trim_end_matches('/');
    let (above, rest) = path.split_at_checked(directory.len())?;
    if above != directory {
        None
    } else if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

/// Returns `true` for a line break of any program
/// (<https://docs.python.org/3/library/stdtypes.html#str.splitlines>).
pub fn is_line_break(one: char) -> bool {
    matches!(
        one,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Returns `true` if no component of the relative path `names` is empty, `.` or `..`.
pub fn has_only_normal_components(names: &str) -> bool {
    !names.split('/').any(|name| matches!(name, "" | "." | ".."))
}

/// Escapes `~` and `/` in a token of a JSON Pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901#section-3)).
pub fn escape_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Unescapes a token of a JSON Pointer; `None` if a `~` is neither `~0` nor `~1`.
pub fn unescape_token(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (escaped, rest) = match part.strip_prefix('0') {
            Some(rest) => ('~', rest),
            None => ('/', part.strip_prefix('1')?),
        };
        text.push(escaped);
        text.push_str(rest);
    }
    Some(text)
}

/// The number that `text` is, as the standard library reads it: exact, in time in proportion to the text.
pub fn decimal(text: &str) -> Option<f64> {
    f64::from_lexical(text.as_bytes()).ok()
}

/// Text from elsewhere, fit for a terminal or a form: nothing in it moves the cursor, hides or reorders other text.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unfit) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    for one in text.chars() {
        if is_unfit(one) {
            cleaned.extend(one.escape_debug());
        } else {
            cleaned.push(one);
        }
    }
    Cow::Owned(cleaned)
}

/// Control characters, line separators, and the invisible characters that change how others are shown.
fn is_unfit(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(one, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_directory_contains_itself_and_what_continues_it_at_a_slash() {
        for (path, directory, rest) in [
            ("/a", "/a", Some("")),
            ("/a/b", "/a", Some("b")),
            ("/a/b/c", "/a/", Some("b/c")),
            ("/ab", "/a", None),
            ("/", "/a", None),
            ("/a", "/", Some("a")),
            ("/", "/", Some("")),
            ("~/a", "~", Some("a")),
            ("~/a", "/", None),
        ] {
            assert_eq!(strip_directory(path, directory), rest, "{path} {directory}");
            assert_eq!(is_at_or_below(path, directory), rest.is_some());
        }
    }

    #[test]
    fn normal_components_are_told_from_others() {
        for (names, expected) in [
            ("a", true),
            ("a/b.c/.d/...", true),
            ("", false),
            ("a//b", false),
            ("a/", false),
            ("/a", false),
            (".", false),
            ("a/./b", false),
            ("a/..", false),
            ("é/ /\0", true),
            ("long/enough//for/words", false),
            ("long/enough/for/.words", true),
        ] {
            assert_eq!(has_only_normal_components(names), expected, "{names:?}");
        }
    }

    #[test]
    fn tokens_keep_their_names() {
        for name in ["", "a", "~", "/", "~1", "a/b~c", "~0"] {
            assert_eq!(unescape_token(&escape_token(name)).as_deref(), Some(name));
        }
        assert_eq!(unescape_token("a~2"), None);
        assert_eq!(unescape_token("~"), None);
    }

    #[track_caller]
    fn check_decimal(text: &str) {
        let expected = text.parse::<f64>().ok().map(f64::to_bits);
        assert_eq!(decimal(text).map(f64::to_bits), expected, "{text}");
    }

    #[test]
    fn a_decimal_is_what_the_standard_library_reads() {
        for text in [
            "0",
            "-0",
            "+0",
            "00",
            "007",
            "1.",
            ".5",
            "-.5e1",
            "+1e+2",
            "1E-2",
            "1e999",
            "-1e999",
            "1e-999",
            "0e99999999999",
            "1e99999999999",
            "1e-99999999999",
            "inf",
            "-Infinity",
            "+INF",
            "",
            "+",
            "-",
            ".",
            "e",
            "1e",
            "1e+",
            ".e1",
            "e1",
            "1_0",
            "0x1",
            " 1",
            "1 ",
            "+-1",
            "--1",
            "1.2.3",
            "1e1e1",
            "1e1.5",
            "infinit",
            "\u{661}",
            "18446744073709551616",
            "9007199254740993",
            "0.30000000000000004",
            "4503599627370496.5",
            "2.2250738585072011e-308",
            "5e-324",
            "2e-324",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "123456789012345678901234567890.5e-20",
        ] {
            check_decimal(text);
        }
        assert!(decimal("nan").is_some_and(f64::is_nan) && decimal("-NaN").is_some_and(f64::is_nan));
        check_decimal(&format!("9007199254740992.{}1", "0".repeat(900)));
        check_decimal(&format!("9007199254740993.{}1", "0".repeat(900)));
    }

    proptest! {
        #[test]
        fn decimals_are_exact(value in any::<f64>().prop_filter("a number", |one| !one.is_nan()), more in "[0-9]{0,30}") {
            check_decimal(&value.to_string());
            check_decimal(&format!("{value:e}"));
            check_decimal(&format!("{value:.3}{more}"));
        }

        #[test]
        fn other_texts_are_decimals_where_the_standard_library_says_so(text in "[-+]?[0-9]{0,25}[.]?[0-9]{0,25}([eE][-+]?[0-9]{0,4})?") {
            check_decimal(&text);
        }
    }
}

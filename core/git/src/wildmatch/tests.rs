//! Patterns and what they match, from git's `t3070-wildmatch.sh` (its column `pathmatch` is for the other mode).

use super::*;

#[track_caller]
fn check(text: &str, pattern: &str, expected: bool) {
    let steps = &Steps::default();
    let matches = wildmatch(pattern.as_bytes(), text.as_bytes(), Case::Sensitive, steps);
    assert_eq!(matches, Ok(expected), "{pattern} on {text}");
}

#[test]
fn a_star_stops_at_a_slash_and_two_between_slashes_do_not() {
    check("foo", "*", true);
    check("foo/bar", "*", false);
    check("foo/baz/bar", "foo*bar", false);
    check("foo/baz/bar", "foo**bar", false);
    check("foobazbar", "foo**bar", true);
    check("foo/baz/bar", "foo/**/bar", true);
    check("foo/bar", "foo/**/bar", true);
    check("foo/b/a/z/bar", "foo/**/**/bar", true);
    check("foo/bba/arr", "foo/*", false);
    check("foo/bba/arr", "foo/**", true);
    check("foo/bba/arr", "foo**", false);
    check("foo/bba/arr", "foo/*arr", false);
    check("foo/bba/arr", "foo/**arr", false);
    check("XXX/foo", "**/foo", true);
    check("foo", "**/foo", true);
    check("bar/baz/foo", "*/foo", false);
    check("deep/foo/bar/baz", "**/bar/*", true);
    check("deep/foo/bar", "**/bar/*", false);
    check("deep/foo/bar/baz/x", "**/bar/*/*", true);
    check("foo/bar", "foo?bar", false);
    check("foo/bar", "foo[/]bar", false);
}

#[test]
fn sets_are_those_of_git() {
    check("ten", "**[!te]", true);
    check("tan", "t[!a-g]n", false);
    check("ton", "t[^a-g]n", true);
    check("a]b", "a[]]b", true);
    check("a-b", "a[]-]b", true);
    check("aab", "a[]-]b", false);
    check("5", "[[:digit:][:upper:][:space:]]", true);
    check("\u{b}", "[[:space:]]", false);
    check("a", "[[:digit:][:upper:][:spaci:]]", false);
    check("[:x", "[[:]x", false);
    check("\\", "[\\\\]", true);
    check("-", "[a-]", true);
}

#[test]
fn patterns_that_take_too_long_are_refused() {
    let text = "a".repeat(200);
    let steps = &Steps::new(100);
    assert!(wildmatch(b"*b", text.as_bytes(), Case::Sensitive, steps).is_err());
    let pattern = "*".repeat(65);
    assert!(wildmatch(pattern.as_bytes(), b"a", Case::Sensitive, &Steps::default()).is_err());
}

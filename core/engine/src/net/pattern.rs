//! Domain patterns that look as if they meant more than they do.

use core::net::IpAddr;

use super::target::DEEPEST_BELOW;

/// The fault of a domain pattern, and what to do about it.
pub fn fault(pattern: &str) -> Option<(&'static str, &'static str)> {
    let rest = pattern.strip_prefix("*.").unwrap_or(pattern);
    let (above, is_below) = match rest.strip_suffix("/*") {
        Some(above) if rest.len() == pattern.len() => (above, true),
        _ => (rest, false),
    };
    if pattern.contains("://") {
        Some(("which has a scheme", "schemes are not compared; leave it out"))
    } else if pattern.contains(['?', '#']) {
        Some((
            "which has a query or a fragment",
            "only hosts and paths are compared; leave it out",
        ))
    } else if pattern.contains(char::is_whitespace) {
        Some(("which has white space", "no host has any; leave it out"))
    } else if is_network(pattern) {
        Some((
            "a network, and only single addresses are compared",
            "`*` allows no address; name each one that is meant, or allow hosts by their names",
        ))
    } else if pattern != "*" && above.contains('*') {
        Some((
            "which has a `*` where it is not a wildcard",
            "a `*` may be the whole pattern, or begin it as `*.`, or end its path as `/*`",
        ))
    } else if is_below && above.split('/').count() > DEEPEST_BELOW + 1 {
        Some((
            "which has more than 8 names before `/*`",
            "name a path further up",
        ))
    } else {
        None
    }
}

/// Returns `true` for the address and the length of a network (`10.0.0.0/8`, `fd00::/8`).
fn is_network(pattern: &str) -> bool {
    let Some((address, length)) = pattern.split_once('/') else {
        return false;
    };
    let address = address.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok()
        && !length.is_empty()
        && length.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn a_pattern_says_no_more_than_it_means() {
        for (pattern, expected) in [
            ("*", None),
            ("*.x.org", None),
            ("x.org", None),
            ("x.org/acme/w", None),
            ("github.com/acme/*", None),
            ("github.com/*", None),
            ("x.org/[a]{b}", None),
            ("", None),
            ("a.*.org", Some("which has a `*`")),
            ("*x.org", Some("which has a `*`")),
            ("*.*.org", Some("which has a `*`")),
            ("**", Some("which has a `*`")),
            ("github.com/*/w", Some("which has a `*`")),
            ("github.com/a*", Some("which has a `*`")),
            ("*.x.org/*", Some("which has a `*`")),
            ("https://x.org", Some("which has a scheme")),
            ("x.org/a?b=c", Some("which has a query")),
            ("exa mple.com", Some("which has white space")),
            ("x.org\n", Some("which has white space")),
            ("10.0.0.0/8", Some("a network")),
            ("fd00::/8", Some("a network")),
            ("10.0.0.1/acme", None),
            ("[::1]", None),
            ("x.org/1/2/3/4/5/6/7/8/*", None),
            ("x.org/1/2/3/4/5/6/7/8/9/*", Some("which has more than 8 names")),
        ] {
            let found = fault(pattern).map(|(what, _)| what);
            assert_eq!(found.is_some(), expected.is_some(), "{pattern}");
            let begins = |what: &str| expected.is_some_and(|expected| what.starts_with(expected));
            assert!(found.is_none_or(begins), "{pattern}: {found:?}");
        }
    }
}

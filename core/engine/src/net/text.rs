//! The places that a broken or foreign value may mean to some program, for comparisons that only restrict.

use std::borrow::Cow;

use super::host::{CanonicalHost, LONGEST_WRITTEN};

/// The characters that the parser of URLs drops anywhere.
pub(super) const LINE_BREAKS: &[char] = &['\t', '\n', '\r'];

/// Every host that might be read from `text`: each run of characters allowed in a host, in the text as it is, without
/// tabs and line breaks, and percent-decoded. Unsorted; may contain duplicates.
pub(super) fn readable_hosts(text: &str) -> Vec<Box<str>> {
    let mut hosts = Vec::new();
    let joined = text.replace(['\t', '\n', '\r'], "");
    collect(text, &mut hosts);
    if joined != text {
        collect(&joined, &mut hosts);
    }
    let decoded = percent_decode(&joined);
    if decoded != joined {
        collect(&decoded, &mut hosts);
        collect(&decoded.replace(['\t', '\n', '\r'], ""), &mut hosts);
    }
    hosts
}

fn collect(text: &str, hosts: &mut Vec<Box<str>>) {
    for run in text.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && !"-._%".contains(c)) {
        if push(run, hosts) || run.is_ascii() {
            continue;
        }
        // A separator in another script (a full-width solidus) makes the whole run invalid as a host.
        for part in run.split(|c: char| !c.is_alphanumeric() && !"-._%。．｡".contains(c)) {
            push(part, hosts);
        }
    }
    for bracketed in text.split('[').skip(1) {
        if let Some((address, _)) = bracketed.split_once(']') {
            push(&format!("[{address}]"), hosts);
        }
    }
}

fn push(written: &str, hosts: &mut Vec<Box<str>>) -> bool {
    let written = written.trim_matches('.');
    // No host is longer than 253 bytes, however it is written.
    let host = Some(written).filter(|written| written.len() <= LONGEST_WRITTEN);
    let host = host.and_then(CanonicalHost::parse);
    if let Some(host) = &host {
        hosts.extend(host.texts().map(Box::from));
    }
    host.is_some()
}

/// `host/owner/repo` in lower case, without escapes, empty and dot segments, and every `.git` at its end; `None` if
/// that leaves no path.
pub(super) fn fold_repository(host: &str, path: &str) -> Option<Box<str>> {
    let path = percent_decode(path).replace('\\', "/").to_lowercase();
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    while let Some(last) = segments.pop() {
        let name = last.trim_end_matches(".git");
        if !name.is_empty() {
            segments.push(name);
            break;
        }
    }
    (!segments.is_empty()).then(|| format!("{host}/{}", segments.join("/")).into())
}

/// `text` with its percent-escapes decoded once; invalid UTF-8 is replaced.
pub fn percent_decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        match escape(rest) {
            Some((byte, after_escape)) => {
                decoded.push(byte);
                rest = after_escape;
            }
            None => {
                decoded.push(first);
                rest = after;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
}

/// Returns `true` if an escape in `text` stands for an ASCII control character.
pub(super) fn encodes_control(text: &str) -> bool {
    text.bytes()
        .enumerate()
        .filter(|(_, byte)| *byte == b'%')
        .filter_map(|(at, _)| escape(text.as_bytes().get(at..)?))
        .any(|(byte, _)| byte.is_ascii_control())
}

fn escape(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (&[b'%', high, low], after) = bytes.split_first_chunk::<3>()? else {
        return None;
    };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
    Some((byte, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_once() {
        #[track_caller]
        fn check(text: &str, expected: &str, control: bool) {
            assert_eq!(percent_decode(text), expected, "{text:?}");
            assert_eq!(encodes_control(text), control, "{text:?}");
        }
        check("a%2fb%2F", "a/b/", false);
        check("%2565", "%65", false);
        check("%c3%bc%ff", "ü\u{fffd}", false);
        check("%0a%7F", "\n\u{7f}", true);
        check("100%", "100%", false);
        check("%2", "%2", false);
        check("%zz%+1", "%zz%+1", false);
    }

    #[test]
    fn a_repository_has_one_folded_name() {
        for path in [
            "evil/repo",
            "/Evil/REPO",
            "evil//repo/",
            "evil/repo.git",
            "evil/repo.git.git/",
            "evil/repo/.git",
            "x/../evil/repo",
            "~/../evil/./repo",
            "%65vil/repo",
            "evil%2frepo",
            "evil\\repo",
        ] {
            assert_eq!(
                fold_repository("h", path).as_deref(),
                Some("h/evil/repo"),
                "{path:?}"
            );
        }
        for path in ["", "/", "//", ".git", "..", "a/.."] {
            assert_eq!(fold_repository("h", path), None, "{path:?}");
        }
    }

    #[test]
    fn a_host_is_read_wherever_somebody_might() {
        for text in [
            "evil.com",
            "//evil.com/x",
            "evil.com/x",
            "hxxp://EVIL.com:1",
            "\\\\evil.com\\x",
            "ext::ssh git@evil.com x",
            "https://evil.com..",
            "//ev\til.com",
            "ftp://a@evil%2ecom",
            "ssh://evil.com%2f@x/",
            "x／evil.com",
            "a%0aevil.com",
            "blob:https://evil.com/id",
            "//evil。com",
            "ev%0ail.com",
            "'evil.com'",
        ] {
            assert!(
                readable_hosts(text).iter().any(|host| &**host == "evil.com"),
                "{text:?}"
            );
        }
        let hosts = readable_hosts("x [::ffff:10.0.0.1] y");
        assert!(
            ["[::ffff:a00:1]", "10.0.0.1"]
                .iter()
                .all(|host| hosts.contains(&Box::from(*host)))
        );
        assert!(!readable_hosts("notevil.com evil.com.au").contains(&Box::from("evil.com")));
    }
}

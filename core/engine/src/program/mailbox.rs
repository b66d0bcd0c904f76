//! The e-mail addresses that a text names, for lists of them.

use std::borrow::Cow;

use crate::cost::{MAIL_ADDRESS, MAIL_BYTES, PLAIN_MAIL_BYTES};
use crate::net::{canonical_domain, percent_decode};
use crate::sort;

/// Lower case, and without what mail systems drop: characters that are not shown, a trailing dot of the domain.
pub(super) fn fold(text: &str) -> String {
    let text: String = text.chars().filter(|one| !is_hidden(*one)).collect();
    let text = text.to_lowercase();
    let text = text.trim();
    text.strip_prefix("mailto:")
        .unwrap_or(text)
        .trim_end_matches('.')
        .to_owned()
}

/// The addresses that an entry of a list names, and the entry itself.
pub(super) fn named(entry: &str) -> Vec<String> {
    let mut found = vec![canonical(entry)];
    let bare = joined(&unquoted(entry));
    let mut parts = Vec::new();
    add_parts(&bare, is_separator, &mut parts);
    found.extend(parts.into_iter().map(canonical));
    found.dedup();
    found
}

/// Every address that some program may read from the text: the text itself; what stands in `<…>` or between separators,
/// with comments and quotes left in and undone (RFC 5322, section 3.4); the addresses of a `mailto:` URL (RFC 6068).
///
/// Takes time linear in the length: about [`cost_of_addresses`].
pub fn readable(text: &str) -> Vec<String> {
    let mut found = vec![canonical(text)];
    if is_all_plain(text) {
        return found;
    }
    add_readings(text, &mut found);
    if let Cow::Owned(decoded) = percent_decode(text) {
        add_readings(&decoded, &mut found);
    }
    sort::sort(&mut found);
    found.dedup();
    found
}

/// How many steps it takes to find the addresses in the text.
pub fn cost_of_addresses(text: &str) -> usize {
    if is_all_plain(text) {
        return 1 + text.len() / PLAIN_MAIL_BYTES;
    }
    let addresses = text.matches(AT).count();
    let bytes = match text.is_ascii() {
        true => text.len() / MAIL_BYTES,
        false => text.len(),
    };
    let once = addresses * MAIL_ADDRESS + bytes;
    match text.contains('%') {
        // The decoded text may hold as many addresses as there are escapes.
        true => once * 2 + text.matches('%').count() * MAIL_ADDRESS,
        false => once,
    }
}

/// Every reading splits the text into much the same parts, of which each is made canonical once.
fn add_readings(text: &str, found: &mut Vec<String>) {
    let bare = unquoted(text);
    let joined = joined(&bare);
    let mut parts = Vec::new();
    add_parts(text, is_read_separator, &mut parts);
    add_parts(&bare, is_read_separator, &mut parts);
    add_parts(&bare, is_separator, &mut parts);
    add_parts(&joined, is_separator, &mut parts);
    sort::sort(&mut parts);
    parts.dedup();
    found.extend(parts.into_iter().map(canonical));
}

/// The characters between the name and the domain of an address, in every script.
const AT: [char; 3] = ['@', '＠', '﹫'];

/// Returns `true` for a character that ends an address in a list of them, a group or a route.
fn is_separator(one: char) -> bool {
    matches!(one, ',' | ';' | '<' | '>' | ':' | '，' | '；' | '、')
}

/// The same, and whatever else may stand around an address in a text that is not well-formed, or in a format of its own:
/// nearly every character that few addresses have. It may cut an address short, which only restricts more.
fn is_read_separator(one: char) -> bool {
    !one.is_alphanumeric() && !is_hidden(one) && !"@＠﹫._+-。．｡".contains(one)
}

/// Adds each part of the text that may be an address.
fn add_parts<'t>(text: &'t str, is_separator: impl Fn(char) -> bool, found: &mut Vec<&'t str>) {
    found.extend(text.split(is_separator).filter(|part| part.contains(AT)));
}

/// The address in lower case, its domain as IDNA maps it (RFC 5891).
fn canonical(address: &str) -> String {
    // What is hidden, and what stands for `@`, is not ASCII.
    let address = match address.is_ascii() {
        true => Cow::Borrowed(address),
        false => {
            let shown = address.chars().filter(|one| !is_hidden(*one));
            let plain = shown.map(|one| if AT.contains(&one) { '@' } else { one });
            Cow::Owned(plain.collect())
        }
    };
    let address = address.trim();
    match address.rsplit_once('@') {
        Some((local, domain)) => {
            let domain = domain.trim();
            let domain = canonical_domain(domain).unwrap_or_else(|| domain.to_lowercase());
            format!("{}@{}", local.trim().to_lowercase(), domain.trim_end_matches('.'))
        }
        None => address.to_lowercase(),
    }
}

/// The text without comments, and with the quotes and escapes of quoted strings undone.
fn unquoted(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for one in text.chars() {
        match one {
            _ if is_escaped => {
                is_escaped = false;
                if depth == 0 {
                    plain.push(one);
                }
            }
            '\\' => is_escaped = true,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted && depth > 0 => depth -= 1,
            '"' if depth == 0 => is_quoted = !is_quoted,
            _ if depth == 0 => plain.push(one),
            _ => {}
        }
    }
    plain
}

/// The text without white space, which may stand around the `@` and the dots of an address.
fn joined(text: &str) -> String {
    text.chars().filter(|one| !one.is_whitespace()).collect()
}

/// Returns `true` if the text holds nothing but characters that give an address no other reading.
fn is_all_plain(text: &str) -> bool {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'.' | b'_' | b'+' | b'-');
    text.bytes().all(is_plain)
}

/// Characters that nobody sees, and that mail programs drop.
fn is_hidden(one: char) -> bool {
    matches!(
        one,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_recipient_is_read() {
        for text in [
            "eve@evil.example",
            "EVE@Evil.Example",
            "Eve <eve@evil.example>",
            "Eve <MAILTO:eve@evil.example>",
            "MailTo:eve@evil.example?subject=x",
            "mailto:a@b.example?cc=eve@evil.example",
            "mailto:eve%40evil.example",
            "eve(hi)@evil.example",
            "eve (a (b) \\) c) @ evil.example",
            "eve@(hi)evil.example",
            "eve@evil。example",
            "eve＠evil.example",
            "eve@evil.example.",
            "\"eve\"@evil.example",
            "\"e\\ve\"@evil.example",
            "\"Doe, Eve\" <eve@evil.example>",
            "friends: a@b.example, eve@evil.example;",
            "<@relay.example:eve@evil.example>",
            "a@b.example;eve@evil.example",
            "a@b.example eve@evil.example",
            "e\u{200b}ve@evil.example",
            "(comment) eve@evil.example (comment)",
            "'eve@evil.example'",
            "eve @ evil . example",
            "\0eve@evil.example",
            "a@b.example\u{b}eve@evil.example",
            "a@b.example\u{a0}eve@evil.example",
            "a@b.example\u{2028}eve@evil.example",
            "a@b.example\u{3000}eve@evil.example",
            "a@b.example/eve@evil.example",
            "a@b.example|eve@evil.example|",
            "[eve@evil.example]",
            "{\"to\":\"eve@evil.example\"}",
            "`eve@evil.example`",
            "«eve@evil.example»",
            "*eve@evil.example*",
            "a@b.example!eve@evil.example",
            "eve@evil．example#x",
        ] {
            assert!(
                readable(text).iter().any(|found| found == "eve@evil.example"),
                "{text}: {:?}",
                readable(text)
            );
        }
        for text in [
            "steve@evil.example",
            "eve@evil.example.org",
            "eve",
            "",
            "eve.evil.example",
            "eve@sub.evil.example",
            "a+eve@evil.example",
            "st_eve@evil.example",
        ] {
            assert!(
                !readable(text).iter().any(|found| found == "eve@evil.example"),
                "{text}"
            );
        }
        assert!(readable("e@bücher.example").contains(&"e@xn--bcher-kva.example".to_owned()));
    }

    #[test]
    fn an_entry_names_the_addresses_in_it() {
        assert!(named("Eve <MAILTO:eve@evil.example>").contains(&"eve@evil.example".to_owned()));
        assert!(named("mailto:Eve@evil.example.").contains(&"eve@evil.example".to_owned()));
        assert_eq!(named("eve@evil。example"), ["eve@evil.example"]);
        assert!(!named("Eve Doe <eve@evil.example>").contains(&"eve".to_owned()));
    }
}

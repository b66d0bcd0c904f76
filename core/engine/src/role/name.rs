//! Names: the values of roles of the category `identifier`, unless their form is free (SPEC §4).

/// Returns `true` if the text is a name to every program that gets it: a command line takes it for no option, and a URL that it is
/// put into unescaped asks for that name and nothing else.
pub fn is_plain_name(text: &str) -> bool {
    let is_foreign =
        |c: char| matches!(c, '/' | '\\' | '?' | '#' | '%') || c.is_whitespace() || c.is_control();
    // Most names are of these bytes alone.
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let leads_elsewhere = !text.bytes().all(is_usual) && text.contains(is_foreign);
    !matches!(text, "" | "." | "..") && !text.starts_with('-') && !leads_elsewhere
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_found() {
        for text in [
            "",
            "-o",
            "--server=https://evil.example:6443",
            "../x",
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
            "a\nb",
            "a\u{7f}",
        ] {
            assert!(!is_plain_name(text), "{text}");
        }
        for text in [
            "acme",
            "a.b",
            "...",
            ".github",
            "A-b_c",
            "é",
            "web-1",
            "a@b",
            "x:y",
            "*.example.com",
            "[::1]:8080",
        ] {
            assert!(is_plain_name(text), "{text}");
        }
    }
}

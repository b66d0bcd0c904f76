//! Comments and trailing commas, which a document may have beyond JSON.

use std::borrow::Cow;

/// The text as JSON: spaces stand for `// …`, `/* … */` and a comma before a closing bracket. Every other byte, and every
/// end of a line, stays where it is, so that a place in one text is the same in the other.
///
/// Everything else stays, a comment without an end too, for the reader of JSON to refuse.
pub fn without_comments(text: &str) -> Cow<'_, str> {
    let mut blanks = blanks(text.as_bytes()).into_iter().peekable();
    if blanks.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    for (start, end) in blanks {
        for byte in bytes.get_mut(start..end).unwrap_or_default() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Where comments and trailing commas start and end.
fn blanks(text: &[u8]) -> Vec<(usize, usize)> {
    let mut blanks = Vec::new();
    let mut at = 0;
    // Says if a value could end here; and the comma after one, if only comments have followed it.
    let (mut ends_value, mut comma) = (false, None);
    while let Some(byte) = text.get(at) {
        let end = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'/' => match comment_end(text, at) {
                Some(end) => {
                    blanks.push((at, end));
                    at = end;
                    continue;
                }
                None => at + 1,
            },
            b'"' => string_end(text, at),
            b']' | b'}' => {
                blanks.extend(comma.map(|comma| (comma, comma + 1)));
                at + 1
            }
            _ => at + 1,
        };
        comma = (*byte == b',' && ends_value).then_some(at);
        ends_value = !matches!(byte, b'[' | b'{' | b':' | b',');
        at = end;
    }
    blanks
}

/// Where the comment that begins here ends; `None` if there is none, or it has no end.
pub fn comment_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at + 2..)?;
    match text.get(at + 1)? {
        b'/' => {
            let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            Some(length.map_or(text.len(), |length| at + 2 + length))
        }
        b'*' => {
            let length = rest.windows(2).position(|end| end == b"*/")?;
            Some(at + 2 + length + 2)
        }
        _ => None,
    }
}

/// Where the string that begins here ends; the end of the text if it has no end.
pub fn string_end(text: &[u8], at: usize) -> usize {
    let mut start = at + 1;
    while let Some(rest) = text.get(start..) {
        match rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
            Some(length) if rest.get(length) == Some(&b'"') => return start + length + 1,
            Some(length) => start += length + 2,
            None => break,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_comments(text), expected, "{text}");
        assert_eq!(text.len(), expected.len());
        assert_eq!(without_comments(expected), expected);
    }

    #[test]
    fn comments_and_trailing_commas_become_spaces() {
        check("[1, 2]", "[1, 2]");
        check("{// é\r\n\"a\": 1,}", "{     \r\n\"a\": 1 }");
        check("[1 /* a\nb */, 2 // c", "[1     \n    , 2     ");
        check(
            "[[1, ], {\"a\": {}, /* x */ },\n]",
            "[[1  ], {\"a\": {}          } \n]",
        );
        check("/**/1/***/", "    1     ");
    }

    #[test]
    fn what_a_string_holds_is_no_comment() {
        for text in [
            r#"{"a": "// \" /* ,]"}"#,
            r#"["\\", ",", "http://x"]"#,
            r#"{"/*": ",}", "*/": "\u002c"}"#,
        ] {
            check(text, text);
        }
        check(r#"["a,",]"#, r#"["a," ]"#);
    }

    #[test]
    fn what_is_not_a_comment_stays_to_be_refused() {
        for text in [
            "[,]",
            "[1,,]",
            "{,}",
            "{\"a\":,}",
            "[1] /",
            "[1] /* x",
            "/*/",
            "# x",
            "[1]/",
            ",",
            "\"a",
            "[1,",
            "[1,}x",
        ] {
            let stays = without_comments(text);
            let wrong = serde_json::from_str::<serde_json::Value>(&stays).is_err();
            assert!(wrong, "{text}: {stays}");
        }
    }
}

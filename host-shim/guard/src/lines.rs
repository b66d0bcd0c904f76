//! Messages on a stream, one a line.

use std::io::{self, BufRead};

/// Bytes of the longest message of a client: a call of the largest size, and what stands around it.
pub(super) const FROM_CLIENT: usize = 20 * 1024 * 1024;

/// Bytes of the longest message of a server, whose results may hold pictures.
pub(super) const FROM_SERVER: usize = 128 * 1024 * 1024;

/// Bytes of a line that is large, and of the room that it gets then.
const LARGE: usize = 1024 * 1024;
const LARGEST: usize = 32 * 1024 * 1024;

/// A line of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line of UTF-8, without its end. It may be empty.
    Text(String),
    /// A line that is not UTF-8.
    NotUtf8,
    /// A line of more bytes than the limit, passed over to its end.
    TooLong,
}

/// The next line; `None` at the end of the stream. What stands behind the last line break is half a message, and is not
/// given.
///
/// # Errors
/// Those of the stream.
pub(super) fn next(stream: &mut impl BufRead, limit: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let chunk = match stream.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(None);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        is_too_long |= line.len() + part.len() > limit;
        if is_too_long {
            line = Vec::new();
        } else {
            if line.len() + part.len() > LARGE {
                // At once: a line that grows is copied, and leaves holes. What is not used takes no memory.
                line.reserve(limit.min(LARGEST).saturating_sub(line.len()));
            }
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        stream.consume(used);
        if end.is_some() {
            break;
        }
    }
    if is_too_long {
        return Ok(Some(Line::TooLong));
    }
    Ok(Some(String::from_utf8(line).map_or(Line::NotUtf8, Line::Text)))
}

/// The message as one line, for every reader of lines. Some end a line at a carriage return too, and would find a message
/// within this one; in JSON both are white space. A message over HTTP may have either. What is not JSON stays as it is: within
/// a string they are not white space.
pub(super) fn unbroken(text: String) -> String {
    let is_broken = text.contains(['\r', '\n']);
    match is_broken && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok() {
        true => text.replace(['\r', '\n'], " "),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    fn all(bytes: &[u8], limit: usize) -> Vec<Line> {
        // A small buffer, so that lines come in pieces.
        let mut stream = BufReader::with_capacity(3, bytes.take(u64::MAX));
        let mut lines = Vec::new();
        while let Some(line) = next(&mut stream, limit).unwrap() {
            lines.push(line);
        }
        lines
    }

    #[test]
    fn lines_are_whole_and_bounded() {
        let text = |text: &str| Line::Text(text.to_owned());
        assert_eq!(all(b"", 4), []);
        assert_eq!(all(b"half", 9), []);
        assert_eq!(all(b"\n{}\r\nabcd\n", 4), [text(""), text("{}\r"), text("abcd")]);
        assert_eq!(all(b"abcde\n{}\n", 4), [Line::TooLong, text("{}")]);
        assert_eq!(all(b"\xff\n{}\nrest", 4), [Line::NotUtf8, text("{}")]);
    }
}

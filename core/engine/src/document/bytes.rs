//! From the bytes of a file to the text of a document.

use std::string::FromUtf8Error;

use super::position::Lines;
use crate::diagnostic::{Code, Diagnostic, Position};

/// Bytes of the longest file that is read as a document at all. The limit that holds, [`Limits::document_bytes`], can be
/// set; this one only keeps a device file from filling the memory.
///
/// [`Limits::document_bytes`]: crate::limits::Limits::document_bytes
pub const MOST_FILE_BYTES: usize = 256 * 1024 * 1024;

/// The text of the document called `name`, from the bytes of its file; of a longer file than [`MOST_FILE_BYTES`] one byte
/// more is enough.
///
/// # Errors
/// The fault, where the bytes are not the text of any document.
pub fn document_text(bytes: Vec<u8>, name: &str) -> Result<String, Diagnostic> {
    let refuse = |code, position, message: String| {
        let position = Some(position);
        let fault = Diagnostic::error(code, name, message);
        Err(Diagnostic { position, ..fault })
    };
    if bytes.len() > MOST_FILE_BYTES {
        let message = format!("more than {MOST_FILE_BYTES} bytes, expected a JSON document");
        return refuse(Code::Limit, Position::START, message);
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => {
            let message = "the file is empty, expected a JSON document";
            refuse(Code::Syntax, Position::START, message.to_owned())
        }
        Ok(text) if text.starts_with('\u{feff}') => {
            let message = "found a byte order mark at offset 0, expected JSON in UTF-8 without one";
            refuse(Code::Syntax, Position::START, message.to_owned())
        }
        Ok(text) => Ok(text),
        Err(error) => refuse(Code::Syntax, end_of_utf8(&error), not_utf8(&error)),
    }
}

/// The position of the first byte that is not UTF-8.
fn end_of_utf8(error: &FromUtf8Error) -> Position {
    let valid = error.as_bytes().get(..error.utf8_error().valid_up_to());
    let text = str::from_utf8(valid.unwrap_or_default()).unwrap_or_default();
    Lines::new(text).position(text.len())
}

fn not_utf8(error: &FromUtf8Error) -> String {
    let at = error.utf8_error().valid_up_to();
    let byte = error.as_bytes().get(at).copied().unwrap_or_default();
    format!("found the byte `0x{byte:02x}` at offset {at}, expected JSON in UTF-8")
}

/// The text that the bytes are in UTF-8.
///
/// # Errors
/// Which byte is not UTF-8, for a person.
pub fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| not_utf8(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_of_a_document_is_named() {
        let read = |bytes: &[u8]| document_text(bytes.to_vec(), "policy").map_err(|fault| fault.to_string());
        assert_eq!(read("{\"é\": 1}".as_bytes()).as_deref(), Ok("{\"é\": 1}"));
        for (bytes, place, message) in [
            (&b" \n"[..], "1:1", "the file is empty, expected a JSON document"),
            (
                b"\xef\xbb\xbf{}",
                "1:1",
                "found a byte order mark at offset 0, expected JSON in UTF-8 without one",
            ),
            (
                b"[\n\"\xc3\xa9\xe9\"]",
                "2:3",
                "found the byte `0xe9` at offset 5, expected JSON in UTF-8",
            ),
        ] {
            let fault = format!("{place}: error[syntax] at policy: {message}");
            assert_eq!(read(bytes), Err(fault));
        }
    }
}

//! From the bytes of a file to the text of a document.

use crate::diagnostic::{Code, Diagnostic};

/// Bytes of the longest file that is read as a document at all. The limit that holds, [`Limits::document_bytes`], can be
/// set; this one only keeps a device file from filling the memory.
///
/// [`Limits::document_bytes`]: crate::Limits::document_bytes
pub const MOST_FILE_BYTES: usize = 256 * 1024 * 1024;

/// The text of the document called `name`, from the bytes of its file; of a longer file than [`MOST_FILE_BYTES`] one byte
/// more is enough.
///
/// # Errors
/// The fault, where the bytes are not the text of any document.
pub fn document_text(bytes: Vec<u8>, name: &str) -> Result<String, Diagnostic> {
    let refuse = |code, message: String| Err(Diagnostic::error(code, name, message));
    if bytes.len() > MOST_FILE_BYTES {
        let message = format!("more than {MOST_FILE_BYTES} bytes, expected a JSON document");
        return refuse(Code::Limit, message);
    }
    match utf8(bytes) {
        Ok(text) if text.trim().is_empty() => {
            let message = "the file is empty, expected a JSON document";
            refuse(Code::Syntax, message.to_owned())
        }
        Ok(text) if text.starts_with('\u{feff}') => {
            let message = "found a byte order mark at offset 0, expected JSON in UTF-8 without one";
            refuse(Code::Syntax, message.to_owned())
        }
        Ok(text) => Ok(text),
        Err(message) => refuse(Code::Syntax, message),
    }
}

/// The text that the bytes are in UTF-8.
///
/// # Errors
/// Which byte is not UTF-8, for a person.
pub fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(at).copied().unwrap_or_default();
        format!("found the byte `0x{byte:02x}` at offset {at}, expected JSON in UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_of_a_document_is_named() {
        let read = |bytes: &[u8]| document_text(bytes.to_vec(), "policy").map_err(|fault| fault.to_string());
        assert_eq!(read("{\"é\": 1}".as_bytes()).as_deref(), Ok("{\"é\": 1}"));
        for (bytes, message) in [
            (&b" \n"[..], "the file is empty, expected a JSON document"),
            (
                b"\xef\xbb\xbf{}",
                "found a byte order mark at offset 0, expected JSON in UTF-8 without one",
            ),
            (
                b"\"\xe9\"",
                "found the byte `0xe9` at offset 1, expected JSON in UTF-8",
            ),
        ] {
            let fault = format!("error[syntax] at policy: {message}");
            assert_eq!(read(bytes), Err(fault));
        }
    }
}

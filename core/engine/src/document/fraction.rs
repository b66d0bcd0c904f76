//! Numbers with a fraction or an exponent. The reader of JSON may miss one in its last digit, and a condition would then not hold for
//! the very number that it names.

use std::cell::Cell;

use crate::text::decimal;
use callgate_jsontext::string_end;

/// The numbers of a JSON text that are not whole, or are too large to be read as such, in their order.
pub(super) struct Fractions<'t> {
    text: &'t str,
    at: Cell<usize>,
}

impl<'t> Fractions<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text,
            at: Cell::new(0),
        }
    }

    /// The next one, exactly. The text before it is looked at once.
    pub(super) fn next(&self) -> Option<f64> {
        let bytes = self.text.as_bytes();
        loop {
            let at = self.at.get();
            match bytes.get(at)? {
                b'"' => self.at.set(string_end(bytes, at)),
                b'-' | b'0'..=b'9' => {
                    let rest = self.text.get(at..)?;
                    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    let end = rest.bytes().position(|byte| !is_part(&byte));
                    let number = rest.get(..end.unwrap_or(rest.len()))?;
                    self.at.set(at + number.len());
                    let is_whole =
                        number != "-0" && (number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok());
                    if !is_whole {
                        return decimal(number);
                    }
                }
                _ => self.at.set(at + 1),
            }
        }
    }
}

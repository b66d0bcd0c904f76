//! The bytes in which arguments come in.
//!
//! ```text
//! arguments   = 0 count member*                                    an object
//!             | 1 sample:text                                      not an object: a JSON text of the same type
//!             | 2 why:text                                         an object that cannot be read
//! member      = name value
//! name        = 0 text | 1 count                                   the number of a member of the tool
//! value       = 0 null | 1 false | 2 true | 3 number:f64 | 4 text | 5 ill-formed
//!             | 6 count value* | 7 count (name value)* | 8 unread
//! text        = count byte*                                        UTF-8
//! count       = LEB128, at most 32 bits
//! ```

use std::borrow::Cow;

use callgate_engine::bind::{Arguments, Value};

/// Reads what the package wrote.
pub struct Reader<'b> {
    /// The bytes that are not read yet.
    bytes: &'b [u8],
    /// The names that are written as numbers.
    members: &'b [String],
}

impl<'b> Reader<'b> {
    /// `members` are the names that are written as numbers.
    pub fn new(bytes: &'b [u8], members: &'b [String]) -> Self {
        Self { bytes, members }
    }

    /// The package only writes well-formed arguments; anything else becomes arguments for which a call is denied.
    pub fn arguments(&mut self) -> Arguments<'b> {
        self.well_formed_arguments()
            .unwrap_or_else(|| Arguments::Unreadable("the call did not arrive as it was written".to_owned()))
    }

    /// Reads a byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn count(&mut self) -> Option<usize> {
        let mut count = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            count |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return usize::try_from(count).ok();
            }
        }
        None
    }

    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Reads a text.
    pub fn text(&mut self) -> Option<&'b str> {
        let count = self.count()?;
        std::str::from_utf8(self.take(count)?).ok()
    }

    fn name(&mut self) -> Option<&'b str> {
        match self.byte()? {
            0 => self.text(),
            1 => {
                let number = self.count()?;
                self.members.get(number).map(String::as_str)
            }
            _ => None,
        }
    }

    fn several<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count()?;
        let mut found = Vec::with_capacity(count.min(self.bytes.len()));
        for _ in 0..count {
            found.push(read(self)?);
        }
        Some(found)
    }

    fn member(&mut self) -> Option<(Cow<'b, str>, Value<'b>)> {
        Some((Cow::Borrowed(self.name()?), self.value()?))
    }

    fn well_formed_arguments(&mut self) -> Option<Arguments<'b>> {
        Some(match self.byte()? {
            0 => Arguments::Members(self.several(Self::member)?),
            1 => Arguments::from_json(self.text()?),
            2 => Arguments::Unreadable(self.text()?.to_owned()),
            _ => return None,
        })
    }

    fn value(&mut self) -> Option<Value<'b>> {
        Some(match self.byte()? {
            0 => Value::Null,
            1 => Value::Bool(false),
            2 => Value::Bool(true),
            3 => Value::Number(f64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            4 => Value::Text(Cow::Borrowed(self.text()?)),
            5 => Value::IllFormed(Cow::Borrowed(self.text()?)),
            6 => Value::Array(self.several(Self::value)?),
            7 => Value::Object(self.several(Self::member)?),
            8 => Value::Unread,
            _ => return None,
        })
    }
}

//! The bytes in which a call comes in, and its replacements go out.
//!
//! ```text
//! call        = [0 server:text 0 tool:text]  container  arguments  the names only where the tool has no number
//! container   = 0 | 1 text | 2 context | 3 text context
//! context     = 0 text                                             JSON text
//! arguments   = 0 count member*                                    an object
//!             | 1 sample:text                                      not an object: a JSON text of the same type
//!             | 2 why:text                                         an object that cannot be read
//! member      = name value
//! name        = 0 text | 1 count                                   the number of a member of the tool
//! value       = 0 null | 1 false | 2 true | 3 number:f64 | 4 text | 5 ill-formed
//!             | 6 count value* | 7 count (name value)* | 8 unread
//! text        = count byte*                                        UTF-8
//! count       = LEB128, at most 32 bits
//!
//! answer      = count replacement*  count renamed*
//! renamed     = argument:count key:text
//! replacement = argument:count  count place*  (1 transport | 2 policy | 3 both)  [text] [text]
//! place       = 0 item:count | 1 member:text
//! ```

use std::borrow::Cow;

use callgate_core::{Arguments, Call, Context, PointerToken, Prepared, Value, View};

/// A tool that calls refer to by a number.
pub(super) struct Tool {
    pub(super) server: String,
    pub(super) name: String,
    /// The members that calls refer to by their numbers.
    pub(super) members: Vec<String>,
}

/// A call, and the sandbox as the tool's container names it.
pub(super) struct Incoming<'b> {
    pub(super) call: Call<'b>,
    pub(super) container: Option<&'b str>,
}

/// Reads a call. The package only writes well-formed ones; anything else becomes a call that is denied.
pub(super) fn read<'b>(bytes: &'b [u8], tool: Option<&'b Tool>) -> Incoming<'b> {
    let mut reader = Reader {
        bytes,
        members: tool.map_or(&[], |tool| &tool.members),
    };
    let (server, tool) = match tool {
        Some(Tool { server, name, .. }) => (server.as_str(), name.as_str()),
        None => {
            let server = reader.label().unwrap_or_default();
            (server, reader.label().unwrap_or_default())
        }
    };
    let flags = reader.byte().unwrap_or_default();
    let container = if flags & 1 == 1 { reader.text() } else { None };
    let context = if flags & 2 == 2 { reader.label() } else { None };
    let arguments = reader.arguments().unwrap_or_else(unreadable);
    let mut call = Call::new(server, tool, arguments);
    // A context that cannot be read is ignored, so a rule that needs one denies the call.
    if let Some(context) = context.and_then(|context| Context::from_json(context).ok()) {
        call = call.within(context);
    }
    Incoming { call, container }
}

/// Reads arguments without a call.
pub(super) fn read_arguments(bytes: &[u8]) -> Arguments<'_> {
    let mut reader = Reader { bytes, members: &[] };
    reader.arguments().unwrap_or_else(unreadable)
}

fn unreadable<'b>() -> Arguments<'b> {
    Arguments::Unreadable("the call did not arrive as it was written".to_owned())
}

struct Reader<'b> {
    bytes: &'b [u8],
    /// The names that are written as numbers.
    members: &'b [String],
}

impl<'b> Reader<'b> {
    fn byte(&mut self) -> Option<u8> {
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

    fn text(&mut self) -> Option<&'b str> {
        let count = self.count()?;
        std::str::from_utf8(self.take(count)?).ok()
    }

    /// A text after its tag.
    fn label(&mut self) -> Option<&'b str> {
        self.byte()?;
        self.text()
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

    fn arguments(&mut self) -> Option<Arguments<'b>> {
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

/// Writes the changes to the arguments.
pub(super) fn write(prepared: &Prepared, bytes: &mut Vec<u8>) {
    bytes.clear();
    push_count(bytes, prepared.replacements.len());
    for replacement in &prepared.replacements {
        push_count(bytes, replacement.argument);
        push_count(bytes, replacement.place.len());
        for place in &replacement.place {
            match place {
                PointerToken::Item(item) => {
                    bytes.push(0);
                    push_count(bytes, *item);
                }
                PointerToken::Member(name) => {
                    bytes.push(1);
                    push_text(bytes, name);
                }
            }
        }
        let views = [View::Transport, View::Policy].map(|view| replacement.text(view));
        let [transport, policy] = views.map(|text| u8::from(text.is_some()));
        bytes.push(transport | policy << 1);
        for text in views.into_iter().flatten() {
            push_text(bytes, text);
        }
    }
    push_count(bytes, prepared.renamed.len());
    for (argument, key) in &prepared.renamed {
        push_count(bytes, *argument);
        push_text(bytes, key);
    }
}

fn push_count(bytes: &mut Vec<u8>, mut count: usize) {
    while count > 0x7f {
        // Seven bits at a time; the next byte has the others.
        bytes.push((count & 0x7f) as u8 | 0x80);
        count >>= 7;
    }
    bytes.push(count as u8);
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    push_count(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use callgate_core::Replacement;

    use super::*;

    fn check(bytes: &[u8], expected: &str) {
        let tool = Tool {
            server: "s".to_owned(),
            name: "t".to_owned(),
            members: vec!["m".to_owned()],
        };
        let incoming = read(bytes, Some(&tool));
        assert_eq!((incoming.call.server(), incoming.call.tool()), ("s", "t"));
        let call = format!("{:?}", incoming.call);
        assert!(
            call.contains(&format!("arguments: {expected}")),
            "{bytes:?}: {call}, expected {expected}"
        );
    }

    #[test]
    fn calls_are_read() {
        check(&[0, 0, 0], "Members([])");
        check(
            &[
                0, 0, 2, 0, 1, b'z', 6, 2, 5, 1, b'/', 8, 0, 1, b'a', 7, 1, 0, 1, b'k', 3, 0, 0, 0, 0, 0, 0,
                0xf0, 0x3f,
            ],
            r#"Members([("z", Array([IllFormed("/"), Unread])), ("a", Object([("k", Number(1.0))]))])"#,
        );
        check(&[0, 0, 1, 1, 0, 2], r#"Members([("m", Bool(true))])"#);
        check(
            &[0, 1, 2, b'[', b']'],
            r#"Unreadable("`arguments` are an array, expected an object")"#,
        );
        check(&[0, 2, 1, b'w'], r#"Unreadable("w")"#);
    }

    #[test]
    fn what_is_cut_off_or_malformed_is_unreadable() {
        let whole = [0, 0, 1, 0, 1, b'z', 6, 1, 4, 1, b'x'];
        check(&whole, r#"Members([("z", Array([Text("x")]))])"#);
        let unreadable = r#"Unreadable("the call did not arrive as it was written")"#;
        for end in 0..whole.len() {
            check(&whole[..end], unreadable);
        }
        check(&[0, 3, 0], unreadable);
        check(&[0, 0, 1, 1, 1, 2], unreadable);
        check(&[0, 0, 1, 2, 0, 2], unreadable);
        check(&[0, 0, 1, 0, 1, b'a', 9], unreadable);
        check(&[0, 0, 1, 0, 1, b'a', 4, 1, 0xff], unreadable);
        check(&[0, 0, 0xff, 0xff, 0xff, 0xff, 0xff], unreadable);
        check(&[0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f], unreadable);
    }

    #[test]
    fn replacements_are_written() {
        let prepared = Prepared {
            renamed: vec![(3, "k".to_owned())],
            replacements: vec![Replacement {
                argument: 200,
                place: vec![PointerToken::Item(1), PointerToken::Member("m".to_owned())],
                transport: None,
                policy: Some("p".to_owned()),
            }],
        };
        let mut bytes = vec![9];
        write(&prepared, &mut bytes);
        assert_eq!(
            bytes,
            [1, 0xc8, 1, 2, 0, 1, 1, 1, b'm', 2, 1, b'p', 1, 3, 1, b'k']
        );
    }
}

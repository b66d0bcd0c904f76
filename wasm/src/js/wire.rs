//! The bytes in which a call comes in, and its replacements go out.
//!
//! ```text
//! call        = [0 server:text 0 tool:text]  container  arguments  the names only where the tool has no number
//! container   = 0 | 1 text | 2 context | 3 text context
//! context     = 0 text                                             JSON text
//!
//! answer      = count replacement*  count renamed*
//! renamed     = argument:count key:text
//! replacement = argument:count  count place*  (1 transport | 2 policy | 3 both)  [text] [text]
//! place       = 0 item:count | 1 member:text
//! ```
//!
//! The other words are those of [`arguments`](callgate_boundary_wasm::Reader).

use callgate_engine::bind::{Call, PointerToken, Prepared, View};
use callgate_engine::world::Context;

use callgate_boundary_wasm::Reader;

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

/// Reads a call. One that is not well-formed becomes a call that is denied.
pub(super) fn read<'b>(bytes: &'b [u8], tool: Option<&'b Tool>) -> Incoming<'b> {
    let mut reader = Reader::new(bytes, tool.map_or(&[], |tool| &tool.members));
    let (server, tool) = match tool {
        Some(Tool { server, name, .. }) => (server.as_str(), name.as_str()),
        None => {
            let server = label(&mut reader).unwrap_or_default();
            (server, label(&mut reader).unwrap_or_default())
        }
    };
    let flags = reader.byte().unwrap_or_default();
    let container = if flags & 1 == 1 { reader.text() } else { None };
    let context = if flags & 2 == 2 { label(&mut reader) } else { None };
    let arguments = reader.arguments();
    let mut call = Call::new(server, tool, arguments);
    // A context that cannot be read is ignored, so a rule that needs one denies the call.
    if let Some(context) = context.and_then(|context| Context::from_json(context).ok()) {
        call = call.within(context);
    }
    Incoming { call, container }
}

/// A text after its tag.
fn label<'b>(reader: &mut Reader<'b>) -> Option<&'b str> {
    reader.byte()?;
    reader.text()
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
    use callgate_engine::bind::Replacement;

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

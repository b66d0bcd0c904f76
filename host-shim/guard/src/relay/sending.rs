//! Putting the arguments that were judged where the client's were.
//!
//! A message may have 20 MiB, so it is changed in its place and not written anew: the guard holds the message and the
//! judged arguments, and no third copy.

use std::ops::Range;

use callgate_jsontext::place_of;

use crate::message::{Request, ToolCall};

/// Where in a message the arguments belong.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ArgumentsPlace {
    /// In place of those that are there.
    Of(Range<usize>),
    /// Before the other params.
    Before(usize),
}

impl ArgumentsPlace {
    /// Where the arguments of a call belong; `None` for a request that is not a part of the message.
    pub(super) fn find(message: &str, request: &Request<'_>, call: &ToolCall<'_>) -> Option<Self> {
        match call.arguments {
            Some(arguments) => place_of(message, arguments.get()).map(Self::Of),
            // After the brace.
            None => Some(Self::Before(
                place_of(message, request.members.get("params")?.get())?.start + 1,
            )),
        }
    }

    /// The message with these arguments.
    pub(super) fn put(self, mut message: String, arguments: &str) -> String {
        match self {
            Self::Of(place) if message.get(place.clone()) == Some(arguments) => {}
            Self::Of(place) => {
                let rest = message.get(place.end..).unwrap_or_default().to_owned();
                message.truncate(place.start);
                // No more than that, and the line break.
                message.reserve_exact(arguments.len() + rest.len() + 1);
                message.push_str(arguments);
                message.push_str(&rest);
            }
            // A call without arguments is the same as one with an empty object.
            Self::Before(_) if arguments == "{}" => {}
            // The params hold the tool's name at least.
            Self::Before(place) => message.insert_str(place, &format!(r#""arguments":{arguments},"#)),
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    fn put(message: &str, arguments: &str) -> String {
        let Ok(Message::Request(request)) = Message::read(message) else {
            panic!("{message}");
        };
        let call = ToolCall::read(&request).unwrap();
        let place = ArgumentsPlace::find(message, &request, &call).unwrap();
        place.put(message.to_owned(), arguments)
    }

    #[test]
    fn everything_but_the_arguments_stays_as_it_came() {
        let message =
            |params: &str| format!(r#"{{"jsonrpc":"2.0" , "id":1,"method":"tools/call","params":{params}}}"#);
        for (params, arguments, expected) in [
            (
                r#"{"name":"a", "arguments" : {"x": "{}"} ,"_meta":{"x":1e0}}"#,
                r#"{"x":"longer than before"}"#,
                r#"{"name":"a", "arguments" : {"x":"longer than before"} ,"_meta":{"x":1e0}}"#,
            ),
            (
                r#"{"arguments":{"x":"longer than after"},"name":"a"}"#,
                "{}",
                r#"{"arguments":{},"name":"a"}"#,
            ),
            (
                r#"{ "name":"a" }"#,
                r#"{"x":1}"#,
                r#"{"arguments":{"x":1}, "name":"a" }"#,
            ),
            (r#"{"name":"a"}"#, "{}", r#"{"name":"a"}"#),
            (
                r#"{"name":"a","arguments":{}}"#,
                "{}",
                r#"{"name":"a","arguments":{}}"#,
            ),
        ] {
            assert_eq!(put(&message(params), arguments), message(expected));
        }
    }

    #[test]
    fn a_request_of_another_message_has_no_place_in_this_one() {
        let one = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}"#;
        let Ok(Message::Request(request)) = Message::read(one) else {
            panic!();
        };
        let call = ToolCall::read(&request).unwrap();
        let other = one.to_owned();
        assert_eq!(ArgumentsPlace::find(&other, &request, &call), None);
    }
}

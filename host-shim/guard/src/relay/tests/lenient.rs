//! However leniently a server reads, it finds no call in what is forwarded but one that was judged.

use callgate_jsontext::Members;
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::{client, relay};
use crate::relay::*;

/// How a server may read an object that holds a name more than once.
#[derive(Clone, Copy)]
struct NameReading {
    takes_last: bool,
    passes_over_case: bool,
}

const READINGS: [NameReading; 4] = [
    NameReading {
        takes_last: false,
        passes_over_case: false,
    },
    NameReading {
        takes_last: false,
        passes_over_case: true,
    },
    NameReading {
        takes_last: true,
        passes_over_case: false,
    },
    NameReading {
        takes_last: true,
        passes_over_case: true,
    },
];

impl NameReading {
    fn member<'t>(self, text: &'t str, name: &str) -> Option<&'t str> {
        let Members(all) = Members::read(text).ok()?;
        let is = |known: &str| known == name || self.passes_over_case && known.eq_ignore_ascii_case(name);
        let mut found = all
            .into_iter()
            .filter(|(known, _)| is(known))
            .map(|(_, value)| value.get());
        if self.takes_last {
            found.next_back()
        } else {
            found.next()
        }
    }

    fn text(self, object: &str, name: &str) -> Option<String> {
        serde_json::from_str(self.member(object, name)?).ok()
    }

    /// The path of each call that a server finds in a line, which may hold several for it.
    fn paths(self, line: &str) -> Vec<Option<String>> {
        let mut messages: Vec<&str> = line.split('\r').collect();
        messages.push(line);
        let batch: Vec<&RawValue> = serde_json::from_str(line).unwrap_or_default();
        messages.extend(batch.into_iter().map(RawValue::get));
        let is_call = |message: &&str| {
            let method = self.text(message, "method").unwrap_or_default();
            method.trim().eq_ignore_ascii_case("tools/call")
        };
        let calls = messages.into_iter().filter(is_call);
        calls
            .map(|call| self.text(self.member(self.member(call, "params")?, "arguments")?, "path"))
            .collect()
    }
}

/// Half of the time the first, which is the usual one.
fn usually<T: Clone + std::fmt::Debug + 'static>(choices: Vec<T>) -> impl Strategy<Value = T> {
    let usual = choices.first().cloned().into_iter().collect::<Vec<_>>();
    prop_oneof![prop::sample::select(usual), prop::sample::select(choices)]
}

/// Objects whose members are among these, in any order and number.
fn object(members: &'static [(&'static str, &'static str)]) -> impl Strategy<Value = String> {
    let member = prop::sample::select(members).prop_map(|(name, value)| format!("\"{name}\":{value}"));
    prop::collection::vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(",")))
}

fn arguments() -> impl Strategy<Value = String> {
    object(&[
        ("path", "\"a\""),
        ("path", "\"/etc/passwd\""),
        ("Path", "\"/etc/passwd\""),
        ("p\\u0061th", "\"/etc/passwd\""),
        ("other", "[1]"),
    ])
}

fn message() -> impl Strategy<Value = String> {
    let params = (
        arguments(),
        arguments(),
        usually(vec!["x", "name", "Name", "arguments", "Arguments"]),
    )
        .prop_map(|(one, other, name)| {
            let value = if name.eq_ignore_ascii_case("name") {
                "\"read\"".to_owned()
            } else {
                other
            };
            format!("{{\"name\":\"read\",\"arguments\":{one},\"{name}\":{value}}}")
        });
    let method = usually(vec![
        "tools/call",
        "Tools/call",
        "tools\\/call",
        " tools/call",
        "ping",
        "tools/list",
    ]);
    let names = usually(vec![
        ("method", "params"),
        ("Method", "params"),
        ("method", "PARAMS"),
        ("m\\u0065thod", "params"),
    ]);
    let part = (method, names, params)
        .prop_map(|(method, (name, params_name), params)| {
            format!("\"{name}\":\"{method}\",\"{params_name}\":{params}")
        })
        .boxed();
    let id = usually(vec![
        "\"id\":1,",
        "\"id\":\"1\",",
        "",
        "\"id\":null,",
        "\"id\":1,\"id\":2,",
    ]);
    let shape = usually(vec!["{}", "[{}]", "{\"x\":\r{}\r}", "{},", "{}{}"]);
    (
        prop_oneof![
            prop::collection::vec(part.clone(), 1),
            prop::collection::vec(part, 1..3)
        ],
        id,
        shape,
    )
        .prop_map(|(parts, id, shape)| {
            let message = format!("{{\"jsonrpc\":\"2.0\",{id}{}}}", parts.join(","));
            let inner = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\",\"params\":{}}}",
                shape.replacen("{}", &message, 1)
            );
            if shape.contains("\"x\"") {
                inner
            } else {
                shape.replace("{}", &message)
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn no_call_is_found_that_was_not_judged(messages in prop::collection::vec(message(), 1..4)) {
        let mut relay = relay();
        for message in messages {
            if let Delivery::ToServer(sent) = client(&mut relay, &message) {
                for reading in READINGS {
                    for path in reading.paths(&sent) {
                        prop_assert_eq!(path.as_deref(), Some("/work/a"), "{} is sent as {}", message, sent);
                    }
                }
            }
        }
    }
}

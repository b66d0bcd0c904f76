//! The names that requests of many clients have towards one program.
//!
//! A program that has answered one client serves the next, whose requests may have the same ids. So every request has a number
//! that no other has in this process, in place of its id and of its progress token, and what the program says is brought back
//! to the client whose number it names. A message that names no known number is dropped.

use std::sync::atomic::{AtomicU64, Ordering};

use callgate_jsontext::{Members, place_of, replace};
use serde_json::value::RawValue;

use crate::message::{Id, Message};
use crate::reply;

/// The number of the last request that a program was sent.
static LAST: AtomicU64 = AtomicU64::new(0);

/// The requests of one client that a program has.
#[derive(Default)]
pub(super) struct Names(Vec<Name>);

struct Name {
    number: String,
    /// The id that the client gave, as JSON, until it is answered.
    id: Option<String>,
    /// The token of its progress that the client gave, as JSON.
    token: Option<String>,
}

/// Where a message of a program goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Routed {
    ToClient(String),
    /// An answer to the program, which asks a client for something that this one cannot be asked for.
    Back(String),
    /// The program's tools have changed, which is said to no client.
    ToolsChanged,
    Nowhere,
}

impl Names {
    /// A request of the client as the program sees it; `None` for what is not a request.
    pub(super) fn outward(&mut self, text: String) -> Option<String> {
        let number = (LAST.fetch_add(1, Ordering::Relaxed) + 1).to_string();
        let Ok(Message::Request(request)) = Message::read(&text) else {
            return None;
        };
        let id = request.members.get("id")?;
        let token = meta_of(&request.members).and_then(|meta| meta.get("progressToken"));
        let mut places = vec![place_of(&text, id.get())?];
        places.extend(token.and_then(|token| place_of(&text, token.get())));
        self.0.push(Name {
            number: number.clone(),
            id: Some(id.get().to_owned()),
            token: token.map(|token| token.get().to_owned()),
        });
        let values = places.into_iter().map(|place| (place, &*number)).collect();
        replace(&text, values)
    }

    /// Passes a message of the program on, or tells by `warn` that it is not.
    pub(super) fn inward(&mut self, text: String, warn: impl Fn(&str)) -> Routed {
        let Ok(message) = Message::read(&text) else {
            warn("the server sent what is not a message; it is not passed on");
            return Routed::Nowhere;
        };
        match message {
            Message::Response { id: None, .. } => {
                warn("the server answered a message without an id; it is not passed on");
                Routed::Nowhere
            }
            Message::Response {
                id: Some(id),
                members,
            } => {
                let value = members.get("id");
                match self.named(&id).and_then(|name| name.id.take()) {
                    Some(given) => put(&text, value, &given),
                    None => {
                        warn(&format!(
                            "the server answered {}, which does not wait for an answer; it is not passed on",
                            id.json
                        ));
                        Routed::Nowhere
                    }
                }
            }
            Message::Notification { method, members } if method == "notifications/progress" => {
                let params = object(members.get("params"));
                let value = params.and_then(|params| params.get("progressToken"));
                let id = value.and_then(|value| Id::read(value).ok());
                match id.and_then(|id| self.named(&id)?.token.clone()) {
                    Some(given) => put(&text, value, &given),
                    None => {
                        warn(
                            "the server told of the progress of a request that it has not now; it is not passed on",
                        );
                        Routed::Nowhere
                    }
                }
            }
            Message::Notification { method, .. } if method == "notifications/tools/list_changed" => {
                Routed::ToolsChanged
            }
            Message::Notification { method, .. } => {
                warn(&format!(
                    "the server sent `{method}`, which does not say whom it is for; it is not passed on"
                ));
                Routed::Nowhere
            }
            Message::Request(request) => Routed::Back(refused(&request.id, &request.method, warn)),
        }
    }

    fn named(&mut self, id: &Id) -> Option<&mut Name> {
        self.0.iter_mut().find(|name| name.number == id.text)
    }
}

/// The answer to a program that asks its client for something: a client of the modern era takes no requests.
pub(super) fn refused(id: &Id, method: &str, warn: impl Fn(&str)) -> String {
    warn(&format!(
        "the server sent the request `{method}`, which revision 2026-07-28 does not have; it is not passed on"
    ));
    let reason = format!("the client cannot be sent `{method}`: it speaks revision 2026-07-28");
    reply::error(Some(&id.json), reply::METHOD_NOT_FOUND, &reason)
}

/// Returns `true` if a request has the server speak beside its answer, without saying for which request it does.
pub(super) fn wants_messages(text: &str) -> bool {
    let Ok(Message::Request(request)) = Message::read(text) else {
        return false;
    };
    let meta = meta_of(&request.members);
    let level = meta.and_then(|meta| meta.get("io.modelcontextprotocol/logLevel"));
    request.method == "subscriptions/listen" || level.is_some()
}

fn put(text: &str, value: Option<&RawValue>, given: &str) -> Routed {
    let place = value.and_then(|value| place_of(text, value.get()));
    let put = place.and_then(|place| replace(text, vec![(place, given)]));
    put.map_or(Routed::Nowhere, Routed::ToClient)
}

fn meta_of<'m>(message: &Members<'m>) -> Option<Members<'m>> {
    object(object(message.get("params"))?.get("_meta"))
}

fn object(value: Option<&RawValue>) -> Option<Members<'_>> {
    serde_json::from_str(value?.get()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const REQUEST: &str = r#"{"jsonrpc":"2.0", "params":{"name":"a","_meta":{"x":1e0, "progressToken": "p"}},"id": 1,"method":"tools/call"}"#;

    fn sent(names: &mut Names) -> Value {
        let sent = names.outward(REQUEST.to_owned()).unwrap();
        assert!(sent.contains("1e0"), "{sent}");
        serde_json::from_str(&sent).unwrap()
    }

    fn said(names: &mut Names, message: &Value) -> Option<Value> {
        match names.inward(message.to_string(), |_| {}) {
            Routed::ToClient(text) => Some(serde_json::from_str(&text).unwrap()),
            Routed::Back(_) | Routed::ToolsChanged | Routed::Nowhere => None,
        }
    }

    #[test]
    fn two_clients_with_one_id_have_two_numbers() {
        let (mut one, mut other) = (Names::default(), Names::default());
        let (first, second) = (sent(&mut one), sent(&mut other));
        assert_ne!(first["id"], second["id"]);
        assert_eq!(first["id"], first["params"]["_meta"]["progressToken"]);
        let answer = |to: &Value| json!({"jsonrpc": "2.0", "id": to["id"], "result": {}});
        // The first client's answer comes again, once the program serves the second.
        assert_eq!(said(&mut other, &answer(&first)), None);
        let got = said(&mut other, &answer(&second)).unwrap();
        assert_eq!(got["id"], 1);
        assert_eq!(said(&mut other, &answer(&second)), None);
    }

    #[test]
    fn progress_goes_to_whose_call_it_is() {
        let (mut one, mut other) = (Names::default(), Names::default());
        let (first, second) = (sent(&mut one), sent(&mut other));
        let progress = |of: &Value| {
            json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": of, "progress": 1}})
        };
        assert_eq!(said(&mut other, &progress(&first["id"])), None);
        assert_eq!(said(&mut other, &progress(&json!("p"))), None);
        let got = said(&mut other, &progress(&second["id"])).unwrap();
        assert_eq!(got["params"], json!({"progressToken": "p", "progress": 1}));
    }

    #[test]
    fn what_names_no_request_is_nobodys() {
        let mut names = Names::default();
        sent(&mut names);
        for nobodys in [
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "secret"}}),
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "secret"}}),
            json!({"jsonrpc": "2.0", "id": "p", "result": {}}),
            json!({"jsonrpc": "1.0"}),
        ] {
            let said = names.inward(nobodys.to_string(), |_| {});
            assert_eq!(said, Routed::Nowhere, "{nobodys}");
        }
        let asks = json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create"});
        let Routed::Back(refused) = names.inward(asks.to_string(), |_| {}) else {
            panic!("an answer");
        };
        assert!(refused.contains(r#""id":7,"error":{"code":-32601"#), "{refused}");
    }

    #[test]
    fn some_requests_have_the_server_speak_beside_its_answer() {
        assert!(!wants_messages(REQUEST));
        for wants in [
            REQUEST.replace("tools/call", "subscriptions/listen"),
            REQUEST.replace("\"x\"", "\"io.modelcontextprotocol/logLevel\""),
        ] {
            assert!(wants_messages(&wants), "{wants}");
        }
    }
}

//! Which revisions of the protocol the client and the server speak, and what is said where they have none in common.
//!
//! To revision 2025-11-25 a connection begins with `initialize`; from revision 2026-07-28 each request says its revision.
//! The guard passes both on and translates neither. Who has no revision in common would learn it from an error that names
//! neither, or never, so the guard says it:
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>.

use std::time::Duration;

use callgate_host::Instant;
use callgate_jsontext::Members;
use serde_json::value::RawValue;

use super::{Delivery, Relay};
use crate::message::{Id, Request, text_of};
use crate::method::Kind;
use crate::reply::{self, revision_of};
use crate::revisions::{Revisions, only_handshake, only_modern};
use crate::tools::write_with;

/// The codes of errors that only servers of the modern era give.
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes>
const UNSUPPORTED_VERSION: i64 = -32022;
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, UNSUPPORTED_VERSION];
const METHOD_NOT_FOUND: i64 = -32601;

/// How long a server may take to say which revisions it speaks, before its error is passed on as it is.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many requests are remembered until the server's era is known.
const OPENINGS: usize = 64;

/// A request whose answer shows the server's era, and the client's revision.
pub(super) enum Opening {
    Initialize(String),
    Discover(String),
    /// Any other request of the modern era.
    Modern(String),
    /// The guard's own question, with the answer that waits for it.
    Probe(Box<PendingError>),
}

/// An error of the server that may mean that it is of the other era.
pub(super) struct PendingError {
    pub(super) id: Id,
    pub(super) line: String,
    revision: String,
    deadline: Instant,
}

impl Relay {
    /// Notes a request that shows the client's era. Gives the answer if the server cannot know such a request.
    pub(super) fn opens(&mut self, request: &Request<'_>) -> Option<Delivery> {
        if self.is_proxied {
            return None;
        }
        let params = request.members.get("params");
        if request.method == "initialize" {
            let revision = member(params, "protocolVersion").unwrap_or_default();
            self.open(&request.id, Opening::Initialize(revision));
            return None;
        }
        let known = self.guard.revisions();
        let is_discover = request.method == "server/discover";
        if self.has_begun || (matches!(known, Revisions::Modern(_)) && !is_discover) {
            return None;
        }
        let revision = revision_of(params)?;
        if is_discover {
            self.open(&request.id, Opening::Discover(revision));
            return None;
        }
        if known == Revisions::Handshake {
            let reason = only_handshake(&revision);
            return Some(self.refuse(Some(&request.id.json), reply::INVALID_REQUEST, &reason));
        }
        if self.openings.len() < OPENINGS {
            self.open(&request.id, Opening::Modern(revision));
        }
        None
    }

    fn open(&mut self, id: &Id, opening: Opening) {
        self.openings.insert(id.text.clone(), opening);
    }

    /// Learns from the server's answer to a request that shows its era. Gives what takes the answer's place, if anything does.
    pub(super) fn reveals(&mut self, id: &Id, answer: &Members<'_>, line: &str) -> Option<Delivery> {
        let opening = self.openings.remove(&id.text)?;
        let error = AnswerError::of(answer);
        match (opening, error) {
            (Opening::Initialize(_), None) => {
                self.has_begun = true;
                self.announced(answer)
            }
            (Opening::Initialize(revision), Some(error))
                if error.is_modern() || error.is_unknown_method() =>
            {
                let known = match self.guard.revisions() {
                    Revisions::Modern(known) => known,
                    Revisions::Unknown | Revisions::Handshake => Vec::new(),
                };
                let supported = error.supported().unwrap_or(known);
                let reason = only_modern(&revision, &supported);
                self.guard.warn(&reason);
                Some(Delivery::ToClient(error.rewritten(answer, &reason)))
            }
            (Opening::Discover(revision), Some(error)) if !error.is_modern() => {
                self.guard.learn(Revisions::Handshake);
                let reason = only_handshake(&revision);
                Some(Delivery::ToClient(error.rewritten(answer, &reason)))
            }
            (Opening::Discover(_), error) => {
                self.guard
                    .learn(Revisions::Modern(supported(answer, error.as_ref())));
                None
            }
            (Opening::Modern(_), Some(error)) if error.is_modern() => {
                self.guard
                    .learn(Revisions::Modern(supported(answer, Some(&error))));
                None
            }
            (Opening::Modern(revision), Some(_)) if self.guard.revisions() == Revisions::Unknown => {
                Some(self.probe(id, line.to_owned(), revision))
            }
            (Opening::Probe(held), error) => Some(Delivery::ToClient(self.probed(*held, answer, error))),
            (Opening::Initialize(_) | Opening::Modern(_), _) => None,
        }
    }

    /// Asks the server which revisions it speaks, before an error of its own is passed on.
    fn probe(&mut self, id: &Id, line: String, revision: String) -> Delivery {
        let own = self.own_id();
        let params = serde_json::json!({"_meta": reply::own_meta(&revision)});
        let probe = reply::request(&own, "server/discover", &params);
        self.wait(&own, Kind::Other, None);
        let id = id.clone();
        self.open(
            &own,
            Opening::Probe(Box::new(PendingError {
                id,
                line,
                revision,
                deadline: Instant::now() + PATIENCE,
            })),
        );
        Delivery::ToServer(probe)
    }

    fn probed(&self, held: PendingError, answer: &Members<'_>, error: Option<AnswerError<'_>>) -> String {
        match error {
            Some(error) if !error.is_modern() => {
                self.guard.learn(Revisions::Handshake);
                let reason = only_handshake(&held.revision);
                self.guard.warn(&reason);
                reply::error(Some(&held.id.json), reply::INVALID_REQUEST, &reason)
            }
            error => {
                self.guard
                    .learn(Revisions::Modern(supported(answer, error.as_ref())));
                held.line
            }
        }
    }

    /// The answers that wait for the server to say what it is, once it will not.
    pub(super) fn held(&mut self) -> Vec<String> {
        self.release_errors(|_| true)
    }

    /// Those for which it has taken too long.
    pub(super) fn late_errors(&mut self) -> Vec<Delivery> {
        let now = Instant::now();
        let late = self.release_errors(|held| now >= held.deadline);
        late.into_iter().map(Delivery::ToClient).collect()
    }

    fn release_errors(&mut self, is_due: impl Fn(&PendingError) -> bool) -> Vec<String> {
        let is_due = |opening: &Opening| matches!(opening, Opening::Probe(held) if is_due(held));
        let due = self.openings.iter().filter(|(_, opening)| is_due(opening));
        let due: Vec<String> = due.map(|(text, _)| text.clone()).collect();
        let mut lines = Vec::with_capacity(due.len());
        for text in due {
            self.waiting.remove(&text);
            if let Some(Opening::Probe(held)) = self.openings.remove(&text) {
                lines.push(held.line);
            }
        }
        lines
    }
}

/// The error of an answer.
struct AnswerError<'m> {
    members: Members<'m>,
    code: i64,
}

impl<'m> AnswerError<'m> {
    fn of(answer: &Members<'m>) -> Option<Self> {
        let members: Members<'m> = serde_json::from_str(answer.get("error")?.get()).ok()?;
        let code = members.get("code")?.get().parse().ok()?;
        Some(Self { members, code })
    }

    fn is_modern(&self) -> bool {
        MODERN_ERRORS.contains(&self.code)
    }

    fn is_unknown_method(&self) -> bool {
        self.code == METHOD_NOT_FOUND
    }

    fn supported(&self) -> Option<Vec<String>> {
        let data: Members<'_> = serde_json::from_str(self.members.get("data")?.get()).ok()?;
        serde_json::from_str(data.get("supported")?.get()).ok()
    }

    /// The answer with the same code, and a message that says what it means.
    fn rewritten(&self, answer: &Members<'_>, reason: &str) -> String {
        let message = text_of(self.members.get("message")).unwrap_or_default();
        let message = match message.is_empty() {
            true => reason.to_owned(),
            false => format!("{reason} (the server says: {message})"),
        };
        let message = serde_json::Value::String(message).to_string();
        let error = match self.members.get("message") {
            Some(_) => write_with(&self.members, "message", &message),
            None => format!(r#"{{"code":{},"message":{message}}}"#, self.code),
        };
        write_with(answer, "error", &error)
    }
}

/// The revisions that a server of the modern era names, in its answer to `server/discover` or its refusal.
fn supported(answer: &Members<'_>, error: Option<&AnswerError<'_>>) -> Vec<String> {
    if let Some(error) = error {
        return error.supported().unwrap_or_default();
    }
    let result = answer.get("result").map(RawValue::get).unwrap_or_default();
    let result: Option<Members<'_>> = serde_json::from_str(result).ok();
    let versions = result.and_then(|result| result.get("supportedVersions"));
    versions
        .and_then(|versions| serde_json::from_str(versions.get()).ok())
        .unwrap_or_default()
}

fn member(object: Option<&RawValue>, name: &str) -> Option<String> {
    let members: Members<'_> = serde_json::from_str(object?.get()).ok()?;
    text_of(members.get(name))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{client, relay, to_client};
    use super::*;

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

    fn request(id: u32, method: &str, params: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
    }

    fn error(id: &str, code: i32, data: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"No"{data}}}}}"#)
    }

    fn initialize() -> String {
        request(1, "initialize", r#""protocolVersion":"2025-06-18""#)
    }

    #[track_caller]
    fn names(message: &serde_json::Value, revisions: [&str; 2]) {
        let text = message["error"]["message"].as_str().unwrap();
        for revision in revisions {
            assert!(text.contains(revision), "{text}");
        }
    }

    #[test]
    fn a_client_that_begins_with_a_handshake_learns_that_the_server_does_not() {
        for (code, data, named) in [
            (-32601, "", "2026-07-28"),
            (-32022, r#","data":{"supported":["2027-01-01"]}"#, "2027-01-01"),
            (-32020, "", "2026-07-28"),
        ] {
            let mut relay = relay();
            assert_eq!(
                client(&mut relay, &initialize()),
                Delivery::ToServer(initialize())
            );
            let answer = to_client(relay.server_sent(error("1", code, data)));
            assert_eq!(answer["error"]["code"], code);
            names(&answer, ["`2025-06-18`", named]);
        }
        // Any other error is the server's own.
        let mut relay = relay();
        client(&mut relay, &initialize());
        let own = error("1", -32602, "");
        assert_eq!(relay.server_sent(own.clone()), Delivery::ToClient(own));
    }

    #[test]
    fn a_probe_that_fails_keeps_its_code_so_that_the_client_can_begin_otherwise() {
        let mut relay = relay();
        let discover = request(1, "server/discover", META);
        client(&mut relay, &discover);
        let answer = to_client(relay.server_sent(error("1", -32601, "")));
        assert_eq!(answer["error"]["code"], -32601);
        names(&answer, ["`2026-07-28`", "2025-11-25"]);
        // Later messages of the same era are not sent any more, and `initialize` is.
        let refused = to_client(client(&mut relay, &request(2, "tools/list", META)));
        names(&refused, ["`2026-07-28`", "2025-11-25"]);
        assert_eq!(
            client(&mut relay, &initialize()),
            Delivery::ToServer(initialize())
        );
        let welcome = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}"#.to_owned();
        assert_eq!(relay.server_sent(welcome.clone()), Delivery::ToClient(welcome));
        let list = request(2, "tools/list", META);
        assert_eq!(client(&mut relay, &list), Delivery::ToServer(list));
    }

    #[test]
    fn a_request_that_is_taken_back_shows_nothing() {
        let mut relay = relay();
        let cancel = |relay: &mut Relay, id: &str| {
            let cancelled = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            );
            client(relay, &cancelled)
        };
        for (id, method) in [(1, "server/discover"), (2, "tools/list"), (3, "initialize")] {
            client(&mut relay, &request(id, method, META));
            assert_eq!(relay.openings.len(), 1);
            assert!(matches!(
                cancel(&mut relay, &id.to_string()),
                Delivery::ToServer(_)
            ));
            assert_eq!(relay.openings.len(), 0, "{method}");
        }
        // A client cannot cancel the guard's own questions.
        client(&mut relay, &request(4, "ping", META));
        let Delivery::ToServer(probe) = relay.server_sent(error("4", -32601, "")) else {
            panic!()
        };
        let probe: serde_json::Value = serde_json::from_str(&probe).unwrap();
        assert_eq!(cancel(&mut relay, &probe["id"].to_string()), Delivery::Nowhere);
        assert!(matches!(
            relay.server_sent(error(&probe["id"].to_string(), -32601, "")),
            Delivery::ToClient(_)
        ));
    }

    #[test]
    fn an_error_without_a_probe_is_looked_into() {
        for (answer, is_legacy) in [
            (error("ID", -32601, ""), true),
            (error("ID", -32000, ""), true),
            (
                error("ID", -32022, r#","data":{"supported":["2026-07-28"]}"#),
                false,
            ),
            (
                r#"{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":["2026-07-28"]}}"#.to_owned(),
                false,
            ),
        ] {
            let mut relay = relay();
            let list = request(7, "tools/list", META);
            client(&mut relay, &list);
            let own = error("7", -32602, "");
            let Delivery::ToServer(probe) = relay.server_sent(own.clone()) else {
                panic!("a question");
            };
            let probe: serde_json::Value = serde_json::from_str(&probe).unwrap();
            assert_eq!(probe["method"], "server/discover");
            let step = relay.server_sent(answer.replace("ID", &probe["id"].to_string()));
            if is_legacy {
                let refused = to_client(step);
                assert_eq!(refused["id"], 7);
                names(&refused, ["`2026-07-28`", "2025-11-25"]);
            } else {
                assert_eq!(step, Delivery::ToClient(own));
            }
        }
        // The server is gone before it says what it is.
        let mut relay = relay();
        client(&mut relay, &request(7, "tools/list", META));
        let own = error("7", -32602, "");
        relay.server_sent(own.clone());
        assert_eq!(relay.server_left(), [own]);
    }

    #[test]
    fn an_error_waits_no_longer_than_the_server_may_take_to_say_what_it_is() {
        let mut relay = relay();
        client(&mut relay, &request(7, "tools/list", META));
        let own = error("7", -32602, "");
        relay.server_sent(own.clone());
        assert_eq!(relay.by_itself(), []);
        for opening in relay.openings.values_mut() {
            if let Opening::Probe(held) = opening {
                held.deadline = Instant::now();
            }
        }
        assert_eq!(relay.by_itself(), [Delivery::ToClient(own)]);
        assert!(relay.waiting.is_empty() && relay.openings.is_empty());
    }
}

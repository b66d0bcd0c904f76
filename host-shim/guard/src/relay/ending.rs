//! The end of a client's calls: those that the server has may still be answered, and no other is sent.

use super::{Delivery, Outcome, Relay, Waiting, reply};

/// Said of calls that have not been sent when the guard is told to stop, or its client leaves.
const STOPPED: &str = "The guard is stopping, so the call was not sent";
const SERVER_LEFT: &str = "The server has ended, so the call was not sent";

impl Relay {
    /// From now on no call is sent. Those that wait for a person or for the list of tools are denied, each with its line in the
    /// log; gives what the client is told.
    pub(crate) fn stop(&mut self) -> Vec<String> {
        self.stop_because(STOPPED)
    }

    fn stop_because(&mut self, reason: &'static str) -> Vec<String> {
        self.stopped.get_or_insert(reason);
        let steps = self.end_questions().into_iter().chain(self.end_listing());
        let told = steps.filter_map(|step| match step {
            Delivery::ToClient(text) => Some(text),
            // They are denied, so none is sent.
            Delivery::ToServer(_) | Delivery::Refused(_) | Delivery::Nowhere => None,
        });
        told.collect()
    }

    /// The server is gone: everything that waits is answered.
    pub(crate) fn server_left(&mut self) -> Vec<String> {
        let mut answers = self.held();
        answers.extend(self.stop_because(SERVER_LEFT));
        let waiting = std::mem::take(&mut self.waiting);
        answers.extend(
            waiting
                .into_values()
                .map(|waiting| self.unanswered(&waiting, "the server ended before it answered")),
        );
        answers
    }

    pub(super) fn unanswered(&self, waiting: &Waiting, reason: &str) -> String {
        if waiting.call.is_some() {
            self.outcome(waiting, (Outcome::NoAnswer, None));
        }
        reply::error(Some(&waiting.id.json), reply::INTERNAL_ERROR, reason)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::super::tests::{call, client, relay_with, to_client};
    use super::*;
    use crate::{Asking, GuardOptions, Lock, Queue};

    fn with_log(folder: &Path, more: impl FnOnce(&mut GuardOptions)) -> Relay {
        relay_with(|options| {
            options.audit = Some(folder.join("log"));
            more(options);
        })
    }

    fn asking(folder: &Path) -> (Relay, Queue) {
        let queue = Queue::open(folder.join("state")).unwrap();
        let relay = with_log(folder, |options| {
            options.asking = Some(Asking {
                queue: queue.clone(),
                patience: Duration::from_secs(600),
                forms: true,
                command: None,
            });
        });
        (relay, queue)
    }

    fn reading(id: u32, path: &str) -> String {
        let params = json!({"name": "read", "arguments": {"path": path}});
        call(&id.to_string(), &params.to_string())
    }

    fn ids_and_rules(answers: &[String]) -> Vec<(u64, String)> {
        let read = answers.iter().map(|text| {
            let answer: Value = serde_json::from_str(text).unwrap();
            let rule = answer["result"]["_meta"]["callgate/rule"].as_str();
            (
                answer["id"].as_u64().unwrap(),
                rule.unwrap_or_default().to_owned(),
            )
        });
        read.collect()
    }

    /// The decision and the rule of each line about one.
    fn decisions(folder: &Path) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(folder.join("log")).unwrap();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let decided = lines.filter(|line| line["kind"] == "decision");
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        decided
            .map(|line| (word(&line["decision"]), word(&line["rule"])))
            .collect()
    }

    fn pair(decision: &str, rule: &str) -> (String, String) {
        (decision.to_owned(), rule.to_owned())
    }

    #[test]
    fn a_call_that_waits_for_a_person_is_denied() {
        let folder = tempfile::tempdir().unwrap();
        let (mut relay, queue) = asking(folder.path());
        assert_eq!(client(&mut relay, &reading(1, "/docs/a")), Delivery::Nowhere);
        assert!(matches!(
            client(&mut relay, &reading(2, "a")),
            Delivery::ToServer(_)
        ));
        assert_eq!(
            ids_and_rules(&relay.stop()),
            [(1, "structural-stopped".to_owned())]
        );
        assert_eq!(queue.questions().unwrap(), []);
        // What the server has may still end, and nothing new begins.
        assert_eq!(relay.calls_in_flight(), 1);
        let late = to_client(client(&mut relay, &reading(3, "b")));
        assert_eq!(late["result"]["_meta"]["callgate/rule"], "structural-stopped");
        let answer = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#.to_owned();
        assert_eq!(relay.server_sent(answer.clone()), Delivery::ToClient(answer));
        assert_eq!(relay.server_left(), [""; 0]);
        let expected = [
            pair("escalate", "ask"),
            pair("allow", "structural-sandbox-allow"),
            pair("deny", "structural-stopped"),
            pair("deny", "structural-stopped"),
        ];
        assert_eq!(decisions(folder.path()), expected);
    }

    #[test]
    fn so_is_one_whose_server_ends() {
        let folder = tempfile::tempdir().unwrap();
        let (mut relay, _) = asking(folder.path());
        client(&mut relay, &reading(1, "/docs/a"));
        let answers = relay.server_left();
        assert_eq!(ids_and_rules(&answers), [(1, "structural-stopped".to_owned())]);
        assert!(
            answers.iter().all(|answer| answer.contains(SERVER_LEFT)),
            "{answers:?}"
        );
    }

    #[test]
    fn so_is_one_that_waits_for_the_list_of_tools() {
        let folder = tempfile::tempdir().unwrap();
        let mut lock = Lock::default();
        lock.accept("files", &[json!({"name": "read"})]).unwrap();
        let mut relay = with_log(folder.path(), |options| options.pins = Some(lock.pins("files")));
        for id in [1, 2] {
            client(&mut relay, &reading(id, "a"));
        }
        let rule = || "structural-stopped".to_owned();
        assert_eq!(ids_and_rules(&relay.stop()), [(1, rule()), (2, rule())]);
        // It does not wait either.
        let late = to_client(client(&mut relay, &reading(3, "a")));
        assert_eq!(late["result"]["_meta"]["callgate/rule"], "structural-stopped");
        assert_eq!(
            decisions(folder.path()),
            vec![pair("deny", "structural-stopped"); 3]
        );
    }

    #[test]
    fn an_answer_that_waits_for_the_servers_era_is_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let mut relay = with_log(folder.path(), |_| ());
        let params = json!({"name": "read", "arguments": {"path": "a"},
            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
        client(&mut relay, &call("1", &params.to_string()));
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}"#.to_owned();
        assert!(matches!(relay.server_sent(error.clone()), Delivery::ToServer(_)));
        assert_eq!(relay.stop(), [""; 0]);
        assert_eq!(relay.server_left(), [error]);
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(log.contains(r#""outcome":"error""#), "{log}");
    }
}

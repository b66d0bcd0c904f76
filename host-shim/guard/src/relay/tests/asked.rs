//! Calls that a person is asked about.

use std::path::Path;
use std::time::Duration;

use callgate_engine::config::DocumentKind;
use serde_json::json;

use super::{ANNOTATIONS, call, client, refused, relay_with, to_client};
use crate::relay::*;
use crate::{Answer, Answerer, Asking, Question, Queue};
use callgate_host::{EngineKind, Gate, Machine, VirtualHost};

/// A relay that asks, and the questions' folder.
fn asking(folder: &Path, seconds: u64) -> (Relay, Queue) {
    let queue = Queue::open(folder.join("state")).unwrap();
    let relay = relay_with(|options| {
        options.asking = Some(Asking {
            queue: queue.clone(),
            patience: Duration::from_secs(seconds),
            forms: true,
            command: None,
        });
    });
    (relay, queue)
}

fn reading(id: u32, path: &str) -> String {
    call(
        &id.to_string(),
        &format!(r#"{{"name":"read","arguments":{{"path":"{path}"}}}}"#),
    )
}

/// The only question.
fn question(queue: &Queue) -> Question {
    let mut questions = queue.questions().unwrap();
    assert_eq!(questions.len(), 1, "{questions:?}");
    questions.remove(0)
}

#[test]
fn a_call_that_a_person_allows_is_sent_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path(), 600);
    assert_eq!(client(&mut relay, &reading(1, "/docs/./a")), Delivery::Nowhere);
    let asked = question(&queue);
    assert_eq!(
        (&*asked.server, &*asked.tool, &*asked.rule),
        ("files", "read", "ask")
    );
    assert_eq!(asked.values[0]["canonical"], "/docs/a");
    assert_eq!(relay.settled(), []);
    // The server has not seen the call, so it has no answer to it.
    let early = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(relay.server_sent(early.to_owned()), Delivery::Nowhere);
    refused(client(&mut relay, &reading(1, "b")), &json!(1), "the id 1");
    assert!(queue.answer(&asked.id, Answer::Once, Answerer::Terminal).unwrap());
    assert_eq!(relay.settled(), [Delivery::ToServer(reading(1, "/docs/a"))]);
    assert_eq!(queue.questions().unwrap(), []);
    assert_eq!(
        relay.server_sent(early.to_owned()),
        Delivery::ToClient(early.to_owned())
    );
    // Nothing was approved beyond it.
    assert_eq!(client(&mut relay, &reading(2, "/docs/a")), Delivery::Nowhere);
}

#[test]
fn what_is_approved_for_longer_is_not_asked_again() {
    for (answer, lasts) in [(Answer::Session, false), (Answer::Always, true)] {
        let folder = tempfile::tempdir().unwrap();
        let (mut relay, queue) = asking(folder.path(), 600);
        client(&mut relay, &reading(1, "/docs/a"));
        assert!(
            queue
                .answer(&question(&queue).id, answer, Answerer::Terminal)
                .unwrap()
        );
        assert_eq!(relay.settled(), [Delivery::ToServer(reading(1, "/docs/a"))]);
        assert!(matches!(
            client(&mut relay, &reading(2, "/docs/b")),
            Delivery::ToServer(_)
        ));
        assert_eq!(queue.approvals().unwrap().list().len(), usize::from(lasts));
        let (mut later, _) = asking(folder.path(), 600);
        let step = client(&mut later, &reading(1, "/docs/c"));
        assert_eq!(matches!(step, Delivery::ToServer(_)), lasts, "{answer:?}");
    }
}

#[test]
fn what_is_approved_for_a_session_is_that_clients_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path(), 600);
    client(&mut relay, &reading(1, "/docs/a"));
    let id = question(&queue).id;
    assert!(queue.answer(&id, Answer::Session, Answerer::Terminal).unwrap());
    assert_eq!(relay.settled(), [Delivery::ToServer(reading(1, "/docs/a"))]);
    // Another client of the same guard is asked about.
    let mut other = Relay::new(Arc::clone(&relay.guard));
    assert_eq!(client(&mut other, &reading(1, "/docs/a")), Delivery::Nowhere);
    let asked = question(&queue);
    assert!(asked.has_session);
    assert!(queue.answer(&asked.id, Answer::Deny, Answerer::Terminal).unwrap());
    other.settled();
    assert!(matches!(
        client(&mut relay, &reading(2, "/docs/b")),
        Delivery::ToServer(_)
    ));
}

#[test]
fn a_request_without_a_session_has_no_approval_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let (relay, queue) = asking(folder.path(), 600);
    let mut alone = Relay::of_request(Arc::clone(&relay.guard), relay.guard.unlisted());
    client(&mut alone, &reading(1, "/docs/a"));
    let asked = question(&queue);
    assert!(!asked.has_session);
    assert!(
        queue
            .answer(&asked.id, Answer::Session, Answerer::Terminal)
            .is_err()
    );
    assert!(queue.waits(&asked.id));
    assert!(queue.answer(&asked.id, Answer::Once, Answerer::Terminal).unwrap());
    assert_eq!(alone.settled(), [Delivery::ToServer(reading(1, "/docs/a"))]);
}

#[test]
fn a_person_sees_the_arguments_that_no_role_says_anything_about() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path(), 600);
    let run = r#"{"name":"run","arguments":{"command":"rm -rf /\r\u202e"}}"#;
    assert_eq!(client(&mut relay, &call("1", run)), Delivery::Nowhere);
    let asked = question(&queue);
    assert_eq!(asked.touched(), [r"/command: rm -rf /\r\u{202e}"]);
}

#[test]
fn nobody_is_asked_about_what_cannot_be_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path(), 600);
    let paths: Vec<String> = (0..10_001).map(|at| format!("/docs/{at}")).collect();
    let params = json!({"name": "read-all", "arguments": {"paths": paths}});
    let answer = to_client(client(&mut relay, &call("1", &params.to_string())));
    assert_eq!(answer["result"]["_meta"]["callgate/rule"], "ask");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("more values than a person can be shown"), "{text}");
    assert_eq!(queue.questions().unwrap(), []);
}

#[test]
fn a_call_that_nobody_allows_is_denied() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path(), 600);
    client(&mut relay, &reading(1, "/docs/a"));
    assert!(!queue.answer("no-such", Answer::Once, Answerer::Terminal).unwrap());
    assert!(
        queue
            .answer(&question(&queue).id, Answer::Deny, Answerer::Terminal)
            .unwrap()
    );
    let rule = |steps: Vec<Delivery>| {
        let [step] = <[Delivery; 1]>::try_from(steps).unwrap();
        to_client(step)["result"]["_meta"]["callgate/rule"].clone()
    };
    assert_eq!(rule(relay.settled()), "structural-approval");
    // Nobody answers in time, and then it is too late.
    let (mut relay, queue) = asking(folder.path(), 0);
    client(&mut relay, &reading(1, "/docs/a"));
    assert_eq!(queue.questions().unwrap(), []);
    assert_eq!(rule(relay.settled()), "structural-approval");
    assert!(relay.waiting.is_empty());
}

#[test]
fn what_changes_while_a_person_thinks_is_judged_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path(), 600);
    client(&mut relay, &reading(1, "/docs/a"));
    let machine = Machine::new("/home/u", "/work");
    let gate = Gate::builder()
        .engine(EngineKind::Native)
        .part(DocumentKind::Policy, r#"{"rules": []}"#)
        .part(DocumentKind::Annotations, ANNOTATIONS)
        .host(Arc::new(VirtualHost::new(machine).unwrap()))
        .build()
        .unwrap();
    relay.guard.reload(gate, None).unwrap();
    assert!(
        queue
            .answer(&question(&queue).id, Answer::Once, Answerer::Terminal)
            .unwrap()
    );
    let [step] = <[Delivery; 1]>::try_from(relay.settled()).unwrap();
    assert_eq!(
        to_client(step)["result"]["_meta"]["callgate/rule"],
        "default-deny"
    );
}

#[test]
fn a_cancelled_call_is_not_asked_about_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path(), 600);
    client(&mut relay, &reading(1, "/docs/a"));
    let cancel = |id: u32| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    assert_eq!(client(&mut relay, &cancel(1)), Delivery::Nowhere);
    assert_eq!(queue.questions().unwrap(), []);
    assert_eq!(relay.settled(), []);
    assert_eq!(client(&mut relay, &cancel(2)), Delivery::ToServer(cancel(2)));
}

#[test]
fn a_folder_that_others_may_write_to_is_no_queue() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    std::fs::create_dir(&state).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(Queue::open(&state).is_err());
}

#[test]
fn the_calls_of_one_client_that_wait_are_no_burden_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path(), 600);
    let params = json!({"name": "read", "arguments": {"path": "/docs/a"}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}});
    let ask = |relay: &mut Relay, id: usize| {
        let answer = to_client(client(relay, &call(&id.to_string(), &params.to_string())));
        answer["result"]["resultType"].clone()
    };
    for id in 0..64 {
        assert_eq!(ask(&mut relay, id), "input_required", "{id}");
    }
    assert_eq!(ask(&mut relay, 64), "complete");
    let mut other = Relay::new(Arc::clone(&relay.guard));
    assert_eq!(ask(&mut other, 0), "input_required");
    assert_eq!(queue.questions().unwrap().len(), 65);
}

#[test]
fn an_approval_is_of_the_tool_as_it_was_accepted() {
    let tool = |description: &str| json!({"name": "read", "description": description});
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let listed = |step: Option<&Delivery>, description: &str| {
        let Some(Delivery::ToServer(text)) = step else {
            panic!("{step:?}")
        };
        let asked: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(asked["method"], "tools/list");
        json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": [tool(description)]}}).to_string()
    };
    for (answer, description, passes) in [
        (Answer::Once, "Reads", true),
        (Answer::Once, "Writes", false),
        (Answer::Session, "Writes", false),
        (Answer::Always, "Writes", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let queue = Queue::open(folder.path().join("state")).unwrap();
        let mut lock = crate::Lock::default();
        lock.accept("files", &[tool("Reads")]).unwrap();
        let mut relay = relay_with(|options| {
            options.pins = Some(lock.pins("files"));
            options.asking = Some(Asking {
                queue: queue.clone(),
                patience: Duration::from_secs(600),
                forms: true,
                command: None,
            });
        });
        let step = client(&mut relay, &reading(1, "/docs/a"));
        relay.server_sent(listed(Some(&step), "Reads"));
        assert_eq!(relay.by_itself(), [Delivery::Nowhere]);
        let asked = question(&queue);
        // The tools change while the person decides.
        relay.server_sent(changed.to_owned());
        assert!(queue.answer(&asked.id, answer, Answerer::Terminal).unwrap());
        let steps = relay.by_itself();
        assert_eq!(steps.len(), 1, "{steps:?}");
        relay.server_sent(listed(steps.first(), description));
        let steps = relay.by_itself();
        assert_eq!(
            steps == [Delivery::ToServer(reading(1, "/docs/a"))],
            passes,
            "{steps:?}"
        );
        // What was approved for longer is of no use to the changed tool.
        if !passes {
            let denied = to_client(client(&mut relay, &reading(2, "/docs/a")));
            let rule = &denied["result"]["_meta"]["callgate/rule"];
            assert_eq!(rule, "structural-unpinned-tool");
        }
    }
}

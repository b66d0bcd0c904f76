use std::sync::Arc;
use std::time::Duration;

use callgate_guard::{Answer, Answerer, Asking, Queue};
use callgate_host::{Gate, Machine, VirtualHost};
use tempfile::TempDir;

use super::super::evaluation;
use super::*;
use crate::service::ServiceOptions;

const POLICY: &str = r#"{"rules": [
    {"name": "asked", "if": {"tool": ["publish", "send"]}, "then": "escalate", "reason": "a person decides"},
    {"name": "asked of alice", "if": {"tool": "sign", "context": {"subject": "alice"}}, "then": "escalate", "reason": "a person decides"},
    {"name": "asked of others", "if": {"server": "record"}, "then": "escalate", "reason": "a person decides"}
]}"#;

const TOOLS: &str = r#"{"servers": {
    "web": {"tools": [
        {"toolName": "publish", "args": {"url": "fetch-url", "note": "none"}},
        {"toolName": "send", "args": {"url": "fetch-url", "note": "none"}},
        {"toolName": "sign", "args": {}},
        {"toolName": "drop", "args": {}}
    ]},
    "record": {"tools": [
        {"toolName": "read", "args": {"subject": "none", "action": "none", "resource": "none", "context": "none"}}
    ]}
}}"#;

struct Asked {
    service: Service,
    queue: Queue,
    folder: Arc<TempDir>,
}

impl Asked {
    fn new(patience: Duration) -> Self {
        Self::within(Arc::new(tempfile::tempdir().unwrap()), patience)
    }

    fn sharing(other: &Self) -> Self {
        Self::within(Arc::clone(&other.folder), HOUR)
    }

    fn within(folder: Arc<TempDir>, patience: Duration) -> Self {
        let queue = Queue::open(folder.path().join("state")).unwrap();
        let gate = Gate::builder()
            .policy(POLICY)
            .part(callgate_engine::config::DocumentKind::Annotations, TOOLS)
            .host(Arc::new(
                VirtualHost::new(Machine::new("/home/u", "/work")).unwrap(),
            ))
            .build()
            .unwrap();
        let options = ServiceOptions {
            server: None,
            asking: Some(Asking {
                queue: queue.clone(),
                patience,
                forms: false,
                command: None,
            }),
            audit: Some(folder.path().join("log")),
            counts: None,
            only_tools: false,
            callers_from_evaluations: true,
            context: None,
            address: None,
            warn: |_| (),
        };
        Self {
            service: Service::new(gate, options).unwrap(),
            queue,
            folder,
        }
    }

    fn asker(&self, subject: Option<&str>) -> Asker<'_> {
        Asker {
            service: &self.service,
            subject: subject.map(Into::into),
        }
    }

    /// What is answered to an evaluation of whoever has a token of this name.
    fn evaluated(&self, by: Option<&str>, evaluation: &Value) -> Value {
        super::super::evaluation(&self.asker(by), &evaluation.to_string()).unwrap()
    }

    fn submitted(&self, by: Option<&str>, submission: &Value, key: Option<&str>) -> Status {
        match submit(
            &self.asker(by),
            &submission.to_string(),
            key,
            "https://pdp.example",
        ) {
            Ok(said) => Status(said.status.as_u16(), said.body),
            Err(problem) => Status(problem.status.as_u16(), problem.said()),
        }
    }

    fn status(&self, by: Option<&str>, id: &str) -> Status {
        match status(&self.asker(by), id, "https://pdp.example") {
            Ok(said) => Status(said.status.as_u16(), said.body),
            Err(problem) => Status(problem.status.as_u16(), problem.said()),
        }
    }

    /// Submits the request for a denied evaluation, and gives its name.
    fn requested(&self, by: Option<&str>, evaluation: &Value) -> String {
        let Status(status, answer) = self.submitted(by, &self.submission(by, evaluation), None);
        assert_eq!(status, 202, "{answer}");
        answer["task"]["id"].as_str().unwrap().to_owned()
    }

    fn submission(&self, by: Option<&str>, evaluation: &Value) -> Value {
        let denied = self.evaluated(by, evaluation);
        assert_eq!(denied["decision"], false);
        assert_eq!(denied["context"]["reason"], "approval_required", "{denied}");
        let hint = &denied["context"]["access_request"];
        let mut submission = evaluation.clone();
        submission["denial"] = json!({
            "evaluation_id": denied["context"]["evaluation_id"],
            "expires_at": hint["expires_at"],
            "binding_token": hint["binding_token"],
        });
        submission
    }

    fn answer(&self, id: &str, answer: Answer) {
        assert!(self.queue.answer(id, answer, Answerer::Terminal).unwrap());
    }
}

/// A status and a body.
#[derive(Debug)]
struct Status(u16, Value);

fn publish(url: &str) -> Value {
    json!({
        "subject": {"type": "user", "id": "alice"},
        "action": {"name": "tools/call"},
        "resource": {"type": "tool", "id": "publish", "properties": {"server": "web"}},
        "context": {"arguments": {"url": url, "note": "n"}, "time": "12:00"},
    })
}

fn shown(mut evaluation: Value, id: &str) -> Value {
    evaluation["context"]["approval"] = json!({"id": id, "approved_until": "2030-01-01T00:00:00Z"});
    evaluation
}

fn reason(answer: &Value) -> &str {
    answer["context"]["reason"].as_str().unwrap_or_default()
}

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_person_approves_a_call_once() {
    let asked = Asked::new(HOUR);
    let evaluation = publish("https://a.example/x");
    let id = asked.requested(None, &evaluation);
    let Status(200, pending) = asked.status(None, &id) else {
        panic!()
    };
    assert_eq!(pending["task"]["status"], "pending");
    assert_eq!(
        pending["task"]["status_endpoint"],
        format!("https://pdp.example/access/v1/requests/{id}")
    );
    assert_eq!(pending.get("result"), None);
    assert_eq!(
        reason(&asked.evaluated(None, &shown(evaluation.clone(), &id))),
        "grant_pending"
    );
    // What a person sees.
    let [question] = &asked.queue.questions().unwrap()[..] else {
        panic!()
    };
    assert_eq!(question.request.as_ref().unwrap().whom, "user alice");
    assert_eq!(
        question.touched(),
        ["/url as fetch-url: https://a.example/x", "/note: n"]
    );
    asked.answer(&id, Answer::Once);
    let Status(200, approved) = asked.status(None, &id) else {
        panic!()
    };
    assert_eq!(approved["task"]["status"], "approved");
    assert_eq!(approved["result"]["mode"], "reevaluate");
    assert_eq!(approved["result"]["approval"]["id"], *id);
    // For nothing else.
    let mut others = [
        publish("https://a.example/y"),
        evaluation.clone(),
        evaluation.clone(),
        evaluation.clone(),
    ];
    others[1]["subject"]["id"] = "bob".into();
    others[2]["resource"]["id"] = "send".into();
    others[3]["resource"]["properties"]["more"] = true.into();
    for other in others {
        let answer = asked.evaluated(None, &shown(other, &id));
        assert_eq!(
            (answer["decision"].as_bool(), reason(&answer)),
            (Some(false), "out_of_scope")
        );
        assert!(answer["context"]["access_request"].is_object());
    }
    // Without it nothing has changed, and the order of members or another time are nothing.
    assert_eq!(reason(&asked.evaluated(None, &evaluation)), "approval_required");
    let same = json!({
        "context": {"time": "12:01", "arguments": {"note": "n", "url": "https://a.example/x"}},
        "resource": {"properties": {"server": "web"}, "id": "publish", "type": "tool"},
        "action": {"name": "tools/call"},
        "subject": {"id": "alice", "type": "user"},
    });
    let allowed = asked.evaluated(None, &shown(same, &id));
    assert_eq!(allowed["decision"], true, "{allowed}");
    assert_eq!(allowed["context"]["approval"]["id"], *id);
    assert_eq!(allowed["context"]["id"], "structural-approval");
    let again = asked.evaluated(None, &shown(evaluation, &id));
    assert_eq!(
        (again["decision"].as_bool(), reason(&again)),
        (Some(false), "approval_expired")
    );
}

#[test]
fn what_a_person_approves_for_good_needs_no_request() {
    let asked = Asked::new(HOUR);
    let evaluation = publish("https://a.example/x");
    let id = asked.requested(None, &evaluation);
    asked.answer(&id, Answer::Always);
    for url in ["https://a.example/x", "https://a.example/y"] {
        assert_eq!(asked.evaluated(None, &publish(url))["decision"], true);
        assert_eq!(asked.evaluated(None, &shown(publish(url), &id))["decision"], true);
    }
    assert_eq!(
        asked.evaluated(None, &publish("https://b.example/"))["decision"],
        false
    );
}

#[test]
fn what_was_revoked_does_not_live_on_in_its_request() {
    let asked = Asked::new(HOUR);
    let evaluation = publish("https://a.example/x");
    let id = asked.requested(None, &evaluation);
    asked.answer(&id, Answer::Always);
    let kept = asked.queue.approvals().unwrap().list()[0].id().to_owned();
    assert!(asked.queue.revoke(&kept).unwrap());
    let answer = asked.evaluated(None, &shown(evaluation, &id));
    assert_eq!(
        (answer["decision"].as_bool(), reason(&answer)),
        (Some(false), "approval_expired")
    );
}

#[test]
fn no_answer_outlives_its_request() {
    let asked = Asked::new(HOUR);
    let evaluation = publish("https://a.example/x");
    let submission = asked.submission(None, &evaluation);
    let Status(202, task) = asked.submitted(None, &submission, Some("k")) else {
        panic!()
    };
    let id = task["task"]["id"].as_str().unwrap();
    asked.answer(id, Answer::Once);
    // The question is gone, as an old one is, and its answer is still there.
    let file = asked
        .folder
        .path()
        .join("state")
        .join(format!("{id}.question.json"));
    std::fs::remove_file(file).unwrap();
    let Status(202, again) = asked.submitted(None, &submission, Some("k")) else {
        panic!()
    };
    let other = again["task"]["id"].as_str().unwrap();
    assert_ne!(other, id);
    assert_eq!(asked.status(None, other).1["task"]["status"], "pending");
    for (id, expected) in [(id, "approval_unverifiable"), (other, "grant_pending")] {
        assert_eq!(
            reason(&asked.evaluated(None, &shown(evaluation.clone(), id))),
            expected
        );
    }
}

#[test]
fn what_a_person_answers_is_the_question_that_they_saw() {
    let asked = Asked::new(HOUR);
    let mut first = asked.submission(None, &publish("https://a.example/x"));
    let until = Timestamp::now().saturating_add(Duration::from_secs(1)).unwrap();
    first["requested_access"] = json!({"requested_until": until.to_string()});
    let Status(202, task) = asked.submitted(None, &first, Some("k")) else {
        panic!()
    };
    let id = task["task"]["id"].as_str().unwrap();
    // A question waits for no longer than its approval would hold.
    assert_eq!(asked.queue.questions().unwrap()[0].until, until);
    while Timestamp::now() <= until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(asked.queue.questions().unwrap(), []);
    // Its key is free again, and its own name is not.
    let evaluation = publish("https://a.example/y");
    let second = asked.submission(None, &evaluation);
    let Status(202, task) = asked.submitted(None, &second, Some("k")) else {
        panic!()
    };
    assert_ne!(task["task"]["id"], id);
    assert!(!asked.queue.answer(id, Answer::Once, Answerer::Terminal).unwrap());
    assert_eq!(
        reason(&asked.evaluated(None, &shown(evaluation, id))),
        "approval_unverifiable"
    );
}

#[test]
fn an_approval_for_good_ends_when_it_was_requested_to() {
    let asked = Asked::new(HOUR);
    let evaluation = publish("https://a.example/x");
    let mut submission = asked.submission(None, &evaluation);
    submission["requested_access"] = json!({"requested_until": "2020-01-01T00:00:00Z"});
    let Status(status, over) = asked.submitted(None, &submission, None);
    assert_eq!(status, 400, "{over}");
    let until = Timestamp::now().saturating_add(Duration::from_secs(60)).unwrap();
    submission["requested_access"] = json!({"requested_until": until.to_string()});
    let Status(202, task) = asked.submitted(None, &submission, None) else {
        panic!()
    };
    assert_eq!(task["task"]["expires_at"], until.to_string());
    asked.answer(task["task"]["id"].as_str().unwrap(), Answer::Always);
    let approvals = asked.queue.approvals().unwrap();
    assert_eq!(approvals.list()[0].offer().expires_at, Some(until.to_string()));
}

#[test]
fn a_request_is_of_who_makes_it() {
    let asked = Asked::new(HOUR);
    let evaluation = publish("https://a.example/x");
    let id = asked.requested(Some("gateway"), &evaluation);
    asked.answer(&id, Answer::Once);
    for other in [None, Some("other")] {
        assert_eq!(asked.status(other, &id).0, 404);
        let answer = asked.evaluated(other, &shown(evaluation.clone(), &id));
        assert_eq!(reason(&answer), "approval_unverifiable");
    }
    // Nor is its token of use to another.
    let submission = asked.submission(Some("gateway"), &evaluation);
    assert_eq!(asked.submitted(Some("other"), &submission, None).0, 400);
    assert_eq!(
        asked.evaluated(Some("gateway"), &shown(evaluation, &id))["decision"],
        true
    );
}

#[test]
fn a_denial_and_no_answer_are_final() {
    let asked = Asked::new(HOUR);
    let evaluation = publish("https://a.example/x");
    let id = asked.requested(None, &evaluation);
    asked.answer(&id, Answer::Deny);
    assert_eq!(asked.status(None, &id).1["task"]["status"], "denied");
    let answer = asked.evaluated(None, &shown(evaluation.clone(), &id));
    assert_eq!(reason(&answer), "approval_unverifiable");
    let hasty = Asked::new(Duration::from_millis(1));
    let Status(202, task) = hasty.submitted(None, &hasty.submission(None, &evaluation), None) else {
        panic!()
    };
    let id = task["task"]["id"].as_str().unwrap().to_owned();
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(hasty.status(None, &id).0, 404);
    assert!(!hasty.queue.answer(&id, Answer::Once, Answerer::Terminal).unwrap());
}

#[test]
fn what_is_not_asked_about_has_a_problem_of_its_kind() {
    let asked = Asked::new(HOUR);
    let evaluation = publish("https://a.example/x");
    let submission = asked.submission(None, &evaluation);
    let changed = |change: fn(&mut Value)| {
        let mut submission = submission.clone();
        change(&mut submission);
        let Status(status, problem) = asked.submitted(None, &submission, None);
        let kind = problem["type"]
            .as_str()
            .unwrap()
            .rsplit_once(':')
            .unwrap()
            .1
            .to_owned();
        (status, kind)
    };
    for (change, status, kind) in [
        (
            (|all| all["denial"] = json!({})) as fn(&mut Value),
            400,
            "invalid_denial_binding",
        ),
        (
            |all| all["denial"]["binding_token"] = "1.00".into(),
            400,
            "invalid_denial_binding",
        ),
        (
            |all| {
                let token = all["denial"]["binding_token"].as_str().unwrap();
                all["denial"]["binding_token"] = format!("9{token}").into();
            },
            400,
            "invalid_denial_binding",
        ),
        (
            |all| all["subject"]["id"] = "bob".into(),
            400,
            "invalid_denial_binding",
        ),
        (
            |all| all["context"]["arguments"]["note"] = "other".into(),
            400,
            "invalid_denial_binding",
        ),
        (|all| all["items"] = json!([]), 400, "not_requestable"),
        (|all| all["action"] = json!({}), 400, "not_requestable"),
        (|all| all["context"] = json!({}), 400, "not_requestable"),
        (
            |all| all["requested_access"] = json!({"requested_until": "soon"}),
            400,
            "not_requestable",
        ),
    ] {
        assert_eq!(changed(change), (status, kind.to_owned()));
    }
    // What is allowed or denied is not asked about, nor what would be sent otherwise than it was judged.
    let mut denied = evaluation.clone();
    denied["resource"]["id"] = "drop".into();
    denied["context"] = json!({"arguments": {}});
    for other in [denied, publish("HTTPS://a.example/x")] {
        let answer = asked.evaluated(None, &other);
        assert_eq!(answer["decision"], false);
        assert_eq!(answer["context"].get("access_request"), None, "{answer}");
        assert_eq!(answer["context"]["effect"], "deny");
    }
    for id in ["", "arq-", "../approvals", "arq-00000000000000000000000000000000"] {
        assert_eq!(asked.status(None, id).0, 404, "{id}");
    }
    assert_eq!(asked.queue.questions().unwrap().len(), 0);
}

#[test]
fn a_request_that_is_sent_again_is_the_same() {
    let asked = Asked::new(HOUR);
    let [one, other] =
        ["x", "y"].map(|path| asked.submission(None, &publish(&format!("https://a.example/{path}"))));
    let first = asked.submitted(None, &one, Some("k"));
    assert_eq!(first.0, 202);
    assert_eq!(asked.submitted(None, &one, Some("k")).1, first.1);
    assert_eq!(asked.submitted(None, &other, Some("k")).0, 409);
    assert_ne!(asked.submitted(None, &one, Some("l")).1, first.1);
    assert_eq!(asked.queue.questions().unwrap().len(), 2);
    // Nobody fills the list of who approves.
    for _ in 0..62 {
        assert_eq!(asked.submitted(None, &one, None).0, 202);
    }
    assert_eq!(asked.submitted(None, &one, None).0, 429);
    let own = asked.submission(Some("gateway"), &publish("https://a.example/x"));
    assert_eq!(asked.submitted(Some("gateway"), &own, None).0, 202);
}

#[test]
fn other_actions_are_requested_as_they_are_evaluated() {
    let asked = Asked::new(HOUR);
    let evaluation = json!({
        "subject": {"type": "user", "id": "alice"},
        "action": {"name": "read"},
        "resource": {"type": "record", "id": "1"},
    });
    let id = asked.requested(None, &evaluation);
    asked.answer(&id, Answer::Once);
    let mut other = evaluation.clone();
    other["context"] = json!({"why": "else"});
    assert_eq!(reason(&asked.evaluated(None, &shown(other, &id))), "out_of_scope");
    assert_eq!(
        asked.evaluated(None, &shown(evaluation.clone(), &id))["decision"],
        true
    );
    // Numbers that one program takes for the same are two to another.
    let paying = |amount: &str| -> Value {
        let mut paying = evaluation.clone();
        paying["context"] = json!({"amount": "AMOUNT"});
        serde_json::from_str(&paying.to_string().replace("\"AMOUNT\"", amount)).unwrap()
    };
    let mut empty = evaluation.clone();
    empty["context"] = json!({});
    let id = asked.requested(None, &empty);
    asked.answer(&id, Answer::Once);
    assert_eq!(asked.evaluated(None, &shown(empty, &id))["decision"], true);
    let id = asked.requested(None, &paying("9007199254740993"));
    asked.answer(&id, Answer::Once);
    let answer = asked.evaluated(None, &shown(paying("9007199254740993.0"), &id));
    assert_eq!(reason(&answer), "out_of_scope");
}

#[test]
fn instances_that_share_a_folder_take_each_other_s_requests() {
    let one = Asked::new(HOUR);
    let other = Asked::sharing(&one);
    let evaluation = publish("https://a.example/x");
    let submission = one.submission(None, &evaluation);
    let Status(202, task) = other.submitted(None, &submission, None) else {
        panic!()
    };
    let id = task["task"]["id"].as_str().unwrap();
    one.answer(id, Answer::Once);
    assert_eq!(other.status(None, id).1["task"]["status"], "approved");
    assert_eq!(
        one.evaluated(None, &shown(evaluation.clone(), id))["decision"],
        true
    );
    assert_eq!(
        reason(&other.evaluated(None, &shown(evaluation, id))),
        "approval_expired"
    );
    // Others have another key.
    assert_eq!(Asked::new(HOUR).submitted(None, &submission, None).0, 400);
}

#[test]
fn without_anybody_to_ask_nothing_is_requestable() {
    let service = crate::tests::service(Some("web"));
    let asker = crate::tests::asker(&service);
    let asked = json!({
        "subject": {"type": "user", "id": "alice"},
        "action": {"name": "tools/call"},
        "resource": {"type": "tool", "id": "report"},
        "context": {"arguments": {}},
    });
    let answer = evaluation(&asker, &asked.to_string()).unwrap();
    assert_eq!(answer["context"]["effect"], "escalate");
    assert_eq!(answer["context"].get("access_request"), None);
    assert_eq!(
        status(&asker, "arq-00000000000000000000000000000000", "")
            .err()
            .unwrap()
            .status,
        404
    );
}

#[test]
fn who_asks_is_who_asked() {
    let asked = Asked::new(HOUR);
    let by = |subject: &str| {
        json!({
            "subject": {"type": "identity", "id": subject},
            "action": {"name": "tools/call"},
            "resource": {"type": "tool", "id": "sign", "properties": {"server": "web"}},
            "context": {"arguments": {}},
        })
    };
    assert_eq!(asked.evaluated(None, &by("bob"))["context"]["effect"], "deny");
    let id = asked.requested(None, &by("alice"));
    asked.answer(&id, Answer::Once);
    let answer = asked.evaluated(None, &shown(by("bob"), &id));
    assert_eq!(
        (&answer["decision"], reason(&answer)),
        (&json!(false), "policy_denied")
    );
    assert_eq!(asked.evaluated(None, &shown(by("alice"), &id))["decision"], true);
}

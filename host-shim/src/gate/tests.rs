use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use callgate_engine::approval::{Approvals, Moment};
use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Existence;
use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use callgate_engine::judge::Decision;
use serde::Deserialize as _;
use serde_json::json;

use super::*;
use crate::component::ENGINES;
use crate::{Machine, VirtualHost};

mod engines;
mod layers;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/bundle/callgate.json")
}

fn world() -> Arc<dyn Host + Send + Sync> {
    let machine = Machine::new("/home/u", "/work").link("/work/out", "/etc");
    Arc::new(VirtualHost::new(machine).unwrap())
}

fn gate() -> Gate {
    gate_with(EngineKind::default())
}

fn gate_with(engine: EngineKind) -> Gate {
    let sandboxed = Gate::builder().engine(engine).bundle(example()).host(world());
    sandboxed
        .part(DocumentKind::Sandbox, r#""/work""#)
        .build()
        .unwrap()
}

fn call(path: &str) -> String {
    let arguments = json!({"path": path});
    json!({"serverName": "filesystem", "toolName": "read_text_file", "arguments": arguments}).to_string()
}

fn explain_gate(gate: &Gate, call: &str, container: Option<&str>) -> Result<Value, CallError> {
    let response = gate.judge(
        &Request::gate(call)
            .in_container(container)
            .explained(Audience::Operator),
    )?;
    Ok(response.explanation.unwrap())
}

#[test]
fn a_gate_is_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Gate>();
}

#[test]
fn every_question_gets_the_same_verdict() {
    let gate = gate();
    for (path, decision) in [
        ("a", Decision::Allow),
        ("out/hosts", Decision::Escalate(vec!["read-path".into()])),
        ("~/.ssh/id", Decision::Deny),
    ] {
        let verdict = gate.evaluate(&call(path)).unwrap();
        assert_eq!(verdict.decision, decision, "{path}");
        assert_eq!(gate.gate(&call(path)).unwrap().verdict, verdict);
        let explained = serde_json::to_value(&verdict).unwrap();
        assert_eq!(gate.explain(&call(path)).unwrap()["verdict"], explained);
        assert_eq!(
            explain_gate(&gate, &call(path), None).unwrap()["verdict"],
            explained
        );
    }
}

#[test]
fn what_is_judged_is_what_is_forwarded() {
    let gate = gate();
    let gated = gate
        .judge(&Request::gate(&call("/box/x/../a")).in_container("/box"))
        .unwrap();
    assert_eq!(gated.arguments.as_deref(), Some(r#"{"path":"/work/a"}"#));
    let unreadable = r#"{"serverName": "filesystem", "toolName": "read_text_file", "arguments": [1]}"#;
    let gated = gate.gate(unreadable).unwrap();
    assert_eq!(gated.verdict.rule, "structural-unreadable-argument");
    assert_eq!(gated.arguments, None);
}

#[test]
fn parts_take_the_place_of_the_bundle_s_and_single_entries_add_to_it() {
    let builder = Gate::builder().bundle(example()).host(world());
    let gate = builder
        .part(DocumentKind::Sandbox, r#""/work""#)
        .protect("/work/mine")
        .trust("calendar")
        .build()
        .unwrap();
    let rule = |call: &str| gate.evaluate(call).unwrap().rule;
    assert_eq!(rule(&call("/work/mine/x")), "structural-protected-path");
    assert_eq!(rule(&call("~/.aws/x")), "structural-protected-path");
    assert_eq!(
        rule(r#"{"serverName": "calendar", "toolName": "x"}"#),
        "trusted-server"
    );
}

#[test]
fn a_recording_replays_without_the_host() {
    let gate = gate();
    for path in ["a", "out/hosts", "~/.ssh/id"] {
        let call = call(path).replace(',', ",\n");
        let explanation = gate.explain(&call).unwrap();
        let line = gate.recorded(&call, &explanation).unwrap();
        assert!(!line.contains('\n'), "{line}");

        let line: Value = serde_json::from_str(&line).unwrap();
        let host = callgate_engine::host::Recording::deserialize(&line["recording"]).unwrap();
        let mut again = Gate::builder().engine(EngineKind::Native).host(Arc::new(host));
        for (name, document) in line["engine"].as_object().unwrap() {
            again = again.part(DocumentKind::parse(name).unwrap(), document.to_string());
        }
        let case = &line["cases"][0];
        let explained = again.build().unwrap().explain(&case["call"].to_string()).unwrap();
        assert_eq!(case["expect"]["answer"], explained, "{path}");
    }
}

#[test]
fn an_approval_is_recorded_with_the_call() {
    let gate = gate();
    let call = call("out/hosts");
    let asked = Request::gate(&call);
    let mut approvals = Approvals::default();
    let mut offer = gate.offer(&asked).unwrap().unwrap();
    assert_eq!(
        offer.description,
        "Allow filesystem/read_text_file read-path within /etc"
    );
    offer.expires_at = Some("2026-03-01T12:00:00Z".to_owned());
    let id = approvals.add(&offer).unwrap().to_owned();
    let end = Moment::parse("2026-03-01T12:00:00Z").unwrap();
    let before = Some(Moment::from_millis(end.as_millis() - 1));
    for (now, decision) in [(before, "allow"), (Some(end), "escalate"), (None, "escalate")] {
        let response = gate.judge(&asked.approved(&approvals, now)).unwrap();
        assert_eq!(response.verdict.decision.as_str(), decision);
        let expected = (decision == "allow").then_some(&*id);
        assert_eq!(response.verdict.approval.as_deref(), expected);
    }

    let asked = Request::prepared(&call).approved(&approvals, before);
    let explained = gate.judge(&asked.explained(Audience::Operator)).unwrap();
    assert_eq!(explained.verdict.rule, "structural-approval");
    let line = gate
        .recorded_request(&asked, &explained.explanation.unwrap())
        .unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    let case = &line["cases"][0];
    assert_eq!(
        Approvals::from_json(&case["approvals"].to_string()),
        Ok(approvals)
    );
    assert_eq!(case["now"], end.as_millis() - 1);
}

#[test]
fn a_host_that_panics_is_a_denial() {
    #[derive(Default)]
    struct Broken(AtomicBool);

    impl Host for Broken {
        fn home_dir(&self) -> &str {
            "/"
        }

        fn current_dir(&self) -> &str {
            "/"
        }

        fn ignores_path_case(&self) -> bool {
            false
        }

        fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
            assert!(!self.0.load(Ordering::SeqCst), "a host should not do that");
            Ok(path.into())
        }

        fn git_remote_urls(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> {
            Ok(Vec::new())
        }

        fn git_default_remote_urls(&self, _: &str) -> Result<Vec<String>, HostError> {
            Ok(Vec::new())
        }

        fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
            Ok(None)
        }

        fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
            Ok(Some(false))
        }

        fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
            Ok(vec![url.to_owned()])
        }

        fn git_branch(&self, _: &str) -> Result<String, HostError> {
            Ok(String::new())
        }

        fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
            Ok(Some(Vec::new()))
        }

        fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
            Ok(None)
        }
    }

    for engine in ENGINES {
        let host = Arc::new(Broken::default());
        let build = || {
            let gate = Gate::builder().engine(engine).bundle(example());
            gate.host(Arc::<Broken>::clone(&host)).build()
        };
        let gate = build().unwrap();
        host.0.store(true, Ordering::SeqCst);
        // It is asked for the directories that rules allow.
        assert!(build().is_err());
        assert_eq!(gate.engine(), engine);
        let denied = EngineFault::Failed.verdict();
        assert_eq!(gate.evaluate(&call("/a")), Ok(denied.clone()));
        assert_eq!(gate.gate(&call("/a")).unwrap().verdict, denied);
        let explained = gate.explain(&call("/a")).unwrap();
        assert_eq!(explained["verdict"], serde_json::to_value(&denied).unwrap());
    }
}

#[test]
fn faults_name_their_files() {
    #[track_caller]
    fn check(builder: GateBuilder, expected: &[&str]) {
        let Err(GateError::Refused(faults)) = builder.host(world()).build() else {
            panic!("the documents are refused");
        };
        let found: Vec<String> = faults.iter().map(Fault::to_string).collect();
        assert_eq!(found, expected);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let policy = file(
        "policy.json",
        b"{\"generatedAt\": \"\", \"constitutionHash\": \"\", \"inputHash\": \"\", \"rules\": 5}",
    );
    let annotations = example().with_file_name("annotations.json");
    let fault = "error[wrong-type] at policy.rules: found `5`, expected an array of rules";
    check(
        Gate::builder()
            .file(DocumentKind::Policy, &policy)
            .file(DocumentKind::Annotations, &annotations),
        &[&format!("{}:1:71: {fault}", policy.display())],
    );
    check(
        Gate::builder()
            .part(
                DocumentKind::Policy,
                "{\"generatedAt\": \"\", \"constitutionHash\": \"\", \"inputHash\": \"\", \"rules\": 5}",
            )
            .file(DocumentKind::Annotations, &annotations),
        &[&format!("1:71: {fault}")],
    );
    let latin = file("latin.json", b"{\"a\": \"\xe9\"}");
    check(
        Gate::builder()
            .file(DocumentKind::Policy, &latin)
            .file(DocumentKind::Annotations, &annotations),
        &[&format!(
            "{}:1:8: error[syntax] at policy: found the byte `0xe9` at offset 7, expected JSON in UTF-8",
            latin.display()
        )],
    );
    check(
        Gate::builder().file(DocumentKind::Annotations, &annotations),
        &["error[missing-field] at policy: `policy` is missing, expected the document"],
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let builder = Gate::builder().bundle("/nothing/callgate.json").host(world());
    let Err(GateError::Unreadable { file, .. }) = builder.build() else {
        panic!("there is no such file");
    };
    assert_eq!(file, "/nothing/callgate.json");
}

/// A world, a ceiling and two tools.
fn world_gate(engine: EngineKind) -> Gate {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/world");
    let builder = Gate::builder()
        .engine(engine)
        .bundle(folder.join("callgate.json"));
    let builder = builder.file(DocumentKind::Ceiling, folder.join("ceiling.json"));
    builder.build().unwrap()
}

#[test]
fn references_are_valid_until_they_are_revoked() {
    for engine in ENGINES {
        let gate = world_gate(engine);
        let mut table = gate.references().unwrap();
        let context = Some(r#"{"mode": "play"}"#);
        let mut resolve = |address: &str| table.resolve(address, Existence::Required, context).unwrap();
        let [one, other] = [resolve("root:game/rules.txt"), resolve("root:game/rules.txt")];
        assert!(one.reply.is_success(), "{one:?}");
        assert_eq!(resolve("root:nothing/x").reference, None);
        let [first, second] = [one, other].map(|found| found.reference.unwrap());
        let path = table.host_path(first).unwrap().unwrap();
        assert!(path.ends_with("/world/game/rules.txt"), "{path}");
        assert_eq!(table.revoke(first), Ok(true));
        assert_eq!(table.revoke(first), Ok(false));
        assert_eq!(table.host_path(first), Ok(None));
        assert_eq!(table.host_path(second), Ok(Some(path)));
        table.revoke_all().unwrap();
        assert_eq!(table.host_path(second), Ok(None));
        let worldless = gate_with(engine).references();
        assert_eq!(worldless.err(), Some(Unanswered::NoWorld));
    }
}

/// A host that fails must not make a ceiling look as if there were none.
#[test]
fn an_engine_that_fails_has_no_answer_instead_of_none() {
    struct Failing;

    impl Backend for Failing {
        fn kind(&self) -> EngineKind {
            EngineKind::Native
        }

        fn judge(&self, _: &Request<'_>) -> Result<Result<Response, CallError>, EngineFault> {
            Err(EngineFault::Failed)
        }

        fn offer(&self, _: &Request<'_>) -> Result<Result<Option<Offer>, CallError>, EngineFault> {
            Err(EngineFault::Failed)
        }

        fn semantics(&self, _: &str, _: &str) -> Result<Option<Semantics>, EngineFault> {
            Err(EngineFault::Failed)
        }

        fn tools(&self) -> Result<Vec<(String, String)>, EngineFault> {
            Err(EngineFault::Failed)
        }

        fn ceiling(&self) -> Result<Option<Ceiling>, EngineFault> {
            Err(EngineFault::Failed)
        }

        fn references(self: Arc<Self>) -> Result<References, Unanswered> {
            Err(EngineFault::Failed.into())
        }

        fn enforce(&self, _: Option<&str>, _: &Operation<'_>, _: Option<&str>) -> Result<Reply, Unanswered> {
            Err(EngineFault::Failed.into())
        }
    }

    let gate = Gate {
        name: String::new(),
        above: Vec::new(),
        leaves: Vec::new(),
        backend: Arc::new(Failing),
        documents: Vec::new(),
        files: Vec::new(),
        scenario_files: Vec::new(),
        warnings: Vec::new(),
        timings: Timings::default(),
        host: Arc::new(VirtualHost::new(Machine::new("/home/u", "/")).unwrap()),
    };
    assert_eq!(gate.ceiling(), Err(EngineFault::Failed));
    assert_eq!(gate.tools(), Err(EngineFault::Failed));
    assert_eq!(gate.semantics("s", "t"), Err(EngineFault::Failed));
    let request = Request::gate("{\"serverName\": \"s\", \"toolName\": \"t\"}");
    assert_eq!(gate.offer(&request), Err(Unoffered::Engine(EngineFault::Failed)));
    assert!(gate.offer(&Request::prepared("{}")).is_err());
    let response = gate.judge(&request.explained(Audience::Agent)).unwrap();
    assert_eq!(response.verdict, EngineFault::Failed.verdict());
    assert_eq!(response.arguments, None);
    assert_eq!(response.explanation.unwrap()["toolName"], "t");
    assert!(gate.judge(&Request::prepared("{}")).is_err());
}

/// A host that answers within evaluations only, and counts them.
struct ByEvaluation {
    machine: Arc<VirtualHost>,
    begun: Arc<AtomicUsize>,
    is_evaluation: bool,
}

impl ByEvaluation {
    fn machine(&self) -> Result<&VirtualHost, HostError> {
        match self.is_evaluation {
            true => Ok(&self.machine),
            false => Err(HostError::new("asked outside of an evaluation")),
        }
    }
}

impl Host for ByEvaluation {
    fn home_dir(&self) -> &str {
        self.machine.home_dir()
    }

    fn current_dir(&self) -> &str {
        self.machine.current_dir()
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn begin(&self) -> Option<Box<dyn Host + Send>> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        Some(Box::new(Self {
            machine: Arc::clone(&self.machine),
            begun: Arc::clone(&self.begun),
            is_evaluation: true,
        }))
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        self.machine().map_err(RealpathError::Host)?.realpath(path)
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        self.machine()?.read_link(path)
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        self.machine()?.is_directory(path)
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.machine()?.git_remote_urls(repo, remote)
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.machine()?.git_default_remote_urls(repo)
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.machine()?.git_url(repo, url)
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        self.machine()?.git_branch(repo)
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        self.machine()?.git_push_refs(repo, remote, reference)
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        self.machine()?.git_check_ignore(path)
    }
}

#[test]
fn every_question_of_a_verdict_is_asked_in_one_evaluation() {
    for engine in ENGINES {
        let begun = Arc::new(AtomicUsize::new(0));
        let host = ByEvaluation {
            machine: Arc::new(VirtualHost::new(Machine::new("/home/u", "/work")).unwrap()),
            begun: Arc::clone(&begun),
            is_evaluation: false,
        };
        let builder = Gate::builder()
            .engine(engine)
            .bundle(example())
            .host(Arc::new(host));
        let gate = builder.part(DocumentKind::Sandbox, r#""/work""#).build().unwrap();
        for call in [
            call("a"),
            call("/etc/hosts"),
            json!({"serverName": "git", "toolName": "git_push", "arguments": {
                "repo_path": "/work", "remote": "origin", "branch": "topic"}})
            .to_string(),
        ] {
            let before = begun.load(Ordering::SeqCst);
            let verdict = gate.evaluate(&call).unwrap();
            assert_ne!(verdict.rule, "structural-host-error", "{engine:?}: {verdict:?}");
            let after = begun.load(Ordering::SeqCst);
            assert_eq!(after - before, 1, "{engine:?}: evaluations of {call}");
        }
    }
}

//! No host, call or document can make the engine panic, or loosen a verdict by being broken.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use crate::common::cases::{case, config};
use crate::common::engines::{Documents, rule, tool};
use callgate_engine::bind::{Arguments, Call};
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::Engine;
use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use callgate_host::VirtualHost;
use conformance::Explain;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A host that fails at the questions numbered in `at`, counted from 0.
struct Failing<'h> {
    honest: &'h VirtualHost,
    at: &'h [usize],
    how: Failure,
    asked: Cell<usize>,
    failed: RefCell<Vec<String>>,
}

/// The answer of a host that misbehaves.
#[derive(Clone, Copy, Debug)]
enum Failure {
    /// An error: a callback threw, a message did not arrive.
    Throws,
    /// A real path that is invalid.
    Answers(&'static str),
}

impl Failing<'_> {
    fn fails(&self, question: &str, path: bool) -> bool {
        let number = self.asked.replace(self.asked.get() + 1);
        let fails = self.at.contains(&number) && (path || matches!(self.how, Failure::Throws));
        if fails {
            self.failed.borrow_mut().push(question.to_owned());
        }
        fails
    }

    fn or_fail<T>(&self, question: &str, honest: Result<T, HostError>) -> Result<T, HostError> {
        if self.fails(question, false) {
            Err(HostError::new("a test's failure"))
        } else {
            honest
        }
    }
}

impl Host for Failing<'_> {
    fn home_dir(&self) -> &str {
        self.honest.home_dir()
    }

    fn current_dir(&self) -> &str {
        self.honest.current_dir()
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        match self.how {
            Failure::Throws if self.fails(path, true) => {
                Err(RealpathError::Host(HostError::new("a test's failure")))
            }
            Failure::Answers(text) if self.fails(path, true) => Ok(text.into()),
            Failure::Throws | Failure::Answers(_) => self.honest.realpath(path),
        }
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        self.or_fail(path, self.honest.read_link(path))
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        self.or_fail(path, self.honest.is_directory(path))
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        self.or_fail(repo, self.honest.git_branch(repo))
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        self.or_fail(reference, self.honest.git_push_refs(repo, remote, reference))
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        self.or_fail(path, self.honest.git_check_ignore(path))
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.or_fail(remote, self.honest.git_remote_urls(repo, remote))
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.or_fail(repo, self.honest.git_default_remote_urls(repo))
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.or_fail(url, self.honest.git_url(repo, url))
    }
}

fn failure() -> impl Strategy<Value = Failure> {
    let answers = [
        "", "relative", "/a/../b", "/a/./b", "/a//b", "/a/", "/a\0b", "//", "C:\\x",
    ];
    prop_oneof![
        Just(Failure::Throws),
        prop::sample::select(answers.to_vec()).prop_map(Failure::Answers),
    ]
}

/// Any JSON, with strings that the engine looks at among its keys and values.
fn json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        prop::sample::select(vec![
            "path",
            "url",
            "/srv/x",
            "~",
            "..",
            "__proto__",
            "https://a.test/",
            "",
            "\0",
            "*"
        ])
        .prop_map(str::to_owned),
        ".{0,6}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// An engine that allows every call of the form that the annotations describe.
fn permissive() -> Documents {
    let tools = [
        tool(
            "filesystem/read",
            json!({"path": ["read-path"], "more": ["none"]}),
        ),
        tool(
            "fetch/get",
            json!({"url": ["fetch-url"], "/nested/*/url": ["fetch-url"]}),
        ),
    ];
    Documents::new(json!([rule("all", json!({}), "allow")]), &tools)
}

fn virtual_host() -> VirtualHost {
    VirtualHost::new(callgate_host::Machine::new("/home/u", "/srv/app")).expect("the world is well-formed")
}

/// Replaces node number `at` of a document. Returns the rest of the count if the document is smaller.
fn replace(value: &mut Value, at: usize, with: &Value) -> Option<usize> {
    if at == 0 {
        *value = with.clone();
        return None;
    }
    let mut left = at - 1;
    let children: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for child in children {
        left = replace(child, left, with)?;
    }
    Some(left)
}

/// A host that fails for one path only.
struct FailingAt(&'static str);

impl Host for FailingAt {
    fn home_dir(&self) -> &str {
        "/home/u"
    }

    fn current_dir(&self) -> &str {
        "/"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        if path == self.0 {
            return Err(RealpathError::Host(HostError::new("a test's failure")));
        }
        Ok(path.into())
    }

    fn git_remote_urls(&self, _repo: &str, _remote: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn git_default_remote_urls(&self, _repo: &str) -> Result<Vec<String>, HostError> {
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

/// A denial stays the same if the host fails at a value that is only prepared, explained or not.
#[test]
fn a_failure_while_preparing_keeps_a_denial() {
    let documents = Documents::new(
        json!([rule("all", json!({}), "allow")]),
        &[tool(
            "s/t",
            json!({"first": ["read-path"], "second": ["read-path"]}),
        )],
    );
    let engine = documents
        .build(&FailingAt(""))
        .unwrap_or_else(|error| panic!("{error}"));
    #[track_caller]
    fn check(engine: &Engine, arguments: &Value, rule: &str) {
        let host = FailingAt("/broken");
        let call = Call::from_value("s", "t", arguments);
        let verdict = engine.gate(&call, &host).verdict;
        assert_eq!(
            (verdict.decision.as_str(), &*verdict.rule),
            ("deny", rule),
            "{arguments}"
        );
        let explained = engine.explain_gate(&call, &host).verdict;
        assert_eq!(explained, verdict);
    }
    check(
        &engine,
        &json!({"first": "~root", "second": "/broken"}),
        "structural-unresolvable-value",
    );
    check(
        &engine,
        &json!({"first": "/broken", "second": "~root"}),
        "structural-host-error",
    );
}

proptest! {
    #![proptest_config(config(500))]

    /// A host failure while a call is judged makes the verdict a denial, never anything else.
    #[test]
    fn a_failing_host_denies(
        case in case(), at in prop::collection::vec(0_usize..12, 1..3), how in failure(), gates in any::<bool>(),
    ) {
        let honest = VirtualHost::new(case.world.clone()).expect("an arbitrary world is well-formed");
        let engine = case.documents.build(&honest).unwrap_or_else(|error| panic!("{error}"));
        for request in &case.calls {
            let call = Call::from_value(&request.server, &request.tool, &request.arguments);
            let host = Failing { honest: &honest, at: &at, how, asked: Cell::new(0), failed: RefCell::default() };
            let (verdict, expected) = if gates {
                (engine.gate(&call, &host).verdict, engine.gate(&call, &honest).verdict)
            } else {
                (engine.evaluate(&call, &host), engine.evaluate(&call, &honest))
            };
            if host.failed.borrow().is_empty() {
                prop_assert_eq!(verdict, expected);
            } else {
                prop_assert_eq!(verdict.decision.as_str(), "deny", "{:?} failed: {:?}", host.failed, request);
            }
        }
    }

    /// Arguments that no annotation describes are denied, whatever they are.
    #[test]
    fn arguments_of_any_form_are_judged(arguments in json(), name in "[a-z]{0,3}", server in any::<bool>()) {
        let host = virtual_host();
        let engine = permissive().build(&host).expect("the documents are well-formed");
        let (server, tool, role) = if server { ("filesystem", "read", "path") } else { ("fetch", "get", "url") };
        let text = arguments.to_string();
        let parsed = engine.evaluate(&Call::from_value(server, tool, &arguments), &host);
        let raw = engine.evaluate(&Call::new(server, tool, Arguments::from_json(&text)), &host);
        prop_assert_eq!(&parsed, &raw, "{}", text);
        let described = match &arguments[role] {
            Value::Object(_) => false,
            Value::Array(items) => items.iter().all(|item| !item.is_array() && !item.is_object()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        };
        if !(arguments.is_object() || arguments.is_null()) || !described {
            prop_assert_eq!(parsed.decision.as_str(), "deny", "{}", text);
            prop_assert_eq!(parsed.rule, "structural-unreadable-argument", "{}", text);
        }
        // A call of an unknown tool is denied too, and preparing it never fails because of a value.
        let unknown = Call::from_value(&name, &name, &arguments);
        prop_assert_eq!(engine.evaluate(&unknown, &host).decision.as_str(), "deny");
        let is_read = arguments.is_object() || arguments.is_null();
        prop_assert_eq!(engine.prepare(&unknown, None, None, &host).is_ok(), is_read);
    }

    /// Replacing part of a document makes the engine refuse it or decide differently, but never panic.
    #[test]
    fn documents_of_any_form_are_read(
        case in case(), part in any::<prop::sample::Index>(), node in any::<prop::sample::Index>(), with in json(),
    ) {
        let host = VirtualHost::new(case.world.clone()).expect("an arbitrary world is well-formed");
        let mut documents = case.documents.clone();
        let part = part.index(documents.0.len());
        let value = &mut documents.0[part].1;
        let nodes = 200 - replace(&mut value.clone(), 200, &with).unwrap_or(0);
        replace(value, node.index(nodes.max(1)), &with);
        if let Ok(engine) = documents.build(&host) {
            for request in &case.calls {
                let call = Call::from_value(&request.server, &request.tool, &request.arguments);
                let verdict = engine.evaluate(&call, &host);
                prop_assert!(!verdict.rule.is_empty());
            }
        }
    }

    /// A truncated document is refused.
    #[test]
    fn a_document_that_ends_early_is_refused(case in case(), part in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>()) {
        let host = virtual_host();
        let texts: Vec<(DocumentKind, String)> =
            case.documents.0.iter().map(|(part, value)| (*part, value.to_string())).collect();
        let cut_part = part.index(texts.len());
        let mut builder = Engine::builder();
        for (at, (part, text)) in texts.iter().enumerate() {
            let end = if at == cut_part { cut.index(text.len()) } else { text.len() };
            builder = builder.part(*part, DocumentSource::Text(&text[..end]));
        }
        prop_assert!(builder.build(&host).is_err());
    }

    /// Any text is either a call or an error with its position.
    #[test]
    fn calls_of_any_text_are_read(text in "[\\[\\]{}:,\"0-9a-z\\\\ ]{0,40}", request in json()) {
        for text in [text, request.to_string(), json!({"serverName": "s", "toolName": "t", "arguments": request}).to_string()] {
            if let Err(error) = Call::from_json(&text) {
                prop_assert!(error.line >= 1 && !error.message.is_empty(), "{error}");
            }
        }
    }
}

//! Signed bundles at an address.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::bundles::{sign, signed};
use crate::guarding::{ECHO, Guarded, log, until};
use crate::project::{Project, reading};
use crate::wire::{Sent, Upstream, reply};

/// A server of one bundle, which it names by its text; without one it fails.
struct Server {
    upstream: Upstream,
    text: Arc<Mutex<Option<String>>>,
}

impl Server {
    fn start() -> Self {
        let text: Arc<Mutex<Option<String>>> = Arc::default();
        let served = Arc::clone(&text);
        let upstream = Upstream::start(move |request: &Sent, to: &mut TcpStream| {
            let text = served.lock().expect("a text").clone();
            let Some(text) = text else {
                return reply(to, "503 Service Unavailable", &[], "{}");
            };
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            let etag = format!("\"{}\"", hasher.finish());
            match request.header("if-none-match") {
                Some(known) if known == etag => reply(to, "304 Not Modified", &[("etag", &etag)], ""),
                _ => reply(to, "200 OK", &[("etag", &etag)], &text),
            }
        });
        Self { upstream, text }
    }

    fn serve(&self, text: &str) {
        *self.text.lock().expect("a text") = Some(text.to_owned());
    }

    fn serve_file(&self, project: &Project) {
        let file = project.folder.path().join("project/acme.json");
        self.serve(&fs::read_to_string(file).expect("a file"));
    }

    fn fail(&self) {
        *self.text.lock().expect("a text") = None;
    }
}

/// Judges a call, and checks the exit code and what standard error says.
#[track_caller]
fn judged(project: &Project, flags: &[&str], code: i32, said: &[&str]) {
    let call = reading("~/Documents/a.txt");
    let mut command = project.command("project", &[&["eval", &call], flags].concat());
    command.env("XDG_CACHE_HOME", project.folder.path().join("cache"));
    let output = command.output().expect("an answer");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{err}");
    assert_eq!(err.is_empty(), said.is_empty(), "{err}");
    for part in said {
        assert!(err.contains(part), "{part:?}: {err}");
    }
}

#[test]
fn the_last_good_bundle_is_used_until_there_is_a_better_one() {
    let project = signed();
    project.edit("callgate.json", |bundle| {
        bundle["sandbox"] = serde_json::Value::Null
    });
    sign(&project, 8, "30d");
    let server = Server::start();
    let flags = [
        "--bundle",
        &server.upstream.url,
        "--bundle-key",
        "acme.pub",
        "--bundle-refresh",
        "1",
    ];
    let later = || std::thread::sleep(std::time::Duration::from_millis(2100));
    judged(
        &project,
        &flags,
        4,
        &["is not used: the server answered HTTP 503"],
    );
    server.serve_file(&project);
    judged(&project, &flags, 0, &[]);
    later();
    judged(&project, &flags, 0, &[]);
    let seen = server.upstream.seen();
    assert!(
        seen.last().expect("a request").header("if-none-match").is_some(),
        "{seen:?}"
    );
    // Whatever comes in its place, the last good one stays, and the command says so.
    let stays = "the last good bundle is used, until it expires: ";
    let unsigned = {
        let mut envelope = project.read("acme.json");
        envelope["signatures"] = json!([]);
        envelope.to_string()
    };
    for (text, why) in [
        (
            "<html>",
            "it is not a signed bundle: expected value at line 1 column 1",
        ),
        (&unsigned, "it has no signature"),
    ] {
        server.serve(text);
        later();
        judged(&project, &flags, 0, &[stays, why]);
    }
    server.fail();
    later();
    judged(&project, &flags, 0, &[stays, "the server answered HTTP 503"]);
    // An older one, whose revision was used before.
    sign(&project, 7, "30d");
    server.serve_file(&project);
    later();
    judged(
        &project,
        &flags,
        0,
        &[stays, "revision 7 of the bundle `acme` is lower than 8"],
    );
    project.edit("policy.json", |policy| policy["rules"] = json!([]));
    sign(&project, 9, "30d");
    server.serve_file(&project);
    later();
    judged(&project, &flags, 2, &[]);
}

#[test]
fn a_bundle_above_comes_from_an_address_too() {
    let project = signed();
    let server = Server::start();
    let flags = [
        "--above",
        &server.upstream.url,
        "--above-key",
        "acme.pub",
        "--bundle-refresh",
        "1",
    ];
    judged(
        &project,
        &flags,
        4,
        &["is not used: the server answered HTTP 503"],
    );
    server.serve_file(&project);
    judged(&project, &flags, 0, &[]);
    // A guard takes up the newer one, which denies.
    let mut guarded = Guarded::with(
        &project,
        &[&flags[..], &["--audit", "log.jsonl", "--", "sh", "-c", ECHO]].concat(),
        &[(
            "XDG_CACHE_HOME",
            project.folder.path().join("cache").to_str().expect("UTF-8"),
        )],
    );
    assert_eq!(
        guarded.ask(1, "~/Documents/a.txt")["result"],
        json!({"content": []})
    );
    server.fail();
    assert_eq!(
        guarded.ask(2, "~/Documents/a.txt")["result"],
        json!({"content": []})
    );
    // The project's own documents stay as they are.
    let policy = project.read("policy.json");
    project.edit("policy.json", |policy| policy["rules"] = json!([]));
    sign(&project, 9, "30d");
    project.write("policy.json", policy.to_string());
    server.serve_file(&project);
    let decided_by = || {
        let mut decisions = log(&project).into_iter();
        let last = decisions.rfind(|line| line["kind"] == "decision");
        last.expect("a decision")["layer"].clone()
    };
    until(|| {
        guarded.ask(3, "~/Documents/a.txt");
        decided_by() == "acme@9"
    });
    assert_eq!(guarded.ask(4, "~/Documents/a.txt")["result"]["isError"], true);
    assert_eq!(guarded.end().0, Some(0));
    judged(&project, &flags, 2, &[]);
}

#[test]
fn what_the_flags_do_not_go_with_leaves_the_last_good_one() {
    let project = signed();
    let server = Server::start();
    server.serve_file(&project);
    let flags = |strict: &'static str| {
        let url = server.upstream.url.clone();
        let flags = [
            "--bundle",
            &url,
            "--bundle-key",
            "acme.pub",
            "--bundle-refresh",
            "1",
        ];
        let options = [
            "--options".to_owned(),
            format!("{{\"strict\": {strict}}}"),
            "--verbose".to_owned(),
        ];
        flags.map(str::to_owned).into_iter().chain(options)
    };
    let judge = |strict: &'static str, said: &[&str]| {
        let flags: Vec<String> = flags(strict).collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        judged(&project, &flags, 0, said);
    };
    judge("true", &["revision 7 of `acme`"]);
    // It warns, and that is an error where loading is strict.
    project.edit("policy.json", |policy| {
        policy["rules"][0]["if"]["tool"] = json!(["git_stats"]);
    });
    sign(&project, 8, "30d");
    server.serve_file(&project);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    judge(
        "true",
        &[
            "revision 7 of `acme`",
            "the last good bundle is used, until it expires: the documents are refused",
        ],
    );
    std::thread::sleep(std::time::Duration::from_millis(2100));
    judge("false", &["revision 8 of `acme`"]);
}

#[test]
fn an_address_needs_a_key_and_https() {
    let project = signed();
    let flags = ["--bundle", "https://bundles.example/acme.json"];
    judged(&project, &flags, 4, &["is at an address, and no key is pinned"]);
    let flags = [
        "--bundle",
        "http://bundles.example/acme.json",
        "--bundle-key",
        "acme.pub",
    ];
    judged(&project, &flags, 1, &["is not an address, expected `https://…`"]);
}

#[test]
fn a_bundle_is_not_fetched_for_every_call() {
    let project = signed();
    let server = Server::start();
    server.serve_file(&project);
    let flags = ["--bundle", &server.upstream.url, "--bundle-key", "acme.pub"];
    for _ in 0..3 {
        judged(&project, &flags, 0, &[]);
    }
    assert_eq!(server.upstream.seen().len(), 1);
}

#[test]
fn a_guard_takes_up_what_the_address_has() {
    let project = signed();
    let server = Server::start();
    let flags = [
        "--bundle",
        &server.upstream.url,
        "--bundle-key",
        "acme.pub",
        "--bundle-refresh",
        "1",
        "--audit",
        "log.jsonl",
    ];
    let refused = [
        &["guard", "--server", "filesystem"],
        flags.as_slice(),
        &["--", "touch", "started"],
    ]
    .concat();
    project.check(&refused, 4, &[], &["is not used: the server answered HTTP 503"]);
    server.serve_file(&project);
    let mut guarded = Guarded::start(&project, &flags, ECHO);
    let documents = "~/Documents/a.txt";
    assert_eq!(guarded.ask(1, documents)["result"], json!({"content": []}));
    server.fail();
    let says = |text: &str| {
        log(&project)
            .iter()
            .any(|line| line["refused"].to_string().contains(text))
    };
    until(|| says("the server answered HTTP 503"));
    assert_eq!(guarded.ask(2, documents)["result"], json!({"content": []}));
    project.edit("policy.json", |policy| policy["rules"] = json!([]));
    sign(&project, 8, "30d");
    server.serve_file(&project);
    until(|| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        guarded.ask(3, documents)["result"]["isError"] == true
    });
    let (code, said) = guarded.end();
    assert_eq!(code, Some(0), "{said}");
}

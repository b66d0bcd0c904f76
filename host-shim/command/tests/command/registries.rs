//! Signed bundles in a registry of OCI.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bundles::{sign, signed};
use crate::guarding::{ECHO, Guarded};
use crate::project::{Project, reading};
use crate::wire::{Sent, Upstream, reply};

/// A registry that wants a token, which it gives to `user` with the password `word`.
struct Registry {
    upstream: Upstream,
    /// What it has, by its path.
    kept: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Registry {
    fn start() -> Self {
        let kept: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
        let own = Arc::clone(&kept);
        let upstream = Upstream::start(move |request, to| answer(request, to, &own));
        Self { upstream, kept }
    }

    fn host(&self) -> &str {
        let url = self.upstream.url.strip_prefix("http://").expect("an address");
        url.strip_suffix("/mcp").expect("an address")
    }

    fn address(&self, reference: &str) -> String {
        format!("oci://{}/{reference}", self.host())
    }

    fn change(&self, path: &str, change: impl FnOnce(&mut String)) {
        change(self.kept.lock().expect("what it has").get_mut(path).expect(path));
    }

    /// Runs the command with these secrets.
    fn run(&self, project: &Project, secret: &str, arguments: &[&str]) -> Output {
        let secrets = format!("other.example=secret {}={secret}", self.host());
        let mut command = project.command("project", arguments);
        command.env("XDG_CACHE_HOME", project.folder.path().join("cache"));
        command.env("CALLGATE_BUNDLE_CREDENTIALS", secrets);
        command.output().expect("an answer")
    }

    /// Checks the exit code and what is said.
    #[track_caller]
    fn check(&self, project: &Project, secret: &str, arguments: &[&str], code: i32, expected: &[&str]) {
        let output = self.run(project, secret, arguments);
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
        let said = said.concat();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        for part in expected {
            assert!(said.contains(part), "{arguments:?}: {part}: {said}");
        }
    }
}

fn answer(request: &Sent, to: &mut TcpStream, kept: &Mutex<BTreeMap<String, String>>) {
    let mut words = request.head.split(' ');
    let (method, path) = (words.next().expect("a method"), words.next().expect("a path"));
    let host = request.header("host").expect("a host");
    let authorization = request.header("authorization").unwrap_or_default();
    if path.starts_with("/token?") {
        assert!(
            path.contains("service=registry&scope=repository%3Aacme"),
            "{path}"
        );
        return match authorization {
            "Basic dXNlcjp3b3Jk" => reply(to, "200 OK", &[], "{\"token\": \"t1\", \"expires_in\": 60}"),
            _ => reply(to, "401 Unauthorized", &[], ""),
        };
    }
    if authorization != "Bearer t1" {
        let challenge = format!(
            "Bearer realm=\"http://{host}/token\",service=\"registry\",scope=\"repository:acme:pull,push\""
        );
        return reply(to, "401 Unauthorized", &[("www-authenticate", &challenge)], "");
    }
    let mut kept = kept.lock().expect("what it has");
    match (method, path) {
        ("POST", _) => {
            let place = path.replace("uploads/", "uploads/1?state=x");
            reply(to, "202 Accepted", &[("location", &place)], "");
        }
        ("PUT", _) => {
            let path = match path.split_once("/uploads/1?state=x&digest=") {
                Some((blobs, digest)) => format!("{blobs}/{}", digest.replace("%3A", ":")),
                None => path.to_owned(),
            };
            kept.insert(path, request.body.clone());
            reply(to, "201 Created", &[], "");
        }
        (_, _) => match kept.get(path) {
            Some(_) if request.header("if-none-match") == Some("\"same\"") => {
                reply(to, "304 Not Modified", &[], "")
            }
            Some(text) => reply(
                to,
                "200 OK",
                &[("etag", "\"same\"")],
                if method == "HEAD" { "" } else { text },
            ),
            None => reply(to, "404 Not Found", &[], ""),
        },
    }
}

const PASSWORD: &str = "user:word";
const MANIFEST: &str = "/v2/acme/policies/manifests/7";

#[test]
fn a_bundle_goes_into_a_registry_and_is_judged_by() {
    let (project, registry) = (signed(), Registry::start());
    let address = registry.address("acme/policies:7");
    let push = ["bundle", "push", "acme.json", &address];
    registry.check(
        &project,
        "user:other",
        &push,
        1,
        &["the bundle is not put there: `127.0.0.1` answered HTTP 401 Unauthorized and no token"],
    );
    registry.check(
        &project,
        "other",
        &push,
        1,
        &["answered HTTP 401 Unauthorized and no token"],
    );
    registry.check(
        &project,
        PASSWORD,
        &push,
        0,
        &["\"revision\":7", "\"digest\":\"sha256:"],
    );
    let manifest: Value = serde_json::from_str(&registry.kept.lock().expect("kept")[MANIFEST]).expect("JSON");
    assert_eq!(
        manifest["artifactType"],
        "application/vnd.callgate.bundle.v1+json"
    );
    // What is there is not put there again.
    registry.check(&project, PASSWORD, &push, 0, &[]);
    let puts = |at: &str| {
        let seen = registry.upstream.seen();
        let puts = seen
            .iter()
            .filter(|sent| sent.head.starts_with("PUT") && sent.head.contains(at));
        puts.filter(|sent| sent.header("authorization").is_some()).count()
    };
    assert_eq!((puts("/uploads/"), puts("/manifests/")), (2, 2));
    let call = reading("~/Documents/a.txt");
    let judge = [
        "eval",
        &call,
        "--bundle",
        &address,
        "--bundle-key",
        "acme.pub",
        "--bundle-refresh",
        "1",
    ];
    registry.check(&project, PASSWORD, &judge, 0, &["\"allow\""]);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    registry.check(&project, PASSWORD, &judge, 0, &["\"allow\""]);
    let seen = registry.upstream.seen();
    let asked = seen.last().expect("a request").header("if-none-match");
    assert_eq!(asked, Some("\"same\""));
    // Nobody else was told a secret, and the last good one stays without it.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    registry.check(
        &project,
        "token",
        &judge,
        0,
        &["the last good bundle is used", "no token"],
    );
    assert!(seen.iter().all(|sent| {
        let told = sent.header("authorization").unwrap_or_default();
        matches!(
            told,
            "" | "Bearer t1" | "Bearer other" | "Basic dXNlcjp3b3Jk" | "Basic dXNlcjpvdGhlcg=="
        )
    }));
    let wrong = project
        .command("project", &judge)
        .env("CALLGATE_BUNDLE_CREDENTIALS", "secret")
        .output();
    let wrong = String::from_utf8(wrong.expect("an answer").stderr).expect("UTF-8");
    assert!(
        wrong.contains("`CALLGATE_BUNDLE_CREDENTIALS`: part 1 is not a secret"),
        "{wrong}"
    );
}

#[test]
fn what_is_pulled_is_what_was_pushed_or_nothing() {
    let (project, registry) = (signed(), Registry::start());
    let file = |name: &str| fs::read(project.folder.path().join("project").join(name));
    let address = registry.address("acme/policies:7");
    registry.check(
        &project,
        PASSWORD,
        &["bundle", "push", "acme.json", &address],
        0,
        &[],
    );
    let pull = ["bundle", "pull", &address, "--out", "pulled.json"];
    registry.check(&project, PASSWORD, &pull, 0, &["\"revision\":7"]);
    assert_eq!(
        file("pulled.json").expect("a file"),
        file("acme.json").expect("a file")
    );
    fs::remove_file(project.folder.path().join("project/pulled.json")).expect("a file");
    project.check(&["bundle", "keygen", "other"], 0, &["other.pub"], &[]);
    let refuse = |flags: &[&str], expected: &str| {
        registry.check(&project, PASSWORD, &[&pull, flags].concat(), 4, &[expected]);
        assert!(file("pulled.json").is_err(), "{expected}");
    };
    refuse(&["--bundle-key", "other.pub"], "no pinned key signed it");
    // A registry that gives another layer than its manifest says, or another manifest than is asked for.
    let manifest = registry.kept.lock().expect("kept")[MANIFEST].clone();
    let digest = serde_json::from_str::<Value>(&manifest).expect("JSON")["layers"][0]["digest"].clone();
    let digest = digest.as_str().expect("a digest");
    registry.change(&format!("/v2/acme/policies/blobs/{digest}"), |blob| {
        blob.push('\n')
    });
    refuse(&[], "the layer is not the one with the digest `sha256:");
    registry.change(MANIFEST, |manifest| {
        *manifest = manifest.replace("vnd.callgate", "vnd.other")
    });
    refuse(
        &[],
        "the manifest has no bundle, expected one layer of `application/vnd.callgate.bundle.v1+json`",
    );
    registry.change(MANIFEST, |manifest| *manifest = " ".repeat(300 * 1024));
    refuse(&[], "the server answered with more than 262144 bytes");
    let named = registry.address(&format!("acme/policies@sha256:{}", "0".repeat(64)));
    let pull = ["bundle", "pull", &named, "--out", "pulled.json"];
    registry.check(
        &project,
        PASSWORD,
        &pull,
        4,
        &["answered HTTP 404 Not Found to `GET /v2/acme/policies/manifests/sha256:"],
    );
    registry.kept.lock().expect("kept").insert(
        named.replace(
            &registry.address("acme/policies@"),
            "/v2/acme/policies/manifests/",
        ),
        manifest,
    );
    registry.check(
        &project,
        PASSWORD,
        &pull,
        4,
        &["the manifest is not the one with the digest"],
    );
    registry.check(
        &project,
        PASSWORD,
        &["bundle", "push", "acme.json", &named],
        1,
        &["a bundle is put under a tag"],
    );
    let elsewhere = [
        "bundle",
        "push",
        "acme.json",
        "https://policies.example/acme.json",
    ];
    registry.check(
        &project,
        PASSWORD,
        &elsewhere,
        1,
        &["is not a registry, expected `oci://REGISTRY/NAME:TAG`"],
    );
    project.edit("acme.json", |envelope| envelope["signatures"] = json!([]));
    registry.check(
        &project,
        PASSWORD,
        &["bundle", "push", "acme.json", &address],
        4,
        &["it has no signature"],
    );
}

#[test]
fn a_server_behind_the_guard_has_no_secret_of_the_registry() {
    let (project, registry) = (signed(), Registry::start());
    let address = registry.address("acme/policies:7");
    registry.check(
        &project,
        PASSWORD,
        &["bundle", "push", "acme.json", &address],
        0,
        &[],
    );
    let secrets = format!("{}={PASSWORD}", registry.host());
    let cache = project.folder.path().join("cache");
    let script = format!("env > environment\n{ECHO}");
    let flags = [
        "--bundle",
        &address,
        "--bundle-key",
        "acme.pub",
        "--",
        "sh",
        "-c",
        &script,
    ];
    let environment = [
        ("CALLGATE_BUNDLE_CREDENTIALS", secrets.as_str()),
        ("XDG_CACHE_HOME", cache.to_str().expect("UTF-8")),
        ("TOLD", "yes"),
    ];
    let mut guarded = Guarded::with(&project, &flags, &environment);
    assert_eq!(
        guarded.ask(1, "~/Documents/a.txt")["result"],
        json!({"content": []})
    );
    guarded.end();
    let environment = fs::read_to_string(project.folder.path().join("project/environment")).expect("a file");
    assert!(
        environment.contains("TOLD=yes") && !environment.contains("CREDENTIALS"),
        "{environment}"
    );
}

#[test]
fn signed_bundles_are_compared_whoever_signed_them() {
    let project = signed();
    fs::copy(
        project.folder.path().join("project/acme.json"),
        project.folder.path().join("project/older.json"),
    )
    .expect("a file");
    let equal = ["diff", "older.json", "acme.json"];
    project.check(
        &equal,
        0,
        &["\"equal\":true"],
        &["the signatures of `older.json` were not verified"],
    );
    project.edit("policy.json", |policy| policy["rules"] = json!([]));
    sign(&project, 8, "30d");
    project.check(
        &[
            "diff",
            "older.json",
            "acme.json",
            "--same-folder",
            "--fail-on",
            "stricter",
        ],
        2,
        &["\"before\":{\"decision\":\"allow\",\"rule\":\"allow-fetch-known\"}"],
        &["not verified"],
    );
    project.check(
        &["diff", "older.json", "callgate.json"],
        0,
        &["\"equal\":false"],
        &["`older.json`"],
    );
}

/// A server that gives tokens to whoever asks, and what it was asked.
fn tokens() -> Upstream {
    Upstream::start(|_, to| reply(to, "200 OK", &[], "{\"token\": \"t1\"}"))
}

/// Pulls from a registry that is not asked for anything but its manifest.
fn pulled(project: &Project, registry: &Upstream, secrets: &str) -> String {
    let host = registry
        .url
        .strip_prefix("http://")
        .and_then(|url| url.strip_suffix("/mcp"));
    let host = host.expect("an address");
    let address = format!("oci://{host}/acme/policies:7");
    let mut command = project.command("project", &["bundle", "pull", &address, "--out", "pulled.json"]);
    command.env(
        "CALLGATE_BUNDLE_CREDENTIALS",
        format!("{host}=user:word {secrets}"),
    );
    let output = command.output().expect("an answer");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn no_server_that_a_registry_names_gets_its_password() {
    let (project, third) = (signed(), tokens());
    let host = third
        .url
        .strip_prefix("http://")
        .and_then(|url| url.strip_suffix("/mcp"));
    let host = host.expect("an address").to_owned();
    let challenge = format!("Bearer realm=\"http://{host}/token\",service=\"registry\"");
    let registry = {
        let challenge = challenge.clone();
        Upstream::start(move |_, to| {
            reply(to, "401 Unauthorized", &[("www-authenticate", &challenge)], "");
        })
    };
    pulled(&project, &registry, "");
    let told = |seen: Vec<Sent>| -> Vec<Option<String>> {
        let sent = seen
            .iter()
            .map(|sent| sent.header("authorization").map(str::to_owned));
        sent.collect()
    };
    assert_eq!(told(third.seen()), [None]);
    // A person says that it is the one with the registry's tokens.
    pulled(&project, &registry, &format!("{host}=user:there"));
    assert_eq!(
        told(third.seen())[1..],
        [Some("Basic dXNlcjp0aGVyZQ==".to_owned())]
    );
    // Whoever keeps the registry's blobs asks for nothing.
    let storage = Upstream::start(move |_, to| {
        reply(to, "401 Unauthorized", &[("www-authenticate", &challenge)], "");
    });
    let elsewhere = storage.url.clone();
    let registry = Upstream::start(move |_, to| {
        reply(to, "307 Temporary Redirect", &[("location", &elsewhere)], "");
    });
    let said = pulled(&project, &registry, "");
    assert!(said.contains("HTTP 401"), "{said}");
    assert_eq!((told(storage.seen()), third.seen().len()), (vec![None], 2));
}

#[test]
fn a_digest_that_is_none_is_part_of_no_address() {
    let project = signed();
    let manifest = json!({"schemaVersion": 2, "config": {"mediaType": "x", "digest": "x", "size": 2}, "layers": [
        {"mediaType": "application/vnd.callgate.bundle.v1+json", "digest": "../../../other/blobs/x", "size": 2}]});
    let registry = Upstream::start(move |_, to| reply(to, "200 OK", &[], &manifest.to_string()));
    let said = pulled(&project, &registry, "");
    assert!(
        said.contains("`../../../other/blobs/x`, expected `sha256:`"),
        "{said}"
    );
    assert_eq!(registry.seen().len(), 1);
}

#[test]
fn a_registry_has_the_time_of_all_its_answers_together() {
    let project = signed();
    // Each answer is in time.
    let registry = Upstream::start(|request, to| {
        thread::sleep(Duration::from_secs(6));
        let host = request.header("host").expect("a host");
        let challenge = format!("Bearer realm=\"http://{host}/token\"");
        match request.head.contains("/token") {
            true => reply(to, "200 OK", &[], "{\"token\": \"t1\"}"),
            false => reply(to, "401 Unauthorized", &[("www-authenticate", &challenge)], ""),
        }
    });
    let said = pulled(&project, &registry, "");
    assert!(said.contains("the server does not answer in time"), "{said}");
}

//! Signed bundles: made, signed, judged by, and refused.

pub(crate) mod running;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use callgate_bundle::{Envelope, NamedText, Payload, SecretKey};
use serde_json::{Value, json};

use crate::project::{Project, reading};

/// A project with a key, and its bundle signed as revision 7 of `acme`.
pub(crate) fn signed() -> Project {
    let project = Project::new();
    project.check(
        &["bundle", "keygen", "acme"],
        0,
        &["\"private\":\"acme.key\""],
        &[],
    );
    sign(&project, 7, "30d");
    project
}

pub(crate) fn sign(project: &Project, revision: u64, expires: &str) {
    build(project, revision, expires);
    project.check(
        &["bundle", "sign", "acme.json", "--key", "acme.key"],
        0,
        &["signedBy"],
        &[],
    );
}

fn build(project: &Project, revision: u64, expires: &str) {
    let revision = revision.to_string();
    let flags = [
        "--name",
        "acme",
        "--revision",
        &revision,
        "--expires",
        expires,
        "--out",
        "acme.json",
    ];
    project.check(
        &[&["bundle", "build"], flags.as_slice()].concat(),
        0,
        &["\"name\":\"acme\""],
        &[],
    );
}

const PINNED: [&str; 4] = ["--bundle", "acme.json", "--bundle-key", "acme.pub"];

#[track_caller]
fn refused(project: &Project, flags: &[&str], expected: &[&str]) {
    let call = reading("a.txt");
    project.check(&[&["eval", &call], flags].concat(), 4, &[], expected);
}

#[test]
fn keys_are_made_once_and_the_private_one_is_the_users_alone() {
    let project = signed();
    let folder = project.folder.path().join("project");
    let mode = |name: &str| {
        fs::metadata(folder.join(name))
            .expect("a file")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode("acme.key"), 0o600);
    let before = fs::read(folder.join("acme.key")).expect("a key");
    let overwritten = "there is a `acme.key`, and no key is overwritten";
    project.check(&["bundle", "keygen", "acme"], 1, &[], &[overwritten]);
    assert_eq!(fs::read(folder.join("acme.key")).expect("a key"), before);
    let public = fs::read_to_string(folder.join("acme.pub")).expect("a key");
    assert!(public.starts_with("callgate-public-key ed25519 "), "{public}");
    // The private key does not get into the bundle, and nobody pins it.
    refused(
        &project,
        &["--bundle", "acme.json", "--bundle-key", "acme.key"],
        &["acme.key: expected one line, `callgate-public-key ed25519 `"],
    );
}

#[test]
fn a_signed_bundle_is_judged_by_as_its_files_are() {
    let project = signed();
    let judged = |flags: &[&str]| {
        let output = project.run(&[&["eval", "calls.jsonl"], flags].concat());
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("UTF-8"),
        )
    };
    let expected = judged(&[]);
    for name in ["policy.json", "annotations.json", "callgate.json"] {
        fs::remove_file(project.folder.path().join("project").join(name)).expect("a file");
    }
    assert_eq!(judged(&PINNED), expected);
    let call = reading("a.txt");
    let explained = [&["explain", &call], PINNED.as_slice()].concat();
    project.check(&explained, 0, &["structural-sandbox-allow"], &[]);
    let said = [
        &["eval", &call, "--verbose", "--bundle-name", "acme"],
        PINNED.as_slice(),
    ]
    .concat();
    project.check(
        &said,
        0,
        &["allow"],
        &["acme.json`: revision 7 of `acme`, until 2"],
    );
}

#[test]
fn what_is_in_a_bundle_is_shown() {
    let project = signed();
    project.check(
        &["bundle", "show", "acme.json"],
        0,
        &["\"revision\":7", "\"name\":\"policy.json\""],
        &[],
    );
    let policy = fs::read_to_string(project.folder.path().join("project/policy.json")).expect("a file");
    project.check(
        &["bundle", "show", "acme.json", "--text", "policy.json"],
        0,
        &[&policy],
        &[],
    );
    project.check(
        &["bundle", "show", "acme.json", "--text", "x"],
        1,
        &[],
        &["the bundle has no file `x`"],
    );
    project.check(
        &["bundle", "show", "callgate.json"],
        4,
        &[],
        &["callgate.json: it is not a signed bundle: unknown field `description`, expected one of"],
    );
    let verify = ["bundle", "verify", "acme.json", "--bundle-key", "acme.pub"];
    project.check(&verify, 0, &["\"valid\":true"], &[]);
    project.check(
        &["bundle", "verify", "acme.json"],
        1,
        &[],
        &["no key is pinned, expected `--bundle-key FILE`"],
    );
}

#[test]
fn documents_with_an_error_are_not_put_into_a_bundle() {
    let project = Project::new();
    project.write("policy.json", "{\"rules\": [\n{\"name\": 1}]}");
    let flags = [
        "bundle",
        "build",
        "--name",
        "acme",
        "--revision",
        "1",
        "--out",
        "acme.json",
        "--expires",
    ];
    project.check(
        &[flags.as_slice(), &["30d"]].concat(),
        4,
        &[],
        &["policy.json:2:"],
    );
    assert!(!project.folder.path().join("project/acme.json").exists());
    project.check(
        &[flags.as_slice(), &["soon"]].concat(),
        1,
        &[],
        &["`--expires`: found `soon`, expected `30d`"],
    );
}

#[test]
fn a_fault_has_its_place_in_the_file_that_it_came_from() {
    let project = signed();
    project.write("ceiling.json", "{\n\"toolz\": []}");
    let flags = [&["--ceiling", "ceiling.json"], PINNED.as_slice()].concat();
    refused(&project, &flags, &["ceiling.json:2:1"]);
    // The policy lacks what the bundle's annotations have, so warnings name the bundle's own files.
    project.edit("policy.json", |policy| {
        policy["rules"][0]["if"]["tool"] = json!(["git_stats"]);
    });
    sign(&project, 8, "30d");
    let flags = [&["validate"], PINNED.as_slice()].concat();
    project.check(&flags, 0, &["\"file\":\"acme.json#policy.json\""], &[]);
}

#[test]
fn what_nobody_signed_is_refused() {
    let project = signed();
    refused(
        &project,
        &["--bundle", "acme.json"],
        &[
            "the bundle `acme.json` is signed, and no key is pinned",
            "`--bundle-key FILE` pins the public key",
        ],
    );
    refused(
        &project,
        &["--bundle", "callgate.json", "--bundle-key", "acme.pub"],
        &["the bundle `callgate.json` is not used: it is not a signed bundle: unknown field `description`"],
    );
    build(&project, 7, "30d");
    refused(
        &project,
        &PINNED,
        &["the bundle `acme.json` is not used: it has no signature, expected one by a pinned key"],
    );
    refused(
        &project,
        &["--bundle", "acme.json"],
        &["is signed, and no key is pinned"],
    );
    project.check(
        &["eval", "--bundle-key", "acme.pub", &reading("a.txt")],
        1,
        &[],
        &["--bundle"],
    );
}

#[test]
fn who_signed_what_counts() {
    let project = signed();
    project.check(&["bundle", "keygen", "other"], 0, &["other.pub"], &[]);
    let other = ["--bundle", "acme.json", "--bundle-key", "other.pub"];
    refused(
        &project,
        &other,
        &[
            "is not used: no pinned key signed it: it is signed by `",
            "pins another key too",
        ],
    );
    let either = [&other, &["--bundle-key", "acme.pub"][..]].concat();
    project.check(
        &[&["eval", &reading("a.txt")], either.as_slice()].concat(),
        0,
        &["allow"],
        &[],
    );
    let named = [&["--bundle-name", "acme.dev"], PINNED.as_slice()].concat();
    refused(
        &project,
        &named,
        &["it is the bundle `acme`, expected `acme.dev`"],
    );
    // A word of the payload: `{"format"` and `{"fOrmat"`.
    let mut envelope = project.read("acme.json");
    let payload = envelope["payload"]
        .as_str()
        .expect("text")
        .replacen("eyJmb3", "eyJmT3", 1);
    envelope["payload"] = Value::from(payload);
    project.write("acme.json", envelope.to_string());
    refused(
        &project,
        &PINNED,
        &["does not fit what is signed: the bundle was changed since"],
    );
}

#[test]
fn no_older_revision_is_used() {
    let project = signed();
    let older = fs::read(project.folder.path().join("project/acme.json")).expect("a file");
    let call = reading("a.txt");
    let used = [&["eval", &call], PINNED.as_slice()].concat();
    project.check(&used, 0, &["allow"], &[]);
    let folder = project.folder.path().join("home/.local/state/callgate/bundles");
    let mut states = fs::read_dir(folder).expect("a folder").flatten();
    let state = states.find(|file| file.file_name().to_string_lossy().starts_with("acme."));
    let state = state.expect("the accepted revision").path();
    let accepted: Value = serde_json::from_slice(&fs::read(&state).expect("a file")).expect("JSON");
    assert_eq!(accepted["revision"], 7);
    // To verify is not to use.
    sign(&project, 9, "30d");
    project.check(
        &["bundle", "verify", "acme.json", "--bundle-key", "acme.pub"],
        0,
        &["valid"],
        &[],
    );
    project.write("acme.json", &older);
    project.check(&used, 0, &["allow"], &[]);
    sign(&project, 9, "30d");
    project.check(&used, 0, &["allow"], &[]);
    project.write("acme.json", &older);
    refused(
        &project,
        &PINNED,
        &["revision 7 of the bundle `acme` is lower than 9, which was accepted before"],
    );
    sign(&project, 9, "31d");
    refused(
        &project,
        &PINNED,
        &["another text was accepted before as revision 9 of the bundle `acme`"],
    );
    sign(&project, 10, "30d");
    project.check(&used, 0, &["allow"], &[]);
    fs::write(&state, "{}").expect("a file");
    refused(
        &project,
        &PINNED,
        &[
            "the file of the revisions that were accepted",
            "missing field `format`",
        ],
    );
}

#[test]
fn what_no_engine_takes_is_not_accepted() {
    let project = signed();
    let call = reading("a.txt");
    let used = [&["eval", &call], PINNED.as_slice()].concat();
    project.check(&used, 0, &["allow"], &[]);
    let older = fs::read(project.folder.path().join("project/acme.json")).expect("a file");
    // One that another program has built.
    let key = fs::read_to_string(project.folder.path().join("project/acme.key")).expect("a key");
    let file = NamedText {
        name: "callgate.json".to_owned(),
        text: "{\"policy\": {},\n\"annotations\": {\"servers\": {}}}".to_owned(),
    };
    let end = "2100-01-01T00:00:00Z".parse().expect("a time");
    let payload = Payload::new("acme", 8, end, vec![file]).expect("a bundle");
    let mut envelope = Envelope::of(&payload).expect("an envelope");
    envelope
        .sign(&SecretKey::read(&key).expect("a key"))
        .expect("a signature");
    project.write("acme.json", envelope.to_json());
    refused(
        &project,
        &PINNED,
        &["acme.json#callgate.json:1:12", "the field `rules` is missing"],
    );
    project.write("acme.json", &older);
    project.check(&used, 0, &["allow"], &[]);
    // One that no engine takes with the flags that are laid over it: it warns.
    project.edit("policy.json", |policy| {
        policy["rules"][0]["if"]["tool"] = json!(["git_stats"]);
    });
    sign(&project, 8, "30d");
    let strict = [&["--options", "{\"strict\": true}"], PINNED.as_slice()].concat();
    refused(&project, &strict, &["acme.json#policy.json"]);
    project.write("acme.json", &older);
    let strict = [&["eval", &call], strict.as_slice()].concat();
    project.check(&strict, 0, &["allow"], &[]);
}

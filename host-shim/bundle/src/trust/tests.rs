use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;

use super::*;
use crate::envelope::Envelope;
use crate::key::SecretKey;
use crate::payload::{NamedText, Payload, expiry};

struct Case {
    key: SecretKey,
    trust: Trust,
    _folder: TempDir,
}

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

fn payload(name: &str, revision: u64, text: &str) -> Payload {
    let file = NamedText {
        name: "callgate.json".to_owned(),
        text: text.to_owned(),
    };
    Payload::new(name, revision, at("2030-01-01T00:00:00Z"), vec![file]).unwrap()
}

fn signed(payload: &Payload, key: &SecretKey) -> String {
    let mut envelope = Envelope::of(payload).unwrap();
    envelope.sign(key).unwrap();
    envelope.to_json()
}

impl Case {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = SecretKey::generate().unwrap();
        let trust = Trust {
            keys: vec![SecretKey::generate().unwrap().public(), key.public()],
            name: Some("acme".to_owned()),
            state: folder.path().join("state"),
        };
        Self {
            key,
            trust,
            _folder: folder,
        }
    }

    fn open(&self, text: &str) -> Result<Opened, Refused> {
        self.trust.open(text.as_bytes(), at("2029-12-31T23:59:59Z"))
    }

    /// A bundle with this payload, which is not one.
    fn around(&self, payload: &str) -> String {
        let signed = signed(&super::tests::payload("acme", 1, "{}"), &self.key);
        let mut envelope: serde_json::Value = serde_json::from_str(&signed).unwrap();
        envelope["payload"] = STANDARD.encode(payload).into();
        envelope.to_string()
    }

    #[track_caller]
    fn check(&self, text: &str, expected: &str) {
        let refused = self.open(text).unwrap_err().to_string();
        assert!(refused.starts_with(expected), "{refused}\n{expected}");
    }

    fn accept(&self, payload: &Payload) {
        let opened = self.open(&signed(payload, &self.key)).unwrap();
        self.trust.accept(&opened).unwrap();
        assert_eq!(self.trust.has_accepted(&opened), Ok(true));
    }
}

#[test]
fn any_pinned_key_is_enough() {
    let case = Case::new();
    let bundle = payload("acme", 1, "{}");
    let mut envelope = Envelope::of(&bundle).unwrap();
    envelope.sign(&SecretKey::generate().unwrap()).unwrap();
    envelope.sign(&case.key).unwrap();
    assert_eq!(case.open(&envelope.to_json()).unwrap().payload, bundle);
}

#[test]
fn who_signed_is_what_counts() {
    let case = Case::new();
    let bundle = payload("acme", 1, "{}");
    let unsigned = Envelope::of(&bundle).unwrap().to_json();
    case.check(&unsigned, "it has no signature, expected one by a pinned key");
    let other = SecretKey::generate().unwrap();
    let expected = format!(
        "no pinned key signed it: it is signed by `{}`, expected `",
        other.public().id()
    );
    case.check(&signed(&bundle, &other), &expected);
    // The name of a key is no proof of it.
    let named = signed(&bundle, &other).replace(&other.public().id(), &case.key.public().id());
    let expected = format!(
        "the signature of the key `{}` does not fit what is signed",
        case.key.public().id()
    );
    case.check(&named, &expected);
    case.check(&case.around(&bundle.to_json().replace("acme", "acmf")), &expected);
    // What is not verified is not read.
    case.check(&case.around("{\"x\": 1}"), &expected);
    let pinned_by_nobody = Trust {
        keys: Vec::new(),
        ..case.trust.clone()
    };
    let text = signed(&bundle, &case.key);
    let refused = pinned_by_nobody.open(text.as_bytes(), at("2029-01-01T00:00:00Z"));
    assert!(matches!(refused, Err(Refused::UnknownKey { .. })), "{refused:?}");
}

#[test]
fn another_type_is_signed_otherwise() {
    // A signature over the bare payload, and one for another type, are none over the envelope.
    let case = Case::new();
    let bundle = payload("acme", 1, "{}");
    let id = case.key.public().id();
    let json = bundle.to_json();
    let other = format!("DSSEv1 16 application/json {} {json}", json.len());
    for text in [json.as_str(), &other] {
        let mut envelope: serde_json::Value = serde_json::from_str(&signed(&bundle, &case.key)).unwrap();
        envelope["signatures"][0]["sig"] = STANDARD.encode(case.key.sign(text.as_bytes())).into();
        case.check(&envelope.to_string(), &format!("the signature of the key `{id}`"));
    }
}

#[test]
fn what_a_bundle_is_for_counts() {
    let case = Case::new();
    let other = signed(&payload("acme.dev", 1, "{}"), &case.key);
    case.check(&other, "it is the bundle `acme.dev`, expected `acme`");
    let any = Trust {
        name: None,
        ..case.trust.clone()
    };
    assert!(any.open(other.as_bytes(), at("2029-01-01T00:00:00Z")).is_ok());
}

#[test]
fn what_has_expired_is_refused() {
    let case = Case::new();
    let text = signed(&payload("acme", 1, "{}"), &case.key);
    for (time, expected) in [
        ("2029-12-31T23:59:59.999999999Z", None),
        (
            "2030-01-01T00:00:00Z",
            Some("the bundle `acme` expired at 2030-01-01T00:00:00Z, and it is 2030-01-01T00:00:00Z"),
        ),
        (
            "2031-01-01T00:00:00.5Z",
            Some("the bundle `acme` expired at 2030-01-01T00:00:00Z, and it is 2031-01-01T00:00:00Z"),
        ),
    ] {
        let found = case.trust.open(text.as_bytes(), at(time));
        let found = found.err().map(|refused| refused.to_string());
        assert_eq!(found.as_deref(), expected, "{time}");
    }
}

#[test]
fn a_revision_only_grows() {
    let case = Case::new();
    let (five, six) = (payload("acme", 5, "{}"), payload("acme", 6, "{}"));
    case.accept(&five);
    case.accept(&five);
    case.accept(&six);
    case.check(
        &signed(&five, &case.key),
        "revision 5 of the bundle `acme` is lower than 6, which was accepted before",
    );
    case.check(
        &signed(&payload("acme", 6, "{ }"), &case.key),
        "another text was accepted before as revision 6 of the bundle `acme`, expected a higher revision",
    );
    case.accept(&payload("acme", 8, "{ }"));
    // What was opened before another process accepted a higher one.
    let opened = Opened {
        payload: six,
        digest: String::new(),
        key: case.key.public().id(),
    };
    assert!(matches!(
        case.trust.accept(&opened),
        Err(Refused::RolledBack { .. })
    ));
}

#[test]
fn a_bundle_is_signed_again_without_a_new_revision() {
    let case = Case::new();
    let bundle = payload("acme", 5, "{}");
    case.accept(&bundle);
    let mut envelope = Envelope::read(signed(&bundle, &case.key).as_bytes()).unwrap();
    envelope.sign(&SecretKey::generate().unwrap()).unwrap();
    assert!(case.open(&envelope.to_json()).is_ok());
}

#[test]
fn names_have_revisions_of_their_own() {
    let case = Case::new();
    case.accept(&payload("acme", 9, "{}"));
    let any = Trust {
        name: None,
        ..case.trust.clone()
    };
    let text = signed(&payload("acme.json", 1, "{}"), &case.key);
    assert!(any.open(text.as_bytes(), at("2029-01-01T00:00:00Z")).is_ok());
}

#[test]
fn a_key_that_is_not_pinned_has_no_say_in_revisions() {
    let case = Case::new();
    let other = SecretKey::generate().unwrap();
    let pinning = |keys: Vec<PublicKey>| Trust {
        keys,
        ..case.trust.clone()
    };
    let now = at("2029-01-01T00:00:00Z");
    let theirs = pinning(vec![other.public()]);
    let high = signed(&payload("acme", 99, "{}"), &other);
    theirs
        .accept(&theirs.open(high.as_bytes(), now).unwrap())
        .unwrap();
    let own = signed(&payload("acme", 7, "{}"), &case.key);
    assert!(case.open(&own).is_ok());
    // Where both are pinned, neither takes the other's bundle back.
    let both = pinning(vec![other.public(), case.key.public()]);
    let refused = both.open(own.as_bytes(), now);
    assert!(
        matches!(refused, Err(Refused::RolledBack { accepted: 99, .. })),
        "{refused:?}"
    );
}

#[test]
fn what_was_accepted_must_be_known() {
    let case = Case::new();
    let bundle = payload("acme", 5, "{}");
    case.accept(&bundle);
    let key = case.key.public().id();
    let file = case.trust.state.join(format!("acme.{key}.json"));
    for (text, expected) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        (
            "{\"format\": \"callgate-bundle-state/1\", \"revision\": 5}",
            "missing field `sha256` at line 1 column 52",
        ),
        (
            "{\"format\": \"x\", \"revision\": 5, \"sha256\": \"\"}",
            "`format` is `x`, expected `callgate-bundle-state/1`",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let expected = format!(
            "the file of the revisions that were accepted, `{}`: {expected}",
            file.display()
        );
        case.check(&signed(&bundle, &case.key), &expected);
    }
    // A folder that is a file cannot keep anything.
    let nowhere = Trust {
        state: file,
        ..case.trust.clone()
    };
    let text = signed(&bundle, &case.key);
    let refused = nowhere.open(text.as_bytes(), at("2029-01-01T00:00:00Z"));
    assert!(matches!(refused, Err(Refused::State { .. })), "{refused:?}");
}

#[test]
fn what_is_signed_must_be_a_bundle() {
    let good = payload("acme", 1, "{}").to_json();
    for (from, to, expected) in [
        (
            "callgate-bundle/1",
            "callgate-bundle/2",
            "`format` is `callgate-bundle/2`, expected `callgate-bundle/1`",
        ),
        (
            "\"acme\"",
            "\"../acme\"",
            "`name` is `../acme`, expected at most 64 of a-z",
        ),
        ("\"acme\"", "\"\"", "`name` is ``, expected"),
        ("\"acme\"", "\"Acme\"", "`name` is `Acme`, expected"),
        (
            ":1,\"exp",
            ":0,\"exp",
            "`revision` is `0`, expected a whole number from 1 to 9007199254740991",
        ),
        (
            ":1,\"exp",
            ":9007199254740992,\"exp",
            "`revision` is `9007199254740992`, expected",
        ),
        (
            ":1,\"exp",
            ":-1,\"exp",
            "invalid value: integer `-1`, expected u64 at line 1",
        ),
        (
            ":1,\"exp",
            ":1.0,\"exp",
            "invalid type: floating point `1.0`, expected u64 at line 1",
        ),
        (
            "2030-01-01T00:00:00Z",
            "2030-01-01",
            "`expires` is `2030-01-01`, expected a time in UTC as RFC 3339 has it",
        ),
        (
            "2030-01-01T00:00:00Z",
            "2030-01-01T00:00:00+00:00",
            "`expires` is `2030-01-01T00:00:00+00:00`, expected",
        ),
        (
            "2030-01-01T00:00:00Z",
            "2030-01-01 00:00:00Z",
            "`expires` is `2030-01-01 00:00:00Z`, expected",
        ),
        (
            "\"expires\"",
            "\"later\"",
            "unknown field `later`, expected one of `format`, `name`, `revision`, `expires`, `files`",
        ),
        (
            "\"format\"",
            "\"revision\":1,\"format\"",
            "duplicate field `revision` at line 1",
        ),
        (
            "\"text\":\"{}\"",
            "\"text\":\"{}\",\"text\":\"\"",
            "duplicate field `text` at line 1",
        ),
        (
            "\"text\":\"{}\"",
            "\"text\":\"{}\",\"mode\":1",
            "unknown field `mode`, expected `name` or `text` at line 1",
        ),
        (
            "[{\"name\":\"callgate.json\",\"text\":\"{}\"}]",
            "[]",
            "0 `files`, expected 1 to 64",
        ),
        (
            "[{\"name\":\"callgate.json\",\"text\":\"{}\"}]",
            "[[\"a\",\"b\"]]",
            "invalid type: sequence, expected an object",
        ),
        (
            "[{",
            "[{\"name\":\"callgate.json\",\"text\":\"\"},{",
            "`files[1].name` is `callgate.json`, which is the name of",
        ),
        (
            "\"callgate.json\"",
            "\"a\\u0000\"",
            "`files[0].name` is `a\\0`, expected the name of a file",
        ),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let refused = Payload::read(text.as_bytes()).unwrap_err().to_string();
        let expected = format!("what is signed is not a bundle: {expected}");
        assert!(refused.starts_with(&expected), "{refused}\n{expected}");
    }
    assert_eq!(Payload::read(good.as_bytes()), Ok(payload("acme", 1, "{}")));
    let many = (0..65).map(|at| NamedText {
        name: at.to_string(),
        text: String::new(),
    });
    let refused = Payload::new("acme", 1, at("2030-01-01T00:00:00Z"), many.collect());
    assert!(refused.is_err_and(|refused| refused.to_string().ends_with("65 `files`, expected 1 to 64")));
}

#[test]
fn an_end_is_a_time_or_so_much_later() {
    let now = at("2029-12-31T12:00:00.5Z");
    for (text, expected) in [
        ("30d", Ok("2030-01-30T12:00:00Z")),
        ("1h", Ok("2029-12-31T13:00:00Z")),
        ("2030-01-01T01:00:00.25+01:00", Ok("2030-01-01T00:00:00Z")),
        (
            "0d",
            Err("found `0d`, expected a time later than 2029-12-31T12:00:00Z"),
        ),
        (
            "2029-12-31T12:00:00Z",
            Err("found `2029-12-31T12:00:00Z`, expected a time later than"),
        ),
        ("-1d", Err("found `-1d`, expected a time later than")),
        (
            "30",
            Err("found `30`, expected `30d`, `12h` or a time such as `2030-01-31T00:00:00Z`"),
        ),
        (
            "9223372036854775807d",
            Err("found `9223372036854775807d`, expected `30d`"),
        ),
        ("2030-01-01", Err("found `2030-01-01`, expected `30d`")),
    ] {
        match (expiry(text, now), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.to_string(), expected),
            (Err(found), Err(expected)) => assert!(found.starts_with(expected), "{found}\n{expected}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }
}

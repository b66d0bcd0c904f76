//! The files in `vector` were written by another implementation, Python's `cryptography`: a key whose seed is 32 bytes of 7, and an
//! envelope that it signed.

use super::*;
use crate::payload::NamedText;

const ACME: &str = include_str!("vector/acme.json");

fn secret() -> SecretKey {
    SecretKey::read(include_str!("vector/acme.key")).unwrap()
}

fn public() -> PublicKey {
    PublicKey::read(include_str!("vector/acme.pub")).unwrap()
}

fn file(name: &str, text: &str) -> NamedText {
    NamedText {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

fn acme() -> Payload {
    let files = vec![
        file("callgate.json", "{\"policy\": \"rules.json\", // é\n}"),
        file("rules.json", "{\"rules\": []}"),
    ];
    Payload::new("acme", 7, "2030-01-01T00:00:00Z".parse().unwrap(), files).unwrap()
}

#[test]
fn what_another_implementation_signed_is_verified() {
    assert_eq!(secret().public(), public());
    let envelope = Envelope::read(ACME.as_bytes()).unwrap();
    let (payload, key) = envelope.verified(&[public()]).unwrap();
    assert_eq!(key, public().id());
    assert_eq!(Payload::read(payload), Ok(acme()));
    assert_eq!(envelope.unverified(), Ok(acme()));
}

#[test]
fn what_is_signed_here_is_what_it_signed() {
    let mut envelope = Envelope::of(&acme()).unwrap();
    envelope.sign(&secret()).unwrap();
    assert_eq!(envelope.to_json(), ACME);
    envelope.sign(&secret()).unwrap();
    assert_eq!(envelope.to_json(), ACME);
}

#[test]
fn keys_are_lines_of_text() {
    assert_eq!(secret().to_line(), include_str!("vector/acme.key"));
    assert_eq!(format!("{}\n", public()), include_str!("vector/acme.pub"));
    for text in [
        "",
        "callgate-public-key ed25519 ",
        "callgate-public-key ed25519 BwcHBw==\n",
        include_str!("vector/acme.key"),
        &format!("{}\n\n", public()),
        &format!(" {}", public()),
    ] {
        let reason = PublicKey::read(text).unwrap_err();
        assert!(
            reason.starts_with("expected one line, `callgate-public-key ed25519 `"),
            "{reason}"
        );
    }
    // For this point anybody can sign.
    let weak = format!(
        "{}\n",
        format_args!("callgate-public-key ed25519 AQ{}A=", "A".repeat(40))
    );
    assert_eq!(
        PublicKey::read(&weak).unwrap_err(),
        "the bytes are not a public key of Ed25519"
    );
    let secret = SecretKey::read("callgate-private-key ed25519 c2VjcmV0\n").unwrap_err();
    assert!(!secret.contains("c2VjcmV0"), "{secret}");
    assert_ne!(
        SecretKey::generate().unwrap().public(),
        SecretKey::generate().unwrap().public()
    );
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let refused = Envelope::read(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!("it is not a signed bundle: {expected}"),
        "{text}"
    );
}

#[test]
fn what_is_no_envelope_is_refused_where_it_is_not() {
    check(
        "{\"policy\": 1}",
        "unknown field `policy`, expected one of `payload`, `payloadType`, `signatures` at line 1 column 9",
    );
    check("// a\n{}", "expected value at line 1 column 1");
    check(
        "[1, 2, 3]",
        "invalid type: sequence, expected an object at line 1 column 0",
    );
    check(
        "{\"payload\": \"\",\n \"payload\": \"\"}",
        "duplicate field `payload` at line 2 column 10",
    );
    check(
        "{\"payload\": 1}",
        "invalid type: integer `1`, expected a string at line 1 column 13",
    );
    check(
        "{\"payload\": \"\", \"payloadType\": \"t\"}",
        "missing field `signatures` at line 1 column 35",
    );
    check(
        "{\"payload\": \"\", \"payloadType\": \"t\", \"signatures\": [[\"a\", \"b\"]]}",
        "invalid type: sequence, expected an object at line 1 column 51",
    );
    check(
        "{\"payload\": \"\", \"payloadType\": \"application/json\", \"signatures\": []}",
        "`payloadType` is `application/json`, expected `application/vnd.callgate.bundle.v1+json`",
    );
    let with = |payload: &str, signatures: &str| {
        format!(
            "{{\"payload\": \"{payload}\", \"payloadType\": \"{PAYLOAD_TYPE}\", \"signatures\": {signatures}}}"
        )
    };
    check(
        &with("e", "[]"),
        "`payload`: Invalid input length: 1, expected base64",
    );
    check(&with("e30", "[]"), "`payload`: Invalid padding, expected base64");
    check(
        &with("e30=", "[{\"keyid\": \"a\", \"sig\": \"e30=\"}]"),
        "`signatures[0].sig`: expected 64 bytes in base64",
    );
    let one = format!("{{\"keyid\": \"a\", \"sig\": \"{}\"}}", STANDARD.encode([0; 64]));
    let many = format!("[{}]", vec![one; 9].join(","));
    check(&with("e30=", &many), "9 `signatures`, expected at most 8");
    check(
        &(ACME.to_owned() + "{}"),
        "trailing characters at line 2 column 1",
    );
}

#[test]
fn what_is_too_long_is_not_read() {
    let text = vec![b' '; MOST_BYTES + 1];
    assert_eq!(
        Envelope::read(&text).unwrap_err(),
        Refused::TooLong { most: MOST_BYTES }
    );
    let long = vec![file("callgate.json", &"x".repeat(MOST_BYTES))];
    let payload = Payload::new("acme", 1, "2030-01-01T00:00:00Z".parse().unwrap(), long).unwrap();
    assert_eq!(
        Envelope::of(&payload).unwrap_err(),
        Refused::TooLong { most: MOST_BYTES }
    );
}

#[test]
fn an_envelope_is_known_by_its_type() {
    for (text, expected) in [
        (ACME, true),
        ("{\"payloadType\": 1, \"x\": 2}", true),
        ("{\"policy\": {\"payloadType\": 1}}", false),
        ("{\"policy\": \"p.json\", // payloadType\n}", false),
        ("", false),
    ] {
        assert_eq!(is_envelope(text.as_bytes()), expected, "{text}");
    }
}

//! Documents of every kind, broken or not. The result is an engine, or an error with at least one diagnostic.

#![no_main]

use callgate_engine::bind::{Arguments, Call};
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::Engine;
use callgate_fuzz::Guessing;
use libfuzzer_sys::fuzz_target;

const PARTS: [DocumentKind; 6] = [
    DocumentKind::Policy,
    DocumentKind::Annotations,
    DocumentKind::Lists,
    DocumentKind::DomainAllowlists,
    DocumentKind::Options,
    DocumentKind::Roles,
];

const POLICY: &str = r#"{"generatedAt": "", "constitutionHash": "", "inputHash": "", "rules": []}"#;
const ANNOTATIONS: &str = r#"{"generatedAt": "", "servers": {"s": {"inputHash": "", "tools": [
    {"toolName": "t", "serverName": "s", "comment": "", "args": {"path": ["read-path"]}}]}}}"#;

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let part = PARTS[usize::from(*first) % PARTS.len()];
    let built = Engine::builder()
        .part(DocumentKind::Policy, DocumentSource::Text(POLICY))
        .part(DocumentKind::Annotations, DocumentSource::Text(ANNOTATIONS))
        .part(part, DocumentSource::Text(text))
        .build(&Guessing);
    match built {
        Ok(engine) => {
            let call = Call::new("s", "t", Arguments::from_json(r#"{"path":"/etc/passwd"}"#));
            engine.evaluate(&call, &Guessing);
        }
        Err(error) => assert!(!error.diagnostics.is_empty()),
    }
});

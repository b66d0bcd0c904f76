//! A real policy with its tools, and the existing engine's verdicts on 321 calls.
//!
//! The corpus is not part of this repository; `CALLGATE_CORPUS` names its folder. `tests/corpus` lists the warnings of
//! this engine (`warnings.json`) and the verdicts that differ (`differences.jsonl`), with a line
//! `{"call", "request", "recorded", "ours", "weakness"}` for each difference: `call` counts from 0, and `weakness` is a
//! tag of SPEC §15 or an option whose default denies more. There are none today.

use std::fs;
use std::path::{Path, PathBuf};

use callgate_engine::bind::Call;
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::Engine;
use callgate_host::{Machine, VirtualHost};
use conformance::Explain;
use serde_json::{Value, json};

/// The machine and the settings of the recorded engine, from the corpus' README.
const PROTECTED: &str = r#"["/etc/shadow", "/home/provos/.ssh"]"#;
const SANDBOX: &str = r#""/home/provos/.ironcurtain/sandbox""#;
const ALLOWLISTS: &str = r#"{"fetch": ["*"]}"#;

/// "On a disk where none of these paths exists (only `/` and ordinary system folders)".
const FOLDERS: &[&str] = &[
    "/bin", "/dev", "/etc", "/home", "/opt", "/root", "/srv", "/tmp", "/usr", "/var",
];

/// The folder of the corpus: `CALLGATE_CORPUS`, or else `shared/corpus` beside the checkout. Without it, a test prints
/// a message and ends.
fn corpus_folder() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus");
    let folder = std::env::var_os("CALLGATE_CORPUS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if folder.join("verdicts.jsonl").is_file() {
        return Some(folder);
    }
    eprintln!("skipped: there is no corpus at {}", folder.display());
    None
}

fn host() -> VirtualHost {
    let mut world = Machine {
        home: "/home/provos".to_owned(),
        cwd: "/".to_owned(),
        ..Machine::default()
    };
    for folder in FOLDERS {
        world = world.dir(*folder);
    }
    VirtualHost::new(world).expect("the world is well-formed")
}

fn read_file(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn engine(folder: &Path, host: &VirtualHost, compatibility: &str) -> Engine {
    let options = json!({"compatibility": compatibility}).to_string();
    let text = |name: &str| read_file(&folder.join(name));
    let (policy, annotations) = (text("compiled-policy.json"), text("tool-annotations.json"));
    let lists = text("dynamic-lists.json");
    Engine::builder()
        .part(DocumentKind::Policy, DocumentSource::Text(&policy))
        .part(DocumentKind::Annotations, DocumentSource::Text(&annotations))
        .part(DocumentKind::Lists, DocumentSource::Text(&lists))
        .part(DocumentKind::Options, DocumentSource::Text(&options))
        .part(DocumentKind::ProtectedPaths, DocumentSource::Text(PROTECTED))
        .part(DocumentKind::Sandbox, DocumentSource::Text(SANDBOX))
        .part(DocumentKind::DomainAllowlists, DocumentSource::Text(ALLOWLISTS))
        .build(host)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn committed(name: &str) -> String {
    read_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name))
}

#[test]
fn it_loads_and_its_warnings_are_listed() {
    let Some(folder) = corpus_folder() else {
        return;
    };
    let host = host();
    let engine = engine(&folder, &host, "careful");
    let warnings: Vec<String> = engine.warnings().iter().map(ToString::to_string).collect();
    let expected: Vec<String> = serde_json::from_str(&committed("warnings.json")).expect("texts");
    assert_eq!(warnings, expected);
}

/// The recorded calls with their verdicts.
fn recorded(folder: &Path) -> Vec<(String, Value)> {
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a line is JSON");
        (case["request"].to_string(), case["verdict"].clone())
    };
    let cases: Vec<(String, Value)> = read_file(&folder.join("verdicts.jsonl"))
        .lines()
        .map(read)
        .collect();
    assert_eq!(cases.len(), 321);
    cases
}

#[test]
fn calls_are_answered_as_recorded_but_for_the_listed_differences() {
    let Some(folder) = corpus_folder() else {
        return;
    };
    let host = host();
    let careful = engine(&folder, &host, "careful");
    let runtime = engine(&folder, &host, "runtime");
    let mut found = Vec::new();
    for (at, (request, recorded)) in recorded(&folder).iter().enumerate() {
        let call = Call::from_json(request).expect("a request is a call");
        let answer = |engine: &Engine| -> Value {
            serde_json::to_value(engine.evaluate(&call, &host)).expect("a verdict is JSON")
        };
        let ours = answer(&runtime);
        // The careful defaults only add to a reason what it is about.
        let mut longer = answer(&careful);
        let (text, begins) = (longer["reason"].as_str(), recorded["reason"].as_str());
        if text
            .zip(begins)
            .is_some_and(|(text, begins)| text.starts_with(begins))
        {
            longer["reason"] = recorded["reason"].clone();
        }
        assert_eq!(longer, ours, "{request}");
        if ours != *recorded {
            let request: Value = serde_json::from_str(request).expect("a request is JSON");
            found.push(json!({"call": at, "request": request, "recorded": recorded, "ours": ours}));
        }
    }
    let mut listed: Vec<Value> = committed("differences.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect();
    for difference in &mut listed {
        let weakness = difference
            .as_object_mut()
            .and_then(|members| members.shift_remove("weakness"));
        assert!(
            weakness.is_some_and(|one| one.is_string()),
            "without its weakness: {difference}"
        );
    }
    assert_eq!(found, listed);
}

#[test]
fn an_explanation_gives_the_same_verdict_and_replays() {
    let Some(folder) = corpus_folder() else {
        return;
    };
    let host = host();
    let engine = engine(&folder, &host, "careful");
    for (request, _) in recorded(&folder) {
        let call = Call::from_json(&request).expect("a request is a call");
        let verdict = engine.evaluate(&call, &host);
        let explained = engine.explain(&call, &host);
        assert_eq!(explained.verdict, verdict, "{request}");
        let again = engine.explain(&call, &explained.recording);
        let text = |one| serde_json::to_string(one).expect("an explanation is JSON");
        assert_eq!(text(&explained), text(&again), "{request}");
    }
}

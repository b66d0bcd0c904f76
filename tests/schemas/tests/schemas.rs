//! The schemas say of the shape of a document what its reader says.
//!
//! Documents of the suite and of the examples are changed in many small ways. A document that the schema accepts and the
//! engine refuses for its shape is a fault, and so is one that the schema refuses and the engine accepts.

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "a failing test stops where it fails"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use callgate_authoring::scenario::{ScenarioPlace, read_scenarios};
use callgate_authoring::schema::Schema;
use callgate_engine::bind::Call;
use callgate_engine::bundle::read_bundle;
use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::{Code, Diagnostic, Severity};
use callgate_engine::document::without_comments;
use callgate_engine::engine::Engine;
use callgate_host::VirtualHost;
use schemas::Validator;
use serde_json::{Value, json};

/// How many documents of a kind are changed, and at how many of their places.
const DOCUMENTS: usize = 60;
const PLACES: usize = 60;

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = checkout().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(&without_comments(text)).expect("a document")
}

/// The documents by their schemas: those of written cases and of the examples.
fn documents() -> BTreeMap<Schema, Vec<Value>> {
    let mut found: BTreeMap<Schema, BTreeSet<String>> = BTreeMap::new();
    let mut add = |schema: Schema, document: &Value| {
        found.entry(schema).or_default().insert(document.to_string());
    };
    let recorded = [
        ("compiledPolicy", Schema::Policy),
        ("toolAnnotations", Schema::Annotations),
        ("dynamicLists", Schema::Lists),
    ];
    for folder in ["tests/worlds", "tests/configuration", "tests/ceilings"] {
        for entry in fs::read_dir(checkout().join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            for line in read(&path).lines() {
                // Calls may hold lone surrogates, which a value cannot.
                let line = line.replace(r"\ud800", "");
                let line: Value = serde_json::from_str(&line).expect("a case");
                for (name, document) in line["engine"].as_object().into_iter().flatten() {
                    let known = recorded.iter().find(|(recorded, _)| recorded == name);
                    let schema = known.map(|(_, schema)| *schema).or_else(|| Schema::parse(name));
                    if let Some(schema) = schema {
                        add(schema, document);
                    }
                }
                for case in line["cases"].as_array().into_iter().flatten() {
                    if case["call"].is_object() {
                        add(Schema::Call, &case["call"]);
                    }
                }
            }
        }
    }
    let example = "host-shim/examples/bundle";
    add(Schema::Policy, &parsed(&read(format!("{example}/policy.json"))));
    add(
        Schema::Annotations,
        &parsed(&read(format!("{example}/annotations.json"))),
    );
    add(
        Schema::Annotations,
        &parsed(&read("js/test/types/documents/annotations.json")),
    );
    add(
        Schema::Annotations,
        &parsed(&read("js/test/types/documents/harn.json")),
    );
    add(
        Schema::Policy,
        &parsed(&read("js/test/types/documents/policy.json")),
    );
    add(
        Schema::Bundle,
        &parsed(&read("core/authoring/src/start/usual/callgate.json")),
    );
    add(Schema::Bundle, &parsed(&read(format!("{example}/callgate.json"))));
    add(
        Schema::Bundle,
        &json!({
            "$schema": "s", "policy": {"rules": []}, "annotations": {"servers": {}}, "lists": {"lists": {}}, "sandbox": null,
            "programs": {"programs": [{"names": ["deploy"], "operands": "execute*", "runs": true}]},
            "protectedPaths": [], "domainAllowlists": {"$schema": "s", "s": ["a.test"]}, "trustedServers": ["t"],
            "ceiling": {"tools": ["t"]}, "options": {"strict": false}, "roles": [{"name": "r", "category": "opaque"}],
            "world": {"roots": {}, "visibility": [], "operations": []}, "tests": ["scenarios.jsonl"],
            "invariants": [
                {"name": "i", "never": {"decision": "allow", "server": "s", "tool": ["t"], "roles": "r", "within": "/etc"}},
                {"always": {"decision": ["deny", "escalate"], "domains": ["a.test"], "values": "v"}},
            ],
        }),
    );
    add(
        Schema::Lists,
        &json!({"$schema": "s", "generatedAt": "", "lists": {"l": {
            "values": ["a"], "manualAdditions": [], "manualRemovals": [], "resolvedAt": "", "inputHash": "",
        }}}),
    );
    add(
        Schema::Options,
        &json!({
            "compatibility": "careful", "heuristicPaths": "on", "unknownArguments": "deny", "pathCase": "sensitive",
            "directories": "pinned", "relativePaths": "deny", "serverPaths": {"s": {"/a": "/b"}}, "harnServer": "h",
            "workspaceRoots": "bounds", "serverAliases": {"fs": "filesystem"}, "sandboxServers": ["s"],
            "sandboxRoles": ["read-path"], "sandbox": "after-rules", "workingDirectory": {"git": "/a"}, "strict": false,
            "limits": {"rules": 5, "depth": 20},
        }),
    );
    let call = json!({"serverName": "s", "toolName": "t", "arguments": {"a": "b"}});
    let world = json!({
        "platform": "posix", "home": "/home/u", "cwd": "/srv",
        "fs": {"dirs": ["/d"], "files": ["/f"], "links": {"/l": "/f"}, "errors": {"/d": "EACCES"}, "caseInsensitive": true},
        "git": {"/srv": {"branch": null, "remotes": {"origin": ["u"], "fork": "v"}, "insteadOf": {"a": "b"}, "pushDefault": "fork"}},
        "conditions": {"c": true, "d": "fails", "e": {"f": 1}},
    });
    let one = json!({"name": "n", "call": call, "expect": "not-allow", "rule": "r", "world": world, "context": {"mode": "m"}});
    let test = json!({"description": "d", "request": call, "expectedDecision": "deny", "reasoning": "", "source": ""});
    let verdict = json!({"decision": "allow", "rule": "r", "reason": "", "escalatedRoles": ["a"]});
    add(Schema::Scenarios, &one);
    add(
        Schema::Scenarios,
        &json!([{"call": call.to_string(), "rule": "r"}, {"request": call, "verdict": verdict}]),
    );
    add(
        Schema::Scenarios,
        &json!({
            "$schema": "s", "description": "d", "generatedAt": "", "scenarios": [test], "world": world, "context": {"command": "c"},
        }),
    );
    let documents = found.into_iter().map(|(schema, texts)| {
        let values = texts.iter().map(|text| serde_json::from_str(text).expect("JSON"));
        // Spread over all of them, since neighbours are alike.
        let step = texts.len().div_ceil(DOCUMENTS);
        (schema, values.step_by(step).collect())
    });
    documents.collect()
}

/// Every place in the document, as a JSON Pointer.
fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    found.push(place.to_owned());
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{place}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                places(value, &format!("{place}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The document with one small change.
fn changed(document: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    places(document, "", &mut all);
    let step = all.len().div_ceil(PLACES);
    let mut changed = vec![document.clone()];
    let others = [
        json!(null),
        json!(true),
        json!(1),
        json!(-1),
        json!(1.5),
        json!("x"),
        json!(""),
        json!([]),
        json!({}),
        json!(["x"]),
        json!([1]),
        json!([[]]),
        json!({"x": 1}),
        json!({"x": "x"}),
        json!("read-path"),
        json!(["read-path"]),
        json!({"roles": "read-path"}),
        json!({"default": "none", "when": []}),
    ];
    for place in all.iter().step_by(step) {
        let mut with = |change: &dyn Fn(&mut Value)| {
            let mut copy = document.clone();
            change(copy.pointer_mut(place).expect("a place"));
            changed.push(copy);
        };
        for other in &others {
            with(&|value| *value = other.clone());
        }
        let Some(value) = document.pointer(place) else {
            continue;
        };
        match value {
            Value::Object(members) => {
                for extra in ["zz", "$schema", "roles", "description"] {
                    with(&|value| value[extra] = json!(1));
                    with(&|value| value[extra] = json!("x"));
                }
                for key in members.keys().take(20) {
                    with(&|value| {
                        let members = value.as_object_mut().expect("an object");
                        members.shift_remove(key);
                    });
                }
            }
            Value::Array(items) => {
                for extra in items.first().into_iter().chain([&json!("x"), &json!(0)]) {
                    with(&|value| value.as_array_mut().expect("an array").push(extra.clone()));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    changed
}

fn errors(parts: &[(DocumentKind, Value)], host: &VirtualHost) -> Vec<Diagnostic> {
    let mut builder = Engine::builder();
    let (policy, annotations) = (json!({"rules": []}), json!({"servers": {}}));
    for (kind, value) in [
        (DocumentKind::Policy, &policy),
        (DocumentKind::Annotations, &annotations),
    ] {
        builder = builder.part(kind, value);
    }
    for (kind, value) in parts {
        builder = builder.part(*kind, value);
    }
    let diagnostics = builder.build(host).err().map(|error| error.diagnostics);
    let found = diagnostics.into_iter().flatten();
    found.filter(|one| one.severity == Severity::Error).collect()
}

/// The errors of the engine about the document.
fn refused(schema: Schema, document: &Value, host: &VirtualHost) -> Vec<Diagnostic> {
    if schema == Schema::Call {
        let error = Call::from_json(&document.to_string()).err();
        return error
            .map(|error| Diagnostic::error(Code::WrongType, "call", error.message))
            .into_iter()
            .collect();
    }
    if schema == Schema::Bundle {
        let bundle = read_bundle(&document.to_string());
        let inline = bundle.inline.iter();
        let parts: Vec<(DocumentKind, Value)> = inline
            .map(|one| (one.kind, serde_json::from_str(&one.text).expect("JSON")))
            .collect();
        let mut found = errors(&parts, host);
        found.extend(bundle.faults);
        return found;
    }
    if schema == Schema::Scenarios {
        return refused_scenarios(&document.to_string());
    }
    let kind = DocumentKind::parse(schema.as_str()).expect("a document of an engine");
    let found = errors(&[(kind, document.clone())], host).into_iter();
    found.filter(|one| one.path.starts_with(kind.as_str())).collect()
}

/// The errors about scenarios and their worlds.
fn refused_scenarios(text: &str) -> Vec<Diagnostic> {
    let scenarios = match read_scenarios(text) {
        Ok(scenarios) => scenarios,
        Err(faults) => return faults,
    };
    let worlds = scenarios
        .iter()
        .filter_map(|scenario| match scenario.place.as_ref()? {
            ScenarioPlace::World(world) => Some(world),
            ScenarioPlace::Recording(_) => None,
        });
    let refused = worlds.filter_map(|world| {
        let value: Value = serde_json::from_str(&world.text).expect("JSON");
        let error = VirtualHost::from_value(&value).err()?.to_string();
        // Faults of a world other than its shape, such as a path that is not absolute.
        let words = [
            "unknown field",
            "missing field",
            "invalid type",
            "unknown variant",
            "did not match",
        ];
        let is_shape = words.iter().any(|word| error.contains(word));
        let code = if is_shape {
            Code::WrongType
        } else {
            Code::InvalidValue
        };
        Some(Diagnostic::error(code, &*world.path, error))
    });
    refused.collect()
}

fn is_about_shape(fault: &Diagnostic) -> bool {
    matches!(
        fault.code,
        Code::WrongType | Code::MissingField | Code::UnknownKey | Code::UnknownValue
    )
}

#[test]
fn a_schema_accepts_what_the_engine_does_not_refuse_for_its_shape() {
    let machine = json!({"home": "/home/u", "cwd": "/srv", "fs": {"dirs": ["/srv"]}});
    let host = VirtualHost::from_value(&machine).expect("a machine");
    let documents = documents();
    assert_eq!(documents.len(), Schema::ALL.len(), "every schema has documents");
    let (mut accepted, mut refusals) = (0, 0);
    for (schema, documents) in documents {
        let written = schema.to_json();
        let validator = Validator::new(written);
        // A null in the place of a whole document means that there is none.
        let all = documents.iter().flat_map(changed);
        for document in all.filter(|document| !document.is_null()) {
            let fault = validator.fault(&document);
            let is_valid = fault.is_none();
            let errors = refused(schema, &document, &host);
            let of_shape = errors.iter().find(|fault| is_about_shape(fault));
            if let (true, Some(fault)) = (is_valid, of_shape) {
                panic!("the schema `{schema}` accepts {document}\nand the engine says {fault}");
            }
            if let Some(why) = fault
                && errors.is_empty()
            {
                panic!("the engine accepts {document}\nand the schema `{schema}` says {why}");
            }
            if is_valid {
                accepted += 1;
            } else {
                refusals += 1;
            }
        }
    }
    assert!(
        accepted > 10_000 && refusals > 10_000,
        "{accepted} accepted, {refusals} refused"
    );
}

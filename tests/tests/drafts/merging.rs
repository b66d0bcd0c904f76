//! Drafts beside annotations that exist.

use callgate_authoring::draft::{Change, propose_annotations};
use callgate_engine::document::DocumentSource;
use serde_json::{Value, json};

/// Annotations that a person wrote, with a tool and an argument that are gone, and a schema that changed.
const WRITTEN: &str = r#"{
  "servers": {
    "other": {"tools": []},
    "files": {
      "tools": [
        {"toolName": "old", "args": {}},
        {
          "toolName": "read", "comment": "by hand",
          "args": {
            "path":   {"default": ["read-path","write-path"], "when": [{"condition": {"arg": "dry", "is": "truthy"}, "roles": ["read-path"]}]},
            "lost": ["none"]
          },
          "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}, "lost": {}}}
        }
      ]
    }
  }
}
"#;

#[test]
fn what_a_person_wrote_stays() {
    let tools = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [
        {"name": "read", "inputSchema": {
            "properties": {"path": {"type": ["string", "array"]}, "to": {"type": "string"}}, "required": ["path"],
        }},
        {"name": "write", "inputSchema": {"properties": {"path": {"type": "string"}}}},
    ]}});
    let existing = DocumentSource::Text(WRITTEN);
    let proposal = propose_annotations(DocumentSource::Value(&tools), "files", Some(existing)).unwrap();
    let drift: Vec<String> = proposal
        .drift
        .iter()
        .map(|one| {
            format!(
                "{} {} {}",
                one.change,
                one.tool,
                one.argument.as_deref().unwrap_or("-")
            )
        })
        .collect();
    assert_eq!(
        drift,
        [
            "new-argument read to",
            "gone-argument read lost",
            "changed-schema read path",
            "changed-schema read path",
            "new-tool write -",
            "gone-tool old -",
        ]
    );
    let expected = WRITTEN
        .replace("\"lost\": [\"none\"]", "\"lost\": [\"none\"],\n            \"to\": [\"none\"]")
        .replace(
            r#"{"type": "object", "properties": {"path": {"type": "string"}, "lost": {}}}"#,
r#"{"type": "object", "properties": {"path": {"type": ["string", "array"]}, "to": {"type": "string"}}, "required": ["path"]}"#,
        )
        .replace(
            "        }\n      ]",
            "        },\n        {\n          \"toolName\": \"write\",\n          \"args\": {\"path\": [\"write-path\"]},\n          \"inputSchema\": {\"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\"}}}\n        }\n      ]",
        );
    assert_eq!(proposal.text, expected);
    assert_eq!(
        serde_json::from_str::<Value>(&proposal.text).unwrap(),
        proposal.annotations
    );
    // Once merged, what is gone is all that differs.
    let again = DocumentSource::Text(&proposal.text);
    let again = propose_annotations(DocumentSource::Value(&tools), "files", Some(again)).unwrap();
    assert_eq!(again.text, proposal.text);
    let changes: Vec<Change> = again.drift.iter().map(|one| one.change).collect();
    assert_eq!(changes, [Change::GoneArgument, Change::GoneTool]);
    assert_eq!((again.drafted, again.unsure), (Vec::new(), Vec::new()));
}

#[test]
fn a_list_or_annotations_that_cannot_be_read_are_refused() {
    let faults = |tools: Value, existing: Option<Value>| {
        let existing = existing.as_ref().map(DocumentSource::Value);
        let faults = propose_annotations(DocumentSource::Value(&tools), "s", existing).unwrap_err();
        faults[0].to_string()
    };
    for (tools, expected) in [
        (json!(1), "error[wrong-type] at toolsList: "),
        (json!({}), "error[missing-field] at toolsList: "),
        (
            json!({"error": {"code": -1}}),
            "error[invalid-value] at toolsList.error: ",
        ),
        (json!([{}]), "error[missing-field] at toolsList[0]: "),
        (
            json!([{"name": "a"}, {"name": "a"}]),
            "error[duplicate-tool] at toolsList[1]: ",
        ),
    ] {
        let found = faults(tools, None);
        assert!(found.starts_with(expected), "{found}");
    }
    for (existing, expected) in [
        (json!([]), "error[wrong-type] at toolAnnotations: "),
        (
            json!({"t": {"kind": "read"}}),
            "error[invalid-value] at toolAnnotations: ",
        ),
        (
            json!({"servers": {"s": {"tools": [{"toolName": "a"}]}}}),
            "error[missing-field] at toolAnnotations.servers.s.tools[0]: ",
        ),
    ] {
        let found = faults(json!([]), Some(existing));
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn the_key_for_editors_stays() {
    let written = "{\n  // By hand.\n  \"$schema\": \"annotations.json\",\n  \"servers\": {}\n}\n";
    let tools = json!({"tools": [{"name": "now", "inputSchema": {"properties": {}}}]});
    let existing = DocumentSource::Text(written);
    let proposal = propose_annotations(DocumentSource::Value(&tools), "clock", Some(existing)).unwrap();
    let kept = "{\n  // By hand.\n  \"$schema\": \"annotations.json\",\n  \"servers\": {";
    assert!(proposal.text.starts_with(kept), "{}", proposal.text);
}

//! Drafts of what the calls of a working day met.

use callgate_authoring::draft::propose_annotations;
use callgate_engine::document::DocumentSource;
use serde_json::{Value, json};

use crate::evidence::{check, described};
use crate::propose;

fn annotation(tool: Value, server: &str) -> Value {
    propose(&json!([tool]), server).annotations["servers"][server]["tools"][0].clone()
}

#[test]
fn a_default_of_the_schema_is_kept() {
    let tool = json!({"name": "git_status", "inputSchema": {"type": "object", "properties": {
        "path": {"type": "string", "default": "."},
        "files": {"type": "array", "items": {"type": "string"}, "default": []},
        "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
    }}});
    let properties = annotation(tool, "gitx")["inputSchema"]["properties"].clone();
    assert_eq!(properties["path"]["default"], ".");
    assert_eq!(properties["files"]["default"], json!([]));
    assert_eq!(properties["mode"].get("default"), None);
}

#[test]
fn a_default_that_was_not_kept_is_no_drift() {
    let of = |path: Value| json!([{"name": "list", "inputSchema": {"type": "object", "properties": {"path": path}}}]);
    let drift = |then: Value, now: Value| {
        let written = propose(&of(then), "s").annotations;
        let existing = Some(DocumentSource::Value(&written));
        let proposal = propose_annotations(DocumentSource::Value(&of(now)), "s", existing).unwrap();
        proposal.drift.len()
    };
    let (without, here) = (
        json!({"type": "string"}),
        json!({"type": "string", "default": "."}),
    );
    let elsewhere = json!({"type": "string", "default": "/srv"});
    assert_eq!(drift(without.clone(), here.clone()), 0);
    assert_eq!(drift(here.clone(), here.clone()), 0);
    assert_eq!(drift(here.clone(), elsewhere), 1);
    assert_eq!(drift(here, without), 1);
}

/// The sandbox allows what happens to a path, and not what else a tool does.
#[test]
fn a_tool_that_acts_says_so() {
    for (name, arguments, expected) in [
        (
            "shell_execute",
            &[("command", ""), ("directory", "")][..],
            Some("execute"),
        ),
        ("run_command", &[("cwd", "")], Some("execute")),
        ("start_process", &[("cmd", "")], Some("execute")),
        ("send_email", &[("attachments", "")], Some("fetch")),
        ("upload_file", &[("path", "")], Some("fetch")),
        ("read_file", &[("path", "")], None),
        ("git_remote", &[("command", ""), ("path", "")], None),
        ("run_query", &[("table", "")], None),
    ] {
        let kind = annotation(described(name, "", arguments), "s")
            .get("kind")
            .cloned();
        assert_eq!(kind, expected.map(|kind| json!(kind)), "{name}");
    }
}

#[test]
fn descriptions_in_other_languages_speak_of_paths() {
    let compress = described(
        "compress",
        "将文件或文件夹压缩为压缩包",
        &[
            ("input", "待压缩的文件或文件夹路径"),
            ("output", "输出压缩包路径"),
            ("password", "加密压缩包的密码"),
        ],
    );
    let args = annotation(compress, "archive")["args"].clone();
    for name in ["input", "output"] {
        assert!(args[name].to_string().contains("-path"), "{args}");
    }
    assert_eq!(args["password"], json!(["none"]));
}

#[test]
fn the_ends_of_an_edge_are_ids() {
    let link = json!({"name": "link_nodes", "description": "Create connections between nodes in a diagram file",
    "inputSchema": {"type": "object", "properties": {"edges": {"type": "array", "items": {"type": "object", "properties": {
        "from": {"type": "string", "description": "Source node ID"},
        "to": {"type": "string", "description": "Target node ID"},
    }}}}}});
    check(link, "drawio", json!({"edges": ["none"]}), &[]);
    let attachment = described(
        "get_attachment_content",
        "Read one email attachment",
        &[("attachment_name", "The attachment filename shown in the list.")],
    );
    check(attachment, "mail", json!({"attachment_name": ["none"]}), &[]);
}

#[test]
fn what_is_kept_or_typed_is_text() {
    for (name, argument, about) in [
        (
            "append_insight",
            "insight",
            "Business insight discovered from data",
        ),
        ("mark_task_done", "completedDetails", ""),
        ("fill", "value", "The value to fill in."),
        ("open_nodes", "names", "An array of entity names to retrieve"),
        ("write_range", "rows", "Rows of values"),
    ] {
        let tool = described(name, "", &[(argument, about)]);
        check(tool, "s", json!({argument: ["text"]}), &[]);
    }
}

#[test]
fn browsers_take_hosts_for_urls_and_converters_take_uris() {
    let opened = described(
        "browser_navigate",
        "Navigate to a URL",
        &[("url", "The URL to navigate to")],
    );
    let url = json!({"url": {"roles": ["fetch-url"], "scheme": "http"}});
    check(opened, "playwright", url, &[]);
    let fetched = described("fetch", "Fetches a URL", &[("url", "URL to fetch")]);
    check(fetched, "fetch", json!({"url": ["fetch-url"]}), &[]);
    let converted = described(
        "convert_to_markdown",
        "Convert a resource described by an http:, https:, file: or data: URI to markdown",
        &[("uri", "")],
    );
    check(converted, "markitdown", json!({"uri": ["resource-uri"]}), &[]);
}

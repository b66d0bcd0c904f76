//! Arguments that name nothing of this disk, and those that a person decides.

use serde_json::{Value, json};

use crate::evidence::{check, described};
use crate::{propose, tool};

#[test]
fn what_is_no_path_of_this_disk_is_none() {
    for (name, server, description, argument, about, beside) in [
        (
            "get_file_contents",
            "forge",
            "Get a file",
            "file_path",
            "Path to the file",
            &["project_id", "ref"][..],
        ),
        (
            "browser_drop",
            "s",
            "Drop files onto an element",
            "target",
            "Exact target element reference",
            &[],
        ),
        (
            "kubectl_delete",
            "s",
            "Delete a resource by name or file",
            "name",
            "Name of the resource",
            &[],
        ),
        (
            "install_helm_chart",
            "s",
            "Install a chart",
            "chart",
            "Chart name or path to chart directory",
            &[],
        ),
        (
            "kubectl_create",
            "s",
            "Create a resource",
            "image",
            "Container image to use",
            &[],
        ),
        (
            "kubectl_create",
            "s",
            "Create a resource",
            "content",
            "File content inline",
            &[],
        ),
        (
            "gzip",
            "s",
            "Compress a file",
            "name",
            "The name of what is made",
            &[],
        ),
        ("search_mails", "mail", "Search", "folder", "Mailbox folder", &[]),
        ("list_mails", "imap", "List", "account", "", &[]),
        (
            "crawl",
            "s",
            "Crawl a site",
            "includePaths",
            "Patterns of paths",
            &["url"],
        ),
        (
            "directory_tree",
            "s",
            "Tree of a directory",
            "excludePatterns",
            "",
            &[],
        ),
        ("call", "s", "Call an endpoint", "path", "", &["method"]),
        ("find", "s", "Find values", "path", "", &["collection"]),
        ("create_mailbox", "s", "Create a mailbox", "path", "", &[]),
        (
            "kubectl_create",
            "s",
            "",
            "fromFile",
            "Path to a file, as in key=/path/to/file",
            &[],
        ),
    ] {
        let mut arguments = vec![(argument, about)];
        arguments.extend(beside.iter().map(|name| (*name, "")));
        let tool = described(name, description, &arguments);
        let proposal = propose(&json!([tool]), server);
        let args = &proposal.annotations["servers"][server]["tools"][0]["args"];
        let is_data = args[argument] == json!(["none"]) || args[argument] == json!(["text"]);
        assert!(is_data, "{name} {argument}: {}", args[argument]);
        assert_eq!(proposal.rewritten.len(), 0, "{:?}", proposal.rewritten);
    }
    // The bytes are sent, and no file of this disk.
    let about = [("filename", ""), ("content", "Bytes, base64 encoded")];
    let upload = described("upload_attachment", "Upload an attachment", &about);
    check(
        upload,
        "s",
        json!({"filename": ["none"], "content": ["text"]}),
        &[],
    );
    let save = described("save_file", "Save a file", &about);
    check(
        save,
        "s",
        json!({"filename": ["write-path"], "content": ["text"]}),
        &[],
    );
}

/// Where another argument makes a path likely to be elsewhere, but does not say so, it stays one of this disk.
#[test]
fn a_path_stays_one_where_it_may_be_of_this_disk() {
    for (name, argument, about, beside) in [
        ("upload_markdown", "file_path", "", &["project_id"][..]),
        (
            "get_file",
            "file_path",
            "Absolute path of a file",
            &["project_id", "ref"],
        ),
        ("read_file", "path", "", &["project_id"]),
        ("read_file", "path", "", &["branch"]),
        ("call", "path", "Path to the file to send", &["method"]),
        ("search_files", "folder", "Folder", &[]),
    ] {
        let mut arguments = vec![(argument, about)];
        arguments.extend(beside.iter().map(|name| (*name, "")));
        let proposal = propose(&json!([described(name, "", &arguments)]), "s");
        let found = proposal.rewritten.iter().map(|one| &*one.argument);
        assert_eq!(found.collect::<Vec<_>>(), [argument], "{name}");
    }
}

#[test]
fn arguments_that_a_schema_does_not_list_are_said() {
    let of = |description: &str, schema: Value| json!({"name": "edit", "description": description, "inputSchema": schema});
    let none = || json!({"type": "object", "properties": {}});
    check(
        of("Edit a note in the specified vault", none()),
        "s",
        json!({}),
        &["/*"],
    );
    check(of("Edit. Args: path", none()), "s", json!({}), &["/*"]);
    check(of("Edit the note", none()), "s", json!({}), &[]);
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    check(of("Edit. Args: path", closed), "s", json!({}), &[]);
}

#[test]
fn a_person_decides_what_names_something_and_the_rest_is_counted() {
    let text = || json!({"type": "string"});
    let odd =
        json!({"x": text(), "path": text(), "connectionString": text(), "launchOptions": {"type": "object"}});
    let proposal = propose(&json!([tool("frobnicate", odd)]), "s");
    let names = |list: &[callgate_authoring::draft::DraftedArgument]| -> Vec<String> {
        list.iter().map(|one| one.argument.clone()).collect()
    };
    assert_eq!(
        names(&proposal.unsure),
        ["path", "connectionString", "launchOptions"]
    );
    assert_eq!(names(&proposal.unnamed), ["x"]);
    assert_eq!(names(&proposal.rewritten), ["path"]);
}

//! Drafts by their evidence.

use serde_json::{Value, json};

use crate::{propose, tool};

/// The roles of the only tool's arguments, and the arguments that are unsure.
#[track_caller]
pub(crate) fn check(tool: Value, server: &str, args: Value, unsure: &[&str]) {
    let proposal = propose(&json!([tool]), server);
    assert_eq!(proposal.annotations["servers"][server]["tools"][0]["args"], args);
    let found: Vec<&str> = proposal.unsure.iter().map(|one| &*one.argument).collect();
    assert_eq!(found, unsure, "{:?}", proposal.unsure);
    for one in proposal.drafted.iter().chain(&proposal.unsure) {
        assert!(!one.why.is_empty(), "{one:?}");
    }
}

#[test]
fn hints_make_a_draft_stricter_and_never_looser() {
    let path = || json!({"path": {"type": "string"}});
    let hinted = |name: &str, hints: Value| {
        let mut tool = tool(name, path());
        tool["annotations"] = hints;
        tool
    };
    let read_only = json!({"readOnlyHint": true, "destructiveHint": false});
    for (name, hints, expected, is_sure) in [
        ("read_it", read_only.clone(), json!(["read-path"]), true),
        ("write_it", read_only.clone(), json!(["write-path"]), true),
        ("delete_it", read_only.clone(), json!(["delete-path"]), false),
        // What is removed is named by a verb.
        ("frobnicate", read_only, json!(["read-path", "write-path"]), false),
        (
            "read_it",
            json!({"readOnlyHint": false}),
            json!(["read-path", "write-path"]),
            false,
        ),
        (
            "read_it",
            json!({"destructiveHint": true}),
            json!(["read-path", "write-path"]),
            false,
        ),
        (
            "read_it",
            json!({"readOnlyHint": "yes"}),
            json!(["read-path"]),
            true,
        ),
    ] {
        let unsure: &[&str] = if is_sure { &[] } else { &["path"] };
        check(hinted(name, hints), "s", json!({"path": expected}), unsure);
    }
}

/// Who takes it for a command line judges it by what its programs touch, so a draft says so only where everything speaks for it.
#[test]
fn a_line_for_a_shell_is_drafted_so() {
    let text = || json!({"type": "string"});
    let drafted = |name: &str, description: &str, arguments: Value| {
        let mut tool = tool(name, arguments);
        tool["description"] = json!(description);
        let proposal = propose(&json!([tool]), "s");
        let args = proposal.annotations["servers"]["s"]["tools"][0]["args"].clone();
        // A person decides in any case.
        let is_so = args.to_string().contains("shell-command");
        assert_eq!(
            is_so,
            proposal
                .unsure
                .iter()
                .any(|one| one.roles.iter().any(|role| &**role == "shell-command")),
            "{name}"
        );
        args
    };
    let command = || json!({"command": text()});
    for (name, description) in [
        ("run_shell_command", "Runs a command."),
        ("bash", "Run a command and return what it prints."),
        ("run_command", "Execute a command in the terminal"),
    ] {
        let args = drafted(name, description, command());
        assert_eq!(args["command"], json!(["shell-command"]), "{name}");
    }
    let placed =
        json!({"cmd": text(), "cwd": text(), "timeout_ms": {"type": "number"}, "description": text()});
    let args = drafted("shell_execute", "Execute a shell command", placed);
    assert_eq!(
        args["cmd"],
        json!({"roles": ["shell-command"], "relativeTo": "cwd"})
    );
    for (name, description, arguments) in [
        ("run_command", "Runs a command.", command()),
        ("shell_execute", "Execute a command in the pod's shell", command()),
        ("ssh_exec", "Run a shell command on a remote host", command()),
        (
            "run_powershell",
            "Run a command in a PowerShell terminal",
            command(),
        ),
        ("python_shell", "Run a command in a Python shell", command()),
        (
            "shell",
            "Run a shell command",
            json!({"command": text(), "host": text()}),
        ),
        (
            "shell",
            "Run a shell command",
            json!({"command": text(), "shell": text()}),
        ),
        (
            "shell",
            "Run a shell command",
            json!({"command": text(), "env": {"type": "object"}}),
        ),
        (
            "shell",
            "Run a shell command",
            json!({"command": text(), "cwd": text(), "base_dir": text()}),
        ),
        (
            "shell",
            "Run a shell command",
            json!({"command": {"type": "array", "items": text()}}),
        ),
        ("shell", "Run a shell script", json!({"script": text()})),
        ("shell", "Type into the shell", json!({"pre_command": text()})),
    ] {
        let args = drafted(name, description, arguments);
        assert!(!args.to_string().contains("shell-command"), "{name}: {args}");
    }
}

#[test]
fn a_description_adds_what_a_name_leaves_out() {
    let mut reads = tool("get_file", json!({"path": {"type": "string"}}));
    reads["description"] = json!("Deletes a file after it was read.");
    check(
        reads,
        "s",
        json!({"path": ["read-path", "delete-path"]}),
        &["path"],
    );
    let saves = tool(
        "browser_log",
        json!({"filename": {"type": "string", "description": "File name to save the log to."}}),
    );
    check(
        saves,
        "s",
        json!({"filename": {"roles": ["write-path"], "absent": "nothing"}}),
        &[],
    );
}

#[test]
fn what_is_written_searched_or_left_out_is_text() {
    let text = || json!({"type": "string"});
    let names = [
        "content",
        "message",
        "query",
        "thought",
        "selector",
        "pattern",
        "old_string",
        "newText",
        "body",
    ];
    let properties = names.iter().map(|name| ((*name).to_owned(), text()));
    let properties: serde_json::Map<String, Value> = properties.collect();
    let proposal = propose(&json!([tool("note", properties.into())]), "s");
    let args = &proposal.annotations["servers"]["s"]["tools"][0]["args"];
    for name in names {
        assert_eq!(args[name], json!(["text"]), "{name}");
    }
    let other = json!({"excludePatterns": {"type": "array", "items": text()}, "limit": {"type": "integer"}, "cursor": text()});
    check(
        tool("list", other),
        "s",
        json!({"excludePatterns": ["text"], "limit": ["none"], "cursor": ["none"]}),
        &[],
    );
}

#[test]
fn parts_of_arguments_have_pointers() {
    let text = || json!({"type": "string"});
    let edits = json!({"type": "array", "items": {"type": "object", "properties": {"path": text(), "newText": text()}}});
    check(
        tool(
            "edit_files",
            json!({"edits": edits, "dryRun": {"type": "boolean"}}),
        ),
        "s",
        json!({"/edits/*/path": ["read-path", "write-path"], "/edits/*/newText": ["text"], "dryRun": ["none"]}),
        &[],
    );
    check(
        tool(
            "run",
            json!({"/odd": text(), "command": text(), "headers": {"type": "object"}}),
        ),
        "s",
        json!({"/~1odd": ["none"], "command": ["none"], "headers": ["none"]}),
        &[],
    );
    let one = json!({"type": "object", "properties": {"path": text()}});
    check(
        tool("open", json!({"a": {"oneOf": [one, one]}})),
        "s",
        json!({"/a/path": ["read-path"]}),
        &[],
    );
}

#[test]
fn a_path_that_may_be_a_url_is_judged_as_what_it_names() {
    let mut reads = tool(
        "read_file",
        json!({"path": {"type": "string"}, "isUrl": {"type": "boolean"}}),
    );
    reads["description"] = json!("Read contents from files and URLs.");
    check(
        reads,
        "s",
        json!({
            "path": {
                "default": ["read-path", "fetch-url"],
                "when": [
                    {"condition": {"arg": "isUrl", "is": "falsy"}, "roles": ["read-path"]},
                    {"condition": {"arg": "isUrl", "is": "truthy"}, "roles": ["fetch-url"]},
                ],
            },
            "isUrl": ["none"],
        }),
        &[],
    );
    let mut reads = tool("read_file", json!({"path": {"type": "string"}}));
    reads["description"] = json!("Read contents from files and URLs.");
    check(reads, "s", json!({"path": ["resource-uri"]}), &[]);
    let mut writes = tool("save_file", json!({"path": {"type": "string"}}));
    writes["description"] = json!("Save what a URL or a file holds.");
    let both = json!({"path": ["write-path", "fetch-url"]});
    check(writes, "s", both, &["path"]);
}

#[test]
fn the_side_of_a_transfer_is_anywhere_in_a_name() {
    let properties = json!({"sourcePdfPath": {"type": "string"}, "outputPath": {"type": "string"}});
    check(
        tool("write_pdf", properties),
        "s",
        json!({"sourcePdfPath": ["read-path", "write-path"], "outputPath": ["write-path"]}),
        &[],
    );
}

#[test]
fn names_that_count_are_known() {
    let text = || json!({"type": "string"});
    check(
        tool(
            "compare_files",
            json!({"file1": text(), "path_2": text(), "urlB": text(), "x": text()}),
        ),
        "s",
        json!({"file1": ["read-path"], "path_2": ["read-path"], "urlB": ["fetch-url"], "x": ["none"]}),
        &[],
    );
}

#[test]
fn git_has_meanings_of_its_own() {
    let text = || json!({"type": "string"});
    check(
        tool(
            "git_push",
            json!({"repo_path": text(), "remote": text(), "branch": text()}),
        ),
        "git",
        json!({"repo_path": ["read-path", "write-history"], "remote": ["git-remote-url"], "branch": ["branch-name"]}),
        &[],
    );
    check(
        tool(
            "git_clone",
            json!({"url": {"type": "string", "format": "uri"}, "localPath": text()}),
        ),
        "git",
        json!({"url": ["git-remote-url"], "localPath": ["write-path"]}),
        &[],
    );
    check(
        tool("git_frobnicate", json!({"repo_path": text()})),
        "git",
        json!({"repo_path": ["read-path", "write-path", "write-history", "delete-history"]}),
        &["repo_path"],
    );
}

/// A tool with a description, and arguments that are texts.
pub(crate) fn described(name: &str, description: &str, arguments: &[(&str, &str)]) -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    let arguments = arguments
        .iter()
        .map(|(name, about)| ((*name).to_owned(), text(about)));
    let mut tool = tool(name, arguments.collect());
    tool["description"] = json!(description);
    tool
}

#[test]
fn a_verb_is_about_the_object_of_the_tool() {
    let (read, changed) = (json!(["read-path"]), json!(["read-path", "write-path"]));
    for (name, description, argument, about) in [
        (
            "kubectl_create",
            "Create a Kubernetes resource",
            "filename",
            "Path of a YAML file to create resources from",
        ),
        (
            "kubectl_delete",
            "Delete a Kubernetes resource",
            "filename",
            "Path of a YAML file",
        ),
        ("install_chart", "Install a chart", "valuesFile", "Values file"),
        (
            "mobile_install_app",
            "Install an app on a device",
            "path",
            "The path of the app",
        ),
        ("extract_text", "Extract text", "path", "Path of a PDF"),
        (
            "activate_project",
            "Activate a project",
            "project",
            "Path of the project",
        ),
        ("start_search", "Start a search", "path", "Where"),
        ("set_working_dir", "Set the place of later calls", "path", ""),
        ("exec", "Run a command", "cwd", ""),
        ("launch_browser", "", "executablePath", ""),
    ] {
        let tool = described(name, description, &[(argument, about)]);
        check(tool, "s", json!({argument: read}), &[]);
    }
    for (name, description, argument, about) in [
        ("delete_sheet", "Delete a sheet of a workbook", "path", ""),
        ("delete_rows", "Delete rows", "path", ""),
        ("clear_range", "Clear the cells of a range", "path", ""),
    ] {
        let tool = described(name, description, &[(argument, about)]);
        check(tool, "s", json!({argument: changed}), &[argument]);
    }
    let any = json!(["read-path", "write-path", "delete-path"]);
    check(
        described("delete_note", "Delete a note", &[("path", "")]),
        "s",
        json!({"path": any}),
        &["path"],
    );
    // What removes the file itself stays so.
    for name in ["delete_file", "delete_it", "remove_directory"] {
        let tool = described(name, "", &[("path", "")]);
        check(tool, "s", json!({"path": ["delete-path"]}), &[]);
    }
    check(
        described(
            "export_csv",
            "Export a sheet to CSV",
            &[("path", ""), ("csv_path", "")],
        ),
        "s",
        json!({"csv_path": ["write-path"], "path": changed}),
        &["path"],
    );
    check(
        described(
            "extract_archive",
            "Extract an archive",
            &[("archive_path", ""), ("destination", "")],
        ),
        "s",
        json!({
            "archive_path": read,
            "destination": {"roles": ["write-path"], "reach": "tree"},
        }),
        &[],
    );
    let reads = described("read_file", "Read a file of a resource", &[("path", "")]);
    check(reads, "s", json!({"path": read}), &[]);
    let uri = "The http:, https: or file: URI of a resource";
    check(
        described("convert_to_markdown", "", &[("uri", uri)]),
        "s",
        json!({"uri": ["resource-uri"]}),
        &[],
    );
}

#[test]
fn the_name_of_a_remote_to_come_is_not_one() {
    let text = json!({"type": "string"});
    let add = tool("git_remote_add", json!({"name": text, "url": text}));
    check(
        add,
        "git",
        json!({"name": ["none"], "url": ["git-remote-url"]}),
        &[],
    );
    let set = tool("git_remote_set_url", json!({"name": text, "url": text}));
    let remote = json!(["git-remote-url"]);
    check(set, "git", json!({"name": remote, "url": remote}), &["name"]);
    let mode = json!({"enum": ["list", "add", "remove", "rename"]});
    let any = tool("git_remote", json!({"mode": mode, "name": text, "newName": text}));
    let added = json!({"condition": {"arg": "mode", "equals": "add"}, "roles": ["none"]});
    let name = json!({"default": remote, "when": [added]});
    check(
        any,
        "git",
        json!({"mode": ["none"], "name": name, "newName": ["none"]}),
        &["name"],
    );
}

#[test]
fn arguments_in_any_part_of_a_schema_are_drafted() {
    let one =
        |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let of = |schema: Value| json!({"name": "read_file", "inputSchema": schema});
    let path = json!({"path": ["read-path"]});
    for schema in [
        json!({"anyOf": [one("path"), one("path")]}),
        json!({"allOf": [one("path")]}),
        json!({"$ref": "#/$defs/x", "$defs": {"x": one("path")}}),
    ] {
        check(of(schema), "s", path.clone(), &[]);
    }
    // Arguments that nobody names are denied, and listed.
    for schema in [
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"patternProperties": {"^p": {"type": "string"}}}),
        json!({"$ref": "https://example.com/schema"}),
    ] {
        check(of(schema.clone()), "s", json!({}), &["/*"]);
        let proposal = propose(&json!([of(schema)]), "s");
        let drafted = &proposal.annotations["servers"]["s"]["tools"][0]["inputSchema"];
        assert_eq!(drafted, &json!({"type": "object", "properties": {}}));
    }
}

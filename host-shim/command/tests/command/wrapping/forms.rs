//! What agents write in different forms: TOML, a command that is a line, an address.

use std::fs;

use crate::project::Project;

#[test]
fn a_configuration_in_toml_is_wrapped_and_comes_back_byte_for_byte() {
    let project = Project::new();
    // Line ends of both kinds, which nothing but the text itself could bring back.
    let before =
        "# mine\r\n[mcp_servers.s]\ncommand = 'cat'\r\n\n[mcp_servers.far]\nurl = \"https://example.com\"\n";
    project.write("config.toml", before);
    let file = project.folder.path().join("project/config.toml");
    project.check(
        &["wrap", "--anyway", "config.toml"],
        0,
        &[r#"{"wrapped":["s","far"],"already":[],"left":[]}"#],
        &[],
    );
    let wrapped = fs::read_to_string(&file).expect("a file");
    assert!(
        wrapped.contains(r#"/config.toml", "--", "cat"]"#)
            && wrapped.contains(r#""--url-env", "CALLGATE_URL"]"#)
            && wrapped.contains(r#"env = { CALLGATE_URL = "https://example.com" }"#),
        "{wrapped}"
    );
    project.check(
        &["wrap", "--anyway", "config.toml"],
        0,
        &[r#""already":["s","far"]"#],
        &[],
    );
    project.check(
        &["wrap", "--anyway", "config.toml", "--undo"],
        0,
        &["restored"],
        &[],
    );
    assert_eq!(fs::read_to_string(&file).expect("a file"), before);
}

#[test]
fn a_server_of_which_nothing_is_annotated_is_named_and_left() {
    let project = Project::new();
    let entry = r#"{"command": "cat"}"#;
    project.write(
        "agent.json",
        format!(
            r#"{{"mcpServers": {{"filesystem": {entry}, "Filesystem": {entry}, "brave-search": {entry}}}}}"#
        ),
    );
    let left = [
        r#"{"wrapped":["filesystem"]"#,
        r#"["Filesystem","the bundle annotates no tool of it"#,
        "did you mean `filesystem`?",
        r#"["brave-search","the bundle annotates no tool of it"#,
        "callgate annotate --server brave-search",
    ];
    project.check(&["wrap", "agent.json"], 0, &left, &[]);
    project.check(
        &["wrap", "agent.json", "--anyway"],
        0,
        &[r#"{"wrapped":["Filesystem","brave-search"],"already":["filesystem"],"left":[]}"#],
        &[],
    );
}

#[test]
fn a_command_that_is_a_line_is_taken_apart() {
    let project = Project::new();
    let folder = project.folder.path().join("project/My App");
    fs::create_dir(&folder).expect("a folder");
    let program = folder.join("serve");
    fs::write(&program, "").expect("a program");
    let program = program.to_str().expect("UTF-8");
    let before = serde_json::json!({"mcpServers": {
        "line": {"command": "npx -y 'a server'", "args": []},
        "bare": {"command": "npx -y server"},
        "program": {"command": program},
        "shell": {"command": "cat | server"},
    }})
    .to_string();
    project.write("agent.json", &before);
    let left = r#""left":[["shell","its command is a line that only a shell can take apart"]]"#;
    project.check(&["wrap", "--anyway", "agent.json"], 0, &[left], &[]);
    let servers = project.read("agent.json")["mcpServers"].take();
    let end = |name: &str| {
        let arguments = servers[name]["args"].as_array().expect("arguments").clone();
        let at = arguments.iter().position(|word| word == "--").expect("a command");
        serde_json::Value::from(arguments[at + 1..].to_vec())
    };
    assert_eq!(end("line"), serde_json::json!(["npx", "-y", "a server"]));
    assert_eq!(end("bare"), serde_json::json!(["npx", "-y", "server"]));
    assert_eq!(end("program"), serde_json::json!([program]));
    project.check(
        &["wrap", "--anyway", "agent.json", "--undo"],
        0,
        &["restored"],
        &[],
    );
    let text = fs::read_to_string(project.folder.path().join("project/agent.json"));
    assert_eq!(text.expect("a file"), before);
}

#[test]
fn nothing_of_an_address_is_an_argument() {
    let project = Project::new();
    let address = "https://user:PASSWORD@example.com/TOKEN/mcp?key=KEY";
    let json = serde_json::json!({"mcpServers": {"s": {"type": "http", "url": address, "headers": {"A": "HEADER"}}}});
    project.write("agent.json", json.to_string());
    project.write(
        "agent.toml",
        format!("[mcp_servers.s]\ntype = \"streamable_http\"\nurl = \"{address}\"\n"),
    );
    for file in ["agent.json", "agent.toml"] {
        project.check(&["wrap", "--anyway", file], 0, &[r#""wrapped":["s"]"#], &[]);
    }
    let entry = project.read("agent.json")["mcpServers"]["s"].take();
    assert_eq!(entry["env"]["CALLGATE_URL"], address);
    let text = fs::read_to_string(project.folder.path().join("project/agent.toml")).expect("a file");
    let line = text
        .lines()
        .find(|line| line.starts_with("args"))
        .expect("arguments");
    for secret in ["PASSWORD", "TOKEN", "KEY", "HEADER", "example.com"] {
        let arguments = entry["args"].to_string();
        assert!(
            !arguments.contains(&format!("\"{secret}")) && !arguments.contains(&format!("{secret}@")),
            "{arguments}"
        );
        assert!(
            !line.contains(&format!("{secret}@")) && !line.contains("example.com"),
            "{line}"
        );
    }
    assert!(
        text.contains(&format!("CALLGATE_URL = \"{address}\"")) && !text.contains("streamable_http"),
        "{text}"
    );
    // The guard has it from there.
    let mut command = project.command("project", &["guard", "--server", "s", "--url-env", "NOT_THERE"]);
    let output = command.output().expect("the guard ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("--url-env: the environment has no variable `NOT_THERE`"),
        "{said}"
    );
    let both = ["guard", "--server", "s", "--url-env", "A", "--url", "http://x"];
    project.check(&both, 1, &[], &["cannot be used with"]);
}

#[test]
fn a_document_that_is_a_fifo_is_refused_at_once() {
    let project = Project::new();
    let fifo = project.folder.path().join("project/fifo.json");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo").success());
    project.check(
        &["validate", "--bundle", "fifo.json"],
        4,
        &[],
        &["it is not a regular file"],
    );
    // So is one in place of a configuration, and of what wrapping keeps of it.
    project.check(&["wrap", "fifo.json"], 1, &[], &["it is not a regular file"]);
    let configuration = project.folder.path().join("project/mcp.json");
    std::fs::write(&configuration, "{}").expect("a file");
    std::fs::rename(&fifo, configuration.with_extension("json.callgate")).expect("a FIFO");
    project.check(
        &["wrap", "--undo", "mcp.json"],
        1,
        &[],
        &["it is not a regular file"],
    );
}

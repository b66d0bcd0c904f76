//! The guard before the servers of an agent's configuration: `callgate wrap`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::guarding::{ECHO, Guarded};
use crate::project::Project;

#[test]
fn a_configuration_is_wrapped_and_comes_back_byte_for_byte() {
    let project = Project::new();
    let before = "{ // mine\n  \"mcpServers\": {\"s\": {\"command\": \"cat\", }, \"far\": {\"url\": \"unix:///run/far\"}}}";
    project.write(".mcp.json", before);
    let file = project.folder.path().join("project/.mcp.json");
    let text = || fs::read_to_string(&file).expect("a file");
    let wrap = |flags: &[&str], code, out: &[&str], err: &[&str]| {
        project.check(&[&["wrap", ".mcp.json"], flags].concat(), code, out, err);
    };
    wrap(&["--server", "no"], 4, &[], &["has no server `no`"]);
    wrap(&["--undo"], 1, &[], &["there is no `.mcp.json.callgate`"]);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("a mode");
    wrap(&[], 0, &[r#"{"wrapped":["s"],"already":[],"left":[["far","#], &[]);
    let mode = |file: &str| {
        let found = fs::metadata(project.folder.path().join("project").join(file));
        found.expect("a file").permissions().mode() & 0o777
    };
    // The kept file holds the same secrets, and nobody else may read it.
    assert_eq!((mode(".mcp.json"), mode(".mcp.json.callgate")), (0o640, 0o600));
    let wrapped = text();
    assert!(wrapped.starts_with("{ // mine"), "{wrapped}");
    assert!(wrapped.contains(r#"/.mcp.json","--","cat"]"#), "{wrapped}");
    wrap(&[], 0, &[r#"{"wrapped":[],"already":["s"]"#], &[]);
    // An edit that would be lost is not undone.
    fs::write(&file, wrapped.replace("// mine", "// ours")).expect("a file");
    wrap(&["--undo"], 1, &[], &["was changed since"]);
    wrap(&[], 1, &[], &["was changed since"]);
    fs::write(&file, &wrapped).expect("a file");
    wrap(&["--undo"], 0, &["restored"], &[]);
    assert_eq!(text(), before);
    wrap(&["--undo"], 1, &[], &["there is no"]);
}

#[test]
fn the_guard_protects_the_configuration_that_it_was_put_into() {
    let project = Project::new();
    let entry = serde_json::json!({"command": "sh", "args": ["-c", ECHO]});
    project.write(
        "agent.json",
        serde_json::json!({"mcpServers": {"filesystem": entry}}).to_string(),
    );
    // However the file is named.
    project.check(
        &["wrap", "../project/agent.json"],
        0,
        &[r#""wrapped":["filesystem"]"#],
        &[],
    );
    project.check(&["wrap", "agent.json"], 0, &[r#""already":["filesystem"]"#], &[]);
    let arguments = project.read("agent.json")["mcpServers"]["filesystem"]["args"].clone();
    let arguments: Vec<String> = serde_json::from_value(arguments).expect("arguments");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Wherever the agent starts it.
    let mut guarded = Guarded::begin(project.command("home", &arguments));
    let root = project.folder.path().join("project");
    for file in ["agent.json", "agent.json.callgate"] {
        let answer = guarded.ask(1, root.join(file).to_str().expect("UTF-8"));
        assert_eq!(
            answer["result"]["_meta"]["callgate/rule"], "structural-protected-path",
            "{file}: {answer}"
        );
    }
    guarded.end();
}

#[cfg(feature = "http")]
#[test]
fn a_configuration_in_toml_is_wrapped_and_comes_back_byte_for_byte() {
    let project = Project::new();
    // Line ends of both kinds, which nothing but the text itself could bring back.
    let before =
        "# mine\r\n[mcp_servers.s]\ncommand = 'cat'\r\n\n[mcp_servers.far]\nurl = \"https://example.com\"\n";
    project.write("config.toml", before);
    let file = project.folder.path().join("project/config.toml");
    project.check(
        &["wrap", "config.toml"],
        0,
        &[r#"{"wrapped":["s","far"],"already":[],"left":[]}"#],
        &[],
    );
    let wrapped = fs::read_to_string(&file).expect("a file");
    assert!(
        wrapped.contains(r#"/config.toml", "--", "cat"]"#)
            && wrapped.contains(r#""--url", "https://example.com"]"#),
        "{wrapped}"
    );
    project.check(&["wrap", "config.toml"], 0, &[r#""already":["s","far"]"#], &[]);
    project.check(&["wrap", "config.toml", "--undo"], 0, &["restored"], &[]);
    assert_eq!(fs::read_to_string(&file).expect("a file"), before);
}

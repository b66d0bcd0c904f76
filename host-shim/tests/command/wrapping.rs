//! The guard before the servers of an agent's configuration: `callgate wrap`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

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
    assert!(wrapped.contains(r#""--server","s","--","cat"]"#), "{wrapped}");
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
        wrapped.contains(r#""--server", "s", "--", "cat"]"#)
            && wrapped.contains(r#""--url", "https://example.com"]"#),
        "{wrapped}"
    );
    project.check(&["wrap", "config.toml"], 0, &[r#""already":["s","far"]"#], &[]);
    project.check(&["wrap", "config.toml", "--undo"], 0, &["restored"], &[]);
    assert_eq!(fs::read_to_string(&file).expect("a file"), before);
}

//! `callgate wrap --shared`: entries that a team can commit.

use std::fs;

use crate::project::Project;

#[test]
fn what_is_shared_names_nothing_of_this_machine() {
    for (file, begin) in [
        (".mcp.json", "${CLAUDE_PROJECT_DIR:-.}/"),
        (".vscode/mcp.json", "${workspaceFolder}/"),
        (".gemini/settings.json", "./"),
    ] {
        let project = Project::new();
        let place = project.folder.path().join("project").join(file);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        let before = r#"{"mcpServers": {"s": {"command": "cat"}}}"#;
        fs::write(&place, before).expect("a file");
        let wrap = |flags: &[&str], code, out: &[&str], err: &[&str]| {
            project.check(&[&["wrap", "--anyway", file], flags].concat(), code, out, err);
        };
        wrap(&["--shared"], 0, &[r#""wrapped":["s"]"#], &[]);
        let wrapped = project.read(file);
        let server = &wrapped["mcpServers"]["s"];
        assert_eq!(server["command"], "callgate", "{wrapped}");
        let bundle = format!("{begin}callgate.json");
        let arguments = [
            "guard",
            "--bundle",
            &bundle,
            "--server",
            "s",
            "--wrapped",
            &format!("{begin}{file}"),
            "--",
            "cat",
        ];
        assert_eq!(server["args"], serde_json::json!(arguments), "{file}");
        wrap(&["--shared"], 0, &[r#""already":["s"]"#], &[]);
        // What an agent writes anew is taken back too.
        fs::write(&place, serde_json::to_string_pretty(&wrapped).expect("JSON")).expect("a file");
        wrap(&["--shared"], 0, &[r#""already":["s"]"#], &[]);
        fs::write(&place, serde_json::to_string(&wrapped).expect("JSON")).expect("a file");
        wrap(&["--undo"], 0, &["restored"], &[]);
        let after = project.read(file);
        assert_eq!(after["mcpServers"]["s"]["command"], "cat");
        wrap(&["--shared"], 0, &[r#""wrapped":["s"]"#], &[]);
        wrap(&["--undo"], 0, &["restored"], &[]);
        wrap(
            &["--shared", "--audit", "/var/log/callgate.jsonl"],
            1,
            &[],
            &["is not in the project"],
        );
    }
}

#[test]
fn what_is_the_users_is_not_shared() {
    let project = Project::new();
    let home = project.folder.path().join("home");
    fs::create_dir_all(home.join(".codex")).expect("a folder");
    fs::write(
        home.join(".codex/config.toml"),
        "[mcp_servers.s]\ncommand = \"cat\"\n",
    )
    .expect("a file");
    let file = home.join(".codex/config.toml");
    let file = file.to_str().expect("UTF-8");
    project.check(
        &["wrap", "--anyway", "--shared", file],
        1,
        &[],
        &["is not in the project"],
    );
}

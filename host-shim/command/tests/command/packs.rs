//! `callgate init --for` and `--from`: bundles for servers that have a pack.

use std::fs;

use serde_json::{Value, json};

use crate::project::Project;

/// The packs that there are.
fn packs() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../core/authoring/packs");
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("the packs")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

/// A server in a shell, without tools.
const ANSWERS: &str = r#"while read -r line; do id=${line#*\"id\":}; id=${id%%[,\}]*}; case $line in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}';;
*'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[]}}';; esac; done"#;

fn stdout(project: &Project, folder: &str, arguments: &[&str], code: i32) -> String {
    let output = project.run_in(folder, arguments);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{folder} {arguments:?}: {text}{errors}"
    );
    text
}

/// What a bundle must be, whichever packs it is from.
fn check(project: &Project, folder: &str) {
    let valid = "{\"valid\":true,\"errors\":[],\"warnings\":[]}\n";
    assert_eq!(stdout(project, folder, &["validate", "--strict"], 0), valid);
    stdout(project, folder, &["test"], 0);
    for line in stdout(project, folder, &["map", "--format", "json"], 0).lines() {
        let tool: Value = serde_json::from_str(line).expect("JSON");
        let rows = tool["rows"].as_array().expect("rows");
        let (server, name) = (&tool["serverName"], &tool["toolName"]);
        assert!(
            rows.iter().any(|row| row["decision"] != "deny"),
            "{server} {name}"
        );
    }
}

#[test]
fn each_pack_makes_a_bundle_that_is_valid_and_passes_its_scenarios() {
    let project = Project::new();
    for pack in packs() {
        let folder = format!("project/{pack}");
        stdout(&project, "project", &["init", "--for", &pack, &pack], 0);
        check(&project, &folder);
        let lint = stdout(&project, &folder, &["lint", "--format", "human"], 0);
        assert_eq!(lint, "nothing is doubtful\n", "{pack}");
    }
}

#[test]
fn packs_are_joined_and_servers_keep_their_names() {
    let project = Project::new();
    let all = format!("{},gh=github,repo=git", packs().join(","));
    stdout(&project, "project", &["init", "--for", &all, "all"], 0);
    check(&project, "project/all");
    let call = json!({"serverName": "repo", "toolName": "git_add",
                      "arguments": {"repo_path": ".", "files": [".env"]}});
    stdout(&project, "project/all", &["eval", &call.to_string()], 2);
    let call = json!({"serverName": "gh", "toolName": "merge_pull_request",
                      "arguments": {"owner": "acme", "repo": "app", "pull_number": 1}});
    stdout(&project, "project/all", &["eval", &call.to_string()], 3);
}

#[test]
fn a_name_that_is_not_that_of_a_pack_is_refused() {
    let project = Project::new();
    for (packs, said) in [
        ("playwrite", "did you mean `playwright`?"),
        ("zzz", "expected context7, desktop-commander, fetch"),
        ("a=zzz", "there is no pack `zzz`"),
        ("=git", "its name is empty"),
        ("*=time", "holds `*`"),
        ("a\n\"=time", "a control character"),
        ("git=filesystem", "servers called `git` are of another kind"),
        (
            "a=git,a=fetch",
            "its name is given twice, for the packs `git` and `fetch`",
        ),
        ("git,git", "its name is given twice"),
    ] {
        project.check(&["init", "--for", packs, "new"], 1, &[], &[said]);
    }
    assert!(!project.folder.path().join("project/new").exists());
}

#[test]
fn what_a_server_has_that_its_pack_does_not_know_is_said() {
    let project = Project::new();
    let recorded = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../core/authoring/packs/memory/tools.json"
    );
    let same = [
        "annotate", "--pack", "memory", "--server", "notes", "--check", recorded,
    ];
    stdout(&project, "project", &same, 0);
    let mut tools: Vec<Value> = serde_json::from_slice(&fs::read(recorded).expect("a file")).expect("JSON");
    tools.retain(|tool| tool["name"] != "open_nodes");
    for tool in &mut tools {
        if tool["name"] == "search_nodes" {
            tool["inputSchema"]["properties"] =
                json!({"query": {"type": "array"}, "file": {"type": "string"}});
        }
    }
    tools.push(json!({"name": "export_graph", "inputSchema": {"type": "object"}}));
    project.write("tools.json", json!(tools).to_string());
    let changed = [
        "annotate",
        "--pack",
        "memory",
        "--server",
        "notes",
        "--check",
        "--format",
        "human",
        "tools.json",
    ];
    let said = stdout(&project, "project", &changed, 1);
    for part in [
        "the server differs from the pack `memory`, which was written for @modelcontextprotocol/server-memory",
        "new-tool the tool `export_graph`",
        "gone-tool the tool `open_nodes`",
        "new-argument the argument `file` of `search_nodes`",
        "changed-schema the argument `query` of `search_nodes`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Who drafts what there is a pack for hears of it.
    {
        let draft = [
            "annotate",
            "--server",
            "m",
            "--",
            "sh",
            "-c",
            ANSWERS,
            "@modelcontextprotocol/server-memory",
        ];
        let output = project.run(&draft);
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(said.contains("callgate init --for m=memory DIR"), "{said}");
    }
    // The bundle that was written says the same.
    stdout(&project, "project", &["init", "--for", "notes=memory", "new"], 0);
    let into = [
        "annotate",
        "--server",
        "notes",
        "--into",
        "new/callgate.json",
        "--check",
        "tools.json",
    ];
    let said: Value = serde_json::from_str(&stdout(&project, "project", &into, 1)).expect("JSON");
    assert_eq!(said["drift"].as_array().map(Vec::len), Some(4), "{said}");
}

/// The same servers as agents write them.
const CONFIGURATIONS: [(&str, &str); 5] = [
    (
        ".mcp.json",
        r#"{ // with comments
            "mcpServers": {
                "browser": {"command": "npx", "args": ["-y", "@playwright/mcp@latest", "--headless"]},
                "repo": {"command": "uvx", "args": ["mcp-server-git", "--repository", "."]},
                "db": {"command": "docker", "args": ["run", "-i", "--rm", "mcp/sqlite", "--db-path", "/data/a.db"]},
                "own": {"command": "node", "args": ["my server.js"]},
            }}"#,
    ),
    (
        "vscode.json",
        r#"{"servers": {
            "browser": {"type": "stdio", "command": "npx -y @playwright/mcp"},
            "repo": {"command": "python3", "args": ["-m", "mcp_server_git"]},
            "db": {"command": "/home/u/.venv/bin/mcp-server-sqlite"},
            "own": {"command": "node", "args": ["my server.js"]}}}"#,
    ),
    (
        "opencode.json",
        r#"{"mcp": {
            "browser": {"type": "local", "command": ["bunx", "@playwright/mcp@0.0.83"]},
            "repo": {"type": "local", "command": ["uv", "tool", "run", "mcp-server-git==2026.10.19"]},
            "db": {"type": "local", "command": ["uvx", "mcp-server-sqlite"]},
            "own": {"type": "local", "command": ["node", "my server.js"]}}}"#,
    ),
    (
        "claude.json",
        r#"{"projects": {"/home/u/app": {"mcpServers": {
            "browser": {"command": "node", "args": ["/opt/node_modules/@playwright/mcp/cli.js"]},
            "repo": {"command": "uvx", "args": ["mcp-server-git"]},
            "db": {"command": "uvx", "args": ["mcp-server-sqlite"]},
            "own": {"command": "node", "args": ["my server.js"]}}}}}"#,
    ),
    (
        "config.toml",
        "[mcp_servers.browser]\ncommand = \"npx\"\nargs = [\"@playwright/mcp\"]\n\
         [mcp_servers.repo]\ncommand = \"/bin/callgate\"\n\
         args = [\"guard\", \"--bundle\", \"/b/callgate.json\", \"--server\", \"repo\", \"--\", \"uvx\", \"mcp-server-git\"]\n\
         [mcp_servers.db]\ncommand = \"uvx\"\nargs = [\"mcp-server-sqlite\"]\n\
         [mcp_servers.own]\ncommand = \"node\"\nargs = [\"my server.js\"]\n",
    ),
];

#[test]
fn the_servers_of_a_configuration_get_their_packs() {
    for (file, text) in CONFIGURATIONS {
        let project = Project::new();
        project.write(file, text);
        let said = stdout(&project, "project", &["init", "--from", file, "new"], 0);
        let said: Value = serde_json::from_str(&said).expect("JSON");
        let mut found: Vec<(&str, &str)> = said["servers"]
            .as_array()
            .expect("servers")
            .iter()
            .map(|one| {
                (
                    one["server"].as_str().expect("a name"),
                    one["pack"].as_str().unwrap_or("none"),
                )
            })
            .collect();
        found.sort_unstable();
        let expected = [
            ("browser", "playwright"),
            ("db", "sqlite"),
            ("own", "none"),
            ("repo", "git"),
        ];
        assert_eq!(found, expected, "{file}");
        let run = said["servers"]
            .as_array()
            .and_then(|servers| servers.iter().find_map(|one| one["run"].as_str()));
        let command = "callgate annotate --server own --into new/callgate.json -- node 'my server.js'";
        assert_eq!(run, Some(command), "{file}");
        check(&project, "project/new");
    }
}

#[test]
fn a_configuration_of_unknown_servers_makes_a_bundle_to_add_to() {
    let project = Project::new();
    project.write(
        "mcp.json",
        r#"{"mcpServers": {"own": {"command": "own"}, "far": {"url": "https://example.com/mcp"}}}"#,
    );
    stdout(&project, "project", &["init", "--from", "mcp.json", "new"], 0);
    stdout(&project, "project/new", &["validate", "--strict"], 0);
    project.write(
        "tools.json",
        json!([{"name": "look", "inputSchema": {"type": "object"}}]).to_string(),
    );
    let annotate = [
        "annotate",
        "--server",
        "own",
        "--into",
        "new/callgate.json",
        "tools.json",
    ];
    let said: Value = serde_json::from_str(&stdout(&project, "project", &annotate, 0)).expect("JSON");
    let message = said["doubts"][0]["message"].as_str().expect("a message");
    assert_eq!(message, "every call of `own/look` is denied, by `default-deny`");
    assert_eq!(
        project.read("new/annotations.json")["servers"]["own"]["tools"][0]["toolName"],
        "look"
    );
    // With the rule that is proposed a person is asked.
    let bundle = project.folder.path().join("project/new/callgate.json");
    let text = fs::read_to_string(&bundle).expect("a bundle");
    let rules = format!("{},\n    ], // What no rule", said["rule"]);
    fs::write(&bundle, text.replace("], // What no rule", &rules)).expect("written");
    stdout(&project, "project/new", &["validate", "--strict"], 0);
    let call = json!({"serverName": "own", "toolName": "look", "arguments": {}}).to_string();
    stdout(&project, "project/new", &["eval", &call], 3);
    // A name that stands for other servers, or ends the comment that it is written in, opens nothing.
    let names = json!({"mcpServers": {"*": {"command": "mcp-server-time"}, "a\n{": {"command": "mcp-server-time"},
                                      "b // {": {"command": "mcp-server-fetch"}, "git": {"command": "mcp-server-filesystem"}}});
    project.write("names.json", names.to_string());
    let said = stdout(&project, "project", &["init", "--from", "names.json", "names"], 0);
    let said: Value = serde_json::from_str(&said).expect("JSON");
    let servers = said["servers"].as_array().expect("servers");
    let unsuitable = servers
        .iter()
        .filter(|one| one["why"].as_str().is_some_and(|why| why.contains("name")));
    assert_eq!((servers.len(), unsuitable.count()), (4, 3), "{said}");
    stdout(&project, "project/names", &["validate", "--strict"], 0);
    project.write("not.json", r#"{"a": 1}"#);
    project.check(
        &["init", "--from", "not.json", "other"],
        4,
        &[],
        &["not.json: has none of `mcpServers`"],
    );
}

#[test]
fn a_server_in_a_container_gets_its_own_names_of_the_disk() {
    let project = Project::new();
    let folder = project.folder.path().join("project");
    let folder = folder.to_str().expect("UTF-8");
    let servers = json!({"mcpServers": {"files": {"command": "docker", "args": [
        "run", "-i", "--rm", "-v", format!("{folder}:/workspace"), "mcp/filesystem", "/workspace"]}}});
    project.write("mcp.json", servers.to_string());
    stdout(
        &project,
        "project",
        &["init", "--from", "mcp.json", ".", "--force"],
        0,
    );
    stdout(&project, "project", &["validate", "--strict"], 0);
    let call =
        json!({"serverName": "files", "toolName": "read_text_file", "arguments": {"path": "src/a.rs"}});
    let judged = stdout(&project, "project", &["eval", &call.to_string()], 0);
    assert!(judged.contains("/workspace/src/a.rs"), "{judged}");
}

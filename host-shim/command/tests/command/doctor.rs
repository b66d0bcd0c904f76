//! `callgate doctor`: what it finds of what is installed, and what it starts.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::hooks::agents;
use crate::project::Project;

struct Installed {
    project: Project,
    root: PathBuf,
}

impl Installed {
    /// A project whose agents have their hooks, and whose server has a guard.
    fn new() -> Self {
        let project = Project::new();
        let root = project.folder.path().canonicalize().expect("a directory");
        let installed = Self { project, root };
        for agent in agents() {
            installed.run(
                0,
                &["hook", "install", agent, "--bundle", "callgate.json", "--write"],
            );
        }
        installed.project.write(
            ".mcp.json",
            r#"{"mcpServers": {"filesystem": {"command": "cat"}}}"#,
        );
        installed.run(0, &["wrap", ".mcp.json"]);
        installed
    }

    #[track_caller]
    fn run(&self, code: i32, arguments: &[&str]) -> String {
        let mut command = self.project.command("project", arguments);
        command
            .current_dir(self.root.join("project"))
            .env("HOME", self.root.join("home"));
        command.env_remove("XDG_STATE_HOME").env_remove("XDG_DATA_HOME");
        let output = command.output().expect("the command runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}{said}");
        text
    }

    /// What is found to stand so, as `about: message`.
    #[track_caller]
    fn found(&self, code: i32, standing: &str) -> Vec<String> {
        let text = self.run(code, &["doctor", "--json"]);
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let meant = lines.filter(|line| line["standing"] == standing);
        let shown = |line: Value| {
            format!(
                "{}: {}",
                line["about"].as_str().unwrap_or_default(),
                line["message"].as_str().unwrap_or_default()
            )
        };
        meant.map(shown).collect()
    }

    /// Changes a file of the project.
    fn change(&self, name: &str, change: impl Fn(&str) -> String) {
        let path = self.root.join("project").join(name);
        let text = fs::read_to_string(&path).expect("a file");
        let changed = change(&text);
        assert_ne!(changed, text, "{name}");
        fs::write(&path, changed).expect("a file");
    }

    #[track_caller]
    fn check(&self, code: i32, standing: &str, expected: &[&str]) {
        let found = self.found(code, standing);
        for one in expected {
            assert!(found.iter().any(|line| line.contains(one)), "{one}: {found:#?}");
        }
    }
}

const CLAUDE: &str = ".claude/settings.json";

fn own() -> String {
    fs::canonicalize(env!("CARGO_BIN_EXE_callgate"))
        .expect("a program")
        .display()
        .to_string()
}

fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("a file");
    fs::set_permissions(path, Permissions::from_mode(0o755)).expect("permissions");
}

#[test]
fn a_verdict_goes_through_each_hook_and_guard() {
    let installed = Installed::new();
    let right = installed.found(0, "right");
    for agent in agents() {
        let about = format!("{agent} (");
        let is_judged = |line: &&String| line.starts_with(&about) && line.contains("is denied");
        assert!(right.iter().any(|line| is_judged(&line)), "{agent}: {right:#?}");
    }
    assert!(
        right
            .iter()
            .any(|line| line.starts_with("filesystem (") && line.contains("structural-unknown-tool")),
        "{right:#?}"
    );
    assert_eq!(installed.found(0, "wrong"), Vec::<String>::new());
    let human = installed.run(0, &["doctor", "--format", "human"]);
    assert!(human.ends_with("nothing is wrong\n"), "{human}");
    // Nothing is started.
    let looked = installed.run(0, &["doctor", "--only-look"]);
    assert!(!looked.contains("is denied"), "{looked}");
}

#[test]
fn a_hook_that_lets_calls_pass_is_wrong() {
    let installed = Installed::new();
    installed.change(CLAUDE, |text| {
        text.replace("\"onFailure\": \"block\"", "\"onFailure\": \"continue\"")
    });
    installed.change(".cursor/hooks.json", |text| {
        text.replacen("\"failClosed\": true", "\"failClosed\": false", 1)
    });
    let closing = |text: &str| {
        text.split_once(" || {")
            .and_then(|(_, rest)| rest.split_once('}'))
            .map(|(all, _)| format!(" || {{{all}}}"))
    };
    installed.change(".gemini/settings.json", |text| {
        text.replace(&closing(text).expect("a switch"), "")
    });
    installed.change(".agents/plugins/callgate/hooks/hooks.json", |text| {
        text.replace(" hook goose", " hook goose # ")
    });

    installed.change(".codex/hooks.json", |text| {
        text.replace("callgate.json", "gone.json")
    });
    installed.check(
        1,
        "wrong",
        &[
            ".claude/settings.json): the entry at `PreToolUse`",
            ".claude/settings.json): the entry at `PreSkillShellCommand`",
            ".cursor/hooks.json): the entry at `preToolUse`",
            ".gemini/settings.json): the entry at `BeforeTool`",
            ".codex/hooks.json): the documents of",
            "hooks.json): the command is a line that only a shell can take apart",
        ],
    );
    let text = fs::read_to_string(installed.root.join("project").join(CLAUDE)).expect("settings");
    let mut settings: Value = serde_json::from_str(&text).expect("JSON");
    settings["hooks"]
        .as_object_mut()
        .expect("hooks")
        .remove("PreSkillShellCommand");
    installed.project.write(CLAUDE, settings.to_string());
    installed.check(1, "wrong", &["the hook is not run at `PreSkillShellCommand`"]);
    // Installing again mends it, and leaves one hook.
    installed.run(
        0,
        &[
            "hook",
            "install",
            "claude-code",
            "--bundle",
            "callgate.json",
            "--write",
        ],
    );
    let mended = installed.project.read(CLAUDE);
    assert_eq!(mended["hooks"]["PreToolUse"].as_array().map(Vec::len), Some(1));
    assert!(
        !installed
            .found(1, "wrong")
            .iter()
            .any(|line| line.starts_with("claude-code"))
    );
}

#[test]
fn what_only_looks_like_the_hook_is_not_started() {
    let installed = Installed::new();
    let marker = installed.root.join("marker");
    let evil = installed.root.join("project/x/callgate");
    program(&evil, &format!("touch {}", marker.display()));
    installed.change(CLAUDE, |text| text.replace(&own(), "/bin/sh x/callgate"));
    installed.change(".mcp.json", |text| text.replace(&own(), "/bin/sh"));
    installed.check(1, "wrong", &["the command is not `callgate hook claude-code`"]);
    assert!(!marker.exists());
}

#[test]
fn a_program_that_is_gone_or_another_is_named() {
    let installed = Installed::new();
    let root = installed.root.display().to_string();
    // One of another version is started for settings of the user's own, and what it says counts.
    let other = installed.root.join("home/other/callgate");
    program(&other, "[ \"$1\" = --version ] && echo callgate 0.0.9; exit 0");
    let settings = fs::read_to_string(installed.root.join("project").join(CLAUDE)).expect("settings");
    let of_user = installed.root.join("home").join(CLAUDE);
    fs::create_dir_all(of_user.parent().expect("a folder")).expect("a folder");
    fs::write(&of_user, settings.replace(&own(), &other.display().to_string())).expect("settings");
    installed.change(CLAUDE, |text| text.replace(&own(), "/gone/callgate"));
    installed.change(".mcp.json", |text| text.replace(&own(), "/gone/callgate"));
    // What a project brings along is not started.
    let marker = installed.root.join("marker");
    let evil = installed.root.join("project/bin/callgate");
    program(&evil, &format!("touch {}", marker.display()));
    installed.change(".codex/hooks.json", |text| {
        text.replace(&own(), &evil.display().to_string())
    });
    let writable = installed.root.join("home/open/callgate");
    program(&writable, &format!("touch {}", marker.display()));
    fs::set_permissions(&writable, Permissions::from_mode(0o777)).expect("permissions");
    installed.change(".gemini/settings.json", |text| {
        text.replace(&own(), &writable.display().to_string())
    });
    // Nor is what its settings name elsewhere: whoever wrote them may have had it written.
    let older = installed.root.join("home/old/callgate");
    program(&older, &format!("touch {}", marker.display()));
    installed.change(".cursor/hooks.json", |text| {
        text.replace(&own(), &older.display().to_string())
    });
    installed.check(1, "wrong", &[
        &format!("claude-code ({root}/project/{CLAUDE}): the program `/gone/callgate` is gone"),
        &format!("filesystem ({root}/project/.mcp.json): the program `/gone/callgate` is gone"),
        "bin/callgate` can be changed by others, and is not started",
        "open/callgate` can be changed by others, and is not started",
        "old/callgate`, which is neither this one nor in the PATH, and is not started",
        "is not judged as it should be (rule `structural-protected-path`): nothing was said, and the exit code is 0",
    ]);
    installed.check(
        1,
        "doubtful",
        &["other/callgate` is of version 0.0.9, and this one of"],
    );
    assert!(!marker.exists());
}

#[test]
fn documents_that_others_write_and_a_clock_that_is_late_are_wrong() {
    let installed = Installed::new();
    let policy = installed.root.join("project/policy.json");
    fs::set_permissions(&policy, Permissions::from_mode(0o666)).expect("permissions");
    let state = installed.root.join("home/.local/state/callgate");
    fs::create_dir_all(&state).expect("a folder");
    let file = File::create(state.join("approvals.json")).expect("a file");
    file.set_modified(SystemTime::now() + Duration::from_secs(3600))
        .expect("a time");
    installed.check(
        1,
        "wrong",
        &[
            "policy.json`, and so decide what is allowed",
            "clock: it is before the time",
        ],
    );
    fs::set_permissions(&policy, Permissions::from_mode(0o644)).expect("permissions");
    fs::remove_dir_all(&state).expect("a folder");
    installed.found(0, "right");
    // A guard that only observes is doubtful, and one without its copy.
    installed.change(".mcp.json", |text| {
        text.replace(
            "\"--wrapped\"",
            "\"--audit\", \"/tmp/a\", \"--observe\", \"--wrapped\"",
        )
    });
    fs::remove_file(installed.root.join("project/.mcp.json.callgate")).expect("a file");
    installed.check(
        0,
        "doubtful",
        &["the guard only observes", ".mcp.json.callgate` is gone"],
    );
}

#[test]
fn settings_name_a_program_that_stays() {
    let installed = Installed::new();
    let cached = installed
        .root
        .join("home/.npm/_npx/1f/node_modules/@callgate/cli-linux-x64/callgate");
    fs::create_dir_all(cached.parent().expect("a folder")).expect("a folder");
    // By another process: one that is started here meanwhile would hold the file open for writing, and it could not be run.
    let copied = std::process::Command::new("cp").arg(own()).arg(&cached).status();
    assert!(copied.expect("cp runs").success());
    let lasting = installed
        .root
        .join("home/.local/share/callgate")
        .join(env!("CARGO_PKG_VERSION"))
        .join("callgate");
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&cached);
        command
            .args(arguments)
            .current_dir(installed.root.join("project"));
        command
            .env("HOME", installed.root.join("home"))
            .env_remove("XDG_DATA_HOME");
        let output = command.output().expect("the command runs");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(0), "{said}");
        said
    };
    // It is only shown.
    run(&["hook", "install", "claude-code", "--bundle", "callgate.json"]);
    assert!(!lasting.exists());
    let said = run(&[
        "hook",
        "install",
        "claude-code",
        "--bundle",
        "callgate.json",
        "--write",
    ]);
    assert!(
        said.contains("in the cache of a launcher") && said.contains(&*lasting.to_string_lossy()),
        "{said}"
    );
    run(&["wrap", ".mcp.json"]);
    fs::remove_dir_all(installed.root.join("home/.npm")).expect("a folder");
    for name in [CLAUDE, ".mcp.json"] {
        let text = fs::read_to_string(installed.root.join("project").join(name)).expect("a file");
        assert!(
            text.contains(&*lasting.to_string_lossy()) && !text.contains(&own()),
            "{text}"
        );
    }
    installed.check(0, "right", &["claude-code (", "filesystem ("]);
}

#[test]
fn wrapping_again_names_this_program_and_undoing_brings_all_back() {
    let installed = Installed::new();
    let before = r#"{"mcpServers": {"filesystem": {"command": "cat"}}}"#;
    for name in [".mcp.json", ".mcp.json.callgate"] {
        installed.change(name, |text| text.replace(&own(), "/gone/callgate"));
    }
    installed.check(1, "wrong", &["the program `/gone/callgate` is gone"]);
    let said = installed.run(0, &["wrap", ".mcp.json"]);
    assert!(said.contains("\"already\":[\"filesystem\"]"), "{said}");
    let wrapped = installed.project.read(".mcp.json");
    let entry = &wrapped["mcpServers"]["filesystem"];
    assert_eq!(entry["command"], own());
    let guards = entry["args"]
        .as_array()
        .expect("arguments")
        .iter()
        .filter(|word| *word == "guard")
        .count();
    assert_eq!(guards, 1, "{entry}");
    assert_eq!(installed.found(0, "wrong"), Vec::<String>::new());
    installed.run(0, &["wrap", ".mcp.json", "--undo"]);
    let text = fs::read_to_string(installed.root.join("project/.mcp.json")).expect("a file");
    assert_eq!(text, before);
}

#[test]
fn a_plugin_is_asked_too() {
    let installed = Installed::new();
    let home = installed.root.join("home");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let claude = home.join(".claude/plugins/cache/callgate/callgate/0.1.0");
    let gemini = home.join(".gemini/extensions/callgate");
    let codex = home.join(".codex/plugins/cache/callgate/callgate/0.1.0");
    let copilot = home.join(".copilot/installed-plugins/callgate/callgate");
    for (folder, plugin) in [
        (&claude, "callgate"),
        (&gemini, "gemini-cli"),
        (&codex, "callgate"),
        (&copilot, "callgate"),
    ] {
        fs::create_dir_all(folder).expect("a folder");
        for name in ["hook.sh", "callgate.json"] {
            fs::copy(own.join(plugin).join(name), folder.join(name)).expect("a file");
        }
    }
    let list = json!({"plugins": {"callgate@callgate": [{"installPath": claude}], "other@callgate": [{"installPath": "/"}]}});
    fs::write(
        home.join(".claude/plugins/installed_plugins.json"),
        list.to_string(),
    )
    .expect("a file");
    let shown = |folder: &Path| format!("({})", folder.display());
    let disabled = |folder: &Path| format!("{}: the plugin is installed, and not enabled", shown(folder));
    // The PATH of these tests has no callgate, or another.
    let gone = format!("{}: a write to", shown(&gemini));
    let check = |path: &str, code: i32, standing: &str, expected: &str| {
        let mut command = installed.project.command("project", &["doctor"]);
        command
            .current_dir(installed.root.join("project"))
            .env("HOME", &home)
            .env("PATH", path);
        command.env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME");
        let output = command.output().expect("the command runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(output.status.code(), Some(code), "{text}");
        let is_meant =
            |line: &str| line.contains(expected) && line.contains(&format!("\"standing\":\"{standing}\""));
        assert!(text.lines().any(is_meant), "{expected}: {text}");
    };
    let about = |text: &str| text.replace(": ", "\",\"standing\":\"STANDING\",\"message\":\"");
    let expected = |text: &str, standing: &str| about(text).replace("STANDING", standing);
    for folder in [&claude, &codex, &copilot] {
        let disabled = disabled(folder);
        check("/usr/bin:/bin", 1, "doubtful", &expected(&disabled, "doubtful"));
    }
    check("/usr/bin:/bin", 1, "wrong", &expected(&gone, "wrong"));
    fs::write(
        home.join(".claude/settings.json"),
        r#"{"enabledPlugins": {"callgate@callgate": true}}"#,
    )
    .expect("a file");
    fs::write(
        home.join(".copilot/settings.json"),
        r#"{"enabledPlugins": {"callgate@callgate": true}}"#,
    )
    .expect("a file");
    fs::write(
        home.join(".codex/config.toml"),
        "[plugins.\"callgate@callgate\"]\nenabled = true\n",
    )
    .expect("a file");
    let bin = home.join("bin");
    fs::create_dir(&bin).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_callgate"), bin.join("callgate")).expect("a link");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    for folder in [&claude, &gemini, &codex, &copilot] {
        let judged = format!("{}: a write to", shown(folder));
        check(&path, 0, "right", &expected(&judged, "right"));
    }
}

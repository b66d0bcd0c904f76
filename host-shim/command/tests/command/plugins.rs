//! The plugins for agents' own markets: what their hooks answer, with the program and without it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use callgate_hook::Agent;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> Value {
    let text = fs::read_to_string(root().join(path)).expect(path);
    serde_json::from_str(&text).expect(path)
}

/// The plugin of an agent: one folder has those of all that read each other's markets.
fn folder_of(agent: &str) -> &'static str {
    match agent {
        "gemini-cli" => "gemini-cli",
        _ => "callgate",
    }
}

fn hooks_of(agent: &str) -> Value {
    let name = match agent {
        "codex" | "copilot-cli" | "cursor" => agent,
        _ => "hooks",
    };
    read(&format!(
        "host-shim/plugins/{}/hooks/{name}.json",
        folder_of(agent)
    ))
}

/// The command of an event's one hook.
fn command_at(entries: &Value) -> String {
    let entry = &entries[0];
    let mut places = [&entry["bash"], &entry["command"], &entry["hooks"][0]["command"]].into_iter();
    places.find_map(Value::as_str).expect("a command").to_owned()
}

/// A plugin that is installed, as an agent runs its hook.
struct Plugin {
    folder: TempDir,
    agent: &'static str,
    command: String,
}

impl Plugin {
    /// `variable` stands for the plugin's folder in its command.
    fn new(agent: &'static str, variable: &str, event: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["home/.config", "project", "plugin", "bin"] {
            fs::create_dir_all(folder.path().join(name)).expect("a folder");
        }
        let own = root().join("host-shim/plugins").join(folder_of(agent));
        for name in ["hook.sh", "callgate.json"] {
            fs::copy(own.join(name), folder.path().join("plugin").join(name)).expect("a file");
        }
        let command = command_at(&hooks_of(agent)["hooks"][event]);
        let command = command.replace(variable, &folder.path().join("plugin").display().to_string());
        Self {
            folder,
            agent,
            command,
        }
    }

    fn install(&self, place: &str) {
        let place = self.folder.path().join(place);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_callgate"), place).expect("a link");
    }

    /// A program that starts it.
    fn launch(&self, place: &str) {
        let place = self.folder.path().join(place);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        let text = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_callgate"));
        fs::write(&place, text).expect("a program");
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    fn ask(&self, file: &Path, path: &str) -> Output {
        let project = self.folder.path().join("project");
        let agent = Agent::named(self.agent).expect("an agent");
        let question = agent.question(&file.to_string_lossy(), &project.to_string_lossy());
        self.asked(&question, path)
    }

    fn asked(&self, question: &str, path: &str) -> Output {
        let project = self.folder.path().join("project");
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", &self.command])
            .current_dir(&project)
            .env("PATH", path);
        command
            .env("HOME", self.folder.path().join("home"))
            .env_remove("XDG_CONFIG_HOME");
        command
            .env("CLAUDE_PROJECT_DIR", &project)
            .env("GEMINI_PROJECT_DIR", &project);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("a shell");
        // A hook that denies at once does not read.
        let _ = child
            .stdin
            .take()
            .expect("an input")
            .write_all(question.as_bytes());
        child.wait_with_output().expect("an end")
    }
}

const AGENTS: [(&str, &str, &str); 5] = [
    ("claude-code", "${CLAUDE_PLUGIN_ROOT}", "PreToolUse"),
    ("codex", "${PLUGIN_ROOT}", "PreToolUse"),
    ("copilot-cli", "${COPILOT_PLUGIN_ROOT}", "preToolUse"),
    ("cursor", "${CURSOR_PLUGIN_ROOT}", "preToolUse"),
    ("gemini-cli", "${extensionPath}", "BeforeTool"),
];

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_plugin_without_its_program_denies() {
    for (agent, variable, event) in AGENTS {
        let plugin = Plugin::new(agent, variable, event);
        let file = plugin.folder.path().join("project/a");
        let output = plugin.ask(&file, "/usr/bin:/bin");
        assert_eq!(output.status.code(), Some(2), "{agent}");
        assert!(
            said(&output).contains("no program `callgate` is in the PATH"),
            "{}",
            said(&output)
        );
        // One of the project could be anybody's.
        plugin.install("project/bin/callgate");
        for path in ["PROJECT/bin:/usr/bin:/bin", "bin:/usr/bin:/bin"] {
            let path = path.replace(
                "PROJECT",
                &plugin.folder.path().join("project").display().to_string(),
            );
            let output = plugin.ask(&file, &path);
            assert_eq!(output.status.code(), Some(2), "{agent}: {path}");
            assert!(said(&output).contains("callgate: "), "{}", said(&output));
        }
        // One that fails.
        let failing = plugin.folder.path().join("bin/callgate");
        fs::write(&failing, "#!/bin/sh\nexit 1\n").expect("a program");
        Command::new("chmod")
            .arg("755")
            .arg(&failing)
            .status()
            .expect("chmod");
        let path = format!("{}/bin:/usr/bin:/bin", plugin.folder.path().display());
        assert_eq!(plugin.ask(&file, &path).status.code(), Some(2), "{agent}");
        // And without its own files.
        fs::remove_file(plugin.folder.path().join("plugin/hook.sh")).expect("a file");
        assert_eq!(plugin.ask(&file, &path).status.code(), Some(2), "{agent}");
    }
}

#[test]
fn a_plugin_judges_by_its_bundle_or_the_users_and_not_by_a_projects() {
    for (agent, variable, event) in AGENTS {
        let plugin = Plugin::new(agent, variable, event);
        plugin.install("bin/callgate");
        let folder = plugin.folder.path().canonicalize().expect("a folder");
        let path = format!("{}/bin:/usr/bin:/bin", folder.display());
        let file = folder.join("project/a");
        let check = |file: &Path, expected: &str| {
            let output = plugin.ask(file, &path);
            assert_eq!(output.status.code(), Some(0), "{agent}: {}", said(&output));
            assert!(
                said(&output).contains(expected),
                "{agent}: {expected}: {}",
                said(&output)
            );
        };
        check(&file, "ask-for-the-rest");
        check(&folder.join("plugin/hook.sh"), "structural-protected-path");
        check(&folder.join("home/.ssh/id"), "structural-protected-path");
        // What the PATH has under the program's name may start it from elsewhere.
        plugin.launch("launchers/callgate");
        let launched = format!("{}/launchers:{path}", folder.display());
        let output = plugin.ask(&folder.join("launchers/callgate"), &launched);
        assert!(
            said(&output).contains("structural-protected-path"),
            "{agent}: {}",
            said(&output)
        );
        let deny = |name: &str| {
            json!({"policy": {"rules": [{"name": name, "if": {"server": agent}, "then": "deny", "reason": "r"}]},
                "annotations": {"servers": {}}})
        };
        fs::create_dir_all(folder.join("home/.config/callgate")).expect("a folder");
        fs::write(
            folder.join("home/.config/callgate/callgate.json"),
            deny("of-the-user").to_string(),
        )
        .expect("a file");
        check(&file, "of-the-user");
        fs::create_dir(folder.join("project/.git")).expect("a folder");
        fs::write(
            folder.join("project/callgate.json"),
            deny("of-the-project").to_string(),
        )
        .expect("a file");
        check(&file, "of-the-user");
        // One that leads nowhere is not none.
        let user = folder.join("home/.config/callgate/callgate.json");
        fs::remove_file(&user).expect("a file");
        std::os::unix::fs::symlink("/nowhere", &user).expect("a link");
        assert_eq!(plugin.ask(&file, &path).status.code(), Some(2), "{agent}");
    }
    let plugin = Plugin::new(AGENTS[0].0, AGENTS[0].1, AGENTS[0].2);
    plugin.install("bin/callgate");
    let path = format!("{}/bin:/usr/bin:/bin", plugin.folder.path().display());
    let question = Agent::named("claude-code")
        .expect("an agent")
        .question("/srv/a", "/srv");
    let question = question
        .replace("\"Write\"", "\"Read\"")
        .replace("\"content\":\"\"", "\"limit\":1");
    let question = question.replace("\"cwd\":\"/srv\"", "\"cwd\":\"/\"");
    let output = plugin.asked(&question, &path);
    assert!(said(&output).contains("read-the-disk"), "{}", said(&output));
}

#[test]
fn the_plugins_are_of_this_version_and_hook_what_installing_hooks() {
    let version = env!("CARGO_PKG_VERSION");
    let market = read(".claude-plugin/marketplace.json");
    let listed = &market["plugins"][0];
    let folder = listed["source"].as_str().expect("a folder");
    let plugin = read(&format!("{folder}/.claude-plugin/plugin.json"));
    let extension = read("host-shim/plugins/gemini-cli/gemini-extension.json");
    let others = [
        ".codex-plugin/plugin.json",
        ".cursor-plugin/plugin.json",
        "plugin.json",
    ];
    let others = others.map(|name| read(&format!("{folder}/{name}")));
    let of_cursor = read(".cursor-plugin/marketplace.json");
    for key in ["name", "source", "description"] {
        assert_eq!(of_cursor["plugins"][0][key], listed[key]);
    }
    for found in [&listed["version"], &plugin["version"], &extension["version"]] {
        assert_eq!(*found, version);
    }
    assert_eq!(listed["name"], plugin["name"]);
    for other in &others {
        let mut same = other.clone();
        let hooks = same.as_object_mut().expect("an object").remove("hooks");
        let hooks = hooks.expect("hooks");
        assert!(
            root()
                .join(folder)
                .join(hooks.as_str().expect("a file"))
                .is_file(),
            "{other}"
        );
        assert_eq!(same, plugin);
    }
    let action = fs::read_to_string(root().join("action.yml")).expect("a file");
    assert!(action.contains(&format!("VERSION: {version}\n")));
    let same = |one: &str| fs::read(root().join("host-shim/plugins").join(one)).expect("a file");
    assert_eq!(same("callgate/hook.sh"), same("gemini-cli/hook.sh"));
    for (agent, _, _) in AGENTS {
        let hooks = hooks_of(agent);
        let own = Agent::named(agent).expect("an agent");
        let home = Path::new("/none");
        let files =
            callgate_hook::settings(own, callgate_hook::SettingsOf::User(home), "x", 30).expect("settings");
        let written: Value = serde_json::from_str(&files[0].after).expect("JSON");
        // Older versions of Claude Code refuse all hooks of a plugin that has an event which they do not know.
        let events = written["hooks"].as_object().expect("hooks");
        for (event, entries) in events
            .iter()
            .filter(|(event, _)| *event != "PreSkillShellCommand")
        {
            let mut expected = entries.clone();
            let command = command_at(&hooks["hooks"][event]);
            // With the flags that installing writes.
            let written = command_at(entries);
            let flags = written.strip_prefix('x').expect("its command");
            let flags = flags.split(" || ").next().unwrap_or_default();
            assert!(
                command.ends_with(&format!(" {agent}{flags} || exit 2")),
                "{command}"
            );
            let entry = &mut expected[0];
            let place = ["bash", "command"]
                .into_iter()
                .find(|key| entry.get(key).is_some());
            match place {
                Some(key) => entry[key] = command.into(),
                None => entry["hooks"][0]["command"] = command.into(),
            }
            assert_eq!(hooks["hooks"][event], expected, "{agent}: {event}");
        }
    }
}

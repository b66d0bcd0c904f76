//! A project to run the command in.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A project directory with the bundle of `examples/bundle`, and a home beside it.
pub(crate) struct Project {
    pub(crate) folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        fs::create_dir(folder.path().join("home")).expect("a home");
        fs::create_dir(folder.path().join("project")).expect("a project");
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/bundle");
        for name in ["callgate.json", "policy.json", "annotations.json", "calls.jsonl"] {
            let to = folder.path().join("project").join(name);
            fs::copy(example.join(name), to).expect("a file");
        }
        Self { folder }
    }

    /// The same with the bundle of `examples/world`.
    pub(crate) fn in_a_world() -> Self {
        let project = Self::new();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/world");
        for name in [
            "callgate.json",
            "policy.json",
            "annotations.json",
            "world.json",
            "ceiling.json",
        ] {
            project.write(name, fs::read(example.join(name)).expect("a file"));
        }
        for folder in ["game", "mods/dragons", "mods/unfinished", "notes"] {
            fs::create_dir_all(project.folder.path().join("project").join(folder)).expect("a folder");
        }
        project
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.folder.path().join("project").join(name), text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> Value {
        let text = fs::read(self.folder.path().join("project").join(name)).expect("a file");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// Changes a document of the bundle.
    pub(crate) fn edit(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut document = self.read(name);
        change(&mut document);
        self.write(name, document.to_string());
    }

    pub(crate) fn command(&self, dir: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.args(arguments).current_dir(self.folder.path().join(dir));
        command.env("HOME", self.folder.path().join("home"));
        // The component is compiled once for all tests.
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run_in(&self, dir: &str, arguments: &[&str]) -> Output {
        self.command(dir, arguments).output().expect("the command runs")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_in("project", arguments)
    }

    /// Runs the command, and checks its exit code and what standard output and standard error hold.
    #[track_caller]
    pub(crate) fn check(&self, arguments: &[&str], code: i32, stdout: &[&str], stderr: &[&str]) {
        let output = self.run(arguments);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}\n--- stdout\n{out}\n--- stderr\n{err}"
        );
        for (name, found, expected) in [("stdout", &out, stdout), ("stderr", &err, stderr)] {
            assert_eq!(
                found.is_empty(),
                expected.is_empty(),
                "{arguments:?}: {name}: {found}"
            );
            for part in expected {
                assert!(
                    found.contains(part),
                    "{arguments:?}: {name} lacks {part:?}:\n{found}"
                );
            }
        }
    }
}

pub(crate) fn call(server: &str, tool: &str, arguments: Value) -> String {
    json!({"serverName": server, "toolName": tool, "arguments": arguments}).to_string()
}

pub(crate) fn reading(path: &str) -> String {
    call("filesystem", "read_text_file", json!({"path": path}))
}

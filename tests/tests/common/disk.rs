//! A folder on the real disk, and engines whose sandbox and home lie in it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use callgate_engine::bind::Call;
use callgate_engine::engine::Engine;
use callgate_engine::host::Host;
use callgate_host::RealHost;
use serde_json::Value;
use tempfile::TempDir;

/// A folder that is deleted when this value is dropped.
pub(crate) struct Disk {
    _folder: TempDir,
    root: PathBuf,
}

impl Disk {
    /// Files (`name`), directories (`name/`) and links (`name -> target`); in a target, `ROOT` is the folder.
    pub(crate) fn new(entries: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let root = folder.path().canonicalize().expect("it has a canonical path");
        let disk = Self {
            _folder: folder,
            root,
        };
        for entry in entries {
            if let Some((name, target)) = entry.split_once(" -> ") {
                disk.link(name, target);
            } else if entry.ends_with('/') {
                fs::create_dir_all(disk.path(entry)).expect("a directory can be made");
            } else {
                fs::write(disk.path(entry), "").expect("a file can be made");
            }
        }
        disk
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The path of the folder.
    pub(crate) fn root(&self) -> &str {
        text(&self.root)
    }

    /// Makes a link, replacing one that was there.
    pub(crate) fn link(&self, name: &str, target: &str) {
        let place = self.path(name);
        if place.is_symlink() {
            fs::remove_file(&place).expect("a link can be removed");
        }
        symlink(target.replace("ROOT", self.root()), place).expect("a link can be made");
    }
}

/// A host whose home is `ROOT/home` and whose current directory is `ROOT/box`, without machine-wide configuration.
pub(crate) fn real_host(root: &str) -> RealHost {
    let host =
        RealHost::new(&format!("{root}/home"), &format!("{root}/box")).expect("the folders are absolute");
    host.with_system_git_config([""; 0])
}

/// The value with `ROOT` in every string replaced by the folder.
pub(crate) fn placed(value: &Value, root: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("ROOT", root)),
        Value::Array(items) => items.iter().map(|item| placed(item, root)).collect(),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, value)| (name.clone(), placed(value, root)))
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the folder for temporary files is UTF-8")
}

/// The verdict on a call of `server/tool`, as `decision rule`.
pub(crate) fn decide(engine: &Engine, host: &dyn Host, name: &str, arguments: &Value) -> String {
    let (server, tool) = name.split_once('/').expect("a tool is written `server/tool`");
    let call = Call::from_value(server, tool, arguments);
    let verdict = engine.gate(&call, host).verdict;
    format!("{} {}", verdict.decision.as_str(), verdict.rule)
}

//! The packages of npm: one with the program for each platform, and `callgate`, which has them as optional dependencies.

use std::fs;
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::archive::{Entry, files_of, tgz};
use crate::binary::Binary;
use crate::platform::{PLATFORMS, Platform};
use crate::{Artifact, Folders, LICENSE, REPOSITORY, VERSION, read, run};

fn name_of(platform: &Platform) -> String {
    format!("@callgate/cli-linux-{}", platform.node)
}

/// The package with the program, which npm installs where it runs. It runs nothing when it is installed.
pub(crate) fn platform_package(binary: &Binary, licenses: &[Entry]) -> Result<Artifact, String> {
    let platform = binary.platform;
    let description = json!({
        "name": name_of(platform),
        "version": VERSION,
        "description": format!("The command of callgate for Linux on {}", platform.arch),
        "license": LICENSE,
        "repository": {"type": "git", "url": format!("git+{REPOSITORY}.git")},
        "os": ["linux"],
        "cpu": [platform.node],
        "preferUnplugged": true,
        "files": ["callgate", "LICENSE-*"],
    });
    let mut entries = vec![
        Entry::file("package.json", written(&description)?),
        Entry::program("callgate", binary.bytes.clone()),
    ];
    entries.extend_from_slice(licenses);
    let entries: Vec<Entry> = entries.into_iter().map(|entry| entry.within("package")).collect();
    Ok(Artifact {
        name: format!("callgate-cli-linux-{}-{VERSION}.tgz", platform.node),
        bytes: tgz(&entries)?,
    })
}

/// The package that people name: what npm packs, with the programs of the same version beside it.
pub(crate) fn package(folders: &Folders) -> Result<Artifact, String> {
    let folder = folders.target.join("release-tools/npm");
    fs::create_dir_all(&folder).map_err(|error| format!("`{}`: {error}", folder.display()))?;
    let name = format!("callgate-{VERSION}.tgz");
    run(Command::new("npm")
        .args(["pack", "--silent", "--pack-destination"])
        .arg(&folder)
        .current_dir(folders.root.join("js")))?;
    let mut entries = files_of(&read(&folder.join(&name))?)?;
    let description = entries
        .iter_mut()
        .find(|entry| entry.path == "package/package.json");
    let description = description.ok_or("the packed package has no package.json")?;
    let mut object: Map<String, Value> =
        serde_json::from_slice(&description.bytes).map_err(|error| format!("package.json: {error}"))?;
    let programs = PLATFORMS
        .iter()
        .map(|platform| (name_of(platform), json!(VERSION)));
    object.insert(
        "optionalDependencies".to_owned(),
        Value::Object(programs.collect()),
    );
    object.insert(
        "repository".to_owned(),
        json!({"type": "git", "url": format!("git+{REPOSITORY}.git")}),
    );
    // They are about the checkout.
    for key in ["devDependencies", "overrides", "scripts", "workspaces"] {
        object.shift_remove(key);
    }
    description.bytes = written(&Value::Object(object))?;
    Ok(Artifact {
        name,
        bytes: tgz(&entries)?,
    })
}

fn written(value: &Value) -> Result<Vec<u8>, String> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| error.to_string())?;
    text.push(b'\n');
    Ok(text)
}

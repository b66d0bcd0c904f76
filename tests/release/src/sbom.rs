//! What the command is made of, as CycloneDX has it: <https://cyclonedx.org/docs/1.6/json/>.
//!
//! Without a serial number and a time, which are optional, it is the same for the same lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::{Value, json};

use crate::platform::PLATFORMS;
use crate::{Folders, VERSION, read, run};

/// Crates that are in the program for any platform: those that only build it are not.
pub(crate) fn of(folders: &Folders) -> Result<Vec<u8>, String> {
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "metadata",
            "--locked",
            "--format-version",
            "1",
            "--features",
            "callgate/otel,callgate/serve",
        ])
        .current_dir(&folders.root);
    for platform in &PLATFORMS {
        cargo.args(["--filter-platform", &platform.triple()]);
    }
    let metadata: Value =
        serde_json::from_slice(&run(&mut cargo)?).map_err(|error| format!("cargo's metadata: {error}"))?;
    let lock = read(&folders.root.join("Cargo.lock"))?;
    let digests = digests(&String::from_utf8_lossy(&lock));
    let packages = by_id(&metadata["packages"]);
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let command = packages
        .values()
        .find(|package| package["name"] == "callgate")
        .ok_or("cargo knows no callgate")?;

    let first = text(&command["id"]);
    let mut used = BTreeSet::from([first]);
    let mut open = vec![first];
    let mut dependencies = Vec::new();
    while let Some(id) = open.pop() {
        let node = nodes.get(id).ok_or_else(|| format!("cargo resolves no `{id}`"))?;
        let mut all: Vec<&str> = list(&node["deps"])
            .filter(|dep| is_in_program(dep))
            .map(|dep| text(&dep["pkg"]))
            .collect();
        open.extend(all.iter().filter(|id| used.insert(id)));
        all.sort_unstable();
        let names: Vec<String> = all
            .iter()
            .filter_map(|id| packages.get(id))
            .map(|package| name_of(package))
            .collect();
        let own = packages.get(id).map(|package| name_of(package));
        dependencies.push(json!({"ref": own, "dependsOn": names}));
    }
    dependencies.sort_by(|one, other| text(&one["ref"]).cmp(text(&other["ref"])));
    let others = used
        .iter()
        .filter(|id| **id != first)
        .filter_map(|id| packages.get(id));
    let mut components: Vec<Value> = others
        .map(|package| component(package, "library", &digests))
        .collect();
    components.sort_by(|one, other| text(&one["purl"]).cmp(text(&other["purl"])));
    let sbom = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": component(command, "application", &digests),
            "tools": {"components": [{"type": "application", "name": "cargo release", "version": VERSION}]},
        },
        "components": components,
        "dependencies": dependencies,
    });
    serde_json::to_vec_pretty(&sbom).map_err(|error| error.to_string())
}

/// Dependencies for tests and for build scripts are not in it.
fn is_in_program(dependency: &Value) -> bool {
    list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null())
}

fn component(package: &Value, kind: &str, digests: &BTreeMap<String, String>) -> Value {
    let name = name_of(package);
    let mut component = json!({
        "type": kind,
        "bom-ref": name,
        "name": package["name"],
        "version": package["version"],
        "purl": name,
    });
    if let Some(license) = package["license"].as_str() {
        // An older spelling of crates.
        component["licenses"] = json!([{"expression": license.replace('/', " OR ")}]);
    }
    if let Some(digest) = digests.get(&name) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": digest}]);
    }
    component
}

/// A package as <https://github.com/package-url/purl-spec> writes it.
fn name_of(package: &Value) -> String {
    format!(
        "pkg:cargo/{}@{}",
        text(&package["name"]),
        text(&package["version"])
    )
}

/// The digests of the crates in a lock file.
fn digests(lock: &str) -> BTreeMap<String, String> {
    let mut digests = BTreeMap::new();
    for package in lock.split("[[package]]") {
        let value = |key: &str| {
            let mut lines = package.lines();
            lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
        };
        if let (Some(name), Some(version), Some(digest)) =
            (value("name"), value("version"), value("checksum"))
        {
            digests.insert(format!("pkg:cargo/{name}@{version}"), digest.to_owned());
        }
    }
    digests
}

fn by_id(values: &Value) -> BTreeMap<&str, &Value> {
    list(values).map(|value| (text(&value["id"]), value)).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

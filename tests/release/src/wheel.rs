//! Wheels of Python's, with the program and with the module: <https://packaging.python.org/en/latest/specifications/binary-distribution-format/>.
//!
//! The program is static, so the wheel has the tags of both C libraries. The distribution is not called `callgate`: PyPI takes that
//! name for another spelling of one that exists.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::archive::{Entry, zip};
use crate::binary::{Binary, GNU};
use crate::platform::Platform;
use crate::{Artifact, Folders, LICENSE, REPOSITORY, SUMMARY, VERSION, read};

const SOURCES: [&str; 3] = ["__init__.py", "__main__.py", "_find.py"];

/// The tags of a platform: the oldest C libraries that any installer knows, since the program uses none.
const LIBRARIES: [&str; 3] = ["manylinux_2_17", "manylinux2014", "musllinux_1_1"];

/// The wheel with the command.
pub(crate) fn of(
    folders: &Folders,
    binary: &Binary,
    licenses: &[Entry],
    sbom: &[u8],
) -> Result<Artifact, String> {
    let python = folders.root.join("host-shim/command/python");
    let mut entries = Vec::new();
    for source in SOURCES {
        let bytes = read(&python.join("callgate_cli").join(source))?;
        entries.push(Entry::file(&format!("callgate_cli/{source}"), bytes));
    }
    entries.push(Entry::program(
        &format!("callgate_cli-{VERSION}.data/scripts/callgate"),
        binary.bytes.clone(),
    ));
    let distribution = Distribution {
        name: "callgate-cli",
        python: ">=3.8",
        readme: &read(&python.join("README.md"))?,
        interface: "py3-none",
        platforms: LIBRARIES
            .map(|library| format!("{library}_{}", binary.platform.arch))
            .to_vec(),
        // `uvx callgate-cli` looks for a script of the distribution's name.
        scripts: Some("[console_scripts]\ncallgate-cli = callgate_cli.__main__:main\n"),
    };
    distribution.wheel(entries, licenses, sbom)
}

/// The wheel with Python's module.
pub(crate) fn of_module(
    folders: &Folders,
    platform: &Platform,
    module: Vec<u8>,
    licenses: &[Entry],
    sbom: &[u8],
) -> Result<Artifact, String> {
    let python = folders.root.join("host-shim/python");
    let mut names = Vec::new();
    let package = python.join("python/callgate");
    for source in package.read_dir().map_err(|error| error.to_string())? {
        let name = source.map_err(|error| error.to_string())?.file_name();
        names.extend(name.into_string());
    }
    // What maturin built for somebody else's Python lies there too.
    names.retain(|name| [".py", ".pyi", ".typed"].iter().any(|kind| name.ends_with(kind)));
    names.sort();
    let mut entries = Vec::new();
    for name in names {
        entries.push(Entry::file(
            &format!("callgate/{name}"),
            read(&package.join(&name))?,
        ));
    }
    entries.push(Entry::file("callgate/_engine.abi3.so", module));
    let numbered = GNU.replace('.', "_");
    let distribution = Distribution {
        name: "callgate-engine",
        python: ">=3.10",
        readme: &read(&python.join("README.md"))?,
        interface: "cp310-abi3",
        platforms: [format!("manylinux_{numbered}"), "manylinux2014".to_owned()]
            .map(|library| format!("{library}_{}", platform.arch))
            .to_vec(),
        scripts: None,
    };
    distribution.wheel(entries, licenses, sbom)
}

/// What a wheel says of itself.
struct Distribution<'d> {
    name: &'d str,
    /// The versions of Python that it is for.
    python: &'d str,
    readme: &'d [u8],
    /// The tags of Python and its binary interface.
    interface: &'d str,
    platforms: Vec<String>,
    scripts: Option<&'d str>,
}

impl Distribution<'_> {
    fn wheel(&self, mut entries: Vec<Entry>, licenses: &[Entry], sbom: &[u8]) -> Result<Artifact, String> {
        let own = format!("{}-{VERSION}", self.name.replace('-', "_"));
        let metadata = format!(
            "Metadata-Version: 2.4\nName: {}\nVersion: {VERSION}\nSummary: {SUMMARY}\nLicense-Expression: {LICENSE}\n\
             License-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\nProject-URL: Source, {REPOSITORY}\n\
             Requires-Python: {}\nDescription-Content-Type: text/markdown\n\n{}",
            self.name,
            self.python,
            String::from_utf8_lossy(self.readme),
        );
        let mut wheel = "Wheel-Version: 1.0\nGenerator: callgate\nRoot-Is-Purelib: false\n".to_owned();
        for platform in &self.platforms {
            let _ = writeln!(wheel, "Tag: {}-{platform}", self.interface);
        }
        let mut about = vec![
            Entry::file("METADATA", metadata.into_bytes()),
            Entry::file("WHEEL", wheel.into_bytes()),
            Entry::file("sboms/callgate.cdx.json", sbom.to_vec()),
        ];
        let scripts = |text: &str| Entry::file("entry_points.txt", text.into());
        about.extend(self.scripts.map(scripts));
        about.extend(licenses.iter().cloned().map(|license| license.within("licenses")));
        let within = |entry: Entry| entry.within(&format!("{own}.dist-info"));
        entries.extend(about.into_iter().map(within));
        entries.push(record(&entries, &own));
        Ok(Artifact {
            name: format!("{own}-{}-{}.whl", self.interface, self.platforms.join(".")),
            bytes: zip(&entries)?,
        })
    }
}

/// The list of all files with their digests.
fn record(entries: &[Entry], own: &str) -> Entry {
    let path = format!("{own}.dist-info/RECORD");
    let mut text = String::new();
    for Entry { path, bytes, .. } in entries {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        let _ = writeln!(text, "{path},sha256={digest},{}", bytes.len());
    }
    let _ = writeln!(text, "{path},,");
    Entry::file(&path, text.into_bytes())
}

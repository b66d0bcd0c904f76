//! A wheel of Python's with the program: <https://packaging.python.org/en/latest/specifications/binary-distribution-format/>.
//!
//! The program is static, so the wheel has the tags of both C libraries. The distribution is not called `callgate`: PyPI takes that
//! name for another spelling of one that exists.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::archive::{Entry, zip};
use crate::binary::Binary;
use crate::{Artifact, Folders, LICENSE, REPOSITORY, SUMMARY, VERSION, read};

const SOURCES: [&str; 3] = ["__init__.py", "__main__.py", "_find.py"];

/// The tags of a platform: the oldest C libraries that any installer knows, since the program uses none.
const LIBRARIES: [&str; 3] = ["manylinux_2_17", "manylinux2014", "musllinux_1_1"];

pub(crate) fn of(
    folders: &Folders,
    binary: &Binary,
    licenses: &[Entry],
    sbom: &[u8],
) -> Result<Artifact, String> {
    let python = folders.root.join("host-shim/command/python");
    let tags = LIBRARIES.map(|library| format!("{library}_{}", binary.platform.arch));
    let own = format!("callgate_cli-{VERSION}");
    let mut entries = Vec::new();
    for source in SOURCES {
        let bytes = read(&python.join("callgate_cli").join(source))?;
        entries.push(Entry::file(&format!("callgate_cli/{source}"), bytes));
    }
    entries.push(Entry::program(
        &format!("{own}.data/scripts/callgate"),
        binary.bytes.clone(),
    ));
    let readme = read(&python.join("README.md"))?;
    let metadata = format!(
        "Metadata-Version: 2.4\nName: callgate-cli\nVersion: {VERSION}\nSummary: {SUMMARY}\nLicense-Expression: {LICENSE}\n\
         License-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\nProject-URL: Source, {REPOSITORY}\nRequires-Python: >=3.8\n\
         Description-Content-Type: text/markdown\n\n{}",
        String::from_utf8_lossy(&readme),
    );
    let mut wheel = "Wheel-Version: 1.0\nGenerator: callgate\nRoot-Is-Purelib: false\n".to_owned();
    for tag in &tags {
        let _ = writeln!(wheel, "Tag: py3-none-{tag}");
    }
    // `uvx callgate-cli` looks for a script of the distribution's name.
    let scripts = "[console_scripts]\ncallgate-cli = callgate_cli.__main__:main\n";
    let mut about = vec![
        Entry::file("METADATA", metadata.into_bytes()),
        Entry::file("WHEEL", wheel.into_bytes()),
        Entry::file("entry_points.txt", scripts.into()),
        Entry::file("sboms/callgate.cdx.json", sbom.to_vec()),
    ];
    about.extend(licenses.iter().cloned().map(|license| license.within("licenses")));
    entries.extend(
        about
            .into_iter()
            .map(|entry| entry.within(&format!("{own}.dist-info"))),
    );
    entries.push(record(&entries, &own));
    Ok(Artifact {
        name: format!("{own}-py3-none-{}.whl", tags.join(".")),
        bytes: zip(&entries)?,
    })
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

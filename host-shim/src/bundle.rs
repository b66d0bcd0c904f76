//! A bundle: one file, `callgate.json`, that names or holds everything a gate is built from.
//!
//! ```json
//! {
//!   "description": "what this gate is for",
//!   "policy": "policy.json",
//!   "annotations": {"servers": {"files": {"tools": [{"toolName": "read", "args": {"path": "read-path"}}]}}},
//!   "lists": "lists.json",
//!   "programs": {"programs": [{"names": ["deploy"], "operands": "execute*", "runs": true}]},
//!   "sandbox": ".",
//!   "protectedPaths": ["~/.ssh", "secrets", "**/.env"],
//!   "domainAllowlists": {"fetch": ["docs.rs", "*.github.com"]},
//!   "trustedServers": [],
//!   "ceiling": {"tools": ["read_text_file"], "workspace_roots": ["."]},
//!   "options": {"unknownArguments": "deny"},
//!   "roles": [],
//!   "world": "world.json",
//!   "invariants": [{"never": {"decision": "allow", "roles": "write-path", "within": "/etc"}}],
//!   "tests": ["scenarios.jsonl"],
//!   "leaves": ["project-*"]
//! }
//! ```
//!
//! `policy`, `annotations`, `lists`, `programs`, `ceiling` and `world` are the path of a file or the document itself; `tests` are the paths of
//! files of scenarios, which `callgate test` runs; `leaves` names servers of whose tools the layers below decide where this bundle does
//! not annotate them (SPEC §11a); the rest is written out. Like every document a bundle may have comments (`//`, `/* */`), trailing commas and a `$schema`.
//! Paths, those in its files too, are relative to the bundle's folder. A pattern of protected paths that begins with `**` is
//! about the whole disk. Every key may be
//! missing; a key that is not listed here, or that is given twice, is an error, and so is a null (except for `lists` and
//! `sandbox`, which it leaves out).

use std::path::{Path, PathBuf};

use callgate_engine::bundle::read_bundle;
use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::Diagnostic;
use serde_json::Value;

pub use callgate_engine::document::anchored;

use crate::documents::{self, Fault, Source, Unread};

/// The file's usual name.
pub const BUNDLE_FILE: &str = "callgate.json";

/// A bundle whose files were read already, such as one that came in a single file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleTexts {
    /// Where they came from, for faults: `PLACE#policy.json:4:12: …`.
    pub place: String,
    /// The directory, absolute, that relative paths of the documents start from; without one they are refused.
    pub folder: Option<String>,
    /// The name and the text of each file: the bundle's own first, then those that it names, under the names that it has for them.
    pub files: Vec<(String, String)>,
}

impl BundleTexts {
    /// The contents, as [`read`] has them of files.
    pub(crate) fn contents(self) -> Result<Bundle, Unread> {
        let Self { place, folder, files } = self;
        let at = |name: &str| format!("{place}#{name}");
        let mut files = files.into_iter();
        let (own, text) = files.next().unwrap_or_default();
        let read = read_bundle(&text);
        let others: Vec<(String, String)> = files.collect();
        let unnamed = others
            .iter()
            .find(|(name, _)| read.files.iter().all(|one| one.path != *name));
        if let Some((name, _)) = unnamed {
            let reason = "the bundle does not name it".to_owned();
            return Err(Unread {
                file: at(name),
                reason,
            });
        }
        let mut parts = Vec::new();
        for one in read.files {
            let file = at(&one.path);
            let Some((_, text)) = others.iter().find(|(name, _)| *name == one.path) else {
                let reason = "the bundle names it and does not have it".to_owned();
                return Err(Unread { file, reason });
            };
            let (text, file) = (text.clone(), Some(file));
            parts.push((one.kind, Source::Text { text, file }));
        }
        let own = at(&own);
        parts.extend(read.inline.into_iter().map(|one| {
            let file = Some(own.clone());
            (one.kind, Source::Text { text: one.text, file })
        }));
        parts.extend(folder.map(folder_part));
        let faults = read.faults.into_iter();
        Ok(Bundle {
            parts,
            tests: Vec::new(),
            leaves: read.leaves,
            faults: faults.map(|fault| Fault::new(Some(own.clone()), fault)).collect(),
        })
    }
}

fn folder_part(folder: String) -> (DocumentKind, Source) {
    let text = Value::from(folder).to_string();
    (DocumentKind::Folder, Source::Text { text, file: None })
}

/// The contents of a bundle, as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct Bundle {
    pub(crate) parts: Vec<(DocumentKind, Source)>,
    /// The files of scenarios.
    pub(crate) tests: Vec<PathBuf>,
    /// The servers that are left to the layers below.
    pub(crate) leaves: Vec<String>,
    pub(crate) faults: Vec<Fault>,
}

/// Reads the bundle at `path`; the files that it names are not opened yet.
///
/// # Errors
/// When the file or its folder cannot be read. What is wrong within it is among the bundle's faults.
pub(crate) fn read(path: &Path) -> Result<Bundle, Unread> {
    let file = path.display().to_string();
    let fault = |diagnostic: Diagnostic| Fault::new(Some(file.clone()), diagnostic);
    let text = match documents::read_text(path, "bundle")? {
        Ok(text) => text,
        Err(diagnostic) => {
            return Ok(Bundle {
                faults: vec![fault(diagnostic)],
                ..Bundle::default()
            });
        }
    };
    let named = path.parent().unwrap_or(Path::new(""));
    let folder = folder_of(named).map_err(|reason| Unread {
        file: file.clone(),
        reason,
    })?;
    let read = read_bundle(&text);
    let files = read.files.into_iter();
    let files = files.map(|one| (one.kind, Source::File(named.join(one.path))));
    let inline = read.inline.into_iter().map(|one| {
        let file = Some(file.clone());
        (one.kind, Source::Text { text: one.text, file })
    });
    Ok(Bundle {
        parts: files.chain(inline).chain([folder_part(folder)]).collect(),
        tests: read.tests.into_iter().map(|path| named.join(path)).collect(),
        leaves: read.leaves,
        faults: read.faults.into_iter().map(fault).collect(),
    })
}

/// The folder as the kernel found it, so that `link/..` in its name means one place.
pub(crate) fn folder_of(named: &Path) -> Result<String, String> {
    let named = if named.as_os_str().is_empty() {
        Path::new(".")
    } else {
        named
    };
    let folder = named.canonicalize().map_err(|error| error.to_string())?;
    let folder = folder.into_os_string().into_string();
    folder.map_err(|_| "the name of the folder that it lies in is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_the_file_or_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(BUNDLE_FILE);
        let real = folder.path().canonicalize().unwrap();
        std::fs::write(
            &path,
            "{\"policy\": \"p.json\", // rules\n\"sandbox\": \".\", \"polcy\": 1}",
        )
        .unwrap();
        let bundle = read(&path).unwrap();
        let shown: Vec<String> = bundle
            .parts
            .iter()
            .map(|(kind, source)| match source {
                Source::Text { text, file } => format!("{kind} {text:?} {}", file.is_some()),
                Source::File(file) => {
                    format!("{kind} {}", file.strip_prefix(folder.path()).unwrap().display())
                }
            })
            .collect();
        let expected = [
            "policy p.json".to_owned(),
            "sandbox \"\\n           \\\".\\\"\" true".to_owned(),
            format!("folder {:?} false", format!("{real:?}")),
        ];
        assert_eq!(shown, expected);
        let [fault] = bundle.faults.as_slice() else {
            panic!("{:?}", bundle.faults)
        };
        let place = format!("{}:2:17: error[unknown-key] at bundle.polcy: ", path.display());
        assert!(fault.to_string().starts_with(&place), "{fault}");
    }

    #[test]
    fn texts_are_those_that_the_bundle_names() {
        let texts = |files: &[(&str, &str)]| BundleTexts {
            place: "acme.json".to_owned(),
            folder: None,
            files: files
                .iter()
                .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
                .collect(),
        };
        let own = ("callgate.json", r#"{"policy": "p.json", "sandbox": "/s"}"#);
        let bundle = texts(&[own, ("p.json", "{}")]).contents().unwrap();
        let files: Vec<_> = bundle
            .parts
            .iter()
            .map(|(kind, source)| match source {
                Source::Text { file, .. } => (kind.as_str(), file.as_deref()),
                Source::File(file) => panic!("{file:?}"),
            })
            .collect();
        let expected = [
            ("policy", Some("acme.json#p.json")),
            ("sandbox", Some("acme.json#callgate.json")),
        ];
        assert_eq!(files, expected);
        let refused = |files: &[(&str, &str)]| {
            let Unread { file, reason } = texts(files).contents().unwrap_err();
            format!("{file}: {reason}")
        };
        assert_eq!(
            refused(&[own]),
            "acme.json#p.json: the bundle names it and does not have it"
        );
        assert_eq!(
            refused(&[own, ("p.json", "{}"), ("q.json", "{}")]),
            "acme.json#q.json: the bundle does not name it"
        );
        // Without any file there is a bundle that is not JSON.
        assert_eq!(texts(&[]).contents().unwrap().faults.len(), 1);
    }
}

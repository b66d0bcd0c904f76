//! A bundle: one file, `callgate.json`, that names or holds everything a gate is built from.
//!
//! ```json
//! {
//!   "description": "what this gate is for",
//!   "policy": "policy.json",
//!   "annotations": "annotations.json",
//!   "lists": "lists.json",
//!   "sandbox": ".",
//!   "protectedPaths": ["~/.ssh", "secrets", "**/.env"],
//!   "domainAllowlists": {"fetch": ["docs.rs", "*.github.com"]},
//!   "trustedServers": [],
//!   "ceiling": {"tools": ["read_text_file"], "workspace_roots": ["."]},
//!   "options": {"unknownArguments": "deny"},
//!   "roles": [],
//!   "world": "world.json"
//! }
//! ```
//!
//! `policy`, `annotations`, `lists`, `ceiling` and `world` are the path of a file or the document itself; the rest is
//! written out. Paths are relative to the bundle's folder, the roots and mounts of a world and the workspace roots of a
//! ceiling that is written out among them; in a file of its own a ceiling has absolute ones, since an intersection of
//! ceilings has no folder. A pattern of protected paths that begins with `**` is about the whole disk. Every key may be
//! missing; a key that is not listed here, or that is given twice, is an error, and so is a null (except for `lists` and
//! `sandbox`, which it leaves out).

use std::path::{Path, PathBuf};

use callgate_core::{Code, Diagnostic, DocumentKind, unknown_key};
use serde_json::value::RawValue;

pub use crate::anchor::anchored;
use crate::anchor::{anchored_ceiling, anchored_strings, anchored_world};
use crate::documents::{self, Fault, Source, Unread};
use crate::members::Members;

/// The file's usual name.
pub const BUNDLE_FILE: &str = "callgate.json";

/// The name of the bundle in the paths of its faults.
const NAME: &str = "bundle";

/// How the value of a key stands in a bundle.
#[derive(Clone, Copy)]
enum Written {
    /// As the path of a file, or as the document itself.
    FileOrInline,
    /// The same for a world, whose directories are paths that the engine gets.
    World,
    /// As the document itself.
    Inline,
    /// As a path that the engine gets.
    Path,
    /// As an array of such paths.
    Paths,
    /// As the path of a file, or as a ceiling with an array of such paths.
    Ceiling,
}

const PARTS: [(&str, DocumentKind, Written); 11] = [
    ("policy", DocumentKind::Policy, Written::FileOrInline),
    ("annotations", DocumentKind::Annotations, Written::FileOrInline),
    ("lists", DocumentKind::Lists, Written::FileOrInline),
    ("sandbox", DocumentKind::Sandbox, Written::Path),
    ("protectedPaths", DocumentKind::ProtectedPaths, Written::Paths),
    (
        "domainAllowlists",
        DocumentKind::DomainAllowlists,
        Written::Inline,
    ),
    ("trustedServers", DocumentKind::TrustedServers, Written::Inline),
    ("ceiling", DocumentKind::Ceiling, Written::Ceiling),
    ("options", DocumentKind::Options, Written::Inline),
    ("roles", DocumentKind::Roles, Written::Inline),
    ("world", DocumentKind::World, Written::World),
];

/// What a bundle says, as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct Bundle {
    pub(crate) parts: Vec<(DocumentKind, Source)>,
    pub(crate) faults: Vec<Fault>,
}

/// Reads the bundle at `path`; the files that it names are not opened yet.
///
/// # Errors
/// When the file or its folder cannot be read. What is wrong within it is among the bundle's faults.
pub(crate) fn read(path: &Path) -> Result<Bundle, Unread> {
    let file = path.display().to_string();
    let text = match documents::read_text(path, NAME)? {
        Ok(text) => text,
        Err(diagnostic) => return Ok(refused(file, diagnostic)),
    };
    let keys: Members<'_> = match serde_json::from_str(&text) {
        Ok(keys) => keys,
        Err(error) => {
            let code = if error.is_data() {
                Code::WrongType
            } else {
                Code::Syntax
            };
            return Ok(refused(file, Diagnostic::error(code, NAME, error.to_string())));
        }
    };
    let named = path.parent().unwrap_or(Path::new(""));
    let folder = folder_of(named).map_err(|reason| Unread {
        file: file.clone(),
        reason,
    })?;
    let mut reader = Reader {
        file,
        named: named.to_owned(),
        folder,
        bundle: Bundle::default(),
    };
    reader.read(&keys.0);
    Ok(reader.bundle)
}

fn refused(file: String, diagnostic: Diagnostic) -> Bundle {
    Bundle {
        faults: vec![Fault::new(Some(file), diagnostic)],
        ..Bundle::default()
    }
}

/// The folder as the kernel found it, so that `link/..` in its name means one place.
fn folder_of(named: &Path) -> Result<String, String> {
    let named = if named.as_os_str().is_empty() {
        Path::new(".")
    } else {
        named
    };
    let folder = named.canonicalize().map_err(|error| error.to_string())?;
    let folder = folder.into_os_string().into_string();
    folder.map_err(|_| "the name of the folder that it lies in is not UTF-8".to_owned())
}

struct Reader {
    file: String,
    named: PathBuf,
    folder: String,
    bundle: Bundle,
}

impl Reader {
    fn read(&mut self, keys: &[(String, &RawValue)]) {
        for (at, (key, value)) in keys.iter().enumerate() {
            if keys[..at].iter().any(|(earlier, _)| earlier == key) {
                let message = format!("found the key `{key}` again, expected it once");
                self.fault(Code::DuplicateKey, key, message, None);
            } else if let Some((_, part, written)) = PARTS.iter().find(|(name, _, _)| name == key) {
                self.part(key, *part, *written, value.get());
            } else if key == "description" {
                if !value.get().starts_with('"') {
                    let message = format!("found {}, expected a string", shown(value.get()));
                    self.fault(Code::WrongType, key, message, None);
                }
            } else {
                let known: Vec<&str> = (PARTS.iter().map(|(name, _, _)| *name))
                    .chain(["description"])
                    .collect();
                self.add(unknown_key(format!("{NAME}.{key}"), key, &known));
            }
        }
    }

    fn part(&mut self, key: &str, part: DocumentKind, written: Written, value: &str) {
        let inline = |text: String| Source::Text {
            text,
            file: Some(self.file.clone()),
        };
        let source = match (written, value.as_bytes().first()) {
            (Written::FileOrInline | Written::Ceiling, Some(b'"')) => {
                match serde_json::from_str::<String>(value) {
                    Ok(path) => Source::File(self.named.join(path)),
                    Err(error) => return self.fault(Code::Syntax, key, error.to_string(), None),
                }
            }
            (Written::World, Some(b'"')) => match serde_json::from_str::<String>(value) {
                Ok(path) => Source::World {
                    path: self.named.join(path),
                    folder: self.folder.clone(),
                },
                Err(error) => return self.fault(Code::Syntax, key, error.to_string(), None),
            },
            (Written::World, Some(b'{')) => inline(anchored_world(value, &self.folder)),
            (Written::FileOrInline | Written::World, Some(b'{' | b'n')) | (Written::Inline, _) => {
                inline(value.to_owned())
            }
            (Written::Ceiling, Some(b'{' | b'n')) => inline(anchored_ceiling(value, &self.folder)),
            (Written::FileOrInline | Written::Ceiling | Written::World, _) => {
                let found = shown(value);
                let message = format!("found {found}, expected the path of a file, or the document itself");
                return self.fault(Code::WrongType, key, message, None);
            }
            (Written::Path | Written::Paths, _) => inline(anchored_strings(value, &self.folder)),
        };
        self.bundle.parts.push((part, source));
    }

    fn fault(&mut self, code: Code, key: &str, message: String, help: Option<String>) {
        let mut diagnostic = Diagnostic::error(code, format!("{NAME}.{key}"), message);
        diagnostic.help = help;
        self.add(diagnostic);
    }

    fn add(&mut self, diagnostic: Diagnostic) {
        self.bundle
            .faults
            .push(Fault::new(Some(self.file.clone()), diagnostic));
    }
}

/// The beginning of a JSON value, in backticks.
fn shown(value: &str) -> String {
    let cut: String = value.chars().take(60).collect();
    let more = if cut.len() < value.len() { "…" } else { "" };
    format!("`{cut}{more}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, parts: &[(DocumentKind, &str)], faults: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(BUNDLE_FILE);
        std::fs::write(&path, text).unwrap();
        let real = folder.path().canonicalize().unwrap().display().to_string();
        let bundle = read(&path).unwrap();
        let found: Vec<(DocumentKind, String)> = bundle
            .parts
            .iter()
            .map(|(part, source)| {
                let text = match source {
                    Source::Text { text, .. } => text.replace(&real, "FOLDER"),
                    Source::File(file) | Source::World { path: file, .. } => {
                        format!("file {}", file.file_name().unwrap().display())
                    }
                };
                (*part, text)
            })
            .collect();
        let expected: Vec<(DocumentKind, String)> = parts
            .iter()
            .map(|(part, text)| (*part, (*text).to_owned()))
            .collect();
        assert_eq!(found, expected);
        let found: Vec<String> = bundle
            .faults
            .iter()
            .map(|fault| fault.diagnostic.to_string())
            .collect();
        assert_eq!(found, faults);
    }

    #[test]
    fn parts_are_files_or_written_out() {
        check(
            r#"{"description": "d", "policy": "p.json", "annotations": {"servers": {}, "servers": {}},
                "sandbox": ".", "protectedPaths": ["s", "~/.ssh", 5], "trustedServers": "a",
                "ceiling": {"workspace_roots": [".", "/x"], "tools": [], "tools": ["."]}}"#,
            &[
                (DocumentKind::Policy, "file p.json"),
                (DocumentKind::Annotations, r#"{"servers": {}, "servers": {}}"#),
                (DocumentKind::Sandbox, r#""FOLDER""#),
                (DocumentKind::ProtectedPaths, r#"["FOLDER/s","~/.ssh",5]"#),
                (DocumentKind::TrustedServers, r#""a""#),
                (
                    DocumentKind::Ceiling,
                    r#"{"workspace_roots":["FOLDER","/x"],"tools":[],"tools":["."]}"#,
                ),
            ],
            &[],
        );
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        check(
            r#"{"polcy": {}, "policy": 5, "options": {}, "options": {}, "description": []}"#,
            &[(DocumentKind::Options, "{}")],
            &[
                "error[unknown-key] at bundle.polcy: found the key `polcy`, expected one of `policy`, `annotations`, \
                 `lists`, `sandbox`, `protectedPaths`, `domainAllowlists`, `trustedServers`, `ceiling`, \
                 `options`, `roles`, `world`, `description` (help: did you mean `policy`?)",
                "error[wrong-type] at bundle.policy: found `5`, expected the path of a file, or the document itself",
                "error[duplicate-key] at bundle.options: found the key `options` again, expected it once",
                "error[wrong-type] at bundle.description: found `[]`, expected a string",
            ],
        );
        check(
            "[1]",
            &[],
            &["error[wrong-type] at bundle: invalid type: sequence, expected an object at line 1 column 0"],
        );
        check(
            "{\"policy\": \n}",
            &[],
            &["error[syntax] at bundle: expected value at line 2 column 1"],
        );
    }
}

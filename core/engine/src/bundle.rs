//! A bundle: one text, that of `callgate.json`, that names or holds everything an engine is built from.

use std::fmt;
use std::ops::Range;

use crate::config::DocumentKind;
use crate::diagnostic::{Code, Diagnostic, Position};
use crate::document::{Member, members, unknown_key, without_comments};

/// The bundle's name in the paths of its faults.
const NAME: &str = "bundle";

/// The keys that do not hold a document of an engine.
pub const OTHERS: [&str; 3] = [TESTS, LEAVES, "description"];

/// The key of the files of scenarios.
const TESTS: &str = "tests";

/// The key of the servers that are left to the layers below.
const LEAVES: &str = "leaves";

/// The contents of a bundle and the files that it names. Whoever has the bundle reads these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// The documents that are written out.
    pub inline: Vec<InlineDocument>,
    /// The documents that stand in files of their own.
    pub files: Vec<NamedFile>,
    /// The files of scenarios that `callgate test` runs, written as those of documents are. No gate reads them.
    pub tests: Vec<String>,
    /// The servers, or patterns for them, of whose tools the layers below decide where none of these documents annotates the tool.
    pub leaves: Vec<String>,
    /// Faults of the bundle itself. The documents may have faults of their own.
    pub faults: Vec<Diagnostic>,
}

/// A document that is written out in a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineDocument {
    /// Which document it is.
    pub kind: DocumentKind,
    /// Its text, after as many line breaks and spaces as bring it to its place in the bundle: the position of a fault is
    /// that in the bundle.
    pub text: String,
    /// Where it stands in the bundle, in bytes.
    pub range: Range<usize>,
    /// Where it begins there.
    pub position: Position,
}

/// A document that stands in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// Which document it is.
    pub kind: DocumentKind,
    /// The file's path as it is written: relative to the bundle's directory, or absolute.
    pub path: String,
}

/// How the value of a key may be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// As the path of a file, or as the document itself.
    FileOrInline,
    /// As the document itself.
    Inline,
}

pub const PARTS: [(DocumentKind, Written); 13] = [
    (DocumentKind::Policy, Written::FileOrInline),
    (DocumentKind::Annotations, Written::FileOrInline),
    (DocumentKind::Lists, Written::FileOrInline),
    (DocumentKind::Programs, Written::FileOrInline),
    (DocumentKind::Sandbox, Written::Inline),
    (DocumentKind::ProtectedPaths, Written::Inline),
    (DocumentKind::DomainAllowlists, Written::Inline),
    (DocumentKind::TrustedServers, Written::Inline),
    (DocumentKind::Ceiling, Written::FileOrInline),
    (DocumentKind::Options, Written::Inline),
    (DocumentKind::Roles, Written::Inline),
    (DocumentKind::World, Written::FileOrInline),
    (DocumentKind::Invariants, Written::Inline),
];

/// Reads the text of a bundle.
///
/// Every key may be missing. A key that is not known, or that is given twice, is a fault: what it was to configure would be
/// missing.
pub fn read_bundle(text: &str) -> Bundle {
    let mut bundle = Bundle::default();
    match members(text, NAME) {
        Ok(Some(members)) => {
            for (at, member) in members.iter().enumerate() {
                let earlier = members.iter().take(at);
                bundle.read(member, earlier);
            }
        }
        Ok(None) => {
            let mut fault = Diagnostic::error(Code::WrongType, NAME, "found no object, expected a bundle");
            fault.position = Some(Position::START);
            bundle.faults.push(fault);
        }
        Err(fault) => bundle.faults.push(fault),
    }
    bundle
}

impl Bundle {
    fn read<'m>(&mut self, member: &'m Member<'_>, mut earlier: impl Iterator<Item = &'m Member<'m>>) {
        let Member { key, value, .. } = member;
        if earlier.any(|one| one.key == *key) {
            let message = format!("the key `{key}` is given twice, expected once");
            self.fault(Code::DuplicateKey, member, member.key_at, message);
        } else if let Some((kind, written)) = PARTS.iter().find(|(kind, _)| kind.as_str() == key) {
            self.part(*kind, *written, member);
        } else if key == TESTS {
            let expected = "the path of a file of scenarios, or an array of them";
            self.tests = self.texts(member, expected);
        } else if key == LEAVES {
            self.leaves = self.texts(member, "the name of a server or a pattern, or an array of them");
        } else if key == "description" || key == "$schema" {
            if !value.starts_with('"') {
                let message = format!("found {}, expected a string", Shown(value));
                self.fault(Code::WrongType, member, member.value_at, message);
            }
        } else {
            let names = PARTS.iter().map(|(kind, _)| kind.as_str());
            let known: Vec<&str> = names.chain(OTHERS).collect();
            let mut fault = unknown_key(format!("{NAME}.{key}"), key, &known);
            fault.position = Some(member.key_at);
            self.faults.push(fault);
        }
    }

    fn part(&mut self, kind: DocumentKind, written: Written, member: &Member<'_>) {
        let first = member.value.as_bytes().first();
        match (written, first) {
            (Written::FileOrInline, Some(b'"')) => {
                let path = serde_json::from_str(member.value).unwrap_or_default();
                self.files.push(NamedFile { kind, path });
            }
            (Written::FileOrInline, Some(b'{' | b'n')) | (Written::Inline, _) => {
                let Position { line, column } = member.value_at;
                let breaks = "\n".repeat(line.saturating_sub(1));
                let spaces = " ".repeat(column.saturating_sub(1));
                let text = format!("{breaks}{spaces}{}", member.value);
                self.inline.push(InlineDocument {
                    kind,
                    text,
                    range: member.start..member.start + member.value.len(),
                    position: member.value_at,
                });
            }
            (Written::FileOrInline, _) => {
                let message = format!(
                    "found {}, expected the path of a file, or the document itself",
                    Shown(member.value)
                );
                self.fault(Code::WrongType, member, member.value_at, message);
            }
        }
    }

    /// One text, or several.
    fn texts(&mut self, member: &Member<'_>, expected: &str) -> Vec<String> {
        let value = without_comments(member.value);
        let one = serde_json::from_str::<String>(&value).map(|text| vec![text]);
        match one.or_else(|_| serde_json::from_str::<Vec<String>>(&value)) {
            Ok(texts) => texts,
            Err(_) => {
                let message = format!("found {}, expected {expected}", Shown(member.value));
                self.fault(Code::WrongType, member, member.value_at, message);
                Vec::new()
            }
        }
    }

    fn fault(&mut self, code: Code, member: &Member<'_>, position: Position, message: String) {
        let mut fault = Diagnostic::error(code, format!("{NAME}.{}", member.key), message);
        fault.position = Some(position);
        self.faults.push(fault);
    }
}

/// The beginning of a value, in backticks.
struct Shown<'v>(&'v str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut: String = self.0.chars().take(60).collect();
        let more = if cut.len() < self.0.len() { "…" } else { "" };
        write!(formatter, "`{cut}{more}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, inline: &[(DocumentKind, &str)], files: &[(DocumentKind, &str)], faults: &[&str]) {
        let bundle = read_bundle(text);
        let found: Vec<_> = bundle.inline.iter().map(|one| (one.kind, &*one.text)).collect();
        assert_eq!(found, inline);
        let found: Vec<_> = bundle.files.iter().map(|one| (one.kind, &*one.path)).collect();
        assert_eq!(found, files);
        let found: Vec<String> = bundle.faults.iter().map(ToString::to_string).collect();
        assert_eq!(found, faults);
    }

    #[test]
    fn parts_are_files_or_written_out() {
        check(
            "{\"$schema\": \"s\", \"description\": \"d\", \"policy\": \"p.json\",\n // é\n \"annotations\": {\"servers\": {}, /* x */ \"servers\": {}},\
             \n\"sandbox\": \".\", \"trustedServers\": \"a\", \"lists\": null, \"world\": \"w\\u002ejson\",}",
            &[
                (
                    DocumentKind::Annotations,
                    "\n\n                {\"servers\": {}, /* x */ \"servers\": {}}",
                ),
                (DocumentKind::Sandbox, "\n\n\n           \".\""),
                (
                    DocumentKind::TrustedServers,
                    "\n\n\n                                  \"a\"",
                ),
                (
                    DocumentKind::Lists,
                    "\n\n\n                                                null",
                ),
            ],
            &[(DocumentKind::Policy, "p.json"), (DocumentKind::World, "w.json")],
            &[],
        );
    }

    #[test]
    fn files_of_scenarios_are_one_or_several() {
        for (value, expected) in [
            ("\"a.jsonl\"", &["a.jsonl"][..]),
            ("[\"a.jsonl\", // x\n \"b/c.json\",]", &["a.jsonl", "b/c.json"]),
            ("[]", &[]),
        ] {
            let bundle = read_bundle(&format!("{{\"tests\": {value}}}"));
            assert_eq!(bundle.tests, expected, "{value}");
            assert_eq!(bundle.faults, []);
        }
        let message = "1:11: error[wrong-type] at bundle.tests: found `[1]`, expected the path of a file of scenarios, or an array of \
                       them";
        check("{\"tests\": [1]}", &[], &[], &[message]);
    }

    #[test]
    fn servers_are_left_by_their_names() {
        let leaves = |value: &str| read_bundle(&format!("{{\"leaves\": {value}}}")).leaves;
        assert_eq!(leaves("\"own-*\""), ["own-*"]);
        assert_eq!(leaves("[\"a\", /* x */ \"b\"]"), ["a", "b"]);
        let message = "1:12: error[wrong-type] at bundle.leaves: found `true`, expected the name of a server or a pattern, or an \
                       array of them";
        check("{\"leaves\": true}", &[], &[], &[message]);
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        check(
            "{\"polcy\": {}, \"policy\": 5, \"options\": {},\n\"options\": {}, \"description\": [], \"folder\": \"/\"}",
            &[(DocumentKind::Options, "                                      {}")],
            &[],
            &[
                "1:2: error[unknown-key] at bundle.polcy: found the key `polcy`, expected one of `policy`, `annotations`, \
                 `lists`, `programs`, `sandbox`, `protectedPaths`, `domainAllowlists`, `trustedServers`, `ceiling`, \
                 `options`, `roles`, `world`, `invariants`, `tests`, `leaves`, `description` (help: did you mean `policy`?)",
                "1:25: error[wrong-type] at bundle.policy: found `5`, expected the path of a file, or the document itself",
                "2:1: error[duplicate-key] at bundle.options: the key `options` is given twice, expected once",
                "2:31: error[wrong-type] at bundle.description: found `[]`, expected a string",
                "2:35: error[unknown-key] at bundle.folder: found the key `folder`, expected one of `policy`, `annotations`, \
                 `lists`, `programs`, `sandbox`, `protectedPaths`, `domainAllowlists`, `trustedServers`, `ceiling`, \
                 `options`, `roles`, `world`, `invariants`, `tests`, `leaves`, `description`",
            ],
        );
        check(
            "[1]",
            &[],
            &[],
            &["1:1: error[wrong-type] at bundle: found no object, expected a bundle"],
        );
        check(
            "{\"policy\": \n}",
            &[],
            &[],
            &["2:1: error[syntax] at bundle: not JSON: expected value"],
        );
    }
}

//! A builder's additions to documents that were written elsewhere.

use callgate_engine::config::DocumentKind;
use callgate_engine::document::without_comments;
use callgate_jsontext::Members;
use serde_json::Value;
use serde_json::value::RawValue;

use super::agent_tools::{AddedServer, with_alias, with_servers};
use crate::documents::Document;

/// Single entries for three of the parts.
#[derive(Debug, Default)]
pub(super) struct Additions {
    pub(super) protected_paths: Vec<String>,
    pub(super) domains: Vec<(String, String)>,
    pub(super) trusted_servers: Vec<String>,
    pub(super) servers: Vec<AddedServer>,
}

impl Additions {
    /// Adds the entries to the documents of their parts, which are made where they are missing. A document that
    /// is not what it must be stays as it is, for the engine to refuse.
    pub(super) fn add_to(self, documents: &mut Vec<Document>) {
        for (part, entries) in [
            (DocumentKind::ProtectedPaths, self.protected_paths),
            (DocumentKind::TrustedServers, self.trusted_servers),
        ] {
            if !entries.is_empty() {
                edit(documents, part, "[]", |text| with_entries(text, entries));
            }
        }
        for (server, pattern) in self.domains {
            edit(documents, DocumentKind::DomainAllowlists, "{}", |text| {
                with_pattern(text, &server, pattern)
            });
        }
        if !self.servers.is_empty() {
            edit(documents, DocumentKind::Annotations, "{}", |text| {
                with_servers(text, &self.servers)
            });
            for AddedServer { name, kind, .. } in &self.servers {
                edit(documents, DocumentKind::Options, "{}", |text| {
                    with_alias(text, name, kind)
                });
            }
        }
    }
}

fn edit(
    documents: &mut Vec<Document>,
    part: DocumentKind,
    empty: &str,
    change: impl FnOnce(&str) -> Option<String>,
) {
    let at = documents.iter().position(|document| document.part == part);
    let given = at.map_or(empty, |at| documents[at].text.as_str());
    let given = without_comments(given);
    let given = if given.trim() == "null" { empty } else { &given };
    let Some(text) = change(given) else { return };
    match at {
        Some(at) => documents[at].text = text,
        None => documents.push(Document {
            part,
            text,
            file: None,
        }),
    }
}

/// The entries come last, so that the others stay where they are in their text.
fn with_entries(array: &str, entries: Vec<String>) -> Option<String> {
    let items: Vec<&RawValue> = serde_json::from_str(array).ok()?;
    let (before, after) = array.split_at(array.rfind(']')?);
    let separator = if items.is_empty() { "" } else { "," };
    let entries: Vec<String> = entries
        .into_iter()
        .map(|entry| Value::from(entry).to_string())
        .collect();
    Some(format!("{before}{separator}{}{after}", entries.join(",")))
}

/// The members are written again one by one, so that a repeated name is still there to be refused.
fn with_pattern(object: &str, server: &str, pattern: String) -> Option<String> {
    let Members(members) = serde_json::from_str(object).ok()?;
    let mut members: Vec<(String, String)> = members
        .into_iter()
        .map(|(name, value)| (name, value.get().to_owned()))
        .collect();
    match members.iter_mut().find(|(name, _)| name == server) {
        Some((_, patterns)) => *patterns = with_entries(patterns, vec![pattern])?,
        None => members.push((server.to_owned(), with_entries("[]", vec![pattern])?)),
    }
    let members = members
        .iter()
        .map(|(name, patterns)| format!("{}:{patterns}", Value::from(name.as_str())));
    Some(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(part: DocumentKind, given: Option<&str>, expected: &str) {
        let file = || Some("given.json".to_owned());
        let text = |text: &str| text.to_owned();
        let mut documents: Vec<Document> = given
            .map(|given| Document {
                part,
                text: text(given),
                file: file(),
            })
            .into_iter()
            .collect();
        let mut additions = Additions::default();
        match part {
            DocumentKind::ProtectedPaths => additions.protected_paths = vec![text("/p")],
            DocumentKind::TrustedServers => additions.trusted_servers = vec![text("s"), text("t")],
            _ => additions.domains = vec![(text("fetch"), text("a.test")), (text("fetch"), text("\"b"))],
        }
        additions.add_to(&mut documents);
        assert_eq!(documents.len(), 1);
        assert_eq!(documents[0].text, expected);
        assert_eq!(documents[0].file, given.and_then(|_| file()));
    }

    #[test]
    fn entries_are_added_to_what_is_there() {
        check(DocumentKind::ProtectedPaths, None, r#"["/p"]"#);
        check(DocumentKind::ProtectedPaths, Some("null"), r#"["/p"]"#);
        check(
            DocumentKind::ProtectedPaths,
            Some(r#"["/q", 5]"#),
            r#"["/q", 5,"/p"]"#,
        );
        check(DocumentKind::TrustedServers, Some("[ ]"), r#"[ "s","t"]"#);
        check(
            DocumentKind::TrustedServers,
            Some("\n [\"q\", // and ]\n]"),
            "\n [\"q\"          \n,\"s\",\"t\"]",
        );
        check(
            DocumentKind::DomainAllowlists,
            None,
            r#"{"fetch":["a.test","\"b"]}"#,
        );
        check(
            DocumentKind::DomainAllowlists,
            Some(r#"{"x": ["*"], "x": [], "fetch": ["c"]}"#),
            r#"{"x":["*"],"x":[],"fetch":["c","a.test","\"b"]}"#,
        );
    }

    #[test]
    fn what_is_wrong_stays_for_the_engine_to_refuse() {
        check(DocumentKind::ProtectedPaths, Some(r#""/q""#), r#""/q""#);
        check(DocumentKind::TrustedServers, Some("[1"), "[1");
        check(
            DocumentKind::DomainAllowlists,
            Some(r#"{"fetch": "*"}"#),
            r#"{"fetch": "*"}"#,
        );
    }
}

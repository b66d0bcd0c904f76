//! A builder's additions to documents that were written elsewhere.

use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_engine::document::without_comments;
use callgate_jsontext::rewrite;
use serde_json::{Map, Value, json};

use crate::documents::{Document, Fault};
use crate::leaves::Leaves;

/// Single entries for some of the parts.
#[derive(Debug, Default)]
pub(super) struct Additions {
    /// Entries of the document.
    pub(super) protected_paths: Vec<Value>,
    pub(super) domains: Vec<(String, String)>,
    pub(super) trusted_servers: Vec<String>,
    pub(super) servers: Vec<AddedServer>,
}

/// A server whose tools are known where the documents do not describe them.
#[derive(Debug)]
pub(super) struct AddedServer {
    pub(super) name: &'static str,
    /// Of which kind it is.
    pub(super) kind: &'static str,
    /// The annotations of its tools.
    pub(super) tools: Vec<Value>,
    /// The directory that its commands run in, where it has one.
    pub(super) directory: Option<String>,
}

impl Additions {
    pub(super) fn protect_writes(&mut self, path: String) {
        self.protected_paths
            .push(json!({"path": path, "against": "write"}));
    }

    /// Adds no tool of a server that is left to layers below.
    pub(super) fn leave(&mut self, leaves: &Leaves) {
        for server in self.servers.iter_mut().filter(|server| leaves.has(server.name)) {
            server.tools.clear();
        }
    }

    /// Adds the entries to the documents of their parts, which are made where they are missing. A document that
    /// is not what it must be stays as it is, for the engine to refuse; an entry that cannot be added is a fault.
    pub(super) fn add_to(&self, documents: &mut Vec<Document>) -> Vec<Fault> {
        let faults = [
            edit(documents, DocumentKind::ProtectedPaths, json!([]), |paths| {
                append(paths, &self.protected_paths)
            }),
            edit(documents, DocumentKind::TrustedServers, json!([]), |servers| {
                append(servers, &self.trusted_servers)
            }),
            edit(
                documents,
                DocumentKind::DomainAllowlists,
                json!({}),
                |allowlists| {
                    self.domains.iter().try_for_each(|(server, pattern)| {
                        append(list(allowlists, server)?, std::slice::from_ref(pattern))
                    })
                },
            ),
            edit(documents, DocumentKind::Annotations, json!({}), |annotations| {
                self.servers
                    .iter()
                    .try_for_each(|server| server.add_to(annotations))
            }),
            edit(documents, DocumentKind::Options, json!({}), |options| {
                self.servers
                    .iter()
                    .try_for_each(|server| server.add_kind(options))
            }),
        ];
        faults.into_iter().flatten().collect()
    }
}

impl AddedServer {
    /// Adds the tools that the annotations do not have. A call that names no resource is asked about, unless the server says
    /// something else of its tools.
    fn add_to(&self, annotations: &mut Value) -> Option<()> {
        if self.tools.is_empty() {
            return Some(());
        }
        let servers = object(annotations, "servers")?;
        let server = servers.entry(self.name).or_insert_with(|| json!({}));
        server
            .as_object_mut()?
            .entry("unjudged")
            .or_insert_with(|| json!("ask"));
        let tools = list(server, "tools")?.as_array_mut()?;
        let is_known = |added: &&Value| tools.iter().any(|tool| tool["toolName"] == added["toolName"]);
        let (_, new): (Vec<_>, Vec<_>) = self.tools.iter().partition(is_known);
        tools.extend(new.into_iter().cloned());
        Some(())
    }

    fn add_kind(&self, options: &mut Value) -> Option<()> {
        let aliases = object(options, "serverAliases")?;
        aliases.entry(self.name).or_insert_with(|| json!(self.kind));
        if let Some(directory) = &self.directory {
            let directories = object(options, "workingDirectory")?;
            directories.entry(self.name).or_insert_with(|| json!(directory));
        }
        Some(())
    }
}

/// Changes the document of a part, all else in whose text stays where it is. A fault if its text does not allow it.
fn edit(
    documents: &mut Vec<Document>,
    part: DocumentKind,
    empty: Value,
    change: impl FnOnce(&mut Value) -> Option<()>,
) -> Option<Fault> {
    let known = documents.iter_mut().find(|document| document.part == part);
    let given = known.as_ref().map(|document| without_comments(&document.text));
    let before = given.map_or(Ok(Value::Null), |text| serde_json::from_str(&text));
    let before = before.ok()?;
    let before = if before == Value::Null { empty } else { before };
    let mut after = before.clone();
    change(&mut after)?;
    if after == before {
        return None;
    }
    let Some(document) = known else {
        documents.push(Document {
            part,
            text: after.to_string(),
            file: None,
        });
        return None;
    };
    match rewrite(&document.text, &after) {
        Some(text) => {
            document.text = text;
            None
        }
        None => {
            let message = "nothing can be added to this text, expected one without repeated names";
            let diagnostic = Diagnostic::error(Code::InvalidValue, part.as_str(), message);
            Some(Fault::new(document.file.clone(), diagnostic))
        }
    }
}

fn append<E: Clone + Into<Value>>(list: &mut Value, entries: &[E]) -> Option<()> {
    list.as_array_mut()?
        .extend(entries.iter().cloned().map(Into::into));
    Some(())
}

/// The list that a member is, made where there is none.
fn list<'v>(object: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    Some(object.as_object_mut()?.entry(name).or_insert_with(|| json!([])))
}

/// The object that a member is, made where there is none.
fn object<'v>(object: &'v mut Value, name: &str) -> Option<&'v mut Map<String, Value>> {
    let members = object.as_object_mut()?;
    members.entry(name).or_insert_with(|| json!({})).as_object_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn additions() -> Additions {
        let text = |text: &str| text.to_owned();
        Additions {
            protected_paths: vec![json!("/p")],
            trusted_servers: vec![text("s"), text("t")],
            domains: vec![(text("fetch"), text("a.test")), (text("fetch"), text("\"b"))],
            servers: vec![AddedServer {
                name: "s",
                kind: "filesystem",
                tools: ["a", "b"].map(|name| json!({"toolName": name})).into(),
                directory: None,
            }],
        }
    }

    #[track_caller]
    fn check(part: DocumentKind, given: Option<&str>, expected: &str) {
        let file = || Some("given.json".to_owned());
        let given = given.map(|given| Document {
            part,
            text: given.to_owned(),
            file: file(),
        });
        let mut documents: Vec<Document> = given.clone().into_iter().collect();
        let faults = additions().add_to(&mut documents);
        assert_eq!(faults.len(), 0, "{faults:?}");
        let changed = documents.iter().find(|document| document.part == part).unwrap();
        assert_eq!(changed.text, expected);
        assert_eq!(changed.file, given.and_then(|_| file()));
    }

    #[test]
    fn entries_are_added_to_what_is_there() {
        check(DocumentKind::ProtectedPaths, None, r#"["/p"]"#);
        check(DocumentKind::ProtectedPaths, Some("null"), r#"["/p"]"#);
        check(
            DocumentKind::ProtectedPaths,
            Some(r#"["/q", "/r"]"#),
            r#"["/q", "/r", "/p"]"#,
        );
        check(
            DocumentKind::TrustedServers,
            Some("\n [\"q\", // and ]\n]"),
            "\n [\"q\", \"s\", \"t\" // and ]\n]",
        );
        check(
            DocumentKind::DomainAllowlists,
            None,
            r#"{"fetch":["a.test","\"b"]}"#,
        );
        check(
            DocumentKind::DomainAllowlists,
            Some(r#"{"x": ["*"],  "fetch": ["c"]}"#),
            r#"{"x": ["*"],  "fetch": ["c", "a.test", "\"b"]}"#,
        );
    }

    #[test]
    fn tools_are_added_where_there_are_none() {
        let annotations = |given: &str, expected: &str| {
            check(DocumentKind::Annotations, Some(given), expected);
        };
        annotations(
            r#"{"servers": {"t": {"tools": []}}}"#,
            r#"{"servers": {"t": {"tools": []}, "s": {"unjudged": "ask", "tools": [{"toolName": "a"}, {"toolName": "b"}]}}}"#,
        );
        annotations(
            r#"{"servers": {"s": {"tools": [{"toolName": "a", "args": {"x": "none"}}]}}}"#,
            r#"{"servers": {"s": {"tools": [{"toolName": "a", "args": {"x": "none"}}, {"toolName": "b"}], "unjudged": "ask"}}}"#,
        );
        let whole =
            r#"{"servers": {"s": {"unjudged": "deny", "tools": [{"toolName": "a"}, {"toolName": "b"}]}}}"#;
        annotations(whole, whole);
        check(
            DocumentKind::Options,
            Some(r#"{"serverAliases": {"t": "git"}, "strict": true}"#),
            r#"{"serverAliases": {"t": "git", "s": "filesystem"}, "strict": true}"#,
        );
        let named = r#"{"serverAliases": {"s": "git"}}"#;
        check(DocumentKind::Options, Some(named), named);
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        let mut documents = Vec::new();
        assert_eq!(Additions::default().add_to(&mut documents), []);
        assert_eq!(documents.len(), 0);
    }

    #[test]
    fn what_is_wrong_stays_for_the_engine_to_refuse() {
        for (part, text) in [
            (DocumentKind::ProtectedPaths, r#""/q""#),
            (DocumentKind::TrustedServers, "[1"),
            (DocumentKind::DomainAllowlists, r#"{"fetch": "*"}"#),
            (DocumentKind::Annotations, "[]"),
            (DocumentKind::Annotations, r#"{"servers": {"s": {"tools": {}}}}"#),
        ] {
            check(part, Some(text), text);
        }
    }

    #[test]
    fn an_entry_that_cannot_be_added_is_a_fault() {
        let text = r#"{"x": ["*"], "x": []}"#;
        let mut documents = vec![Document {
            part: DocumentKind::DomainAllowlists,
            text: text.to_owned(),
            file: None,
        }];
        let faults = additions().add_to(&mut documents);
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].diagnostic.path, "domainAllowlists");
        assert_eq!(documents[0].text, text);
    }
}

//! What an upper layer leaves to those below it.

use callgate_engine::config::DocumentKind;
use callgate_engine::glob::NamePattern;
use serde_json::Value;

use crate::documents::{Document, read_before};

/// The servers of whose tools those below decide where the layer does not annotate the tool.
#[derive(Default)]
pub(crate) struct Leaves {
    names: Vec<NamePattern>,
    /// Servers with a domain allowlist: of a tool that it does not know a layer knows no URL.
    restricted: Vec<String>,
}

impl Leaves {
    pub(crate) fn new(names: &[String], documents: &[Document]) -> Self {
        let allowlists = read_before(documents, DocumentKind::DomainAllowlists);
        let servers = allowlists.as_ref().and_then(Value::as_object);
        let restricted = servers.into_iter().flat_map(|servers| servers.keys().cloned());
        Self {
            names: names.iter().map(|name| NamePattern::from(&**name)).collect(),
            restricted: restricted.collect(),
        }
    }

    pub(crate) fn has(&self, server: &str) -> bool {
        let is_restricted = self.restricted.iter().any(|one| one == server);
        !is_restricted && self.names.iter().any(|name| name.matches(server))
    }
}

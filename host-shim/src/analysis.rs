//! Questions to a gate about its policy as a whole.

use std::sync::Arc;

use callgate_analysis::{Advice, Finding, Layer, Watcher, lint_policy, lint_tools, suggest_rules};
use callgate_engine::bind::{Call, CallError};
use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::Diagnostic;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::BuildError;
use callgate_engine::host::Host;

use crate::backend::Request;
use crate::gate::{Gate, LayerEngine};

impl LayerEngine {
    /// The layer as one above others.
    pub fn upper(&self) -> Layer<'_> {
        Layer {
            name: &self.name,
            engine: &self.engine,
            leaves: Arc::new(|server| self.leaves(server)),
        }
    }
}

impl Gate {
    /// Findings about the documents, with the files that hold them; only a look at all calls shows them. `disk` gives
    /// links and repositories. The watcher is told what is looked at.
    ///
    /// # Errors
    /// When the documents are refused, which they were not before, and where there are layers.
    pub fn lint(
        &self,
        host: &dyn Host,
        disk: Option<&dyn Host>,
        watcher: Watcher<'_>,
    ) -> Result<Vec<(Option<String>, Finding)>, BuildError> {
        self.check_alone()?;
        Ok(self.with_files(lint_policy(&self.parts(), host, disk, watcher)?))
    }

    /// How the tools of a server, as it answers to MCP's `tools/list`, differ from what the documents say of them, with the files
    /// that hold these.
    ///
    /// # Errors
    /// The faults of the list, annotations that have no servers, and layers.
    pub fn lint_tools(
        &self,
        host: &dyn Host,
        server: &str,
        tools: &str,
    ) -> Result<Vec<(Option<String>, Finding)>, Vec<Diagnostic>> {
        self.check_alone().map_err(|error| error.diagnostics)?;
        let found = lint_tools(&self.parts(), host, server, DocumentSource::Text(tools))?;
        Ok(self.with_files(found))
    }

    /// The smallest rules that would allow all of these calls of one tool, and what else they would let through. The outer error
    /// is that of a text that is not a call.
    ///
    /// # Errors
    /// When the documents are refused, which they were not before, and where there are layers.
    pub fn suggest(
        &self,
        host: &dyn Host,
        requests: &[Request<'_>],
    ) -> Result<Result<Advice, BuildError>, CallError> {
        let calls: Result<Vec<Call<'_>>, CallError> = requests.iter().map(|one| one.call.read()).collect();
        let calls = calls?;
        let asked = requests
            .iter()
            .zip(&calls)
            .map(|(request, call)| callgate_engine::engine::Request {
                call,
                paths: request.paths,
                explain: None,
                approvals: None,
            });
        let asked: Vec<callgate_engine::engine::Request<'_>> = asked.collect();
        Ok(self
            .check_alone()
            .and_then(|()| suggest_rules(&self.parts(), host, &asked)))
    }

    fn parts(&self) -> Vec<(DocumentKind, DocumentSource<'_>)> {
        let documents = self.documents().iter();
        documents
            .map(|document| (document.part, DocumentSource::Text(&document.text)))
            .collect()
    }

    fn with_files(&self, found: Vec<Finding>) -> Vec<(Option<String>, Finding)> {
        let with_file = found.into_iter().map(|finding| {
            let path = &finding.diagnostic.path;
            let name = path.split(['.', '[']).next().unwrap_or_default();
            let document = self
                .documents()
                .iter()
                .find(|document| document.part.as_str() == name);
            (document.and_then(|document| document.file.clone()), finding)
        });
        with_file.collect()
    }
}

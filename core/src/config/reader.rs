//! Reads the documents of a configuration one after the other.

use std::borrow::Cow;

use serde_json::Value;

use super::DocumentKind;
use crate::annotation;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{self, DocumentSource, JsonPath, Node, Report};
use crate::limits::Limits;

/// The documents, and the diagnostics so far.
pub(super) struct Reader<'a> {
    parts: &'a [(DocumentKind, DocumentSource<'a>)],
    pub(super) limits: Limits,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(parts: &'a [(DocumentKind, DocumentSource<'a>)]) -> Result<Self, Vec<Diagnostic>> {
        let twice = DocumentKind::ALL
            .iter()
            .filter(|part| parts.iter().filter(|(one, _)| one == *part).count() > 1);
        let diagnostics: Vec<Diagnostic> = twice
            .map(|part| {
                Diagnostic::error(
                    Code::DuplicateKey,
                    part.as_str(),
                    format!("the part `{}` is given twice, expected once", part.as_str()),
                )
            })
            .collect();
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        Ok(Self {
            parts,
            limits: Limits::default(),
            diagnostics,
        })
    }

    /// Reads an optional document; `None` if it is missing, null or not JSON.
    pub(super) fn optional<T>(
        &mut self,
        part: DocumentKind,
        read: impl FnOnce(&Node<'_, '_>, &Limits) -> T,
    ) -> Option<T> {
        let value = self.load(part)?;
        if value.is_null() {
            return None;
        }
        Some(self.read(part, &value, read))
    }

    /// Reads a required document.
    pub(super) fn required<T>(
        &mut self,
        part: DocumentKind,
        read: impl FnOnce(&Node<'_, '_>, &Limits) -> T,
    ) -> Option<T> {
        if self.parts.iter().all(|(one, _)| *one != part) {
            let message = format!("`{}` is missing, expected the document", part.as_str());
            self.diagnostics
                .push(Diagnostic::error(Code::MissingField, part.as_str(), message));
        }
        let value = self.load(part)?;
        Some(self.read(part, &value, read))
    }

    /// Returns `true` if the document is given and not null, valid or not.
    pub(super) fn is_configured(&self, part: DocumentKind) -> bool {
        let given = self.parts.iter().find(|(one, _)| *one == part);
        given.is_some_and(|(_, input)| match input {
            DocumentSource::Text(text) => text.trim() != "null",
            DocumentSource::Value(value) => !value.is_null(),
        })
    }

    fn load(&mut self, part: DocumentKind) -> Option<Cow<'a, Value>> {
        let (_, input) = self.parts.iter().find(|(one, _)| *one == part)?;
        let unread = match part {
            DocumentKind::ToolAnnotations => annotation::is_unread,
            DocumentKind::CompiledPolicy
            | DocumentKind::DynamicLists
            | DocumentKind::ProtectedPaths
            | DocumentKind::AllowedDirectory
            | DocumentKind::ServerDomainAllowlists
            | DocumentKind::TrustedServers
            | DocumentKind::Ceiling
            | DocumentKind::Options
            | DocumentKind::Roles
            | DocumentKind::World => |_: &JsonPath<'_>| false,
        };
        match document::load(*input, part.as_str(), &self.limits, unread) {
            Ok(value) => Some(value),
            Err(faults) => {
                self.diagnostics.extend(faults);
                None
            }
        }
    }

    fn read<T>(
        &mut self,
        part: DocumentKind,
        value: &Value,
        read: impl FnOnce(&Node<'_, '_>, &Limits) -> T,
    ) -> T {
        let report = Report::default();
        let read = read(&Node::document(value, part.as_str(), &report), &self.limits);
        self.diagnostics.extend(report.finish(part.as_str()));
        read
    }

    /// Fails if there are errors or, with `strict`, warnings.
    pub(super) fn check(&mut self, strict: bool) -> Result<(), Vec<Diagnostic>> {
        let refused = |fault: &Diagnostic| match fault.severity {
            Severity::Error => true,
            Severity::Warning => strict,
        };
        if self.diagnostics.iter().any(refused) {
            return Err(std::mem::take(&mut self.diagnostics));
        }
        Ok(())
    }
}

//! Reads the documents of a configuration one after the other.

use super::DocumentKind;
use crate::annotation;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{self, DocumentSource, Json, JsonPath, Node, Report};
use crate::limits::Limits;

/// The documents, and the diagnostics so far.
pub(super) struct Reader<'a> {
    documents: &'a [(DocumentKind, DocumentSource<'a>)],
    pub(super) limits: Limits,
    pub(super) folder: Option<Box<str>>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(documents: &'a [(DocumentKind, DocumentSource<'a>)]) -> Result<Self, Vec<Diagnostic>> {
        let twice = DocumentKind::ALL
            .iter()
            .filter(|kind| documents.iter().filter(|(known, _)| known == *kind).count() > 1);
        let twice = twice.map(|kind| {
            let message = format!("the document `{kind}` is given twice, expected once");
            Diagnostic::error(Code::DuplicateKey, kind.as_str(), message)
        });
        let mut reader = Self {
            documents,
            limits: Limits::default(),
            folder: None,
            diagnostics: twice.collect(),
        };
        reader.check(false)?;
        Ok(reader)
    }

    /// Reads an optional document; `None` if it is missing, not JSON, or null where that means missing. A null
    /// elsewhere is a value of the wrong type: what was to be protected may be missing.
    pub(super) fn optional<T>(
        &mut self,
        kind: DocumentKind,
        read: impl FnOnce(&Node<'_, '_>, &Limits) -> T,
    ) -> Option<T> {
        let value = self
            .load(kind)
            .filter(|value| !(value.is_null() && kind.may_be_null()))?;
        Some(self.read(kind, &value, read))
    }

    /// Reads a required document.
    pub(super) fn required<T>(
        &mut self,
        kind: DocumentKind,
        read: impl FnOnce(&Node<'_, '_>, &Limits) -> T,
    ) -> Option<T> {
        if self.documents.iter().all(|(known, _)| *known != kind) {
            let message = format!("`{}` is missing, expected the document", kind.as_str());
            self.diagnostics
                .push(Diagnostic::error(Code::MissingField, kind.as_str(), message));
        }
        let value = self.load(kind)?;
        Some(self.read(kind, &value, read))
    }

    /// Returns `true` if the document is given and not null, valid or not.
    pub(super) fn is_configured(&self, kind: DocumentKind) -> bool {
        let given = self.documents.iter().find(|(known, _)| *known == kind);
        given.is_some_and(|(_, input)| match input {
            DocumentSource::Text(text) => text.trim() != "null",
            DocumentSource::Value(value) => !value.is_null(),
        })
    }

    fn load(&mut self, kind: DocumentKind) -> Option<Json<'a>> {
        let (_, input) = self.documents.iter().find(|(known, _)| *known == kind)?;
        let unread = if kind == DocumentKind::Annotations {
            annotation::is_unread
        } else {
            |_: &JsonPath<'_>| false
        };
        match document::load(*input, kind.as_str(), &self.limits, unread) {
            Ok(value) => Some(value),
            Err(faults) => {
                self.diagnostics.extend(faults);
                None
            }
        }
    }

    fn read<T>(
        &mut self,
        kind: DocumentKind,
        value: &Json<'_>,
        read: impl FnOnce(&Node<'_, '_>, &Limits) -> T,
    ) -> T {
        let report = Report::within(self.folder.clone());
        let read = read(&Node::document(value, kind.as_str(), &report), &self.limits);
        self.diagnostics.extend(report.finish(kind.as_str()));
        read
    }

    /// How many errors were found so far.
    pub(super) fn errors(&self) -> usize {
        let faults = self.diagnostics.iter();
        faults.filter(|fault| fault.severity == Severity::Error).count()
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

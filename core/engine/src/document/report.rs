//! The faults of one document, up to a bound.

use std::cell::RefCell;
use std::fmt;

use crate::diagnostic::{Code, Diagnostic, Severity};

use super::JsonPath;

/// How many errors, and how many warnings, are listed per document.
const LISTED: usize = 100;

/// The message of a fault without help: the arguments of a format, or a function where these are not enough. Neither is
/// formatted unless the fault is listed. Each function adds its own code to the WebAssembly module.
pub trait Message {
    fn add_to(self, report: &Report, severity: Severity, code: Code, place: &JsonPath<'_>);
}

impl Message for fmt::Arguments<'_> {
    fn add_to(self, report: &Report, severity: Severity, code: Code, place: &JsonPath<'_>) {
        report.add(severity, code, place, || (fmt::format(self), None));
    }
}

impl<F: FnOnce() -> String> Message for F {
    fn add_to(self, report: &Report, severity: Severity, code: Code, place: &JsonPath<'_>) {
        report.add(severity, code, place, || (self(), None));
    }
}

/// Collects the faults of one document while it is read.
#[derive(Debug, Default)]
pub struct Report {
    faults: RefCell<Faults>,
    folder: Option<Box<str>>,
}

#[derive(Debug, Default)]
struct Faults {
    listed: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Report {
    /// A report about a document whose relative paths start from `folder`.
    pub fn within(folder: Option<Box<str>>) -> Self {
        Self {
            folder,
            ..Self::default()
        }
    }

    /// The directory that the document's relative paths start from.
    pub(super) fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    pub(crate) fn error(&self, code: Code, place: &JsonPath<'_>, message: impl Message) {
        message.add_to(self, Severity::Error, code, place);
    }

    pub(crate) fn warning(&self, code: Code, place: &JsonPath<'_>, message: impl Message) {
        message.add_to(self, Severity::Warning, code, place);
    }

    /// Adds a fault; its message and help are only formatted if it is listed.
    pub fn add(
        &self,
        severity: Severity,
        code: Code,
        place: &JsonPath<'_>,
        describe: impl FnOnce() -> (String, Option<String>),
    ) {
        let mut describe = Some(describe);
        self.list(severity, code, place, &mut || {
            describe.take().map(|describe| describe()).unwrap_or_default()
        });
    }

    /// Not generic, because faults are reported in many places and each copy would grow the code.
    fn list(
        &self,
        severity: Severity,
        code: Code,
        place: &JsonPath<'_>,
        describe: &mut dyn FnMut() -> (String, Option<String>),
    ) {
        let mut faults = self.faults.borrow_mut();
        let count = match severity {
            Severity::Error => &mut faults.errors,
            Severity::Warning => &mut faults.warnings,
        };
        *count += 1;
        if *count > LISTED {
            return;
        }
        let (message, help) = describe();
        faults.listed.push(Diagnostic {
            code,
            severity,
            path: place.to_string(),
            position: None,
            message,
            help,
        });
    }

    /// Returns `true` if an error was added.
    pub fn has_errors(&self) -> bool {
        self.faults.borrow().errors > 0
    }

    /// The faults in the order they were found. If there are more than are listed, a last one per severity says how
    /// many.
    pub fn finish(self, name: &str) -> Vec<Diagnostic> {
        let Faults {
            mut listed,
            errors,
            warnings,
        } = self.faults.into_inner();
        for (severity, count, what) in [
            (Severity::Error, errors, "errors"),
            (Severity::Warning, warnings, "warnings"),
        ] {
            if count > LISTED {
                listed.push(Diagnostic {
                    code: Code::Limit,
                    severity,
                    path: name.to_owned(),
                    position: None,
                    message: format!(
                        "`{count}` {what} in this document, expected at most {LISTED}: {} more are not listed",
                        count - LISTED
                    ),
                    help: None,
                });
            }
        }
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_beyond_the_bound_are_counted() {
        let report = Report::default();
        let document = JsonPath::Document("d");
        for index in 0..130 {
            report.error(Code::WrongType, &JsonPath::Index(&document, index), String::new);
        }
        report.warning(Code::UnknownKey, &document, || "late".to_owned());
        assert!(report.has_errors());
        let faults = report.finish("d");
        assert_eq!(faults.len(), 102);
        assert_eq!(faults[99].path, "d[99]");
        assert_eq!(faults[100].message, "late");
        assert!(faults[101].message.contains("30 more"));
        assert_eq!(faults[101].severity, Severity::Error);
    }
}

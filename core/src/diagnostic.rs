//! Diagnostics: a fault in a document, where it is, and what was expected.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::named::named;

named! {
    /// The stable name of a fault. The set is closed: a new fault is a new variant.
    pub enum Code {
        /// The text is not JSON.
        Syntax = "syntax",
        /// An object has the same key twice.
        DuplicateKey = "duplicate-key",
        /// A bound of [`Limits`](crate::Limits) is exceeded.
        Limit = "limit",
        /// A required document or field is missing.
        MissingField = "missing-field",
        /// A value has the wrong type for its field.
        WrongType = "wrong-type",
        /// A string is not one of the field's values.
        UnknownValue = "unknown-value",
        /// A role is neither built in nor defined by the host.
        UnknownRole = "unknown-role",
        /// A key has no meaning here.
        UnknownKey = "unknown-key",
        /// A value has the right type but cannot be used.
        InvalidValue = "invalid-value",
        /// Two annotations describe the same tool.
        DuplicateTool = "duplicate-tool",
        /// A path is not absolute although it must be, or cannot be resolved as written.
        InvalidPath = "invalid-path",
        /// A rule or condition can never match.
        NeverMatches = "never-matches",
        /// A rule has no condition, so it matches every call.
        EmptyCondition = "empty-condition",
        /// A conditional annotation gives roles that its default does not have.
        WideningCondition = "widening-condition",
        /// An `@name` refers to a list that does not exist.
        MissingList = "missing-list",
        /// A list of the wrong type is used.
        ListType = "list-type",
        /// No rule uses a list that is defined.
        UnusedList = "unused-list",
        /// A generated list contains the pattern that matches everything.
        WildcardList = "wildcard-list",
        /// Two rules for one place of a world name the same command; the first decides.
        RepeatedCommand = "repeated-command",
        /// A place of a world is visible but has no operations, or has operations but is not visible.
        OneSidedPlace = "one-sided-place",
        /// The engine deliberately does something other than what the rule seems to say.
        Overridden = "overridden",
        /// A tool may return a reference to its output, and no tool can read such a reference.
        MissingRoute = "missing-route",
        /// No annotation has the server or the tool that a rule names.
        UnknownName = "unknown-name",
        /// Two rules have the same name.
        RepeatedName = "repeated-name",
        /// A list of domains holds a whole top-level domain.
        WholeDomain = "whole-domain",
        /// Part of a capability ceiling applies to no tool, or not to a tool that it seems to cover.
        Unbound = "unbound",
    }
}

named! {
    /// Whether a fault stops an engine from being built.
    pub enum Severity {
        /// The document is used as it is, unless loading is strict.
        Warning = "warning",
        /// The document is refused.
        Error = "error",
    }
}

/// One fault of one document.
///
/// `message` is lower case, without a full stop, quotes the offending value in backticks and says what was expected.
/// `path` is a JSONPath-like place that begins with the document's name: `compiledPolicy.rules[3].if.roles[0]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The stable name of the fault.
    pub code: Code,
    /// Whether the fault stops loading.
    pub severity: Severity,
    /// The place of the fault.
    pub path: String,
    /// What is wrong and what was expected.
    pub message: String,
    /// What to do about it, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn error(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            path: path.into(),
            message: message.into(),
            help: None,
        }
    }
}

impl fmt::Display for Diagnostic {
    /// `error[unknown-role] at compiledPolicy.rules[0].if.roles[0]: … (help: …)`
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            code, severity, path, ..
        } = self;
        write!(formatter, "{severity}[{code}] at {path}: {}", self.message)?;
        if let Some(help) = &self.help {
            write!(formatter, " (help: {help})")?;
        }
        Ok(())
    }
}

//! Diagnostics: a fault in a document, where it is, and what was expected.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::named::named;

named! {
    /// The stable name of a fault. The set is closed: a new fault is a new variant.
    pub enum Code {
        /// The text is not JSON.
        Syntax = "syntax",
        /// An object has the same key twice.
        DuplicateKey = "duplicate-key",
        /// A bound of [`Limits`](crate::limits::Limits) is exceeded.
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
        /// No annotation has the server or the tool that a rule names, or no counter the count.
        UnknownName = "unknown-name",
        /// Two rules have the same name.
        RepeatedName = "repeated-name",
        /// A list of domains holds a whole top-level domain.
        WholeDomain = "whole-domain",
        /// Part of a capability ceiling applies to no tool, or not to a tool that it seems to cover.
        Unbound = "unbound",
        /// A rule decides no call, because it matches none or others decide before it.
        NeverDecides = "never-decides",
        /// An allow rule looks at no argument of tools that name resources.
        Unconditional = "unconditional",
        /// Every call of a tool is denied.
        AlwaysDenied = "always-denied",
        /// Arguments bear a role that no rule names.
        UnreadRole = "unread-role",
        /// An entry of a list has no effect beside another one.
        Covered = "covered",
        /// A tool reads everything below the directories that an argument names, protected paths too.
        ReadsBelow = "reads-below",
        /// An argument of a server's tool looks like a resource, and its annotation gives it no role of one.
        MissingRole = "missing-role",
        /// A server has a tool that is not annotated.
        NewTool = "new-tool",
        /// A tool is annotated that its server does not have.
        GoneTool = "gone-tool",
        /// A server's tool has an argument that is not annotated.
        NewArgument = "new-argument",
        /// An argument is annotated that the server's tool does not have.
        GoneArgument = "gone-argument",
        /// The annotated schema of a tool is not the server's.
        ChangedSchema = "changed-schema",
    }
}

named! {
    /// Says if a fault stops an engine from being built.
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
/// `path` is a JSONPath-like place that begins with the document's name: `policy.rules[3].if.roles[0]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Written")]
pub struct Diagnostic {
    /// The stable name of the fault.
    pub code: Code,
    /// Says if the fault stops loading.
    pub severity: Severity,
    /// The place of the fault.
    pub path: String,
    /// The same place in the text, for a document that was given as text: `line` and `column`.
    pub position: Option<Position>,
    /// The fault, and what was expected instead.
    pub message: String,
    /// A way to mend it, if one is known.
    pub help: Option<String>,
}

/// A diagnostic as it is written in JSON.
#[derive(Serialize, Deserialize)]
struct Written {
    code: Code,
    severity: Severity,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let diagnostic = self.clone();
        let written = Written {
            code: self.code,
            severity: self.severity,
            path: diagnostic.path,
            line: self.position.map(|position| position.line),
            column: self.position.map(|position| position.column),
            message: diagnostic.message,
            help: diagnostic.help,
        };
        written.serialize(serializer)
    }
}

impl From<Written> for Diagnostic {
    fn from(written: Written) -> Self {
        let position = written.line.zip(written.column);
        Self {
            code: written.code,
            severity: written.severity,
            path: written.path,
            position: position.map(|(line, column)| Position { line, column }),
            message: written.message,
            help: written.help,
        }
    }
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
}

impl Position {
    /// Where a text begins.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Position {
    /// `12:5`, as editors and terminals take it after the name of a file.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

impl Diagnostic {
    /// An error without a position and without help.
    pub fn error(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            path: path.into(),
            position: None,
            message: message.into(),
            help: None,
        }
    }
}

impl fmt::Display for Diagnostic {
    /// `4:12: error[unknown-role] at policy.rules[0].if.roles[0]: … (help: …)`, where the position is known.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            code, severity, path, ..
        } = self;
        if let Some(position) = self.position {
            write!(formatter, "{position}: ")?;
        }
        write!(formatter, "{severity}[{code}] at {path}: {}", self.message)?;
        if let Some(help) = &self.help {
            write!(formatter, " (help: {help})")?;
        }
        Ok(())
    }
}

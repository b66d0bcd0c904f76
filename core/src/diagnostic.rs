//! Diagnostics: a fault in a document, where it is, and what was expected.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal;)+) => {
        /// The stable name of a fault. The set is closed: a new fault is a new variant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])+ $variant,)+ }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)+];

            /// The code as written in messages and JSON, for example `unknown-role`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)+ }
            }
        }
    };
}

codes! {
    /// The text is not JSON.
    Syntax = "syntax";
    /// An object has the same key twice.
    DuplicateKey = "duplicate-key";
    /// A bound of [`Limits`](crate::Limits) is exceeded.
    Limit = "limit";
    /// A required document or field is missing.
    MissingField = "missing-field";
    /// A value has the wrong type for its field.
    WrongType = "wrong-type";
    /// A string is not one of the field's values.
    UnknownValue = "unknown-value";
    /// A role is neither built in nor defined by the host.
    UnknownRole = "unknown-role";
    /// A key has no meaning here.
    UnknownKey = "unknown-key";
    /// A value has the right type but cannot be used.
    InvalidValue = "invalid-value";
    /// Two annotations describe the same tool.
    DuplicateTool = "duplicate-tool";
    /// A path is not absolute although it must be, or cannot be resolved as written.
    InvalidPath = "invalid-path";
    /// A rule or condition can never match.
    NeverMatches = "never-matches";
    /// A rule has no condition, so it matches every call.
    EmptyCondition = "empty-condition";
    /// A conditional annotation gives roles that its default does not have.
    WideningCondition = "widening-condition";
    /// An `@name` refers to a list that does not exist.
    MissingList = "missing-list";
    /// A list of the wrong type is used.
    ListType = "list-type";
    /// No rule uses a list that is defined.
    UnusedList = "unused-list";
    /// A generated list contains the pattern that matches everything.
    WildcardList = "wildcard-list";
    /// Two rules for one place of a world name the same command; the first decides.
    RepeatedCommand = "repeated-command";
    /// A place of a world is visible but has no operations, or has operations but is not visible.
    OneSidedPlace = "one-sided-place";
    /// The engine deliberately does something other than what the rule seems to say.
    Overridden = "overridden";
    /// A tool may return a reference to its output, and no tool can read such a reference.
    MissingRoute = "missing-route";
    /// Part of a capability ceiling applies to no tool, or not to a tool that it seems to cover.
    Unbound = "unbound";
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::ALL.iter().copied().find(|code| code.as_str() == name);
        known.ok_or_else(|| D::Error::custom(format_args!("unknown code `{name}`")))
    }
}

/// Whether a fault stops an engine from being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The document is used as it is, unless loading is strict.
    Warning,
    /// The document is refused.
    Error,
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
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(
            formatter,
            "{severity}[{}] at {}: {}",
            self.code, self.path, self.message
        )?;
        if let Some(help) = &self.help {
            write!(formatter, " (help: {help})")?;
        }
        Ok(())
    }
}

//! Approvals: a person who lets an escalated call pass may let similar calls pass from then on (SPEC §9).
//!
//! An approval only ever turns `escalate` into `allow`. It holds for one tool, constrains every value of the roles that
//! escalated, and lists the flags of the call. Whoever keeps approvals keeps them as JSON, `{"format": "approvals/1", "entries": […]}`; what is read back is
//! untrusted, and refused as a whole where it has a fault.

mod argument;
mod document;
mod moment;

use std::fmt;

use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Deserialize, Serialize, Serializer};

use crate::diagnostic::Diagnostic;
use crate::document::DocumentSource;
use crate::role::Category;

pub use argument::ArgumentConstraint;
pub use argument::number;
pub use moment::Moment;

/// The name of the format in the document.
const FORMAT: &str = "approvals/1";

/// A constraint on the values of one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", try_from = "WrittenConstraint")]
pub enum ApprovalConstraint {
    /// A path within a directory.
    Directory {
        /// The role's name.
        role: String,
        /// The canonical directory.
        directory: String,
    },
    /// A URL of one domain.
    Domain {
        /// The role's name.
        role: String,
        /// The domain, as returned by `extractDomain` or `extractGitDomain`.
        domain: String,
    },
    /// One identifier.
    Exact {
        /// The role's name.
        role: String,
        /// The identifier in its canonical form, which is in lower case for built-in roles.
        value: String,
    },
}

/// A constraint as JSON has it. Read by its tag, serde keeps a copy of all that it may be, which was a fiftieth of the
/// WebAssembly module.
#[derive(Deserialize)]
struct WrittenConstraint {
    kind: String,
    role: String,
    directory: Option<String>,
    domain: Option<String>,
    value: Option<String>,
}

impl TryFrom<WrittenConstraint> for ApprovalConstraint {
    type Error = String;

    fn try_from(written: WrittenConstraint) -> Result<Self, String> {
        let role = written.role;
        let there =
            |value: Option<String>, name: &str| value.ok_or_else(|| format!("missing field `{name}`"));
        Ok(match written.kind.as_str() {
            "directory" => Self::Directory {
                role,
                directory: there(written.directory, "directory")?,
            },
            "domain" => Self::Domain {
                role,
                domain: there(written.domain, "domain")?,
            },
            "exact" => Self::Exact {
                role,
                value: there(written.value, "value")?,
            },
            other => {
                return Err(format!(
                    "unknown kind `{other}`, expected `directory`, `domain` or `exact`"
                ));
            }
        })
    }
}

impl ApprovalConstraint {
    pub fn role(&self) -> &str {
        match self {
            Self::Directory { role, .. } | Self::Domain { role, .. } | Self::Exact { role, .. } => role,
        }
    }

    /// Returns `true` if such a constraint is for roles of the category.
    pub fn is_for(&self, category: Category) -> bool {
        match self {
            Self::Directory { .. } => category == Category::Path,
            Self::Domain { .. } => category == Category::Url,
            Self::Exact { .. } => matches!(
                category,
                Category::Identifier | Category::Command | Category::Opaque
            ),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Directory { role, directory } => format!("{role} within {directory}"),
            Self::Domain { role, domain } => format!("{role} domain {domain}"),
            Self::Exact { role, value } => format!("{role}={value}"),
        }
    }
}

/// Describes constraints on calls of a tool for people.
pub fn describe(
    server: &str,
    tool: &str,
    constraints: &[ApprovalConstraint],
    args: &[ArgumentConstraint],
) -> String {
    let constraints = constraints.iter().map(ApprovalConstraint::describe);
    let described: Vec<String> = constraints
        .chain(args.iter().map(ArgumentConstraint::describe))
        .collect();
    format!("Allow {server}/{tool} {}", described.join(", "))
}

/// The constraints of an approval that would cover an escalated call.
///
/// As JSON its members have the names of the fields in camel case; those that are `None` are left out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    /// The server.
    pub server_name: String,
    /// The tool.
    pub tool_name: String,
    /// The constraints on values: each value of each role that is named here must meet at least one of that role's.
    pub constraints: Vec<ApprovalConstraint>,
    /// The flags of the call, and the arguments that a rule which asks looks at: a call is covered if these are the same
    /// of it.
    #[serde(default)]
    pub args: Vec<ArgumentConstraint>,
    /// The constraints for people: `Allow <server>/<tool> <constraints>`.
    pub description: String,
    /// The rules whose escalation is approved; `None` for any. Another rule may escalate for a reason that nobody has
    /// seen yet.
    pub rules: Option<Vec<String>>,
    /// When it was approved, as RFC 3339 text. Nothing is decided by it.
    pub created_at: Option<String>,
    /// When it ends, as RFC 3339 text.
    pub expires_at: Option<String>,
    /// The escalation that was approved, by the name that the caller has for it.
    pub source_escalation_id: Option<String>,
    /// The reason that the escalation gave.
    pub original_reason: Option<String>,
    /// The layer whose escalation is approved, by its name, where the policy has layers: it holds there alone. `None` for a policy
    /// without layers, and for the lowest.
    pub layer: Option<String>,
}

/// An offer that a person approved.
///
/// As JSON it is an [`Offer`] with the member `id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    id: String,
    offer: Offer,
    expires: Option<Moment>,
}

impl Approval {
    /// The name of the approval, which a verdict gives.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The offer that was approved.
    pub fn offer(&self) -> &Offer {
        &self.offer
    }

    fn is_for(&self, server: &str, tool: &str) -> bool {
        self.offer.server_name == server && self.offer.tool_name == tool
    }

    /// Why the approval does not hold at a time, if it does not. One that ends does not hold at a time that is not known.
    pub fn lapse(&self, now: Option<Moment>) -> Option<&'static str> {
        match (self.expires, now) {
            (None, _) => None,
            (Some(_), None) => Some("ends at some time, and the request has none"),
            (Some(end), Some(now)) => (now >= end).then_some("has ended"),
        }
    }
}

/// Approvals in the order in which they were added: at most as many as
/// [`Limits::approvals`](crate::limits::Limits) says, each with its own id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    entries: Vec<Approval>,
}

/// The approvals that may apply to a call, and when it is made.
#[derive(Clone, Copy, Debug)]
pub struct Approving<'a> {
    /// The approvals.
    pub approvals: &'a Approvals,
    /// When the call is made. Without it no approval that ends applies.
    pub now: Option<Moment>,
}

/// A fault of an approval, or of a document of approvals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalError {
    /// At least one of these is an error.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for ApprovalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.diagnostics.iter();
        if let Some(first) = lines.next() {
            write!(formatter, "{first}")?;
        }
        lines.try_for_each(|one| write!(formatter, "\n{one}"))
    }
}

impl std::error::Error for ApprovalError {}

impl Approvals {
    /// Reads the document that [`Approvals::to_json`] writes.
    ///
    /// # Errors
    /// Every fault, with its place: an unknown key, an id that is there twice, an approval without a constraint, a
    /// directory that is not canonical or the root, a time that cannot be read, too many entries.
    pub fn from_json(text: &str) -> Result<Self, ApprovalError> {
        document::read(DocumentSource::Text(text)).map_err(refused)
    }

    /// The document `{"format": "approvals/1", "entries": […]}`.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Adds what was approved, and returns its id: `approval-` with a number above those that are in use.
    ///
    /// # Errors
    /// The faults of [`Approvals::from_json`].
    pub fn add(&mut self, offer: &Offer) -> Result<&str, ApprovalError> {
        let value = serde_json::to_value(offer).unwrap_or_default();
        self.take(DocumentSource::Value(&value))
    }

    /// The same for an offer as JSON text, which may have an `id`.
    ///
    /// # Errors
    /// The faults of [`Approvals::from_json`].
    pub fn add_json(&mut self, offer: &str) -> Result<&str, ApprovalError> {
        self.take(DocumentSource::Text(offer))
    }

    fn take(&mut self, source: DocumentSource<'_>) -> Result<&str, ApprovalError> {
        let added = document::read_one(source, &self.entries, self.next_id()).map_err(refused)?;
        self.entries.push(added);
        Ok(self.entries.last().map(Approval::id).unwrap_or_default())
    }

    /// Removes an approval. Returns `true` if there was one with this id.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.id != id);
        self.entries.len() < before
    }

    /// The approvals.
    pub fn list(&self) -> &[Approval] {
        &self.entries
    }

    /// The approvals of one tool. A call of that tool is judged by them as by all.
    pub fn of_tool(&self, server: &str, tool: &str) -> Self {
        let entries = self.entries.iter().filter(|entry| entry.is_for(server, tool));
        Self {
            entries: entries.cloned().collect(),
        }
    }

    /// The approvals that hold in a layer, as it has them when it stands alone; in the lowest one without a name.
    pub fn of_layer(&self, layer: Option<&str>) -> Self {
        let entries = self.entries.iter();
        let own = entries.filter(|entry| entry.offer.layer.as_deref() == layer);
        Self {
            entries: own
                .cloned()
                .map(|mut entry| {
                    entry.offer.layer = None;
                    entry
                })
                .collect(),
        }
    }

    fn next_id(&self) -> String {
        let numbers = self.entries.iter().filter_map(|entry| {
            let number = entry.id.strip_prefix("approval-")?;
            number.parse::<u64>().ok()
        });
        let next = numbers.max().and_then(|highest| highest.checked_add(1));
        format!("approval-{}", next.unwrap_or(1))
    }
}

impl<'a> Approving<'a> {
    /// The approvals of the tool, those that have ended included.
    pub fn of_tool(self, server: &str, tool: &str) -> Vec<&'a Approval> {
        let entries = self.approvals.entries.iter();
        entries.filter(|entry| entry.is_for(server, tool)).collect()
    }
}

impl Offer {
    /// The offer as JSON text, which [`Approvals::add_json`] takes.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn write<S: Serializer>(&self, id: Option<&str>, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        let mut text = |key, value: Option<&str>| match value {
            Some(value) => fields.serialize_entry(key, value),
            None => Ok(()),
        };
        text("id", id)?;
        text("serverName", Some(&self.server_name))?;
        text("toolName", Some(&self.tool_name))?;
        text("description", Some(&self.description))?;
        text("createdAt", self.created_at.as_deref())?;
        text("expiresAt", self.expires_at.as_deref())?;
        text("sourceEscalationId", self.source_escalation_id.as_deref())?;
        text("originalReason", self.original_reason.as_deref())?;
        text("layer", self.layer.as_deref())?;
        fields.serialize_entry("constraints", &self.constraints)?;
        if !self.args.is_empty() {
            fields.serialize_entry("args", &self.args)?;
        }
        if let Some(rules) = &self.rules {
            fields.serialize_entry("rules", rules)?;
        }
        fields.end()
    }
}

impl Serialize for Offer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(None, serializer)
    }
}

impl Serialize for Approval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.offer.write(Some(&self.id), serializer)
    }
}

impl Serialize for Approvals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Approvals", 2)?;
        fields.serialize_field("format", FORMAT)?;
        fields.serialize_field("entries", &self.entries)?;
        fields.end()
    }
}

fn refused(diagnostics: Vec<Diagnostic>) -> ApprovalError {
    ApprovalError { diagnostics }
}

#[cfg(test)]
mod tests;

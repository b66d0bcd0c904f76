//! What a gate says of a call.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use serde_json::value::RawValue;

/// Allow, escalate or deny; `deny` is stricter than `escalate`, which is stricter than `allow`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call may be made.
    Allow,
    /// A person must decide; the roles that escalated, in order, where roles did.
    Escalate(Vec<String>),
    /// The call must not be made.
    Deny,
}

/// A decision with the rule that made it and the reason it gives.
///
/// As JSON it is `{decision, rule, reason, escalatedRoles?}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What is decided.
    pub decision: Decision,
    /// The rule's name; names that begin with `structural-`, `trusted-server` and `default-deny` are the engine's.
    pub rule: String,
    /// Why, for a person.
    pub reason: String,
}

/// A verdict, and what the tool's server may get.
///
/// As JSON it is `{verdict, argsForTransport}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gated {
    /// What is decided.
    pub verdict: Verdict,
    /// The arguments to forward if the verdict lets them pass, as JSON text; `None` where they are no object, which is denied.
    pub args_for_transport: Option<String>,
}

impl Decision {
    /// `allow`, `escalate` or `deny`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Escalate(_) => "escalate",
            Self::Deny => "deny",
        }
    }
}

impl Verdict {
    /// `what` begins a sentence.
    pub(super) fn engine_fault(what: &str) -> Self {
        Self {
            decision: Decision::Deny,
            rule: "structural-engine-fault".to_owned(),
            reason: format!("{what} while it judged the call"),
        }
    }
}

impl Gated {
    pub(super) fn denied(verdict: Verdict) -> Self {
        Self {
            verdict,
            args_for_transport: None,
        }
    }
}

impl From<callgate_core::Verdict<'_>> for Verdict {
    fn from(verdict: callgate_core::Verdict<'_>) -> Self {
        let owned = |roles: Vec<Cow<'_, str>>| roles.into_iter().map(Cow::into_owned).collect();
        Self {
            decision: match verdict.decision {
                callgate_core::Decision::Allow => Decision::Allow,
                callgate_core::Decision::Escalate(roles) => Decision::Escalate(owned(roles)),
                callgate_core::Decision::Deny => Decision::Deny,
            },
            rule: verdict.rule.into_owned(),
            reason: verdict.reason.into_owned(),
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let roles = match &self.decision {
            Decision::Escalate(roles) => roles.as_slice(),
            Decision::Allow | Decision::Deny => &[],
        };
        let mut fields = serializer.serialize_struct("Verdict", 3 + usize::from(!roles.is_empty()))?;
        fields.serialize_field("decision", self.decision.as_str())?;
        fields.serialize_field("rule", &self.rule)?;
        fields.serialize_field("reason", &self.reason)?;
        if !roles.is_empty() {
            fields.serialize_field("escalatedRoles", roles)?;
        }
        fields.end()
    }
}

impl Serialize for Gated {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arguments = self
            .args_for_transport
            .as_deref()
            .map(serde_json::from_str::<&RawValue>);
        let arguments = arguments.transpose().map_err(serde::ser::Error::custom)?;
        let mut fields = serializer.serialize_struct("Gated", 2)?;
        fields.serialize_field("verdict", &self.verdict)?;
        fields.serialize_field("argsForTransport", &arguments)?;
        fields.end()
    }
}

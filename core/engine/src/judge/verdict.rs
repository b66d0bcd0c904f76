//! The engine's verdict on a call.

use super::structural::StructuralRule;
use std::borrow::Cow;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::model::Effect;

/// Allow, escalate or deny; `deny` is stricter than `escalate`, which is stricter than `allow`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision<'e> {
    /// The call may be made.
    Allow,
    /// A person must decide; the roles that escalated, in order, where roles did.
    Escalate(Vec<Cow<'e, str>>),
    /// The call must not be made.
    Deny,
}

impl Decision<'_> {
    /// The same decision, which borrows nothing.
    pub fn into_owned(self) -> Decision<'static> {
        match self {
            Self::Allow => Decision::Allow,
            Self::Escalate(roles) => Decision::Escalate(roles.into_iter().map(owned).collect()),
            Self::Deny => Decision::Deny,
        }
    }

    fn effect(&self) -> Effect {
        match self {
            Self::Allow => Effect::Allow,
            Self::Escalate(_) => Effect::Escalate,
            Self::Deny => Effect::Deny,
        }
    }

    /// `allow`, `escalate` or `deny`.
    pub fn as_str(&self) -> &'static str {
        self.effect().as_str()
    }

    /// 0 for allow, 1 for escalate, 2 for deny.
    pub fn strictness(&self) -> u8 {
        self.effect() as u8
    }
}

/// A decision with the rule that made it and the reason it gives; text that the policy holds is borrowed.
///
/// As JSON it is `{decision, rule, reason, escalatedRoles?, approval?}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict<'e> {
    /// The decision.
    pub decision: Decision<'e>,
    /// The rule's name; those of [`StructuralRule`] are the engine's.
    pub rule: Cow<'e, str>,
    /// Why, for a person.
    pub reason: Cow<'e, str>,
    /// The id of the approval that covers the call; `None` unless the rule is `structural-approval`.
    pub approval: Option<Box<str>>,
}

impl<'e> Verdict<'e> {
    pub(crate) fn allow(rule: impl Into<&'e str>, reason: impl Into<Cow<'e, str>>) -> Self {
        Self::new(Decision::Allow, rule, reason)
    }

    pub(crate) fn escalate(
        roles: Vec<&'e str>,
        rule: impl Into<&'e str>,
        reason: impl Into<Cow<'e, str>>,
    ) -> Self {
        let roles = roles.into_iter().map(Cow::Borrowed).collect();
        Self::new(Decision::Escalate(roles), rule, reason)
    }

    pub(crate) fn deny(rule: impl Into<&'e str>, reason: impl Into<Cow<'e, str>>) -> Self {
        Self::new(Decision::Deny, rule, reason)
    }

    fn new(decision: Decision<'e>, rule: impl Into<&'e str>, reason: impl Into<Cow<'e, str>>) -> Self {
        Self {
            decision,
            rule: Cow::Borrowed(rule.into()),
            reason: reason.into(),
            approval: None,
        }
    }

    /// Allowed because a person approved such calls.
    pub fn approved(id: &str, reason: String) -> Self {
        Self {
            approval: Some(id.into()),
            ..Self::allow(StructuralRule::Approval, reason)
        }
    }

    /// The roles that escalated; empty unless the decision is to escalate.
    pub fn escalated_roles(&self) -> &[Cow<'e, str>] {
        match &self.decision {
            Decision::Escalate(roles) => roles,
            Decision::Allow | Decision::Deny => &[],
        }
    }

    /// The same verdict, which borrows nothing of the engine.
    pub fn into_owned(self) -> Verdict<'static> {
        Verdict {
            decision: self.decision.into_owned(),
            rule: owned(self.rule),
            reason: owned(self.reason),
            approval: self.approval,
        }
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl Serialize for Verdict<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let roles = self.escalated_roles();
        let optional = usize::from(!roles.is_empty()) + usize::from(self.approval.is_some());
        let mut fields = serializer.serialize_struct("Verdict", 3 + optional)?;
        fields.serialize_field("decision", self.decision.as_str())?;
        fields.serialize_field("rule", &self.rule)?;
        fields.serialize_field("reason", &self.reason)?;
        if !roles.is_empty() {
            fields.serialize_field("escalatedRoles", roles)?;
        }
        if let Some(approval) = &self.approval {
            fields.serialize_field("approval", approval)?;
        }
        fields.end()
    }
}

//! Who asks for a call, as rules look at it and the log says it.

use callgate_engine::model::Caller as Respect;
use callgate_engine::world::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who asks for a call, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Caller {
    /// A person or a service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The program that acts for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A conversation of that program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl Caller {
    /// What the engine reads in a context, which is JSON text.
    pub fn of(context: Option<&str>) -> Self {
        let context = context.and_then(|context| Context::from_json(context).ok());
        Self::named(|respect| context.as_ref().and_then(|context| context.caller(respect)))
    }

    fn named<'n>(name: impl Fn(Respect) -> Option<&'n str>) -> Self {
        let named = |respect| name(respect).map(str::to_owned);
        Self {
            subject: named(Respect::Subject),
            agent: named(Respect::Agent),
            session: named(Respect::Session),
        }
    }

    /// The name in one respect, if it is known.
    pub(super) fn name(&self, respect: Respect) -> Option<&str> {
        let name = match respect {
            Respect::Subject => &self.subject,
            Respect::Agent => &self.agent,
            Respect::Session => &self.session,
        };
        name.as_deref()
    }

    /// The same in these respects alone.
    pub(super) fn only(&self, respects: &[Respect]) -> Self {
        Self::named(|respect| self.name(respect).filter(|_| respects.contains(&respect)))
    }

    /// With what another one knows beyond this.
    pub(super) fn or(&self, other: &Self) -> Self {
        Self::named(|respect| self.name(respect).or(other.name(respect)))
    }

    /// Returns `true` if nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A context in which this is said, beside what it says of other things.
    pub fn added_to(&self, context: Option<&str>) -> Option<String> {
        let read = context
            .map(serde_json::from_str::<Map<String, Value>>)
            .transpose();
        // What is no context stays one that is refused.
        let Some(Ok(own)) = serde_json::to_value(self)
            .ok()
            .map(serde_json::from_value::<Map<String, Value>>)
        else {
            return context.map(str::to_owned);
        };
        match read {
            Ok(read) if !own.is_empty() => {
                let mut all = read.unwrap_or_default();
                all.extend(own);
                Some(Value::Object(all).to_string())
            }
            Ok(_) | Err(_) => context.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_says_who_asks() {
        let ann = Caller {
            subject: Some("ann".to_owned()),
            ..Caller::default()
        };
        for (context, expected) in [
            (None, Some(r#"{"subject":"ann"}"#)),
            (
                Some(r#"{"mode":"m","subject":"bob"}"#),
                Some(r#"{"mode":"m","subject":"ann"}"#),
            ),
            (Some("[]"), Some("[]")),
        ] {
            let added = ann.added_to(context);
            assert_eq!(added.as_deref(), expected, "{context:?}");
            let is_said = expected != Some("[]");
            assert_eq!(Caller::of(added.as_deref()) == ann, is_said, "{context:?}");
        }
        assert_eq!(Caller::default().added_to(None), None);
        assert!(Caller::of(Some(r#"{"subject": "", "agent": 1}"#)).is_empty());
    }
}

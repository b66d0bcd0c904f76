//! One value of an argument.

use serde_json::Value;

use super::label::Label;

/// One value of an argument, which stands for others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    /// `None`: the argument is not there.
    pub(super) value: Option<Value>,
    pub(super) label: Label,
}

impl Choice {
    pub(super) fn text(text: String, label: Label) -> Self {
        Self::value(Value::String(text), label)
    }

    pub(super) fn value(value: Value, label: Label) -> Self {
        Self {
            value: Some(value),
            label,
        }
    }

    /// Returns `true` if no text is there to be judged.
    pub(super) fn is_empty(&self) -> bool {
        match &self.value {
            None | Some(Value::Null | Value::Bool(_) | Value::Number(_)) => true,
            Some(Value::Array(items)) => {
                let mut items = items.iter();
                items.all(|item| matches!(item, Value::Null | Value::Bool(_) | Value::Number(_)))
            }
            Some(Value::String(_) | Value::Object(_)) => false,
        }
    }

    /// Returns `true` if it is two values at once.
    pub(super) fn is_pair(&self) -> bool {
        matches!(self.label, Label::Both(..))
    }

    pub(super) fn absent() -> Self {
        Self {
            value: None,
            label: Label::Absent,
        }
    }
}

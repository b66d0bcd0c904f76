//! Arguments that an approved call must have as they were.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// The largest integer up to which a double tells all integers apart
/// ([Number.MAX_SAFE_INTEGER](https://tc39.es/ecma262/#sec-number.max_safe_integer)).
const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;

/// An argument, or a value in one, that calls must have as it was approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentConstraint {
    /// The name of the argument, or a JSON Pointer from the arguments on, in which `*` stands for each item of an array.
    pub arg: String,
    /// The value; null where there is none.
    pub equals: Value,
}

impl ArgumentConstraint {
    pub(super) fn describe(&self) -> String {
        match &self.equals {
            Value::Null => format!("without argument {}", self.arg),
            value => format!("argument {}={value}", self.arg),
        }
    }
}

/// The number as JSON, spelled in one way; `None` for one that programs do not agree about.
pub fn number(value: f64) -> Option<Value> {
    match value.fract() == 0.0 {
        true => (value.abs() <= LARGEST_EXACT).then(|| Value::from(value as i64)),
        false => Number::from_f64(value).map(Value::Number),
    }
}

/// The value with every number spelled in one way.
pub(super) fn normalized(value: Value) -> Option<Value> {
    Some(match value {
        Value::Number(given) => number(given.as_f64()?)?,
        Value::Array(items) => Value::Array(items.into_iter().map(normalized).collect::<Option<_>>()?),
        Value::Object(members) => {
            let members = members.into_iter();
            let members = members.map(|(name, member)| Some((name, normalized(member)?)));
            Value::Object(members.collect::<Option<_>>()?)
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    })
}

//! Conditions on arguments, `{arg, equals | in | is}`: of conditional roles and of rules.

use super::{Json, Node, keys};
use crate::diagnostic::{Code, Severity};
use crate::model::{ArgumentName, Condition, ConditionArgument, Scalar, Scalars, Segment, Test};

/// The tests that `is` can name.
pub const IS: [(&str, Test); 4] = [
    ("present", Test::Present),
    ("absent", Test::Absent),
    ("truthy", Test::Truthy),
    ("falsy", Test::Falsy),
];

impl Node<'_, '_> {
    /// A condition on an argument, which must be an object. One without a test never holds: that is a fault of the severity
    /// `untested`.
    pub fn condition(&self, untested: Severity) -> Option<Condition> {
        read_condition(self, untested)
    }

    /// The name of an argument that stands in a document as `name`; a malformed pointer is an error.
    pub fn argument_name(&self, name: &str) -> Option<ArgumentName> {
        ArgumentName::parse(name)
            .map_err(|bad| self.error(Code::InvalidValue, || bad.message(name)))
            .ok()
    }
}

fn read_condition(node: &Node<'_, '_>, untested: Severity) -> Option<Condition> {
    let condition = node.object_of(keys::CONDITION, Severity::Error)?;
    let argument = condition.require("arg", "the name of an argument", |node| {
        read_condition_argument(node)
    });
    let equals = condition.optional("equals");
    let among = condition.optional("in");
    let is = condition.optional("is");
    let test = match (equals, among, is) {
        (Some(node), None, None) => read_scalar(&node).map(Test::Equals),
        (None, Some(node), None) => {
            let values = node.each("an array of values", read_scalar);
            if values.as_ref().is_some_and(Vec::is_empty) {
                node.warning(
                    Code::NeverMatches,
                    format_args!("found `[]`, which no value matches, expected at least one value"),
                );
            }
            values.map(|values| Test::In(Scalars::new(values)))
        }
        (None, None, Some(node)) => node.one_of(&IS),
        (None, None, None) => {
            node.fault(untested, Code::NeverMatches, || {
                let message = "found a condition without a test, which never holds, expected one of `equals`, `in`, `is`";
                (message.to_owned(), None)
            });
            None
        }
        _ => {
            node.refuse(Code::InvalidValue, "expected exactly one of `equals`, `in`, `is`");
            None
        }
    };
    Some(Condition {
        argument: argument?,
        test: test?,
    })
}

fn read_condition_argument(node: &Node<'_, '_>) -> Option<ConditionArgument> {
    match node.argument_name(node.string()?)? {
        ArgumentName::Top(name) => Some(ConditionArgument::Top(name)),
        ArgumentName::Pointer(segments) => {
            let keys = segments
                .into_iter()
                .map(|segment| match segment {
                    Segment::Key(key) => Some(key),
                    Segment::Every => None,
                })
                .collect::<Option<_>>();
            if keys.is_none() {
                node.refuse(Code::InvalidValue, "expected the place of one value, without `*`");
            }
            keys.map(ConditionArgument::Pointer)
        }
    }
}

fn read_scalar(node: &Node<'_, '_>) -> Option<Scalar> {
    match node.value() {
        Json::Null => Some(Scalar::Null),
        Json::Bool(value) => Some(Scalar::Bool(*value)),
        Json::Number(value) => value.as_f64().map(Scalar::Number),
        Json::String(text) => Some(Scalar::Text((**text).into())),
        Json::Array(_) | Json::Object(_) => node.wrong_type("a string, a number, a boolean or null"),
    }
}

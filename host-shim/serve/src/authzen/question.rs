//! What an approval is exact to: everything that an evaluation names.

use callgate_jsontext::{Members, push_string};
use serde_json::json;
use serde_json::value::RawValue;

use super::{Entity, Evaluation};

/// Bytes of the longest text whose members may come in another order. No person reads a longer one.
const ORDERED: usize = 64 * 1024;

/// All that an evaluation names, and `rest`, JSON text, in one form.
pub(super) fn question(evaluation: &Evaluation<'_>, rest: &str) -> String {
    let properties = |given: Option<&RawValue>| given.map(|given| one_form(given.get()));
    let entity = |given: &Option<Entity<'_>>| {
        let given = given.as_ref();
        given.map(|given| json!([given.kind, given.id, properties(given.properties)]))
    };
    let action = evaluation.action.as_ref();
    let action = action.map(|action| json!([action.name, properties(action.properties)]));
    let (subject, resource) = (entity(&evaluation.subject), entity(&evaluation.resource));
    json!([subject, action, resource, one_form(rest)]).to_string()
}

/// JSON text that depends neither on the order of members nor on white space. Numbers stay as they are written: two that one program
/// takes for the same can be two to another.
fn one_form(text: &str) -> String {
    let mut form = String::with_capacity(text.len());
    match text.len() <= ORDERED {
        true => write(text, &mut form),
        false => form.push_str(text),
    }
    form
}

fn write(text: &str, form: &mut String) {
    let text = text.trim();
    match text.bytes().next() {
        Some(b'{') if let Ok(Members(mut members)) = Members::read(text) => {
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            form.push('{');
            for (name, value) in members {
                push_string(form, &name);
                form.push(':');
                write(value.get(), form);
                form.push(',');
            }
            form.push('}');
        }
        Some(b'[') if let Ok(values) = serde_json::from_str::<Vec<&RawValue>>(text) => {
            form.push('[');
            for value in values {
                write(value.get(), form);
                form.push(',');
            }
            form.push(']');
        }
        Some(b'"') if let Ok(string) = serde_json::from_str::<String>(text) => push_string(form, &string),
        // A number or a word.
        _ => form.push_str(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, are_one: bool) {
        assert_eq!(one_form(one) == one_form(other), are_one, "{one} {other}");
    }

    #[test]
    fn the_order_of_members_and_white_space_are_nothing() {
        check(
            r#"{"a": [1, {"c":2,"b":null}], "d": "é"}"#,
            r#"{"d":"\u00e9","a":[1,{"b":null,"c":2}]}"#,
            true,
        );
        check("[1, 2]", "[2, 1]", false);
        check(r#"{"a": "1"}"#, r#"{"a": 1}"#, false);
        check(r#"["a,", "b"]"#, r#"["a", ",b"]"#, false);
        check("[]", "[[]]", false);
    }

    #[test]
    fn numbers_are_those_that_are_written() {
        for (one, other) in [
            ("100000000000000000000001", "100000000000000000000002"),
            ("0.1", "0.10000000000000000001"),
            ("1e400", "1e401"),
        ] {
            check(
                &format!(r#"{{"amount": {one}}}"#),
                &format!(r#"{{"amount": {other}}}"#),
                false,
            );
        }
    }
}

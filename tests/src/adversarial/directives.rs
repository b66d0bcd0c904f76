//! Values too large to write out in a case: `{"$repeat": ["a", 1000]}` and its like.

use std::fmt;

use serde_json::{Map, Value};

/// A malformed directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DirectiveError {
    message: String,
}

impl fmt::Display for DirectiveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for DirectiveError {}

/// Expands the directives in `value` and returns JSON text.
///
/// The result is text because `$nest` makes it deeper than a value may safely be. A directive is an object with that
/// one key:
///
/// | directive | is |
/// |---|---|
/// | `$repeat: [text, n]` | the string n times |
/// | `$concat: [text…]` | the strings joined |
/// | `$array: [element, n]` | an array of n elements, with `%i` in their strings replaced by the index |
/// | `$arrays: [array…]` | the arrays joined |
/// | `$nest: [leaf, depth, kind?]` | the leaf in as many arrays, or objects (`{"k": …}`) for the kind `"object"` |
/// | `$object: [key, n, value, extra?]` | an object of n keys with `%i` in them, and the members of `extra` |
/// | `$rules: {count, template, tail?}` | an array of `count` copies of the template, with `%i` replaced by the index, then `tail` |
///
/// # Errors
/// The operands of a directive are not of these kinds.
pub(super) fn expand(value: &Value) -> Result<String, DirectiveError> {
    let mut text = String::new();
    write(value, &mut text)?;
    Ok(text)
}

fn write(value: &Value, out: &mut String) -> Result<(), DirectiveError> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string())
        }
        Value::Array(items) => write_list(items.iter(), out)?,
        Value::Object(members) => match directive(members) {
            Some((Directive::Repeat | Directive::Concat, _)) => {
                out.push_str(&Value::from(text(value)?).to_string());
            }
            Some((Directive::Array | Directive::Arrays | Directive::Rules, _)) => {
                write_list(array(value)?.iter(), out)?;
            }
            Some((Directive::Nest, operands)) => nest(operands, out)?,
            Some((Directive::Object, operands)) => write_members(&object(operands)?, out)?,
            None => write_members(members, out)?,
        },
    }
    Ok(())
}

fn write_list<'v>(items: impl Iterator<Item = &'v Value>, out: &mut String) -> Result<(), DirectiveError> {
    out.push('[');
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out)?;
    }
    out.push(']');
    Ok(())
}

fn write_members(members: &Map<String, Value>, out: &mut String) -> Result<(), DirectiveError> {
    out.push('{');
    for (at, (key, value)) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        write(value, out)?;
    }
    out.push('}');
    Ok(())
}

#[derive(Clone, Copy)]
enum Directive {
    Repeat,
    Concat,
    Array,
    Arrays,
    Nest,
    Object,
    Rules,
}

fn directive(members: &Map<String, Value>) -> Option<(Directive, &Value)> {
    if members.len() != 1 {
        return None;
    }
    let (key, operands) = members.iter().next()?;
    let directive = match key.as_str() {
        "$repeat" => Directive::Repeat,
        "$concat" => Directive::Concat,
        "$array" => Directive::Array,
        "$arrays" => Directive::Arrays,
        "$nest" => Directive::Nest,
        "$object" => Directive::Object,
        "$rules" => Directive::Rules,
        _ => return None,
    };
    Some((directive, operands))
}

/// A string, or a directive that makes one.
fn text(value: &Value) -> Result<String, DirectiveError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Object(members) => match directive(members) {
            Some((Directive::Repeat, operands)) => match list(operands)? {
                [part, times] => Ok(text(part)?.repeat(count(times)?)),
                _ => Err(unfit("[text, n]", operands)),
            },
            Some((Directive::Concat, operands)) => list(operands)?.iter().map(text).collect(),
            _ => Err(unfit("a text", value)),
        },
        _ => Err(unfit("a text", value)),
    }
}

/// An array, or a directive that makes one. Its elements may still be directives.
fn array(value: &Value) -> Result<Vec<Value>, DirectiveError> {
    match value {
        Value::Array(items) => Ok(items.clone()),
        Value::Object(members) => match directive(members) {
            Some((Directive::Array, operands)) => match list(operands)? {
                [element, times] => Ok(numbered(element, count(times)?)),
                _ => Err(unfit("[element, n]", operands)),
            },
            Some((Directive::Arrays, operands)) => {
                let arrays: Result<Vec<_>, _> = list(operands)?.iter().map(array).collect();
                Ok(arrays?.concat())
            }
            Some((Directive::Rules, operands)) => rules(operands),
            _ => Err(unfit("an array", value)),
        },
        _ => Err(unfit("an array", value)),
    }
}

fn rules(operands: &Value) -> Result<Vec<Value>, DirectiveError> {
    let (Some(times), Some(template)) = (operands.get("count"), operands.get("template")) else {
        return Err(unfit("{count, template, tail?}", operands));
    };
    let mut rules = numbered(template, count(times)?);
    if let Some(tail) = operands.get("tail") {
        rules.extend(array(tail)?);
    }
    Ok(rules)
}

fn nest(operands: &Value, out: &mut String) -> Result<(), DirectiveError> {
    let (leaf, depth, kind) = match list(operands)? {
        [leaf, depth] => (leaf, depth, "array"),
        [leaf, depth, Value::String(kind)] => (leaf, depth, kind.as_str()),
        _ => return Err(unfit("[leaf, depth, kind?]", operands)),
    };
    let (open, close) = match kind {
        "array" => ("[", "]"),
        "object" => ("{\"k\":", "}"),
        _ => return Err(unfit("`array` or `object`", operands)),
    };
    let depth = count(depth)?;
    out.push_str(&open.repeat(depth));
    write(leaf, out)?;
    out.push_str(&close.repeat(depth));
    Ok(())
}

fn object(operands: &Value) -> Result<Map<String, Value>, DirectiveError> {
    let (key, times, value, extra) = match list(operands)? {
        [Value::String(key), times, value] => (key, times, value, None),
        [Value::String(key), times, value, Value::Object(extra)] => (key, times, value, Some(extra)),
        _ => return Err(unfit("[key, n, value, extra?]", operands)),
    };
    let own = (0..count(times)?).map(|at| (with_index(key, at), value.clone()));
    Ok(own
        .chain(
            extra
                .into_iter()
                .flatten()
                .map(|(key, value)| (key.clone(), value.clone())),
        )
        .collect())
}

fn numbered(element: &Value, times: usize) -> Vec<Value> {
    (0..times).map(|at| indexed(element, at)).collect()
}

/// `value` with `%i` in its strings replaced by `at`.
fn indexed(value: &Value, at: usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => Value::from(with_index(text, at)),
        Value::Array(items) => items.iter().map(|item| indexed(item, at)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), indexed(value, at)))
            .collect(),
    }
}

fn with_index(text: &str, at: usize) -> String {
    text.replace("%i", &at.to_string())
}

fn list(operands: &Value) -> Result<&[Value], DirectiveError> {
    operands
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| unfit("an array", operands))
}

fn count(value: &Value) -> Result<usize, DirectiveError> {
    let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
    count.ok_or_else(|| unfit("a count", value))
}

fn unfit(expected: &str, found: &Value) -> DirectiveError {
    DirectiveError {
        message: format!("expected {expected} in a directive, found `{found}`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::expand;

    #[test]
    fn directives_become_text() {
        let check = |value, expected: &str| assert_eq!(expand(&value).expect("text"), expected, "{value}");
        check(json!({"b": 1, "a": [null, "x\n"]}), r#"{"b":1,"a":[null,"x\n"]}"#);
        check(json!({"p": {"$repeat": ["/..", 3]}}), r#"{"p":"/../../.."}"#);
        check(
            json!({"$concat": ["/a", {"$repeat": ["\"", 2]}, "/x"]}),
            r#""/a\"\"/x""#,
        );
        check(json!({"$array": ["/f%i", 3]}), r#"["/f0","/f1","/f2"]"#);
        check(
            json!({"$array": [{"a": ["%i", 7]}, 2]}),
            r#"[{"a":["0",7]},{"a":["1",7]}]"#,
        );
        check(
            json!({"$arrays": [{"$array": ["x", 2]}, ["y"]]}),
            r#"["x","x","y"]"#,
        );
        check(json!({"$nest": [1, 3]}), "[[[1]]]");
        check(json!({"$nest": ["x", 2, "object"]}), r#"{"k":{"k":"x"}}"#);
        check(
            json!({"$object": ["k%i", 2, ["r"]]}),
            r#"{"k0":["r"],"k1":["r"]}"#,
        );
        check(json!({"$object": ["k%i", 1, 0, {"z": 1}]}), r#"{"k0":0,"z":1}"#);
        check(
            json!({"$rules": {"count": 2, "template": {"name": "r%i"}, "tail": [{"name": "t"}]}}),
            r#"[{"name":"r0"},{"name":"r1"},{"name":"t"}]"#,
        );
        check(
            json!({"$repeat": ["a", 1], "other": 1}),
            r#"{"$repeat":["a",1],"other":1}"#,
        );
        check(json!({"$HOME": "x"}), r#"{"$HOME":"x"}"#);
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let text = expand(&json!({"a": {"$nest": [1, 1_000_000, "object"]}})).expect("text");
        assert_eq!(text.len(), 1_000_000 * r#"{"k":}"#.len() + r#"{"a":1}"#.len());
    }

    #[test]
    fn malformed_directives_are_refused() {
        let check = |value| assert!(expand(&value).is_err(), "{value}");
        check(json!({"$repeat": ["a"]}));
        check(json!({"$repeat": ["a", -1]}));
        check(json!({"$concat": ["a", 1]}));
        check(json!({"$array": "a"}));
        check(json!({"$arrays": [["a"], "b"]}));
        check(json!({"$nest": [1, 2, "tree"]}));
        check(json!({"$object": ["k", 1]}));
        check(json!({"$rules": {"count": 1}}));
    }
}

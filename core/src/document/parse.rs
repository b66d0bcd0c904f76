//! JSON text (RFC 8259), without its ambiguities: no doubled keys, no lone surrogates, no bottomless nesting.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::diagnostic::{Code, Diagnostic};
use crate::limits::Limits;

use super::{Place, Report};

/// The JSON reader recurses, so no configuration may ask for more levels than any stack has.
pub(crate) const DEEPEST: usize = 120;

/// Reads JSON text strictly.
///
/// Every doubled key is reported; a syntax error or too much nesting ends the reading.
pub(super) fn parse(text: &str, name: &str, limits: &Limits) -> Result<Value, Vec<Diagnostic>> {
    if text.len() > limits.document_bytes {
        return Err(vec![Diagnostic::error(
            Code::Limit,
            name,
            format!(
                "`{}` bytes, expected at most {} (limit `document_bytes`)",
                text.len(),
                limits.document_bytes
            ),
        )]);
    }
    let report = Report::default();
    let depth = limits.depth.min(DEEPEST);
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Strict {
        place: Place::Document(name),
        left: depth,
        depth,
        report: &report,
    }
    .deserialize(&mut reader)
    .and_then(|value| reader.end().map(|()| value));
    match read {
        Ok(value) if !report.has_errors() => return Ok(value),
        // What `Strict` refuses is in the report already.
        Ok(_) => {}
        Err(fault) if fault.is_data() => {}
        Err(fault) => report.error(Code::Syntax, &Place::Document(name), || syntax_message(&fault)),
    }
    Err(report.finish(name))
}

/// Whether a value that was read elsewhere keeps to the limit on depth.
pub(super) fn check_depth(value: &Value, name: &str, limits: &Limits) -> Result<(), Vec<Diagnostic>> {
    let depth = limits.depth.min(DEEPEST);
    if is_within(value, depth) {
        return Ok(());
    }
    Err(vec![Diagnostic::error(Code::Limit, name, depth_message(depth))])
}

fn is_within(value: &Value, left: usize) -> bool {
    let inner = left.checked_sub(1);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(items) => inner.is_some_and(|left| items.iter().all(|item| is_within(item, left))),
        Value::Object(map) => inner.is_some_and(|left| map.values().all(|item| is_within(item, left))),
    }
}

fn depth_message(depth: usize) -> String {
    format!("nested more than {depth} levels deep, expected at most {depth} (limit `depth`)")
}

fn syntax_message(fault: &serde_json::Error) -> String {
    let message = fault.to_string();
    let is_surrogate = ["lone leading surrogate", "unexpected end of hex escape"]
        .iter()
        .any(|start| message.starts_with(start));
    if is_surrogate {
        return format!(
            "a lone surrogate (half of a `\\u` pair) at line {} column {}, expected well-formed Unicode",
            fault.line(),
            fault.column()
        );
    }
    format!("not JSON: {message}")
}

/// One value that is about to be read.
#[derive(Clone, Copy)]
struct Strict<'p> {
    place: Place<'p>,
    left: usize,
    depth: usize,
    report: &'p Report,
}

impl<'p> Strict<'p> {
    fn enter<E: Error>(self) -> Result<usize, E> {
        self.left.checked_sub(1).ok_or_else(|| {
            self.report
                .error(Code::Limit, &self.place, || depth_message(self.depth));
            E::custom("too deep")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // JSON text has no infinite numbers; were one to come, reading would end.
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let left = self.enter()?;
        let mut items = Vec::new();
        loop {
            let place = Place::Index(&self.place, items.len());
            match access.next_element_seed(Strict { place, left, ..self })? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let left = self.enter()?;
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let place = Place::Key(&self.place, &key);
            let value = access.next_value_seed(Strict { place, left, ..self })?;
            match map.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(entry) => {
                    let place = Place::Key(&self.place, entry.key());
                    self.report.error(Code::DuplicateKey, &place, || {
                        format!("the key `{}` stands twice, expected once", entry.key())
                    });
                }
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str, limits: &Limits) -> Vec<String> {
        match parse(text, "doc", limits) {
            Ok(_) => Vec::new(),
            Err(faults) => faults
                .iter()
                .map(|fault| format!("{} {}: {}", fault.code, fault.path, fault.message))
                .collect(),
        }
    }

    #[test]
    fn a_value_is_what_the_json_library_reads() {
        for text in [
            "null",
            " [1, -2, 2.5, 1e3, 18446744073709551615, true, false] ",
            "{\"b\":{\"a\":\"\\ud83d\\ude00\"},\"a\":[],\"__proto__\":\"\\u0000\"}",
        ] {
            let expected: Value = serde_json::from_str(text).unwrap();
            let read = parse(text, "doc", &Limits::default()).unwrap();
            assert_eq!(read.to_string(), expected.to_string());
        }
    }

    #[test]
    fn what_is_ambiguous_or_no_json_is_refused_with_its_place() {
        let check = |text: &str, expected: &[&str]| assert_eq!(faults(text, &Limits::default()), expected);
        check(
            "",
            &["syntax doc: not JSON: EOF while parsing a value at line 1 column 0"],
        );
        check(
            "{\n  \"a\": NaN}",
            &["syntax doc: not JSON: expected value at line 2 column 8"],
        );
        check(
            "[/* c */]",
            &["syntax doc: not JSON: expected value at line 1 column 2"],
        );
        check(
            "[1,]",
            &["syntax doc: not JSON: trailing comma at line 1 column 4"],
        );
        check(
            "1 2",
            &["syntax doc: not JSON: trailing characters at line 1 column 3"],
        );
        check(
            "[1e999]",
            &["syntax doc: not JSON: number out of range at line 1 column 6"],
        );
        for lone in ["\"\\ud800\"", "\"\\udc00\"", "\"\\ud800x\"", "\"\\ud800\\u0041\""] {
            let found = faults(lone, &Limits::default());
            assert!(found[0].starts_with("syntax doc: a lone surrogate"), "{found:?}");
        }
        check(
            "{\"a\":{\"x\":1,\"x\":1},\"l\":[0,{\"k-\":1,\"\\u006b-\":2}],\"a\":3}",
            &[
                "duplicate-key doc.a.x: the key `x` stands twice, expected once",
                "duplicate-key doc.l[1][\"k-\"]: the key `k-` stands twice, expected once",
                "duplicate-key doc.a: the key `a` stands twice, expected once",
            ],
        );
    }

    #[test]
    fn limits_name_themselves() {
        let mut limits = Limits::default();
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(faults(&nested(64), &limits), [""; 0]);
        let deep = faults(&nested(65), &limits);
        assert_eq!(deep.len(), 1);
        assert!(deep[0].starts_with("limit doc[0][0]"), "{deep:?}");
        assert!(deep[0].ends_with("nested more than 64 levels deep, expected at most 64 (limit `depth`)"));
        assert_eq!(faults(&nested(100_000), &limits).len(), 1);
        limits.depth = usize::MAX;
        assert!(faults(&nested(DEEPEST), &limits).is_empty());
        assert!(faults(&nested(DEEPEST + 1), &limits)[0].starts_with("limit"));
        limits.document_bytes = 3;
        assert_eq!(
            faults("[  ]", &limits),
            ["limit doc: `4` bytes, expected at most 3 (limit `document_bytes`)"]
        );
    }

    #[test]
    fn a_value_from_elsewhere_keeps_to_the_depth_too() {
        let limits = Limits::default();
        let nested =
            |levels| (1..levels).fold(Value::Array(Vec::new()), |inner, _| Value::Array(vec![inner]));
        assert!(check_depth(&nested(64), "doc", &limits).is_ok());
        assert_eq!(
            check_depth(&nested(65), "doc", &limits).unwrap_err()[0].code,
            Code::Limit
        );
    }
}

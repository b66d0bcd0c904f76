//! JSON text (RFC 8259) without its ambiguities: no repeated keys, no lone surrogates, no unlimited nesting.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use crate::diagnostic::{Code, Diagnostic};
use crate::limits::{Limits, exceeded};

use super::fraction::Fractions;
use super::position::position_of_byte;
use super::{Json, JsonPath, Members, Report, locate, without_comments};

/// The JSON reader recurses, so no configuration may allow more levels than the stack can hold.
pub const DEEPEST: usize = 120;

/// Reads JSON text strictly.
///
/// Every repeated key is reported; reading stops at a syntax error or too much nesting. A value at an `unread` place
/// must obey the same rules, but is left out; an item of an array is replaced by null.
pub(super) fn parse<'t>(
    text: &'t str,
    name: &str,
    limits: &Limits,
    unread: fn(&JsonPath<'_>) -> bool,
) -> Result<Json<'t>, Vec<Diagnostic>> {
    read(text, name, limits, unread).map_err(|refusal| refusal.faults)
}

/// The same for a document, which may have comments and trailing commas. Its faults have positions.
///
/// Most documents are written by programs and have neither, so they are looked for where the text is not JSON.
pub(super) fn parse_document<'t>(
    text: &'t str,
    name: &str,
    limits: &Limits,
    unread: fn(&JsonPath<'_>) -> bool,
) -> Result<Json<'t>, Vec<Diagnostic>> {
    let refusal = match read(text, name, limits, unread) {
        Ok(value) => return Ok(value),
        Err(refusal) if refusal.syntax.is_none() => refusal,
        Err(refusal) => match without_comments(text) {
            Cow::Borrowed(_) => refusal,
            Cow::Owned(text) => match read(&text, name, limits, unread) {
                Ok(value) => return Ok(value.into_owned()),
                Err(refusal) => refusal,
            },
        },
    };
    Err(refusal.located(text, name))
}

/// Checks JSON text that is not a document, so it has neither comments nor trailing commas, nor a bound on its size. Its faults
/// have positions.
pub(super) fn check(text: &str, name: &str) -> Result<(), Vec<Diagnostic>> {
    let limits = Limits {
        document_bytes: usize::MAX,
        depth: DEEPEST,
        ..Limits::default()
    };
    let read = read(text, name, &limits, |_| true);
    read.map(drop).map_err(|refusal| refusal.located(text, name))
}

/// A syntax error with its position in the text, which its message then leaves out.
pub fn syntax_fault(fault: &serde_json::Error, text: &str, name: &str) -> Diagnostic {
    let (line, column) = (fault.line(), fault.column());
    let place = format!(" at line {line} column {column}");
    let message = syntax_message(fault).replacen(&place, "", 1);
    let mut diagnostic = Diagnostic::error(Code::Syntax, name, message);
    diagnostic.position = Some(position_of_byte(text, line, column));
    diagnostic
}

/// Why a text is not read.
struct Refusal {
    faults: Vec<Diagnostic>,
    /// The syntax error that the last of the faults is about.
    syntax: Option<serde_json::Error>,
}

impl Refusal {
    /// The faults with their positions in the text.
    fn located(self, text: &str, name: &str) -> Vec<Diagnostic> {
        let mut faults = self.faults;
        if let Some(fault) = &self.syntax
            && let Some(diagnostic) = faults.last_mut()
        {
            *diagnostic = syntax_fault(fault, text, name);
        }
        locate(&mut faults, name, text);
        faults
    }
}

fn read<'t>(
    text: &'t str,
    name: &str,
    limits: &Limits,
    unread: fn(&JsonPath<'_>) -> bool,
) -> Result<Json<'t>, Refusal> {
    let (found, most) = (text.len(), limits.document_bytes);
    if found > most {
        let message = exceeded(found, "bytes", "document_bytes", most);
        return Err(Refusal {
            faults: vec![Diagnostic::error(Code::Limit, name, message)],
            syntax: None,
        });
    }
    let report = Report::default();
    let fractions = Fractions::of(text);
    let depth = limits.depth.min(DEEPEST);
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Strict {
        place: JsonPath::Document(name),
        left: depth,
        depth,
        keep: true,
        unread,
        report: &report,
        fractions: &fractions,
    }
    .deserialize(&mut reader)
    .and_then(|value| reader.end().map(|()| value));
    let syntax = match read {
        Ok(value) if !report.has_errors() => return Ok(value),
        // `Strict` has already reported it.
        Ok(_) => None,
        Err(fault) if fault.is_data() => None,
        Err(fault) => Some(fault),
    };
    let mut faults = report.finish(name);
    if let Some(fault) = &syntax {
        faults.push(Diagnostic::error(Code::Syntax, name, syntax_message(fault)));
    }
    Err(Refusal { faults, syntax })
}

/// Checks the depth of a value that was parsed elsewhere.
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

/// A value about to be read.
#[derive(Clone, Copy)]
struct Strict<'p> {
    place: JsonPath<'p>,
    /// How many of the `depth` levels may still be entered.
    left: usize,
    depth: usize,
    /// `true` if the value is kept; otherwise it is only checked.
    keep: bool,
    unread: fn(&JsonPath<'_>) -> bool,
    report: &'p Report,
    fractions: &'p Fractions<'p>,
}

impl<'p> Strict<'p> {
    fn enter<E: Error>(mut self) -> Result<Self, E> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            self.report
                .error(Code::Limit, &self.place, || depth_message(self.depth));
            E::custom("too deep")
        })?;
        Ok(self)
    }

    fn at<'c>(self, place: JsonPath<'c>) -> Strict<'c>
    where
        'p: 'c,
    {
        Strict {
            keep: self.keep && !(self.unread)(&place),
            place,
            ..self
        }
    }

    fn kept<'t>(self, value: impl FnOnce() -> Json<'t>) -> Json<'t> {
        if self.keep { value() } else { Json::Null }
    }

    fn repeated(self, key: &str) {
        self.report.error(
            Code::DuplicateKey,
            &JsonPath::Key(&self.place, key),
            format_args!("the key `{key}` is given twice, expected once"),
        );
    }
}

/// A key, borrowed from the text if it has no escapes.
#[derive(Deserialize)]
struct Key<'t>(#[serde(borrow)] Cow<'t, str>);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Json<'de>, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(self.kept(|| Json::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(self.kept(|| Json::Number(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(self.kept(|| Json::Number(value.into())))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json<'de>, E> {
        let exact = self.fractions.next();
        // JSON text has no infinite numbers; reading would stop at one.
        exact
            .and_then(Number::from_f64)
            .or_else(|| Number::from_f64(value))
            .map(|number| self.kept(|| Json::Number(number)))
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json<'de>, E> {
        Ok(self.kept(|| Json::String(Cow::Owned(value.to_owned()))))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Json<'de>, E> {
        Ok(self.kept(|| Json::String(Cow::Borrowed(value))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json<'de>, A::Error> {
        let inner = self.enter()?;
        let mut items = Vec::new();
        let mut count = 0;
        loop {
            let place = JsonPath::Index(&self.place, count);
            match access.next_element_seed(inner.at(place))? {
                Some(item) if self.keep => items.push(item),
                Some(_) => {}
                None if self.keep => return Ok(Json::Array(items)),
                None => return Ok(Json::Null),
            }
            count += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json<'de>, A::Error> {
        let inner = self.enter()?;
        // The members that are left out are kept by their keys, so that a repeated one is noticed.
        let (mut members, mut checked) = (Members::default(), Members::default());
        while let Some(Key(key)) = access.next_key()? {
            let member = inner.at(JsonPath::Key(&self.place, &key));
            let seen = if member.keep { &mut members } else { &mut checked };
            let value = access.next_value_seed(member)?;
            if seen.contains(&key) {
                self.repeated(&key);
            } else {
                seen.push(key, value);
            }
        }
        Ok(self.kept(|| Json::Object(members)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str, limits: &Limits) -> Vec<String> {
        match parse(text, "doc", limits, |_| false) {
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
            let read = parse(text, "doc", &Limits::default(), |_| false).unwrap();
            assert_eq!(read.to_string(), expected.to_string());
        }
    }

    proptest::proptest! {
        #[test]
        fn numbers_of_documents_are_exact(
            numbers in proptest::collection::vec("-?(0|[1-9][0-9]{0,24})([.][0-9]{1,24})?([eE][-+]?[0-9]{1,2})?", 1..5),
        ) {
            let members = numbers.iter().map(|number| format!("\"-1.5\\\"{number}\": [7, {number}, -0, \"2.5\"]"));
            let text = format!("{{{}}}", members.collect::<Vec<_>>().join(", /* 0.1 */"));
            let read = parse_document(&text, "doc", &Limits::default(), |_| false).map(Value::from);
            // A number may come twice.
            for (name, value) in read.iter().filter_map(Value::as_object).flatten() {
                let number = name.strip_prefix("-1.5\"").unwrap();
                let exact: f64 = number.parse().unwrap();
                proptest::prop_assert_eq!(value[1].as_f64().map(f64::to_bits), Some(exact.to_bits()), "{}", number);
                proptest::prop_assert_eq!(value[2].as_f64().map(f64::to_bits), Some((-0.0f64).to_bits()));
            }
        }
    }

    #[test]
    fn what_is_ambiguous_or_not_json_is_refused_with_its_place() {
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
                "duplicate-key doc.a.x: the key `x` is given twice, expected once",
                "duplicate-key doc.l[1][\"k-\"]: the key `k-` is given twice, expected once",
                "duplicate-key doc.a: the key `a` is given twice, expected once",
            ],
        );
    }

    #[test]
    fn what_parsers_read_differently_is_found_where_it_stands() {
        let check = |text: &str, expected: &[&str]| {
            let faults = check(text, "call").err().unwrap_or_default();
            let found: Vec<String> = faults.iter().map(ToString::to_string).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("{\"a\": [{\"k\": 1}, {\"k\": 2}], \"b\": {\"a\": {}}}", &[]);
        check(&("[".repeat(DEEPEST) + &"]".repeat(DEEPEST)), &[]);
        check(
            "{\"arguments\": {\"path\": \"/a\",\n  \"p\\u0061th\": \"/b\"}, \"l\": [{\"é\": 0, \"é\": [{}]}]}",
            &[
                "2:3: error[duplicate-key] at call.arguments.path: the key `path` is given twice, expected once",
                "2:38: error[duplicate-key] at call.l[0][\"é\"]: the key `é` is given twice, expected once",
            ],
        );
        check(
            "{\n\"a\": \"\\ud800\", \"b\": 1, \"b\": 2}",
            &[
                "2:13: error[syntax] at call: a lone surrogate (half of a `\\u` pair), expected well-formed Unicode",
            ],
        );
        check(
            "{} // c",
            &["1:4: error[syntax] at call: not JSON: trailing characters"],
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

    #[test]
    fn what_is_unread_is_checked_and_left_out() {
        let unread = |place: &JsonPath<'_>| matches!(place, JsonPath::Key(JsonPath::Document(_), "skip"));
        let read = |text: &str| parse(text, "doc", &Limits::default(), unread).map(Value::from);
        let value =
            read("{\"a\":{\"skip\":[1]},\"skip\":[{\"x\":\"\\n\",\"y\":[2]},\"s\"],\"b\":2}").unwrap();
        assert_eq!(value.to_string(), "{\"a\":{\"skip\":[1]},\"b\":2}");
        let check = |text: String, expected: &str| {
            let faults = read(&text).unwrap_err();
            assert_eq!(faults.len(), 1);
            assert_eq!(format!("{} {}", faults[0].code, faults[0].path), expected);
        };
        check(
            "{\"skip\":[0,{\"k\":1,\"j\":2,\"\\u006b\":3}]}".to_owned(),
            "duplicate-key doc.skip[1].k",
        );
        let many: Vec<String> = (0..40).map(|at| format!("\"k{}\": 0", at % 39)).collect();
        check(
            format!("{{\"skip\":{{{}}}}}", many.join(",")),
            "duplicate-key doc.skip.k0",
        );
        check("{\"skip\":0, \"skip\":1}".to_owned(), "duplicate-key doc.skip");
        check("{\"skip\":\"\\ud800\"}".to_owned(), "syntax doc");
        let deep = format!("{{\"skip\":{}{}}}", "[".repeat(64), "]".repeat(64));
        check(deep, &format!("limit doc.skip{}", "[0]".repeat(63)));
    }
}

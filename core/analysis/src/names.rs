//! Texts that stand for all others between the entries of lists, and values for conditions.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::atoms::Atoms;
use super::choice::Choice;
use super::label::Label;
use super::places;
use super::texts::{Texts, fresh};
use callgate_engine::model::refs::Ref;
use callgate_engine::model::{ConditionValue, Scalar, Test};
use callgate_engine::text::decimal;

/// A text for each entry, for what may be taken for one, and for all others.
pub(super) fn choices(atoms: &Atoms, is_matched: &dyn Fn(&str) -> bool, texts: &mut Texts) {
    let found = &mut texts.choices;
    for name in &atoms.names {
        found.push(Choice::text(name.clone(), Label::Is(name.clone())));
        if atoms.kinds.is_branch {
            let label = Label::Of("another spelling of", name.clone());
            found.push(Choice::text(format!("refs/heads/{name}"), label.clone()));
            found.push(Choice::text(format!("heads/{name}"), label));
            // What a refspec with a destination updates does not depend on git's configuration.
            let label = Label::Of("a refspec to", name.clone());
            found.push(Choice::text(format!("some-source:{name}"), label));
        }
        if atoms.kinds.is_branch && atoms.grants_branches {
            let label = Label::Of("a forced update of", name.clone());
            found.push(Choice::text(format!("+{name}"), label));
            let label = Label::Of("a removal of", name.clone());
            found.push(Choice::text(format!(":{name}"), label));
        }
    }
    for email in &atoms.emails {
        found.push(Choice::text(email.clone(), Label::Is(email.clone())));
        let label = Label::Of("another spelling of", email.clone());
        found.push(Choice::text(format!("Somebody <{email}>"), label));
        let other = email.to_uppercase();
        if !atoms.names.is_empty() && other != *email {
            found.push(Choice::text(other, Label::Of("in other letters", email.clone())));
        }
    }
    if atoms.kinds.is_branch {
        found.push(Choice::text(
            "HEAD".to_owned(),
            Label::Words("the branch that is checked out"),
        ));
        found.push(Choice::text(
            "@{1}".to_owned(),
            Label::Words("a revision that names no branch"),
        ));
    }
    if atoms.mail_conditions > 1 {
        together(atoms, texts);
    }
    let other = other_name(atoms, is_matched).unwrap_or_else(|name| {
        texts.lacking.push("values that no list names".to_owned());
        name
    });
    let found = &mut texts.choices;
    if atoms.kinds.is_branch {
        let label = Label::Words("a refspec to any other branch");
        found.push(Choice::text(format!("some-source:{other}"), label));
    }
    found.push(Choice::text(other, Label::Words("any other value")));
    if atoms.kinds.is_resource {
        found.push(Choice::text(
            "\u{0}".to_owned(),
            Label::Words("a text that cannot be resolved"),
        ));
    }
}

/// A name that nothing lists and, where it is read as a path as well, one right in its directory that no protected pattern matches.
///
/// # Errors
/// Another name, if there is none.
fn other_name(atoms: &Atoms, is_matched: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let lies_right = |name: &str| {
        let Some(base) = &atoms.base else {
            return true;
        };
        let path = format!("{}/{name}", base.trim_end_matches('/'));
        let right = places::lies_right_in(atoms, &path, places::nearest_of(atoms, base));
        right && (!is_matched(&path) || is_matched(base))
    };
    let is_free = |name: &str| class(atoms, name, &[]).is_empty() && lies_right(name);
    let known = atoms.names.len() + atoms.emails.len();
    let first = fresh("some-name", known, is_free);
    let mut others = places::NAMES.iter().filter(|name| !name.contains('/'));
    first.or_else(|name| match others.find(|name| is_free(name)) {
        Some(other) => Ok((*other).to_owned()),
        None => Err(name),
    })
}

/// Texts that hold two addresses, of which each may meet another condition.
fn together(atoms: &Atoms, texts: &mut Texts) {
    let emails: Vec<&String> = atoms.emails.iter().collect();
    if atoms.mail_conditions > 2 || emails.len() > MOST_TOGETHER {
        let why = "texts that hold several addresses at once";
        texts.lacking.push(why.to_owned());
    }
    for (at, one) in emails.iter().enumerate().take(MOST_TOGETHER) {
        for other in emails.iter().take(MOST_TOGETHER).skip(at + 1) {
            let label = Label::Of("two addresses at once:", format!("{one}, {other}"));
            texts
                .choices
                .push(Choice::text(format!("Somebody <{one}>, <{other}>"), label));
        }
    }
}

/// Addresses that are looked at two by two.
const MOST_TOGETHER: usize = 32;

/// Which entries a text names: texts of one class lie in one region. `addresses` are what may be read from it.
pub(super) fn class(atoms: &Atoms, text: &str, addresses: &[String]) -> BTreeSet<(Naming, String)> {
    let mut class = BTreeSet::new();
    let mut add = |naming: Naming, text: &str| class.insert((naming, text.to_owned()));
    if atoms.names.contains(text) {
        add(Naming::Exactly, text);
    }
    let lower = text.to_lowercase();
    if atoms.emails.contains(&lower) {
        add(Naming::Address, &lower);
    }
    for address in addresses.iter().filter(|one| atoms.emails.contains(*one)) {
        add(Naming::Readable, address);
    }
    if atoms.kinds.is_branch {
        let is_known = |name: &str| {
            let mut spellings = ["", "heads/", "refs/heads/"].iter();
            spellings.any(|start| atoms.names.contains(&format!("{start}{name}")))
        };
        let name = |at: usize| text.get(at..).unwrap_or_default();
        match Ref::read(text) {
            Ref::Branch(at) if is_known(name(at)) => add(Naming::Branch, name(at)),
            Ref::Branch(_) => false,
            Ref::Either(one, other) => {
                let known = [name(one), name(other)].into_iter().filter(|name| is_known(name));
                known.for_each(|name| {
                    add(Naming::Either, name);
                });
                false
            }
            Ref::Current => add(Naming::Current, ""),
            Ref::Unknown => add(Naming::Unknown, ""),
        };
        if text.contains(':') {
            class.insert((Naming::Destination, String::new()));
        }
        if atoms.grants_branches && text.starts_with(['+', ':']) {
            class.insert((Naming::Forced, String::new()));
        }
    }
    class
}

/// How a text names an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Naming {
    Exactly,
    /// As an address is listed, in letters of any case.
    Address,
    /// As an address that may be read from the text.
    Readable,
    /// As the branch that git takes the text for.
    Branch,
    /// As one of two such branches.
    Either,
    /// As whatever is checked out.
    Current,
    /// As something that only git can tell.
    Unknown,
    /// By the destination of a refspec, which git's configuration does not change.
    Destination,
    /// As a branch that is removed, or updated by force.
    Forced,
}

/// Values that tests of an argument tell apart, and some that no test names: at least one of every type that a schema knows.
pub(super) fn tested<'t>(tests: impl Iterator<Item = &'t Test>, found: &mut Vec<Choice>) {
    let mut values = Vec::new();
    for test in tests {
        match test {
            Test::Equals(scalar) => add(scalar, &mut values),
            Test::In(scalars) => scalars.iter().for_each(|scalar| add(scalar, &mut values)),
            Test::Present | Test::Absent | Test::Truthy | Test::Falsy => {}
        }
    }
    // What is sent may be in other letters than what was given.
    let texts = values.iter().filter_map(Value::as_str);
    let louder: Vec<Value> = texts.map(|text| Value::from(text.to_uppercase())).collect();
    for value in louder {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let mut other = "some-text".to_owned();
    while values.contains(&Value::from(&*other)) {
        other.push('-');
    }
    for value in [
        Value::Null,
        Value::Bool(true),
        Value::Bool(false),
        Value::from(0),
        Value::from(7_919),
        Value::from(""),
        Value::from("false"),
        Value::from("true"),
        Value::from("[]"),
        Value::Array(Vec::new()),
        Value::Object(Map::new()),
        Value::Object(Map::from_iter([("some".to_owned(), Value::from(1))])),
    ] {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let in_arrays: Vec<Value> = values
        .iter()
        .map(|value| Value::Array(vec![value.clone()]))
        .collect();
    for value in values.into_iter().chain(in_arrays) {
        let label = Label::Is(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        found.push(Choice::value(value, label));
    }
    found.push(Choice::text(other, Label::Words("any other text")));
}

/// The scalar, and what servers may convert to it.
fn add(scalar: &Scalar, values: &mut Vec<Value>) {
    let mut push = |value: Value| {
        if !values.contains(&value) {
            values.push(value);
        }
    };
    match scalar {
        Scalar::Null => push(Value::Null),
        Scalar::Bool(value) => {
            push(Value::Bool(*value));
            push(Value::from(u8::from(*value)));
            spellings(f64::from(u8::from(*value))).for_each(&mut push);
        }
        Scalar::Number(number) => {
            push(serde_json::Number::from_f64(*number).map_or(Value::Null, Value::Number));
            spellings(*number).for_each(&mut push);
        }
        Scalar::Text(text) => {
            push(Value::from(&**text));
            if let Ok(number) = text.trim().parse::<f64>()
                && let Some(number) = serde_json::Number::from_f64(number)
            {
                push(Value::Number(number));
            }
        }
    }
}

/// Texts that servers may convert to the number. What lists see of them differs: one is an address of the internet, one is the
/// name of a host.
fn spellings(number: f64) -> impl Iterator<Item = Value> {
    let all = [number.to_string(), format!("{number}.0"), format!("{number}e0")];
    let all = all.into_iter().filter(move |text| decimal(text) == Some(number));
    all.map(Value::from)
}

/// How a condition sees a value.
pub(super) fn seen(value: Option<&Value>) -> ConditionValue<'_> {
    match value {
        None => ConditionValue::Absent,
        Some(Value::Null) => ConditionValue::Null,
        Some(Value::Bool(value)) => ConditionValue::Bool(*value),
        Some(Value::Number(number)) => ConditionValue::Number(number.as_f64().unwrap_or(f64::NAN)),
        Some(Value::String(text)) => ConditionValue::Text(text),
        Some(Value::Array(items)) if items.is_empty() => ConditionValue::Empty,
        Some(Value::Object(members)) if members.is_empty() => ConditionValue::Empty,
        Some(Value::Array(_) | Value::Object(_)) => ConditionValue::Compound,
    }
}

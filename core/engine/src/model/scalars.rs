//! Values that conditions compare arguments with, and as much of an argument as they can distinguish.

use crate::sort;
use crate::text::decimal;

/// A value that is not an array or object.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as in JavaScript.
    Number(f64),
    /// A string.
    Text(Box<str>),
}

/// As much of an argument's value as a condition can distinguish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConditionValue<'a> {
    /// There is no value.
    Absent,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(&'a str),
    /// An array or an object that holds something.
    Compound,
    /// An array or an object that holds nothing: true in JavaScript, and false in Python and PHP.
    Empty,
    /// Something that cannot be read: it is there, and equals nothing.
    Unreadable,
}

/// A given value, and the number that servers may convert it to, where that was found once for all conditions on it.
#[derive(Clone, Copy, Debug)]
pub struct ComparedValue<'a> {
    given: ConditionValue<'a>,
    known: Option<Option<f64>>,
}

/// The largest integer up to which a double tells all integers apart
/// ([Number.MAX_SAFE_INTEGER](https://tc39.es/ecma262/#sec-number.max_safe_integer)).
const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;

impl<'a> From<ConditionValue<'a>> for ComparedValue<'a> {
    fn from(given: ConditionValue<'a>) -> Self {
        Self { given, known: None }
    }
}

impl<'a> ComparedValue<'a> {
    /// The reading of a value whose number is known.
    pub fn with_number(given: ConditionValue<'a>, number: Option<f64>) -> Self {
        let known = Some(number);
        Self { given, known }
    }

    pub(crate) fn condition_value(&self) -> ConditionValue<'a> {
        self.given
    }

    /// The number that servers may convert the value to.
    pub fn number(&self) -> Option<f64> {
        self.known.unwrap_or_else(|| number(self.given))
    }

    /// Returns `true` if it is truthy in JavaScript, and programs that convert it first, or are written in another language,
    /// may take it for false: a text such as `no` or `0.0`, an array or an object that holds nothing.
    pub(super) fn is_doubtfully_true(&self) -> bool {
        match self.given {
            ConditionValue::Text(_) => self.number() == Some(0.0),
            ConditionValue::Empty => true,
            ConditionValue::Absent
            | ConditionValue::Null
            | ConditionValue::Bool(_)
            | ConditionValue::Number(_)
            | ConditionValue::Compound
            | ConditionValue::Unreadable => false,
        }
    }

    /// Returns `true` unless it is a number that programs which read integers exactly may tell from one that equals it here.
    pub(super) fn is_exact(&self) -> bool {
        match self.given {
            ConditionValue::Number(number) => number.abs() <= LARGEST_EXACT,
            ConditionValue::Absent
            | ConditionValue::Null
            | ConditionValue::Bool(_)
            | ConditionValue::Text(_)
            | ConditionValue::Compound
            | ConditionValue::Empty
            | ConditionValue::Unreadable => true,
        }
    }
}

impl Scalar {
    /// The value as a condition sees it.
    fn condition_value(&self) -> ConditionValue<'_> {
        match self {
            Scalar::Null => ConditionValue::Null,
            Scalar::Bool(value) => ConditionValue::Bool(*value),
            Scalar::Number(value) => ConditionValue::Number(*value),
            Scalar::Text(text) => ConditionValue::Text(text),
        }
    }

    /// Returns `true` if a server may convert one of the two values to the other, which is of another type.
    pub(super) fn may_become(&self, value: &ComparedValue<'_>) -> bool {
        let is_same_type = matches!(
            (self, value.given),
            (Scalar::Bool(_), ConditionValue::Bool(_))
                | (Scalar::Number(_), ConditionValue::Number(_))
                | (Scalar::Text(_), ConditionValue::Text(_))
        );
        if is_same_type {
            return false;
        }
        // A text takes long to be read as a number, so the other of the two is read first.
        let own = || number(self.condition_value());
        match self {
            Scalar::Text(_) => value.number().is_some_and(|number| own() == Some(number)),
            Scalar::Null | Scalar::Bool(_) | Scalar::Number(_) => {
                own().is_some_and(|own| value.number() == Some(own))
            }
        }
    }

    pub(super) fn is(&self, given: ConditionValue<'_>) -> bool {
        match self {
            Scalar::Null => given == ConditionValue::Null,
            Scalar::Bool(value) => given == ConditionValue::Bool(*value),
            Scalar::Number(value) => given == ConditionValue::Number(*value),
            Scalar::Text(value) => given == ConditionValue::Text(value),
        }
    }
}

/// Values in the order in which a document has them, and sorted, so that a long list is searched in few comparisons.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalars {
    values: Vec<Scalar>,
    has_null: bool,
    /// By the type of the value, sorted: the texts, and the numbers that booleans, numbers and texts may be converted to.
    texts: Vec<Box<str>>,
    from_booleans: Vec<f64>,
    numbers: Vec<f64>,
    from_texts: Vec<f64>,
}

impl Scalars {
    pub fn new(values: Vec<Scalar>) -> Self {
        let (mut texts, mut from_booleans) = (Vec::new(), Vec::new());
        let (mut numbers, mut from_texts) = (Vec::new(), Vec::new());
        for value in &values {
            let number = number(value.condition_value()).filter(|number| !number.is_nan());
            match value {
                Scalar::Null => {}
                Scalar::Bool(_) => from_booleans.extend(number),
                Scalar::Number(_) => numbers.extend(number),
                Scalar::Text(text) => {
                    texts.push(text.clone());
                    from_texts.extend(number);
                }
            }
        }
        sort::sort(&mut texts);
        for numbers in [&mut from_booleans, &mut numbers, &mut from_texts] {
            // Both zeros are one number.
            numbers.iter_mut().for_each(|number| *number += 0.0);
            sort::sort_by(numbers, f64::total_cmp);
        }
        Self {
            has_null: values.contains(&Scalar::Null),
            values,
            texts,
            from_booleans,
            numbers,
            from_texts,
        }
    }

    /// The texts among them, sorted.
    pub(super) fn texts(&self) -> &[Box<str>] {
        &self.texts
    }

    /// The values as they were given.
    pub fn iter(&self) -> impl Iterator<Item = &Scalar> {
        self.values.iter()
    }

    /// Returns `true` if the value is one of these, type and all.
    pub(super) fn contain(&self, given: ConditionValue<'_>) -> bool {
        match given {
            ConditionValue::Null => self.has_null,
            ConditionValue::Bool(value) => holds(&self.from_booleans, f64::from(u8::from(value))),
            ConditionValue::Number(value) => holds(&self.numbers, value),
            ConditionValue::Text(text) => {
                let found = self.texts.binary_search_by(|known| (**known).cmp(text));
                found.is_ok()
            }
            ConditionValue::Absent
            | ConditionValue::Compound
            | ConditionValue::Empty
            | ConditionValue::Unreadable => false,
        }
    }

    /// Returns `true` if a server may convert the value to one of these, which is of another type, or the other way round.
    pub(super) fn may_become(&self, value: &ComparedValue<'_>) -> bool {
        let others = match value.given {
            ConditionValue::Bool(_) => [&self.numbers, &self.from_texts],
            ConditionValue::Number(_) => [&self.from_booleans, &self.from_texts],
            ConditionValue::Text(_) => [&self.from_booleans, &self.numbers],
            ConditionValue::Absent
            | ConditionValue::Null
            | ConditionValue::Compound
            | ConditionValue::Empty
            | ConditionValue::Unreadable => return false,
        };
        // A text is read as a number only where there is one to compare it with.
        if others.iter().all(|numbers| numbers.is_empty()) {
            return false;
        }
        let number = value.number();
        number.is_some_and(|number| others.iter().any(|numbers| holds(numbers, number)))
    }
}

/// Returns `true` if one of the sorted numbers is this one.
fn holds(numbers: &[f64], wanted: f64) -> bool {
    let wanted = wanted + 0.0;
    let found = numbers.binary_search_by(|known| known.total_cmp(&wanted));
    found.is_ok()
}

/// The boolean that the word stands for in YAML and in lenient readers of JSON.
fn word(given: ConditionValue<'_>) -> Option<bool> {
    let ConditionValue::Text(text) = given else {
        return None;
    };
    let text = text.trim();
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(&["true", "t", "yes", "y", "on", "1"]) {
        Some(true)
    } else {
        is_one_of(&["false", "f", "no", "n", "off", "0"]).then_some(false)
    }
}

/// The number that a boolean, a number or a text may be converted to.
fn number(given: ConditionValue<'_>) -> Option<f64> {
    match given {
        ConditionValue::Bool(value) => Some(f64::from(u8::from(value))),
        ConditionValue::Number(value) => Some(value),
        ConditionValue::Text(text) => match word(given) {
            Some(value) => Some(f64::from(u8::from(value))),
            None => decimal(text.trim()).or_else(|| lenient_number(text.trim())),
        },
        ConditionValue::Absent
        | ConditionValue::Null
        | ConditionValue::Compound
        | ConditionValue::Empty
        | ConditionValue::Unreadable => None,
    }
}

/// The number that Python or JavaScript reads from a text that is not a decimal: one with `_` between its digits, or with digits
/// of another script (<https://docs.python.org/3/library/functions.html#int>), or one of another base
/// (<https://tc39.es/ecma262/#sec-stringtonumber>).
fn lenient_number(text: &str) -> Option<f64> {
    /// Nobody compares with a number whose text is longer.
    const LONGEST: usize = 256;
    let is_first = |c: char| c.is_ascii_digit() || !c.is_ascii() || matches!(c, '+' | '-' | '.');
    if text.len() > LONGEST || !text.starts_with(is_first) {
        return None;
    }
    let plain: String = text
        .chars()
        .filter(|c| *c != '_')
        .map(|c| digit(c).unwrap_or(c))
        .collect();
    let unsigned = plain.trim_start_matches(['+', '-']);
    let based = |prefix: [&str; 2], base: u32| {
        let digits = prefix.iter().find_map(|prefix| unsigned.strip_prefix(*prefix))?;
        let value = digits.chars().try_fold(0.0, |value: f64, digit| {
            Some(value * f64::from(base) + f64::from(digit.to_digit(base)?))
        })?;
        Some(if plain.starts_with('-') { -value } else { value })
    };
    decimal(&plain)
        .or_else(|| based(["0x", "0X"], 16))
        .or_else(|| based(["0o", "0O"], 8))
        .or_else(|| based(["0b", "0B"], 2))
}

/// The ASCII digit for a decimal digit of another script.
fn digit(c: char) -> Option<char> {
    /// The zeros of scripts, which their other digits follow (Unicode's category Nd).
    const ZEROS: [u32; 38] = [
        0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50,
        0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40,
        0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x1_d7ce, 0x1_d7d8,
    ];
    let value = ZEROS.iter().find_map(|zero| {
        let value = u32::from(c).checked_sub(*zero)?;
        (value < 10).then_some(value)
    })?;
    char::from_digit(value, 10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_scalar() -> impl Strategy<Value = Scalar> {
        let words = [
            "",
            "0",
            "-0",
            "1",
            "1e0",
            "true",
            "no",
            "x",
            "nan",
            " 2 ",
            "9007199254740993",
        ];
        prop_oneof![
            Just(Scalar::Null),
            any::<bool>().prop_map(Scalar::Bool),
            prop::sample::select(vec![0.0, -0.0, 1.0, 2.0, 2.5, 9_007_199_254_740_992.0])
                .prop_map(Scalar::Number),
            prop::sample::select(words.to_vec()).prop_map(|text| Scalar::Text(text.into())),
        ]
    }

    #[test]
    fn a_number_is_read_as_lenient_programs_do() {
        for text in [
            "10",
            "1_0",
            "+10",
            " 10 ",
            "010",
            "1e1",
            "10.0",
            "1_0.0",
            "0xa",
            "0XA",
            "0b1010",
            "0o12",
            "\u{661}\u{660}",
            "\u{ff11}\u{ff10}",
            "\u{2003}10",
            "+1_0",
        ] {
            assert_eq!(number(ConditionValue::Text(text)), Some(10.0), "{text:?}");
        }
        assert_eq!(number(ConditionValue::Text("-0x10")), Some(-16.0));
        for text in [
            "", "_", "ten", "1 0", "1,0", "0x", "10a", "0xg", "a_1", "x10", "--1",
        ] {
            assert_ne!(number(ConditionValue::Text(text)), Some(10.0), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_list_holds_what_one_of_its_values_does(
            values in prop::collection::vec(any_scalar(), 0..6),
            value in any_scalar(),
        ) {
            let reading = ComparedValue::from(value.condition_value());
            let list = Scalars::new(values.clone());
            let is = values.iter().any(|one| one.is(value.condition_value()));
            prop_assert_eq!(list.contain(value.condition_value()), is);
            let may_become = values.iter().any(|one| one.may_become(&reading));
            prop_assert_eq!(list.may_become(&reading), may_become);
        }
    }
}

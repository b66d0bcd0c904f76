//! Variables that commands set.

use super::table::Table;
use callgate_shell::{Assignment, Value, Word};

/// Returns `true` if the variable may decide what runs or what is read.
pub(super) fn is_refused(one: &Assignment, table: &Table) -> bool {
    let name = one.name.as_str();
    if one.is_exported && !table.is_harmless(name) && !is_switch(one) {
        return true;
    }
    table.is_influential(name) || sets_encoding(one)
}

/// Returns `true` if the variable switches something on or off, or counts: `FOO=1`. No such value names what runs or is read.
fn is_switch(one: &Assignment) -> bool {
    let upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let value = exact(one).unwrap_or("?");
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let words = ["true", "false", "yes", "no", "on", "off"];
    one.name.bytes().all(upper) && (is_number || words.contains(&value))
}

/// Returns `true` if it is a locale of another encoding than UTF-8 and ASCII: in some, as in GBK, a character may end in the byte of
/// `\`, so that what is read here as one that is quoted ends a text there.
fn sets_encoding(one: &Assignment) -> bool {
    let is_locale = one.name == "LANG" || one.name.starts_with("LC_");
    let value = exact(one).unwrap_or("?").to_ascii_lowercase();
    is_locale
        && !matches!(value.as_str(), "" | "c" | "posix")
        && !value.ends_with("utf-8")
        && !value.ends_with("utf8")
}

/// Its value, if the text tells it.
fn exact(one: &Assignment) -> Option<&str> {
    let value = one.value.exact()?;
    Some(value.strip_prefix(&format!("{}=", one.name)).unwrap_or(value))
}

/// A variable that programs are given, written as an argument.
pub(super) fn given(word: &Word) -> Assignment {
    let text = match &word.value {
        Value::Exact(text) => text,
        Value::Unknown {
            before,
            is_many: false,
            ..
        } if before.contains('=') => before,
        _ => "",
    };
    let name = text.split('=').next().unwrap_or_default();
    Assignment {
        name: name.to_owned(),
        value: word.value.clone(),
        place: word.place,
        is_exported: true,
    }
}

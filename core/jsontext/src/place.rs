//! Parts of a text, by their places.

use std::ops::Range;

/// Where in `text` its part `part` stands, in bytes; `None` for what is not a part of it.
///
/// A part is borrowed from the text, as [`serde_json::value::RawValue`] borrows values. An equal text from elsewhere is not one.
pub fn place_of(text: &str, part: &str) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let place = start..start.checked_add(part.len())?;
    (text.get(place.clone()) == Some(part)).then_some(place)
}

/// The text with other parts in these places, which do not overlap; `None` if they do, or are not places of it.
pub fn replace<T: AsRef<str>>(text: &str, mut parts: Vec<(Range<usize>, T)>) -> Option<String> {
    // An insertion comes before what begins at the same place.
    parts.sort_by_key(|(place, _)| (place.start, place.end));
    let added: usize = parts.iter().map(|(_, part)| part.as_ref().len()).sum();
    // A text that grows by its last byte is copied, however large it is. There is room for a line break too.
    let mut replaced = String::with_capacity(text.len() + added + 1);
    let mut rest = 0;
    for (place, part) in parts {
        replaced.push_str(text.get(rest..place.start)?);
        replaced.push_str(part.as_ref());
        rest = place.end;
    }
    replaced.push_str(text.get(rest..)?);
    Some(replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_where_it_was_borrowed() {
        let text = "[1, 1]";
        let last = text.get(4..5).unwrap();
        assert_eq!(place_of(text, last), Some(4..5));
        let elsewhere = "1".to_owned();
        assert_eq!(place_of(text, &elsewhere), None);
    }

    #[test]
    fn parts_are_replaced_in_any_order() {
        let parts = vec![(4..5, "3"), (1..2, ""), (1..1, "é")];
        assert_eq!(replace("[1, 2]", parts).as_deref(), Some("[é, 3]"));
        assert_eq!(replace("[1]", vec![(0..2, ""), (1..3, "")]), None);
        assert_eq!(replace("[1]", vec![(2..9, "")]), None);
    }
}

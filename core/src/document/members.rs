//! The members of an object as they stand in a text.

use crate::diagnostic::{Diagnostic, Position};

use super::comments::without_comments;
use super::parse::check_syntax;
use super::position::{Lines, Walk};

/// A member of an object, where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member<'t> {
    pub(crate) key: String,
    pub(crate) key_at: Position,
    /// The value as it is written.
    pub(crate) value: &'t str,
    pub(crate) value_at: Position,
    /// Where it begins, in bytes.
    pub(crate) start: usize,
}

/// The members of the object that a document is, in order, a repeated one each time; `None` if it is JSON but not an object.
///
/// # Errors
/// The fault of a text that is not JSON.
pub(crate) fn members<'t>(text: &'t str, name: &str) -> Result<Option<Vec<Member<'t>>>, Diagnostic> {
    let json = without_comments(text);
    check_syntax(&json, text, name)?;
    let mut walk = Walk::new(&json);
    walk.skip_space();
    if walk.peek() != Some(b'{') {
        return Ok(None);
    }
    let mut members = Vec::new();
    let mut lines = Lines::new(text);
    walk.take(b'{');
    while walk.peek() == Some(b'"') {
        let key_at = lines.position(walk.at());
        let key = walk.key();
        let start = walk.at();
        let value_at = lines.position(start);
        walk.skip_value();
        members.push(Member {
            key,
            key_at,
            value: text.get(start..walk.at()).unwrap_or_default().trim_end(),
            value_at,
            start,
        });
        if !walk.take(b',') {
            break;
        }
    }
    Ok(Some(members))
}

/// An item of an array, where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item<'t> {
    /// The item as it is written.
    pub(crate) value: &'t str,
    pub(crate) at: Position,
}

/// The items of an array, in order; none if the text is no array.
///
/// # Errors
/// The fault of a text that is not JSON.
pub(crate) fn items<'t>(text: &'t str, name: &str) -> Result<Vec<Item<'t>>, Diagnostic> {
    let json = without_comments(text);
    check_syntax(&json, text, name)?;
    let mut walk = Walk::new(&json);
    let mut items = Vec::new();
    let mut lines = Lines::new(text);
    if !walk.take(b'[') {
        return Ok(items);
    }
    while !matches!(walk.peek(), None | Some(b']')) {
        let start = walk.at();
        let at = lines.position(start);
        walk.skip_value();
        // What was a trailing comma or a comment is space there.
        let length = json
            .get(start..walk.at())
            .map_or(0, |value| value.trim_end().len());
        items.push(Item {
            value: text.get(start..start + length).unwrap_or_default(),
            at,
        });
        if !walk.take(b',') {
            break;
        }
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stand_where_they_are() {
        let text = "// é\n[{\"a\": [1, \"]\"]}, /* é, */ 5 ,\n \"d,\" // x\n , null,]";
        let found = items(text, "doc").unwrap();
        let shown: Vec<String> = found
            .iter()
            .map(|item| format!("{} {}", item.at, item.value))
            .collect();
        assert_eq!(
            shown,
            ["2:2 {\"a\": [1, \"]\"]}", "2:28 5", "3:2 \"d,\"", "4:4 null"]
        );
        assert_eq!(items("{}", "doc"), Ok(Vec::new()));
        assert_eq!(items(" [ ] ", "doc"), Ok(Vec::new()));
        assert!(items("[1 2]", "doc").is_err());
    }

    #[test]
    fn members_stand_where_they_are() {
        let text =
            "// é\n{\"a\": [1, {\"b\": \"}\"}], /* é */ \"\\u0063\" : 5 , \"d\":{} /* x */,\n\"a\": null}";
        let found = members(text, "doc").unwrap().unwrap();
        let shown: Vec<String> = found
            .iter()
            .map(|member| {
                format!(
                    "{} {}={} {}",
                    member.key_at, member.key, member.value_at, member.value
                )
            })
            .collect();
        let expected = [
            "2:2 a=2:7 [1, {\"b\": \"}\"}]",
            "2:32 c=2:43 5",
            "2:47 d=2:51 {}",
            "3:1 a=3:6 null",
        ];
        assert_eq!(shown, expected);
        assert_eq!(members("[1]", "doc"), Ok(None));
        assert_eq!(members("{}", "doc"), Ok(Some(Vec::new())));
        let fault = members("{\n \"a\" 1}", "doc").unwrap_err();
        assert_eq!(
            fault.to_string(),
            "2:6: error[syntax] at doc: not JSON: expected `:`"
        );
    }
}

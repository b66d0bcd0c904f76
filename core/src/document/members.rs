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
        });
        if !walk.take(b',') {
            break;
        }
    }
    Ok(Some(members))
}

#[cfg(test)]
mod tests {
    use super::*;

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

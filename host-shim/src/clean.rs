//! Text from elsewhere, for a person.

use std::borrow::Cow;

/// Text from elsewhere, fit for a terminal or a form: nothing in it moves the cursor, hides or reorders other text.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unfit) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    for one in text.chars() {
        if is_unfit(one) {
            cleaned.extend(one.escape_debug());
        } else {
            cleaned.push(one);
        }
    }
    Cow::Owned(cleaned)
}

/// Control characters, line separators, and the invisible characters that change how others are shown.
fn is_unfit(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(one, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

//! The characters of a text that can be read.

use crate::fault::{Construct, NotUnderstood, Place};
use crate::limits::MAX_TEXT;

/// Refuses a text that is too long, or in which a person would not see what a shell reads.
pub(crate) fn check(text: &str) -> Result<(), NotUnderstood> {
    if text.len() > MAX_TEXT {
        return Err(NotUnderstood {
            place: Place::new(0, text.len()),
            construct: Construct::Limit("32 KiB of text"),
        });
    }
    match text.char_indices().find(|(_, one)| is_refused(*one)) {
        Some((at, one)) => Err(NotUnderstood {
            place: Place::new(at, at + one.len_utf8()),
            construct: Construct::Character(one),
        }),
        None => Ok(()),
    }
}

fn is_refused(one: char) -> bool {
    match one {
        '\n' | '\t' | ' '..='~' => false,
        // Emoji have it.
        '\u{FE0F}' => false,
        _ => one.is_control() || one.is_whitespace() || is_invisible(one),
    }
}

/// Characters without a shape, or that change the direction of others:
/// `Default_Ignorable_Code_Point` and the controls of <https://www.unicode.org/reports/tr9/>.
fn is_invisible(one: char) -> bool {
    matches!(
        one,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0E}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFD}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
            | '\u{E000}'..='\u{F8FF}'
            | '\u{F0000}'..='\u{10FFFF}'
    )
}

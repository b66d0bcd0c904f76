//! Texts for a person: their styles, and how wide they are.

use anstyle::{AnsiColor, Style};
use callgate_engine::model::Effect;
use callgate_host::clean;

pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// The text in a style; what does not come from this program must be [`clean`] before.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// `1 region`, `2 regions`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    let what = if count == 1 { one } else { many };
    format!("{count} {what}")
}

/// Columns that answers for a person take at most, where their words allow it.
const WIDTH: usize = 80;

/// The text, whose lines after the first begin with `indent`; it is broken between words. `before` is how wide what
/// stands before the text is.
pub(crate) fn wrapped(text: &str, before: usize, indent: &str) -> String {
    let (mut lines, mut column) = (String::new(), before);
    let indented = width(indent);
    for (at, word) in text.split(' ').enumerate() {
        let wide = width(word);
        if at > 0 {
            if column + 1 + wide > WIDTH && column > indented {
                lines.push('\n');
                lines.push_str(indent);
                column = indented;
            } else {
                lines.push(' ');
                column += 1;
            }
        }
        lines.push_str(word);
        column += wide;
    }
    lines
}

/// How many columns the text takes, its styles left out.
pub(crate) fn width(text: &str) -> usize {
    anstream::adapter::strip_str(text)
        .map(|part| part.chars().count())
        .sum()
}

/// The style of `allow`, `escalate` and `deny`.
pub(crate) fn style_of(decision: &str) -> Style {
    match Effect::parse(decision) {
        Some(Effect::Allow) => GREEN,
        Some(Effect::Escalate) => YELLOW,
        Some(Effect::Deny) | None => RED,
    }
}

/// Text from elsewhere, fit for a terminal: at most `most` characters of it.
pub(crate) fn brief(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}… ({} bytes)", clean(&text[..end]), text.len()),
        None => clean(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_elsewhere_cannot_drive_the_terminal() {
        for (text, expected) in [
            ("plain ünïcode 日本", "plain ünïcode 日本"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("a\r\nb\tc\0", "a\\r\\nb\\tc\\0"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("exe\u{202e}txt", "exe\\u{202e}txt"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
        ] {
            assert_eq!(clean(text), expected);
        }
        assert_eq!(brief("日本語", 2), "日本… (9 bytes)");
        assert_eq!(brief("日本", 2), "日本");
    }
}

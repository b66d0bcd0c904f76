//! Scripts of `sed`.

use callgate_shell::Word;
use callgate_shell::{Construct, NotUnderstood};

/// A script of `sed` that only changes text: no `w`, `r` and `e`, which open and run what they name.
pub(super) fn edit(text: &str, word: &Word) -> Result<(), NotUnderstood> {
    let mut rest = text;
    while let Some(after) = edit_command(rest) {
        rest = after.trim_start_matches([' ', ';', '\n', '}']);
        if rest.is_empty() {
            return Ok(());
        }
    }
    Err(NotUnderstood {
        place: word.place,
        construct: Construct::Operand("a script that is not plain".to_owned()),
    })
}

/// Reads a command of `sed`. Returns what follows.
fn edit_command(text: &str) -> Option<&str> {
    let mut rest = text.trim_start();
    // Addresses.
    loop {
        let first = rest.chars().next()?;
        rest = match first {
            '0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '{' => rest.get(1..)?,
            '/' => divided(rest.get(1..)?, '/', true)?.trim_start_matches('I'),
            _ => break,
        };
    }
    let command = rest.chars().next()?;
    rest = rest.get(command.len_utf8()..)?;
    match command {
        's' | 'y' => {
            let delimiter = rest
                .chars()
                .next()
                .filter(|one| !one.is_alphanumeric() && !matches!(one, '\\' | '\n'))?;
            rest = rest.get(delimiter.len_utf8()..)?;
            rest = divided(rest, delimiter, command == 's')?;
            rest = divided(rest, delimiter, false)?;
            if command == 's' {
                rest = rest.trim_start_matches(|one: char| {
                    matches!(one, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9')
                });
            }
        }
        'p' | 'd' | 'q' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'D' | 'P' => {}
        // The text goes on to the end of the line, and commands follow on the next.
        'a' | 'i' | 'c' => return (!rest.contains('\n')).then_some(""),
        _ => return None,
    }
    let is_over = rest.is_empty() || rest.starts_with([';', '\n', '}', ' ']);
    is_over.then_some(rest)
}

/// What follows the next delimiter that has no backslash before it. A pattern may have brackets, in which none ends anything to one `sed`,
/// and does to another, so that none may stand there; a replacement, and what `y` takes, knows none.
pub(super) fn divided(text: &str, delimiter: char, is_pattern: bool) -> Option<&str> {
    let mut rest = text.char_indices();
    while let Some((at, one)) = rest.next() {
        match one {
            '\\' => {
                rest.next()?;
            }
            '\n' => return None,
            _ if one == delimiter => return text.get(at + one.len_utf8()..),
            '[' if is_pattern => {
                let inside = text.get(at + 1..)?;
                let length = bracket(inside)?;
                if inside.get(..length)?.contains([delimiter, '\n', '\\']) {
                    return None;
                }
                return divided(inside.get(length..)?, delimiter, is_pattern);
            }
            _ => {}
        }
    }
    None
}

/// The length of what stands in brackets, the closing one included: `]` is a member where it comes first.
fn bracket(text: &str) -> Option<usize> {
    let members = text.strip_prefix('^').unwrap_or(text);
    let members = members.strip_prefix(']').unwrap_or(members);
    let mut at = text.len() - members.len();
    loop {
        let rest = text.get(at..)?;
        let class = ["[:", "[.", "[="].iter().find(|class| rest.starts_with(**class));
        if let Some(class) = class {
            let end = format!("{}]", class.get(1..)?);
            at += 2 + rest.get(2..)?.find(&end)? + 2;
            continue;
        }
        let one = rest.chars().next()?;
        at += one.len_utf8();
        if one == ']' {
            return Some(at);
        }
    }
}

//! Arguments that are small languages: the conditions of `test` and the formats of `printf`, of which shells compute some as
//! numbers, and the settings of a shell.

use super::Operand;
use super::operand::operand;
use super::role::Role;
use callgate_shell::{Command, Value, Word};
use callgate_shell::{Construct, NotUnderstood};

type Done = Result<(), NotUnderstood>;

/// Reads a condition in one of the forms that POSIX has without doubt: a word, or an operator with one or two of them, perhaps after `!`.
pub(super) fn read(program: &str, words: &[Word], command: &Command, operands: &mut Vec<Operand>) -> Done {
    let closing = match program {
        "[" => Some("]"),
        "[[" => Some("]]"),
        _ => None,
    };
    let mut words = words;
    if let Some(closing) = closing {
        match words.split_last() {
            Some((last, rest)) if last.exact() == Some(closing) => words = rest,
            _ => return Err(fault(command, Construct::Unfinished("a condition"))),
        }
    }
    if let Some((first, rest)) = words.split_first()
        && first.exact() == Some("!")
        && !rest.is_empty()
    {
        words = rest;
    }
    for word in words {
        if matches!(
            word.value,
            Value::Unknown { is_many: true, .. } | Value::Pattern { is_many: true, .. }
        ) {
            return Err(at(word, Construct::UnknownWord));
        }
    }
    match words {
        [] | [_] => Ok(()),
        [operator, word] => match operator.exact() {
            Some("-n" | "-z") => Ok(()),
            Some(
                "-e" | "-f" | "-d" | "-r" | "-w" | "-x" | "-s" | "-L" | "-h" | "-p" | "-S" | "-b" | "-c"
                | "-O" | "-G",
            ) => operand(Role::ReadPath, word, &command.directories, false, operands),
            Some("-t") => operand(Role::Number, word, &command.directories, false, operands),
            other => Err(at(
                operator,
                Construct::Operand(other.unwrap_or_default().to_owned()),
            )),
        },
        [one, operator, other] => match operator.exact() {
            Some("=" | "==" | "!=" | "=~") => Ok(()),
            Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => {
                operand(Role::Number, one, &command.directories, false, operands)?;
                operand(Role::Number, other, &command.directories, false, operands)
            }
            Some("-nt" | "-ot" | "-ef") => {
                operand(Role::ReadPath, one, &command.directories, false, operands)?;
                operand(Role::ReadPath, other, &command.directories, false, operands)
            }
            other => Err(at(
                operator,
                Construct::Operand(other.unwrap_or_default().to_owned()),
            )),
        },
        [first, ..] => Err(at(first, Construct::Operand("several conditions".to_owned()))),
    }
}

/// zsh computes what a format takes as a number.
pub(super) fn format(format: &Word, words: &[Word]) -> Done {
    let Some(text) = format.exact() else {
        return Err(at(format, Construct::UnknownWord));
    };
    let mut is_text = true;
    let mut rest = text.chars();
    while let Some(one) = rest.next() {
        if one == '%' {
            // A width `*` is an argument, and a number.
            let is_width = |one: &char| matches!(one, '0'..='9' | '-' | '.' | ' ' | '+' | '#' | '*' | '\'');
            let mut letter = rest.next();
            while let Some(one) = letter.filter(is_width) {
                is_text &= one != '*';
                letter = rest.next();
            }
            match letter {
                Some('s' | 'b' | 'q' | '%' | 'c') => {}
                Some('d' | 'i' | 'o' | 'u' | 'x' | 'X' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A') => {
                    is_text = false
                }
                // `%n` gives a variable a value, and letters of length stand before it.
                _ => return Err(at(format, Construct::Operand(text.to_owned()))),
            }
        }
    }
    if is_text {
        return Ok(());
    }
    for word in words.iter().skip(1) {
        match &word.value {
            Value::Exact(text) if !text.contains(['[', '(', '$', '`']) => {}
            Value::Unknown {
                is_number: true,
                is_many: false,
                ..
            } => {}
            _ => return Err(at(word, Construct::UnknownWord)),
        }
    }
    Ok(())
}

/// An option of the shell after which its words are read as before.
pub(super) fn setting(word: &Word) -> Done {
    const NAMES: &[&str] = &["errexit", "nounset", "xtrace", "pipefail", "verbose"];
    let text = word.exact().unwrap_or_default();
    let letters = text.strip_prefix(['-', '+']);
    let is_known = letters.is_some_and(|letters| letters.chars().all(|one| "euxvo".contains(one)))
        || NAMES.contains(&text);
    if is_known {
        return Ok(());
    }
    Err(at(word, Construct::Operand(text.to_owned())))
}

fn at(word: &Word, construct: Construct) -> NotUnderstood {
    NotUnderstood {
        place: word.place,
        construct,
    }
}

fn fault(command: &Command, construct: Construct) -> NotUnderstood {
    NotUnderstood {
        place: command.place,
        construct,
    }
}

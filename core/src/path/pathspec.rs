//! The paths that git takes a path for where it reads one as a pattern
//! ([pathspec](https://git-scm.com/docs/gitglossary#Documentation/gitglossary.txt-pathspec)).

/// How many paths a pathspec may stand for beside the one that it spells.
const MOST_READINGS: usize = 16;

/// Returns `true` if the text has no character of a pattern.
pub(crate) fn is_literal(path: &str) -> bool {
    let of_pattern = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'\\');
    // Without a way out, so that many bytes are looked at in one step.
    let bytes = path.as_bytes().iter();
    !bytes.fold(false, |found, byte| found | of_pattern(byte))
}

/// The other paths that git may take a path for: `app/[id]` is the name that it spells and, where nothing has that name,
/// `app/i` and `app/d` as well. None for a path without a pattern; `None` where they are too many, or are not known.
pub(crate) fn pathspec_readings(path: &str) -> Option<Vec<String>> {
    if path.starts_with(':') {
        return None;
    }
    if is_literal(path) {
        return Some(Vec::new());
    }
    if path.contains(['*', '?', '\\']) {
        return None;
    }
    let mut readings = vec![String::with_capacity(path.len())];
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((characters, beyond)) = class(after)? else {
            // Nothing closes it, so that nothing but the name itself matches.
            return Some(Vec::new());
        };
        if readings.len().saturating_mul(characters.len()) > MOST_READINGS {
            return None;
        }
        readings.iter_mut().for_each(|reading| reading.push_str(before));
        match characters.as_slice() {
            [one] => readings.iter_mut().for_each(|reading| reading.push(*one)),
            all => {
                let longer = |reading: &String| all.iter().map(|one| format!("{reading}{one}")).collect();
                readings = readings.iter().flat_map::<Vec<String>, _>(longer).collect();
            }
        }
        rest = beyond;
    }
    readings.iter_mut().for_each(|reading| reading.push_str(rest));
    Some(readings)
}

/// The characters of a bracket expression and the text after it, both after its `[`. The outer `None` is for one that has too
/// many, or that git and this function may not read alike; the inner one for a bracket that nothing closes.
fn class(text: &str) -> Option<Option<(Vec<char>, &str)>> {
    let mut is_clear = !text.starts_with(['!', '^']);
    let mut found: Vec<char> = Vec::new();
    // What a range would begin with.
    let mut before = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        // The first one is a character of the class.
        if character == ']' && at > 0 {
            let beyond = text.get(at + 1..)?;
            return is_clear.then_some(Some((found, beyond)));
        }
        let next = rest.peek().map(|(_, next)| *next);
        // Git compares bytes, and has classes with names.
        is_clear &= character.is_ascii() && !(character == '[' && next == Some(':'));
        let range = match (character, before, next) {
            ('-', Some(first), Some(last)) if last != ']' => {
                rest.next();
                before = None;
                first..=last
            }
            (_, _, _) => {
                before = Some(character);
                character..=character
            }
        };
        is_clear &= range.end().is_ascii() && !range.contains(&'/');
        if is_clear {
            let new: Vec<char> = range.filter(|one| !found.contains(one)).collect();
            found.extend(new);
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_each_name_that_it_matches() {
        for (path, expected) in [
            ("app/page.tsx", Some(&[][..])),
            ("app/[id]/page.tsx", Some(&["app/i/page.tsx", "app/d/page.tsx"])),
            ("[ab][cc]", Some(&["ac", "bc"])),
            ("[...s]/p", Some(&["./p", "s/p"])),
            ("[[..s]]/p", Some(&["[]/p", ".]/p", "s]/p"])),
            ("[]]x", Some(&["]x"])),
            ("[a-c-]", Some(&["a", "b", "c", "-"])),
            ("[-a]", Some(&["-", "a"])),
            // Nothing closes these.
            ("app/[x/p", Some(&[])),
            ("[]", Some(&[])),
            ("[a]/[", Some(&[])),
            ("[!a]", None),
            ("[^a]", None),
            ("[[:alpha:]]", None),
            ("[a-z]", None),
            ("[0-9]x[0-9]", None),
            ("a[/]b", None),
            ("[.-0]", None),
            ("[ä]", None),
            ("a*", None),
            ("a?", None),
            ("a\\b", None),
            (":(top)a", None),
        ] {
            let expected = expected.map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
            assert_eq!(pathspec_readings(path), expected, "{path}");
        }
    }
}

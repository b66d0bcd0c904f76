//! The paths that git takes a path for where it reads one as a pattern
//! ([pathspec](https://git-scm.com/docs/gitglossary#Documentation/gitglossary.txt-pathspec)).

use super::pattern::{Piece, meet};
use crate::cost::PATHSPEC_PIECES;

/// How many paths a pathspec may stand for beside the one that it spells.
const MOST_READINGS: usize = 16;

/// Returns `true` if the text has no character of a pattern.
pub fn is_literal(path: &str) -> bool {
    let of_pattern = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'\\');
    // Without a way out, so that many bytes are looked at in one step.
    let bytes = path.as_bytes().iter();
    !bytes.fold(false, |found, byte| found | of_pattern(byte))
}

/// The other paths that git may take a path for: `app/[id]` is the name that it spells and, where nothing has that name,
/// `app/i` and `app/d` as well. None for a path without a pattern; `None` where they are too many, or are not known.
pub fn pathspec_readings(path: &str) -> Option<Vec<String>> {
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

/// A pattern of git, and the directory that it ranges over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pathspec {
    /// The words before it: `:(glob)`, `:!`.
    magic: Box<str>,
    /// The directory; empty for the one that it starts from.
    pub directory: Box<str>,
    /// The rest below that directory, as it is written.
    names: Box<str>,
    /// It takes paths out of those that others match; without others it stands for all of the work tree.
    pub is_exclusion: bool,
    /// It is a shell's, which matches no hidden name, and nothing below a name.
    is_of_shell: bool,
    pieces: Box<[Piece]>,
}

impl Pathspec {
    /// A pattern of a shell below a directory; `None` where a shell may match hidden names, or reads more in it than git does.
    pub fn of_shell(names: &str) -> Option<Self> {
        let mut components = names.split('/');
        let is_odd = names.contains(['\\', '(', '^', '#', '~', '<'])
            || components.any(|one| one.starts_with(['.', '[']));
        let pattern = (!is_odd).then(|| Self::parse(&format!(":(glob){names}")))??;
        Some(Self {
            is_of_shell: true,
            ..pattern
        })
    }

    /// Reads a pattern; `None` where it is not known what it matches.
    pub fn parse(text: &str) -> Option<Self> {
        let (magic, pattern) = text.split_at_checked(magic_length(text)?)?;
        let has = |word: &str| {
            let words = magic.trim_start_matches(":(").trim_end_matches(')');
            magic.starts_with(":(") && words.split(',').any(|known| known == word)
        };
        if pattern.is_empty() || pattern.contains('\\') {
            return None;
        }
        let is_exclusion = matches!(magic, ":!" | ":^") || has("exclude");
        // Where case does not count, that of directories does not either.
        let special = match has("icase") || is_exclusion {
            true => 0,
            false => pattern.find(['*', '?', '[']).unwrap_or(pattern.len()),
        };
        let start = pattern.get(..special)?.rfind('/').map_or(0, |slash| slash + 1);
        let (directory, names) = pattern.split_at_checked(start)?;
        if !is_exclusion
            && (names.starts_with('/') || names.split('/').any(|name| matches!(name, "" | "." | "..")))
        {
            return None;
        }
        Some(Self {
            magic: magic.into(),
            directory: match directory.trim_end_matches('/') {
                "" if directory.starts_with('/') => "/".into(),
                directory => directory.into(),
            },
            names: names.into(),
            is_exclusion,
            is_of_shell: false,
            pieces: pieces(names, has("glob")).into(),
        })
    }

    /// The pattern below the directory by this name, relative to the one that it starts from or absolute.
    pub fn below(&self, directory: &str) -> String {
        let Self { magic, names, .. } = self;
        let is_plain = names.starts_with(|first: char| first.is_alphanumeric() || "*?[_.".contains(first));
        match directory.trim_end_matches('/') {
            "." if is_plain => format!("{magic}{names}"),
            directory => format!("{magic}{directory}/{names}"),
        }
    }

    /// Returns `true` if it may match the path below its directory, or a directory above that.
    pub fn may_match(&self, names: &str) -> bool {
        if self.is_of_shell {
            let is_hidden = names.split('/').any(|one| one.starts_with('.'));
            return !is_hidden && self.may_meet("", Piece::literal(&folded(names)));
        }
        !is_in_git(names)
            && names
                .match_indices('/')
                .map(|(end, _)| end)
                .chain([names.len()])
                .filter_map(|end| names.get(..end))
                .any(|names| self.may_meet("", Piece::literal(&folded(names))))
    }

    /// Returns `true` if it may match something in a directory below its own.
    pub fn may_match_in(&self, names: &str) -> bool {
        let inside = [Piece::Is('/'), Piece::Many { crosses: true }];
        !self.is_of_shell
            && !is_in_git(names)
            && self.may_meet("", Piece::literal(&folded(names)).chain(inside))
    }

    /// Returns `true` if it may match a path that another pattern matches, which starts from a directory that these names lead from
    /// to its own.
    pub fn may_meet(&self, names: &str, other: impl Iterator<Item = Piece>) -> bool {
        let names = folded(names);
        let slash = (!names.is_empty()).then_some(Piece::Is('/'));
        let own: Vec<Piece> = Piece::literal(&names)
            .chain(slash)
            .chain(self.pieces.iter().copied())
            .collect();
        let other: Vec<Piece> = other.collect();
        !self.is_exclusion && meet(&own, &other)
    }

    /// About how many steps it takes to hold it against a text or a pattern of this length.
    pub fn cost(&self, bytes: usize) -> usize {
        1 + self.pieces.len().saturating_mul(bytes) / PATHSPEC_PIECES
    }
}

/// Git takes nothing that lies in its own directory.
pub fn is_in_git(names: &str) -> bool {
    names.split('/').any(|name| name.eq_ignore_ascii_case(".git"))
}

/// The form in which names are compared with a pattern: case does not count.
pub fn folded(names: &str) -> String {
    names.to_lowercase()
}

/// The length of the words before a pattern. `None` for those that lead elsewhere, or that are not known.
fn magic_length(text: &str) -> Option<usize> {
    if let Some(long) = text.strip_prefix(":(") {
        let (words, _) = long.split_once(')')?;
        let is_known = |word: &str| matches!(word, "glob" | "icase" | "exclude");
        return words.split(',').all(is_known).then_some(words.len() + 3);
    }
    match text.strip_prefix(':') {
        None => Some(0),
        Some(short) => {
            let rest = short.strip_prefix(['!', '^'])?;
            (!rest.starts_with(['!', '^', '/', ':', '('])).then_some(2)
        }
    }
}

/// A pattern as what it may match at most: git compares bytes, and knows classes of them.
fn pieces(names: &str, is_glob: bool) -> Vec<Piece> {
    let names = folded(names);
    let mut found = Vec::new();
    let mut rest = names.as_str();
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            found.extend(Piece::DIRECTORIES);
            rest = after;
            continue;
        }
        let is_deep = !is_glob || rest.starts_with("**");
        match first {
            '*' => found.push(Piece::Many { crosses: is_deep }),
            '?' => found.push(Piece::One { crosses: !is_glob }),
            // Where a class ends is for git to say.
            '[' => {
                found.push(Piece::Many { crosses: true });
                return found;
            }
            one if one.is_ascii() => found.push(Piece::Is(one)),
            _ => found.push(Piece::Many { crosses: true }),
        }
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    found
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
    fn a_pattern_ranges_over_a_directory() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let found = Pathspec::parse(text);
            let found = found.as_ref().map(|one| (&*one.directory, &*one.names));
            assert_eq!(found, expected, "{text}");
        };
        check("*.md", Some(("", "*.md")));
        check("src/a*/b", Some(("src", "a*/b")));
        check("/*", Some(("/", "*")));
        check("/srv/x/**", Some(("/srv/x", "**")));
        check("../*", Some(("..", "*")));
        check(":(glob)src/**", Some(("src", "**")));
        check(":(glob)src/a", Some(("src", "a")));
        check(":(icase)src/a", Some(("", "src/a")));
        check(":(glob,icase)x", Some(("", "x")));
        check(":!src/x", Some(("", "src/x")));
        check(":^../x", Some(("", "../x")));
        check(":(exclude)x", Some(("", "x")));
        for text in [
            ":",
            "a\\*",
            ":/x",
            ":(top)x",
            ":(glob",
            ":(attr:x)y",
            ":(literal)x",
            ":!",
            ":!/x",
            ":!!x",
            ":(glob)",
            "*/../x",
            "*/./x",
            "*//x",
            "*/",
            ":(icase)../x",
            ":(icase)/x",
            ":(prefix:0)x",
            ":x",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn a_pattern_matches_names_below_its_directory() {
        let check = |text: &str, names: &str, expected: (bool, bool)| {
            let pattern = Pathspec::parse(text).unwrap();
            let found = (pattern.may_match(names), pattern.may_match_in(names));
            assert_eq!(found, expected, "{text} {names}");
        };
        check("*.md", ".env", (false, true));
        check("*.md", "docs/A.MD", (true, true));
        check("*", ".env", (true, true));
        check("*", ".git/config", (false, false));
        check("src/*.ts", "secret", (false, true));
        check(":(glob)*.ts", "secret", (false, false));
        check(":(glob)*.ts", "secret/a.ts", (false, false));
        check(":(glob)**/*.ts", "secret", (false, true));
        check("s*", "secret/key", (true, true));
        check(":(glob)s*", "secret/key", (true, false));
        check("?env", ".env", (true, false));
        check("[.]x", ".env", (true, true));
        check("ä*", ".env", (true, true));
        check(":!x", ".env", (false, false));
    }

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

//! Patterns of names, as far as two of them can match one path.

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// This character.
    Is(char),
    /// Any character; a `/` where `crosses`.
    One { crosses: bool },
    /// Any text; with a `/` in it where `crosses`.
    Many { crosses: bool },
    /// The next two pieces, or nothing in their place.
    Maybe,
}

impl Piece {
    /// Any number of directories, with the `/` after them.
    pub(crate) const DIRECTORIES: [Self; 3] = [Self::Maybe, Self::Many { crosses: true }, Self::Is('/')];

    /// The pieces of a text that stands for itself.
    pub fn literal(text: &str) -> impl Iterator<Item = Self> {
        text.chars().map(Self::Is)
    }

    fn takes(self, other: Self) -> bool {
        match (self, other) {
            (Self::Is(one), Self::Is(other)) => one == other,
            (Self::Is(one), Self::One { crosses }) | (Self::One { crosses }, Self::Is(one)) => {
                crosses || one != '/'
            }
            (Self::Is(one), Self::Many { crosses }) | (Self::Many { crosses }, Self::Is(one)) => {
                crosses || one != '/'
            }
            (Self::One { .. } | Self::Many { .. }, Self::One { .. } | Self::Many { .. }) => true,
            (Self::Maybe, _) | (_, Self::Maybe) => false,
        }
    }
}

/// Returns `true` if some text matches both patterns. Takes time proportional to the product of their lengths.
pub(crate) fn meet(one: &[Piece], other: &[Piece]) -> bool {
    // Whether the rests from here on meet, for each place in `other` and the places in `one` that come next.
    let width = other.len() + 1;
    let mut rows = [(); 4].map(|()| vec![false; width]);
    for at in (0..=one.len()).rev() {
        rows.rotate_right(1);
        let [row, later @ ..] = &mut rows;
        let mine = one.get(at).copied();
        for place in (0..width).rev() {
            let theirs = other.get(place).copied();
            let next = |row: &[bool], steps: usize| row.get(place + steps) == Some(&true);
            let [after, _, beyond] = &*later;
            let found = match (mine, theirs) {
                (None, None) => true,
                (Some(Piece::Maybe), _) => next(after, 0) || next(beyond, 0),
                (_, Some(Piece::Maybe)) => next(row, 1) || next(row, 3),
                (Some(Piece::Many { .. }), None) => next(after, 0),
                (None, Some(Piece::Many { .. })) => next(row, 1),
                (Some(Piece::Many { .. }), Some(Piece::Many { .. })) => next(after, 0) || next(row, 1),
                (Some(mine @ Piece::Many { .. }), Some(theirs)) => {
                    next(after, 0) || (mine.takes(theirs) && next(row, 1))
                }
                (Some(mine), Some(theirs @ Piece::Many { .. })) => {
                    next(row, 1) || (mine.takes(theirs) && next(after, 0))
                }
                (Some(mine), Some(theirs)) => mine.takes(theirs) && next(after, 1),
                (None, Some(_)) | (Some(_), None) => false,
            };
            if let Some(here) = row.get_mut(place) {
                *here = found;
            }
        }
    }
    rows.first().and_then(|row| row.first()) == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `*` crosses slashes, `+` does not, `?` is one character, and `%` stands for directories.
    fn pieces(text: &str) -> Vec<Piece> {
        let piece = |one: char| match one {
            '*' => vec![Piece::Many { crosses: true }],
            '+' => vec![Piece::Many { crosses: false }],
            '?' => vec![Piece::One { crosses: true }],
            '%' => Piece::DIRECTORIES.to_vec(),
            one => vec![Piece::Is(one)],
        };
        text.chars().flat_map(piece).collect()
    }

    #[test]
    fn patterns_meet_where_one_text_matches_both() {
        for (one, other, expected) in [
            ("", "", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("*.md", ".env", false),
            ("*.md", "a/b.md", true),
            ("+.md", "a/b.md", false),
            ("*", ".env", true),
            ("*.md", "%.env", false),
            ("src/*", "%.env", true),
            ("prod*.env", "%.env", true),
            ("prod+.env", "%.env", false),
            ("src/*.ts", "%secrets/*", true),
            ("src/+.ts", "%secrets/*", false),
            ("%x", "x", true),
            ("%x", "a/b/x", true),
            ("%x", "ax", false),
            ("%x", "%y/x", true),
            ("?env", ".env", true),
            ("a?b", "a/b", true),
            ("a+b", "a/b", false),
            ("+", "", true),
            ("*a", "b*", true),
            ("*a", "+b", false),
            ("s*", "secret/*", true),
        ] {
            assert_eq!(meet(&pieces(one), &pieces(other)), expected, "{one} {other}");
            assert_eq!(meet(&pieces(other), &pieces(one)), expected, "{other} {one}");
        }
    }
}

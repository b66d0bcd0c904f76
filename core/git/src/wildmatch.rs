//! Git's path patterns (`wildmatch.c` with `WM_PATHNAME`: only `**` matches a slash).

use crate::files::{Error, is_space};
use crate::steps::Steps;

/// How letters are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Sensitive,
    Insensitive,
}

impl Case {
    fn fold(self, byte: u8) -> u8 {
        match self {
            Self::Sensitive => byte,
            Self::Insensitive => byte.to_ascii_lowercase(),
        }
    }
}

/// The most stars in one pattern; each is a level of recursion.
const MAX_STARS: usize = 64;

/// Returns `true` if `pattern` matches all of `text`. Neither may contain a NUL.
///
/// # Errors
/// The pattern has more than 64 stars, or no steps are left: some patterns take exponentially many.
pub(crate) fn wildmatch(pattern: &[u8], text: &[u8], case: Case, steps: &Steps) -> Result<bool, Error> {
    steps.take(pattern.len())?;
    if pattern.iter().filter(|byte| **byte == b'*').count() > MAX_STARS {
        let pattern = String::from_utf8_lossy(pattern);
        return Err(Error::new(format!(
            "git's configuration includes a file on a pattern with more than {MAX_STARS} stars: `{pattern}`"
        )));
    }
    let matcher = Matcher { case, steps };
    Ok(matcher.walk(pattern, text)? == Outcome::Match)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Match,
    NoMatch,
    /// The text is too short for the pattern, whatever the stars before it match.
    AbortAll,
    /// A single star would have to match a slash.
    AbortToStarStar,
}

struct Matcher<'s> {
    case: Case,
    steps: &'s Steps,
}

impl Matcher<'_> {
    /// `dowild`. The end of the pattern and of the text reads as a NUL, as in C.
    fn walk(&self, pattern: &[u8], text: &[u8]) -> Result<Outcome, Error> {
        let (mut p, mut t) = (0, 0);
        loop {
            self.steps.take(1)?;
            let (given, letter) = (self.case.fold(at(pattern, p)), self.case.fold(at(text, t)));
            if given == 0 {
                let is_done = letter == 0;
                return Ok(if is_done { Outcome::Match } else { Outcome::NoMatch });
            }
            if letter == 0 && given != b'*' {
                return Ok(Outcome::AbortAll);
            }
            let matches = match given {
                b'*' => match self.star(pattern, &mut p, text, &mut t)? {
                    Some(outcome) => return Ok(outcome),
                    None => true,
                },
                b'[' => match self.class(pattern, &mut p, letter) {
                    Some(is_in) => is_in && letter != b'/',
                    None => return Ok(Outcome::AbortAll),
                },
                b'?' => letter != b'/',
                b'\\' => {
                    p += 1;
                    at(pattern, p) == letter
                }
                _ => given == letter,
            };
            if !matches {
                return Ok(Outcome::NoMatch);
            }
            p += 1;
            t += 1;
        }
    }

    /// Matches from the star at `p`. Returns the outcome of the whole pattern, or `None` if `p` and `t` have both reached
    /// the same slash.
    fn star(
        &self,
        pattern: &[u8],
        p: &mut usize,
        text: &[u8],
        t: &mut usize,
    ) -> Result<Option<Outcome>, Error> {
        *p += 1;
        let second = *p;
        while at(pattern, *p) == b'*' {
            *p += 1;
        }
        let is_double = *p > second;
        let is_after_slash = second < 2 || at(pattern, second - 2) == b'/';
        let is_before_slash = match at(pattern, *p) {
            0 | b'/' => true,
            b'\\' => at(pattern, *p + 1) == b'/',
            _ => false,
        };
        let passes_slash = is_double && is_after_slash && is_before_slash;
        let rest = |from: usize| text.get(from..).unwrap_or_default();
        let following = at(pattern, *p);
        if passes_slash && following == b'/' {
            let after = pattern.get(*p + 1..).unwrap_or_default();
            if self.walk(after, rest(*t))? == Outcome::Match {
                return Ok(Some(Outcome::Match));
            }
        }
        if following == 0 {
            let is_stopped = !passes_slash && rest(*t).contains(&b'/');
            return Ok(Some(if is_stopped {
                Outcome::AbortToStarStar
            } else {
                Outcome::Match
            }));
        }
        if !passes_slash && following == b'/' {
            let Some(slash) = rest(*t).iter().position(|byte| *byte == b'/') else {
                return Ok(Some(Outcome::AbortAll));
            };
            *t += slash;
            return Ok(None);
        }
        let after = pattern.get(*p..).unwrap_or_default();
        while at(text, *t) != 0 {
            if !matches!(following, b'*' | b'?' | b'[' | b'\\') {
                let case = self.case;
                let is_wanted = |byte: &u8| case.fold(*byte) == case.fold(following);
                let passed = rest(*t)
                    .iter()
                    .take_while(|byte| (passes_slash || **byte != b'/') && !is_wanted(byte))
                    .count();
                *t += passed;
                self.steps.take(passed)?;
                if !is_wanted(&at(text, *t)) {
                    return Ok(Some(if passes_slash {
                        Outcome::AbortAll
                    } else {
                        Outcome::AbortToStarStar
                    }));
                }
            }
            match self.walk(after, rest(*t))? {
                Outcome::NoMatch if !passes_slash && at(text, *t) == b'/' => {
                    return Ok(Some(Outcome::AbortToStarStar));
                }
                Outcome::NoMatch => {}
                Outcome::AbortToStarStar if passes_slash => {}
                outcome => return Ok(Some(outcome)),
            }
            *t += 1;
        }
        Ok(Some(Outcome::AbortAll))
    }

    /// Returns `true` if the set in brackets at `p` contains `letter`, and moves `p` to the closing bracket. `None` if
    /// that is missing.
    fn class(&self, pattern: &[u8], p: &mut usize, letter: u8) -> Option<bool> {
        *p += 1;
        let is_negated = matches!(at(pattern, *p), b'!' | b'^');
        if is_negated {
            *p += 1;
        }
        let mut is_in = false;
        let mut before = 0;
        let mut byte = at(pattern, *p);
        loop {
            match byte {
                0 => return None,
                b'\\' => {
                    *p += 1;
                    byte = at(pattern, *p);
                    if byte == 0 {
                        return None;
                    }
                    is_in |= letter == byte;
                }
                b'-' if before != 0 && !matches!(at(pattern, *p + 1), 0 | b']') => {
                    *p += 1;
                    let mut last = at(pattern, *p);
                    if last == b'\\' {
                        *p += 1;
                        last = at(pattern, *p);
                        if last == 0 {
                            return None;
                        }
                    }
                    let range = before..=last;
                    is_in |= range.contains(&letter);
                    is_in |= self.case == Case::Insensitive
                        && letter.is_ascii_lowercase()
                        && range.contains(&letter.to_ascii_uppercase());
                    byte = 0;
                }
                b'[' if at(pattern, *p + 1) == b':' => {
                    let start = *p + 2;
                    let name = pattern.get(start..).unwrap_or_default();
                    let length = name.iter().position(|byte| *byte == b']')?;
                    match name.get(..length).and_then(|name| name.strip_suffix(b":")) {
                        Some(name) => {
                            is_in |= self.is_of_class(name, letter)?;
                            *p = start + length;
                            byte = 0;
                        }
                        // Without `:]` the bracket is an ordinary member of the set.
                        None => is_in |= letter == b'[',
                    }
                }
                _ => is_in |= letter == byte,
            }
            before = byte;
            *p += 1;
            byte = at(pattern, *p);
            if byte == b']' {
                return Some(is_in != is_negated);
            }
        }
    }

    fn is_of_class(&self, name: &[u8], letter: u8) -> Option<bool> {
        Some(match name {
            b"alnum" => letter.is_ascii_alphanumeric(),
            b"alpha" => letter.is_ascii_alphabetic(),
            b"blank" => matches!(letter, b' ' | b'\t'),
            b"cntrl" => letter.is_ascii_control(),
            b"digit" => letter.is_ascii_digit(),
            b"graph" => letter.is_ascii_graphic(),
            b"lower" => letter.is_ascii_lowercase(),
            b"print" => letter.is_ascii_graphic() || letter == b' ',
            b"punct" => letter.is_ascii_punctuation(),
            b"space" => is_space(letter),
            b"upper" => {
                letter.is_ascii_uppercase() || (self.case == Case::Insensitive && letter.is_ascii_lowercase())
            }
            b"xdigit" => letter.is_ascii_hexdigit(),
            _ => return None,
        })
    }
}

fn at(text: &[u8], index: usize) -> u8 {
    text.get(index).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;

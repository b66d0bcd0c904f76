//! A moment, which only the caller can know.

/// Milliseconds since the beginning of 1970 in UTC, leap seconds not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i64);

impl Moment {
    /// The moment that is this many milliseconds after the beginning of 1970.
    pub fn from_millis(milliseconds: i64) -> Self {
        Self(milliseconds)
    }

    /// Milliseconds since the beginning of 1970.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// Reads a date with a time and an offset ([RFC 3339](https://www.rfc-editor.org/rfc/rfc3339#section-5.6)), as in
    /// `2026-03-01T12:00:00Z`. What is below a millisecond is cut off.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = Digits(text);
        let year = rest.number(4, 0, 9999)?;
        rest.literal(&["-"])?;
        let month = rest.number(2, 1, 12)?;
        rest.literal(&["-"])?;
        let day = rest.number(2, 1, days_of(year, month))?;
        rest.literal(&["T", "t"])?;
        let hour = rest.number(2, 0, 23)?;
        rest.literal(&[":"])?;
        let minute = rest.number(2, 0, 59)?;
        rest.literal(&[":"])?;
        // A leap second counts as the one that follows.
        let second = rest.number(2, 0, 60)?;
        let milliseconds = rest.fraction()?;
        let offset = match rest.literal(&["Z", "z"]) {
            Some(_) => 0,
            None => rest.offset()?,
        };
        if !rest.0.is_empty() {
            return None;
        }
        let minutes = (days_before(year, month, day) * 24 + hour) * 60 + minute - offset;
        Some(Self((minutes * 60 + second) * 1000 + milliseconds))
    }
}

/// Text that is read from its beginning.
struct Digits<'t>(&'t str);

impl<'t> Digits<'t> {
    /// One of these texts.
    fn literal(&mut self, wanted: &[&str]) -> Option<&'t str> {
        let found = wanted.iter().find_map(|one| self.0.strip_prefix(*one))?;
        let taken = self.0.len() - found.len();
        let text = self.0.get(..taken);
        self.0 = found;
        text
    }

    /// So many digits, which give a number between two others.
    fn number(&mut self, digits: usize, least: i64, most: i64) -> Option<i64> {
        let (text, rest) = self.0.split_at_checked(digits)?;
        let number: i64 = match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().ok()?,
            false => return None,
        };
        self.0 = rest;
        (least..=most).contains(&number).then_some(number)
    }

    /// Milliseconds, which may be left out.
    fn fraction(&mut self) -> Option<i64> {
        if self.literal(&["."]).is_none() {
            return Some(0);
        }
        let end = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(end)?;
        self.0 = rest;
        let three = digits.bytes().chain(*b"000").take(3);
        let milliseconds = three.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        (!digits.is_empty()).then_some(milliseconds)
    }

    /// Minutes by which the clock is ahead of UTC.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.literal(&["+", "-"])? {
            "-" => -1,
            _ => 1,
        };
        let hours = self.number(2, 0, 23)?;
        self.literal(&[":"])?;
        Some(sign * (hours * 60 + self.number(2, 0, 59)?))
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since the beginning of 1970, negative for days before.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let leap_days = |year: i64| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let years = 365 * (year - 1970) + leap_days(year - 1) - leap_days(1969);
    let months: i64 = (1..month).map(|month| days_of(year, month)).sum();
    years + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_with_a_time_and_an_offset_is_a_moment() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.001Z", 1),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T12:00:00Z", 951_825_600_000),
            ("2026-03-01T12:34:56.789Z", 1_772_368_496_789),
            ("2026-03-01T12:34:56.7899999Z", 1_772_368_496_789),
            ("2026-03-01t14:34:56.789+02:00", 1_772_368_496_789),
            ("2026-03-01T07:04:56.7-05:30", 1_772_368_496_700),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ] {
            assert_eq!(
                Moment::parse(text).map(Moment::as_millis),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_else_is_a_moment() {
        for text in [
            "",
            "now",
            "2026-03-01",
            "2026-03-01T12:00Z",
            "2026-03-01T12:00:00",
            "2026-03-01T12:00:00.Z",
            "2026-03-01T12:00:00Z ",
            "2026-03-01 12:00:00Z",
            "2026-13-01T12:00:00Z",
            "2026-02-29T12:00:00Z",
            "2026-03-01T24:00:00Z",
            "2026-03-01T12:00:61Z",
            "2026-03-01T12:00:00+1:00",
            "+026-03-01T12:00:00Z",
            "2026-03-01T12:00:00é",
            "１970-01-01T00:00:00Z",
        ] {
            assert_eq!(Moment::parse(text), None, "{text:?}");
        }
    }
}

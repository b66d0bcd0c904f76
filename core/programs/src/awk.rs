//! Programs of `awk`, by the rules for tokens of
//! <https://pubs.opengroup.org/onlinepubs/9699919799/utilities/awk.html#tag_20_06_13_17>.

use super::sed::divided;

/// Returns `true` if the program only reads its input and prints: nothing in it runs, reads or writes anything else.
///
/// What one `awk` may read in another way than the next is not plain, such as a `/` that may divide or begin a pattern.
pub(super) fn is_plain(text: &str) -> bool {
    let mut reader = Reader {
        rest: text,
        before: Before::Operator,
        open: Vec::new(),
        takes_condition: false,
        print: None,
    };
    while !reader.rest.is_empty() {
        if reader.token().is_none() {
            return false;
        }
    }
    true
}

/// What stands before a token, which tells what `/` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A value, which it divides.
    Value,
    /// Something after which a value stands, so that a pattern begins.
    Operator,
    /// Either may be meant.
    Unclear,
}

struct Reader<'t> {
    rest: &'t str,
    before: Before,
    /// The parentheses that are open; `true` for those of a condition, after which a statement stands.
    open: Vec<bool>,
    /// The next parenthesis is that of a condition.
    takes_condition: bool,
    /// Within `print`: how many parentheses were open before it. Outside of further ones `>` writes, and elsewhere it compares.
    print: Option<usize>,
}

impl Reader<'_> {
    /// Reads a token. `None` if it is not plain.
    fn token(&mut self) -> Option<()> {
        let one = self.rest.chars().next()?;
        let takes_condition = std::mem::take(&mut self.takes_condition);
        let after = self.rest.get(one.len_utf8()..)?;
        match one {
            ' ' | '\t' => {
                self.takes_condition = takes_condition;
                self.rest = after;
                return Some(());
            }
            '#' => return self.comment(),
            'a'..='z' | 'A'..='Z' | '_' => return self.word(),
            '0'..='9' | '.' => return self.number(),
            '"' => {
                self.rest = string(after)?;
                self.before = Before::Value;
                return Some(());
            }
            '/' => {
                (self.rest, self.before) = match self.before {
                    // Before `=` gawk may begin a pattern here as well.
                    Before::Value if after.starts_with('=') => return None,
                    Before::Value => (after, Before::Operator),
                    Before::Operator => (divided(after, '/', true)?, Before::Unclear),
                    Before::Unclear => return None,
                };
                return Some(());
            }
            '\n' => {
                if self.before != Before::Operator {
                    self.end_statement();
                }
                self.before = Before::Operator;
            }
            ';' | '{' | '}' => {
                self.end_statement();
                self.before = Before::Operator;
            }
            '(' => {
                self.open.push(takes_condition);
                self.before = Before::Operator;
            }
            ')' => {
                let is_condition = self.open.pop()?;
                self.before = if is_condition {
                    Before::Unclear
                } else {
                    Before::Value
                };
            }
            ']' => self.before = Before::Value,
            '$' => self.before = Before::Unclear,
            '+' | '-' if after.starts_with(one) => {
                self.rest = after.get(1..)?;
                self.before = Before::Unclear;
                return Some(());
            }
            '|' => {
                self.rest = after.strip_prefix('|')?;
                self.before = Before::Operator;
                return Some(());
            }
            '>' => {
                let writes = self.print.is_some_and(|before| self.open.len() <= before);
                if writes || after.starts_with('>') {
                    return None;
                }
                self.before = Before::Operator;
            }
            '[' | '<' | '=' | '!' | '~' | '&' | '?' | ':' | ',' | '+' | '-' | '*' | '%' | '^' => {
                self.before = Before::Operator;
            }
            // `@` calls what a variable names, and a line may go on after `\`.
            _ => return None,
        }
        self.rest = after;
        Some(())
    }

    fn end_statement(&mut self) {
        if self.print == Some(self.open.len()) {
            self.print = None;
        }
    }

    fn comment(&mut self) -> Option<()> {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let (comment, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        // To some it goes on then.
        (!comment.ends_with('\\')).then_some(())
    }

    fn number(&mut self) -> Option<()> {
        self.rest = self
            .rest
            .trim_start_matches(|one: char| one.is_ascii_digit() || one == '.');
        self.before = Before::Value;
        // A letter may belong to it, or begin a word.
        (!self.rest.starts_with(is_in_word)).then_some(())
    }

    fn word(&mut self) -> Option<()> {
        let end = self.rest.find(|one| !is_in_word(one)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        self.before = match word {
            // `ARGV` names the files that are read, and the tables of gawk name variables and functions by their values.
            "system" | "getline" | "ENVIRON" | "ARGV" | "ARGC" | "ARGIND" | "SYMTAB" | "FUNCTAB"
            | "PROCINFO" => return None,
            "print" | "printf" => {
                self.print = Some(self.open.len());
                Before::Operator
            }
            "return" | "exit" | "else" | "do" => Before::Operator,
            "if" | "while" | "for" | "switch" => {
                self.takes_condition = true;
                Before::Unclear
            }
            // Not every `awk` knows `case`.
            "in" | "length" | "case" => Before::Unclear,
            _ => Before::Value,
        };
        Some(())
    }
}

fn is_in_word(one: char) -> bool {
    one.is_ascii_alphanumeric() || one == '_'
}

/// What follows a string.
fn string(text: &str) -> Option<&str> {
    let mut rest = text.char_indices();
    while let Some((at, one)) = rest.next() {
        match one {
            '"' => return text.get(at + 1..),
            '\\' if rest.next()?.1 != '\n' => {}
            '\\' | '\n' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn comparisons_and_patterns_are_plain() {
        for text in [
            "{print $2}",
            "NR > 1",
            "$3 >= 10 && $4 > 5 {print $1 \"|\" $2}",
            "length($0) > 80",
            "{ if ($3 > 5) print $1; else print $2 }",
            "{ print ($1 > $2) }",
            "{ print ($1 > 2) ? \"a\" : \"b\" }",
            "/a|b\\.js\\/c/ { n++ } END { print n }",
            "/=/",
            "/[[:space:]]>$/",
            "$0 ~ /system|getline/ { print \"system > getline\" }",
            "{ s += $1 } END { print s / NR, (s + 1) / 2 }",
            "BEGIN { FS = \"\\t\" } # > and /\n{ print; n = n > 1 ? n : 1 }",
            "{ print $1,\n $2\n}\n$3 > 4",
            "!seen[$0]++",
            "{ a[$1] = $2 } END { for (k in a) if (a[k] > 1) print k }",
            "/start/,/end/",
            "{ gsub(/x/, \"y\"); print }",
            "{ printf \"%s\\n\", $1 }",
            "function f(x) { return x > 1 } { print f($1) }",
        ] {
            assert!(is_plain(text), "{text}");
        }
    }

    #[test]
    fn what_writes_runs_or_is_read_in_two_ways_is_not() {
        for text in [
            "{ print > \"f\" }",
            "{ print $1 > \"f\" }",
            "{ print($1) > \"f\" }",
            "{ printf(\"%s\", $1) >> \"f\" }",
            "{ print $1,\n $2 > \"f\" }",
            "{ print ($1\n) > \"f\" }",
            "{ print a[$1 > 2] }",
            "{ print | \"sh\" }",
            "{ \"id\" | getline x }",
            "{ system(\"id\") }",
            "{ x = 1e5system(\"id\") }",
            "BEGIN { while ((getline line < \"f\") > 0) print line }",
            "BEGIN { print ENVIRON[\"A\"] }",
            "BEGIN { ARGV[1] = \"/etc/passwd\" }",
            "BEGIN { f = \"system\"; @f(\"id\") }",
            "@load \"filefuncs\"",
            // A quote in a pattern, or a string that holds the end of one.
            "{ if (1) /\"/; print \"x\" > \"f\" #\"\n }",
            "{ x++ /\"/; print > \"f\" #\"/\n }",
            "{ x = length /\"/; print > \"f\" #\"/\n }",
            "/[/]\"/ { print > \"f\" } #\"/",
            "{ (1) /=/; print > \"f\" #\"/\n }",
            "{ case /=\"/; print > \"f\" #\"\n }",
            "{ x = \"a\n",
            "# \\\n{ print }",
            "{ print \\\n > \"f\" }",
            "{ print } \u{e9}",
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }
}

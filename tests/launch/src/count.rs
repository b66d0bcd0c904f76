//! How many tests passed and failed, and what is said of those that failed, read from what their runners print.

use std::collections::VecDeque;

/// How many tests of a step passed and failed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Count {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Count {
    /// Something that counts as one test.
    pub(crate) fn one(passed: bool) -> Self {
        Self {
            passed: usize::from(passed),
            failed: usize::from(!passed),
        }
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.passed += more.passed;
        self.failed += more.failed;
    }
}

/// The counts of tests in a line: cargo's `test result: …`, node's `# pass N` and `# fail N`, or `N passed, N failed`.
pub(crate) fn read_count(line: &str) -> Option<Count> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let line = line.trim().trim_start_matches("ℹ ").trim_start_matches("# ");
    if let Some(passed) = line.strip_prefix("pass ").and_then(number) {
        return Some(Count { passed, failed: 0 });
    }
    if let Some(failed) = line.strip_prefix("fail ").and_then(number) {
        return Some(Count { passed: 0, failed });
    }
    let counts = line
        .strip_prefix("test result: ")
        .map_or(Some(line), |rest| Some(rest.split_once(". ")?.1))?;
    let mut parts = counts.split([';', ',']);
    let passed = number(parts.next()?.trim().strip_suffix(" passed")?)?;
    let failed = number(parts.next()?.trim().strip_suffix(" failed")?)?;
    Some(Count { passed, failed })
}

/// How many lines are kept of one failure, its first included.
const LINES_OF_ONE: usize = 12;
/// How many lines are kept of all failures of a step.
const LINES_OF_ALL: usize = 60;
/// How many characters of a line are kept.
const WIDTH: usize = 300;

/// The lines in which a step says what failed, so that the end of the suite can tell them again.
#[derive(Default)]
pub(crate) struct Failures {
    lines: Vec<String>,
    /// How many more lines belong to the failure that was met last.
    open: usize,
    /// The lines that came last.
    last: VecDeque<String>,
}

impl Failures {
    /// Reads the next line of what the step prints.
    pub(crate) fn read(&mut self, mut line: String) {
        if is_failure(&line) {
            self.open = LINES_OF_ONE;
        }
        if let Some((end, _)) = line.char_indices().nth(WIDTH) {
            line.truncate(end);
        }
        if self.open > 0 && self.lines.len() < LINES_OF_ALL {
            self.open -= 1;
            self.lines.push(line.clone());
        }
        if self.last.len() == LINES_OF_ONE {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// The lines that the step said of its failures; if there are none, its last lines and how the program ended.
    pub(crate) fn explain(self, program: &str, end: &str) -> Vec<String> {
        let mut lines = self.lines;
        if lines.is_empty() {
            lines.extend(self.last);
            lines.push(format!("{program}: {end}"));
        }
        lines
    }
}

/// Returns `true` if a line begins a failure: a panic as cargo shows it, node's `not ok`, the error of a compiler or of a check
/// of types, or a case of the conformance tests.
fn is_failure(line: &str) -> bool {
    let line = line.trim();
    (line.starts_with("---- ") && line.ends_with(" stdout ----"))
        || ["not ok ", "error: ", "error[", r#"{"subject":"#]
            .iter()
            .any(|begin| line.starts_with(begin))
        || line.contains(": error TS")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(lines: &[&str], more: usize) -> Vec<String> {
        let mut failures = Failures::default();
        for line in lines.iter().chain(std::iter::repeat_n(&"ok", more)) {
            failures.read((*line).to_owned());
        }
        failures.explain("node", "exit status: 1")
    }

    #[test]
    fn a_failure_is_kept_with_the_lines_after_it() {
        let lines = ["ok 1 - one", "    not ok 2 - two", "      error: 'no'", "..."];
        assert_eq!(explained(&lines, 0), lines[1..]);
        assert_eq!(explained(&lines, LINES_OF_ONE).len(), 1 + LINES_OF_ONE);
        let many = ["error: again"; 2 * LINES_OF_ALL];
        assert_eq!(explained(&many, 0).len(), LINES_OF_ALL);
        let long = "error: ".repeat(WIDTH);
        assert_eq!(explained(&[&long], 0), [&long[..WIDTH]]);
    }

    #[test]
    fn a_failure_without_words_is_explained_by_what_came_last() {
        let lines = explained(&["one", "two"], 0);
        assert_eq!(lines, ["one", "two", "node: exit status: 1"]);
        assert_eq!(explained(&["one"], 2 * LINES_OF_ONE).len(), LINES_OF_ONE + 1);
    }

    #[test]
    fn what_every_runner_says_of_a_failure_is_known() {
        for line in [
            "---- paths::tests::dots stdout ----",
            "not ok 3 - a page",
            "error: unused variable: `a`",
            "error[E0425]: cannot find value `a` in this scope",
            "src/page.ts(3,4): error TS2304: Cannot find name 'a'.",
            r#"{"subject":"native","place":"cases.jsonl:3"}"#,
        ] {
            assert!(is_failure(line), "{line}");
        }
        for line in [
            "test paths::tests::dots ... ok",
            "ok 3 - not ok",
            "# fail 0",
            "no error: fine",
        ] {
            assert!(!is_failure(line), "{line}");
        }
    }

    #[test]
    fn the_closing_lines_of_every_runner_are_read() {
        for (line, expected) in [
            (
                "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out",
                Some((12, 0)),
            ),
            ("test result: FAILED. 1 passed; 2 failed; 0 ignored", Some((1, 2))),
            ("11889 passed, 0 failed", Some((11889, 0))),
            ("# pass 7", Some((7, 0))),
            ("ℹ fail 2", Some((0, 2))),
            ("native cases.jsonl   664 passed    40 failed", None),
            ("running 3 tests", None),
        ] {
            let count = read_count(line).map(|count| (count.passed, count.failed));
            assert_eq!(count, expected, "{line}");
        }
    }
}

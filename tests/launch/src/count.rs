//! How many tests passed and failed, read from what their runners print.

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

#[cfg(test)]
mod tests {
    use super::*;

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

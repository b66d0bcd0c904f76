//! Every check and every test of the project, one after the other: `cargo suite`.
//!
//! It needs rustup's toolchain and Node, and installs everything else; `tests/launch`, which starts it, installs the
//! compiler's target for WebAssembly. Each step prints as it runs. A table of all steps follows, and the last line is
//! `N passed, N failed`. A step that does not count tests counts as one.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// How many tests of a step passed and failed.
#[derive(Clone, Copy, Default)]
struct Count {
    passed: usize,
    failed: usize,
}

/// One command, and the folder that it runs in.
struct Step {
    name: &'static str,
    folder: &'static str,
    command: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

const fn step(name: &'static str, command: &'static [&'static str]) -> Step {
    Step {
        name,
        folder: ".",
        command,
        environment: &[],
    }
}

const fn in_js(name: &'static str, command: &'static [&'static str]) -> Step {
    Step {
        name,
        folder: "js",
        command,
        environment: &[],
    }
}

const CHECKS: &[Step] = &[
    step("formatting", &["cargo", "fmt", "--all", "--check"]),
    step(
        "lints",
        &[
            "cargo",
            "clippy",
            "--workspace",
            "--all-targets",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ],
    ),
    // The faces exclude each other, so the lints of the workspace leave them out.
    step(
        "lints of the js face",
        &[
            "cargo",
            "clippy",
            "--quiet",
            "-p",
            "callgate-wasm",
            "--features",
            "js",
            "--target",
            "wasm32-unknown-unknown",
            "--",
            "-D",
            "warnings",
        ],
    ),
    step(
        "lints of the component",
        &[
            "cargo",
            "clippy",
            "--quiet",
            "-p",
            "callgate-wasm",
            "--features",
            "component",
            "--target",
            "wasm32-unknown-unknown",
            "--",
            "-D",
            "warnings",
        ],
    ),
    step(
        "core for wasm32",
        &[
            "cargo",
            "check",
            "--quiet",
            "-p",
            "callgate-core",
            "--target",
            "wasm32-unknown-unknown",
        ],
    ),
];

const TESTS: &[Step] = &[
    step("tests", &["cargo", "test", "--workspace", "--no-fail-fast"]),
    Step {
        name: "documentation",
        folder: ".",
        command: &["cargo", "doc", "--workspace", "--no-deps", "--quiet"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

const FUZZ: Step = step(
    "fuzzing",
    &[
        "cargo",
        "run",
        "--quiet",
        "--package",
        "conformance",
        "--bin",
        "fuzz",
    ],
);

/// Comes before the tests in Rust, one of which compares the package with the real host.
const JS_BUILD: &[Step] = &[
    in_js("npm packages", &["npm", "ci", "--no-audit", "--no-fund"]),
    in_js("npm build", &["npm", "run", "build"]),
];

const JS: &[Step] = &[
    in_js("TypeScript lints", &["npm", "run", "lint"]),
    in_js("TypeScript documentation", &["npm", "run", "docs"]),
    in_js("Chromium", &["node", "test/tools/chromium.mjs"]),
    in_js("npm tests", &["npm", "test"]),
    in_js("MCP servers", &["npm", "run", "test:servers"]),
];

const CONFORMANCE: Step = step(
    "conformance",
    &[
        "cargo",
        "run",
        "--quiet",
        "--package",
        "conformance",
        "--bin",
        "conformance",
    ],
);

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut steps: Vec<&Step> = CHECKS.iter().collect();
    steps.extend(JS_BUILD);
    steps.extend(TESTS);
    steps.push(&FUZZ);
    steps.extend(JS);
    steps.push(&CONFORMANCE);
    let mut table = Vec::new();
    let mut total = Count::default();
    for step in steps {
        println!("\n== {} ({})", step.name, step.command.join(" "));
        let count = run(step, &root);
        total.passed += count.passed;
        total.failed += count.failed;
        table.push((step.name, count));
    }
    println!();
    for (name, count) in table {
        println!("{name:<26}{:>7} passed {:>5} failed", count.passed, count.failed);
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    if total.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs a step and shows its output. A command that fails without a failed test counts as one failure.
fn run(step: &Step, root: &Path) -> Count {
    let folder: PathBuf = root.join(step.folder);
    let Some((program, arguments)) = step.command.split_first() else {
        return Count::default();
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .envs(step.environment.iter().copied());
    let mut child = match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            println!("{program}: {error}");
            return Count { passed: 0, failed: 1 };
        }
    };
    let mut count = Count::default();
    let mut counted = false;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            println!("{line}");
            if let Some(more) = read_count(&line) {
                count.passed += more.passed;
                count.failed += more.failed;
                counted = true;
            }
        }
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    if !counted {
        return Count {
            passed: usize::from(succeeded),
            failed: usize::from(!succeeded),
        };
    }
    if !succeeded {
        count.failed = count.failed.max(1);
    }
    count
}

/// The counts of tests in a line: cargo's `test result: …`, node's `# pass N` and `# fail N`, or `N passed, N failed`.
fn read_count(line: &str) -> Option<Count> {
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

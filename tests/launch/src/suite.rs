//! `cargo suite`: every check and every test, one after the other.
//!
//! It needs rustup's toolchain and Node, and installs what it may of everything else. Each step prints as it runs. A table
//! of all steps follows, and the last line is `N passed, N failed`. A step that does not count tests counts as one.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::build::{self, Hosts, root};
use crate::count::{Count, read_count};
use crate::needs::{self, Purpose};
use crate::package::{self, COMPONENT, PACKAGE};
use crate::pulse::{Pulse, spoken};

/// The steps, in the order of the suite.
enum Step {
    /// Runs a command in a folder.
    Command {
        name: &'static str,
        folder: &'static str,
        command: &'static [&'static str],
        environment: &'static [(&'static str, &'static str)],
    },
    /// Builds a program of the workspace and runs it.
    Program {
        name: &'static str,
        program: &'static str,
    },
    /// Fetches npm's packages.
    Packages,
    /// Builds the npm package, and the component for JavaScript.
    Package,
}

const fn step(name: &'static str, command: &'static [&'static str]) -> Step {
    Step::Command {
        name,
        folder: ".",
        command,
        environment: &[],
    }
}

/// The lints of `callgate-host` with only this feature. They generate no code, so they are cheap.
macro_rules! library {
    ($name:literal, $feature:literal) => {
        step(
            $name,
            &[
                "cargo",
                "clippy",
                "--package",
                "callgate-host",
                "--no-default-features",
                "--features",
                $feature,
                "--",
                "-D",
                "warnings",
            ],
        )
    };
}

const fn in_js(name: &'static str, command: &'static [&'static str]) -> Step {
    Step::Command {
        name,
        folder: "js",
        command,
        environment: &[],
    }
}

const fn program(name: &'static str, program: &'static str) -> Step {
    Step::Program { name, program }
}

const STEPS: &[Step] = &[
    step("formatting", &["cargo", "fmt", "--all", "--check"]),
    step(
        "lints",
        &[
            "cargo",
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    ),
    // Who embeds the library chooses its features; the lints of the workspace have all of them.
    library!("lints of the library alone", ""),
    library!("lints of the library with the command", "command"),
    library!("lints of the library with the component", "component"),
    library!("lints of the library with MCP", "mcp"),
    library!("lints of the library with the guard", "guard"),
    library!("lints of the library with HTTP", "http"),
    library!("lints of the library with telemetry", "otel"),
    // The faces exclude each other, so the lints of the workspace leave them out.
    step(
        "lints of the js face",
        &[
            "cargo",
            "clippy",
            "--package",
            "callgate-wasm",
            "--features",
            "js",
            "--target",
            needs::TARGET,
            "--",
            "-D",
            "warnings",
        ],
    ),
    step(
        "lints of the analysis face",
        &[
            "cargo",
            "clippy",
            "--package",
            "callgate-wasm",
            "--features",
            "analysis",
            "--target",
            needs::TARGET,
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
            "--package",
            "callgate-wasm",
            "--features",
            "component",
            "--target",
            needs::TARGET,
            "--",
            "-D",
            "warnings",
        ],
    ),
    step(
        "cases of ceilings",
        &["node", "tests/ceilings/generate.mjs", "--check"],
    ),
    // One of the tests in Rust compares the package with the real host, so the package comes before them.
    Step::Packages,
    Step::Package,
    step("tests", &["cargo", "test", "--workspace", "--no-fail-fast"]),
    step(
        "schemas",
        &[
            "cargo",
            "test",
            "--locked",
            "--manifest-path",
            "tests/schemas/Cargo.toml",
        ],
    ),
    Step::Command {
        name: "documentation",
        folder: ".",
        command: &["cargo", "doc", "--workspace", "--no-deps"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    program("fuzzing", "fuzz"),
    in_js("TypeScript lints", &["npm", "run", "lint"]),
    in_js("TypeScript documentation", &["npm", "run", "docs"]),
    in_js("Chromium", &["node", "test/tools/chromium.mjs"]),
    // One of them compares the package's command with the one that the tests in Rust built.
    in_js("npm tests", &["npm", "test"]),
    in_js("playground", &["npm", "run", "test:playground"]),
    in_js("MCP servers", &["npm", "run", "test:servers"]),
    program("conformance", "conformance"),
    // With other features the command is another one, in the same place: the tests in JavaScript run the usual one.
    step(
        "telemetry",
        &[
            "cargo",
            "test",
            "--package",
            "callgate-host",
            "--no-default-features",
            "--features",
            "command,otel",
            "--test",
            "command",
            "telemetry",
        ],
    ),
];

/// Runs every step. Fails if a test of any of them does.
pub(crate) fn suite() -> Result<ExitCode, String> {
    needs::meet(Purpose::Suite)?;
    let begin = Instant::now();
    let mut table = Vec::new();
    for step in STEPS {
        println!("\n== {}", step.title());
        let begin = Instant::now();
        let pulse = Pulse::start(step.name());
        let count = step.run();
        drop(pulse);
        table.push((step.name(), count, begin.elapsed()));
    }
    println!();
    let mut total = Count::default();
    for (name, count, time) in table {
        let Count { passed, failed } = count;
        println!(
            "{name:<26}{passed:>7} passed {failed:>5} failed {:>14}",
            spoken(time)
        );
        total.add(count);
    }
    println!("all steps together: {}", spoken(begin.elapsed()));
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(match total.failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Self::Command { name, .. } | Self::Program { name, .. } => name,
            Self::Packages => "npm packages",
            Self::Package => "npm build",
        }
    }

    fn title(&self) -> String {
        let name = self.name();
        match self {
            Self::Command { command, .. } => format!("{name} ({})", command.join(" ")),
            Self::Program { program, .. } => format!("{name} ({program})"),
            Self::Packages | Self::Package => name.to_owned(),
        }
    }

    fn run(&self) -> Count {
        let done = match self {
            Self::Command {
                folder,
                command,
                environment,
                ..
            } => {
                let Some((program, arguments)) = command.split_first() else {
                    return Count::one(false);
                };
                let mut command = Command::new(program);
                command
                    .args(arguments)
                    .current_dir(root().join(folder))
                    .envs(environment.iter().copied());
                return counted(&mut command);
            }
            Self::Program { program, .. } => match build::program(program.as_ref(), Hosts::All, false) {
                Ok(path) => return counted(Command::new(path).current_dir(root())),
                Err(error) => Err(error),
            },
            Self::Packages => package::install(false),
            Self::Package => package::packer(Hosts::All, false).and_then(|packer| {
                PACKAGE.build(&packer, false)?;
                COMPONENT.build(&packer, false)
            }),
        };
        if let Err(error) = &done {
            println!("{error}");
        }
        Count::one(done.is_ok())
    }
}

/// Runs a command and shows its output. If it fails without a failed test, that counts as one failure.
fn counted(command: &mut Command) -> Count {
    let mut child = match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            println!("{}: {error}", command.get_program().display());
            return Count::one(false);
        }
    };
    let mut count = None;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            println!("{line}");
            if let Some(more) = read_count(&line) {
                count.get_or_insert_with(Count::default).add(more);
            }
        }
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    let mut count = count.unwrap_or_else(|| Count::one(succeeded));
    if !succeeded {
        count.failed = count.failed.max(1);
    }
    count
}

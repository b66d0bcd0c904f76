//! `cargo suite`: every check and every test.
//!
//! It needs rustup's toolchain and Node, and installs what it may of everything else. A step prints as it runs, or, where several
//! run side by side, one of them as it runs and the others when they have ended. A table of all steps follows, then what
//! was said of each failure, and the last line is `N passed, N failed`. A step that does not count tests counts as one.

use std::env;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::build::{self, root};
use crate::clock::Clock;
use crate::count::{Count, Failures, read_count};
use crate::needs::{self, Purpose};
use crate::package::{self, COMPONENT, PACKAGE};
use crate::release::{self, RELEASE};
use crate::show::spoken;

/// A check, or tests.
enum Step {
    /// Runs a command in a folder.
    Command {
        name: &'static str,
        folder: &'static str,
        command: &'static [&'static str],
        environment: &'static [(&'static str, &'static str)],
    },
    /// Runs a program that was built with the tests in Rust.
    Program {
        name: &'static str,
        program: &'static str,
        arguments: &'static [&'static str],
    },
    /// Fuzzes, in a process of its own whose output can be read.
    Fuzzing,
    /// Fetches npm's packages, and builds what packs the faces.
    Packages,
    /// Builds the npm package, and the component for JavaScript.
    Package,
    /// Builds the filter for proxies.
    Filter,
}

const fn step(name: &'static str, command: &'static [&'static str]) -> Step {
    Step::Command {
        name,
        folder: ".",
        command,
        environment: &[],
    }
}

/// The lints of the libraries with only these features. All packages are selected that do not ask for other features of it, and
/// the crates that wasmtime shares with others, so that cargo chooses the same features for most crates from outside as it did
/// for the lints of the workspace, and what is checked anew is ours.
macro_rules! library {
    ($name:literal, $features:literal) => {
        step(
            $name,
            &[
                "cargo",
                "clippy",
                "--workspace",
                "--exclude",
                "callgate",
                "--exclude",
                "schemas",
                "--lib",
                "--no-default-features",
                "--features",
                concat!("conformance/shared,", $features),
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

const fn program(name: &'static str, program: &'static str, arguments: &'static [&'static str]) -> Step {
    Step::Program {
        name,
        program,
        arguments,
    }
}

const PREPARATION: &[Step] = &[
    step("formatting", &["cargo", "fmt", "--all", "--check"]),
    step(
        "cases of ceilings",
        &["node", "tests/ceilings/generate.mjs", "--check"],
    ),
    // The tests run lines in dash, bash and zsh, and programs of awk in each of these.
    in_js(
        "shells and awks",
        &[
            "node",
            "test/tools/debian.mjs",
            "zsh",
            "gawk",
            "mawk",
            "original-awk",
            "busybox",
        ],
    ),
    Step::Packages,
];

/// Everything that tests run.
const PROGRAMS: &[Step] = &[
    // All of them: cargo then replaces no program while another one runs it. The js face has tests that need no JavaScript.
    step(
        "programs of the tests",
        &[
            "cargo",
            "test",
            "--workspace",
            "--features",
            "callgate-wasm/js,callgate/otel,callgate/serve,conformance/component",
            "--no-run",
        ],
    ),
];

/// They build in profiles and folders of their own. One of the tests in Rust compares the package with the real host.
const PACKAGES: &[Step] = &[
    Step::Package,
    Step::Filter,
    in_js("TypeScript lints", &["npm", "run", "lint"]),
    in_js("TypeScript documentation", &["npm", "run", "docs"]),
    in_js(
        "programs of Debian's",
        &["node", "test/tools/debian.mjs", "chromium", "registry", "qemu"],
    ),
    // It builds in folders of its own.
    program("artifacts", RELEASE, &["--draft"]),
];

/// Cargo looks at everything before the first test runs, and builds nothing then.
const TESTS: &[Step] = &[
    step(
        "tests",
        &[
            "cargo",
            "test",
            "--workspace",
            "--features",
            "callgate-wasm/js,callgate/otel,callgate/serve,conformance/component",
            "--no-fail-fast",
        ],
    ),
    Step::Fuzzing,
];

/// The tests in JavaScript use the command that was built with those in Rust. What builds in the usual folder begins after the
/// first of them, when cargo runs tests there.
const OTHERS: &[Step] = &[
    in_js("npm tests", &["npm", "test"]),
    Step::Command {
        name: "documentation",
        folder: ".",
        command: &["cargo", "doc", "--workspace", "--no-deps"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    // Who embeds a library chooses its features; the lints of the workspace have all of them.
    library!("lints of the libraries without features", ""),
    step(
        "lints",
        &[
            "cargo",
            "clippy",
            "--workspace",
            "--all-targets",
            "--features",
            "callgate-wasm/js,callgate/otel,callgate/serve,conformance/component",
            "--",
            "-D",
            "warnings",
        ],
    ),
    // The two faces of the engine exclude each other. Nothing in them is for WebAssembly alone.
    library!("lints of the component face", "callgate-wasm/component"),
    // The servers take longer than all of this.
    step("Python", &["python3", "host-shim/python/tests/run.py"]),
    in_js("agent frameworks", &["npm", "run", "test:frameworks"]),
];

/// So do the tests of the servers, which wait half of their time, and what runs in Chromium.
const SERVERS: &[Step] = &[
    in_js("MCP servers", &["npm", "run", "test:servers"]),
    in_js(
        "artifacts as people install them",
        &["npm", "run", "test:release"],
    ),
    in_js("tables of agents' tools", &["npm", "run", "test:tables"]),
    // The conformance run has the same environment.
    step("the component's recipes", &["python3", "wasm/python/recipes.py"]),
    program("conformance", "conformance", &[]),
    in_js("playground", &["npm", "test", "--workspace", "playground"]),
];

/// The steps of the suite: the lists in a line run side by side, one step after the other in each. What waits for a disk, a
/// server or a browser then leaves its processor to what computes. Cargo builds one thing at a time in a folder, so one list of a
/// line at most has it build in the usual one.
const ROUNDS: &[&[&[Step]]] = &[&[PREPARATION], &[PROGRAMS, PACKAGES], &[TESTS, OTHERS, SERVERS]];

/// A line of the table of steps.
struct Row {
    name: &'static str,
    done: Done,
    time: Duration,
}

/// The outcome of a step.
#[derive(Default)]
struct Done {
    count: Count,
    failures: Vec<String>,
    /// Output that has not been shown.
    text: String,
}

impl Done {
    /// A step that counts as one test. Its error has not been shown.
    fn one(result: Result<(), String>) -> Self {
        let count = Count::one(result.is_ok());
        match result {
            Ok(()) => Self {
                count,
                ..Self::default()
            },
            Err(error) => Self {
                count,
                failures: vec![error.clone()],
                text: error,
            },
        }
    }
}

/// Runs every step. Fails if a test of any of them does.
pub(crate) fn suite() -> Result<ExitCode, String> {
    needs::meet(Purpose::Suite)?;
    let begin = Instant::now();
    let mut table = Vec::new();
    for lists in ROUNDS {
        let (first, beside) = lists.split_first().ok_or("a round has no list")?;
        let beside = beside.iter().copied();
        let others: Vec<_> = beside
            .map(|steps| thread::spawn(|| run_all(steps, Output::AtItsEnd)))
            .collect();
        table.extend(run_all(first, Output::AsItComes));
        for other in others {
            table.extend(other.join().map_err(|_| "the suite failed".to_owned())?);
        }
    }
    println!();
    let mut total = Count::default();
    for Row { name, done, time } in &table {
        let Count { passed, failed } = done.count;
        println!(
            "{name:<40}{passed:>7} passed {failed:>5} failed {:>14}",
            spoken(*time)
        );
        total.add(done.count);
    }
    for Row { name, done, .. } in table.iter().filter(|row| row.done.count.failed > 0) {
        println!("\n== {name} failed\n{}", done.failures.join("\n"));
    }
    println!("all steps together: {}", spoken(begin.elapsed()));
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(match total.failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// When the output of a step is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    AsItComes,
    /// Another step prints meanwhile.
    AtItsEnd,
}

/// Runs the steps in their order.
fn run_all(steps: &[Step], output: Output) -> Vec<Row> {
    let mut rows = Vec::new();
    for step in steps {
        match output {
            Output::AsItComes => println!("\n== {}", step.title()),
            Output::AtItsEnd => println!("\n-- {} begins", step.name()),
        }
        let begin = Instant::now();
        let done = step.run(output);
        if output == Output::AtItsEnd {
            println!("\n== {}\n{}", step.title(), done.text);
        }
        rows.push(Row {
            name: step.name(),
            done,
            time: begin.elapsed(),
        });
    }
    rows
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Self::Command { name, .. } | Self::Program { name, .. } => name,
            Self::Fuzzing => "fuzzing",
            Self::Packages => "npm packages",
            Self::Package => "npm build",
            Self::Filter => "filter for proxies",
        }
    }

    fn title(&self) -> String {
        let name = self.name();
        match self {
            Self::Command { command, .. } => format!("{name} ({})", command.join(" ")),
            Self::Program { program, .. } => format!("{name} ({program})"),
            Self::Fuzzing | Self::Packages | Self::Package | Self::Filter => name.to_owned(),
        }
    }

    fn run(&self, output: Output) -> Done {
        let is_quiet = output == Output::AtItsEnd;
        let result = match self {
            Self::Command {
                folder,
                command: [program, arguments @ ..],
                environment,
                ..
            } => {
                let mut command = Command::new(program);
                command
                    .args(arguments)
                    .current_dir(root().join(folder))
                    .envs(environment.iter().copied());
                return counted(command, output);
            }
            Self::Command { command: [], .. } => Err("the step has no command".to_owned()),
            Self::Program {
                program, arguments, ..
            } => match build::programs() {
                Ok(folder) => {
                    let mut command = Command::new(folder.join(program));
                    command.args(*arguments).current_dir(root());
                    return counted(command, output);
                }
                Err(error) => Err(error),
            },
            Self::Fuzzing => match env::current_exe() {
                Ok(path) => {
                    let mut command = Command::new(path);
                    command.arg("fuzz");
                    return counted(command, output);
                }
                Err(error) => Err(format!("this program has no path: {error}")),
            },
            Self::Packages => package::install(is_quiet).and_then(|()| {
                package::packer(is_quiet)?;
                release::program(is_quiet)?;
                Ok(())
            }),
            Self::Package => package::built_packer().and_then(|packer| {
                PACKAGE.build(&packer, is_quiet)?;
                COMPONENT.build(&packer, is_quiet)
            }),
            Self::Filter => package::built_packer().and_then(|packer| package::filter(&packer, is_quiet)),
        };
        let done = Done::one(result);
        if output == Output::AsItComes && !done.text.is_empty() {
            println!("{}", done.text);
        }
        done
    }
}

/// Runs a command. If it fails without a failed test, that counts as one failure.
fn counted(command: Command, output: Output) -> Done {
    let program = command.get_program().display().to_string();
    let (mut process, lines) = match start(command, output) {
        Ok(started) => started,
        Err(error) => {
            let done = Done::one(Err(format!("{program}: {error}")));
            println!("{}", done.text);
            return done;
        }
    };
    let mut count = None;
    let mut failures = Failures::default();
    let mut text = String::new();
    let mut clock = Clock::new();
    let mut late = None;
    loop {
        let line = match lines.recv_timeout(Clock::LOOK) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                late = clock.look(&mut process);
                if late.is_some() {
                    break;
                }
                continue;
            }
        };
        if let Some(more) = read_count(&line) {
            count.get_or_insert_with(Count::default).add(more);
        }
        match output {
            Output::AsItComes => println!("{line}"),
            Output::AtItsEnd => text.extend([line.as_str(), "\n"]),
        }
        failures.read(line);
    }
    let error = match (late, process.wait()) {
        (Some(late), _) => Some(late),
        (None, Ok(status)) if status.success() => None,
        (None, Ok(status)) => Some(status.to_string()),
        (None, Err(error)) => Some(error.to_string()),
    };
    let mut count = count.unwrap_or_else(|| Count::one(error.is_none()));
    if error.is_some() {
        count.failed = count.failed.max(1);
    }
    Done {
        count,
        failures: error.map_or_else(Vec::new, |error| failures.explain(&program, &error)),
        text,
    }
}

/// Starts a command, and gives the lines that it writes, as they come. Each of its outputs has a pipe of its own: a process that
/// inherits a pipe may make it non-blocking, as Node does, and whoever else prints to that pipe then fails when it is full.
fn start(mut command: Command, output: Output) -> io::Result<(Child, Receiver<String>)> {
    // Nobody answers, so that what asks has to end.
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    // On a terminal, programs draw their progress there.
    if output == Output::AtItsEnd || !io::stderr().is_terminal() {
        command.stderr(Stdio::piped());
    }
    // On a terminal Ctrl-C reaches everything that runs, since it is one group.
    if env::var_os("CI").is_some() {
        command.process_group(0);
    }
    let mut process = command.spawn()?;
    let (sender, receiver) = mpsc::channel();
    if let Some(errors) = process.stderr.take() {
        send_lines(errors, sender.clone());
    }
    if let Some(lines) = process.stdout.take() {
        send_lines(lines, sender);
    }
    Ok((process, receiver))
}

/// Reads lines until the pipe ends.
fn send_lines(pipe: impl Read + Send + 'static, sender: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
}

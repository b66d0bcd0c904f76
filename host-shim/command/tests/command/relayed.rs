//! The cases of `tests/guard`, which `callgate/mcp` answers alike: what reaches the server, and what the client gets.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::project::Project;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    lock: bool,
    /// The result with which the server answers the guard's own `tools/list`.
    #[serde(default)]
    listed: Value,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// The client's message.
    client: Value,
    /// The message that the server gets; null for none.
    reaches: Value,
    /// The server's answer, if it has one.
    #[serde(default)]
    answers: Value,
    /// The named members of the message that the client gets; null for none.
    gets: Value,
}

/// A server that keeps each line in `got`, and answers it with the next line of `answers`, unless that is empty; the guard's own
/// request for its tools with `listed`.
const SERVER: &str = r#"exec 3< answers
while IFS= read -r line; do
    case "$line" in *'"id":"callgate/'*)
        id=$(printf '%s' "$line" | sed -n 's/.*"id":"\([^"]*\)".*/\1/p')
        printf '{"jsonrpc":"2.0","id":"%s","result":%s}\n' "$id" "$(cat listed)"
        continue;;
    esac
    printf '%s\n' "$line" >> got
    IFS= read -r answer <&3
    [ -n "$answer" ] && printf '%s\n' "$answer"
done"#;

#[test]
fn the_guard_answers_as_the_package_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guard");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect(name);
    let cases = read("cases.jsonl");
    for line in cases.lines() {
        let project = Project::new();
        let root = project.folder.path().canonicalize().expect("a directory");
        let root = root.to_str().expect("UTF-8");
        for name in ["work", "docs"] {
            fs::create_dir(format!("{root}/{name}")).expect("a directory");
        }
        let line = line.replace("ROOT", root);
        let case: Case = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        project.write("callgate.json", read("bundle.json").replace("ROOT", root));
        project.write("callgate.lock", read("callgate.lock"));
        run(&project, &case);
    }
}

fn run(project: &Project, case: &Case) {
    let answers = case
        .steps
        .iter()
        .filter(|step| !step.reaches.is_null())
        .map(|step| match &step.answers {
            Value::Null => "\n".to_owned(),
            answer => format!("{answer}\n"),
        });
    project.write("answers", answers.collect::<String>());
    project.write("listed", case.listed.to_string());
    let mut flags = vec!["guard", "--server", "files", "--engine", "native"];
    if case.lock {
        flags.extend(["--lock", "callgate.lock"]);
    }
    flags.extend(["--", "sh", "-c", SERVER]);
    let mut command = project.command("project", &flags);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the guard starts");
    let mut to = child.stdin.take().expect("an input");
    let mut from = BufReader::new(child.stdout.take().expect("an output"));
    let mut got = 0;
    for step in &case.steps {
        writeln!(to, "{}", step.client).expect("the guard reads");
        if !step.gets.is_null() {
            let mut line = String::new();
            from.read_line(&mut line).expect("an answer");
            let found: Value =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
            assert!(
                holds(&step.gets, &found),
                "{}: {}\n  got {found}\n  expected {}",
                case.name,
                step.client,
                step.gets
            );
        }
        if !step.reaches.is_null() {
            got += 1;
            let reached = reached(project, got);
            assert_eq!(reached.last(), Some(&step.reaches), "{}", case.name);
        }
        assert_eq!(reached(project, got).len(), got, "{}: {}", case.name, step.client);
    }
    drop(to);
    child.wait().expect("the guard ends");
    assert_eq!(reached(project, got).len(), got, "{}", case.name);
}

/// The messages that the server got, once there are as many.
fn reached(project: &Project, count: usize) -> Vec<Value> {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let text = fs::read_to_string(project.folder.path().join("project/got")).unwrap_or_default();
        let whole = text.lines().filter(|_| text.ends_with('\n'));
        let found: Vec<Value> = whole
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        if found.len() >= count {
            return found;
        }
        assert!(Instant::now() < deadline, "the server gets nothing");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns `true` if the members that are expected are there. Lists are compared as wholes.
fn holds(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected
            .iter()
            .all(|(name, value)| found.get(name).is_some_and(|there| holds(value, there))),
        (expected, found) => expected == found,
    }
}

//! Hooks that something holds up: the denial is there in time, whatever it is.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::Hooked;

/// Agents that let a call pass if they have waited for long enough, with the event that comes before a tool and one that writes a file.
const PASSING: [(&str, &str, &str, &str); 5] = [
    ("claude-code", "PreToolUse", "Write", "file_path"),
    ("codex", "PreToolUse", "view_image", "path"),
    ("gemini-cli", "BeforeTool", "write_file", "file_path"),
    ("copilot-cli", "preToolUse", "create", "path"),
    ("vscode", "PreToolUse", "create_file", "filePath"),
];

/// The least time that an agent gives its hook, with what this machine may lose before a process starts.
const IN_TIME: Duration = Duration::from_secs(28);

/// The step of a hook that does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stall {
    /// The agent's question has no end.
    Question,
    /// A document is a FIFO that nobody writes to.
    Document,
    /// The process that judges does nothing, as one that looks at a mount whose server is gone.
    Judging,
    /// Another process has the log.
    Log,
    /// Nobody answers whom the hook asks.
    Person,
    /// Nobody reads the answer.
    Answer,
}

const STALLS: [Stall; 6] = [
    Stall::Question,
    Stall::Document,
    Stall::Judging,
    Stall::Log,
    Stall::Person,
    Stall::Answer,
];

fn question(event: &str, tool: &str, path: &str, stall: Stall) -> String {
    let file = match stall {
        Stall::Person => "/etc/hosts",
        _ => "a",
    };
    let mut input = json!({ path: file });
    if stall == Stall::Answer {
        // More than a pipe holds.
        let content = if tool == "create" { "file_text" } else { "content" };
        input[content] = json!("x".repeat(300_000));
    }
    json!({"hook_event_name": event, "cwd": "ROOT/project", "tool_name": tool, "tool_input": input})
        .to_string()
}

fn stopped_child(hook: &Child) -> u32 {
    let children = format!("/proc/{0}/task", hook.id());
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        assert!(Instant::now() < until, "no other process judges");
        let tasks = fs::read_dir(&children).expect("tasks");
        let found = tasks
            .filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok())
            .collect::<String>();
        // Before it is this program, it shares the streams of the hook.
        let is_judging = |child: &&str| {
            fs::read_to_string(format!("/proc/{child}/cmdline"))
                .is_ok_and(|line| line.contains("--judging-for"))
        };
        if let Some(child) = found.split_whitespace().find(is_judging) {
            let number: u32 = child.parse().expect("a number");
            let child = Pid::from_raw(number.try_into().expect("a number")).expect("a process");
            kill_process(child, Signal::STOP).expect("a process");
            return number;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The answer, its exit code, and how long it took.
fn stalled(
    agent: &str,
    event: &str,
    tool: &str,
    path: &str,
    stall: Stall,
) -> (String, String, Option<i32>, Duration) {
    let hooked = Hooked::new();
    let within = |name: &str| format!("{}/{name}", hooked.root);
    let (mut bundle, log, state) = (
        within("project/callgate.json"),
        within("log.jsonl"),
        within("state"),
    );
    let (kept, mut flags) = (File::create(&log).expect("a log"), vec!["hook", agent]);
    match stall {
        Stall::Document => {
            bundle = within("fifo");
            let made = std::process::Command::new("mkfifo").arg(&bundle).status();
            assert!(made.expect("mkfifo").success());
        }
        Stall::Log => {
            kept.lock().expect("a lock");
            flags.extend(["--audit", &log]);
        }
        Stall::Person => flags.extend(["--ask", "1", "--state", &state]),
        Stall::Question | Stall::Judging | Stall::Answer => {}
    }
    flags.extend(["--bundle", &bundle]);
    let begun = Instant::now();
    let mut hook = hooked
        .project
        .command("project", &flags)
        .env("HOME", within("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the hook starts");
    let stopped = (stall == Stall::Judging).then(|| stopped_child(&hook));
    let mut to = hook.stdin.take().expect("an input");
    let text = question(event, tool, path, stall).replace("ROOT", &hooked.root);
    // A hook that is denied by its flags does not read.
    let _ = to.write_all(text.as_bytes());
    let to = (stall == Stall::Question).then_some(to);
    let (mut answer, mut said) = (String::new(), String::new());
    if stall == Stall::Answer {
        hook.wait().expect("the hook ends");
    }
    hook.stdout
        .take()
        .expect("an output")
        .read_to_string(&mut answer)
        .expect("UTF-8");
    hook.stderr
        .take()
        .expect("an output")
        .read_to_string(&mut said)
        .expect("UTF-8");
    let code = hook.wait().expect("the hook ends").code();
    drop(to);
    if let Some(child) = stopped {
        // Nobody continues it, so it would be there for good.
        let left = fs::read_to_string(format!("/proc/{child}/stat"));
        assert!(left.is_err(), "{agent}: {left:?}");
    }
    (answer, said, code, begun.elapsed())
}

fn denies(agent: &str, answer: &str) -> bool {
    let answer: Value = serde_json::from_str(answer).expect("an answer");
    match agent {
        "gemini-cli" => answer["decision"] == "deny",
        "copilot-cli" => answer["permissionDecision"] == "deny",
        _ => answer["hookSpecificOutput"]["permissionDecision"] == "deny",
    }
}

#[test]
fn whatever_holds_a_hook_up_the_denial_is_there_in_time() {
    thread::scope(|scope| {
        for (agent, event, tool, path) in PASSING {
            for stall in STALLS {
                scope.spawn(move || {
                    if (agent, stall) == ("codex", Stall::Answer) {
                        // It is told nothing where a call passes.
                        return;
                    }
                    let (answer, said, code, took) = stalled(agent, event, tool, path, stall);
                    assert!(took < IN_TIME, "{agent}: {stall:?}: {took:?}");
                    // A code of 2 denies where a reason comes with it.
                    let is_ended = code == Some(2) && !said.is_empty();
                    match stall {
                        Stall::Answer => assert!(is_ended, "{agent}: {code:?} {said}"),
                        Stall::Person => assert!(denies(agent, &answer), "{agent}: {answer}"),
                        _ => assert!(
                            is_ended && denies(agent, &answer),
                            "{agent}: {stall:?}: {code:?} {answer}"
                        ),
                    }
                });
            }
        }
    });
}

#[test]
fn the_denial_in_time_is_in_the_words_of_the_event() {
    let hooked = Hooked::new();
    let log = format!("{}/log.jsonl", hooked.root);
    let kept = File::create(&log).expect("a log");
    kept.lock().expect("a lock");
    let question = r#"{"hook_event_name": "PermissionRequest", "cwd": "ROOT/project", "permission_mode": "default", "tool_name": "Read", "tool_input": {"file_path": "a"}}"#;
    let output = hooked.ask("claude-code", question, &["--audit", &log]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
    assert_eq!(answer["hookSpecificOutput"]["decision"]["behavior"], "deny");
    assert_eq!(output.status.code(), Some(2));
}

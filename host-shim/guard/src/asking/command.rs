//! A program that asks the person in its own way.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::queue::{Answer, Answerer, Question, Queue};

/// How often it is looked whether the program has ended, or somebody else has answered.
const LOOK: Duration = Duration::from_millis(50);

/// Bytes of an answer that are read.
const ANSWER: u64 = 1024;

/// The exit code that denies, as that of `callgate eval` does.
const DENIES: i32 = 2;

/// Runs the program on a thread of its own, and answers the question by what it says. It is ended when the question is
/// answered otherwise, or its time is over.
pub(super) fn ask(
    command: &[OsString],
    question: &Question,
    queue: &Queue,
    patience: Duration,
    warn: fn(&str),
) -> io::Result<()> {
    let child = start(command, question)?;
    let (id, queue) = (question.id.clone(), queue.clone());
    let server = question.server.clone();
    thread::Builder::new().name("asking".into()).spawn(move || {
        let deadline = Instant::now() + patience;
        let answered = finish(child, || Instant::now() < deadline && queue.waits(&id));
        let told = match answered {
            Ok(Some(answer)) => queue.answer(&id, answer, Answerer::Command).map(|_| ()),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = told {
            warn(&format!("{server}: the command that asks has no answer: {error}"));
        }
    })?;
    Ok(())
}

fn start(command: &[OsString], question: &Question) -> io::Result<Child> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::other("there is no command"));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Its children are ended with it.
        .process_group(0)
        .spawn()?;
    let text = serde_json::to_vec(question)?;
    if let Some(mut input) = child.stdin.take() {
        thread::Builder::new().name("question".into()).spawn(move || {
            // A program need not read what it is asked.
            let _ = input.write_all(&text);
        })?;
    }
    Ok(child)
}

/// The answer of the program; `None` if it was not waited for to its end.
fn finish(mut child: Child, waits: impl Fn() -> bool) -> io::Result<Option<Answer>> {
    let output = child.stdout.take();
    let reader = thread::Builder::new().name("answer".into()).spawn(move || {
        let mut text = String::new();
        match output.map(|output| output.take(ANSWER).read_to_string(&mut text)) {
            Some(Ok(_)) => text,
            Some(Err(_)) | None => String::new(),
        }
    })?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if !waits() {
            end(&child);
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK);
    };
    // The command's own children may hold its output open.
    end(&child);
    let said = reader.join().unwrap_or_default();
    match status.code() {
        Some(0) => answer(said.trim())
            .map(Some)
            .ok_or_else(|| io::Error::other("its output is not `once`, `session`, `always` or `deny`")),
        Some(DENIES) => Ok(Some(Answer::Deny)),
        Some(_) | None => Err(io::Error::other(status.to_string())),
    }
}

fn answer(said: &str) -> Option<Answer> {
    match said {
        "once" => Some(Answer::Once),
        "session" => Some(Answer::Session),
        "always" => Some(Answer::Always),
        "deny" => Some(Answer::Deny),
        _ => None,
    }
}

fn end(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended meanwhile.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

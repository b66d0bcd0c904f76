//! An answer in time, whatever holds the judging up.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use callgate_hook::{Agent, HookAnswer, fault};
use rustix::process::{Pid, getpid, getppid};

use super::{DENIES, MOST_BYTES};

/// How long an answer may take, besides the time that a person has: agents let a call pass if they have waited for long enough.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);

/// How long an agent may take to read the answer, and then the reason why it does not count.
const READING: Duration = Duration::from_secs(3);

/// How often a process looks whether the one that it judges for is still there.
const LOOK: Duration = Duration::from_millis(200);

/// The flag that says which process waits for this one.
pub(super) const JUDGING_FOR: &str = "judging-for";

/// How long the system may take to end the process that judges.
const ENDING: Duration = Duration::from_millis(500);

/// The process that judges, for whoever ends it first.
type Judging = Arc<Mutex<Option<Child>>>;

/// The news of the thread that waits for the judging.
enum News {
    Question(Vec<u8>),
    Answer(HookAnswer),
}

/// Has a process of its own judge what the agent asks about, and passes its answer on, or denies if there is none in time.
///
/// A process may hang in a way that not even its end frees it from, such as a look at a mount whose server is gone. So everything that may
/// hang is done in another process, or in threads here that hold nothing which the answer needs.
pub(super) fn answer(agent: &'static Agent, patience: Duration) -> ExitCode {
    let until = Instant::now() + patience;
    let (tell, news) = channel();
    let judging = Judging::default();
    let own = Arc::clone(&judging);
    thread::spawn(move || {
        let answer = judged_elsewhere(agent, &tell, &own);
        // If nobody listens, the time is over.
        let _ = tell.send(News::Answer(answer));
    });
    let answer = await_answer(agent, &news, until);
    let ended = judging.try_lock().ok().and_then(|mut child| child.take());
    // It may be stopped, and would stay when this process is gone.
    let ended = ended.map(|mut child| child.kill().map(|()| child));
    let code = say(answer);
    if let Some(Ok(mut child)) = ended {
        let until = Instant::now() + ENDING;
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }
    code.into()
}

fn await_answer(agent: &'static Agent, news: &Receiver<News>, until: Instant) -> HookAnswer {
    let mut question = Vec::new();
    loop {
        let why = match news.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(News::Question(bytes)) => {
                question = bytes;
                continue;
            }
            Ok(News::Answer(answer)) => return answer,
            Err(RecvTimeoutError::Timeout) => "it took too long",
            Err(RecvTimeoutError::Disconnected) => "the hook failed",
        };
        return fault(agent, text(&question), why);
    }
}

fn judged_elsewhere(agent: &'static Agent, tell: &Sender<News>, judging: &Judging) -> HookAnswer {
    let mut question = Vec::new();
    let answered = started().and_then(|mut child| {
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut to), Some(stdout), Some(stderr)) = streams else {
            return Err(io::Error::other("it has no streams"));
        };
        *held(judging) = Some(child);
        // It starts while the question is read.
        io::stdin().take(MOST_BYTES + 1).read_to_end(&mut question)?;
        let _ = tell.send(News::Question(question.clone()));
        // What is denied by its flags does not read.
        let _ = to.write_all(&question);
        drop(to);
        let said = thread::spawn(move || whole(stderr));
        let stdout = whole(stdout)?;
        let stderr = said
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("it was not read")))?;
        // Nobody else has it while its time lasts.
        let mut child = held(judging);
        let child = child
            .as_mut()
            .ok_or_else(|| io::Error::other("its time is over"))?;
        Ok(Output {
            status: child.wait()?,
            stdout,
            stderr,
        })
    });
    let answered = match answered {
        Ok(answered) => answered,
        Err(error) => return fault(agent, text(&question), &format!("the hook cannot judge: {error}")),
    };
    let code = answered.status.code().and_then(|code| u8::try_from(code).ok());
    let texts = (
        String::from_utf8(answered.stdout),
        String::from_utf8(answered.stderr),
    );
    match (code, texts) {
        (Some(code @ (0 | DENIES)), (Ok(stdout), Ok(stderr))) => HookAnswer { stdout, stderr, code },
        (_, _) => fault(agent, text(&question), "the hook failed"),
    }
}

fn held(judging: &Judging) -> MutexGuard<'_, Option<Child>> {
    judging.lock().unwrap_or_else(PoisonError::into_inner)
}

fn whole(mut stream: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// This program once more, with the same arguments.
fn started() -> io::Result<Child> {
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let at = words
        .iter()
        .position(|word| word == "hook")
        .map_or(0, |at| at + 1);
    let flag = format!("--{JUDGING_FOR}={}", getpid().as_raw_nonzero());
    words.insert(at, flag.into());
    // None of its streams is the agent's, which may wait until all of them are closed.
    Command::new(std::env::current_exe()?)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Ends this process soon after the other one: nobody hears its answer then.
pub(super) fn end_after(process: i32) {
    let process = Pid::from_raw(process);
    thread::spawn(move || {
        while getppid() == process {
            thread::sleep(LOOK);
        }
        std::process::exit(DENIES.into());
    });
}

/// Gives the answer; the code says that a call is denied if it cannot be given.
fn say(answer: HookAnswer) -> u8 {
    const UNREAD: &str = "Callgate: denied: the agent does not read the answer\n";
    // Without the locks of the standard library. A stream that nobody reads does not hold up the other one.
    let told = written(io::stderr().as_fd(), answer.stderr);
    let said = written(io::stdout().as_fd(), answer.stdout);
    let until = Instant::now() + READING;
    let is_said = said.recv_timeout(READING).is_ok_and(|said| said);
    // Whether anybody reads why is of no importance, unless the reason has to stand in for the answer.
    let is_told = told
        .recv_timeout(until.saturating_duration_since(Instant::now()))
        .is_ok();
    if is_said && is_told {
        return answer.code;
    }
    if is_told {
        let _ = written(io::stderr().as_fd(), UNREAD.to_owned()).recv_timeout(READING);
    }
    DENIES
}

/// Writes a text in a thread, which says whether it could.
fn written(stream: BorrowedFd<'_>, text: String) -> Receiver<bool> {
    let (done, is_done) = channel();
    let stream = stream.try_clone_to_owned();
    thread::spawn(move || {
        let written = stream.and_then(|stream| File::from(stream).write_all(text.as_bytes()));
        let _ = done.send(written.is_ok());
    });
    is_done
}

fn text(question: &[u8]) -> &str {
    std::str::from_utf8(question).unwrap_or_default()
}

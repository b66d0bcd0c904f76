//! A server that is started as a program, and a client on this process's own streams.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::Guard;
use super::lines::{self, Line};
use super::record::Record;
use super::relay::{Relay, Step};

/// Bytes of the longest message of a client: a call of the largest size, and what stands around it.
const FROM_CLIENT: usize = 20 * 1024 * 1024;

/// The same of a server, whose results may hold pictures.
const FROM_SERVER: usize = 128 * 1024 * 1024;

/// How long calls may take to end when the guard is told to stop.
const CALLS: Duration = Duration::from_secs(10);

/// How long the server may take to end after its input has ended, and then after it was told to.
const SERVER: Duration = Duration::from_secs(3);

/// How often it is looked whether a person has answered.
const ASKED: Duration = Duration::from_millis(200);

/// How often it is looked whether something has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The program that is the server.
pub struct Program {
    /// Its name or path.
    pub command: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Why the guard ended.
#[derive(Debug)]
pub enum Ended {
    /// The client closed its stream.
    ClientLeft,
    /// The server ended by itself.
    ServerLeft(ExitStatus),
    /// A signal told the guard to stop.
    Signal(i32),
}

/// Why the guard could not begin.
#[derive(Debug)]
pub enum StdioError {
    /// The server cannot be started.
    Start {
        /// The program.
        command: OsString,
        /// What the operating system said.
        error: io::Error,
    },
    /// Signals or threads cannot be had.
    System(io::Error),
}

impl fmt::Display for StdioError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { command, error } => {
                write!(
                    formatter,
                    "cannot start the server `{}`: {error}",
                    command.to_string_lossy()
                )
            }
            Self::System(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for StdioError {}

impl From<io::Error> for StdioError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// What the threads tell the one that waits.
enum Event {
    ClientLeft,
    ServerSilent,
    Signal(i32),
}

/// What both directions share.
struct Shared {
    relay: Mutex<Relay>,
    client: Mutex<File>,
    /// `None` once the server's input has ended.
    server: Mutex<Option<ChildStdin>>,
}

impl Guard {
    /// Starts the server, and stands between it and the client on this process's standard input and output until one of
    /// them leaves or a signal comes. Then calls in flight end, for ten seconds at most, and the server is stopped.
    ///
    /// # Errors
    /// The server cannot be started.
    pub fn run_stdio(self: Arc<Self>, program: &Program) -> Result<Ended, StdioError> {
        let mut child = start(program)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(StdioError::System(io::Error::other("the server has no streams")));
        };
        let shared = Arc::new(Shared {
            relay: Mutex::new(Relay::new(Arc::clone(&self))),
            // Not by way of the standard library's lock and buffer: whoever calls this may hold them.
            client: Mutex::new(File::from(io::stdout().as_fd().try_clone_to_owned()?)),
            server: Mutex::new(Some(input)),
        });
        let (tell, told) = channel();
        let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
        let from_client = (Arc::clone(&self), Arc::clone(&shared), tell.clone());
        let from_server = (Arc::clone(&self), Arc::clone(&shared), tell.clone());
        thread::Builder::new().name("client".into()).spawn(move || {
            let (guard, shared, tell) = from_client;
            shared.read_client(&guard, &tell);
        })?;
        let server = thread::Builder::new().name("server".into()).spawn(move || {
            let (guard, shared, tell) = from_server;
            shared.read_server(&guard, output, &tell);
        })?;
        thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                // Nobody waits any more once the guard ends.
                let _ = tell.send(Event::Signal(signal));
            }
        })?;
        if self.asked.is_some() {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("questions".into()).spawn(move || {
                loop {
                    thread::sleep(ASKED);
                    let steps = shared.relay().answered();
                    steps.into_iter().for_each(|step| shared.take(step));
                }
            })?;
        }
        let ended = match told.recv() {
            Ok(Event::ClientLeft) | Err(_) => Ended::ClientLeft,
            Ok(Event::Signal(signal)) => Ended::Signal(signal),
            Ok(Event::ServerSilent) => Ended::ServerLeft(stop(&mut child)?),
        };
        if !matches!(ended, Ended::ServerLeft(_)) {
            // A second signal does not wait for calls.
            let deadline = Instant::now() + CALLS;
            while shared.relay().calls_in_flight() > 0 && Instant::now() < deadline {
                match told.recv_timeout(LOOK) {
                    Ok(Event::Signal(_) | Event::ServerSilent) => break,
                    Ok(Event::ClientLeft) | Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            shared.close_server();
            stop(&mut child)?;
        }
        // What the server said before it ended is passed on first, unless something that it has started keeps its output.
        let deadline = Instant::now() + SERVER;
        while !server.is_finished() && Instant::now() < deadline {
            thread::sleep(LOOK);
        }
        let unanswered = shared.relay().server_left();
        for answer in unanswered {
            shared.to_client(answer);
        }
        self.note_or_warn(&Record::Stop {
            why: ended.to_string(),
        });
        Ok(ended)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClientLeft => formatter.write_str("the client has left"),
            Self::ServerLeft(status) => write!(formatter, "the server has ended: {status}"),
            Self::Signal(signal) => write!(formatter, "signal {signal}"),
        }
    }
}

impl Shared {
    fn relay(&self) -> MutexGuard<'_, Relay> {
        self.relay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_client(&self, guard: &Guard, tell: &Sender<Event>) {
        let mut stream = BufReader::with_capacity(64 * 1024, io::stdin());
        loop {
            let step = match lines::next(&mut stream, FROM_CLIENT) {
                Ok(Some(Line::Text(line))) => self.relay().client_sent(line),
                Ok(Some(Line::NotUtf8)) => self.relay().unreadable("a line that is not UTF-8"),
                Ok(Some(Line::TooLong)) => self
                    .relay()
                    .unreadable(&format!("a line of more than {FROM_CLIENT} bytes")),
                Ok(None) => break,
                Err(error) => {
                    guard.warn(&format!("the client cannot be read: {error}"));
                    break;
                }
            };
            self.take(step);
        }
        // Nobody waits any more once the guard ends.
        let _ = tell.send(Event::ClientLeft);
    }

    fn read_server(&self, guard: &Guard, output: impl Read, tell: &Sender<Event>) {
        let mut stream = BufReader::with_capacity(64 * 1024, output);
        loop {
            let step = match lines::next(&mut stream, FROM_SERVER) {
                Ok(Some(Line::Text(line))) => self.relay().server_sent(line),
                Ok(Some(Line::NotUtf8)) => {
                    guard.warn("the server sent a line that is not UTF-8; it is not passed on");
                    Step::Nowhere
                }
                Ok(Some(Line::TooLong)) => {
                    guard.warn(&format!(
                        "the server sent a line of more than {FROM_SERVER} bytes; it is not passed on"
                    ));
                    Step::Nowhere
                }
                Ok(None) | Err(_) => break,
            };
            self.take(step);
        }
        // Nobody waits any more once the guard ends.
        let _ = tell.send(Event::ServerSilent);
    }

    fn take(&self, step: Step) {
        match step {
            Step::ToServer(message) => self.to_server(message),
            Step::ToClient(message) => self.to_client(message),
            Step::Nowhere => {}
        }
    }

    /// One message. A client that does not read any more has left, which its own thread notices.
    fn to_client(&self, message: String) {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = write_line(&mut *client, message);
    }

    /// One message. A server that does not read any more has ended, which its own thread notices.
    fn to_server(&self, message: String) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = server.as_mut() {
            let _ = write_line(server, message);
        }
    }

    /// The server's input ends, unless a message is being written that it does not read.
    fn close_server(&self) {
        if let Ok(mut server) = self.server.try_lock() {
            *server = None;
        }
    }
}

/// At once: a peer that reads a message in two pieces waits for the second.
fn write_line(stream: &mut impl Write, mut message: String) -> io::Result<()> {
    message.push('\n');
    stream.write_all(message.as_bytes())
}

fn start(program: &Program) -> Result<Child, StdioError> {
    Command::new(&program.command)
        .args(&program.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // A group of its own: a server is often started by another program, which ends without it.
        .process_group(0)
        .spawn()
        .map_err(|error| StdioError::Start {
            command: program.command.clone(),
            error,
        })
}

/// Waits for the server, then asks it to end, then ends it.
fn stop(child: &mut Child) -> io::Result<ExitStatus> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let tell = |signal| {
        if let Some(group) = group {
            // It may have ended meanwhile.
            let _ = kill_process_group(group, signal);
        }
    };
    for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        signal.into_iter().for_each(tell);
        let deadline = Instant::now() + SERVER;
        while Instant::now() < deadline {
            if let Some(status) = child.try_wait()? {
                // What it has started ends with it.
                tell(Signal::KILL);
                return Ok(status);
            }
            thread::sleep(LOOK);
        }
    }
    child.wait()
}

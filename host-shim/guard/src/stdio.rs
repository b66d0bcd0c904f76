//! A server that is started as a program, and a client on this process's own streams.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd as _;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::Guard;
use super::child::{self, ENDING, Program, Running};
use super::lines::{self, FROM_CLIENT, Line};
use super::outlet::Outlet;
use super::relay::{Delivery, Relay};

/// How long calls may take to end when the guard is told to stop.
pub(super) const CALLS: Duration = Duration::from_secs(10);

/// How often it is looked whether a person has answered, or other tools are hidden.
const NEWS: Duration = Duration::from_millis(200);

/// How often it is looked whether a peer still reads.
pub(super) const READING: Duration = Duration::from_secs(1);

/// How long the last answers may take to be read by the client.
pub(super) const TELLING: Duration = Duration::from_secs(1);

/// How often it is looked whether something has ended.
pub(super) const LOOK: Duration = Duration::from_millis(20);

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
        /// The message of the operating system.
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

/// Messages from the worker threads to the one that waits.
enum Event {
    ClientLeft,
    ServerSilent,
    Signal(i32),
}

/// Shared by both directions.
struct Shared {
    relay: Mutex<Relay>,
    client: Outlet<File>,
    server: Running,
}

impl Guard {
    /// Starts the server, and stands between it and the client on this process's standard input and output until one of
    /// them leaves or a signal comes. Then calls in flight end, for ten seconds at most, and the server is stopped.
    ///
    /// # Errors
    /// The server cannot be started.
    pub fn run_stdio(self: Arc<Self>, program: &Program) -> Result<Ended, StdioError> {
        let (running, output) = Running::start(program).map_err(|error| StdioError::Start {
            command: program.command.clone(),
            error,
        })?;
        let shared = Arc::new(Shared {
            relay: Mutex::new(Relay::new(Arc::clone(&self))),
            // Not by way of the standard library's lock and buffer: whoever calls this may hold them.
            client: Outlet::new(File::from(io::stdout().as_fd().try_clone_to_owned()?)),
            server: running,
        });
        let (tell, told) = channel();
        let signalled = tell.clone();
        signals(move |signal| {
            // Nobody waits any more once the guard ends.
            let _ = signalled.send(Event::Signal(signal));
        })?;
        let from_client = (Arc::clone(&self), Arc::clone(&shared), tell.clone());
        let from_server = (Arc::clone(&self), Arc::clone(&shared), tell.clone());
        thread::Builder::new().name("client".into()).spawn(move || {
            let (guard, shared, tell) = from_client;
            shared.read_client(&guard, &tell);
        })?;
        let server = thread::Builder::new().name("server".into()).spawn(move || {
            let (guard, shared, tell) = from_server;
            child::read(&guard, output, |line| {
                let (step, released) = {
                    let mut relay = shared.relay();
                    (relay.server_sent(line), relay.released())
                };
                shared.take(step);
                released.into_iter().for_each(|step| shared.take(step));
            });
            // Nobody waits any more once the guard ends.
            let _ = tell.send(Event::ServerSilent);
        })?;
        let watching = Arc::clone(&shared);
        thread::Builder::new().name("news".into()).spawn(move || {
            loop {
                thread::sleep(NEWS);
                let steps = watching.relay().by_itself();
                steps.into_iter().for_each(|step| watching.take(step));
            }
        })?;
        let ended = match shared.wait(&told) {
            Event::ClientLeft => Ended::ClientLeft,
            Event::Signal(signal) => Ended::Signal(signal),
            Event::ServerSilent => Ended::ServerLeft(shared.server.stop()?),
        };
        let mut telling = Vec::new();
        if !matches!(ended, Ended::ServerLeft(_)) {
            let denied = shared.relay().stop();
            telling.push(tell_client(&shared, denied)?);
            // A second signal does not wait for calls.
            let deadline = Instant::now() + CALLS;
            while shared.relay().calls_in_flight() > 0 && Instant::now() < deadline {
                match told.recv_timeout(LOOK) {
                    Ok(Event::Signal(_) | Event::ServerSilent) => break,
                    Ok(Event::ClientLeft) | Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            shared.server.close();
            shared.server.stop()?;
        }
        // Messages that the server wrote before it ended are passed on first, unless something that it has started
        // keeps its output.
        let deadline = Instant::now() + ENDING;
        while !server.is_finished() && Instant::now() < deadline {
            thread::sleep(LOOK);
        }
        let unanswered = shared.relay().server_left();
        telling.push(tell_client(&shared, unanswered)?);
        let deadline = Instant::now() + TELLING;
        while telling.iter().any(|telling| !telling.is_finished()) && Instant::now() < deadline {
            thread::sleep(LOOK);
        }
        self.ended(ended.to_string());
        Ok(ended)
    }
}

/// Writes to the client, which may not read: whoever ends waits for it no longer than it must.
fn tell_client(shared: &Arc<Shared>, answers: Vec<String>) -> io::Result<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    let telling = thread::Builder::new().name("answers".into());
    telling.spawn(move || answers.into_iter().for_each(|answer| shared.client.send(answer)))
}

/// Tells of each signal that asks the process to end.
pub(super) fn signals(tell: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let watching = thread::Builder::new().name("signals".into());
    watching.spawn(move || signals.forever().for_each(tell))?;
    Ok(())
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

    /// The reason to end: something that happens, or a peer that does not read any more.
    fn wait(&self, told: &Receiver<Event>) -> Event {
        loop {
            match told.recv_timeout(READING) {
                Ok(event) => return event,
                Err(RecvTimeoutError::Disconnected) => return Event::ClientLeft,
                Err(RecvTimeoutError::Timeout) if self.client.is_stuck() => return Event::ClientLeft,
                Err(RecvTimeoutError::Timeout) if self.server.is_stuck() => return Event::ServerSilent,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
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

    fn take(&self, step: Delivery) {
        match step {
            Delivery::ToServer(message) => self.server.send(message),
            Delivery::ToClient(message) => self.client.send(message),
            Delivery::Refused(_) | Delivery::Nowhere => {}
        }
    }
}

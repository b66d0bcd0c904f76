//! Running a guard whose client or server speaks HTTP.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

use super::bodies::Bodies;
use super::door::Visitors;
use super::events::Event;
use super::remote::{Connection, Remote};
use super::session::{Client, Server, Session};
use super::sessions::{self, Listener};
use super::started::Started;
use super::workers::Workers;
use crate::child::Program;
use crate::lines::{self, FROM_CLIENT, Line};
use crate::outlet::Outlet;
use crate::stdio::{CALLS, LOOK, READING, signals};
use crate::{Ended, Guard};

/// How many connections may be open.
const CONNECTIONS: usize = 1024;

/// How long the head of a request may take to arrive.
const HEAD: Duration = Duration::from_secs(15);

/// How often it is looked for sessions that nobody uses.
const TIDY: Duration = Duration::from_secs(10);

/// How long answers that were just given may take to be sent when the guard ends.
const SENDING: Duration = Duration::from_millis(200);

/// How many sessions there may be.
const SESSIONS: usize = 64;

/// Where a guard listens.
pub struct Listening {
    /// The address. Whoever can reach it can call tools.
    pub address: SocketAddr,
    /// Who may come in.
    pub visitors: Visitors,
    /// How many sessions there may be at a time; each has a process of its own before a server that is a program.
    pub sessions: usize,
}

impl Listening {
    /// Listens on an address, for nobody but programs on this machine.
    #[must_use]
    pub fn on(address: SocketAddr) -> Self {
        Self {
            address,
            visitors: Visitors::default(),
            sessions: SESSIONS,
        }
    }
}

/// The server of a guard.
#[derive(Debug)]
pub enum Behind {
    /// A program, which is started for each session.
    Program(Program),
    /// A server over HTTP.
    Url(Box<Remote>),
}

/// Why a guard could not begin.
#[derive(Debug)]
pub enum HttpError {
    /// The address cannot be listened on.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The message of the operating system.
        error: io::Error,
    },
    /// Signals or threads cannot be had.
    System(io::Error),
}

impl fmt::Display for HttpError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen { address, error } => write!(formatter, "cannot listen on `{address}`: {error}"),
            Self::System(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for HttpError {}

impl From<io::Error> for HttpError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Why the guard is to stop.
enum Stop {
    ClientLeft,
    Signal(i32),
}

impl Guard {
    /// Stands between a client on this process's standard input and output and a server over HTTP, until the client leaves or
    /// a signal comes. Then calls in flight end, for ten seconds at most.
    ///
    /// # Errors
    /// Signals or threads cannot be had.
    pub fn run_remote(self: Arc<Self>, remote: Remote) -> Result<Ended, HttpError> {
        let runtime = runtime()?;
        let (tell, stops) = channel();
        watch_signals(&tell)?;
        let output = Outlet::new(File::from(io::stdout().as_fd().try_clone_to_owned()?));
        let server = Server::Url(Connection::new(Arc::new(remote)));
        let session = {
            let _runtime = runtime.enter();
            Session::new(Arc::clone(&self), Client::Output(output), server)
        };
        let (reading, handle) = (Arc::clone(&session), runtime.handle().clone());
        thread::Builder::new().name("client".into()).spawn(move || {
            let _runtime = handle.enter();
            read_client(&reading, &handle);
            // Nobody waits any more once the guard ends.
            let _ = tell.send(Stop::ClientLeft);
        })?;
        let ended = loop {
            match stops.recv_timeout(READING) {
                Ok(Stop::Signal(signal)) => break Ended::Signal(signal),
                Err(RecvTimeoutError::Timeout) if !session.is_stuck() => {}
                Ok(Stop::ClientLeft) | Err(_) => break Ended::ClientLeft,
            }
        };
        runtime.block_on(session.stop());
        let deadline = Instant::now() + CALLS;
        while session.calls_in_flight() > 0 && Instant::now() < deadline {
            match stops.recv_timeout(LOOK) {
                Ok(Stop::Signal(_)) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(Stop::ClientLeft) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
        runtime.block_on(session.end());
        runtime.shutdown_timeout(LOOK);
        self.ended(ended.to_string());
        Ok(ended)
    }

    /// Listens for clients over HTTP, at the path `/mcp`, until a signal comes. `ready` is told the address.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub fn run_listening(
        self: Arc<Self>,
        listening: Listening,
        behind: Behind,
        ready: impl FnOnce(SocketAddr),
    ) -> Result<Ended, HttpError> {
        let address = listening.address;
        let listen = |error| HttpError::Listen { address, error };
        let socket = TcpListener::bind(address).map_err(listen)?;
        socket.set_nonblocking(true).map_err(listen)?;
        let here = socket.local_addr().map_err(listen)?;
        let runtime = runtime()?;
        let (tell, stops) = channel();
        watch_signals(&tell)?;
        let listener = Arc::new(Listener {
            listed: self.unlisted(),
            guard: Arc::clone(&self),
            visitors: listening.visitors,
            here,
            behind: match behind {
                Behind::Program(program) => sessions::Behind::Program(program),
                Behind::Url(remote) => sessions::Behind::Url(Arc::from(remote)),
            },
            room: Arc::new(Semaphore::new(listening.sessions)),
            sessions: Mutex::default(),
            standing: Mutex::default(),
            bodies: Bodies::default(),
            workers: Arc::new(Workers::default()),
            started: Started::default(),
            is_closed: AtomicBool::new(false),
        });
        let socket = {
            let _runtime = runtime.enter();
            tokio::net::TcpListener::from_std(socket).map_err(listen)?
        };
        runtime.spawn(accept(Arc::clone(&listener), socket));
        ready(here);
        let signal = loop {
            match stops.recv_timeout(TIDY) {
                Ok(Stop::Signal(signal)) => break signal,
                Ok(Stop::ClientLeft) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let _runtime = runtime.enter();
                    listener.tidy();
                }
                Err(RecvTimeoutError::Disconnected) => break 0,
            }
        };
        listener.is_closed.store(true, Ordering::Relaxed);
        runtime.block_on(listener.stop());
        let deadline = Instant::now() + CALLS;
        while listener.calls_in_flight() > 0 && Instant::now() < deadline {
            // A second signal does not wait for calls.
            if stops.recv_timeout(LOOK).is_ok() {
                break;
            }
        }
        runtime.block_on(async {
            listener.end().await;
            // Answers that were just given are sent.
            tokio::time::sleep(SENDING).await;
        });
        runtime.shutdown_timeout(LOOK);
        let ended = Ended::Signal(signal);
        self.ended(ended.to_string());
        Ok(ended)
    }
}

fn runtime() -> io::Result<Runtime> {
    // Judging blocks its thread while it reads the disk.
    Builder::new_multi_thread().enable_all().build()
}

fn watch_signals(tell: &Sender<Stop>) -> io::Result<()> {
    let tell = tell.clone();
    signals(move |signal| {
        // Nobody waits any more once the guard ends.
        let _ = tell.send(Stop::Signal(signal));
    })
}

fn read_client(session: &Arc<Session>, runtime: &tokio::runtime::Handle) {
    let mut stream = BufReader::with_capacity(64 * 1024, io::stdin());
    loop {
        let step = match lines::next(&mut stream, FROM_CLIENT) {
            Ok(Some(Line::Text(line))) => session.judge(line),
            Ok(Some(Line::NotUtf8)) => session.unreadable("a line that is not UTF-8"),
            Ok(Some(Line::TooLong)) => {
                session.unreadable(&format!("a line of more than {FROM_CLIENT} bytes"))
            }
            Ok(None) => return,
            Err(error) => {
                session.guard.warn(&format!("the client cannot be read: {error}"));
                return;
            }
        };
        runtime.block_on(session.take(step, None, Event::default()));
    }
}

async fn accept(listener: Arc<Listener>, socket: tokio::net::TcpListener) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let stream = match socket.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                listener
                    .guard
                    .warn(&format!("a connection cannot be accepted: {error}"));
                tokio::time::sleep(LOOK).await;
                continue;
            }
        };
        // A message in two pieces would wait for the second.
        let _ = stream.set_nodelay(true);
        let listener = Arc::clone(&listener);
        tokio::spawn(async move {
            let _permit = permit;
            let service = service_fn(move |request| {
                let listener = Arc::clone(&listener);
                async move { Ok::<_, std::convert::Infallible>(listener.answer(request).await) }
            });
            // A client that breaks off has its own reasons.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

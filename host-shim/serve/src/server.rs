//! The sockets of the service, from the first connection to the last answer.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::timeout;

use crate::router::Router;
use crate::service::Service;
use crate::tls::Identity;
use crate::tokens::Tokens;

/// How many connections may be open in one place. A proxy has a few for each of its threads.
const CONNECTIONS: u32 = 1024;

/// How many requests of one connection may be open.
const STREAMS: u32 = 1024;

/// Bytes of all headers of a request.
const HEADERS: u32 = 64 * 1024;

/// How long the head of a request, and the greeting of TLS, may take to arrive.
const HEAD: Duration = Duration::from_secs(10);

/// How often a connection on which nothing is said is asked for a sign of life, and how long that may take.
const ALIVE: Duration = Duration::from_secs(30);
const SIGN: Duration = Duration::from_secs(10);

/// How long is waited before another connection is accepted, once one could not be.
const PAUSE: Duration = Duration::from_millis(50);

/// A place to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A port. 0 is one that is free.
    Tcp(SocketAddr),
    /// A Unix socket. A socket that is left over there is replaced.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(formatter),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

/// How a service is reached.
pub struct Listening {
    /// Where it listens.
    pub addresses: Vec<Address>,
    /// The certificate for connections over TCP; they are not encrypted without one.
    pub identity: Option<Arc<Identity>>,
    /// Who may ask.
    pub tokens: Arc<Tokens>,
    /// Names of this machine that requests may be sent to where no token is asked for, besides those of the loopback interface and
    /// the address itself.
    pub hosts: Vec<String>,
    /// How long the service goes on to take requests once it says that it is not ready, so that those who send them hear of it.
    pub notice: Duration,
    /// How long requests may take to end after that.
    pub drain: Duration,
}

/// Why the service cannot be reached.
#[derive(Debug)]
pub enum ServeError {
    /// It cannot listen there.
    Listen {
        /// The place.
        address: Address,
        /// The message of the operating system.
        error: io::Error,
    },
    /// Threads or signals cannot be had.
    System(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen { address, error } => write!(formatter, "cannot listen on `{address}`: {error}"),
            Self::System(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// The places on which a service listens, with the ports that it was given.
pub type Bound = Vec<Address>;

enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Service {
    /// Answers requests until a signal asks the process to end, and then those that it has: it says that it is not ready, takes
    /// requests for the time of the notice, closes connections after their last answer, and ends. A second signal does not wait.
    /// `ready` hears the places once requests can be sent there.
    ///
    /// # Errors
    /// A place cannot be listened on.
    pub fn run(self: Arc<Self>, listening: Listening, ready: impl FnOnce(Bound)) -> Result<i32, ServeError> {
        // Judging blocks its thread while it reads the disk.
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let ended = runtime.block_on(self.answer_all(listening, ready));
        runtime.shutdown_timeout(PAUSE);
        ended
    }

    async fn answer_all(
        self: Arc<Self>,
        listening: Listening,
        ready: impl FnOnce(Bound),
    ) -> Result<i32, ServeError> {
        let mut sockets = Vec::with_capacity(listening.addresses.len());
        let mut bound = Vec::with_capacity(listening.addresses.len());
        for address in listening.addresses {
            let socket = bind(&address).await;
            let (socket, at) = socket.map_err(|error| ServeError::Listen { address, error })?;
            sockets.push(socket);
            bound.push(at);
        }
        let mut signals = Signals::new()?;
        let router = Arc::new(Router::new(
            Arc::clone(&self),
            listening.tokens,
            listening.identity.is_some(),
            listening.hosts,
        ));
        let mut rooms = Vec::with_capacity(sockets.len());
        let (end, ends) = watch::channel(false);
        let accepting: Vec<_> = sockets
            .into_iter()
            .map(|socket| {
                // Whoever fills one place leaves the others their room.
                let room = Arc::new(Semaphore::new(CONNECTIONS as usize));
                rooms.push(Arc::clone(&room));
                let identity = listening.identity.clone();
                let accept = accept(
                    socket,
                    identity,
                    Arc::clone(&self),
                    Arc::clone(&router),
                    room,
                    ends.clone(),
                );
                tokio::spawn(accept)
            })
            .collect();
        ready(bound.clone());
        let number = signals.next().await;
        self.end();
        // A second signal does not wait.
        let _ = timeout(listening.notice, signals.next()).await;
        for accepting in &accepting {
            accepting.abort();
        }
        end.send_replace(true);
        let all_ended = async {
            for room in &rooms {
                // A room is never closed.
                let _ = room.acquire_many(CONNECTIONS).await;
            }
        };
        tokio::select! {
            () = all_ended => {}
            () = tokio::time::sleep(listening.drain) => {}
            _ = signals.next() => {}
        }
        for address in &bound {
            if let Address::Unix(path) = address {
                // The next service replaces it otherwise.
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(number)
    }
}

/// Signals that ask the process to end.
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// The number of the next one.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
        }
    }
}

async fn bind(address: &Address) -> io::Result<(Socket, Address)> {
    match address {
        Address::Tcp(at) => {
            let listener = TcpListener::bind(at).await?;
            let at = listener.local_addr()?;
            Ok((Socket::Tcp(listener), Address::Tcp(at)))
        }
        Address::Unix(path) => {
            remove_left_over(path)?;
            Ok((Socket::Unix(UnixListener::bind(path)?), address.clone()))
        }
    }
}

/// Removes a socket on which nobody listens any more. Anything else stays, and cannot be listened on.
fn remove_left_over(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => {
            if std::os::unix::net::UnixStream::connect(path).is_ok() {
                return Err(io::ErrorKind::AddrInUse.into());
            }
            std::fs::remove_file(path)
        }
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

async fn accept(
    socket: Socket,
    identity: Option<Arc<Identity>>,
    service: Arc<Service>,
    router: Arc<Router>,
    room: Arc<Semaphore>,
    ends: watch::Receiver<bool>,
) {
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let accepted = match &socket {
            Socket::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                // An answer in two pieces would wait for the second.
                let _ = stream.set_nodelay(true);
                Stream::Tcp(stream)
            }),
            Socket::Unix(listener) => listener.accept().await.map(|(stream, _)| Stream::Unix(stream)),
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                service.warn(&format!("a connection cannot be accepted: {error}"));
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let acceptor = identity.as_deref().map(Identity::acceptor);
        let (router, ends) = (Arc::clone(&router), ends.clone());
        tokio::spawn(async move {
            let _permit = permit;
            match (stream, acceptor) {
                (Stream::Tcp(stream), Some(acceptor)) => {
                    if let Ok(Ok(stream)) = timeout(HEAD, acceptor.accept(stream)).await {
                        converse(stream, None, router, ends).await;
                    }
                }
                (Stream::Tcp(stream), None) => {
                    // Without one it has ended.
                    if let Ok(here) = stream.local_addr() {
                        converse(stream, Some(here), router, ends).await;
                    }
                }
                (Stream::Unix(stream), _) => converse(stream, None, router, ends).await,
            }
        });
    }
}

enum Stream {
    Tcp(tokio::net::TcpStream),
    Unix(tokio::net::UnixStream),
}

/// Answers the requests of a connection; once the service ends, those that it has begun. `open` is the address of one that a page in a
/// browser can make.
async fn converse<S>(
    stream: S,
    open: Option<SocketAddr>,
    router: Arc<Router>,
    mut ends: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEADERS as usize)
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        // A proxy sends the requests of all its clients here. When many of them hang up at once, as where the machine is busy, the
        // connection stays for the others: by itself hyper ends it at more than 20 requests that were taken back before they were read.
        .max_pending_accept_reset_streams(STREAMS as usize)
        .max_header_list_size(HEADERS)
        .keep_alive_interval(ALIVE)
        .keep_alive_timeout(SIGN);
    let has_asked = Arc::new(Notify::new());
    let asking = Arc::clone(&has_asked);
    let service = service_fn(move |request| {
        asking.notify_one();
        let router = Arc::clone(&router);
        async move { Ok::<_, std::convert::Infallible>(router.answer(request, open).await) }
    });
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // A connection that asks nothing holds the place of one that would.
    tokio::select! {
        _ = connection.as_mut() => return,
        asked = timeout(HEAD, has_asked.notified()) => if asked.is_err() { return },
        _ = ends.wait_for(|ends| *ends) => {}
    }
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = ends.wait_for(|ends| *ends) => {}
    }
    connection.as_mut().graceful_shutdown();
    // Who breaks off has reasons of their own.
    let _ = connection.await;
}

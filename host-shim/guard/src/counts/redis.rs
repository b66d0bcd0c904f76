//! Counts in a server of Redis, which guards, hooks and services of several machines share.
//!
//! The lock is a key with a token that nobody else knows, and ends by itself where its owner does not come back. The document is
//! written in the same step in which the lock is seen to be still there, so no two calls are counted as one.

use std::fmt;
use std::io::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Client, Connection, FromRedisValue, IntoConnectionInfo as _, cmd};

use super::clock::Clock;
use crate::locking::PATIENCE;

/// Both in one slot of a cluster.
const DOCUMENT: &str = "{callgate}:counts";
const LOCK: &str = "{callgate}:counts:lock";

/// How long the server may take for an answer.
const ANSWER: Duration = Duration::from_secs(1);

/// How long a lock holds whose owner does not come back, in milliseconds. A call is judged in far less.
const HELD: u64 = 10_000;

/// How often a lock is tried that another program has.
const AGAIN: Duration = Duration::from_millis(5);

/// How many connections are kept for the next calls.
const IDLE: usize = 16;

/// How long the document is kept beyond its last call that counts, in seconds: clocks differ.
const BEYOND: i64 = 300;

/// Writes the document if the lock is this owner's, and lets go.
const WRITE: &str = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
    redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3]) redis.call('DEL', KEYS[1]) return 1";

/// Lets go if the lock is this owner's.
const RELEASE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/// The server.
#[derive(Clone)]
pub(super) struct Redis(Arc<Server>);

struct Server {
    client: Client,
    idle: Mutex<Vec<Connection>>,
    /// Until when the document must be there, in seconds since 1970: a server that forgot what was counted knows of no calls either.
    until: AtomicI64,
}

/// The lock, until the document is written or this is dropped.
pub(super) struct Locked {
    server: Arc<Server>,
    token: String,
    /// `None` once it has let go.
    connection: Option<Connection>,
}

impl fmt::Debug for Redis {
    /// Without the URL, which may have a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Redis")
    }
}

impl Redis {
    /// Nothing is asked yet.
    pub(super) fn new(url: &str) -> std::result::Result<Self, String> {
        let expected = "expected redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] or rediss://…";
        // The text stays out of the message: it may have a password.
        let info = url.into_connection_info();
        let info = info.map_err(|error| format!("{error}; {expected}"))?;
        crate::tls::choose();
        let client = Client::open(info).map_err(|error| format!("{error}; {expected}"))?;
        Ok(Self(Arc::new(Server {
            client,
            idle: Mutex::default(),
            until: AtomicI64::new(i64::MIN),
        })))
    }

    /// # Errors
    /// The server does not answer, or another program has the lock all the time, or the document is gone.
    pub(super) fn lock(&self) -> Result<(Locked, Option<String>)> {
        let server = &self.0;
        let token = token()?;
        let deadline = Instant::now() + PATIENCE;
        let mut connection = server.connection()?;
        loop {
            let mut set = cmd("SET");
            set.arg(LOCK).arg(&token).arg("NX").arg("PX").arg(HELD);
            let is_locked: Option<String> = asked(&mut set, &mut connection)?;
            if is_locked.is_some() {
                break;
            }
            if Instant::now() >= deadline {
                let reason = format!("another program has had them locked for {} s", PATIENCE.as_secs());
                return Err(Error::new(ErrorKind::TimedOut, reason));
            }
            thread::sleep(AGAIN);
        }
        let mut locked = Locked {
            server: Arc::clone(server),
            token,
            connection: Some(connection),
        };
        let text: Option<String> = locked.ask(cmd("GET").arg(DOCUMENT))?;
        if text.is_none() && Clock::now().at <= server.until.load(Ordering::Relaxed) {
            return Err(Error::new(
                ErrorKind::NotFound,
                "Redis has forgotten what was counted",
            ));
        }
        Ok((locked, text))
    }
}

impl Server {
    /// One that was kept and still answers, or a new one.
    fn connection(&self) -> Result<Connection> {
        loop {
            let kept = self.idle().pop();
            let Some(mut kept) = kept else {
                break;
            };
            if asked::<String>(&mut cmd("PING"), &mut kept).is_ok() {
                return Ok(kept);
            }
        }
        let connection = self.client.get_connection_with_timeout(ANSWER).map_err(failed)?;
        connection.set_read_timeout(Some(ANSWER)).map_err(failed)?;
        connection.set_write_timeout(Some(ANSWER)).map_err(failed)?;
        Ok(connection)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Locked {
    /// # Errors
    /// The lock was lost meanwhile, or the server does not say that the document is written.
    pub(super) fn write(mut self, text: &str, seconds: i64) -> Result<()> {
        let token = self.token.clone();
        let mut write = cmd("EVAL");
        write.arg(WRITE).arg(2).arg(LOCK).arg(DOCUMENT);
        write.arg(token).arg(text).arg(seconds.saturating_add(BEYOND));
        let is_written: bool = self.ask(&mut write)?;
        if !is_written {
            return Err(Error::new(
                ErrorKind::TimedOut,
                "the lock on what was counted has ended",
            ));
        }
        let until = Clock::now().at.saturating_add(seconds);
        self.server.until.fetch_max(until, Ordering::Relaxed);
        self.keep();
        Ok(())
    }

    /// A connection that failed is not used again.
    fn ask<T: FromRedisValue>(&mut self, command: &mut redis::Cmd) -> Result<T> {
        let Some(connection) = &mut self.connection else {
            return Err(Error::from(ErrorKind::NotConnected));
        };
        let answer = asked(command, connection);
        if answer.is_err() {
            self.connection = None;
        }
        answer
    }

    fn keep(&mut self) {
        let mut idle = self.server.idle();
        if let Some(connection) = self.connection.take().filter(|_| idle.len() < IDLE) {
            idle.push(connection);
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if self.connection.is_some() {
            let token = self.token.clone();
            // Where this fails the lock ends by itself.
            let released = self.ask::<i64>(cmd("EVAL").arg(RELEASE).arg(1).arg(LOCK).arg(token));
            if released.is_ok() {
                self.keep();
            }
        }
    }
}

fn asked<T: FromRedisValue>(command: &mut redis::Cmd, connection: &mut Connection) -> Result<T> {
    command.query(connection).map_err(failed)
}

/// An error that says whose it is.
fn failed(error: redis::RedisError) -> Error {
    Error::other(format!("Redis: {error}"))
}

/// 128 random bits.
fn token() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

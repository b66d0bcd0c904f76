//! Sessions of clients over HTTP: their names, how many there may be, and their ends.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::HeaderMap;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::block_in_place;

use super::answer::{Whole, message, refusal, text_answer};
use super::bodies::Bodies;
use super::door::Visitors;
use super::events::Event;
use super::headers::{self, SESSION};
use super::remote::{Connection, Remote};
use super::request::{no_room, no_session};
use super::session::{Client, Server, Session};
use super::started::Started;
use super::streams::Streams;
use super::workers::Workers;
use crate::child::{self, Program};
use crate::listed::Listed;
use crate::{Guard, reply};

/// How long a session that nobody uses is kept, and how long where there is no room for another.
const KEPT: Duration = Duration::from_secs(60 * 60);
const KEPT_WITHOUT_ROOM: Duration = Duration::from_secs(60);

/// Random bytes of a session's name.
const NAME: usize = 32;

/// The server of a guard that listens.
pub(super) enum Behind {
    /// One process for each session.
    Program(Program),
    Url(Arc<Remote>),
}

/// A guard that listens.
pub(super) struct Listener {
    pub(super) guard: Arc<Guard>,
    pub(super) visitors: Visitors,
    pub(super) here: SocketAddr,
    pub(super) behind: Behind,
    /// One for each session, and for each program.
    pub(super) room: Arc<Semaphore>,
    pub(super) sessions: Mutex<BTreeMap<String, Kept>>,
    /// Those of requests that stand by themselves, while these are answered.
    pub(super) standing: Mutex<Vec<Weak<Session>>>,
    pub(super) bodies: Bodies,
    pub(super) workers: Arc<Workers>,
    /// The tools that a server at an address has listed to requests that stand by themselves.
    pub(super) listed: Arc<Listed>,
    pub(super) started: Started,
    /// No more requests are taken.
    pub(super) is_closed: AtomicBool,
}

pub(super) struct Kept {
    session: Arc<Session>,
    _permit: OwnedSemaphorePermit,
}

impl Listener {
    /// A new session, and its name.
    pub(super) fn open(&self) -> Result<(String, Arc<Session>), Whole> {
        let permit = self.room().ok_or_else(no_room)?;
        let mut bytes = [0; NAME];
        if let Err(error) = getrandom::fill(&mut bytes) {
            self.guard.warn(&format!("no session can be named: {error}"));
            return Err(text_answer(
                StatusCode::INTERNAL_SERVER_ERROR,
                "no session can be named",
            ));
        }
        let named: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let client = Client::Streams(Streams::default());
        let session = match &self.behind {
            Behind::Url(remote) => {
                let server = Server::Url(Connection::new(Arc::clone(remote)));
                Session::new(Arc::clone(&self.guard), client, server)
            }
            Behind::Program(program) => {
                let started = self.started.start(program);
                let (running, output) = started.map_err(|error| self.cannot_start(program, &error))?;
                let session = Session::new(Arc::clone(&self.guard), client, Server::Program(running));
                let told = Arc::clone(&session);
                let runtime = Handle::current();
                let reading = thread::Builder::new().name("server".into()).spawn(move || {
                    child::read(&told.guard, output, |line| {
                        runtime.block_on(told.server_said(line, None, Event::default()));
                    });
                    runtime.block_on(told.server_left());
                });
                reading.map_err(|error| self.cannot_start(program, &error))?;
                session
            }
        };
        let kept = Kept {
            session: Arc::clone(&session),
            _permit: permit,
        };
        self.sessions().insert(named.clone(), kept);
        Ok((named, session))
    }

    pub(super) fn cannot_start(&self, program: &Program, error: &std::io::Error) -> Whole {
        let reason = format!(
            "cannot start the server `{}`: {error}",
            program.command.to_string_lossy()
        );
        self.guard.warn(&reason);
        message(
            StatusCode::BAD_GATEWAY,
            reply::error(None, reply::INTERNAL_ERROR, "the server cannot be started"),
        )
    }

    /// Room for one more session, if need be that of one that nobody uses any more.
    pub(super) fn room(&self) -> Option<OwnedSemaphorePermit> {
        let room = || Arc::clone(&self.room).try_acquire_owned().ok();
        if let Some(permit) = room() {
            return Some(permit);
        }
        if !self.workers.end_one() {
            let idle = {
                let sessions = self.sessions();
                let idle = sessions.iter().map(|(name, kept)| (kept.session.idle(), name));
                idle.filter(|(idle, _)| *idle >= KEPT_WITHOUT_ROOM)
                    .max()
                    .map(|(_, name)| name.clone())
            };
            self.forget(&idle?);
        }
        room()
    }

    /// Room for one more program that answers a request, if need be that of one that waits for another.
    pub(super) fn room_for_request(&self) -> Option<OwnedSemaphorePermit> {
        let room = || Arc::clone(&self.room).try_acquire_owned().ok();
        room().or_else(|| self.workers.end_one().then(room).flatten())
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if a request names a session that there is.
    pub(super) fn has_session(&self, headers: &HeaderMap) -> bool {
        let named = headers::one(headers, &SESSION).ok().flatten();
        named.is_some_and(|named| self.sessions().contains_key(named))
    }

    /// The session that a request names.
    pub(super) fn session(&self, headers: &HeaderMap) -> Result<(String, Arc<Session>), Whole> {
        let named = headers::one(headers, &SESSION);
        let named = named.map_err(|reason| refusal(StatusCode::BAD_REQUEST, &reason))?;
        let named = named.ok_or_else(|| {
            refusal(
                StatusCode::BAD_REQUEST,
                "the header `mcp-session-id` is missing, expected the name that the answer to `initialize` has",
            )
        })?;
        let found = self.sessions().get(named).map(|kept| Arc::clone(&kept.session));
        let session = found.ok_or_else(no_session)?;
        if session.is_over() {
            self.forget(named);
            return Err(no_session());
        }
        session.touch();
        Ok((named.to_owned(), session))
    }

    pub(super) fn forget(&self, name: &str) {
        let kept = self.sessions().remove(name);
        if let Some(Kept { session, .. }) = kept {
            tokio::spawn(async move { session.end().await });
        }
    }

    pub(super) fn forget_session(&self, session: &Arc<Session>) {
        let name = {
            let sessions = self.sessions();
            let found = sessions
                .iter()
                .find(|(_, kept)| Arc::ptr_eq(&kept.session, session));
            found.map(|(name, _)| name.clone())
        };
        if let Some(name) = name {
            self.forget(&name);
        }
    }

    /// Ends sessions that nobody uses any more, and those whose server has ended.
    pub(super) fn tidy(&self) {
        let names: Vec<String> = {
            let sessions = self.sessions();
            let over = sessions.iter().filter(|(_, kept)| {
                kept.session.is_over() || kept.session.is_stuck() || kept.session.idle() >= KEPT
            });
            over.map(|(name, _)| name.clone()).collect()
        };
        names.iter().for_each(|name| self.forget(name));
    }

    /// Every session, and those of requests that stand by themselves.
    fn all(&self) -> Vec<Arc<Session>> {
        let mut all: Vec<_> = {
            let sessions = self.sessions();
            sessions.values().map(|kept| Arc::clone(&kept.session)).collect()
        };
        all.extend(self.standing());
        all
    }

    pub(super) fn calls_in_flight(&self) -> usize {
        self.all().iter().map(|session| session.calls_in_flight()).sum()
    }

    /// No session sends a call any more; those that wait to be sent are denied. Clients are told side by side: none waits for one that
    /// does not read.
    pub(super) async fn stop(&self) {
        let stopping = self.all().into_iter();
        let stopping: Vec<_> = stopping
            .map(|session| tokio::spawn(async move { session.stop().await }))
            .collect();
        for stopped in stopping {
            // One that fails has nothing to say any more.
            let _ = stopped.await;
        }
    }

    /// Remembers the session of a request that stands by itself, for as long as it lasts.
    pub(super) fn stands(&self, session: &Arc<Session>) {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.retain(|session| session.strong_count() > 0);
        standing.push(Arc::downgrade(session));
    }

    fn standing(&self) -> Vec<Arc<Session>> {
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.iter().filter_map(Weak::upgrade).collect()
    }

    /// Ends every session and every program.
    pub(super) async fn end(&self) {
        let kept = std::mem::take(&mut *self.sessions());
        let sessions = kept.into_values().map(|kept| kept.session);
        let ended: Vec<_> = sessions
            .chain(self.standing())
            .map(|session| tokio::spawn(async move { session.end().await }))
            .collect();
        while self.workers.end_one() {}
        for ended in ended {
            // One that fails has nothing to say any more.
            let _ = ended.await;
        }
        block_in_place(|| self.started.end());
    }
}

//! Programs that answer requests without a session: one request at a time each, so that no answer goes to another client.

use std::process::ChildStdout;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::{io, thread};

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;

use super::events::Event;
use super::names::{self, Names, Routed};
use super::session::{Session, Shared};
use crate::Guard;
use crate::child::{self, Running};
use crate::listed::Listed;
use crate::message::Message;

/// Programs that wait for a request.
#[derive(Default)]
pub(super) struct Workers(Mutex<Vec<Idle>>);

struct Idle {
    line: Arc<Line>,
    permit: OwnedSemaphorePermit,
}

/// A program, and whom it serves.
struct Line {
    guard: Arc<Guard>,
    running: Arc<Running>,
    /// The tools that it has listed.
    listed: Arc<Listed>,
    /// `None` while it waits.
    serving: Mutex<Option<Serving>>,
}

/// A client that a program serves.
struct Serving {
    session: Arc<Session>,
    /// `None` if the program serves no other client, before or after.
    names: Option<Names>,
}

/// A program that answers a request.
pub(super) struct Worker {
    line: Arc<Line>,
    /// It serves no other client.
    is_own: bool,
    permit: Option<OwnedSemaphorePermit>,
    pool: Weak<Workers>,
}

impl Workers {
    /// An idle program, or a new one, which the permit is for. A request gets a program of its own if the server may send
    /// messages that do not say which request they belong to.
    pub(super) fn take(
        self: &Arc<Self>,
        guard: &Arc<Guard>,
        is_own: bool,
        permit: impl FnOnce() -> Option<OwnedSemaphorePermit>,
        start: impl FnOnce() -> io::Result<(Arc<Running>, ChildStdout)>,
    ) -> io::Result<Option<Worker>> {
        let worker = |line, permit| Worker {
            line,
            is_own,
            permit: Some(permit),
            pool: Arc::downgrade(self),
        };
        while let Some(idle) = (!is_own).then(|| self.pop()).flatten() {
            if idle.line.running.is_running() {
                return Ok(Some(worker(idle.line, idle.permit)));
            }
        }
        let Some(permit) = permit() else { return Ok(None) };
        let (running, output) = start()?;
        let line = Arc::new(Line {
            guard: Arc::clone(guard),
            running,
            listed: guard.unlisted(),
            serving: Mutex::default(),
        });
        let (reading, runtime) = (Arc::clone(&line), Handle::current());
        thread::Builder::new().name("server".into()).spawn(move || {
            child::read(&reading.guard, output, |text| reading.route(&runtime, text));
            let served = reading
                .serving()
                .as_ref()
                .map(|serving| Arc::clone(&serving.session));
            if let Some(session) = served {
                runtime.block_on(session.server_left());
            }
        })?;
        Ok(Some(worker(line, permit)))
    }

    fn pop(&self) -> Option<Idle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Ends one program that waits. Returns `false` if none does.
    pub(super) fn end_one(&self) -> bool {
        let Some(idle) = self.pop() else { return false };
        end(Arc::clone(&idle.line.running));
        true
    }
}

impl Line {
    fn serving(&self) -> MutexGuard<'_, Option<Serving>> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message of the program.
    fn route(&self, runtime: &Handle, text: String) {
        let warn = |what: &str| self.guard.warn(what);
        let (routed, session) = match &mut *self.serving() {
            Some(Serving { session, names }) => {
                let routed = match names {
                    Some(names) => names.inward(text, warn),
                    None => alone(text, warn),
                };
                (routed, Arc::clone(session))
            }
            None => {
                if is_list_changed(&text) {
                    self.listed.outdate();
                } else {
                    warn("the server spoke while it had no request; it is not passed on");
                }
                return;
            }
        };
        match routed {
            Routed::ToClient(text) => runtime.block_on(session.server_said(text, None, Event::default())),
            Routed::Back(text) => self.running.send(text),
            Routed::ToolsChanged => self.listed.outdate(),
            Routed::Nowhere => {}
        }
    }
}

impl Shared for Line {
    fn send(&self, session: &Arc<Session>, text: String) {
        let text = match &mut *self.serving() {
            Some(serving) if Arc::ptr_eq(&serving.session, session) => match &mut serving.names {
                Some(names) => names.outward(text),
                None => Some(text),
            },
            Some(_) | None => None,
        };
        if let Some(text) = text {
            self.running.send(text);
        }
    }

    fn end(&self) {
        self.running.close();
        // How it ended says nothing: it was told to.
        let _ = self.running.stop();
    }
}

/// Returns `true` if a program says that its tools have changed.
fn is_list_changed(text: &str) -> bool {
    let message = Message::read(text);
    matches!(message, Ok(Message::Notification { method, .. }) if method == "notifications/tools/list_changed")
}

/// Passes a message on from a program that serves one client alone.
fn alone(text: String, warn: impl Fn(&str)) -> Routed {
    let refused = match Message::read(&text) {
        Ok(Message::Request(request)) => Some(names::refused(&request.id, &request.method, warn)),
        Ok(Message::Notification { .. } | Message::Response { .. }) | Err(_) => None,
    };
    refused.map_or(Routed::ToClient(text), Routed::Back)
}

impl Worker {
    /// The program, for the session of its client.
    pub(super) fn program(&self) -> Arc<dyn Shared> {
        Arc::<Line>::clone(&self.line)
    }

    /// The tools that the program has listed.
    pub(super) fn listed(&self) -> Arc<Listed> {
        Arc::clone(&self.line.listed)
    }

    /// From now on the program serves this client.
    pub(super) fn serve(&self, session: &Arc<Session>) {
        *self.line.serving() = Some(Serving {
            session: Arc::clone(session),
            names: (!self.is_own).then(Names::default),
        });
    }

    /// The program waits for the next request, or ends.
    pub(super) fn release(mut self, is_usable: bool) {
        *self.line.serving() = None;
        let line = Arc::clone(&self.line);
        match (self.pool.upgrade(), self.permit.take()) {
            (Some(pool), Some(permit)) if is_usable && !self.is_own && line.running.is_running() => {
                let idle = Idle { line, permit };
                pool.0.lock().unwrap_or_else(PoisonError::into_inner).push(idle);
            }
            (_, _) => end(Arc::clone(&line.running)),
        }
    }
}

/// Ends a program, which may take seconds.
fn end(running: Arc<Running>) {
    running.close();
    thread::spawn(move || {
        // How it ended says nothing: it was told to.
        let _ = running.stop();
    });
}

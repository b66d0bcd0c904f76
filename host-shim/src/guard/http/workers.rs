//! Programs that answer requests without a session: one request at a time each, so that no answer goes to another client.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;

use super::events::Event;
use super::session::Session;
use crate::guard::Guard;
use crate::guard::child::{self, Program, Running};

/// Programs that wait for a request.
#[derive(Default)]
pub(super) struct Workers(Mutex<Vec<Idle>>);

struct Idle {
    running: Arc<Running>,
    target: Target,
    permit: OwnedSemaphorePermit,
}

/// Who is told what the program says; `None` while it waits.
type Target = Arc<Mutex<Option<Arc<Session>>>>;

/// A program that answers a request.
pub(super) struct Worker {
    pub(super) running: Arc<Running>,
    target: Target,
    permit: Option<OwnedSemaphorePermit>,
    pool: Weak<Workers>,
}

impl Workers {
    /// A program that waits, or a new one, for which the permit is.
    pub(super) fn take(
        self: &Arc<Self>,
        guard: &Arc<Guard>,
        program: &Program,
        permit: impl FnOnce() -> Option<OwnedSemaphorePermit>,
    ) -> std::io::Result<Option<Worker>> {
        let pool = Arc::downgrade(self);
        while let Some(idle) = self.pop() {
            if idle.running.is_running() {
                return Ok(Some(Worker {
                    running: idle.running,
                    target: idle.target,
                    permit: Some(idle.permit),
                    pool,
                }));
            }
        }
        let Some(permit) = permit() else { return Ok(None) };
        let (running, output) = Running::start(program)?;
        let target = Target::default();
        let (guard, told) = (Arc::clone(guard), Arc::clone(&target));
        let runtime = Handle::current();
        thread::Builder::new().name("server".into()).spawn(move || {
            let session = || told.lock().unwrap_or_else(PoisonError::into_inner).clone();
            child::read(&guard, output, |line| {
                if let Some(session) = session() {
                    runtime.block_on(session.server_said(line, None, Event::default()));
                }
            });
            if let Some(session) = session() {
                runtime.block_on(session.server_left());
            }
        })?;
        Ok(Some(Worker {
            running: Arc::new(running),
            target,
            permit: Some(permit),
            pool,
        }))
    }

    fn pop(&self) -> Option<Idle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Ends one program that waits. Returns `false` if none does.
    pub(super) fn end_one(&self) -> bool {
        let Some(idle) = self.pop() else { return false };
        end(idle.running);
        true
    }
}

impl Worker {
    /// From now on the program's messages are for this session.
    pub(super) fn serve(&self, session: &Arc<Session>) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(session));
    }

    /// The program waits for the next request, or ends.
    pub(super) fn release(mut self, is_usable: bool) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let running = Arc::clone(&self.running);
        match (self.pool.upgrade(), self.permit.take()) {
            (Some(pool), Some(permit)) if is_usable && running.is_running() => {
                let target = Arc::clone(&self.target);
                let idle = Idle {
                    running,
                    target,
                    permit,
                };
                pool.0.lock().unwrap_or_else(PoisonError::into_inner).push(idle);
            }
            (_, _) => end(running),
        }
    }
}

/// Ends a program, which may take seconds.
pub(super) fn end(running: Arc<Running>) {
    running.close();
    thread::spawn(move || {
        // How it ended says nothing: it was told to.
        let _ = running.stop();
    });
}

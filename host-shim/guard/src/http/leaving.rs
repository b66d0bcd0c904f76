//! Streams that their client no longer reads.

use std::sync::Arc;

use tokio::task::AbortHandle;

use super::session::{Client, Session};
use super::workers::Worker;
use crate::message::Id;

/// Ends what belongs to a stream once it is dropped.
#[derive(Default)]
pub(super) struct Leaving {
    pub(super) session: Option<Arc<Session>>,
    /// The request that the stream answers.
    pub(super) request: Option<Id>,
    /// The answer was said.
    pub(super) is_answered: bool,
    /// In the modern era whoever leaves before the answer cancels the request.
    pub(super) cancels: bool,
    /// The number of the stream on which the server speaks by itself.
    pub(super) own: Option<u64>,
    /// The task that reads the server's stream for it.
    pub(super) task: Option<AbortHandle>,
    /// The program that answers the request.
    pub(super) worker: Option<Worker>,
}

impl Leaving {
    pub(super) fn of(session: &Arc<Session>) -> Self {
        let mut leaving = Self::default();
        leaving.session = Some(Arc::clone(session));
        leaving
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
        let worker = self.worker.take();
        let Some(session) = self.session.take() else {
            return;
        };
        session.touch();
        if let Client::Streams(streams) = &session.client {
            if let Some(id) = &self.request {
                streams.close(id);
            }
            if let Some(number) = self.own {
                streams.close_own(number);
            }
        }
        if let (true, false, Some(id)) = (self.cancels, self.is_answered, &self.request) {
            session.left(id);
        }
        if let Some(worker) = worker {
            // A late answer of the program to a request that was given up would be taken for an answer to the next.
            worker.release(self.is_answered);
        }
    }
}

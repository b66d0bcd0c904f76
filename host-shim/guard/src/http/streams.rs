//! The streams on which a client over HTTP is answered, and what is said on which of them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::error::SendTimeoutError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::envelope::{Envelope, Kind};
use super::events::Event;
use crate::message::Id;

/// How many messages may wait on a stream, and for a stream.
const WAITING: usize = 16;
const QUEUED: usize = 256;

/// Bytes of the messages that wait for a stream.
const QUEUED_BYTES: usize = 16 * 1024 * 1024;

/// How long a client may read nothing of a stream on which more waits.
const READING: Duration = Duration::from_secs(60);

/// One thing said on a stream.
#[derive(Debug)]
pub(super) enum Piece {
    /// A message before the answer, or only the event's id.
    Part(Event),
    /// The answer.
    Last(Event),
    /// The server does not know the session any more.
    Expired,
    /// The client has taken the request back.
    Cancelled,
}

/// The streams of one client.
#[derive(Default)]
pub(super) struct Streams(Mutex<State>);

#[derive(Default)]
struct State {
    /// Streams of requests that wait, by the text of the id, with the token of their progress. The last is the newest.
    posts: Vec<Post>,
    /// The stream on which the server speaks by itself, and which it is.
    own: Option<(u64, Sender<Piece>)>,
    opened: u64,
    queue: VecDeque<Event>,
}

struct Post {
    id: String,
    progress: Option<String>,
    to: Sender<Piece>,
}

impl Streams {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn are_open(&self) -> bool {
        let state = self.state();
        !state.posts.is_empty() || state.own.is_some()
    }

    /// A stream for the answer to a request; `None` if there is one already.
    pub(super) fn open(&self, id: &Id, progress: Option<String>) -> Option<Receiver<Piece>> {
        let mut state = self.state();
        if state.posts.iter().any(|post| post.id == id.text) {
            return None;
        }
        let (to, from) = channel(WAITING);
        let id = id.text.clone();
        state.posts.push(Post { id, progress, to });
        Some(from)
    }

    /// The client has taken a request back, so its stream ends.
    pub(super) fn cancel(&self, id: &Id) {
        if let Some(to) = self.state().take(&id.text) {
            // One whose client does not read ends without it.
            let _ = to.try_send(Piece::Cancelled);
        }
    }

    /// Nothing more comes for a request.
    pub(super) fn close(&self, id: &Id) {
        self.state().posts.retain(|post| post.id != id.text);
    }

    /// A stream on which the server speaks by itself, in place of the one before, and its number. It begins with what
    /// nobody could be told.
    pub(super) fn open_own(&self) -> (u64, Receiver<Piece>, Vec<Event>) {
        let mut state = self.state();
        let (to, from) = channel(WAITING);
        state.opened += 1;
        let number = state.opened;
        state.own = Some((number, to));
        let queued = std::mem::take(&mut state.queue);
        (number, from, queued.into())
    }

    pub(super) fn close_own(&self, number: u64) {
        let mut state = self.state();
        if state.own.as_ref().is_some_and(|(known, _)| *known == number) {
            state.own = None;
        }
    }

    /// Says something on the stream of a request.
    pub(super) async fn send(&self, id: &Id, piece: Piece) {
        let to = self.state().post(&id.text);
        if let Some(to) = to {
            // The client may have left.
            let _ = self.say(&to, piece).await;
        }
    }

    /// Says something on a stream. A stream whose client does not read ends. Gives back what was not said.
    async fn say(&self, to: &Sender<Piece>, piece: Piece) -> Option<Piece> {
        match to.send_timeout(piece, READING).await {
            Ok(()) => None,
            Err(SendTimeoutError::Closed(piece)) => Some(piece),
            Err(SendTimeoutError::Timeout(piece)) => {
                self.state().forget(to);
                Some(piece)
            }
        }
    }

    /// Says a message where it belongs: an answer on the stream of its request, anything else on the stream of the request
    /// that it is about, or the one for whatever the server says by itself.
    pub(super) async fn deliver(&self, text: String, origin: Option<&Id>, mut event: Event) {
        let envelope = Envelope::read(&text);
        event.data = Some(text);
        let answered = match envelope.as_ref().map(|envelope| &envelope.kind) {
            Some(Kind::Response { id: Some(id) }) => Some(id.text.clone()),
            _ => None,
        };
        let to = {
            let mut state = self.state();
            match answered.as_deref().and_then(|id| state.take(id)) {
                Some(to) => Some((to, true)),
                None => state.stream_for(origin, envelope.as_ref()).map(|to| (to, false)),
            }
        };
        let unsaid = match to {
            Some((to, true)) => self.say(&to, Piece::Last(event)).await,
            Some((to, false)) => self.say(&to, Piece::Part(event)).await,
            None => Some(Piece::Part(event)),
        };
        // The next stream begins with it.
        if let Some(Piece::Part(event) | Piece::Last(event)) = unsaid {
            let mut state = self.state();
            let bytes = event.data.as_ref().map_or(0, String::len);
            let has_room = state.queue.len() < QUEUED && state.queued() + bytes <= QUEUED_BYTES;
            if has_room && bytes > 0 {
                state.queue.push_back(event);
            }
        }
    }
}

impl State {
    fn queued(&self) -> usize {
        let data = self.queue.iter().filter_map(|event| event.data.as_ref());
        data.map(String::len).sum()
    }

    /// A stream that nobody reads ends.
    fn forget(&mut self, stream: &Sender<Piece>) {
        self.posts.retain(|post| !post.to.same_channel(stream));
        self.own = self.own.take().filter(|(_, own)| !own.same_channel(stream));
    }

    fn post(&self, id: &str) -> Option<Sender<Piece>> {
        let post = self.posts.iter().find(|post| post.id == id)?;
        Some(post.to.clone())
    }

    fn take(&mut self, id: &str) -> Option<Sender<Piece>> {
        let at = self.posts.iter().position(|post| post.id == id)?;
        Some(self.posts.remove(at).to)
    }

    fn stream_for(&self, origin: Option<&Id>, envelope: Option<&Envelope>) -> Option<Sender<Piece>> {
        if let Some(to) = origin.and_then(|id| self.post(&id.text)) {
            return Some(to);
        }
        let refers = envelope.and_then(|envelope| envelope.refers.as_deref());
        let told = refers.and_then(|token| {
            self.posts
                .iter()
                .find(|post| post.progress.as_deref() == Some(token))
        });
        if let Some(post) = told {
            return Some(post.to.clone());
        }
        let own = self.own.as_ref().map(|(_, to)| to.clone());
        own.or_else(|| self.posts.last().map(|post| post.to.clone()))
    }
}

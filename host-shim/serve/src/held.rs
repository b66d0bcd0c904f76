//! How many bytes of messages are held at a time, for all requests together.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::{Code, Status};

/// Bytes of all messages.
const ALL: usize = 256 * 1024 * 1024;

/// Bytes that a request takes without any message.
const REQUEST: usize = 4 * 1024;

/// The room for messages.
#[derive(Clone)]
pub(crate) struct Room(Arc<Semaphore>);

/// What one request holds of the room.
pub(crate) struct Held {
    room: Arc<Semaphore>,
    permit: Mutex<OwnedSemaphorePermit>,
}

/// The body of a request, whose bytes are held as they arrive.
pub(crate) struct Arriving<B> {
    body: B,
    held: Arc<Held>,
}

impl Default for Room {
    fn default() -> Self {
        Self::with(ALL)
    }
}

impl Room {
    fn with(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes)))
    }

    /// The place of one more request.
    ///
    /// # Errors
    /// Others have all the room.
    pub(crate) fn enter(&self) -> Result<Arc<Held>, Status> {
        let permit = acquire(&self.0, REQUEST)?;
        Ok(Arc::new(Held {
            room: Arc::clone(&self.0),
            permit: Mutex::new(permit),
        }))
    }
}

fn acquire(room: &Arc<Semaphore>, bytes: usize) -> Result<OwnedSemaphorePermit, Status> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let permit = Arc::clone(room).try_acquire_many_owned(bytes);
    permit.map_err(|_| Status::resource_exhausted("other messages have all the room, try again later"))
}

/// Returns `true` if a body was not read because others have all the room.
pub(crate) fn has_no_room(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    let status = error.downcast_ref::<Status>();
    status.is_some_and(|status| status.code() == Code::ResourceExhausted)
}

impl Held {
    fn add(&self, bytes: usize) -> Result<(), Status> {
        let more = acquire(&self.room, bytes)?;
        self.permit
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .merge(more);
        Ok(())
    }

    /// Gives back the room of what is not kept any more, and holds so many bytes on.
    pub(crate) fn keep(&self, bytes: usize) {
        let mut permit = self.permit.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = permit.num_permits().saturating_sub(REQUEST + bytes);
        drop(permit.split(unused));
    }
}

impl<B> Arriving<B> {
    pub(crate) fn new(body: B, held: Arc<Held>) -> Self {
        Self { body, held }
    }
}

impl<B> Body for Arriving<B>
where
    B: Body<Data = Bytes, Error = hyper::Error> + Unpin,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            let frame = frame.map_err(|error| Status::from_error(Box::new(error)))?;
            if let Some(data) = frame.data_ref() {
                self.held.add(data.len())?;
            }
            Ok(frame)
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Full};

    use super::*;

    fn body(bytes: usize) -> impl Body<Data = Bytes, Error = hyper::Error> + Unpin {
        Full::new(Bytes::from(vec![b'x'; bytes])).map_err(|never| match never {})
    }

    #[test]
    fn messages_share_their_room() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let room = Room::with(2 * REQUEST + 10);
            let (one, other) = (room.enter().unwrap(), room.enter().unwrap());
            // There is no room for a third.
            assert_eq!(room.enter().err().unwrap().code(), Code::ResourceExhausted);
            let read = |held: &Arc<Held>, bytes| Arriving::new(body(bytes), Arc::clone(held)).collect();
            read(&one, 6).await.unwrap();
            let refused = read(&other, 5).await.unwrap_err();
            assert!(has_no_room(&refused), "{refused}");
            read(&other, 4).await.unwrap();
            // What was answered makes room, but for what is kept.
            one.keep(2);
            assert!(read(&other, 5).await.is_err());
            read(&other, 4).await.unwrap();
            drop(other);
            one.keep(0);
            read(&room.enter().unwrap(), 10).await.unwrap();
        });
    }
}

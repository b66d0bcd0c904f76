//! How many bytes of requests may arrive at a time, from all clients together.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::lines::FROM_CLIENT;

/// Bytes of all bodies that arrive, and of those whose client has no session.
const ALL: usize = 256 * 1024 * 1024;
const WITHOUT_SESSION: usize = 64 * 1024 * 1024;

/// The room for bodies.
pub(super) struct Bodies {
    all: Arc<Semaphore>,
    without_session: Arc<Semaphore>,
}

/// Why a body is not read to its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unread {
    TooLong,
    /// Others have all the room.
    NoRoom,
    Broken,
}

impl Default for Bodies {
    fn default() -> Self {
        Self::with(ALL, WITHOUT_SESSION)
    }
}

impl Bodies {
    fn with(all: usize, without_session: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(all)),
            without_session: Arc::new(Semaphore::new(without_session)),
        }
    }

    /// A whole body.
    pub(super) async fn read<B>(&self, mut body: B, has_session: bool) -> Result<Vec<u8>, Unread>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let room = [
            Some(&self.all),
            Some(&self.without_session).filter(|_| !has_session),
        ];
        let mut held: Vec<OwnedSemaphorePermit> = Vec::new();
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > FROM_CLIENT {
                return Err(Unread::TooLong);
            }
            let count = u32::try_from(data.len()).map_err(|_| Unread::TooLong)?;
            for (at, room) in room.iter().flatten().enumerate() {
                let more = Arc::clone(room).try_acquire_many_owned(count);
                let more = more.map_err(|_| Unread::NoRoom)?;
                match held.get_mut(at) {
                    Some(held) => held.merge(more),
                    None => held.push(more),
                }
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use http_body_util::Full;
    use hyper::body::Frame;

    use super::*;

    /// A body that does not end.
    struct Endless(Option<Bytes>);

    impl Body for Endless {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.0.take() {
                Some(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
                None => Poll::Pending,
            }
        }
    }

    #[test]
    fn bodies_share_their_room_and_clients_without_a_session_have_less() {
        let bodies = Bodies::with(10, 4);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let whole = |count: usize| Full::new(Bytes::from(vec![b'x'; count]));
            assert_eq!(bodies.read(whole(4), false).await.unwrap().len(), 4);
            assert_eq!(bodies.read(whole(5), false).await, Err(Unread::NoRoom));
            assert_eq!(bodies.read(whole(10), true).await.unwrap().len(), 10);
            assert_eq!(
                bodies.read(whole(FROM_CLIENT + 1), true).await,
                Err(Unread::TooLong)
            );
            // One that does not end keeps its room, until its client leaves.
            let mut endless = Box::pin(bodies.read(Endless(Some(Bytes::from_static(b"xxx"))), false));
            tokio::select! {
                biased;
                _ = &mut endless => panic!("it ended"),
                () = async {} => {}
            }
            assert_eq!(bodies.read(whole(2), false).await, Err(Unread::NoRoom));
            assert_eq!(bodies.read(whole(8), true).await, Err(Unread::NoRoom));
            assert_eq!(bodies.read(whole(7), true).await.unwrap().len(), 7);
            drop(endless);
            assert_eq!(bodies.read(whole(10), true).await.unwrap().len(), 10);
        });
    }
}

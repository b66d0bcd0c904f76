//! A stream that messages are written to, and whether its reader still reads.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a reader may read nothing of what is being written to it. It has left then.
const READING: Duration = Duration::from_secs(60);

/// Bytes of a piece of a message. A reader that takes one reads.
const PIECE: usize = 64 * 1024;

pub(super) struct Outlet<W> {
    /// `None` once it has ended.
    stream: Mutex<Option<W>>,
    /// Since when a piece of a message is being written.
    since: Mutex<Option<Instant>>,
    patience: Duration,
}

impl<W: Write> Outlet<W> {
    pub(super) fn new(stream: W) -> Self {
        Self {
            stream: Mutex::new(Some(stream)),
            since: Mutex::default(),
            patience: READING,
        }
    }

    /// One message. A reader that has closed the stream has left, which whoever reads from it notices.
    pub(super) fn send(&self, mut message: String) {
        message.push('\n');
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = stream.as_mut() {
            let _ = self.write(stream, message.as_bytes());
        }
        self.begin(None);
    }

    /// A short message at once: a peer that reads it in two pieces waits for the second.
    fn write(&self, stream: &mut W, message: &[u8]) -> io::Result<()> {
        for piece in message.chunks(PIECE) {
            self.begin(Some(Instant::now()));
            stream.write_all(piece)?;
        }
        Ok(())
    }

    fn begin(&self, since: Option<Instant>) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    /// Returns `true` if the reader has not read for too long what is being written to it.
    pub(super) fn is_stuck(&self) -> bool {
        let since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since.elapsed() >= self.patience)
    }

    /// The stream ends, unless a message is being written that its reader does not read.
    pub(super) fn close(&self) {
        if let Ok(mut stream) = self.stream.try_lock() {
            *stream = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn a_reader_that_does_not_read_is_noticed_and_one_that_is_slow_is_not() {
        let (mut reader, writer) = io::pipe().unwrap();
        let outlet = Arc::new(Outlet {
            patience: Duration::ZERO,
            ..Outlet::new(writer)
        });
        outlet.send("short".to_owned());
        assert!(!outlet.is_stuck());
        let writing = Arc::clone(&outlet);
        let writing = thread::spawn(move || writing.send("x".repeat(1024 * 1024)));
        while !outlet.is_stuck() {
            thread::yield_now();
        }
        outlet.close();
        let mut read = vec![0; 6 + 1024 * 1024 + 1];
        reader.read_exact(&mut read).unwrap();
        writing.join().unwrap();
        assert!(!outlet.is_stuck());
        outlet.close();
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    }
}

//! A sign of life on a terminal while nothing else is written.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often it is given.
const EVERY: Duration = Duration::from_secs(5);

/// `true` while there is a pulse.
static BEATS: AtomicBool = AtomicBool::new(false);

/// Says what runs and for how long, until it is dropped. Says nothing off a terminal, or while another one does.
pub(crate) struct Pulse {
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Pulse {
    pub(crate) fn start(what: &str) -> Self {
        if !stderr().is_terminal() || BEATS.swap(true, Ordering::Relaxed) {
            return Self { thread: None };
        }
        let what = what.to_owned();
        let (end, ended) = channel::<()>();
        let begin = Instant::now();
        let thread = thread::spawn(move || {
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                // Whatever is written next takes the line.
                clear_line();
                drop(write!(stderr(), "… {what}, {}\r", spoken(begin.elapsed())));
            }
            clear_line();
        });
        Self {
            thread: Some((end, thread)),
        }
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            drop(thread.join());
            BEATS.store(false, Ordering::Relaxed);
        }
    }
}

/// Takes away what cargo or a pulse left on the terminal's last line.
pub(crate) fn clear_line() {
    if stderr().is_terminal() {
        drop(write!(stderr(), "\r\x1b[2K"));
    }
}

/// A length of time for people: `48 s`, `2 min 5 s`.
pub(crate) fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {} s", seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_minutes_and_seconds() {
        for (seconds, expected) in [(0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (485, "8 min 5 s")] {
            assert_eq!(spoken(Duration::from_secs(seconds)), expected);
        }
    }
}

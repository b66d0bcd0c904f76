//! The thing that is being looked at, on the terminal of whoever waits.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use callgate_host::clean;

/// Who waits no longer is not told.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line is written anew.
const EVERY: Duration = Duration::from_millis(100);

/// How much of a text is shown at most, on a terminal of any width.
const MOST: usize = 200;

/// A line at the end of the terminal that says what is being looked at, once that has taken a while. It is gone in the end.
/// There is none where standard error is not a terminal.
pub(crate) struct Progress {
    line: Option<Arc<Mutex<Line>>>,
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

#[derive(Default)]
struct Line {
    text: String,
    /// The text on the terminal.
    shown: String,
}

impl Progress {
    /// Of work that begins now.
    pub(crate) fn new() -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
        if is_dumb || !stderr().is_terminal() {
            return Self {
                line: None,
                thread: None,
            };
        }
        let line = Arc::new(Mutex::new(Line::default()));
        let written = Arc::clone(&line);
        let (end, ended) = channel::<()>();
        // A single tool may take long, so that nobody but a thread of its own knows when to write.
        let thread = thread::spawn(move || {
            let mut wait = PATIENCE;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                locked(&written).write();
                wait = EVERY;
            }
            locked(&written).clear();
        });
        Self {
            line: Some(line),
            thread: Some((end, thread)),
        }
    }

    /// Says what is looked at now.
    pub(crate) fn say(&self, text: String) {
        if let Some(line) = &self.line {
            locked(line).text = text;
        }
    }

    /// Watches an analysis.
    pub(crate) fn watcher(&self) -> impl Fn(&callgate_analysis::Progress<'_>) {
        |progress| {
            if self.line.is_some() {
                self.say(progress.to_string());
            }
        }
    }

    /// Takes the line away before something else is written, until there is something to say again.
    pub(crate) fn clear(&self) {
        if let Some(line) = &self.line {
            locked(line).clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

fn locked(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn write(&mut self) {
        if self.text != self.shown {
            // Meanwhile the terminal breaks no lines: one that is broken could not be taken away.
            let text: String = clean(&self.text).chars().take(MOST).collect();
            let line = format!("\r\x1b[K\x1b[?7l… {text}\x1b[?7h");
            let _ = stderr().write_all(line.as_bytes());
            self.shown.clone_from(&self.text);
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        if !self.shown.is_empty() {
            self.shown.clear();
            let _ = stderr().write_all(b"\r\x1b[K");
        }
    }
}

//! The clock by which instances are stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use wasmtime::Engine;

/// How long an epoch is; deadlines are rounded up to it.
pub(super) const TICK: Duration = Duration::from_millis(5);

/// Epochs without any call after which the clock stops until the next one.
const QUIET: u32 = 200;

/// A thread that counts wasmtime's epochs up while there are calls.
pub(super) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    calls: AtomicUsize,
    parked: AtomicBool,
    ended: AtomicBool,
}

impl Ticker {
    pub(super) fn start(engine: Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let builder = thread::Builder::new().name("callgate-epochs".to_owned());
        let thread = builder.spawn(move || of_thread.run(&engine))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Keeps the clock going until the answer is dropped.
    pub(super) fn running(&self) -> Running<'_> {
        self.shared.calls.fetch_add(1, Ordering::SeqCst);
        if self.shared.parked.load(Ordering::SeqCst)
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
        Running(&self.shared)
    }
}

/// A call that is being served.
pub(super) struct Running<'t>(&'t Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Shared {
    fn run(&self, engine: &Engine) {
        let mut quiet = 0;
        let mut counted = Instant::now();
        while !self.ended.load(Ordering::SeqCst) {
            // The calls are looked at again after saying so: who comes now sees it, and wakes this thread.
            if quiet >= QUIET {
                self.parked.store(true, Ordering::SeqCst);
                if self.calls.load(Ordering::SeqCst) == 0 {
                    thread::park();
                }
                self.parked.store(false, Ordering::SeqCst);
                (quiet, counted) = (0, Instant::now());
                continue;
            }
            thread::park_timeout(TICK);
            // A busy machine wakes this thread late; epochs follow the wall clock all the same.
            while counted.elapsed() >= TICK {
                counted += TICK;
                engine.increment_epoch();
            }
            quiet = if self.calls.load(Ordering::SeqCst) == 0 {
                quiet + 1
            } else {
                0
            };
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A thread that panicked has ended too.
            drop(thread.join());
        }
    }
}

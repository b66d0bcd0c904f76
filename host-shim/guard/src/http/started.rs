//! The programs that were started, so that none outlives the guard.

use std::process::ChildStdout;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::{io, thread};

use crate::child::{Program, Running};

/// Every program that was started and may still run.
#[derive(Default)]
pub(super) struct Started(Mutex<State>);

#[derive(Default)]
struct State {
    programs: Vec<Weak<Running>>,
    /// The guard ends: no other is started.
    is_over: bool,
}

impl Started {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a program; its output is to be read.
    ///
    /// # Errors
    /// It cannot be started, or the guard ends.
    pub(super) fn start(&self, program: &Program) -> io::Result<(Arc<Running>, ChildStdout)> {
        // Held meanwhile, so that none is started after all were ended.
        let mut state = self.state();
        if state.is_over {
            return Err(io::Error::other("the guard ends"));
        }
        let (running, output) = Running::start(program)?;
        let running = Arc::new(running);
        state.programs.retain(|program| program.strong_count() > 0);
        state.programs.push(Arc::downgrade(&running));
        Ok((running, output))
    }

    /// Ends all of them, and waits for that.
    pub(super) fn end(&self) {
        let programs = {
            let mut state = self.state();
            state.is_over = true;
            std::mem::take(&mut state.programs)
        };
        thread::scope(|scope| {
            for running in programs.iter().filter_map(Weak::upgrade) {
                scope.spawn(move || {
                    running.close();
                    // How it ended says nothing: it was told to.
                    let _ = running.stop();
                });
            }
        });
    }
}

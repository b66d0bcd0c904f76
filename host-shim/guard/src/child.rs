//! A server that is started as a program, and speaks on its standard streams.

use std::ffi::OsString;
use std::io::{self, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::Guard;
use super::lines::{self, FROM_SERVER, Line};
use super::outlet::Outlet;

/// How long the server may take to end after its input has ended, and then after it was told to.
pub(super) const ENDING: Duration = Duration::from_secs(3);

/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The program that is the server.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name or path.
    pub command: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// A server that runs.
pub(super) struct Running {
    child: Mutex<Child>,
    input: Outlet<ChildStdin>,
}

impl Running {
    /// Starts the program; its output is to be read.
    pub(super) fn start(program: &Program) -> io::Result<(Self, ChildStdout)> {
        let mut child = Command::new(&program.command)
            .args(&program.arguments)
            // Secrets of the guard's own.
            .env_remove("CALLGATE_BUNDLE_CREDENTIALS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A group of its own: a server is often started by another program, which ends without it.
            .process_group(0)
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the server has no streams"));
        };
        let running = Self {
            child: Mutex::new(child),
            input: Outlet::new(input),
        };
        Ok((running, output))
    }

    /// One message.
    pub(super) fn send(&self, message: String) {
        self.input.send(message);
    }

    /// Returns `true` if it has not read for too long what is being written to it.
    pub(super) fn is_stuck(&self) -> bool {
        self.input.is_stuck()
    }

    /// The server's input ends, unless a message is being written that it does not read.
    pub(super) fn close(&self) {
        self.input.close();
    }

    /// Returns `true` if it has not ended yet.
    pub(super) fn is_running(&self) -> bool {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(child.try_wait(), Ok(None))
    }

    /// Waits for the server, then asks it to end, then ends it.
    pub(super) fn stop(&self) -> io::Result<ExitStatus> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let tell = |signal| {
            if let Some(group) = group {
                // It may have ended meanwhile.
                let _ = kill_process_group(group, signal);
            }
        };
        for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
            signal.into_iter().for_each(tell);
            let deadline = Instant::now() + ENDING;
            while Instant::now() < deadline {
                if let Some(status) = child.try_wait()? {
                    // The program's own children end with it.
                    tell(Signal::KILL);
                    return Ok(status);
                }
                thread::sleep(LOOK);
            }
        }
        child.wait()
    }
}

impl Drop for Running {
    /// A program that nobody has stopped ends with whoever started it.
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Ok(None) = child.try_wait() {
            let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            if let Some(group) = group {
                // It may have ended meanwhile.
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = child.wait();
        }
    }
}

/// Gives each message of a server, until its output ends.
pub(super) fn read(guard: &Guard, output: impl Read, mut each: impl FnMut(String)) {
    let mut stream = BufReader::with_capacity(64 * 1024, output);
    loop {
        match lines::next(&mut stream, FROM_SERVER) {
            Ok(Some(Line::Text(line))) => each(line),
            Ok(Some(Line::NotUtf8)) => {
                guard.warn("the server sent a line that is not UTF-8; it is not passed on");
            }
            Ok(Some(Line::TooLong)) => guard.warn(&format!(
                "the server sent a line of more than {FROM_SERVER} bytes; it is not passed on"
            )),
            Ok(None) | Err(_) => return,
        }
    }
}

//! Programs that are started, with what they say.

use std::io::{self, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The end of a program.
pub(super) struct Said {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) took: Duration,
}

/// How often it is looked whether a program has ended.
const EVERY: Duration = Duration::from_millis(2);

/// Bytes of the longest output.
const MOST: u64 = 1024 * 1024;

/// Runs a program with an input. One that takes longer is ended.
pub(super) fn finished(mut command: Command, input: &[u8], patience: Duration) -> io::Result<Said> {
    let begun = Instant::now();
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut child = Ending(child);
    if let Some(mut to) = child.0.stdin.take() {
        // One that ends without reading says why.
        let _ = to.write_all(input);
    }
    let (stdout, stderr) = (
        child.0.stdout.take().map(reading),
        child.0.stderr.take().map(reading),
    );
    let code = loop {
        if let Some(status) = child.0.try_wait()? {
            break status.code();
        }
        if begun.elapsed() > patience {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no end within {} s", patience.as_secs()),
            ));
        }
        thread::sleep(EVERY);
    };
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|one| one.join().ok()).unwrap_or_default()
    };
    Ok(Said {
        code,
        stdout: text(stdout),
        stderr: text(stderr),
        took: begun.elapsed(),
    })
}

fn reading(from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read until then is enough.
        let _ = from.take(MOST).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A program that ends with this value.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

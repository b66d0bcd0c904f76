//! The documents of a gate that runs for long: they are read again when they change, and nothing is allowed any more once a signed
//! bundle has expired.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use callgate_bundle::Timestamp;
use callgate_engine::bind::{Arguments, Call};
use callgate_guard::Caller;
use callgate_host::{Gate, GateBuilder};

use crate::setup::Setup;
use crate::terminal::{Failure, clean};

/// How often the documents are looked at.
const LOOK: Duration = Duration::from_millis(500);

const EXPIRED: &str = "the signed bundle has expired: every call is denied until there is a newer one";

const REPLACED: &str = "a bundle above has changed, and cannot be used with those below it as they are: every call is denied until it can";

/// Stands before servers, and says why it ended.
pub(crate) type Running<E> = Box<dyn FnOnce() -> Result<E, String> + Send>;

/// The documents, as they were read last.
pub(crate) struct Watched {
    setup: Setup,
    files: Vec<PathBuf>,
    known: BTreeMap<PathBuf, Stamp>,
    expires: Option<Timestamp>,
    /// The documents of the layers above, as they decide.
    above: Vec<Option<String>>,
}

impl Watched {
    /// The documents of a gate that began to be built at a time, and other files that it goes by.
    pub(crate) fn new<'f>(
        setup: &Setup,
        gate: &Gate,
        others: impl Iterator<Item = &'f PathBuf>,
        begun: SystemTime,
    ) -> Result<Self, Failure> {
        let mut files = gate.files().to_vec();
        files.extend(others.cloned());
        files.extend(setup.signed_files()?);
        // A file that has changed since, or is gone, is read again at the first look.
        let mut known = stamps(&files);
        known.retain(|_, stamp| matches!(stamp, Some((_, _, _, Some(modified))) if *modified < begun));
        Ok(Self {
            expires: setup.expires()?,
            above: setup.documents_above()?,
            setup: setup.clone(),
            files,
            known,
        })
    }

    /// Runs until the end, and looks at the documents meanwhile. `reload` reads them again, and returns `false` if the old ones
    /// stay; `expire` has every call denied, for a reason. The old ones do not stay where a layer above has others, whatever stands below
    /// it: what an organisation forbids is forbidden when it says so.
    pub(crate) fn until<E: Send + 'static>(
        &mut self,
        running: Running<E>,
        mut reload: impl FnMut() -> bool,
        mut expire: impl FnMut(&str) -> io::Result<()>,
    ) -> Result<E, Failure> {
        let (end, ended) = channel();
        thread::spawn(move || {
            // The command has ended where nobody waits.
            let _ = end.send(running());
        });
        loop {
            match ended.recv_timeout(LOOK) {
                Ok(ended) => return ended.map_err(Failure::Fault),
                Err(RecvTimeoutError::Timeout) => {}
                Err(error) => return Err(Failure::Fault(error.to_string())),
            }
            let mut over = None;
            let found = stamps(&self.files);
            if found != self.known {
                self.known = found;
                let is_new = reload();
                match self.setup.documents_above() {
                    Ok(above) => {
                        let mut layers = above.iter().zip(&self.above);
                        let is_replaced = layers.any(|(new, old)| new.is_some() && new != old);
                        if !is_new && is_replaced {
                            over = Some(REPLACED);
                        }
                        if is_new || is_replaced {
                            self.above = above;
                        }
                    }
                    Err(_) if is_new => self.known.clear(),
                    // Nobody can say whether one was replaced.
                    Err(_) if !self.above.is_empty() => over = Some(REPLACED),
                    Err(_) => {}
                }
                if is_new {
                    match self.setup.expires() {
                        Ok(expires) => self.expires = expires,
                        // They have changed again, and are read once more.
                        Err(_) => self.known.clear(),
                    }
                }
            }
            if self.expires.is_some_and(|end| end <= Timestamp::now()) {
                self.expires = None;
                over = Some(EXPIRED);
            }
            if let Some(reason) = over {
                expire(reason)
                    .map_err(|error| Failure::Fault(format!("the log cannot be written: {error}")))?;
            }
        }
    }
}

/// Asks for a newer bundle again and again, if it is at an address. A newer one is in its file then, which is looked at as the other
/// documents are. `refused` hears why there is none, once.
pub(crate) fn renew(setup: &Setup, own: Vec<String>, refused: impl Fn(&str) + Send + 'static) {
    let Some(every) = setup.renewal() else { return };
    let setup = setup.clone();
    thread::spawn(move || {
        let mut told = None;
        loop {
            thread::sleep(every);
            let failed = setup.renew(&|builder| protecting(&setup, &own, builder)).err();
            if let Some(why) = failed.as_deref().filter(|_| failed != told) {
                refused(why);
            }
            told = failed;
        }
    });
}

/// Adds what a gate has and nobody may write.
pub(crate) fn protecting(
    setup: &Setup,
    own: &[String],
    builder: GateBuilder,
) -> Result<GateBuilder, Failure> {
    let builder = setup.protecting(builder)?;
    Ok(own
        .iter()
        .fold(builder, |builder, file| builder.protect(file.as_str())))
}

/// Files as absolute paths.
pub(crate) fn absolute<'f>(files: impl Iterator<Item = &'f PathBuf>) -> Result<Vec<String>, Failure> {
    let files = files.map(|file| {
        let path = std::path::absolute(file).map_err(|error| Failure::Fault(error.to_string()))?;
        let path = path.into_os_string().into_string();
        path.map_err(|path| Failure::Fault(format!("the path `{}` is not UTF-8", path.display())))
    });
    files.collect()
}

/// Checks the context that a flag gives every call.
pub(crate) fn check_context(context: Option<&str>) -> Result<(), Failure> {
    let Some(context) = context else { return Ok(()) };
    let call = Call::new("", "", Arguments::Members(Vec::new()));
    let read = call.within_json(context).map(|_| ());
    read.map_err(|error| Failure::Fault(format!("--context: {}", error.message)))
}

/// The name of who asks for every call, by a flag.
///
/// # Errors
/// It is none that rules could look at.
pub(crate) fn check_name(flag: &str, name: Option<&str>) -> Result<(), Failure> {
    let is_name = |name: &str| {
        let subject = Some(name.to_owned());
        let caller = Caller {
            subject,
            ..Caller::default()
        };
        Caller::of(caller.added_to(None).as_deref()) == caller
    };
    match name.is_none_or(is_name) {
        true => Ok(()),
        false => Err(Failure::Fault(format!(
            "{flag}: expected a name of 1 to 256 bytes without control characters"
        ))),
    }
}

/// A log that may not grow is a full disk, and not the end of the process.
pub(crate) fn outlive_full_disks() -> Result<(), Failure> {
    let flag = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    flag.map(|_| ())
        .map_err(|error| Failure::Fault(error.to_string()))
}

/// One line on standard error. If nobody reads it the process goes on.
pub(crate) fn tell(message: &str) {
    let _ = writeln!(anstream::stderr(), "callgate: {}", clean(message));
}

/// The identity and the state of a file; it changes if the file is replaced or written.
type Stamp = Option<(u64, u64, u64, Option<SystemTime>)>;

fn stamps(files: &[PathBuf]) -> BTreeMap<PathBuf, Stamp> {
    let stamp = |file: &PathBuf| {
        let found = fs::metadata(file).ok()?;
        Some((found.dev(), found.ino(), found.len(), found.modified().ok()))
    };
    files.iter().map(|file| (file.clone(), stamp(file))).collect()
}

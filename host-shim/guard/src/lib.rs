//! A gate in front of an MCP server: every `tools/call` is judged before the server sees it.
//!
//! The guard stands between one client and one server, and passes their messages on as they came, in both directions:
//! methods, members and `_meta` that it does not know included. Four things are its business.
//!
//! - **`tools/call`** is judged by a [`Gate`]. An allowed call is sent with the arguments that were judged. Any other
//!   is answered with a tool result that is an error, with the rule and the reason, so that the model can do otherwise.
//! - **`tools/list`** is answered without the tools whose every call is certain to be denied: because nobody annotated them, a
//!   ceiling forbids them, or the policy leaves nothing to allow or to ask about. An analysis of the policy says so, when tools
//!   are first asked for; what it does not know for certain is shown. Clients are told when a reload hides other tools.
//! - **Pins**: where a lock file says which tools were accepted, any other tool, and one that has changed since, is hidden
//!   and its calls are denied. The guard lists the tools by itself before the first call, and once they have changed.
//! - **What two parsers could read differently** is never passed on to the server: batches, names that occur twice, differ in
//!   their case alone or have a control character, methods that are `tools/call` but for their spelling, half lines. An id is
//!   what readers make of it (`7` and `7.0` are one), and an answer to no request that waits goes nowhere.
//!
//! The server's name is the one that the guard is given. What a server says of itself does not count.
//!
//! If anything fails, the call is not forwarded: a guard that cannot judge or cannot write its log answers with a denial.

#![cfg_attr(
    not(feature = "http"),
    expect(dead_code, reason = "the guard over HTTP alone uses it")
)]
// A panic here would leave calls without an answer.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used
)]

#[cfg(unix)]
mod asked_tools;
mod asking;
#[cfg_attr(not(unix), path = "audit/absent.rs")]
mod audit;
mod caller;
#[cfg(unix)]
mod child;
mod counts;
mod digest;
#[cfg_attr(not(unix), path = "folder/absent.rs")]
mod folder;
#[cfg(feature = "exchange")]
pub mod http;
#[cfg(unix)]
mod journal;
mod lines;
mod listed;
#[cfg(unix)]
mod locking;
#[cfg(unix)]
mod log;
mod message;
mod method;
mod ocsf;
#[cfg(unix)]
mod outlet;
mod pins;
mod policy;
mod queue;
mod record;
mod relay;
mod reply;
mod revisions;
mod rewritten;
#[cfg(unix)]
mod schema;
mod shown;
#[cfg(unix)]
mod stdio;
mod strict;
mod tally;
#[cfg_attr(not(feature = "otel"), path = "telemetry/absent.rs")]
mod telemetry;
#[cfg(any(feature = "http", feature = "otel"))]
mod tls;
mod told;
mod tools;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use callgate_engine::advice::help_for_unknown_tool;
use callgate_host::{Gate, LayerEngine};

use asking::Questioner;
use audit::Audit;
use listed::{Compared, Edition, Listed, Standing};
use message::Request;
use policy::Policy;
use record::Record;
use relay::Relay;
use revisions::Revisions;
use shown::Shown;
use tally::Counter;

#[cfg(unix)]
pub use asked_tools::tools_of_program;
pub use asking::{Asking, now, touched};
pub use caller::Caller;
#[cfg(unix)]
pub use child::Program;
pub use counts::{Counted, Counters, Counting, Counts, is_counted, said};
#[cfg(unix)]
pub use journal::{Journal, JournalEntry, JournalQuestion, ask, check_unambiguous};
#[cfg(unix)]
pub use log::{Log, LogLine};
pub use method::is_of_tools;
pub use ocsf::ocsf_event;
pub use pins::{Lock, Pin, PinChange, PinChangeKind, Pins};
pub use queue::{Answer, Answerer, Bound, Question, Queue, Task, TaskStatus};
pub use relay::{AccessRequest, Answered, AskedCall, Decided, Unapproved, Unrequested};
#[cfg(unix)]
pub use schema::line_schema;
#[cfg(unix)]
pub use stdio::{Ended, StdioError};
pub use tally::Tally;

pub use telemetry::Telemetry;

/// The options of a new guard.
pub struct GuardOptions {
    /// The name of the server in the policy and the annotations.
    pub server: String,
    /// The server's tools that were accepted; any other is held back. `None` if tools are not pinned.
    pub pins: Option<Pins>,
    /// Who is asked about a call that escalates; `None` if such calls are denied.
    pub asking: Option<Asking>,
    /// Where decisions are written; `None` for no log.
    pub audit: Option<PathBuf>,
    /// Nothing is enforced: every call that can be read is forwarded as it came, and the log says what was decided.
    pub observe: bool,
    /// Clients may call tools and nothing else of the server: requests for resources, prompts and completions, and any other
    /// whose method the guard does not know, are answered with an error.
    pub only_tools: bool,
    /// The context of every call, as JSON text.
    pub context: Option<String>,
    /// Who asks for every call, in place of what the context says of that.
    pub caller: Caller,
    /// Where calls are counted; `None` if nothing is counted, so that a person is asked where a rule looks at counts.
    pub counts: Option<Counts>,
    /// Where warnings go: what is not passed on and why, and what a person has to see to. Each begins with the server's name.
    pub warn: fn(&str),
    /// The path of the workspace in the server's container; see [`Paths::Gate`](callgate_engine::engine::Paths::Gate).
    pub container_workspace_dir: Option<String>,
}

/// A gate in front of one server.
pub struct Guard {
    server: String,
    policy: RwLock<Arc<Policy>>,
    asked: Option<Questioner>,
    audit: Option<Audit>,
    telemetry: Option<Telemetry>,
    observes: bool,
    only_tools: bool,
    /// The context of every call, with who asks.
    context: Option<String>,
    caller: Caller,
    counts: Option<Counts>,
    /// The context says more than who asks.
    has_context: bool,
    warn: fn(&str),
    container_workspace_dir: Option<String>,
    /// The start of the numbers of calls in the log, and the number of the last.
    session: String,
    calls: AtomicU64,
    /// Grows whenever the server says that its tools have changed.
    edition: Edition,
    /// The tools that any process of the server has listed, of which clients hear when others are hidden.
    listed: Listed,
    /// How many reloads have hidden other tools of these.
    list_changes: AtomicU64,
    revisions: Mutex<Revisions>,
    tally: Counter,
}

impl Guard {
    /// A guard of a server.
    ///
    /// # Errors
    /// The log cannot be opened or written, or the operating system has no randomness for questions.
    pub fn new(gate: impl Into<Arc<Gate>>, options: GuardOptions) -> io::Result<Self> {
        let GuardOptions {
            server,
            pins,
            asking,
            audit,
            observe,
            only_tools,
            context,
            caller,
            counts,
            warn,
            container_workspace_dir,
        } = options;
        let has_context = context.is_some();
        let context = caller.added_to(context.as_deref());
        let guard = Self {
            server,
            policy: RwLock::new(Arc::new(Policy::new(gate.into(), pins))),
            asked: asking.map(Questioner::new).transpose()?,
            audit: audit.map(|path| Audit::open(path, observe)).transpose()?,
            telemetry: None,
            observes: observe,
            only_tools,
            caller: Caller::of(context.as_deref()),
            counts,
            context,
            has_context,
            warn,
            container_workspace_dir,
            session: session(),
            calls: AtomicU64::new(0),
            edition: Edition::default(),
            listed: Listed::default(),
            list_changes: AtomicU64::new(0),
            revisions: Mutex::default(),
            tally: Counter::default(),
        };
        let policy = guard.policy();
        guard.note(&Record::Start {
            session: &guard.session,
            policy: &policy.digest,
        })?;
        guard.warn_if_unannotated(&policy);
        Ok(guard)
    }

    /// Says so if nobody annotated a tool of the server: every call is denied then, and no tool is listed.
    fn warn_if_unannotated(&self, policy: &Policy) {
        // An engine that does not answer denies the first call with its reason.
        let Ok(tools) = policy.gate.tools() else { return };
        if self.observes || tools.iter().any(|tool| tool.server == self.server) {
            return;
        }
        let layers = policy.gate.compile_layers(policy.gate.host());
        let passes =
            |layer: &LayerEngine| layer.engine.is_trusted_server(&self.server) || layer.leaves(&self.server);
        if layers.is_ok_and(|layers| layers.iter().all(passes)) {
            return;
        }
        let names = tools.iter().map(|tool| (&*tool.server, &*tool.name));
        self.warn(&format!(
            "no tool of this server is annotated, so none is listed and every call is denied (`callgate annotate` writes \
             annotations): {}",
            help_for_unknown_tool(&self.server, "", names)
        ));
    }

    /// Decides about a call that is made elsewhere: of a tool, with these arguments as JSON text. It is allowed only where what is
    /// judged is what is given, since it is sent as it was given.
    ///
    /// # Errors
    /// Why two programs could read it as two calls; it may not be made.
    pub fn decide(self: &Arc<Self>, tool: &str, arguments: &str) -> Result<Decided, String> {
        Relay::at_proxy(Arc::clone(self)).exact().decide(tool, arguments)
    }

    /// Decides about a call that is made elsewhere, as [`Guard::decide`] does, by an approval that a person may have given for it.
    ///
    /// # Errors
    /// Why two programs could read it as two calls; it may not be made.
    pub fn decide_asked(
        self: &Arc<Self>,
        asked: AskedCall<'_>,
        approval: Option<&str>,
    ) -> Result<Answered, String> {
        self.relay_of(asked).decide_asked(asked, approval)
    }

    /// Asks a person about a call that was denied, because it escalates. The person answers in their own time.
    ///
    /// # Errors
    /// Why nobody is asked.
    pub fn request(
        self: &Arc<Self>,
        asked: AskedCall<'_>,
        request: AccessRequest<'_>,
    ) -> Result<Task, Unrequested> {
        self.relay_of(asked).request(asked, request)
    }

    fn relay_of(self: &Arc<Self>, asked: AskedCall<'_>) -> Relay {
        Relay::at_proxy(Arc::clone(self)).exact().of_caller(asked.caller)
    }

    /// How many calls were decided in which way.
    pub fn tally(&self) -> Tally {
        self.tally.tally()
    }

    /// Sends what is decided to a collector of OpenTelemetry too. The log does not depend on it, and no call waits for it.
    #[must_use]
    pub fn with_telemetry(self, telemetry: Telemetry) -> Self {
        // The log has it since the guard was made.
        let start = Record::Start {
            session: &self.session,
            policy: &self.policy().digest,
        };
        telemetry.note(&self.server, self.observes, &start, None);
        let telemetry = Some(telemetry);
        Self { telemetry, ..self }
    }

    /// Judges by another gate and other pins from now on. Calls that are being judged end under the old one. Clients are told if
    /// other tools are hidden from them.
    ///
    /// # Errors
    /// The log cannot be written; the old gate stays.
    pub fn reload(&self, gate: impl Into<Arc<Gate>>, pins: Option<Pins>) -> io::Result<()> {
        let policy = Arc::new(Policy::new(gate.into(), pins));
        self.note(&Record::Reload {
            policy: Some(&policy.digest),
            refused: None,
        })?;
        let before = {
            let mut current = self.policy.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, Arc::clone(&policy))
        };
        self.warn_if_unannotated(&policy);
        if self.hides_others(&before, &policy) {
            self.list_changes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Denies every call from now on, for a reason, until there are other documents: those that there are no longer hold.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn expire(&self, reason: &str) -> io::Result<()> {
        let policy = self.policy();
        let is_shown = |tool: &str| !self.hides(&policy, tool);
        let shows_any = self.listed.names().iter().any(|tool| is_shown(tool));
        policy.has_expired.store(true, Ordering::Relaxed);
        if shows_any {
            self.list_changes.fetch_add(1, Ordering::Relaxed);
        }
        self.warn(reason);
        self.note(&Record::Reload {
            policy: None,
            refused: Some(reason),
        })
    }

    /// Returns `true` if a policy hides other tools of those that the server has listed.
    fn hides_others(&self, before: &Policy, after: &Policy) -> bool {
        let listed = self.listed.names();
        let is_hidden = |policy: &Policy, tool| {
            let standing = self.listed.standing(policy.pins.as_ref(), tool);
            matches!(standing, Standing::HeldBack(_)) || self.hides(policy, tool)
        };
        listed
            .iter()
            .any(|tool| is_hidden(before, tool) != is_hidden(after, tool))
    }

    /// Grows with each reload that hides other tools than before.
    fn list_changes(&self) -> u64 {
        self.list_changes.load(Ordering::Relaxed)
    }

    /// Notes that changed documents are refused; the old gate stays.
    pub fn reload_refused(&self, reason: &str) {
        self.warn(&format!(
            "the changed documents are refused, and the old ones stay: {reason}"
        ));
        self.note_or_warn(&Record::Reload {
            policy: None,
            refused: Some(reason),
        });
    }

    /// The tools of a process of the server, or of a connection to it, that has listed none yet.
    fn unlisted(&self) -> Arc<Listed> {
        Arc::new(Listed::new(self.edition.clone()))
    }

    /// Remembers a tool as the server lists it, as JSON text, in its answer to a request of this edition, and says whether it is
    /// held back.
    fn lists(&self, policy: &Policy, (listed, edition): (&Listed, u64), tool: &str, text: &str) -> bool {
        let pins = policy.pins.as_ref();
        let compared = match pins {
            Some(_) => pins::digest_of(text).map_or(Compared::Unclear, Compared::Digest),
            None => Compared::Unpinned,
        };
        let is_pinned = pins.is_some_and(|pins| pins.digest(tool).is_some());
        let is_held_back = compared.is_held_back(pins, tool);
        self.listed
            .add(tool, compared.clone(), self.listed.edition(), is_pinned);
        listed.add(tool, compared, edition, is_pinned);
        is_held_back
    }

    /// Returns `true` if every call of the tool is certain to be denied, or if that is not known. No call of a tool whose name has
    /// a control character can be read.
    fn hides(&self, policy: &Policy, tool: &str) -> bool {
        // A client in C takes it for the tool whose name ends there.
        if strict::check_name(tool).is_err() || policy.has_expired.load(Ordering::Relaxed) {
            return true;
        }
        let shown = policy.shown.get_or_init(|| {
            Shown::new(&policy.gate, &self.server).unwrap_or_else(|error| {
                self.warn(&format!(
                    "no tool is listed, since it is not known which are of use: {error}"
                ));
                Shown::Nothing
            })
        });
        shown.hides(tool)
    }

    /// The server's revisions of the protocol, as far as they are known.
    fn revisions(&self) -> Revisions {
        self.revisions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn learn(&self, revisions: Revisions) {
        *self.revisions.lock().unwrap_or_else(PoisonError::into_inner) = revisions;
    }

    fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes a line to the log, if there is one.
    fn note(&self, record: &Record<'_>) -> io::Result<()> {
        self.note_of(record, None)
    }

    /// Writes a line about the call of a request.
    fn note_decision(&self, record: &Record<'_>, request: &Request<'_>) -> io::Result<()> {
        self.note_of(record, Some(request))
    }

    fn note_of(&self, record: &Record<'_>, request: Option<&Request<'_>>) -> io::Result<()> {
        if let Some(audit) = &self.audit {
            audit.write(&self.server, record)?;
        }
        if let Some(telemetry) = &self.telemetry {
            telemetry.note(&self.server, self.observes, record, request);
        }
        Ok(())
    }

    /// Writes a line to the log that nothing waits for.
    fn note_or_warn(&self, record: &Record<'_>) {
        if let Err(error) = self.note(record) {
            self.warn(&format!("the log cannot be written: {error}"));
        }
    }

    /// No client is left.
    fn ended(&self, why: String) {
        if let Some(asked) = &self.asked {
            asked.forget();
        }
        self.note_or_warn(&Record::Stop { why });
    }

    /// The number of the next call in the log.
    fn number(&self) -> String {
        let count = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{}-{count}", self.session)
    }

    /// Tells whoever runs the guard.
    fn warn(&self, message: &str) {
        (self.warn)(&format!("{}: {message}", self.server));
    }
}

/// Tells this run of the guard from others that write the same log.
#[cfg(unix)]
fn session() -> String {
    let begun = jiff::Timestamp::now().as_microsecond();
    format!("{begun:x}-{}", std::process::id())
}

/// There is no log.
#[cfg(not(unix))]
fn session() -> String {
    String::new()
}

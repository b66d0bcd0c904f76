//! The gate for each server, and whether the service may be asked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_engine::engine::Engine;
use callgate_guard::{Asking, Caller, Counts, Guard, GuardOptions, Queue, Tally};
use callgate_host::Gate;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::metrics::Metrics;
use crate::tokens::Subject;

/// How many servers are kept of which the documents know no tool. Whoever asks can make such names up.
const OTHERS: usize = 64;

/// Bytes of the longest name of a server.
const NAME: usize = 256;

/// The options of a new service.
pub struct ServiceOptions {
    /// The server of requests that name none; they are refused if there is none.
    pub server: Option<String>,
    /// Who is asked by access requests; `None` if nobody is. Other requests wait for nobody.
    pub asking: Option<Asking>,
    /// Where decisions are written; `None` for no log. If it cannot be written, nothing is allowed.
    pub audit: Option<PathBuf>,
    /// Requests for anything but tools are answered with an error.
    pub only_tools: bool,
    /// Who asks is whom AuthZEN's evaluations name, as far as neither the token nor the context says it. Whoever may ask is believed.
    pub callers_from_evaluations: bool,
    /// The context of every call, as JSON text.
    pub context: Option<String>,
    /// Where calls are counted that the policy counts; `None` if none is.
    pub counts: Option<Counts>,
    /// The address under which others reach the service, for those who ask for its configuration; the name that they use if there
    /// is none.
    pub address: Option<String>,
    /// Where warnings go.
    pub warn: fn(&str),
}

/// A service that one subject asks.
pub(crate) struct Asker<'s> {
    pub(crate) service: &'s Service,
    pub(crate) subject: Subject,
}

impl Asker<'_> {
    pub(crate) fn guard(&self, named: Option<&str>) -> Result<Arc<Guard>, String> {
        self.service.guard(named, self.subject.clone())
    }
}

/// Decides for every server.
pub struct Service {
    options: ServiceOptions,
    servers: Mutex<Servers>,
    is_ending: AtomicBool,
    pub(crate) metrics: Metrics,
}

/// A server, and the subject that asks.
type Key = (String, Subject);

struct Servers {
    gate: Arc<Gate>,
    /// Why the documents no longer hold, if they do not.
    expired: Option<String>,
    /// The servers that the documents know, and the one of requests that name none.
    known: BTreeSet<String>,
    /// The server and the name of each tool that they annotate.
    tools: BTreeSet<(String, String)>,
    guards: BTreeMap<Key, Arc<Guard>>,
    /// Other servers that have a guard, by its age.
    others: VecDeque<Key>,
    /// The decisions for other servers that have none any more.
    forgotten: Tally,
}

impl Servers {
    /// Keeps a guard. One of a server that nobody knows takes the place of the oldest of these.
    fn keep(&mut self, key: Key, guard: &Arc<Guard>) {
        if !self.known.contains(&key.0) {
            if self.others.len() >= OTHERS
                && let Some(oldest) = self.others.pop_front()
                && let Some(guard) = self.guards.remove(&oldest)
            {
                self.forgotten = self.forgotten + guard.tally();
            }
            self.others.push_back(key.clone());
        }
        self.guards.insert(key, Arc::clone(guard));
    }

    /// Changes every guard. One that could not be changed is opened anew by the next message, as all others are by now.
    fn change(&mut self, change: impl Fn(&Guard) -> io::Result<()>) -> io::Result<()> {
        let mut changed = Ok(());
        self.guards.retain(|_, guard| match change(guard) {
            Ok(()) => true,
            Err(error) => {
                changed = Err(error);
                false
            }
        });
        self.others.retain(|key| self.guards.contains_key(key));
        changed
    }
}

impl Service {
    /// A service that judges by a gate.
    ///
    /// # Errors
    /// The log cannot be opened or written.
    pub fn new(gate: Gate, options: ServiceOptions) -> io::Result<Self> {
        let (known, tools) = known(&gate, options.server.as_deref());
        let service = Self {
            servers: Mutex::new(Servers {
                known,
                tools,
                gate: Arc::new(gate),
                expired: None,
                guards: BTreeMap::new(),
                others: VecDeque::new(),
                forgotten: Tally::default(),
            }),
            options,
            is_ending: AtomicBool::new(false),
            metrics: Metrics::default(),
        };
        if let Some(server) = &service.options.server {
            service.open(&mut service.servers(), (server.clone(), None))?;
        }
        Ok(service)
    }

    /// Judges by another gate from now on. Calls that are being judged end under the old one.
    ///
    /// # Errors
    /// The log of a server cannot be written. Nothing of that server passes until it can, and then by the new gate.
    pub fn reload(&self, gate: Gate) -> io::Result<()> {
        let mut servers = self.servers();
        (servers.known, servers.tools) = known(&gate, self.options.server.as_deref());
        servers.gate = Arc::new(gate);
        servers.expired = None;
        let (known, others) = (&servers.known, servers.guards.keys());
        servers.others = others
            .filter(|(server, _)| !known.contains(server))
            .cloned()
            .collect();
        let gate = Arc::clone(&servers.gate);
        servers.change(|guard| guard.reload(Arc::clone(&gate), None))
    }

    /// Denies every call from now on, for a reason, until there are other documents: those that there are no longer hold.
    ///
    /// # Errors
    /// The log of a server cannot be written. Nothing of that server passes until it can.
    pub fn expire(&self, reason: &str) -> io::Result<()> {
        let mut servers = self.servers();
        servers.expired = Some(reason.to_owned());
        servers.change(|guard| guard.expire(reason))
    }

    /// Notes that changed documents are refused; the old gate stays.
    pub fn reload_refused(&self, reason: &str) {
        let servers = self.servers();
        if servers.guards.is_empty() {
            self.warn(&format!(
                "the changed documents are refused, and the old ones stay: {reason}"
            ));
        }
        for guard in servers.guards.values() {
            guard.reload_refused(reason);
        }
    }

    /// The guard of a server, by the name that the proxy gives it.
    ///
    /// # Errors
    /// Why there is none; nothing of such a server may pass.
    pub(crate) fn guard(&self, named: Option<&str>, subject: Subject) -> Result<Arc<Guard>, String> {
        let Some(server) = named.or(self.options.server.as_deref()) else {
            return Err("nobody says which server this is for".to_owned());
        };
        let mut servers = self.servers();
        let key = (server.to_owned(), subject);
        if let Some(guard) = servers.guards.get(&key) {
            return Ok(Arc::clone(guard));
        }
        if server.is_empty() || server.len() > NAME || server.contains(char::is_control) {
            return Err("the name of the server cannot be used".to_owned());
        }
        self.open(&mut servers, key).map_err(|error| {
            self.warn(&format!("the log cannot be written: {error}"));
            "the log of decisions cannot be written, so nothing is allowed".to_owned()
        })
    }

    fn open(&self, servers: &mut Servers, key: Key) -> io::Result<Arc<Guard>> {
        let options = GuardOptions {
            server: key.0.clone(),
            pins: None,
            asking: self.options.asking.clone(),
            audit: self.options.audit.clone(),
            observe: false,
            only_tools: self.options.only_tools,
            context: self.options.context.clone(),
            caller: Caller {
                subject: key.1.as_deref().map(str::to_owned),
                ..Caller::default()
            },
            counts: self.options.counts.clone(),
            warn: self.options.warn,
            container_workspace_dir: None,
        };
        let guard = Arc::new(Guard::new(Arc::clone(&servers.gate), options)?);
        if let Some(reason) = &servers.expired {
            guard.expire(reason)?;
        }
        servers.keep(key, &guard);
        Ok(guard)
    }

    /// Judges a message. That may take as long as a disk does, and other tasks go on meanwhile.
    pub(crate) fn judging<T>(judge: impl FnOnce() -> T) -> T {
        match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => block_in_place(judge),
            // A test's own runtime, or none.
            Ok(_) | Err(_) => judge(),
        }
    }

    /// Returns `true` if nothing but tools may be reached.
    pub(crate) fn only_tools(&self) -> bool {
        self.options.only_tools
    }

    /// Returns `true` if who asks is whom evaluations name.
    pub(crate) fn callers_from_evaluations(&self) -> bool {
        self.options.callers_from_evaluations
    }

    /// Returns `true` if the documents say what a tool's arguments mean.
    pub(crate) fn is_annotated(&self, server: &str, tool: &str) -> bool {
        let tool = (server.to_owned(), tool.to_owned());
        self.servers().tools.contains(&tool)
    }

    /// Where questions to a person are, if one may be asked.
    pub(crate) fn queue(&self) -> Option<&Queue> {
        self.options.asking.as_ref().map(|asking| &asking.queue)
    }

    /// The address under which the service is reached, if it is known.
    pub(crate) fn address(&self) -> Option<&str> {
        self.options.address.as_deref()
    }

    /// No new requests are to be sent: the service ends once those are answered that it has.
    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if requests may be sent.
    pub(crate) fn is_ready(&self) -> bool {
        !self.is_ending.load(Ordering::Relaxed)
    }

    /// The decisions for each server that the documents know, and for all others together.
    pub(crate) fn tallies(&self) -> Vec<(String, Tally)> {
        let servers = self.servers();
        let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
        let guards = servers.guards.iter();
        let each = guards.map(|((server, _), guard)| (&**server, guard.tally()));
        for (server, tally) in each.chain([("", servers.forgotten)]) {
            let known = servers.known.get(server).map_or("", |known| known);
            let sum = tallies.entry(known).or_default();
            *sum = *sum + tally;
        }
        // Nobody has such a name.
        tallies.retain(|server, tally| !server.is_empty() || *tally != Tally::default());
        let named = tallies.into_iter();
        named.map(|(server, tally)| (server.to_owned(), tally)).collect()
    }

    fn servers(&self) -> MutexGuard<'_, Servers> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn warn(&self, message: &str) {
        (self.options.warn)(message);
    }
}

/// The servers that a gate's documents name, with the one of requests that name none, and the tools that they annotate.
fn known(gate: &Gate, own: Option<&str>) -> (BTreeSet<String>, BTreeSet<(String, String)>) {
    let layers = gate.compile_layers(gate.host()).unwrap_or_default();
    let engines = || layers.iter().map(|layer| &layer.engine);
    let tools = engines().flat_map(Engine::tools);
    let tools: BTreeSet<_> = tools
        .map(|(server, tool)| (server.to_owned(), tool.to_owned()))
        .collect();
    let named = engines().flat_map(|engine| engine.program().server_names());
    let annotated = tools.iter().map(|(server, _)| &**server);
    let servers: BTreeSet<_> = named.chain(own).chain(annotated).map(str::to_owned).collect();
    (servers, tools)
}

#[cfg(test)]
mod tests {
    use crate::tests::service;

    #[test]
    fn names_that_are_made_up_take_no_place_of_a_server() {
        let service = service(Some("own"));
        for number in 0..200 {
            let guard = service.guard(Some(&format!("invented-{number}")), None).unwrap();
            assert_eq!(
                guard.decide("fetch", "{}").unwrap().verdict.rule,
                "structural-unknown-tool"
            );
            assert!(service.servers().guards.len() <= super::OTHERS + 1);
        }
        let guard = service.guard(Some("web"), None).unwrap();
        guard.decide("report", "{}").unwrap();
        let tallies = service.tallies();
        let names: Vec<&str> = tallies.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["", "own", "web"]);
        assert_eq!(tallies[0].1.deny, 200);
        assert_eq!(tallies[2].1.escalate, 1);
    }
}

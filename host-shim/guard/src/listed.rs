//! The tools of a server, as it listed them last, and whether they are those that were accepted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::pins::Pins;

/// How many tools of a server are remembered that nobody has accepted, and bytes of the longest of their names.
const TOOLS: usize = 10_000;
const LONGEST: usize = 1024;

/// The tools that one process of a server has listed, or one connection to it: another may be of another version.
#[derive(Default)]
pub(super) struct Listed {
    state: Mutex<State>,
    edition: Edition,
}

/// Grows whenever a process of the server says that its tools have changed: what any listed before does not count any more.
#[derive(Clone, Default)]
pub(super) struct Edition(Arc<AtomicU64>);

#[derive(Default)]
struct State {
    tools: BTreeMap<String, Tool>,
    /// The edition of which the guard has seen all tools.
    complete: Option<u64>,
}

struct Tool {
    compared: Compared,
    edition: u64,
}

/// A tool as the server listed it.
#[derive(Clone)]
pub(super) enum Compared {
    /// Tools were not pinned then, so it was not looked at.
    Unpinned,
    /// Nobody can say what every client makes of it, so it is like none that was accepted.
    Unclear,
    /// Its digest.
    Digest(String),
}

/// Why a tool may be called, or may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is as it was accepted, or tools are not pinned.
    Accepted,
    /// Nobody has accepted it as it is.
    HeldBack(&'static str),
    /// The server has not listed it yet, or not since it said that its tools have changed.
    Unknown,
}

impl Compared {
    /// Why the tool is not the one that was accepted, by its digest, if it is not.
    fn differs(&self, pinned: &str) -> Option<&'static str> {
        match self {
            Self::Digest(digest) if digest == pinned => None,
            Self::Digest(_) => {
                Some("The tool has changed since it was pinned: nobody has accepted the change yet")
            }
            Self::Unclear => Some(
                "Two programs may read the tool differently, so it cannot be compared with the one that was pinned",
            ),
            Self::Unpinned => Some("The tool was listed before tools were pinned"),
        }
    }

    /// Returns `true` if the tool is not one that was accepted, as it is listed now.
    pub(super) fn is_held_back(&self, pins: Option<&Pins>, tool: &str) -> bool {
        pins.is_some_and(|pins| {
            pins.digest(tool)
                .is_none_or(|pinned| self.differs(pinned).is_some())
        })
    }
}

impl Edition {
    /// The server says that its tools have changed.
    pub(super) fn outdate(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn number(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Listed {
    pub(super) fn new(edition: Edition) -> Self {
        let state = Mutex::default();
        Self { state, edition }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the tools.
    pub(super) fn names(&self) -> Vec<String> {
        self.state().tools.keys().cloned().collect()
    }

    /// Remembers a tool that the server lists, by its answer to a request of this edition. What nobody accepted is held back in
    /// any case, so not all of it need be remembered.
    pub(super) fn add(&self, tool: &str, compared: Compared, edition: u64, is_pinned: bool) {
        let mut state = self.state();
        let has_room = state.tools.len() < TOOLS && tool.len() <= LONGEST;
        let known = state.tools.get(tool).map(|known| known.edition);
        // An answer to an earlier request says nothing of the tools as they are now.
        let is_late = known.is_some_and(|known| known > edition);
        if !is_late && (is_pinned || has_room || known.is_some()) {
            state.tools.insert(tool.to_owned(), Tool { compared, edition });
        }
    }

    pub(super) fn edition(&self) -> u64 {
        self.edition.number()
    }

    /// The server says that its tools have changed.
    pub(super) fn outdate(&self) {
        self.edition.outdate();
    }

    /// The guard has seen all tools of this edition.
    pub(super) fn complete(&self, edition: u64) {
        self.state().complete = Some(edition);
    }

    /// The standing of a tool towards the one that was accepted.
    pub(super) fn standing(&self, pins: Option<&Pins>, tool: &str) -> Standing {
        let Some(pins) = pins else {
            return Standing::Accepted;
        };
        let Some(pinned) = pins.digest(tool) else {
            return Standing::HeldBack("The tool is not pinned: nobody has accepted it yet");
        };
        let (state, edition) = (self.state(), self.edition());
        let found = state.tools.get(tool).filter(|found| found.edition == edition);
        match found.map(|found| &found.compared) {
            Some(compared @ (Compared::Digest(_) | Compared::Unclear)) => match compared.differs(pinned) {
                Some(reason) => Standing::HeldBack(reason),
                None => Standing::Accepted,
            },
            Some(Compared::Unpinned) | None if state.complete == Some(edition) => Standing::HeldBack(
                "The server does not list the tool any more, so it cannot be compared with the one that was pinned",
            ),
            Some(Compared::Unpinned) | None => Standing::Unknown,
        }
    }
}

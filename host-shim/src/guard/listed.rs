//! The tools of a server, as it listed them last, and whether they are those that were accepted.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::pins::Pins;

/// How many tools of a server are remembered that nobody has accepted, and bytes of the longest of their names.
const TOOLS: usize = 10_000;
const LONGEST: usize = 1024;

/// The tools that a server has listed.
#[derive(Default)]
pub(super) struct Listed(Mutex<State>);

#[derive(Default)]
struct State {
    tools: BTreeMap<String, Tool>,
    /// Grows whenever the server says that its tools have changed: what it listed before does not count any more.
    edition: u64,
    /// The edition of which the guard has seen all tools.
    complete: Option<u64>,
}

struct Tool {
    compared: Compared,
    edition: u64,
}

/// A tool as the server listed it.
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

impl Listed {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the tools.
    pub(super) fn names(&self) -> Vec<String> {
        self.state().tools.keys().cloned().collect()
    }

    /// Remembers a tool that the server lists now. What nobody accepted is held back in any case, so not all of it need be
    /// remembered.
    pub(super) fn add(&self, tool: &str, compared: Compared, is_pinned: bool) {
        let mut state = self.state();
        let edition = state.edition;
        let has_room = state.tools.len() < TOOLS && tool.len() <= LONGEST;
        if is_pinned || has_room || state.tools.contains_key(tool) {
            state.tools.insert(tool.to_owned(), Tool { compared, edition });
        }
    }

    /// The server says that its tools have changed.
    pub(super) fn outdate(&self) {
        let mut state = self.state();
        state.edition = state.edition.saturating_add(1);
    }

    pub(super) fn edition(&self) -> u64 {
        self.state().edition
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
        let state = self.state();
        let found = state
            .tools
            .get(tool)
            .filter(|found| found.edition == state.edition);
        match found.map(|found| &found.compared) {
            Some(Compared::Digest(digest)) if digest == pinned => Standing::Accepted,
            Some(Compared::Digest(_)) => Standing::HeldBack(
                "The tool has changed since it was pinned: nobody has accepted the change yet",
            ),
            Some(Compared::Unclear) => Standing::HeldBack(
                "Two programs may read the tool differently, so it cannot be compared with the one that was pinned",
            ),
            Some(Compared::Unpinned) | None if state.complete == Some(state.edition) => Standing::HeldBack(
                "The server does not list the tool any more, so it cannot be compared with the one that was pinned",
            ),
            Some(Compared::Unpinned) | None => Standing::Unknown,
        }
    }
}

//! What the guard judges by, from one reload to the next.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use callgate_host::Gate;

use super::counts::Counters;
use super::digest::digest;
use super::pins::Pins;
use super::shown::Shown;

/// A gate, the digest of its documents, and the tools that were accepted.
pub(super) struct Policy {
    pub(super) gate: Arc<Gate>,
    pub(super) digest: String,
    pub(super) counters: Counters,
    pub(super) pins: Option<Pins>,
    /// No call is allowed any more.
    pub(super) has_expired: AtomicBool,
    /// The tools that the client may know of, once it asks.
    pub(super) shown: OnceLock<Shown>,
}

impl Policy {
    pub(super) fn new(gate: Arc<Gate>, pins: Option<Pins>) -> Self {
        let (digest, counters) = (digest_of_documents(&gate), Counters::of(&gate));
        Self {
            counters,
            gate,
            digest,
            pins,
            has_expired: AtomicBool::new(false),
            shown: OnceLock::new(),
        }
    }
}

/// The digest of everything that a gate judges by.
pub(super) fn digest_of_documents(gate: &Gate) -> String {
    let own = documents(gate);
    // Texts are always JSON.
    let text = match gate.above() {
        [] => serde_json::to_vec(&own),
        above => {
            let above = above
                .iter()
                .map(|gate| (gate.name(), gate.leaves(), documents(gate)));
            serde_json::to_vec(&(above.collect::<Vec<_>>(), gate.name(), own))
        }
    };
    digest(&text.unwrap_or_default())
}

fn documents(gate: &Gate) -> Vec<(&str, &str)> {
    let documents = gate.documents().iter();
    let documents = documents.map(|document| (document.part.as_str(), document.text.as_str()));
    documents.collect()
}

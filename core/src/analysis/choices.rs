//! The values that an argument is given: one for each place between what it is compared with.

use std::collections::BTreeSet;

use serde_json::Value;

use super::atoms::Atoms;
use super::choice::Choice;
use super::{hosts, names, places};

/// The texts for an argument that is compared with these.
pub(super) fn choices(atoms: &Atoms) -> Vec<Choice> {
    let mut found = Vec::new();
    if atoms.reading.is_path {
        places::choices(atoms, &mut found);
    }
    if atoms.reading.is_url || !atoms.domains.is_empty() {
        hosts::choices(atoms, &mut found);
    }
    let is_text = !atoms.reading.is_path && !atoms.reading.is_url;
    if is_text || !atoms.names.is_empty() || !atoms.emails.is_empty() {
        names::choices(atoms, &mut found);
    }
    let mut kept: Vec<Choice> = Vec::with_capacity(found.len());
    let mut seen = BTreeSet::new();
    for choice in found {
        let text = choice.value.as_ref().and_then(Value::as_str).map(str::to_owned);
        if seen.insert(text) {
            kept.push(choice);
        }
    }
    kept
}

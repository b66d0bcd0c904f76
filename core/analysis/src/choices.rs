//! The values that an argument is given: one for each place between what it is compared with.

use std::collections::BTreeSet;

use serde_json::Value;

use super::atoms::Atoms;
use super::texts::Texts;
use super::{addresses, hosts, names, places};

/// The texts for an argument that is compared with these. `is_matched` tells which paths a protected pattern matches.
pub(super) fn choices(atoms: &Atoms, is_matched: &dyn Fn(&str) -> bool) -> Texts {
    let mut texts = Texts::default();
    if atoms.kinds.is_address {
        addresses::choices(atoms, is_matched, &mut texts);
    }
    if atoms.kinds.is_path {
        places::choices(atoms, is_matched, &mut texts);
    }
    if atoms.kinds.is_url || !atoms.domains.is_empty() {
        hosts::choices(atoms, &mut texts);
    }
    let is_text = !atoms.kinds.is_path && !atoms.kinds.is_url && !atoms.kinds.is_address;
    let is_named = !atoms.kinds.is_address && !atoms.names.is_empty();
    if is_text || atoms.kinds.is_identifier || is_named || !atoms.emails.is_empty() {
        names::choices(atoms, is_matched, &mut texts);
    }
    let kinds = [
        atoms.kinds.is_path,
        atoms.kinds.is_url,
        atoms.kinds.is_address,
        atoms.kinds.is_identifier,
    ];
    let is_mixed = kinds.into_iter().filter(|is_read| *is_read).count() > 1;
    let is_compared = !atoms.names.is_empty() || !atoms.emails.is_empty() || !atoms.domains.is_empty();
    let is_ref = atoms.kinds.is_address && (atoms.kinds.is_branch || !atoms.emails.is_empty());
    if is_mixed && (is_compared || atoms.kinds.is_url) || is_ref {
        let why = "values that are read in several ways, such as a path and a name, are not divided exactly";
        texts.lacking.push(why.to_owned());
    }
    // Of an argument that one program reads as a path and another as an address, each address is a relative path.
    let is_in_address = |directory: &String| {
        let mut names = directory.split('/');
        names.any(|name| name.contains(':'))
    };
    if atoms.kinds.is_path && atoms.kinds.is_address && atoms.directories.iter().any(is_in_address) {
        let why =
            "paths in directories whose names look like the beginning of an address are not divided exactly";
        texts.lacking.push(why.to_owned());
    }
    let mut seen = BTreeSet::new();
    texts.choices.retain(|choice| {
        let text = choice.value.as_ref().and_then(Value::as_str).map(str::to_owned);
        seen.insert(text)
    });
    texts
}

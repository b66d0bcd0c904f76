//! The verbs in a tool's name and description.

use super::words::{is_form_of, of_name, of_text};
use callgate_engine::role::RoleId;

/// The effect of a tool on its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Read,
    Write,
    /// Reads and writes the same thing.
    Edit,
    Delete,
    Move,
    Copy,
    /// Reads, and changes something elsewhere.
    Send,
    /// Whatever the program that it starts does.
    Run,
    /// Changes a file, or removes it.
    Alter,
}

/// Verbs in the singular imperative. Their third person is known too.
const VERBS: &[(Verb, &str)] = &[
    (
        Verb::Read,
        "read, get, list, search, find, show, view, describe, count, stat, check, exist, inspect, \
         analyze, analyse, tree, cat, head, tail, open, load, fetch, query, lookup, scan, grep, glob, ls, \
         diff, compare, hash, checksum, summarize, parse, preview, watch, monitor, validate, verify, \
         lint, return, retrieve, display, browse, navigate, import, look, enumerate, print, activate, select, \
         choose",
    ),
    (
        Verb::Write,
        "write, create, save, add, put, make, mkdir, touch, generate, export, download, render, init, \
         initialize, store, record, build, install, output, overwrite",
    ),
    (
        Verb::Edit,
        "edit, update, append, insert, patch, modify, replace, change, rewrite, format, fix, apply, \
         prepend, convert, truncate, compress, zip, gzip, transform, sort, upsert, set",
    ),
    (
        Verb::Delete,
        "delete, remove, unlink, rm, rmdir, erase, destroy, purge, clean, trash, clear, prune, wipe, \
         shred",
    ),
    (Verb::Move, "move, rename, mv, relocate"),
    (
        Verb::Copy,
        "copy, cp, duplicate, link, symlink, mirror, sync, extract, unzip, untar, unpack",
    ),
    (
        Verb::Send,
        "send, post, reply, share, forward, mail, email, invite, comment, publish, upload, attach, submit",
    ),
    (
        Verb::Run,
        "run, execute, exec, eval, evaluate, invoke, call, spawn, start, launch, shell, bash",
    ),
];

fn find(word: &str) -> Option<Verb> {
    let known = VERBS
        .iter()
        .find(|(_, words)| words.split(", ").any(|one| is_form_of(word, one)));
    known.map(|(verb, _)| *verb)
}

/// A verb, with the word that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedVerb {
    pub(super) verb: Verb,
    pub(super) word: String,
}

/// The first verb of a name, and those that are joined to it by `and` or `or`.
pub(super) fn in_name(name: &str) -> Vec<NamedVerb> {
    let words = of_name(name);
    leading(words.iter().map(String::as_str))
}

/// The verb that begins a description, and those that are joined to it. Adverbs may stand before it.
pub(super) fn at_start(description: &str) -> Vec<NamedVerb> {
    let words = of_text(description);
    let first = words
        .iter()
        .take_while(|(sentence, _)| *sentence == 0)
        .map(|(_, word)| word.as_str());
    let is_late = first.clone().take(3).all(|word| find(word).is_none());
    if is_late { Vec::new() } else { leading(first) }
}

fn leading<'w>(words: impl Iterator<Item = &'w str>) -> Vec<NamedVerb> {
    let mut said: Vec<NamedVerb> = Vec::new();
    let mut is_joined = true;
    let mut words = words.peekable();
    // `start_search` is a search.
    if words.peek() == Some(&"start") {
        words.next();
        if words.peek().and_then(|word| find(word)).is_none() {
            return vec![NamedVerb {
                verb: Verb::Run,
                word: "start".to_owned(),
            }];
        }
    }
    // A verb that is joined to another may have an object or an adverb between: `create a file or overwrite one`.
    for word in words {
        if matches!(word, "or" | "and") {
            is_joined = !said.is_empty();
            continue;
        }
        let verb = find(word);
        if let Some(verb) = verb.filter(|_| is_joined || said.is_empty()) {
            said.push(NamedVerb {
                verb,
                word: word.to_owned(),
            });
        }
        is_joined = said.is_empty() || is_joined && verb.is_none() && word.ends_with("ly");
    }
    said
}

/// Every verb in the first sentence of an argument's description.
pub(super) fn about_argument(description: &str) -> Vec<NamedVerb> {
    let words = of_text(description);
    let first = words.iter().take_while(|(sentence, _)| *sentence == 0);
    let mut before = "";
    let mut said = Vec::new();
    for (_, word) in first {
        // `the file to read`, `where to write`; `the list of files` is not one with a verb.
        let is_verb = matches!(before, "" | "to" | "be" | "and" | "or" | "will") || !said.is_empty();
        if let Some(verb) = find(word).filter(|_| is_verb) {
            said.push(NamedVerb {
                verb,
                word: word.clone(),
            });
        }
        before = word.as_str();
    }
    said
}

/// The end of a transfer that a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Source,
    Destination,
    Either,
}

impl Verb {
    /// The roles of a path in a tool that does this.
    pub(super) fn path_roles(self, side: Side) -> &'static [RoleId] {
        const READ: RoleId = RoleId::READ_PATH;
        const WRITE: RoleId = RoleId::WRITE_PATH;
        const DELETE: RoleId = RoleId::DELETE_PATH;
        match (self, side) {
            (Self::Read, Side::Destination) => &[WRITE],
            (Self::Read | Self::Send, _) => &[READ],
            (Self::Write, Side::Source) | (Self::Edit, _) => &[READ, WRITE],
            (Self::Write, _) => &[WRITE],
            (Self::Delete, _) => &[DELETE],
            (Self::Move, Side::Source) => &[READ, DELETE],
            (Self::Copy, Side::Source) => &[READ],
            (Self::Move | Self::Copy, Side::Destination) => &[WRITE],
            (Self::Copy, Side::Either) => &[READ, WRITE],
            (Self::Move, Side::Either) | (Self::Alter, _) => &[READ, WRITE, DELETE],
            // What is removed is named by a verb.
            (Self::Run, _) => &[READ, WRITE],
        }
    }

    /// Returns `true` if nothing that a path names is changed.
    pub(super) fn only_reads(self) -> bool {
        matches!(self, Self::Read | Self::Send)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verbs(said: &[NamedVerb]) -> Vec<Verb> {
        said.iter().map(|one| one.verb).collect()
    }

    #[test]
    fn the_first_verb_of_a_name_counts() {
        for (name, expected) in [
            ("read_text_file", vec![Verb::Read]),
            ("slack_post_message", vec![Verb::Send]),
            ("create_or_update_file", vec![Verb::Write, Verb::Edit]),
            ("directoryTree", vec![Verb::Read]),
            ("list_and_delete", vec![Verb::Read, Verb::Delete]),
            ("get_move", vec![Verb::Read]),
            ("start_search", vec![Verb::Read]),
            ("start_process", vec![Verb::Run]),
            ("activate_project", vec![Verb::Read]),
            ("frobnicate", vec![]),
        ] {
            assert_eq!(verbs(&in_name(name)), expected, "{name}");
        }
    }

    #[test]
    fn the_verb_that_begins_a_description_counts() {
        for (text, expected) in [
            ("Shows the working tree status", vec![Verb::Read]),
            ("Recursively search for files", vec![Verb::Read]),
            (
                "Move or rename files and directories.",
                vec![Verb::Move, Verb::Move],
            ),
            (
                "Create a new file or completely overwrite one. Delete nothing",
                vec![Verb::Write, Verb::Write],
            ),
            ("This useful tool will delete everything", vec![]),
        ] {
            assert_eq!(verbs(&at_start(text)), expected, "{text}");
        }
    }

    #[test]
    fn an_argument_says_what_happens_to_it() {
        for (text, expected) in [
            ("File name to save the log to. Read it later", vec![Verb::Write]),
            (
                "Path where to create/update the file",
                vec![Verb::Write, Verb::Edit],
            ),
            ("The list of files", vec![]),
            ("Load code from the file", vec![Verb::Read]),
        ] {
            assert_eq!(verbs(&about_argument(text)), expected, "{text}");
        }
    }
}

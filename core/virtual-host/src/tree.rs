//! The virtual filesystem and the walk through it.

use std::collections::BTreeMap;

use callgate_engine::host::RealpathError;
use callgate_engine::text::strip_directory;

use super::fold::Folding;
use super::{Machine, MachineError, Platform};

/// The most links that one walk follows, as in Linux (`path_resolution(7)`).
const MAX_LINKS: usize = 40;

/// The entries, by the folded form of their absolute paths. The root is the empty string.
///
/// INVARIANT: every proper ancestor of an entry is an entry, and a directory.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: BTreeMap<String, Node>,
    errors: BTreeMap<String, RealpathError>,
    folding: Folding,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Directory,
    File,
    Link(String),
}

/// How to treat a link that is the last component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Follow,
    Keep,
}

/// Where a walk ended.
#[derive(Debug)]
pub(super) struct WalkEnd<'t> {
    /// Absolute; only the last component may be a link.
    pub(super) path: String,
    node: &'t Node,
}

impl WalkEnd<'_> {
    pub(super) fn is_directory(&self) -> bool {
        *self.node == Node::Directory
    }

    pub(super) fn link_target(&self) -> Option<&str> {
        match self.node {
            Node::Link(target) => Some(target),
            Node::Directory | Node::File => None,
        }
    }
}

impl Tree {
    pub(super) fn new(machine: &Machine) -> Result<Self, MachineError> {
        let mut tree = Self {
            nodes: BTreeMap::from([(String::new(), Node::Directory)]),
            errors: BTreeMap::new(),
            folding: Folding::new(&machine.fs),
        };
        if machine.platform == Platform::Win32 {
            return Ok(tree);
        }
        for path in &machine.fs.dirs {
            tree.insert(path, Node::Directory)?;
        }
        for path in &machine.fs.files {
            tree.insert(path, Node::File)?;
        }
        for (path, target) in &machine.fs.links {
            tree.insert(path, Node::Link(target.clone()))?;
        }
        for (dir, code) in &machine.fs.errors {
            let error = error_of_code(code)
                .ok_or_else(|| MachineError::new(format!("unknown error code `{code}` of `{dir}`")))?;
            tree.errors.insert(tree.folding.key(dir), error);
        }
        Ok(tree)
    }

    /// Follows `path` from the root, component by component, as the kernel does.
    pub(super) fn walk(&self, path: &str, last: Last) -> Result<WalkEnd<'_>, RealpathError> {
        if path.contains('\0') || !path.starts_with('/') {
            return Err(RealpathError::Other);
        }
        let mut reached = String::new();
        let mut node = &Node::Directory;
        let mut links = 0;
        let mut pending: Vec<&str> = components(path).collect();
        while let Some(name) = pending.pop() {
            if *node != Node::Directory {
                return Err(RealpathError::NotFound);
            }
            match name {
                "." => continue,
                ".." => {
                    reached.truncate(reached.rfind('/').unwrap_or(0));
                    continue;
                }
                _ => {}
            }
            let child = format!("{reached}/{name}");
            let found = self.look_up(&child)?;
            match found {
                Node::Link(target) if last == Last::Follow || !pending.is_empty() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(RealpathError::Loop);
                    }
                    if target.is_empty() {
                        return Err(RealpathError::NotFound);
                    }
                    if target.starts_with('/') {
                        reached.clear();
                    }
                    pending.extend(components(target));
                }
                Node::Directory | Node::File | Node::Link(_) => {
                    reached = child;
                    node = found;
                }
            }
        }
        if reached.is_empty() {
            reached.push('/');
        }
        Ok(WalkEnd { path: reached, node })
    }

    fn look_up(&self, path: &str) -> Result<&Node, RealpathError> {
        let key = self.folding.key(path);
        for (dir, error) in &self.errors {
            if strip_directory(&key, dir).is_some_and(|below| !below.is_empty()) {
                return Err(error.clone());
            }
        }
        self.nodes.get(&key).ok_or(RealpathError::NotFound)
    }

    fn insert(&mut self, path: &str, node: Node) -> Result<(), MachineError> {
        if path == "/" && node == Node::Directory {
            return Ok(());
        }
        let normalized = path.strip_prefix('/').is_some_and(|names| {
            names.split('/').all(|name| !matches!(name, "" | "." | "..")) && !names.contains('\0')
        });
        if !normalized {
            return Err(MachineError::new(format!(
                "entry `{path}` is not an absolute path without `.`, `..`, `//` or a trailing `/`"
            )));
        }
        for (at, _) in path.match_indices('/').skip(1) {
            let above = path.get(..at).unwrap_or_default();
            let key = self.folding.key(above);
            if *self.nodes.entry(key).or_insert(Node::Directory) != Node::Directory {
                return Err(MachineError::new(format!(
                    "entry `{path}` lies below `{above}`, which is not a directory"
                )));
            }
        }
        match self.nodes.insert(self.folding.key(path), node.clone()) {
            Some(other) if other != node => Err(MachineError::new(format!("entry `{path}` is of two kinds"))),
            _ => Ok(()),
        }
    }
}

/// The components of `path` from last to first, without empty ones.
fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').rev().filter(|name| !name.is_empty())
}

/// The error for the name of an `errno`.
fn error_of_code(code: &str) -> Option<RealpathError> {
    match code {
        "ENOENT" | "ENOTDIR" => Some(RealpathError::NotFound),
        "ELOOP" => Some(RealpathError::Loop),
        "EACCES" | "EPERM" => Some(RealpathError::Denied),
        "EILSEQ" => Some(RealpathError::NotUtf8),
        "EINVAL" | "EIO" | "EMFILE" | "ENAMETOOLONG" | "ENOMEM" | "ESTALE" | "ETIMEDOUT" => {
            Some(RealpathError::Other)
        }
        _ => None,
    }
}

//! A small disk for tests, which walks as the kernel does.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::host::{Facts, GitIgnore, Host, HostError, RealpathError};
use crate::limits::Limits;

use crate::path::{CanonicalPath, PathCase, Resolver};

/// A file of the disk.
#[derive(Clone, Debug)]
enum Node {
    Directory,
    File,
    Link(String),
    /// A directory in which every look-up fails.
    Locked(RealpathError),
}

/// Directories, files and links; everything else does not exist.
#[derive(Clone, Debug, Default)]
pub(in crate::path) struct Disk {
    nodes: BTreeMap<String, Node>,
    /// Every question, in order.
    pub(in crate::path) asked: RefCell<Vec<String>>,
}

impl Disk {
    /// A disk of `entries`: `/dir/`, `/file`, `/link -> target`, `/dir/ !` with an error. Parents are made.
    pub(in crate::path) fn new<'a>(entries: impl IntoIterator<Item = &'a str>) -> Self {
        let mut disk = Self::default();
        for entry in entries {
            if let Some((path, target)) = entry.split_once(" -> ") {
                disk.put(path, Node::Link(target.to_owned()));
            } else if let Some((path, error)) = entry.split_once("/ !") {
                let error = match error {
                    "denied" => RealpathError::Denied,
                    "not-utf8" => RealpathError::NotUtf8,
                    "other" => RealpathError::Other,
                    _ => RealpathError::Host(HostError::new(error)),
                };
                disk.put(path, Node::Locked(error));
            } else if let Some(path) = entry.strip_suffix('/') {
                disk.put(path, Node::Directory);
            } else {
                disk.put(entry, Node::File);
            }
        }
        disk
    }

    fn put(&mut self, path: &str, node: Node) {
        let mut above = path;
        while let Some((directory, _)) = above.rsplit_once('/') {
            self.nodes.entry(directory.to_owned()).or_insert(Node::Directory);
            above = directory;
        }
        self.nodes.insert(path.to_owned(), node);
    }

    /// Returns `true` if `path` is there and free of links.
    pub(in crate::path) fn holds(&self, path: &str) -> bool {
        self.nodes.contains_key(path.trim_end_matches('/'))
    }
}

impl Host for Disk {
    fn home_dir(&self) -> &str {
        "/home/u"
    }

    fn current_dir(&self) -> &str {
        "/srv/app"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        self.asked.borrow_mut().push(format!("realpath {path}"));
        if path.split('/').any(|name| name.len() > 255) {
            return Err(RealpathError::Other);
        }
        let mut place = String::new();
        let mut names: Vec<String> = path.rsplit('/').map(str::to_owned).collect();
        let mut links = 0;
        while let Some(name) = names.pop() {
            if name.is_empty() {
                continue;
            }
            match self.nodes.get(&place) {
                Some(Node::Directory) => {}
                Some(Node::Locked(error)) => return Err(error.clone()),
                Some(Node::File | Node::Link(_)) | None => return Err(RealpathError::NotFound),
            }
            match name.as_str() {
                "." => continue,
                ".." => {
                    place.truncate(place.rfind('/').unwrap_or(0));
                    continue;
                }
                _ => {}
            }
            let candidate = format!("{place}/{name}");
            match self.nodes.get(&candidate) {
                None => return Err(RealpathError::NotFound),
                Some(Node::Link(target)) => {
                    links += 1;
                    if links > 40 {
                        return Err(RealpathError::Loop);
                    }
                    if target.starts_with('/') {
                        place.clear();
                    }
                    names.extend(target.rsplit('/').map(str::to_owned));
                }
                Some(Node::Directory | Node::File | Node::Locked(_)) => place = candidate,
            }
        }
        match self.nodes.get(&place) {
            Some(_) if place.is_empty() => Ok("/".into()),
            Some(_) => Ok(place.into()),
            None => Err(RealpathError::NotFound),
        }
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        self.asked.borrow_mut().push(format!("readLink {path}"));
        match self.nodes.get(path) {
            Some(Node::Link(target)) => Ok(Some(target.clone())),
            Some(Node::Directory | Node::File | Node::Locked(_)) | None => Ok(None),
        }
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        let place = self.realpath(path).ok();
        let node = place.and_then(|place| self.nodes.get(place.trim_end_matches('/')));
        Ok(node.map(|node| !matches!(node, Node::File)))
    }

    fn git_remote_urls(&self, _repo: &str, _remote: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn git_default_remote_urls(&self, _repo: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![url.to_owned()])
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        Ok(String::new())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        Ok(Some(Vec::new()))
    }

    fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
        Ok(None)
    }
}

impl Disk {
    /// One evaluation on this disk, with the default limits and a sensitive path case.
    pub(in crate::path) fn evaluate<T>(&self, ask: impl FnOnce(&mut Resolver<'_, '_>) -> T) -> T {
        let mut facts = Facts::new(self, false);
        ask(&mut Resolver {
            facts: &mut facts,
            home: self.home_dir(),
            limits: &Limits::default(),
            path_case: PathCase::Sensitive,
        })
    }
}

/// The canonical path of that text on a disk without links.
pub(in crate::path) fn canonical(path: &str) -> CanonicalPath {
    let disk = Disk::new(["/"]);
    let resolved = disk.evaluate(|resolver| resolver.resolve(path, "/")).unwrap();
    assert_eq!(resolved.as_str(), path);
    resolved
}

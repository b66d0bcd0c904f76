//! A small disk with a repository, made of one input.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use callgate_git::{Error, Files, Found, Kind};

const CONFIG: &[u8] = b"/repo/.git/config";

/// How many links a path may lead through, as in Linux.
const MAX_LINKS: usize = 40;

/// Files by their absolute paths; whatever is above a file is a directory.
pub struct Disk {
    files: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Every path that was read, with the limit.
    reads: RefCell<Vec<(Vec<u8>, usize)>>,
}

impl Disk {
    /// The repository `/repo`. The input is its `config`, up to the first line that starts with `--- `. Each such line
    /// names another file, of which the text up to the next one is the content, or the target of a link after `-> `.
    pub fn new(input: &[u8]) -> Self {
        let mut disk = Self {
            files: BTreeMap::new(),
            reads: RefCell::default(),
        };
        disk.put(b"/repo/.git/HEAD", b"ref: refs/heads/main\n");
        for directory in [
            "/repo/.git/objects/x",
            "/repo/.git/refs/x",
            "/home/u/x",
            "/repo/w/x",
        ] {
            disk.put(directory.as_bytes(), b"");
        }
        let mut rest = input;
        let mut path = None;
        loop {
            let (content, next) = split(rest, b"\n--- ");
            match path {
                None => disk.put(CONFIG, content),
                Some(path) if path != CONFIG => disk.put(path, content),
                Some(_) => {}
            }
            let Some(next) = next else { return disk };
            let (name, content) = split(next, b"\n");
            path = Some([b"/", name].concat());
            rest = content.unwrap_or_default();
        }
    }

    /// The same disk, with a comment at the end of the repository's configuration.
    pub fn with_comment(mut self) -> Self {
        let config = self.files.entry(CONFIG.to_vec()).or_default();
        // A carriage return before a line feed ends a line; at the end of a file it is a character like others.
        if config.ends_with(b"\r") {
            config.push(b' ');
        }
        config.extend_from_slice(b"\n# a comment = \\\"\n");
        self
    }

    pub fn has_links(&self) -> bool {
        self.files.keys().any(|path| self.target(path).is_some())
    }

    /// Panics if a file was read twice, and forgets what was read.
    pub fn check_reads(&self) {
        let reads = self.reads.take();
        let distinct: BTreeSet<_> = reads.iter().collect();
        assert_eq!(distinct.len(), reads.len(), "{reads:?}");
    }

    fn put(&mut self, path: impl AsRef<[u8]>, content: &[u8]) {
        self.files.insert(path.as_ref().to_vec(), content.to_vec());
    }

    fn target(&self, path: &[u8]) -> Option<&[u8]> {
        let target = self.files.get(path)?.strip_prefix(b"-> ")?;
        Some(target.strip_suffix(b"\n").unwrap_or(target))
            .filter(|target| !target.is_empty() && path != CONFIG)
    }

    fn is_directory(&self, path: &[u8]) -> bool {
        let below = [path, b"/"].concat();
        let mut after = self.files.range(below.clone()..);
        path.is_empty() || after.next().is_some_and(|(file, _)| file.starts_with(&below))
    }

    /// Where the path leads, without a `/` at its end; `None` if nothing is there.
    fn walk(&self, path: &[u8], follows_last: bool) -> Result<Option<Vec<u8>>, Error> {
        let mut place = Vec::new();
        let mut names: Vec<Vec<u8>> = path.rsplit(|byte| *byte == b'/').map(<[u8]>::to_vec).collect();
        let mut links = 0;
        while let Some(name) = names.pop() {
            if !self.is_directory(&place) {
                return Ok(None);
            }
            match name.as_slice() {
                b"" | b"." => {}
                b".." => {
                    let parent = place.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                    place.truncate(parent);
                }
                _ => {
                    let next = [place.as_slice(), b"/", &name].concat();
                    let is_followed = follows_last || !names.is_empty();
                    match self
                        .target(&next)
                        .filter(|_| is_followed && !self.is_directory(&next))
                    {
                        Some(target) => {
                            links += 1;
                            if links > MAX_LINKS {
                                return Err(Error::about(path, "too many links"));
                            }
                            if target.starts_with(b"/") {
                                place.clear();
                            }
                            names.extend(target.rsplit(|byte| *byte == b'/').map(<[u8]>::to_vec));
                        }
                        None => place = next,
                    }
                }
            }
        }
        let is_there = self.is_directory(&place) || self.files.contains_key(&place);
        Ok(is_there.then_some(place))
    }
}

impl Files for Disk {
    fn look(&self, path: &[u8]) -> Result<Option<Found>, Error> {
        let Some(place) = self.walk(path, false)? else {
            return Ok(None);
        };
        let kind = if self.is_directory(&place) {
            Kind::Directory
        } else {
            let target = self.target(&place);
            target.map_or(Kind::File, |target| Kind::Link(target.to_vec()))
        };
        Ok(Some(Found {
            kind,
            is_own: !place.ends_with(b"other"),
            device: 1,
        }))
    }

    fn read(&self, path: &[u8], limit: usize) -> Result<Option<Vec<u8>>, Error> {
        self.reads.borrow_mut().push((path.to_vec(), limit));
        let Some(place) = self.walk(path, true)? else {
            return Ok(None);
        };
        match self.files.get(&place).filter(|_| !self.is_directory(&place)) {
            Some(content) => Ok(Some(content.iter().take(limit).copied().collect())),
            None => Err(Error::about(path, "not a regular file")),
        }
    }

    fn is_searchable(&self, path: &[u8]) -> Result<bool, Error> {
        Ok(self
            .walk(path, true)?
            .is_some_and(|place| self.is_directory(&place)))
    }
}

/// The text before the separator, and after it if it is there.
fn split<'t>(text: &'t [u8], separator: &[u8]) -> (&'t [u8], Option<&'t [u8]>) {
    match text
        .windows(separator.len())
        .position(|window| window == separator)
    {
        Some(at) => (&text[..at], Some(&text[at + separator.len()..])),
        None => (text, None),
    }
}

//! Git's answers for the Node host: `callgate-git` over a disk that JavaScript reads.
//!
//! A module beside the engine's, since it would be a fourteenth of that one, and only Node has a disk.

use callgate_git::{CheckIgnore, Error, Files, Found, Git, Kind, Known, Places};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen]
extern "C" {
    /// The package's disk. Paths are bytes; a method that cannot tell throws an `Error` that says why.
    pub type Disk;

    /// The directory that `~` stands for.
    #[wasm_bindgen(method, getter, js_name = homeDir)]
    fn home_dir(this: &Disk) -> String;

    /// The directory of the user's other configuration.
    #[wasm_bindgen(method, getter, js_name = configDir)]
    fn config_dir(this: &Disk) -> String;

    #[wasm_bindgen(method, getter, js_name = isMacos)]
    fn is_macos(this: &Disk) -> bool;

    #[wasm_bindgen(method, catch)]
    fn look(this: &Disk, path: &[u8]) -> Result<Option<DiskEntry>, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn read(this: &Disk, path: &[u8], limit: usize) -> Result<Option<Vec<u8>>, JsValue>;

    #[wasm_bindgen(method, catch, js_name = isSearchable)]
    fn is_searchable(this: &Disk, path: &[u8]) -> Result<bool, JsValue>;

    /// A file at a path.
    type DiskEntry;

    /// 0 for a file, 1 for a directory, 2 for a link, which has a target, 3 for anything else.
    #[wasm_bindgen(method, getter)]
    fn kind(this: &DiskEntry) -> u32;

    #[wasm_bindgen(method, getter)]
    fn target(this: &DiskEntry) -> Option<Vec<u8>>;

    #[wasm_bindgen(method, getter, js_name = isOwn)]
    fn is_own(this: &DiskEntry) -> bool;

    #[wasm_bindgen(method, getter)]
    fn device(this: &DiskEntry) -> f64;

    type Thrown;

    #[wasm_bindgen(method, getter)]
    fn message(this: &Thrown) -> String;
}

impl Files for Disk {
    fn look(&self, path: &[u8]) -> Result<Option<Found>, Error> {
        let seen = self.look(path).map_err(|thrown| failed(path, &thrown))?;
        Ok(seen.map(|seen| Found {
            kind: match (seen.kind(), seen.target()) {
                (0, _) => Kind::File,
                (1, _) => Kind::Directory,
                (2, Some(target)) => Kind::Link(target),
                _ => Kind::Other,
            },
            is_own: seen.is_own(),
            device: seen.device().to_bits(),
        }))
    }

    fn read(&self, path: &[u8], limit: usize) -> Result<Option<Vec<u8>>, Error> {
        self.read(path, limit).map_err(|thrown| failed(path, &thrown))
    }

    fn is_searchable(&self, path: &[u8]) -> Result<bool, Error> {
        self.is_searchable(path).map_err(|thrown| failed(path, &thrown))
    }
}

fn failed(path: &[u8], thrown: &JsValue) -> Error {
    Error::about(path, &thrown.unchecked_ref::<Thrown>().message())
}

/// Git's answers about files as they are when they are first read. It is meant for one evaluation: what changes on the disk
/// is not seen.
#[wasm_bindgen]
pub struct GitSnapshot {
    disk: Disk,
    places: Places,
    known: Known,
}

#[wasm_bindgen]
impl GitSnapshot {
    /// Nothing is read yet.
    #[wasm_bindgen(constructor)]
    pub fn new(disk: Disk) -> Self {
        let places = Places::new(&disk.home_dir(), &disk.config_dir(), disk.is_macos());
        let known = Known::default();
        Self { disk, places, known }
    }

    /// Every URL that a remote stands for in the repository of a directory.
    ///
    /// # Errors
    /// A message when the answer is not certain.
    #[wasm_bindgen(js_name = gitRemoteUrls)]
    pub fn git_remote_urls(&mut self, directory: &str, remote: &str) -> Result<Vec<String>, JsValue> {
        self.ask(|git| git.remote_urls(directory, remote))
    }

    /// The same for the remotes that a fetch or push without an argument would use.
    ///
    /// # Errors
    /// A message when the answer is not certain.
    #[wasm_bindgen(js_name = gitDefaultRemoteUrls)]
    pub fn git_default_remote_urls(&mut self, directory: &str) -> Result<Vec<String>, JsValue> {
        self.ask(|git| git.default_remote_urls(directory))
    }

    /// Every URL that git connects to when it is given this one.
    ///
    /// # Errors
    /// A message when the answer is not certain.
    #[wasm_bindgen(js_name = gitUrls)]
    pub fn git_urls(&mut self, directory: &str, url: &str) -> Result<Vec<String>, JsValue> {
        self.ask(|git| git.urls(directory, url))
    }

    /// The short name of the branch that is checked out; empty if the head is detached.
    ///
    /// # Errors
    /// A message when there is no repository, or the answer is not certain.
    #[wasm_bindgen(js_name = gitBranch)]
    pub fn git_branch(&mut self, directory: &str) -> Result<String, JsValue> {
        self.ask(|git| git.branch(directory))
            .map(Option::unwrap_or_default)
    }

    /// The refs that a push updates because the configuration says so; `undefined` if they cannot be told.
    ///
    /// # Errors
    /// A message when the answer is not certain.
    #[wasm_bindgen(js_name = gitPushRefs)]
    pub fn git_push_refs(
        &mut self,
        directory: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, JsValue> {
        self.ask(|git| git.push_refs(directory, remote, reference))
    }

    /// What git's ignore files say of a path, as the host's word; `undefined` if that is not certain.
    #[wasm_bindgen(js_name = gitCheckIgnore)]
    pub fn git_check_ignore(&mut self, path: &str) -> Option<String> {
        let said = self.ask(|git| git.check_ignore(path)).ok()?;
        let word = match said {
            CheckIgnore::Ignored => "ignored",
            CheckIgnore::Included => "included",
            CheckIgnore::Unmentioned => "unmentioned",
        };
        Some(word.to_owned())
    }

    fn ask<T>(&mut self, question: impl FnOnce(&mut Git<'_>) -> Result<T, Error>) -> Result<T, JsValue> {
        let mut git = Git::new(&self.disk, &self.places, &mut self.known);
        question(&mut git).map_err(|error| JsValue::from_str(error.message()))
    }
}

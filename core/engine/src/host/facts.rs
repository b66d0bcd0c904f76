//! The memory of the host's answers during one evaluation.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::text::{are_same, has_only_normal_components, strip_directory};

use super::{Answer, Exchange, Host, HostError, Question, RealpathError, Recording};

/// How many missing directories are remembered; others are asked about again.
const MISSING_ROOTS: usize = 64;

/// The cost of a question to the host, in steps; the comparison of two paths is one.
const QUESTION: usize = 32;

/// The further cost of a question about git, and of each URL that it is answered with: they are kept, copied and read. A URL
/// of more bytes costs as many steps.
const URLS: usize = 128;

/// The cost of a ref in an answer.
const REF: usize = 4;

/// The cost of resolving a path that was resolved before.
pub const KNOWN_PATH: usize = 16;

/// How many bytes of a path are compared with what was asked before, and kept, in one step.
const PATH_BYTES: usize = 16;

/// The cost of looking a value up in a list or a set of domains.
pub const LOOK_UP: usize = 2;

/// Asks each distinct question at most once, and refuses malformed answers.
///
/// A host failure decides the call, so the first one is kept ([`Facts::failure`]). From then on the host is not asked
/// again, and every answer is that nothing is there. Users of the answers check for a failure at the end.
///
/// INVARIANT: a path below a missing one is missing too, so the host is not asked about it.
pub struct Facts<'h> {
    host: &'h dyn Host,
    /// [`Host::begin`].
    begun: Option<Box<dyn Host + Send>>,
    failure: Option<Failure>,
    /// Nothing, until something is asked.
    known: Option<Box<Known>>,
    log: Option<Vec<Exchange>>,
    /// How much work is left: comparisons, values and questions.
    steps: usize,
}

/// The answers so far.
#[derive(Default)]
struct Known {
    realpaths: OfPaths<Realpath>,
    /// The answers of [`Host::read_link`], which are often about a path that was just found to be missing.
    links: OfPaths<Option<Box<str>>>,
    missing_roots: Vec<MissingRoot>,
    others: BTreeMap<Asked<Question>, Answer>,
}

/// Why no answer counts any more.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Failure {
    /// The host failed.
    Host(HostError),
    /// The evaluation takes more work than it may, whether or not the host failed as well.
    Steps,
}

type Realpath = Result<Real, RealpathError>;

/// Where a path really is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Real {
    pub path: Arc<str>,
    /// `true` if that is the path that was asked about. Paths are long, so that they are compared once.
    pub is_same: bool,
}

/// Answers about paths.
type OfPaths<A> = BTreeMap<Asked<Path>, A>;

/// A path that was asked about.
#[derive(Clone, Debug)]
struct Path(Arc<str>);

impl Ord for Path {
    fn cmp(&self, other: &Self) -> Ordering {
        match are_same(self.0.as_bytes(), other.0.as_bytes()) {
            true => Ordering::Equal,
            false => self.0.cmp(&other.0),
        }
    }
}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Path {}

/// A question as a key: by the length and the last bytes of what it is about, and only then by all of it. Paths of one call
/// often lie in one directory, so that they begin alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Asked<Q> {
    length: usize,
    /// As a number, which is compared at once.
    end: u128,
    question: Q,
}

impl<Q> Asked<Q> {
    fn new(question: Q, about: fn(&Q) -> &str) -> Self {
        let text = about(&question).as_bytes();
        let end = match text.last_chunk() {
            Some(end) => u128::from_le_bytes(*end),
            None => text.iter().fold(0, |end, byte| end << 8 | u128::from(*byte)),
        };
        Self {
            length: text.len(),
            end,
            question,
        }
    }
}

impl Asked<Path> {
    fn path(path: &str) -> Self {
        Self::shared(path.into())
    }

    fn shared(path: Arc<str>) -> Self {
        Self::new(Path(path), |path| &path.0)
    }
}

/// A missing path whose parent exists.
struct MissingRoot {
    path: Box<str>,
    /// Where it would be made, without the links on the way; `None` if a dangling link stands there.
    place: Option<Box<str>>,
}

impl<'h> Facts<'h> {
    /// An empty memory; `recorded` keeps every exchange for [`Facts::take_recording`].
    pub fn new(host: &'h dyn Host, recorded: bool) -> Self {
        Self::bounded(host, recorded, usize::MAX)
    }

    /// The same with a bound on the work of the evaluation ([`Limits::steps`](crate::limits::Limits)).
    pub fn bounded(host: &'h dyn Host, recorded: bool, steps: usize) -> Self {
        Self {
            host,
            begun: host.begin(),
            failure: None,
            known: None,
            log: recorded.then(Vec::new),
            steps,
        }
    }

    /// Counts work that is being done. Beyond the bound the evaluation has failed, like one whose host fails.
    #[inline]
    pub fn take_steps(&mut self, count: usize) {
        match self.steps.checked_sub(count) {
            Some(left) => self.steps = left,
            None => self.exhaust(),
        }
    }

    #[cold]
    fn exhaust(&mut self) {
        self.failure = Some(Failure::Steps);
    }

    /// Returns `true` if the evaluation takes more work than it may.
    pub fn is_exhausted(&self) -> bool {
        matches!(self.failure, Some(Failure::Steps))
    }

    /// The recording of this evaluation, for an engine with this home and current directory.
    pub fn take_recording(&mut self, home_dir: &str, current_dir: &str) -> Recording {
        Recording::new(home_dir, current_dir, self.log.take().unwrap_or_default())
    }

    /// The host's first failure, unless the evaluation takes more work than it may. If there is one, no answer counts.
    pub fn failure(&self) -> Option<&HostError> {
        match &self.failure {
            Some(Failure::Host(error)) => Some(error),
            Some(Failure::Steps) | None => None,
        }
    }

    /// Returns `true` if the host has failed, or the evaluation takes more work than it may.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// `value`, unless the host has failed.
    ///
    /// # Errors
    /// The first failure.
    pub fn check<T>(&self, value: T) -> Result<T, HostError> {
        match &self.failure {
            Some(Failure::Host(error)) => Err(error.clone()),
            Some(Failure::Steps) => Err(HostError::new("the call takes too many steps")),
            None => Ok(value),
        }
    }

    /// [`Host::realpath`] of a normalized path, once; the answer is absolute and normalized.
    pub fn realpath(&mut self, path: &str) -> Realpath {
        self.take_steps(path.len() / PATH_BYTES);
        if self.has_failed() || self.is_missing(path) {
            let known = self.known.as_ref();
            let known = known.and_then(|known| known.realpaths.get(&Asked::path(path)));
            return known.cloned().unwrap_or(Err(RealpathError::NotFound));
        }
        // Most questions are new, so each one is kept, whatever the answer.
        let known = self.known.get_or_insert_default();
        let entry = match known.realpaths.entry(Asked::path(path)) {
            Entry::Occupied(known) => return known.get().clone(),
            Entry::Vacant(entry) => entry,
        };
        match self.steps.checked_sub(QUESTION) {
            Some(left) => self.steps = left,
            None => self.failure = Some(Failure::Steps),
        }
        let host = match &self.begun {
            Some(begun) => &**begun,
            None => self.host,
        };
        let answer: Realpath = match host.realpath(path) {
            Ok(real) if are_same(real.as_bytes(), path.as_bytes()) => Ok(Real {
                path: Arc::clone(&entry.key().question.0),
                is_same: true,
            }),
            Ok(real) if is_normalized(&real) => Ok(Real {
                path: Arc::from(real),
                is_same: false,
            }),
            Ok(real) => Err(RealpathError::Host(HostError::new(format!(
                "realpath answered {real:?} for `{path}`, expected an absolute path without `.`, `..` or `//`"
            )))),
            Err(error) => Err(error),
        };
        if let Some(log) = &mut self.log {
            log.push(Exchange {
                question: Question::realpath(path),
                answer: answer
                    .as_ref()
                    .map(|real| Cow::Borrowed(&*real.path))
                    .map_err(Clone::clone)
                    .into(),
            });
        }
        if let Err(RealpathError::Host(error)) = answer {
            self.failure.get_or_insert(Failure::Host(error));
            return Err(RealpathError::NotFound);
        }
        entry.insert(answer.clone());
        answer
    }

    /// The text, shared with the question about it where that was asked.
    pub fn shared(&self, path: &str) -> Arc<str> {
        let asked = Asked::path(path);
        let known = self.known.as_ref();
        match known.and_then(|known| known.realpaths.get_key_value(&asked)) {
            Some((known, _)) => Arc::clone(&known.question.0),
            None => asked.question.0,
        }
    }

    /// Remembers that `root`, whose parent exists, and everything below it are missing; `place` is where it would be made, if
    /// no dangling link stands there.
    pub fn note_missing_root(&mut self, root: &str, place: Option<&str>) {
        let roots = &mut self.known.get_or_insert_default().missing_roots;
        if roots.len() < MISSING_ROOTS && !roots.iter().any(|known| *known.path == *root) {
            roots.push(MissingRoot {
                path: root.into(),
                place: place.map(Box::from),
            });
        }
    }

    /// Where a missing path would be made, if that is known without a question.
    pub fn place_of_missing<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        let known = self.known.as_ref()?;
        known.missing_roots.iter().find_map(|root| {
            let names = names_below(path, &root.path)?;
            let place = root.place.as_deref()?;
            Some(match (place == &*root.path, names) {
                (true, _) => Cow::Borrowed(path),
                (false, "") => Cow::Owned(place.to_owned()),
                (false, names) => Cow::Owned([place, "/", names].concat()),
            })
        })
    }

    /// Returns `true` if the path is below one that is known to be missing.
    fn is_missing(&self, path: &str) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| {
            let mut roots = known.missing_roots.iter();
            roots.any(|root| is_below(path, &root.path))
        })
    }

    /// [`Host::read_link`], once.
    pub fn read_link(&mut self, path: &str) -> Option<String> {
        self.take_steps(path.len() / PATH_BYTES);
        if self.has_failed() || self.is_missing(path) {
            return None;
        }
        let asked = Asked::shared(self.shared(path));
        if let Some(known) = self.known.get_or_insert_default().links.get(&asked) {
            return known.as_deref().map(str::to_owned);
        }
        self.take_steps(QUESTION);
        let answer = self.host().read_link(path);
        self.note(|| Exchange {
            question: Question::read_link(path),
            answer: answer.clone().into(),
        });
        match answer {
            Ok(target) => {
                let kept = target.as_deref().map(Box::from);
                self.known.get_or_insert_default().links.insert(asked, kept);
                target
            }
            Err(error) => {
                self.failure.get_or_insert(Failure::Host(error));
                None
            }
        }
    }

    /// [`Host::is_directory`], once.
    pub fn is_directory(&mut self, path: &str) -> Option<bool> {
        self.take_steps(path.len() / PATH_BYTES);
        self.ask(Question::is_directory(path))
    }

    /// [`Host::git_remote_urls`], once.
    pub fn git_remote_urls(&mut self, repo: &str, remote: &str) -> Vec<String> {
        self.ask_urls(Question::git_remote_urls(repo, remote))
    }

    /// [`Host::git_default_remote_urls`], once.
    pub fn git_default_remote_urls(&mut self, repo: &str) -> Vec<String> {
        self.ask_urls(Question::git_default_remote_urls(repo))
    }

    /// [`Host::git_url`], once.
    pub fn git_url(&mut self, repo: &str, url: &str) -> Vec<String> {
        self.ask_urls(Question::git_url(repo, url))
    }

    /// [`Host::git_branch`], once.
    pub fn git_branch(&mut self, repo: &str) -> String {
        self.ask(Question::git_branch(repo))
    }

    /// [`Host::git_push_refs`], once.
    pub fn git_push_refs(&mut self, repo: &str, remote: &str, reference: &str) -> Option<Vec<String>> {
        self.take_steps(URLS);
        let refs: Option<Vec<String>> = self.ask(Question::git_push_refs(repo, remote, reference));
        self.take_steps(refs.as_ref().map_or(0, Vec::len) * REF);
        refs
    }

    /// [`Host::role_value`], once.
    pub fn role_value(&mut self, role: &str, step: &str, value: &str) -> String {
        self.ask(Question::role_value(role, step, value))
    }

    /// [`Host::condition`], once. A host that has failed is still asked, so that a reply can name every condition
    /// that does not hold.
    pub fn condition(&mut self, name: &str, subject: &str) -> bool {
        self.ask_always(Question::condition(name, subject))
    }

    /// The URLs of an answer about git; each of them costs.
    fn ask_urls(&mut self, question: Question) -> Vec<String> {
        self.take_steps(URLS);
        let urls: Vec<String> = self.ask(question);
        let cost: usize = urls.iter().map(|url| url.len().max(URLS)).sum();
        self.take_steps(cost.saturating_sub(URLS));
        urls
    }

    /// The answer; if the host has failed, that nothing is there.
    fn ask<T: Default + TryFrom<Answer, Error = Answer>>(&mut self, question: Question) -> T {
        if self.has_failed() {
            return T::default();
        }
        self.ask_always(question)
    }

    /// As `ask`, of a host that may have failed.
    fn ask_always<T: Default + TryFrom<Answer, Error = Answer>>(&mut self, question: Question) -> T {
        T::try_from(self.answer(question)).unwrap_or_else(|answer| {
            let error = HostError::new(match answer {
                Answer::Failed(message) => message,
                other => format!("the host answered with {other:?}"),
            });
            self.failure.get_or_insert(Failure::Host(error));
            T::default()
        })
    }

    fn answer(&mut self, question: Question) -> Answer {
        let asked = Asked::new(question, Question::about);
        if let Some(known) = self.known.get_or_insert_default().others.get(&asked) {
            return known.clone();
        }
        self.take_steps(QUESTION);
        let answer = asked.question.ask(self.host());
        self.note(|| Exchange {
            question: asked.question.clone(),
            answer: answer.clone(),
        });
        if !matches!(answer, Answer::Failed(_)) {
            let known = self.known.get_or_insert_default();
            known.others.insert(asked, answer.clone());
        }
        answer
    }

    fn host(&self) -> &dyn Host {
        match &self.begun {
            Some(begun) => &**begun,
            None => self.host,
        }
    }

    fn note(&mut self, exchange: impl FnOnce() -> Exchange) {
        if let Some(log) = &mut self.log {
            log.push(exchange());
        }
    }
}

fn is_below(path: &str, root: &str) -> bool {
    names_below(path, root).is_some_and(|names| !names.is_empty())
}

/// [`strip_directory`], which looks at the end of `root` first: paths that are missing differ there, if anywhere.
fn names_below<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    const END: usize = 16;
    let may_end_there = match path.as_bytes().get(root.len()) {
        Some(byte) => *byte == b'/',
        None => path.len() == root.len(),
    };
    let end = |text: &str| {
        let end = text.as_bytes().get(..root.len())?.last_chunk::<END>()?;
        Some(u128::from_ne_bytes(*end))
    };
    match may_end_there && end(path) == end(root) {
        true => strip_directory(path, root),
        false => None,
    }
}

/// Returns `true` if `path` is absolute and free of `.`, `..`, empty components, a trailing `/` and NUL.
fn is_normalized(path: &str) -> bool {
    path == "/"
        || path
            .strip_prefix('/')
            .is_some_and(|names| !names.contains('\0') && has_only_normal_components(names))
}

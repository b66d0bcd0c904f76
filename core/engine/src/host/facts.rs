//! The memory of the host's answers during one evaluation.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cost::{ANSWERED_REF, GIT_URL, PATH_BYTES, QUESTION};
use crate::text::{has_only_normal_components, strip_directory};

use super::meter::Meter;
use super::path_key::{PathKey, end};
use super::{Answer, Exchange, GitIgnore, Host, HostError, Question, RealpathError, Recording};

/// How many missing directories are remembered; others are asked about again.
const MISSING_ROOTS: usize = 64;

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
    failure: Option<HostError>,
    known: Known,
    log: Option<Vec<Exchange>>,
    /// Comparisons, values and questions.
    meter: Meter,
}

/// The answers so far.
#[derive(Default)]
struct Known {
    realpaths: OfPaths<Realpath>,
    /// The answers of [`Host::read_link`], which are often about a path that was just found to be missing.
    links: OfPaths<Option<Box<str>>>,
    missing_roots: Vec<MissingRoot>,
    /// By what the question is about, and all of it.
    others: BTreeMap<(PathKey, Question), Answer>,
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
type OfPaths<A> = BTreeMap<PathKey, A>;

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
            known: Known::default(),
            log: recorded.then(Vec::new),
            meter: Meter::new(steps),
        }
    }

    /// Counts work that is being done. Beyond the bound the evaluation has failed, like one whose host fails.
    pub fn take_steps(&mut self, count: usize) {
        self.meter.take(count);
    }

    /// Returns `true` if the evaluation takes more work than it may.
    pub fn is_exhausted(&self) -> bool {
        self.meter.is_exhausted()
    }

    /// The recording of this evaluation, for an engine with this home and current directory.
    pub fn take_recording(&mut self, home_dir: &str, current_dir: &str) -> Recording {
        let exchanges = self.log.take().unwrap_or_default();
        Recording::new(home_dir, current_dir, exchanges).ignoring_path_case(self.host.ignores_path_case())
    }

    /// The host's first failure, unless the evaluation takes more work than it may. If there is one, no answer counts.
    pub fn failure(&self) -> Option<&HostError> {
        self.failure.as_ref().filter(|_| !self.is_exhausted())
    }

    /// Returns `true` if the host has failed, or the evaluation takes more work than it may.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some() || self.is_exhausted()
    }

    /// `value`, unless the host has failed.
    ///
    /// # Errors
    /// The first failure.
    pub fn check<T>(&self, value: T) -> Result<T, HostError> {
        match &self.failure {
            _ if self.is_exhausted() => Err(HostError::new("the call takes too many steps")),
            Some(error) => Err(error.clone()),
            None => Ok(value),
        }
    }

    /// [`Host::realpath`] of a normalized path, once; the answer is absolute and normalized.
    pub fn realpath(&mut self, path: &str) -> Realpath {
        self.take_steps(path.len() / PATH_BYTES);
        let asked = PathKey::new(path);
        if let Some(known) = self.known.realpaths.get(&asked) {
            return known.clone();
        }
        if self.has_failed() || self.is_missing(path) {
            return Err(RealpathError::NotFound);
        }
        self.take_steps(QUESTION);
        let answer: Realpath = match self.host().realpath(path) {
            Ok(real) if real == path => Ok(Real {
                path: Arc::clone(&asked.0),
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
        self.note(|| Exchange {
            question: Question::realpath(path),
            answer: answer
                .as_ref()
                .map(|real| Cow::Borrowed(&*real.path))
                .map_err(Clone::clone)
                .into(),
        });
        if let Err(RealpathError::Host(error)) = answer {
            self.failure.get_or_insert(error);
            return Err(RealpathError::NotFound);
        }
        self.known.realpaths.insert(asked, answer.clone());
        answer
    }

    /// The text, shared with the question about it where that was asked.
    pub fn shared(&self, path: &str) -> Arc<str> {
        let asked = PathKey::new(path);
        match self.known.realpaths.get_key_value(&asked) {
            Some((known, _)) => Arc::clone(&known.0),
            None => asked.0,
        }
    }

    /// Remembers that `root`, whose parent exists, and everything below it are missing; `place` is where it would be made, if
    /// no dangling link stands there.
    pub fn note_missing_root(&mut self, root: &str, place: Option<&str>) {
        let roots = &mut self.known.missing_roots;
        if roots.len() < MISSING_ROOTS && !roots.iter().any(|known| *known.path == *root) {
            roots.push(MissingRoot {
                path: root.into(),
                place: place.map(Box::from),
            });
        }
    }

    /// Where a missing path would be made, if that is known without a question.
    pub fn place_of_missing<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        self.known.missing_roots.iter().find_map(|root| {
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
        let mut roots = self.known.missing_roots.iter();
        roots.any(|root| is_below(path, &root.path))
    }

    /// [`Host::read_link`], once.
    pub fn read_link(&mut self, path: &str) -> Option<String> {
        self.take_steps(path.len() / PATH_BYTES);
        if self.has_failed() || self.is_missing(path) {
            return None;
        }
        let asked = PathKey(self.shared(path));
        if let Some(known) = self.known.links.get(&asked) {
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
                self.known.links.insert(asked, kept);
                target
            }
            Err(error) => {
                self.failure.get_or_insert(error);
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
        self.take_steps(GIT_URL);
        let refs: Option<Vec<String>> = self.ask(Question::git_push_refs(repo, remote, reference));
        self.take_steps(refs.as_ref().map_or(0, Vec::len) * ANSWERED_REF);
        refs
    }

    /// [`Host::git_check_ignore`], once.
    pub fn git_check_ignore(&mut self, path: &str) -> Option<GitIgnore> {
        self.take_steps(path.len() / PATH_BYTES);
        self.ask(Question::git_check_ignore(path))
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
        self.take_steps(GIT_URL);
        let urls: Vec<String> = self.ask(question);
        let cost: usize = urls.iter().map(|url| url.len().max(GIT_URL)).sum();
        self.take_steps(cost.saturating_sub(GIT_URL));
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
            self.fail(answer);
            T::default()
        })
    }

    /// Keeps a failure, or an answer of another kind than was asked for.
    fn fail(&mut self, answer: Answer) {
        let error = HostError::new(match answer {
            Answer::Failed(message) => message,
            other => format!("the host answered with {other:?}"),
        });
        self.failure.get_or_insert(error);
    }

    fn answer(&mut self, question: Question) -> Answer {
        let asked = (PathKey::new(question.about()), question);
        if let Some(known) = self.known.others.get(&asked) {
            return known.clone();
        }
        self.take_steps(QUESTION);
        let answer = asked.1.ask(self.host());
        self.note(|| Exchange {
            question: asked.1.clone(),
            answer: answer.clone(),
        });
        if !matches!(answer, Answer::Failed(_)) {
            self.known.others.insert(asked, answer.clone());
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
    let above = path.as_bytes().get(..root.len())?;
    match end(above) == end(root.as_bytes()) {
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

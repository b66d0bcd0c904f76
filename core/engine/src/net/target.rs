//! The one host and repository that all programs read from a value.

use url::{Host, Url};

use super::git::with_path;
use super::host::{CanonicalHost, HostKind, tails};
use super::key::{Key, Scope, Scopes};
use super::text::{fold_repository, percent_decode};

/// The one place that a value names and that can be granted.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) host: CanonicalHost,
    /// `host/owner/repo` for grants; `None` without a path, or if the path has dot segments.
    pub(super) exact: Option<Box<str>>,
    /// The same for restrictions.
    pub(super) folded: Option<Box<str>>,
    /// If not (`a b@host`, `x@y@host`), the existing runtime reads everything before the `:` as the host. A pattern
    /// can then grant a parent of the host, but not the host itself.
    pub(super) has_plain_user: bool,
}

impl Target {
    /// An address has no suffixes, and `*` only grants names that are not loopback names.
    pub(super) fn first_granting<T>(
        &self,
        scopes: Scopes,
        mut find: impl FnMut(&Key<'_>) -> Option<T>,
    ) -> Option<T> {
        let mut find = |scope, text: &str| match scopes.contains(scope) {
            true => find(&Key::new(scope, text)),
            false => None,
        };
        let (host, kind) = (self.host.text(), self.host.kind());
        let exact = self.exact.as_deref();
        let has_suffixes = kind != HostKind::Address && scopes.contains(Scope::Suffix);
        let parents = || tails(host).skip(usize::from(!self.has_plain_user));
        let found = exact
            .and_then(|exact| find(Scope::Exact, exact))
            .or_else(|| below(exact?).find_map(|above| find(Scope::Below, above)));
        if found.is_some() {
            return found;
        }
        let whole = self.has_plain_user.then(|| find(Scope::Host, host));
        whole
            .flatten()
            .or_else(|| has_suffixes.then(|| parents().find_map(|tail| find(Scope::Suffix, tail)))?)
            .or_else(|| (kind == HostKind::Name).then(|| find(Scope::Star, "*"))?)
    }

    /// A host without a repository.
    pub(super) fn of(host: CanonicalHost) -> Self {
        Self {
            host,
            exact: None,
            folded: None,
            has_plain_user: true,
        }
    }

    /// A host with the repository that a remote's path names. `written` holds the path as the server gets it, escapes
    /// aside: git decodes those of some URLs, and servers those of others.
    pub(super) fn repository(host: CanonicalHost, path: &str, written: &str) -> Self {
        let decoded = percent_decode(written);
        let mut segments = decoded.split(['/', '\\']);
        let has_dots = segments.any(|segment| matches!(segment, "." | ".."));
        let whole = with_path(host.text(), path);
        Self {
            exact: (!has_dots && whole.len() > host.text().len()).then(|| whole.into()),
            folded: fold_repository(host.text(), path),
            host,
            has_plain_user: true,
        }
    }

    /// The same where the user is not plain.
    pub(super) fn without_plain_user(self) -> Self {
        Self {
            exact: None,
            has_plain_user: false,
            ..self
        }
    }
}

/// The most names before the `/*` of a pattern.
pub(crate) const DEEPEST_BELOW: usize = 8;

/// The names that a `host/owner/repo` lies below, its host included.
pub(super) fn below(text: &str) -> impl Iterator<Item = &str> {
    let slashes = text.match_indices('/').take(DEEPEST_BELOW + 1);
    let above = slashes.filter(|(at, _)| at + 1 < text.len());
    above.filter_map(move |(at, _)| text.get(..at))
}

/// Returns `true` if `value` is a single URL without control characters other than `tolerated` ones. Surrounding
/// white space is ignored.
pub(super) fn is_as_written(value: &str, tolerated: &[char]) -> bool {
    let written = value.trim_ascii();
    let is_one = !written
        .split_once(' ')
        .is_some_and(|(_, rest)| rest.contains("://"));
    is_one && !written.chars().any(|c| c.is_control() && !tolerated.contains(&c))
}

pub(super) fn url_host(url: &Url) -> Option<CanonicalHost> {
    match url.host()? {
        Host::Domain(name) if !url.is_special() => CanonicalHost::parse(name),
        host => CanonicalHost::new(host),
    }
}

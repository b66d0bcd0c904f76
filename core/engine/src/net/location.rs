//! The places that a URL value names, for judging.

use std::borrow::Cow;

use url::Url;

use super::host::HostKind;
use super::host::{CanonicalHost, tails};
use super::key::{Key, Scope, Scopes};
use super::remote::{has_plain_authority, read_remote};
use super::target::{Target, below, is_as_written, url_host};
use super::text::{LINE_BREAKS, fold_repository, readable_hosts};
use super::url::host_text;
use crate::cost::{UNCLEAR_URL_BYTE, URL_BYTES};
use crate::sort;

/// The kind of URL that a value is supposed to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlKind {
    /// A URL that is sent as the parser writes it: HTTP(S).
    Fetch,
    /// The URL of a git remote, or its SSH form. A named remote is resolved first
    /// ([`resolve_git_remote`](super::resolve_git_remote)).
    GitRemote,
    /// The same for a host-defined role whose values are sent as they stand, to programs that parse them their own way.
    AsGiven,
    /// A host name, not a URL.
    Bare,
}

/// The places that a URL value names, parsed once: the one target on which all programs agree, and every host that some
/// program might read from the value.
///
/// Only the former can be granted; see [`DomainSet`](super::DomainSet) for the two comparisons.
#[derive(Clone, Debug)]
pub struct Location {
    /// `None` if it is the target's host.
    domain: Option<Box<str>>,
    named: Named,
    kind: UrlKind,
    /// How many keys it has.
    cost: usize,
    /// The cost of reading it, in comparisons.
    reading: usize,
}

/// The places that are known.
#[derive(Clone, Debug)]
enum Named {
    Target(Target),
    /// Nothing that all programs agree on: the value is broken, ambiguous or of another protocol.
    Unclear {
        /// The hosts that might be read, at least one.
        hosts: Vec<Box<str>>,
        /// `host/owner/repo` for restrictions.
        folded: Option<Box<str>>,
    },
    /// Nobody could tell.
    Nothing,
}

/// Bytes of a host name that can be looked up (RFC 1035, section 2.3.4); it has 127 labels at most.
const LONGEST_HOST: usize = 253;

/// The labels of a host.
fn labels(host: &str) -> usize {
    1 + host.bytes().filter(|byte| *byte == b'.').count()
}

/// About how many comparisons it takes to parse a value as a URL. What IDNA maps or decodes takes longer.
pub fn cost_of_parsing(value: &str) -> usize {
    match value.is_ascii() && !value.contains("--") {
        true => value.len() / URL_BYTES,
        // IDNA looks at every letter of another script several times.
        false => value.len() + value.bytes().filter(|byte| !byte.is_ascii()).count(),
    }
}

impl Location {
    /// About how many comparisons it took to read the value.
    pub fn reading(&self) -> usize {
        self.reading
    }

    /// About how many comparisons it takes to hold the location against a set of patterns.
    pub fn cost(&self) -> usize {
        self.cost
    }

    /// Reads `value` as it came in the call, not normalized: a remote with a line break, which the parser would drop
    /// but git reads, is never granted. A URL to fetch is read as the parser does, so the normalized text must be
    /// sent.
    ///
    /// Takes time linear in the length, which the caller bounds.
    pub fn new(value: &str, kind: UrlKind) -> Self {
        Self::parsed(value, kind, None)
    }

    /// The same where `parsed` is the value's URL, if it was parsed before.
    pub fn parsed(value: &str, kind: UrlKind, parsed: Option<&Url>) -> Self {
        let (domain, target) = match kind {
            UrlKind::Bare => (Some(value.to_owned()), bare_target(value)),
            UrlKind::Fetch | UrlKind::AsGiven => read_url(value, kind, parsed),
            UrlKind::GitRemote => read_remote(value, parsed),
        };
        let (named, cost, reading) = match target {
            Some(target) if target.host.text().len() > LONGEST_HOST => return Self::unknown(),
            Some(target) => {
                let names = |text: &str| 2 + text.bytes().filter(|byte| *byte == b'/').count();
                let paths = [&target.exact, &target.folded];
                let paths = paths.into_iter().flatten().map(|path| names(path));
                let cost = labels(target.host.text()) + paths.sum::<usize>();
                (Named::Target(target), cost, 1)
            }
            None => {
                let (hosts, folded) = possible_hosts(value, domain.as_deref().unwrap_or(value));
                let cost = hosts.iter().map(|host| labels(host)).sum();
                (
                    Named::Unclear { hosts, folded },
                    cost,
                    value.len() * UNCLEAR_URL_BYTE,
                )
            }
        };
        let host = match &named {
            Named::Target(target) => Some(target.host.text()),
            Named::Unclear { .. } | Named::Nothing => None,
        };
        Self {
            domain: domain
                .filter(|domain| host != Some(domain))
                .map(String::into_boxed_str),
            named,
            kind,
            cost,
            reading,
        }
    }

    /// A target that nobody could tell: every pattern restricts it, and none grants it.
    pub fn unknown() -> Self {
        Self {
            domain: None,
            named: Named::Nothing,
            kind: UrlKind::AsGiven,
            cost: 1,
            reading: 1,
        }
    }

    /// Returns `true` if nobody could tell what it is. Its keys then say nothing about what restricts it.
    pub fn is_unknown(&self) -> bool {
        matches!(self.named, Named::Nothing)
    }

    fn target(&self) -> Option<&Target> {
        match &self.named {
            Named::Target(target) => Some(target),
            Named::Unclear { .. } | Named::Nothing => None,
        }
    }

    /// The kind of the host that can be granted.
    pub(super) fn host_kind(&self) -> Option<HostKind> {
        Some(self.target()?.host.kind())
    }

    /// The domain for a reason: [`extract_domain`](super::extract_domain) of a URL,
    /// [`extract_git_domain`](super::extract_git_domain) of a remote.
    pub fn display_domain(&self) -> &str {
        let host = || self.target().map_or("", |target| target.host.text());
        self.domain.as_deref().unwrap_or_else(host)
    }

    /// Returns `true` if any pattern can grant it.
    pub fn is_grantable(&self) -> bool {
        self.target().is_some()
    }

    /// The canonical domain that can be granted: `host/owner/repo` of a remote, the host of anything else. `None` for a
    /// value that cannot be granted, and for a remote without a clear repository.
    pub fn granted_domain(&self) -> Option<&str> {
        let target = self.target()?;
        match self.kind {
            UrlKind::GitRemote => target.exact.as_deref(),
            UrlKind::Fetch | UrlKind::AsGiven | UrlKind::Bare => Some(target.host.text()),
        }
    }

    /// The first result of `find` under the keys of this value; a pattern with one of these `scopes` must have one of
    /// the keys to match.
    pub fn first<T>(&self, scopes: Scopes, mut find: impl FnMut(&Key<'_>) -> Option<T>) -> Option<T> {
        let mut find = |scope, text: &str| match scopes.contains(scope) {
            true => find(&Key::new(scope, text)),
            false => None,
        };
        let (target, unclear, folded) = match &self.named {
            Named::Target(target) => (Some(target), &[][..], &target.folded),
            Named::Unclear { hosts, folded } => (None, hosts.as_slice(), folded),
            Named::Nothing => (None, &[][..], &None),
        };
        let hosts = target.into_iter().flat_map(|target| target.host.texts());
        for host in hosts.chain(unclear.iter().map(|host| &**host)) {
            if let Some(found) = find(Scope::Host, host) {
                return Some(found);
            }
            if scopes.contains(Scope::Suffix)
                && let Some(found) = tails(host).find_map(|tail| find(Scope::Suffix, tail))
            {
                return Some(found);
            }
        }
        if self.kind == UrlKind::GitRemote && target.is_none() {
            let found = unclear.iter().find_map(|host| find(Scope::Within, host));
            if found.is_some() {
                return found;
            }
        }
        let exact = target.and_then(|target| target.exact.as_deref());
        let folded = folded.as_deref();
        exact
            .and_then(|text| find(Scope::Exact, text))
            .or_else(|| find(Scope::Folded, folded?))
            .or_else(|| below(exact?).find_map(|above| find(Scope::Below, above)))
            .or_else(|| below(folded?).find_map(|above| find(Scope::FoldedBelow, above)))
            .or_else(|| find(Scope::Star, "*"))
    }

    /// The first result of `find` under the keys by which a pattern with one of these `scopes` can grant this value,
    /// the most specific first.
    pub(super) fn first_granting<T>(
        &self,
        scopes: Scopes,
        find: impl FnMut(&Key<'_>) -> Option<T>,
    ) -> Option<T> {
        self.target()?.first_granting(scopes, find)
    }
}

/// Every host that might be read from a value without a target, and the repository of its domain.
fn possible_hosts(value: &str, domain: &str) -> (Vec<Box<str>>, Option<Box<str>>) {
    let mut hosts = readable_hosts(value);
    let (host, path) = domain.split_once('/').unwrap_or((domain, ""));
    let written = host.to_lowercase();
    let canonical = CanonicalHost::parse(host);
    let host = canonical.as_ref().map_or(&*written, CanonicalHost::text);
    let folded = fold_repository(host, path);
    hosts.extend([host.into(), written.as_str().into()]);
    sort::sort(&mut hosts);
    hosts.dedup();
    (hosts, folded)
}

fn bare_target(value: &str) -> Option<Target> {
    let (host, path) = value.split_once('/').unwrap_or((value, ""));
    // The standard of URLs takes several names with commas between them for one, and programs for a list.
    let host = CanonicalHost::parse(host).filter(CanonicalHost::is_plain)?;
    Some(Target {
        exact: (!path.is_empty()).then(|| format!("{}/{path}", host.text()).into()),
        folded: fold_repository(host.text(), path),
        host,
        has_plain_user: true,
    })
}

/// The domain of a URL unless it is its host, and its host if all programs read the same one.
fn read_url(value: &str, kind: UrlKind, parsed: Option<&Url>) -> (Option<String>, Option<Target>) {
    let url = match parsed {
        Some(url) => Cow::Borrowed(url),
        None => match Url::parse(value) {
            Ok(url) => Cow::Owned(url),
            Err(_) => return (Some(value.to_owned()), None),
        },
    };
    let is_http = matches!(url.scheme(), "http" | "https");
    let is_clear = match kind {
        UrlKind::Fetch => is_http && is_as_written(value, LINE_BREAKS),
        UrlKind::AsGiven | UrlKind::GitRemote | UrlKind::Bare => {
            is_http && is_as_written(value, &[]) && has_plain_authority(value)
        }
    };
    let host = url_host(&url).filter(|_| is_clear);
    let target = host.map(Target::of);
    (Some(host_text(&url).to_owned()), target)
}

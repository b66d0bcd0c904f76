//! What a URL value names, for judging.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::iter::once;

use url::{Host, Url};

use super::git::{SshForm, is_user, with_path};
use super::host::{CanonicalHost, Reach, tails};
use super::plain::plain_host;
use super::text::{encodes_control, fold_repository, percent_decode, readable_hosts};
use super::url::host_text;
use crate::sort;

/// The kind of URL that a value is supposed to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UrlKind {
    /// A URL to fetch: HTTP(S).
    Fetch,
    /// The URL of a git remote, or its SSH form. A named remote is resolved first
    /// ([`resolve_git_remote`](super::resolve_git_remote)).
    GitRemote,
    /// A URL of any scheme, for a host-defined role.
    Other,
    /// A host name, not a URL.
    Bare,
}

/// What a URL value names, parsed once: one host on which all programs agree or, if the value is broken, ambiguous or
/// of another protocol, all hosts that some program might read from it.
///
/// Only the former can be granted; see [`DomainSet`](super::DomainSet) for the two comparisons.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// `None` if it is the host that the value names.
    domain: Option<Box<str>>,
    reading: Reading,
}

#[derive(Clone, Debug)]
enum Reading {
    Clear(Target),
    Unclear(Traces),
}

/// What a value names that can be granted.
#[derive(Clone, Debug)]
struct Target {
    host: CanonicalHost,
    /// `host/owner/repo` for grants; `None` without a path, or if the path has dot segments.
    exact: Option<Box<str>>,
    /// `host/owner/repo` for restrictions.
    folded: Option<Box<str>>,
    /// If not (`a b@host`, `x@y@host`), the existing runtime reads everything before the `:` as the host. A pattern
    /// can then grant a parent of the host, but not the host itself.
    has_plain_user: bool,
}

/// What some program might read from a value that cannot be granted.
#[derive(Clone, Debug)]
struct Traces {
    hosts: Vec<Box<str>>,
    folded: Option<Box<str>>,
    kind: UrlKind,
}

/// What a [`Key`] is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Everything.
    Star,
    /// A whole host.
    Host,
    /// A host or one of its parents.
    Suffix,
    /// `host/owner/repo`, exactly.
    Exact,
    /// `host/owner/repo` in lower case, without escapes, dot segments and `.git`.
    Folded,
    /// The host of a `host/owner/repo`, for values whose repository is unclear.
    Within,
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScopeSet(u8);

impl ScopeSet {
    pub(super) fn contains(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }
}

impl FromIterator<Scope> for ScopeSet {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |all, scope| all | 1 << scope as u8))
    }
}

/// A pattern can only match a value with which it shares a key, whether it grants or restricts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key<'a> {
    pub(crate) scope: Scope,
    pub(crate) text: Cow<'a, str>,
}

impl Ord for Key<'_> {
    /// Compares lengths before texts, which is faster: most keys differ in length.
    fn cmp(&self, other: &Self) -> Ordering {
        let lengths = || self.text.len().cmp(&other.text.len());
        self.scope
            .cmp(&other.scope)
            .then_with(lengths)
            .then_with(|| self.text.cmp(&other.text))
    }
}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'a> Key<'a> {
    pub(super) fn new(scope: Scope, text: &'a str) -> Self {
        Self {
            scope,
            text: Cow::Borrowed(text),
        }
    }

    /// The key with its own copy of the text.
    pub(crate) fn into_owned(self) -> Key<'static> {
        Key {
            scope: self.scope,
            text: Cow::Owned(self.text.into_owned()),
        }
    }
}

impl Location {
    /// Reads `value` as it came in the call, not normalized: a remote with a line break, which the parser would drop
    /// but git reads, is never granted. A URL to fetch is read as the parser does, so the normalized text must be
    /// sent.
    ///
    /// Takes time linear in the length, which the caller bounds: one scan for a simple URL to fetch, one parse for
    /// most others.
    pub(crate) fn new(value: &str, kind: UrlKind) -> Self {
        match kind {
            UrlKind::Bare => Self::bare(value),
            UrlKind::Fetch => Self::plain(value).unwrap_or_else(|| Self::parsed(value, kind)),
            UrlKind::GitRemote | UrlKind::Other => Self::parsed(value, kind),
        }
    }

    /// A simple URL to fetch, read without the parser.
    fn plain(value: &str) -> Option<Self> {
        let host = plain_host(value).filter(|_| is_as_written(value, LINE_BREAKS))?;
        Some(Self {
            domain: None,
            reading: Reading::Clear(Target::of(CanonicalHost::from_plain(host))),
        })
    }

    /// Reads a value with the URL parser, or as git does if it is a remote in SSH form.
    pub(super) fn parsed(value: &str, kind: UrlKind) -> Self {
        let form = match kind {
            UrlKind::GitRemote => SshForm::parse(value),
            UrlKind::Fetch | UrlKind::Other | UrlKind::Bare => None,
        };
        let url = match form {
            Some(_) => None,
            None => Url::parse(value).ok(),
        };
        let domain = match (&form, &url) {
            (Some(form), _) => Cow::Owned(form.domain()),
            (None, None) => Cow::Borrowed(value),
            (None, Some(url)) => match kind {
                UrlKind::GitRemote => Cow::Owned(with_path(host_text(url), url.path())),
                UrlKind::Fetch | UrlKind::Other | UrlKind::Bare => Cow::Borrowed(host_text(url)),
            },
        };
        let place = match (kind, &url) {
            (UrlKind::GitRemote, url) => remote_place(value, url.as_ref()),
            (UrlKind::Fetch, Some(url)) if matches!(url.scheme(), "http" | "https") => {
                url_place(url).filter(|_| is_as_written(value, LINE_BREAKS))
            }
            (UrlKind::Other, Some(url)) => url_place(url).filter(|_| is_as_written(value, &[])),
            (UrlKind::Fetch | UrlKind::Other | UrlKind::Bare, _) => None,
        };
        match place {
            Some(place) => Self {
                domain: (*domain != *place.host.text()).then(|| domain.into()),
                reading: Reading::Clear(place),
            },
            None => Self {
                reading: Reading::Unclear(Traces::of(value, &domain, kind)),
                domain: Some(domain.into()),
            },
        }
    }

    fn bare(value: &str) -> Self {
        let (host, path) = value.split_once('/').unwrap_or((value, ""));
        let reading = match CanonicalHost::parse(host) {
            Some(host) => Reading::Clear(Target {
                exact: (!path.is_empty()).then(|| format!("{}/{path}", host.text()).into()),
                folded: fold_repository(host.text(), path),
                host,
                has_plain_user: true,
            }),
            None => Reading::Unclear(Traces::of(value, value, UrlKind::Bare)),
        };
        Self {
            domain: Some(value.into()),
            reading,
        }
    }

    /// The domain for a reason: [`extract_domain`](super::extract_domain) of a URL,
    /// [`extract_git_domain`](super::extract_git_domain) of a remote.
    pub(crate) fn display_domain(&self) -> &str {
        match (&self.domain, &self.reading) {
            (Some(domain), _) => domain,
            (None, Reading::Clear(place)) => place.host.text(),
            (None, Reading::Unclear(_)) => "",
        }
    }

    /// Returns `true` if any pattern can grant it.
    #[cfg(test)]
    pub(super) fn is_grantable(&self) -> bool {
        self.place().is_some()
    }

    /// The keys of this value; a pattern must have one of them to match. Never empty.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        let (place, traces) = match &self.reading {
            Reading::Clear(place) => (Some(place), None),
            Reading::Unclear(traces) => (None, Some(traces)),
        };
        let clear = place
            .into_iter()
            .flat_map(|place| once(place.host.text()).chain(place.host.embedded()));
        let unclear = traces
            .into_iter()
            .flat_map(|traces| traces.hosts.iter().map(|host| &**host));
        let within = traces.filter(|traces| traces.kind == UrlKind::GitRemote);
        let exact = place.and_then(|place| place.exact.as_deref());
        let folded = match &self.reading {
            Reading::Clear(place) => place.folded.as_deref(),
            Reading::Unclear(traces) => traces.folded.as_deref(),
        };
        clear
            .chain(unclear)
            .flat_map(host_keys)
            .chain(
                within
                    .into_iter()
                    .flat_map(|traces| traces.hosts.iter().map(|host| Key::new(Scope::Within, host))),
            )
            .chain(exact.map(|text| Key::new(Scope::Exact, text)))
            .chain(folded.map(|text| Key::new(Scope::Folded, text)))
            .chain(once(Key::new(Scope::Star, "")))
    }

    /// The first result of `find` for the keys that can grant. An unclear value has no such key, an address has no
    /// suffixes, and `*` only grants names that are not loopback names.
    pub(super) fn first_grant<'s, T>(
        &'s self,
        scopes: ScopeSet,
        find: impl Fn(Key<'s>) -> Option<T>,
    ) -> Option<T> {
        let place = self.place()?;
        let host = place.host.text();
        let (suffixes, star) = match place.host.reach() {
            Reach::Name => (true, true),
            Reach::Loopback => (true, false),
            Reach::Address => (false, false),
        };
        let key = |scope, text| scopes.contains(scope).then(|| Key::new(scope, text));
        let exact = || {
            place
                .exact
                .as_deref()
                .and_then(|text| find(key(Scope::Exact, text)?))
        };
        let whole = || find(key(Scope::Host, host).filter(|_| place.has_plain_user)?);
        let parents = || {
            let tails = tails(host).skip(usize::from(!place.has_plain_user));
            tails.map_while(|tail| key(Scope::Suffix, tail)).find_map(&find)
        };
        let any = || find(key(Scope::Star, "")?);
        exact()
            .or_else(whole)
            .or_else(|| if suffixes { parents() } else { None })
            .or_else(|| if star { any() } else { None })
    }

    fn place(&self) -> Option<&Target> {
        match &self.reading {
            Reading::Clear(place) => Some(place),
            Reading::Unclear(_) => None,
        }
    }
}

fn host_keys(host: &str) -> impl Iterator<Item = Key<'_>> {
    once(Key::new(Scope::Host, host)).chain(tails(host).map(|tail| Key::new(Scope::Suffix, tail)))
}

impl Target {
    /// A host without a repository.
    fn of(host: CanonicalHost) -> Self {
        Self {
            host,
            exact: None,
            folded: None,
            has_plain_user: true,
        }
    }
}

impl Traces {
    fn of(value: &str, domain: &str, kind: UrlKind) -> Self {
        let mut hosts = readable_hosts(value);
        let (host, path) = match domain.split_once('/') {
            Some((host, path)) => (host, Some(path)),
            None => (domain, None),
        };
        let written = host.to_lowercase();
        let canonical = CanonicalHost::parse(host);
        let host = canonical.as_ref().map_or(&*written, CanonicalHost::text);
        let folded = path.and_then(|path| fold_repository(host, path));
        hosts.extend([host.into(), written.as_str().into()]);
        sort::sort(&mut hosts);
        hosts.dedup();
        Self { hosts, folded, kind }
    }
}

fn url_place(url: &Url) -> Option<Target> {
    url_host(url).map(Target::of)
}

/// The characters that the parser drops anywhere.
const LINE_BREAKS: &[char] = &['\t', '\n', '\r'];

/// Returns `true` if `value` is a single URL without control characters other than `tolerated` ones. Surrounding
/// white space is ignored.
fn is_as_written(value: &str, tolerated: &[char]) -> bool {
    // Without an early exit the compiler vectorizes the loop.
    if value
        .bytes()
        .fold(true, |all, byte| all & byte.is_ascii_graphic())
    {
        return true;
    }
    let written = value.trim_ascii();
    let is_one = !written
        .split_once(' ')
        .is_some_and(|(_, rest)| rest.contains("://"));
    is_one && !written.chars().any(|c| c.is_control() && !tolerated.contains(&c))
}

fn url_host(url: &Url) -> Option<CanonicalHost> {
    match url.host()? {
        Host::Domain(name) if !url.is_special() => CanonicalHost::parse(name),
        host => CanonicalHost::from_parsed(host),
    }
}

/// A remote, if git and the URL parser read it alike.
fn remote_place(value: &str, url: Option<&Url>) -> Option<Target> {
    let is_helper = value
        .split_once(':')
        .is_some_and(|(_, rest)| rest.starts_with(':'));
    if value.starts_with('-') || is_helper || encodes_control(value) {
        return None;
    }
    let Some(url) = url else {
        return ssh_place(value);
    };
    match url.scheme() {
        "https" | "http" => {}
        "ssh" | "git" if is_plain_for_git(url) => {}
        _ => return None,
    }
    let host = url_host(url).filter(|_| is_as_written(value, &[]))?;
    if host.text().starts_with('-') || url.username().starts_with('-') {
        return None;
    }
    Some(Target {
        exact: exact_repository(&host, url.path()),
        folded: fold_repository(host.text(), url.path()),
        host,
        has_plain_user: true,
    })
}

/// Returns `true` if git reads the same host from an `ssh` or `git` URL as the parser. Git decodes the URL before
/// splitting it, knows no query, and starts the host at the first `@[`.
fn is_plain_for_git(url: &Url) -> bool {
    let user_info = [url.username(), url.password().unwrap_or_default()];
    url.query().is_none()
        && url.fragment().is_none()
        && !user_info.iter().any(|text| text.contains('%'))
        && !percent_decode(url.path()).contains("@[")
        && match url.host() {
            // Only some programs decode an escape in a host.
            Some(Host::Domain(name)) => is_ssh_name(name),
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
            None => false,
        }
}

/// `[user@]host:path` as git reads it: the host starts after the last `@`, and there is no `/` before the `:`. A host
/// in brackets is refused, because programs read it differently.
fn ssh_place(value: &str) -> Option<Target> {
    if value.contains("://") || value.chars().any(char::is_control) {
        return None;
    }
    let (login, path) = value.split_once(':')?;
    let (user, name) = match login.rsplit_once('@') {
        Some((user, name)) => (Some(user), name),
        None => (None, login),
    };
    // Git reads these as a local path, a helper or a bracketed host.
    let is_other = login.contains(['/', '[', ']']) || path.starts_with(':') || path.contains("@[");
    if is_other || !is_ssh_name(name) || is_ambiguous_name(name) {
        return None;
    }
    let host = CanonicalHost::parse(name)?;
    let has_plain_user = user.is_none_or(is_user);
    Some(Target {
        exact: exact_repository(&host, path).filter(|_| has_plain_user),
        folded: fold_repository(host.text(), path),
        host,
        has_plain_user,
    })
}

/// Returns `true` if ssh uses `name` as the host unchanged: it is not an option, and has no user, escape or character
/// that IDNA drops.
fn is_ssh_name(name: &str) -> bool {
    !name.starts_with('-') && name.chars().all(|c| c.is_alphanumeric() || "-._".contains(c))
}

/// Returns `true` if some programs read `name` before a `:` as a scheme (`https:github.com`) or a drive letter, and
/// others as a host.
fn is_ambiguous_name(name: &str) -> bool {
    let schemes = ["http", "https", "ssh", "git", "ftp", "ftps", "file"];
    name.len() == 1 || schemes.iter().any(|scheme| name.eq_ignore_ascii_case(scheme))
}

fn exact_repository(host: &CanonicalHost, path: &str) -> Option<Box<str>> {
    let has_dots = path.split('/').any(|segment| matches!(segment, "." | ".."));
    let whole = with_path(host.text(), path);
    (!has_dots && whole.len() > host.text().len()).then(|| whole.into())
}

//! What one URL value names, in a judgement.

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

/// Which kind of URL a value is given as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UrlKind {
    /// A URL to fetch: HTTP(S).
    Fetch,
    /// The URL of a git remote, in SSH form too; a named remote is resolved before
    /// ([`resolve_git_remote`](super::resolve_git_remote)).
    GitRemote,
    /// A URL of any scheme, under a role that the host defined.
    Other,
    /// A host name that stands by itself.
    Bare,
}

/// What one URL value names, read once: by one host that every reader agrees about, or, when the value is
/// broken, ambiguous or of another protocol, by whatever hosts somebody might read from it.
///
/// A grant needs the former; see [`DomainSet`](super::DomainSet) for the two comparisons.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// `None` where it is the host that the value names.
    domain: Option<Box<str>>,
    reading: Reading,
}

#[derive(Clone, Debug)]
enum Reading {
    Clear(Target),
    Unclear(Traces),
}

/// What a grantable value names.
#[derive(Clone, Debug)]
struct Target {
    host: CanonicalHost,
    /// `host/owner/repo` as a grant compares it; none without a path, or with one that programs resolve.
    exact: Option<Box<str>>,
    /// The same as a restriction compares it.
    folded: Option<Box<str>>,
    /// Without one (`a b@host`, `x@y@host`) the existing runtime takes all before the `:` for the host, so
    /// that a pattern can grant a parent of the host, but not the host.
    has_plain_user: bool,
}

/// What might be read from a value that grants nothing.
#[derive(Clone, Debug)]
struct Traces {
    hosts: Vec<Box<str>>,
    folded: Option<Box<str>>,
    kind: UrlKind,
}

/// Where a [`Key`] is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Everything.
    Star,
    /// A whole host.
    Host,
    /// A host or a parent of it.
    Suffix,
    /// `host/owner/repo`, exactly.
    Exact,
    /// `host/owner/repo` without case, escapes, dot segments and `.git`.
    Folded,
    /// The host of a `host/owner/repo`, for values whose repository cannot be read.
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

/// One thing by which a pattern can find a value; what shares no key does not match, in either reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key<'a> {
    pub(crate) scope: Scope,
    pub(crate) text: Cow<'a, str>,
}

impl Ord for Key<'_> {
    /// Lengths before texts, since keys are looked up and most differ in length.
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

    /// The key with a text of its own, for an index that outlives what the key was read from.
    pub(crate) fn into_owned(self) -> Key<'static> {
        Key {
            scope: self.scope,
            text: Cow::Owned(self.text.into_owned()),
        }
    }
}

impl Location {
    /// Reads `value` as it came in the call, not normalized: a line break that the parser would drop is a
    /// reason to grant nothing to a remote, which git reads for itself. A URL to fetch is taken as the
    /// parser reads it, so the normalized text is what must be sent.
    ///
    /// The cost is linear in the length, which the caller bounds: one scan for an ordinary URL to fetch, one parse
    /// for most others.
    pub(crate) fn new(value: &str, kind: UrlKind) -> Self {
        match kind {
            UrlKind::Bare => Self::bare(value),
            UrlKind::Fetch => Self::plain(value).unwrap_or_else(|| Self::parsed(value, kind)),
            UrlKind::GitRemote | UrlKind::Other => Self::parsed(value, kind),
        }
    }

    /// A URL to fetch that needs no parser.
    fn plain(value: &str) -> Option<Self> {
        let host = plain_host(value).filter(|_| is_as_written(value, LINE_BREAKS))?;
        Some(Self {
            domain: None,
            reading: Reading::Clear(Target::of(CanonicalHost::from_plain(host))),
        })
    }

    /// What the URL parser makes of a value, and git of a remote that is no URL.
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

    /// Whether any pattern can grant it.
    #[cfg(test)]
    pub(super) fn is_grantable(&self) -> bool {
        self.place().is_some()
    }

    /// Every key under which a pattern must stand to match this value. Finite and never empty.
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

    /// The first of the keys that can grant for which `find` finds something. There are none for a value that is
    /// not grantable, no suffix of an address, and `*` only for names other than the loopback ones.
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
    /// A host, and nothing of what is kept there.
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

/// What the parser drops wherever it stands.
const LINE_BREAKS: &[char] = &['\t', '\n', '\r'];

/// Whether `value` is one URL without control characters, white space around it and `tolerated` ones aside.
fn is_as_written(value: &str, tolerated: &[char]) -> bool {
    // Without a way out of the loop it looks at many bytes at a time.
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

/// The value as a remote that git and the URL parser read alike.
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

/// Whether git, which decodes an `ssh` or `git` URL before it takes it apart, knows no query and takes the
/// first `@[` anywhere for the beginning of the host, sees the host that the parser sees.
fn is_plain_for_git(url: &Url) -> bool {
    let user_info = [url.username(), url.password().unwrap_or_default()];
    url.query().is_none()
        && url.fragment().is_none()
        && !user_info.iter().any(|text| text.contains('%'))
        && !percent_decode(url.path()).contains("@[")
        && match url.host() {
            // An escape in a host is decoded by some programs only.
            Some(Host::Domain(name)) => is_ssh_name(name),
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
            None => false,
        }
}

/// `[user@]host:path` as git reads it: the host begins after the last `@`, no `/` stands before the `:`. A host
/// in brackets, which programs read in several ways, is none.
fn ssh_place(value: &str) -> Option<Target> {
    if value.contains("://") || value.chars().any(char::is_control) {
        return None;
    }
    let (login, path) = value.split_once(':')?;
    let (user, name) = match login.rsplit_once('@') {
        Some((user, name)) => (Some(user), name),
        None => (None, login),
    };
    // The same bytes are a local path, a helper or a bracketed host to git.
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

/// Whether ssh takes `name` for a host as it is: no option, no user, no escape, nothing that IDNA drops.
fn is_ssh_name(name: &str) -> bool {
    !name.starts_with('-') && name.chars().all(|c| c.is_alphanumeric() || "-._".contains(c))
}

/// Before a `:`, a scheme (`https:github.com`) or a drive letter to some programs, a host to others.
fn is_ambiguous_name(name: &str) -> bool {
    let schemes = ["http", "https", "ssh", "git", "ftp", "ftps", "file"];
    name.len() == 1 || schemes.iter().any(|scheme| name.eq_ignore_ascii_case(scheme))
}

fn exact_repository(host: &CanonicalHost, path: &str) -> Option<Box<str>> {
    let has_dots = path.split('/').any(|segment| matches!(segment, "." | ".."));
    let whole = with_path(host.text(), path);
    (!has_dots && whole.len() > host.text().len()).then(|| whole.into())
}

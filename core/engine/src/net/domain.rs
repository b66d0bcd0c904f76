//! Domain patterns: the string matcher, and the set that judging uses.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use indexmap::Equivalent;

use super::git::{SshForm, extract_git_domain};
use super::host::{CanonicalHost, HostKind};
use super::key::{Key, Scope, Scopes};
use super::location::Location;
use super::text::fold_repository;
use crate::table::Set;

/// Returns `true` if `domain` (a host, or `host/owner/repo`) matches one of `patterns`, compared as strings.
///
/// `*` matches everything except an [IP address](is_ip_address); `*.x` matches `x` and everything that ends in `.x`;
/// a pattern with a `/` must equal `domain`; any other must equal the part before the first `/`. This is for
/// compatibility; judging compares canonical hosts.
///
/// ```
/// assert!(callgate_engine::net::domain_matches_allowlist("api.github.com", &["*.github.com"]));
/// assert!(!callgate_engine::net::domain_matches_allowlist("127.0.0.1", &["*"]));
/// ```
pub fn domain_matches_allowlist<P: AsRef<str>>(domain: &str, patterns: &[P]) -> bool {
    let host = domain.split_once('/').map_or(domain, |(host, _)| host);
    patterns.iter().map(AsRef::as_ref).any(|pattern| {
        if pattern == "*" {
            !is_ip_address(host)
        } else if let Some(parent) = pattern.strip_prefix("*.") {
            host == parent || host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
        } else if pattern.contains('/') {
            pattern == domain
        } else {
            pattern == host
        }
    })
}

/// Returns `true` if `host` is four dotted groups of decimal digits or contains a `:`.
///
/// Other spellings of an address (`127.1`, `0x7f000001`) are not recognised here, but they are in judging.
pub fn is_ip_address(host: &str) -> bool {
    let is_group = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    host.contains(':') || (host.split('.').count() == 4 && host.split('.').all(is_group))
}

/// The meaning of `/*` at the end of a pattern with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnding {
    /// Any repository or path below.
    Below,
    /// Nothing special.
    Literal,
}

/// The compiled patterns of one rule or allowlist; there may be a million.
///
/// It answers two questions, and neither is the other's negation. [`grants`](Self::grants) is strict: a pattern
/// matches by its canonical form, and only a value that every program reads the same way.
/// [`restricts`](Self::restricts) is broad: any host that might be read from the value counts, and a pattern with a
/// mistake (a space, a port, a whole URL) counts for the host that was meant. A set restricts everything that it
/// grants.
///
/// Building takes O(n), a question O(1) for each label of the host.
#[derive(Clone, Debug)]
pub struct DomainSet {
    /// By key; of two entries with one key, the one that grants is kept.
    entries: Set<Entry>,
    scopes: Scopes,
}

/// A pattern under one of its keys.
#[derive(Clone, Debug)]
struct Entry {
    scope: Scope,
    /// The text that is compared.
    text: Arc<str>,
    /// As written.
    pattern: Arc<str>,
    grants: bool,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl Hash for Entry {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Equivalent<Entry> for Key<'_> {
    fn equivalent(&self, entry: &Entry) -> bool {
        *self == entry.key()
    }
}

impl Entry {
    fn key(&self) -> Key<'_> {
        Key::new(self.scope, &self.text)
    }
}

impl DomainSet {
    /// Compiles patterns. Every pattern is accepted; a meaningless one can only restrict, and only the same text. What
    /// ends in `/*` is compared as `ending` says.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>, ending: PathEnding) -> Self {
        let mut compiled = Vec::new();
        for pattern in patterns {
            compile(pattern, ending, &mut compiled);
        }
        let mut entries = Set::<Entry>::default();
        for entry in compiled {
            if entry.grants && entries.get(&entry).is_some_and(|known| !known.grants) {
                entries.replace(entry);
            } else {
                entries.insert(entry);
            }
        }
        let scopes = entries.iter().map(|entry| entry.scope).collect();
        Self { entries, scopes }
    }

    /// The pattern, as written, by which this set grants `location`.
    ///
    /// A location that programs may read differently is never granted. `*` does not grant IP addresses or loopback
    /// names, and `*.x` does not grant IP addresses.
    pub fn grants(&self, location: &Location) -> Option<&str> {
        let granting = |key: &Key<'_>| self.find(key).filter(|entry| entry.grants);
        let entry = location.first_granting(self.scopes, granting)?;
        Some(&*entry.pattern)
    }

    /// The pattern, as written, by which this set restricts `location`; `*` restricts everything, and every pattern a
    /// location that is unknown.
    pub fn restricts(&self, location: &Location) -> Option<&str> {
        if location.is_unknown() {
            return self.entries.iter().next().map(|entry| &*entry.pattern);
        }
        let entry = location.first(self.scopes, |key| self.find(key))?;
        Some(&*entry.pattern)
    }

    /// The pattern by which the first of `locations` is granted, if all of them are; `None` if there are no
    /// locations. For the URLs that one remote stands for.
    pub fn grants_all<'s>(&'s self, locations: &[Location]) -> Option<&'s str> {
        let mut patterns = locations.iter().map(|location| self.grants(location));
        let first = patterns.next()??;
        patterns.all(|pattern| pattern.is_some()).then_some(first)
    }

    /// The pattern by which any of `locations` is restricted.
    pub fn restricts_any(&self, locations: &[Location]) -> Option<&str> {
        locations.iter().find_map(|location| self.restricts(location))
    }

    /// Returns `true` if a pattern matches the domain as a string ([`domain_matches_allowlist`]); linear in the
    /// patterns.
    pub fn holds_text(&self, domain: &str) -> bool {
        let patterns: Vec<&str> = self.entries.iter().map(|entry| &*entry.pattern).collect();
        domain_matches_allowlist(domain, &patterns)
    }

    /// The keys of all patterns. A known location without any of these keys is neither granted nor restricted.
    pub fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        self.entries.iter().map(Entry::key)
    }

    /// The patterns as written, one for each key.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.pattern)
    }

    /// How many keys there are.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    fn find(&self, key: &Key<'_>) -> Option<&Entry> {
        self.entries.get(key)
    }
}

fn compile(pattern: &str, ending: PathEnding, entries: &mut Vec<Entry>) {
    let written: Arc<str> = pattern.into();
    let tidy = pattern.trim();
    let mut push = |scope, text: &str, grants: bool| {
        let text = if text == pattern {
            Arc::clone(&written)
        } else {
            text.into()
        };
        entries.push(Entry {
            scope,
            text,
            pattern: Arc::clone(&written),
            grants: grants && tidy == pattern,
        });
    };
    if tidy != pattern {
        compile_text(pattern, &mut push);
    }
    if tidy == "*" {
        push(Scope::Star, tidy, true);
    } else if let Some(parent) = tidy.strip_prefix("*.") {
        match CanonicalHost::parse(parent) {
            Some(host) if host.kind() != HostKind::Address => push(Scope::Suffix, host.text(), true),
            // A pattern that ends in digits is compared as written: the end of an address is not an address.
            _ => {
                compile_text(tidy, &mut push);
                push(Scope::Suffix, &slipped_domain(parent).to_lowercase(), false);
            }
        }
    } else if ending == PathEnding::Below
        && let Some((host, path)) = tidy
            .strip_suffix("/*")
            .map(|above| above.split_once('/').unwrap_or((above, "")))
        && let Some(host) = CanonicalHost::parse(host)
    {
        compile_below(host.text(), path, push);
    } else if let Some((host, path)) = tidy.split_once('/')
        && let Some(host) = CanonicalHost::parse(host)
    {
        push(Scope::Exact, &format!("{}/{path}", host.text()), !path.is_empty());
        compile_repository(host.text(), path, push);
    } else if let Some(host) = CanonicalHost::parse(tidy) {
        push(Scope::Host, host.text(), true);
        for embedded in host.embedded() {
            push(Scope::Host, embedded, false);
        }
        if let Some(parent) = host.text().strip_prefix('.') {
            push(Scope::Suffix, parent, false);
        }
    } else {
        compile_text(tidy, &mut push);
        let meant = slipped_domain(tidy);
        let (host, path) = meant.split_once('/').unwrap_or((&meant, ""));
        match CanonicalHost::parse(host).or_else(|| CanonicalHost::parse(&format!("[{host}]"))) {
            Some(host) => compile_repository(host.text(), path, push),
            None => compile_repository(&host.to_lowercase(), path, push),
        }
    }
}

/// A pattern as text, which can only restrict: for values that are just as odd.
fn compile_text(pattern: &str, mut push: impl FnMut(Scope, &str, bool)) {
    let text = pattern.to_lowercase();
    if let Some(parent) = text.strip_prefix("*.") {
        push(Scope::Suffix, parent, false);
    } else if let Some((host, path)) = text.split_once('/') {
        compile_repository(host, path, push);
    } else {
        push(Scope::Host, &text, false);
    }
}

/// A pattern for a repository, or for a host if the path is empty; it can only restrict.
fn compile_repository(host: &str, path: &str, mut push: impl FnMut(Scope, &str, bool)) {
    match fold_repository(host, path) {
        Some(folded) => {
            push(Scope::Folded, &folded, false);
            push(Scope::Within, host, false);
        }
        None => push(Scope::Host, host, false),
    }
}

/// A pattern for everything below a path of the host, or below the host if the path is empty.
fn compile_below(host: &str, path: &str, mut push: impl FnMut(Scope, &str, bool)) {
    match path {
        "" => push(Scope::Below, host, true),
        _ => push(Scope::Below, &format!("{host}/{path}"), true),
    }
    let folded = fold_repository(host, path);
    push(Scope::FoldedBelow, folded.as_deref().unwrap_or(host), false);
    push(Scope::Within, host, false);
}

/// The domain that a mistaken pattern was meant to be: that of a URL or an SSH form, or the host without its port.
fn slipped_domain(pattern: &str) -> String {
    let is_url = pattern.contains("://") || SshForm::parse(pattern).is_some_and(|form| !form.path.is_empty());
    match pattern.split_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            host.to_owned()
        }
        _ if is_url => extract_git_domain(pattern).into_owned(),
        _ => pattern.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_matcher_compares_texts() {
        #[track_caller]
        fn check(domain: &str, pattern: &str, expected: bool) {
            let seen = domain_matches_allowlist(domain, &["", "nothing.else", pattern]);
            assert_eq!(seen, expected || domain.is_empty(), "{domain:?} {pattern:?}");
        }
        check("github.com", "*", true);
        check("not a url/acme", "*", true);
        check("127.0.0.1/x", "*", false);
        check("[::1]", "*", false);
        check("127.1", "*", true);
        check("github.com", "*.github.com", true);
        check("x.y.github.com/a/b", "*.github.com", true);
        check(".github.com", "*.github.com", true);
        check("notgithub.com", "*.github.com", false);
        check("a.com", "*.", false);
        check("a.com.", "*.", true);
        check("a.b", "*.*", false);
        check("docs..com", "docs.*.com", false);
        check("github.com/acme", "github.com", true);
        check("github.com/acme", "github.com/acme", true);
        check("github.com/acme/x", "github.com/acme", false);
        check("/srv/kit.git", "/srv/kit.git", true);
        check("Example.com", "example.com", false);
        check("xexample.com", ".example.com", false);
        check("", "*.com", true);
        assert!(!domain_matches_allowlist("", &["*.com", "x/"]));
        assert!(!domain_matches_allowlist::<&str>("github.com", &[]));
    }

    #[test]
    fn an_ip_address_is_four_groups_or_has_a_colon() {
        for address in ["127.0.0.1", "999.1.1.1", "[::1]", "example.com:443", ":"] {
            assert!(is_ip_address(address), "{address:?}");
        }
        for name in [
            "",
            "1.2.3",
            "1.2.3.4.5",
            "1.2.3.",
            "127.1",
            "0x7f.1",
            "１.2.3.4",
            "1.2.3.4\n",
            "a\n1.2.3.4",
        ] {
            assert!(!is_ip_address(name), "{name:?}");
        }
    }

    #[test]
    fn the_pattern_that_matched_is_reported_as_written() {
        let set = DomainSet::new(
            ["GitHub.com/a/B", "*.COM", "*", "GITHUB.com.", "github.com"],
            PathEnding::Below,
        );
        #[track_caller]
        fn check(set: &DomainSet, value: &str, granted: Option<&str>, restricted: Option<&str>) {
            let location = Location::new(value, crate::net::UrlKind::GitRemote);
            assert_eq!(set.grants(&location), granted, "{value:?}");
            assert_eq!(set.restricts(&location), restricted, "{value:?}");
        }
        check(
            &set,
            "https://github.com/a/B",
            Some("GitHub.com/a/B"),
            Some("GITHUB.com."),
        );
        check(
            &set,
            "https://github.com/a/b",
            Some("GITHUB.com."),
            Some("GITHUB.com."),
        );
        check(&set, "git@a.b.com:x", Some("*.COM"), Some("*.COM"));
        check(&set, "git@a.org:x", Some("*"), Some("*"));
        check(&set, "origin", None, Some("*"));
        let below = ["github.com/Acme/*", "gitlab.com/*"];
        let (set, literal) = (
            DomainSet::new(below, PathEnding::Below),
            DomainSet::new(below, PathEnding::Literal),
        );
        let (acme, gitlab) = (Some(below[0]), Some(below[1]));
        check(&set, "https://github.com/Acme/w", acme, acme);
        check(&set, "git@github.com:Acme/w/x.git", acme, acme);
        check(&set, "https://gitlab.com/a/b", gitlab, gitlab);
        check(&set, "https://github.com/acme/w", None, acme);
        check(&set, "https://github.com/x/../acme/w", None, acme);
        check(&set, "https://github.com/Acme", None, None);
        check(&set, "https://github.com/Acmes/w", None, None);
        check(&set, "https://github.com.evil/Acme/w", None, None);
        check(&set, "https://gitlab.com", None, None);
        check(&literal, "https://github.com/Acme/w", None, None);
    }
}

//! URLs, remotes and bare hosts that stand for all others between the patterns that anything names.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;

use super::atoms::Atoms;
use super::choice::Choice;
use super::label::Label;
use super::texts::{Texts, fresh};
use callgate_engine::net::{Key, Location, LocationKind, Scope, UrlKind};
use callgate_engine::sort;

/// How hosts are written under the argument's roles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Url,
    Remote,
    Bare,
}

impl Form {
    fn write(self, host: &str, path: &str) -> String {
        let host = match self {
            Self::Url | Self::Remote => bracketed(host),
            Self::Bare => Cow::Borrowed(host),
        };
        match self {
            Self::Url => format!("https://{host}/"),
            Self::Remote => format!("https://{host}/{path}.git"),
            Self::Bare if path.is_empty() => host.into_owned(),
            Self::Bare => format!("{host}/{path}"),
        }
    }
}

/// How the labels of URLs begin that are neither http(s) nor git's.
pub(super) const BY_OTHER_PROTOCOL: &str = "by another protocol";

/// The name of a repository of which no pattern names the owner.
const REPOSITORY: &str = "some-repository";

/// Which patterns a host meets: hosts of one class lie in one region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HostClass {
    kind: LocationKind,
    /// The keys by which it is granted, and those by which it is restricted.
    keys: [Vec<(Scope, String)>; 2],
    /// `true` if a pattern names this host, and not one above it.
    is_named: bool,
}

/// The class of what was read from the text.
pub(super) fn class(atoms: &Atoms, text: &str, location: &Location) -> HostClass {
    let is_known = |key: &(Scope, String)| atoms.domains.contains(key);
    let known = |keys: Vec<Key<'_>>| {
        let keys = keys.into_iter().map(|key| (key.scope, key.text.into_owned()));
        let mut keys: Vec<(Scope, String)> = keys.filter(is_known).collect();
        sort::sort(&mut keys);
        keys.dedup();
        keys
    };
    let host = location.shown_host();
    let is_host = |scope| atoms.domains.contains(&(scope, host.to_owned()));
    HostClass {
        is_named: [Scope::Host, Scope::Suffix, Scope::Within]
            .into_iter()
            .any(is_host),
        kind: location.kind(text),
        keys: location.keys().map(known),
    }
}

/// A value for each place between the patterns.
pub(super) fn choices(atoms: &Atoms, texts: &mut Texts) {
    let form = match atoms.kinds {
        kinds if kinds.is_remote => Form::Remote,
        kinds if kinds.is_url => Form::Url,
        _ => Form::Bare,
    };
    let mut writer = Writer {
        atoms,
        form,
        repository: String::new(),
        found: &mut texts.choices,
        is_lacking: Cell::new(false),
    };
    writer.repository = match form {
        Form::Remote => writer.repository_of("", "some-host.invalid", ""),
        Form::Url | Form::Bare => String::new(),
    };
    let mut hosts: BTreeSet<&str> = BTreeSet::new();
    for (scope, text) in &atoms.domains {
        let host = text.split_once('/').map_or(&**text, |(host, _)| host);
        match scope {
            Scope::Star => {}
            Scope::Suffix => {
                writer.add_below(text);
                hosts.insert(text);
            }
            Scope::Host | Scope::Within => {
                hosts.insert(host);
            }
            Scope::Exact | Scope::Below | Scope::Folded | Scope::FoldedBelow => {
                hosts.insert(host);
                if form != Form::Url {
                    writer.add_repository(*scope, text);
                }
            }
        }
    }
    for host in &hosts {
        writer.add_host(host);
    }
    writer.add_others();
    if writer.is_lacking.get() {
        texts.lacking.push("hosts that no pattern names".to_owned());
    }
}

/// Writes values for places between the patterns.
struct Writer<'w> {
    atoms: &'w Atoms,
    form: Form,
    /// A repository that no pattern names on any host.
    repository: String,
    found: &'w mut Vec<Choice>,
    /// `true` if there is a place for which no host was found.
    is_lacking: Cell<bool>,
}

impl Writer<'_> {
    fn push(&mut self, text: String, label: Label) {
        if self.form == Form::Bare {
            let of = Label::Of("a URL:", label.to_string());
            self.found.push(Choice::text(format!("https://{text}"), of));
        }
        self.found.push(Choice::text(text, label));
    }

    fn write(&self, host: &str, path: &str) -> String {
        self.form.write(host, path)
    }

    /// Returns `true` if no pattern matches the host, but those that match `within` as well.
    fn lies_within(&self, host: &str, path: &str, within: &str) -> bool {
        let kind = match self.form {
            Form::Url => UrlKind::Fetch,
            Form::Remote => UrlKind::GitRemote,
            Form::Bare => UrlKind::Bare,
        };
        let text = self.write(host, path);
        let class = class(self.atoms, &text, &Location::new(&text, kind));
        let mut keys = class.keys.iter().flatten();
        keys.all(|(scope, text)| *scope == Scope::Star || is_above(text, within))
    }

    /// A name that is free as far as the patterns go.
    fn fresh(&self, name: &str, is_free: impl Fn(&str) -> bool) -> String {
        fresh(name, self.atoms.domains.len(), is_free).unwrap_or_else(|name| {
            self.is_lacking.set(true);
            name
        })
    }

    /// A host below the domain that only those patterns match that match all hosts below it.
    fn below(&self, domain: &str) -> String {
        let label = self.fresh("some-host", |label| {
            let host = format!("{label}.{domain}");
            self.lies_within(&host, &self.repository, domain)
        });
        format!("{label}.{domain}")
    }

    /// A repository on the host below the names that only those patterns match that match all below them.
    fn repository_of(&self, names: &str, host: &str, within: &str) -> String {
        let (above, name) = match names {
            "" => ("some-owner", REPOSITORY),
            names => (names, "some-repository"),
        };
        if !names.is_empty() {
            let name = self.fresh(name, |name| {
                self.lies_within(host, &format!("{above}/{name}"), within)
            });
            return format!("{above}/{name}");
        }
        // The names of all patterns count, whatever their host.
        let owner = self.fresh(above, |owner| {
            let mut names = self
                .atoms
                .domains
                .iter()
                .filter_map(|(_, text)| text.split_once('/'));
            names.all(|(_, names)| {
                names
                    .split('/')
                    .next()
                    .is_none_or(|one| !one.eq_ignore_ascii_case(owner))
            })
        });
        format!("{owner}/{REPOSITORY}")
    }

    fn add_below(&mut self, domain: &str) {
        let path = self.repository.clone();
        let host = self.below(domain);
        let label = Label::Of("a host below", domain.to_owned());
        self.push(self.write(&host, &path), label);
        if self.form == Form::Remote {
            self.found.push(odd(&host, &path, &host));
        }
    }

    fn add_repository(&mut self, scope: Scope, text: &str) {
        let (host, rest) = text.split_once('/').unwrap_or((text, ""));
        let is_below = matches!(scope, Scope::Below | Scope::FoldedBelow);
        let rest = match (is_below, rest) {
            (true, "") => self.repository.clone(),
            (true, rest) => self.repository_of(rest, host, text),
            (false, rest) => rest.to_owned(),
        };
        let label = match is_below {
            true => Label::Of("below", text.to_owned()),
            false => Label::Is(text.to_owned()),
        };
        self.push(self.write(host, &rest), label);
        if self.form == Form::Remote {
            self.found.push(odd(host, &rest, text));
        }
        let other = rest.to_ascii_uppercase();
        if other != rest {
            let label = Label::Of("in other letters", text.to_owned());
            self.push(self.write(host, &other), label);
        }
    }

    fn add_host(&mut self, host: &str) {
        let path = self.repository.clone();
        self.push(self.write(host, &path), Label::Is(host.to_owned()));
        if self.form == Form::Remote {
            self.found.push(odd(host, &path, host));
        }
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            let carrier = address.to_ipv6_mapped().to_string();
            let label = Label::Of("an IPv6 address that carries", host.to_owned());
            self.push(self.write(&format!("[{carrier}]"), &path), label);
        }
        if self.form == Form::Bare {
            return;
        }
        let label = Label::Of("by another protocol, at", host.to_owned());
        let text = format!("ftp://{}/{path}", bracketed(host));
        self.push(text, label);
        if !host.contains(':') {
            let label = Label::Of("by another protocol, below", host.to_owned());
            let text = format!("ftp://{}/{path}", self.below(host));
            self.push(text, label);
        }
    }

    /// Adds values that no pattern names.
    fn add_others(&mut self) {
        let path = self.repository.clone();
        let is_free = |host: &str| self.lies_within(host, &path, "");
        let domains = ["example", "test", "invalid"].into_iter();
        let mut known = domains.map(|domain| format!("some-host.{domain}"));
        let other = known.find(|host| is_free(host)).unwrap_or_else(|| {
            let domain = self.fresh("some-domain", |domain| is_free(&format!("some-host.{domain}")));
            format!("some-host.{domain}")
        });
        let address = other_address(is_free).unwrap_or_else(|address| {
            self.is_lacking.set(true);
            address
        });
        self.push(self.write(&other, &path), Label::Words("any other host"));
        let label = Label::Words("an IP address that nothing names");
        self.push(self.write(&address, &path), label);
        self.push(self.write("localhost", &path), Label::Words("localhost"));
        if self.form != Form::Bare {
            let label = Label::Words("by another protocol, at any other host");
            self.push(format!("ftp://{other}/{path}"), label);
            let label = Label::Words("by another protocol, at an IP address");
            self.push(format!("ftp://{address}/{path}"), label);
        }
        if self.form == Form::Remote {
            self.found.push(odd(&other, &path, "any other host"));
            let label = Label::Words("a remote by its name, whatever it stands for");
            self.push("some-remote".to_owned(), label);
        } else {
            let label = Label::Words("a text that is not a URL");
            self.found.push(Choice::text("no host".to_owned(), label));
        }
    }
}

/// Returns `true` if a pattern that matches all that the text names matches all that `within` names.
fn is_above(text: &str, within: &str) -> bool {
    let host = within.split_once('/').map_or(within, |(host, _)| host);
    let is_start = || {
        let rest = within
            .get(..text.len())
            .filter(|start| start.eq_ignore_ascii_case(text));
        rest.is_some() && within.get(text.len()..).is_some_and(|rest| rest.starts_with('/'))
    };
    text.eq_ignore_ascii_case(within)
        || is_start()
        || host
            .strip_suffix(text)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// A remote before whose host there are two `@`, which programs read in two ways.
fn odd(host: &str, path: &str, shown: &str) -> Choice {
    let label = Label::Of("with `@` in the user name, at", shown.to_owned());
    Choice::text(format!("some@user@{host}:{path}"), label)
}

/// An IPv6 address as it stands in a URL, whether it is written in brackets or not.
fn bracketed(host: &str) -> Cow<'_, str> {
    match host.parse::<Ipv6Addr>() {
        Ok(_) => format!("[{host}]").into(),
        Err(_) => host.into(),
    }
}

/// An address of the ranges for documentation (RFC 5737) that no pattern names.
///
/// # Errors
/// One of them, if patterns name all that are tried.
fn other_address(is_free: impl Fn(&str) -> bool) -> Result<String, String> {
    let ranges = ["192.0.2", "198.51.100", "203.0.113"].into_iter();
    let documented = ranges.flat_map(|range| (1..=254).map(move |last| format!("{range}.{last}")));
    // Others of this range are nobody's either (RFC 6890).
    let reserved = (0..=u16::MAX).map(|last| Ipv4Addr::from(0xf000_0001 + u32::from(last)).to_string());
    let mut addresses = documented.chain(reserved);
    let found = addresses.find(|address| is_free(address));
    found.ok_or_else(|| "192.0.2.1".to_owned())
}

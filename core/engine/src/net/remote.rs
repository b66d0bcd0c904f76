//! How git reads a remote, where it reads the same host and repository as every other program.

use std::borrow::Cow;

use url::{Host, Url};

use super::git::{SshForm, is_user, with_path};
use super::host::CanonicalHost;
use super::target::{Target, is_as_written, url_host};
use super::text::{encodes_control, percent_decode};
use super::url::host_text;

/// The domain of a git remote, and its host and repository if git and the URL parser read the same ones. `parsed` is the
/// value's URL, if it was parsed before.
pub(super) fn read_remote(value: &str, parsed: Option<&Url>) -> (Option<String>, Option<Target>) {
    let (domain, url) = if let Some(form) = SshForm::parse(value) {
        (form.domain(), None)
    } else if let Some(url) = parsed
        .map(Cow::Borrowed)
        .or_else(|| Some(Cow::Owned(Url::parse(value).ok()?)))
    {
        (with_path(host_text(&url), url.path()), Some(url))
    } else {
        (value.to_owned(), None)
    };
    let is_helper = value
        .split_once(':')
        .is_some_and(|(_, rest)| rest.starts_with(':'));
    let target = if value.starts_with('-') || is_helper || encodes_control(value) {
        None
    } else {
        url.map_or_else(|| ssh_target(value), |url| remote_target(value, &url))
    };
    (Some(domain), target)
}

fn remote_target(value: &str, url: &Url) -> Option<Target> {
    let written = match url.scheme() {
        // Curl takes the dot segments out of a path, as the parser does.
        "https" | "http" if has_plain_authority(value) => url.path(),
        "ssh" | "git" if is_plain_for_git(url) => value,
        _ => return None,
    };
    let host = url_host(url).filter(|_| is_as_written(value, &[]))?;
    let is_option = host.text().starts_with('-') || url.username().starts_with('-');
    (!is_option).then(|| Target::repository(host, url.path(), written))
}

/// Returns `true` if every program finds the same host in an `http` or `https` URL. Git hands such a URL to curl as it
/// stands.
///
/// It is so if the authority is one of RFC 3986 (section 3.2) that a `/` or nothing follows, and has no escape in its host.
/// In any other some programs see another end than the parser does: at a `\` only the parser ends it, so that
/// curl takes the host from behind a later `@`. A `\` within the path separates names for the parser alone.
pub(super) fn has_plain_authority(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else {
        return false;
    };
    let authority = rest.split_once('/').map_or(rest, |(authority, _)| authority);
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_name = |c: char| "-._~!$&'()*+,;=".contains(c);
    let is_user = |c: char| c.is_ascii_alphanumeric() || is_name(c) || matches!(c, '%' | ':');
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (host, ""),
    };
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_host = match address {
        Some(address) => address
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte)),
        None => !host.is_empty() && host.chars().all(|c| c.is_alphanumeric() || is_name(c)),
    };
    let path = rest.split_once(['?', '#']).map_or(rest, |(path, _)| path);
    user.chars().all(is_user)
        && is_host
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && !path.contains('\\')
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
fn ssh_target(value: &str) -> Option<Target> {
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
    let target = Target::repository(CanonicalHost::parse(name)?, path, path);
    Some(match user.is_none_or(is_user) {
        true => target,
        false => target.without_plain_user(),
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

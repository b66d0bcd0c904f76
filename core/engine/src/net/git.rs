//! Git remotes: their SSH form, their string functions, and which URLs a remote argument stands for.

use std::borrow::Cow;
use std::collections::BTreeSet;

use url::Url;

use super::url::{host_text, normalize_url, normalized};
use crate::host::Facts;

/// [`normalize_url`] for a git remote: the SSH form, `[user@]host:path` without `://`, is returned unchanged.
pub fn normalize_git_url(value: &str) -> Cow<'_, str> {
    match SshForm::parse(value) {
        Some(_) => Cow::Borrowed(value),
        None => normalize_url(value),
    }
}

/// Returns `true` if the value is a URL, and not a remote in SSH form.
pub fn is_git_url(value: &str) -> bool {
    SshForm::parse(value).is_none() && Url::parse(value).is_ok()
}

/// [`normalize_url`] or, for a remote, [`normalize_git_url`] of a value of which `parsed` is the URL.
pub fn normalize_parsed<'v>(value: &'v str, parsed: &'v Url, is_remote: bool) -> &'v str {
    match is_remote && SshForm::parse(value).is_some() {
        true => value,
        false => normalized(parsed),
    }
}

/// The bytes of the host of a URL, or of a git remote in SSH form where `parsed` is none; 0 without a host.
pub fn host_length(value: &str, parsed: Option<&Url>) -> usize {
    match parsed {
        Some(url) => host_text(url).len(),
        None => SshForm::parse(value).map_or(0, |form| form.host.len()),
    }
}

/// The repository that a git remote names: `host/owner/repo`, or `host` if there is no path. A value that is neither a
/// URL nor in SSH form is returned unchanged.
///
/// This is for display and compatibility. Do not decide by it: `github.com/x:y` is a local path to git.
///
/// ```
/// assert_eq!(callgate_engine::net::extract_git_domain("git@github.com:a/b.git"), "github.com/a/b");
/// ```
pub fn extract_git_domain(value: &str) -> Cow<'_, str> {
    if let Some(form) = SshForm::parse(value) {
        return Cow::Owned(form.domain());
    }
    match Url::parse(value) {
        Ok(url) => Cow::Owned(with_path(host_text(&url), url.path())),
        Err(_) => Cow::Borrowed(value),
    }
}

/// `host/path`, or `host` if the path is empty.
pub(super) fn with_path(host: &str, path: &str) -> String {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let path = path.strip_suffix(".git").unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        host.to_owned()
    } else {
        format!("{host}/{path}")
    }
}

/// `[user@]host:path` without `://`, read as in the existing runtime: the user consists of letters, digits and `_ . +
/// -`, and the host is everything before the first `:`.
pub(super) struct SshForm<'a> {
    pub(super) host: &'a str,
    pub(super) path: &'a str,
}

impl<'a> SshForm<'a> {
    pub(super) fn parse(value: &'a str) -> Option<Self> {
        if value.contains("://") {
            return None;
        }
        let (before, path) = value.split_once(':')?;
        let host = match before.split_once('@') {
            Some((user, host)) if is_user(user) && !host.is_empty() => host,
            _ => before,
        };
        (!host.is_empty()).then_some(Self { host, path })
    }

    pub(super) fn domain(&self) -> String {
        with_path(self.host, self.path)
    }
}

pub(super) fn is_user(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte))
}

/// The URLs that `value` stands for in the repositories at `repositories`, canonical paths of directories.
///
/// A value with `://` or of the form `user@host:` is a URL, which a repository's `insteadOf` may rewrite. Preparing may
/// send its normalized form, so that is asked about too. Any other value names a remote; where there is no such remote,
/// git reads the value as a URL. If some of the repositories have the remote, those that have not, and do not rewrite
/// its name either, say nothing: most likely they are not repositories.
///
/// Without a repository, or if the host does not know, the answer is the value itself. A text that is empty, starts with
/// `-` or contains a control character is never passed to the host.
///
/// There is at least one URL, the first one first. `parsed` is that of the value, if it was parsed before.
pub fn resolve_git_remote<R: AsRef<str>>(
    value: &str,
    parsed: Option<&Url>,
    repositories: &[R],
    facts: &mut Facts<'_>,
) -> Vec<String> {
    let mut urls = Urls::default();
    if is_explicit(value) {
        let sent = match parsed {
            Some(url) => Cow::Borrowed(normalize_parsed(value, url, true)),
            None => normalize_git_url(value),
        };
        let given = is_asked(value).then_some(value);
        let sent = (is_asked(&sent) && sent != value).then_some(&*sent);
        if given.is_none() {
            urls.add([value.to_owned()]);
        }
        for repository in repositories.iter().map(AsRef::as_ref) {
            for text in given.into_iter().chain(sent) {
                urls.add(facts.git_url(repository, text));
            }
        }
    } else if is_asked(value) {
        let mut rewritten = Vec::new();
        for repository in repositories.iter().map(AsRef::as_ref) {
            let named = facts.git_remote_urls(repository, value);
            if named.is_empty() {
                rewritten.extend(facts.git_url(repository, value));
            }
            urls.add(named);
        }
        let is_named = !urls.list.is_empty();
        urls.add(rewritten.into_iter().filter(|url| !is_named || url != value));
    }
    if urls.list.is_empty() {
        urls.add([value.to_owned()]);
    }
    urls.list
}

/// URLs in order, each once.
#[derive(Default)]
struct Urls {
    list: Vec<String>,
    seen: BTreeSet<String>,
}

impl Urls {
    fn add(&mut self, urls: impl IntoIterator<Item = String>) {
        for url in urls {
            if self.seen.insert(url.clone()) {
                self.list.push(url);
            }
        }
    }
}

fn is_asked(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.chars().any(char::is_control)
}

/// Returns `true` if the value is a URL or of the form `user@host:`, not the name of a remote.
pub fn is_explicit(value: &str) -> bool {
    value.contains("://")
        || value
            .split_once(':')
            .and_then(|(before, _)| before.split_once('@'))
            .is_some_and(|(user, host)| is_user(user) && !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{GitIgnore, Host, HostError, RealpathError};

    #[test]
    fn the_domain_of_a_remote() {
        #[track_caller]
        fn check(value: &str, expected: &str) {
            assert_eq!(extract_git_domain(value), expected, "{value:?}");
        }
        for same in [
            "origin",
            "",
            " ",
            ".",
            "../x",
            ":x",
            "//github.com",
            "evil.example/a/b",
            "git@evil.example:p://q",
        ] {
            check(same, same);
        }
        check("git@github.com:acme/widgets.git", "github.com/acme/widgets");
        check("git@github.com:/acme/widgets.git/", "github.com/acme/widgets");
        check("git@github.com:2222/acme/x.git", "github.com/2222/acme/x");
        check("github.com.:acme/widgets.git.git", "github.com./acme/widgets.git");
        check("a+b@GitHub.com:~mara/x", "GitHub.com/~mara/x");
        check("we ird@github.com:.git", "we ird@github.com");
        check("git@a@b:x", "a@b/x");
        check("git@:x", "git@/x");
        check("@:x", "@/x");
        check("a:b:c", "a/b:c");
        check("deploy.bot@[::1]:acme/x", "[/:1]:acme/x");
        check("evil.example:p://q", "/p://q");
        check("https://github.com/acme/widgets/.git", "github.com/acme/widgets");
        check("https://tok:x@github.com./.git", "github.com.");
        check(
            "https://evil.example/acme/wid%67ets",
            "evil.example/acme/wid%67ets",
        );
        check("https://github.com/acme//widgets", "github.com/acme//widgets");
        check("git+ssh://github.com/acme/widgets", "github.com/acme/widgets");
        check("file:///srv/kit.git", "/srv/kit");
        check("github.com/x:y", "github.com/x/y");
        // The existing runtime drops everything after a line break (`git-newline`).
        check("git@host:acme/widgets\n--x", "host/acme/widgets\n--x");
    }

    #[test]
    fn a_remote_is_normalized_unless_it_is_of_ssh_form() {
        #[track_caller]
        fn check(value: &str, expected: &str) {
            assert_eq!(normalize_git_url(value), expected, "{value:?}");
        }
        for same in [
            "git@GitHub.com:a/b/",
            "C:\\repo",
            "ext::sh -c id",
            "https:/*",
            "origin",
            "-x",
            "@:x",
        ] {
            check(same, same);
        }
        check(" https://GitHub.com:443/a/../b  ", "https://github.com/b");
        check(
            "ssh://git@github.com/acme/widgets.git",
            "ssh://git@github.com/acme/widgets.git",
        );
    }

    struct Git;

    impl Host for Git {
        fn home_dir(&self) -> &str {
            "/home/u"
        }
        fn current_dir(&self) -> &str {
            "/srv"
        }

        fn ignores_path_case(&self) -> bool {
            false
        }
        fn realpath<'p>(&self, _path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
            Err(RealpathError::NotFound)
        }
        fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
            Ok(match (repo, remote) {
                ("/repo", "origin") => vec!["https://github.com/a/b".into(), "ssh://evil.com/x".into()],
                ("/repo", "broken") => return Err(HostError::new("no answer")),
                ("/repo", refused) if refused.is_empty() || refused.starts_with(['-', '\n']) => {
                    panic!("asked for {refused:?}")
                }
                _ => Vec::new(),
            })
        }
        fn git_default_remote_urls(&self, _repo: &str) -> Result<Vec<String>, HostError> {
            Ok(Vec::new())
        }
        fn git_url(&self, _repo: &str, url: &str) -> Result<Vec<String>, HostError> {
            Ok(match url {
                "silent" => Vec::new(),
                "https://x.test/" => vec!["https://fetch.test/".into(), "https://push.test/".into()],
                _ => vec![url.replace("gh:", "https://github.com/")],
            })
        }

        fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
            Ok(None)
        }

        fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
            Ok(Some(false))
        }

        fn git_branch(&self, _: &str) -> Result<String, HostError> {
            Ok(String::new())
        }

        fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
            Ok(Some(Vec::new()))
        }

        fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
            Ok(None)
        }
    }

    #[test]
    fn a_remote_stands_for_every_url_that_git_would_use() {
        #[track_caller]
        fn check(value: &str, repo: Option<&str>, expected: &[&str]) {
            let mut facts = Facts::new(&Git, true);
            let repositories: Vec<&str> = repo.into_iter().collect();
            assert_eq!(
                resolve_git_remote(value, None, &repositories, &mut facts),
                expected,
                "{value:?}"
            );
        }
        let repo = Some("/repo");
        check("origin", repo, &["https://github.com/a/b", "ssh://evil.com/x"]);
        check("origin", Some("/elsewhere"), &["origin"]);
        check("origin", None, &["origin"]);
        check(
            "https://x.test/",
            repo,
            &["https://fetch.test/", "https://push.test/", "https://x.test"],
        );
        check("https://x.test/", None, &["https://x.test/"]);
        check("gh:a/b", repo, &["https://github.com/a/b"]);
        check("git@gh:a/b", repo, &["git@https://github.com/a/b"]);
        check("silent", repo, &["silent"]);
        // The URL that is sent is asked about as well as the one that was given.
        for given in ["HTTPS://x.test/", " https://X.test/", "https://x.test:443/"] {
            check(given, repo, &[given, "https://x.test"]);
        }
        check(
            "https://x.t\test/",
            repo,
            &["https://x.t\test/", "https://x.test"],
        );
        for refused in ["", "-", "--upload-pack=id", "\norigin"] {
            check(refused, repo, &[refused]);
        }
        let mut facts = Facts::new(&Git, false);
        resolve_git_remote("broken", None, &["/repo"], &mut facts);
        assert_eq!(facts.failure(), Some(&HostError::new("no answer")));
    }
}

//! Values that a careless gate lets through, and values that must pass, against pattern sets.

use proptest::prelude::*;

use crate::net::*;
use crate::tests::config;
use ::url::Url;
use Expect::{Grants, Neither, Restricts};
use UrlKind::{Fetch, GitRemote, AsGiven};

/// The outcome of one set for one value. A set that grants a value restricts it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Grants,
    Restricts,
    Neither,
}

#[track_caller]
fn check(kind: UrlKind, patterns: &[&str], expected: Expect, values: &[&str]) {
    let set = DomainSet::new(patterns.iter().copied(), PathEnding::Below);
    for value in values {
        let location = Location::new(value, kind);
        let seen = match (set.grants(&location), set.restricts(&location)) {
            (Some(_), Some(_)) => Grants,
            (None, Some(_)) => Restricts,
            (None, None) => Neither,
            (Some(pattern), None) => panic!("{value:?} is granted, but not restricted, by {pattern:?}"),
        };
        assert_eq!(seen, expected, "{kind:?} {value:?} against {patterns:?}");
        assert!(location.is_grantable() || seen != Grants);
    }
}

const STAR: &[&str] = &["*"];
const GATE: &[&str] = &["github.com", "*.example.org", "docs.rs"];
const DENY: &[&str] = &["evil.com", "*.evil.org"];
const GIT_GATE: &[&str] = &["github.com/owner/repo", "gitlab.com"];
const GIT_DENY: &[&str] = &["github.com/evil/repo"];

#[test]
fn star_grants_names_that_can_be_fetched() {
    check(Fetch, STAR, Grants, &[
        "https://sub.domain.co.uk/x", "https://127.0.0.1.example.com/", "https://1.2.3.4.example.com/",
        "https://a-b.example/", "https://123.example/", "http://metadata/",
        "http://kubernetes.default.svc/", "https://notlocalhost/", " https://github.com/",
        "https://docs.example.com/a//\n", "https:github.com/x", "https://github.com/a b",
        "https://git\nhub.com/", "https://git\thub.com/",
    ]);
    // Addresses in every spelling, loopback names, other protocols, texts that are not URLs.
    check(Fetch, STAR, Restricts, &[
        "http://127.0.0.1/", "http://127.1/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0/",
        "http://0.0.0.0/", "http://169.254.43518/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/",
        "http://[fd00:ec2::254]/", "http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://user@127.0.0.1/",
        "http://127.0.0.1:6379/", "http://%31%32%37.0.0.1/", "http://255.255.255.255/", "http://1/",
        "http://127.0.0.1#@github.com/", "http:127.0.0.1/", "http:\\\\127.0.0.1\\x",
        "http://[::1]:notaport/", "http://127.0.0.1./", "http://127.0.0.1../", "http://localhost/",
        "http://LOCALHOST/", "http://localhost./", "http://foo.localhost/", "http://localhost:9200/_cat",
        "http://ip6-localhost/", "http://IP6-Loopback:80/", "http://localhost.localdomain./", "http://localhost4/",
        "http://localhost6.localdomain6/", "http://metadata.google.internal/", "http://host.docker.internal:2375/",
        "http://%6cocalhost/", "file:///etc/passwd", "file://localhost/etc/passwd", "file://github.com/x",
        "data:text/html,x", "javascript:alert(1)", "javascript://github.com/%0aalert(1)",
        "blob:https://github.com/uuid", "view-source:file:///etc/passwd", "dict://example.com:11211/stats",
        "ldap://example.com/x", "jar:https://example.com/x!/", "ws://example.com/", "ftp://github.com/x",
        "chrome://settings", "mailto:x@example.com", "tel:123", "x:", "C:/Windows/win.ini", "/etc/passwd",
        "../../etc/passwd", "\\\\169.254.169.254\\x", "   ", "", "http://", "not a url",
        "https://evil.com..", "http://.", "https://github.com/\0", "-https://github.com/",
    ]);
}

#[test]
fn star_grants_remotes_that_git_reads_like_a_url() {
    check(GitRemote, STAR, Grants, &[
        "https://codeberg.org/a/b", "git@codeberg.org:a/b", "codeberg.org:a/b",
        "ssh://git@codeberg.org:22/a/b", "git://codeberg.org/a", "https://a%40b:c@codeberg.org/a",
        "git@bücher.example:a",
        "we ird@github.com:x", "git@evil.example@github.com:x",
    ]);
    check(GitRemote, STAR, Restricts, &[
        "ssh://0x7f000001/o/r", "ssh://0177.0.0.1/o/r", "ssh://127%2e0.0.1/o/r",
        "ssh://%31%32%37.0.0.1/o/r", "ssh://git@2130706433:2222/o/r", "git@2130706433:o/r",
        "git@0x7f000001:o/r", "git@[::1]:o/r", "[127.0.0.1]:o/r", "git@127.0.0.1:o/r",
        "ssh://[::ffff:7f00:1]/o/r", "git@169.254.169.254:x", "ssh://127.0.0.1./x", "git@127.0.0.1.:o/r",
        "ssh://127.1/x", "ssh://999.1.1.1/x", "git@localhost:x", "ssh://a.LocalHost/x",
        "ext::sh -c id% >&2 https://github.com/owner/repo", "file:///home/u/Documents", "/home/u/Documents",
        "../../Documents", "./x", "~/x", "git-remote-evil::x", "ext::ssh -oProxyCommand=x github.com", " ",
        "\0", "https://", "::", ":", ":o/r", "@:o/r", "git@.:o/r", "rsync://example.com/x",
        "git+ssh://github.com/a", "origin", "", "--upload-pack=touch /tmp/pwn", "-oProxyCommand=sh", "--",
        "-", "-u@gitlab.com:o/r", "C:\\repo", "c:repo", "https:github.com/x", "HTTPS:\\\\example.com\\x",
        "git@git\u{ad}hub.com:x", "git@evil。com:x", "[git@github.com:22]:x", "git@fe80::1:x",
        "ssh://%67ithub.com/a/b", "git@%67ithub.com:x", "git@ we@irdgithub com:x",
    ]);
}

#[test]
fn a_remote_whose_host_programs_read_differently_is_not_granted() {
    // Curl, and so git, connects to the host behind the `@` in the first ones.
    let unclear = [
        "https://github.com\\acme\\x@evil.com/../owner/repo", "http://github.com\\@evil.com:1/x",
        "https://evil.com\\@github.com/owner/repo", "https://u@github.com\\@evil.com/", "https://github.com\\evil.com/",
        "https://github.com@evil.com@github.com/owner/repo", "https://github.com?@evil.com/owner/repo",
        "https://github.com#@evil.com/owner/repo", "https:///github.com/evil.com", "https:////github.com/evil.com",
        "https:/github.com/evil.com", "https:\\\\github.com\\evil.com", "https:/\\github.com/evil.com",
        "https://github.com%2f@github.com%2eevil.com/", "https://github%2ecom/evil.com", "https://git\u{ad}hub.com/evil.com",
        "https://github。com/evil.com", "https://evil.com[@github.com/x", "https://<evil.com>@github.com/x",
        "https://evil.com @github.com/x", "https://evil.com\t@github.com/x", "https://git\nhub.com/evil.com",
        "https://é@github.com/evil.com", "https://evil.com/x\\..\\@github.com", "https://github.com/evil.com\\..\\owner/repo",
    ];
    check(GitRemote, &["github.com", "evil.com", "github.com/owner/repo"], Restricts, &unclear);
    check(GitRemote, &["github.com", "evil.com", "*.com", "*"], Restricts, &unclear);
    check(GitRemote, &["github.com"], Grants, &[
        "https://github.com/a", "HTTPS://GitHub.com./a", "https://u:p%40:x@github.com:443/a", "https://@github.com:/a",
        "https://x-access-token:t@github.com/a/b.git", "https://github.com", "https://github.com/a@b/c:d?\\#\\",
    ]);
    check(GitRemote, &["bücher.example", "[::1]", "10.0.0.1"], Grants, &[
        "https://bücher.example/a", "https://[::1]:8443/a", "http://[0:0::1]/a", "http://u@10.0.0.1/a",
    ]);
}

#[test]
fn a_repository_below_an_owner_has_no_dot_segments_that_git_or_a_server_decodes() {
    check(GitRemote, &["github.com/acme/*"], Restricts, &["ssh://git@github.com/x/../acme/w"]);
    check(GitRemote, &["github.com/acme/*"], Grants, &[
        "ssh://git@github.com/acme/w", "https://github.com/x/../acme/w", "https://github.com/acme/w..x/.y%2fz",
    ]);
    check(GitRemote, &["github.com/acme/*"], Neither, &[
        "ssh://git@github.com/acme/../evil/w", "ssh://git@github.com/acme/..%2fevil/w",
        "https://github.com/acme/..%2fevil/w", "https://github.com/acme/..%5cevil/w", "git@github.com:acme/..%2fevil/w",
    ]);
}

#[test]
fn a_look_alike_is_not_granted() {
    check(Fetch, GATE, Grants, &[
        "https://GITHUB.com/", "http://github.com/", "https://github.com:8443/x", "https://example.org/",
        "https://EXAMPLE.ORG./", "https://x.example.org/", "https://github.com/a/../b",
        "https://github.com/@evil.com", "https://github.com/é", "https://user:pass@github.com/",
        "https://ｇithub.com/", "https://github.com?q=a%0ab",
    ]);
    check(Fetch, GATE, Neither, &[
        "https://github.com.evil.com/", "https://evilgithub.com/", "https://github.com-evil.com/",
        "https://evil.com/github.com", "https://evil.com?github.com", "https://evil.com#github.com",
        "https://github.com@evil.com/", "https://github.com:443@evil.com/",
        "https://github.com%40evil.com@evil.com/", "https://evil.com\\@github.com/",
        "https://evil.com\\.github.com/", "https://example.org.evil.com/", "https://evil-example.org/",
        "https://gіthub.com/", "https://xn--github-.example.com/", "https://github.сom/",
        "https://github.com%2eevil.com/", "https://github.com．evil.com/", "https://docs-rs.evil.com/",
        "https://github.com,evil.com/", "https:evil.com/github.com", "https:/evil.com",
        "https://github.com⁄@evil.com/", "https://raw.github.com/",
    ]);
    check(Fetch, GATE, Restricts, &[
        "https://[github.com]/", "https://github.com|evil.com/", "https://evil.com%00.example.org/",
        "ftp://github.com/x", "gopher://github.com:6379/_x", "file://github.com/etc/passwd", "github.com",
        "docs.rs:8080/x", "https://github.com\u{7f}/", "https://github.com../",
        "https://github.com/ http://169.254.169.254/",
    ]);
    check(GitRemote, &["*.example.org"], Restricts, &["ssh://evil.com%2f.example.org/o/r"]);
    // A value that is sent as it stands is granted if every program reads it like the parser.
    check(AsGiven, GATE, Grants, &["https://docs.rs/", "HTTP://GitHub.com.:80/x"]);
    check(AsGiven, GATE, Restricts, &[
        "mailto:x@github.com", "redis://git\nhub.com/", "github.com", "ftp://github.com/x", "redis://GitHub.com./0",
        "file://github.com/x", "javascript://github.com/%0a", "https://github.com\\@evil.com/", "https://git\nhub.com/",
    ]);
    check(AsGiven, GATE, Neither, &["redis://evil.com/x", "redis:///x"]);
}

#[test]
fn an_unexpected_pattern_grants_nothing() {
    for pattern in [
        "", " ", "*.", "* ", " *", "user@github.com", " github.com",
        "github.com\t", "https://github.com", "github.com:443", "*.github.com:443", "github.com/",
        "git@github.com:a/b", "/", "/srv/x", "*.1]", "*.[::1]", "[::1", "*.1", "*/x", "://", "999.1.1.1", "%",
        "*.github.com/a/b",
    ] {
        let set = DomainSet::new([pattern], PathEnding::Below);
        for value in [
            "https://github.com/", "https://x.github.com/", "https://evil.com./", "http://[::1]/", "http://127.0.0.1/",
            "file:///etc/passwd", "", " ", "https://github.com/a/b", "git@github.com:a/b", "/srv/x", "/", "https://*/",
            "https://git*.com/", "https://a.*.com/", "*",
        ] {
            for kind in [Fetch, GitRemote, AsGiven] {
                assert_eq!(set.grants(&Location::new(value, kind)), None, "{pattern:?} {value:?}");
            }
        }
    }
    // Within a name `*` is a character like others.
    check(Fetch, &["git*.com"], Grants, &["https://git*.com/"]);
    check(Fetch, &["git*.com", "**", "*.*.com", "docs.*.com"], Neither, &[
        "https://github.com/", "https://docs.x.com/", "https://a.b.com/",
    ]);
    check(Fetch, &["10.1.2.3", "[::1]", "localhost"], Grants, &[
        "http://10.1.2.3/", "http://0xa.66051/", "http://[0::1]/", "http://LOCALHOST:1/",
    ]);
    check(Fetch, &["*.localhost"], Grants, &["http://a.localhost/", "http://localhost/"]);
}

#[test]
fn a_denied_host_is_denied_in_every_spelling() {
    check(Fetch, DENY, Grants, &[
        "https://evil.com/", "https://EVIL.com/x", "https://%65vil.com/x", "https://ev\u{ad}il.com/x",
        "https://evil。com/x", "https://a.evil.org./x", "https://evil.org./", "https:evil.com",
        "https://github.com@evil.com/", "https:evil.com:443", "https://ev\til.com/",
    ]);
    check(Fetch, DENY, Restricts, &[
        "//evil.com/x", "evil.com/x", "evil.com", "hxxps://evil.com/x",
        "ssh://EVIL.com/x", "ssh://evil%2ecom/x", "https://evil.com..", "https://evil.com:99999/",
        "\\\\evil.com\\x", "foo:evil.com/x", "blob:https://a.evil.org/x", "view-source:https://evil.com",
        "ext::https://evil.com/x", "//evil.com／x", "ssh://evil.com%2f@github.com/x", "a b evil.com",
        "mailto:x@evil.com", "https://evil.com\0/",
    ]);
    check(Fetch, DENY, Neither, &[
        "https://notevil.com/", "https://evil.com@github.com/", "https://github.com/evil.com",
        "https://xevil.org/", "not a url",
    ]);
    check(Fetch, &["127.0.0.1"], Restricts, &["http://[::ffff:127.0.0.1]/", "ftp://0x7f.1/", "//2130706433/"]);
    check(Fetch, &["[::ffff:127.0.0.1]"], Restricts, &["http://127.0.0.1/"]);
    // A pattern with a slip restricts what was meant.
    for pattern in [
        "https://evil.com", " evil.com", "evil.com:443", "https://evil.com/", ".evil.com", "evil.com/",
    ] {
        check(Fetch, &[pattern], Restricts, &["https://evil.com/"]);
        check(Fetch, &[pattern], Neither, &["https://github.com/"]);
    }
    check(Fetch, &["Evil.com"], Grants, &["https://evil.com/"]);
    check(Fetch, &["evil.com."], Grants, &["https://evil.com/"]);
    check(Fetch, &["bücher.de"], Grants, &["https://bücher.de/", "https://XN--BCHER-KVA.de"]);
    check(Fetch, &["*.EVIL.org"], Grants, &["https://a.evil.org/"]);
    check(Fetch, &[".evil.org"], Restricts, &["https://a.evil.org/"]);
    check(Fetch, &[" *.evil.org"], Restricts, &["https://a.evil.org/"]);
    check(Fetch, &["::1"], Restricts, &["http://[::1]/"]);
    check(Fetch, &["*.0.0.1"], Restricts, &["http://127.0.0.1/"]);
    check(Fetch, &["*.evil.com:443"], Restricts, &["https://a.evil.com/"]);
    // A user before a host cannot be told from a typo: the pattern keeps meaning its text.
    check(Fetch, &["user@github.com"], Neither, &["https://github.com/"]);
    check(Fetch, &["user@github.com"], Restricts, &["user@github.com"]);
    check(Fetch, &[""], Restricts, &["file:///etc/passwd", ""]);
    check(Fetch, &[""], Neither, &["https://github.com/"]);
}

#[test]
fn a_repository_is_granted_by_its_exact_name_and_restricted_by_any() {
    check(GitRemote, GIT_GATE, Grants, &[
        "https://github.com/owner/repo/", "git@github.com:owner/repo.git", "github.com:owner/repo",
        "ssh://git@github.com/owner/repo.git", "https://GitHub.com./owner/repo",
        "https://github.com/x/../owner/repo", "git@gitlab.com:any/thing.git", "https://gitlab.com/a/b/c",
        "https://user@gitlab.com/x/y", "ssh://git@gitlab.com:2222/x/y", "git@gitlab.com:o/r/../../x",
        "https://gitlab.com/x\n",
    ]);
    check(GitRemote, GIT_GATE, Restricts, &[
        "github.com/owner/repo", "gitlab.com/x/y", "gitlab.com::x", "gitlab.com/x@evil.com:o/r",
        "-u@gitlab.com:o/r", "-4@gitlab.com:o/r", "ssh://-oProxyCommand=id@gitlab.com/x",
        "ssh://git@github.com:owner/repo", "ext::https://gitlab.com/", "file://gitlab.com/x",
        "javascript://gitlab.com/x", "gopher://gitlab.com/x", "https://gitlab.com/x\nhost=evil.com",
        "https://gitlab.com/%0ahost=evil.com/x", "https://gitlab.com/x\rhost=evil.com",
        "git@github.com:owner/repo\n/../evil", "https://github.com/OWNER/repo",
        "git@github.com:x/../owner/repo",
        // Git finds another host in these than the URL parser does.
        "ssh://evil.com%2f@gitlab.com/x", "ssh://gitlab.com?@evil.com/x", "ssh://gitlab.com#@evil.com/x",
        "ssh://gitlab.com/x@[evil.com]/y", "ssh://gitlab.com/x%40%5bevil.com]/y",
        "gitlab.com:x@[evil.com]:y", "ssh://gitlab.com/x?y", "ssh://git%40evil.com@gitlab.com/x",
        "ssh://%2doProxyCommand=id@gitlab.com/x",
    ]);
    check(GitRemote, GIT_GATE, Neither, &[
        "git@evil.com:gitlab.com/o/r", "https://gitlab.com@evil.com/o/r", "https://evil.com/gitlab.com/o/r",
        "https://github.com/owner/repo-evil", "https://github.com/owner/repo/../evil",
        "https://github.com/owner", "https://github.com/owner/repo/extra", "git@github.com:2222/owner/repo",
        "https://github.com.evil.com/owner/repo", "https://github.com/OWNER/repo/..%2fx",
        "https://evil.com/x", "https://github.com/owner/repo%2fx", "http://gitlab.com:80@evil.com/",
    ]);
    check(GitRemote, GIT_DENY, Restricts, &[
        "https://github.com/Evil/Repo", "https://github.com/evil//repo",
        "https://github.com/%65vil/repo", "https://github.com/evil/repo.git.git",
        "git@github.com:x/../evil/repo", "git@github.com:~/../evil/repo", "file://github.com/evil/repo",
        "ssh://git@github.com/evil/repo#x", "git@github.com:evil/repo\n",
        "ext::ssh git@github.com evil/repo", "git@github.com:evil\\repo",
    ]);
    check(GitRemote, GIT_DENY, Grants, &[
        "https://github.com/evil/repo", "git@github.com:/evil/repo", "https://github.com/evil/repo//", "git@GITHUB.com:evil/repo",
        "ssh://git@GITHUB.COM/evil/repo", "ssh://git@github.com:22/evil/repo",
        "https://github.com/evil/repo?x", "https://github.com/evil/repo#x",
    ]);
    check(GitRemote, GIT_DENY, Neither, &[
        "https://github.com/evil/repo2", "https://github.com/evil", "ext::x evil.com/repo",
    ]);
    for pattern in [
        "https://github.com/evil/repo", "git@github.com:evil/repo.git", "GitHub.com/Evil/Repo.git",
        " github.com/evil/repo",
    ] {
        check(GitRemote, &[pattern], Restricts, &["https://github.com/evil/repo"]);
    }
    // Who asks for an odd user gets no host by its name, only by a parent of it.
    let odd = ["we ird@github.com:a/b", "git@evil.example@github.com:a/b", "@github.com:a/b"];
    check(GitRemote, &["github.com", "*.github.com", "github.com/a/b"], Restricts, &odd);
    check(GitRemote, &["*.com"], Grants, &odd);
    check(GitRemote, &["evil.example", "*.example"], Neither, &odd);
    check(GitRemote, &["[::1]"], Restricts, &["git@[::1]:a/b", "git@[::1]:/x"]);
    check(GitRemote, &["[::1]"], Grants, &["ssh://git@[::1]/a/b", "https://[::1]:80/"]);
    check(GitRemote, &["/srv/kit.git"], Restricts, &["/srv/kit.git"]);
    check(GitRemote, &["github.com"], Neither, &["git@evil.example:github.com/x"]);
}

#[test]
fn several_urls_grant_together_and_restrict_alone() {
    let set = DomainSet::new(["github.com", "*.test"], PathEnding::Below);
    let at = |values: &[&str]| -> Vec<Location> {
        values
            .iter()
            .map(|value| Location::new(value, GitRemote))
            .collect()
    };
    let both = at(&["https://a.test/x", "git@github.com:a/b"]);
    assert_eq!(set.grants_all(&both), Some("*.test"));
    let mixed = at(&["https://evil.com/x", "git@github.com:a/b"]);
    assert_eq!(set.grants_all(&mixed), None);
    assert_eq!(set.restricts_any(&mixed), Some("github.com"));
    assert_eq!((set.grants_all(&[]), set.restricts_any(&[])), (None, None));
}

#[test]
fn a_location_shows_the_domain_of_the_value() {
    #[track_caller]
    fn check(value: &str, kind: UrlKind, shown: &str, grantable: bool) {
        let location = Location::new(value, kind);
        assert_eq!(location.display_domain(), shown, "{value:?}");
        assert_eq!(location.is_grantable(), grantable, "{value:?}");
    }
    check("https://Bücher.example./x", Fetch, "xn--bcher-kva.example.", true);
    check("file:///etc", Fetch, "", false);
    check("https://docs-1.example.org?x=@evil.com", Fetch, "docs-1.example.org", true);
    check("https://1.2.3.4.example#@evil.com", Fetch, "1.2.3.4.example", true);
    check("https://localhost/%zz\\@evil.com", Fetch, "localhost", true);
    check("http://192.168.1.1/admin", Fetch, "192.168.1.1", true);
    check("https://a@github.com", Fetch, "github.com", true);
    check("https://github.com\\x", Fetch, "github.com", true);
    check("https://git\nhub.com", Fetch, "github.com", true);
    check("https://127.1/", Fetch, "127.0.0.1", true);
    check("https://a.0x7f", Fetch, "https://a.0x7f", false);
    check("https://github..com", Fetch, "github..com", true);
    check("httpss://a.b", Fetch, "a.b", false);
    check("ssh://GitHub.com/a/b.git", GitRemote, "GitHub.com/a/b", true);
    check("git@GitHub.com:", GitRemote, "GitHub.com", true);
    check("git@[::1]:a/b", GitRemote, "[/:1]:a/b", false);
    check("origin", GitRemote, "origin", false);
    check("not a url", AsGiven, "not a url", false);
}

fn urlish() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "github.com", "evil.com", "a.b", "localhost", "127.0.0.1", "0x7f.1", "[::1]", "[::ffff:1.2.3.4]",
        "bücher.de", "x", "https", "ssh", "git", "ext", "://", ":", "::", "@", "/", "//", ".", "..", "*", "*.",
        "%2f", "%2e", "?", "#", " ", "\n", "\\", "-", ".git", "1", "Evil", "。", "@[", "]",
    ]);
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

fn any_kind() -> impl Strategy<Value = UrlKind> {
    prop::sample::select(vec![Fetch, GitRemote, AsGiven])
}

proptest! {
    #![proptest_config(config(4096))]

    #[test]
    fn only_a_shared_key_matches(value in urlish(), patterns in prop::collection::vec(urlish(), 0..4), kind in any_kind()) {
        let set = DomainSet::new(patterns.iter().map(String::as_str), PathEnding::Below);
        let location = Location::new(&value, kind);
        let keys: Vec<Key> = set.keys().map(Key::into_owned).collect();
        let shared = location.first(Scopes::ALL, |key| keys.contains(key).then_some(())).is_some();
        prop_assert_eq!(set.restricts(&location).is_some(), shared);
        prop_assert!(set.grants(&location).is_none() || shared);
    }

    #[test]
    fn what_matched_as_text_still_restricts(value in urlish(), pattern in urlish(), kind in any_kind()) {
        let location = Location::new(&value, kind);
        let set = DomainSet::new([pattern.as_str()], PathEnding::Below);
        // `*.` never meant anything.
        if pattern != "*." && domain_matches_allowlist(location.display_domain(), &[&pattern]) {
            prop_assert!(set.restricts(&location).is_some(), "{:?}", location);
        }
    }

    #[test]
    fn a_set_is_the_union_of_its_patterns(value in urlish(), patterns in prop::collection::vec(urlish(), 0..4), kind in any_kind()) {
        let location = Location::new(&value, kind);
        let all = DomainSet::new(patterns.iter().map(String::as_str), PathEnding::Below);
        let alone: Vec<DomainSet> = patterns.iter().map(|pattern| DomainSet::new([pattern.as_str()], PathEnding::Below)).collect();
        prop_assert_eq!(all.grants(&location).is_some(), alone.iter().any(|set| set.grants(&location).is_some()));
        prop_assert_eq!(all.restricts(&location).is_some(), alone.iter().any(|set| set.restricts(&location).is_some()));
    }

    #[test]
    fn a_url_that_was_parsed_before_is_read_the_same(value in urlish(), kind in any_kind()) {
        for value in [format!("https://{value}"), format!("ssh://{value}"), value] {
            if let Ok(url) = Url::parse(&value) {
                let read = [Location::parsed(&value, kind, Some(&url)), Location::new(&value, kind)];
                prop_assert_eq!(format!("{:?}", read[0]), format!("{:?}", read[1]), "{:?}", value);
                prop_assert_eq!(normalize_parsed(&value, &url, false), normalize_url(&value));
                prop_assert_eq!(normalize_parsed(&value, &url, true), normalize_git_url(&value));
            }
        }
    }

    #[test]
    fn normalizing_twice_is_normalizing_once(value in urlish()) {
        let once = normalize_url(&value).into_owned();
        prop_assert_eq!(normalize_url(&once), once.as_str());
    }
}

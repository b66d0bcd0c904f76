//! Arbitrary calls of the tools of [`annotations`](super::arbitrary::annotations).

use serde_json::{Map, Value, json};

use super::worlds;

/// A server, one of its tools, and the tool's arguments with what kind of text suits each.
pub(super) type Tool = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

pub(super) const TOOLS: &[Tool] = &[
    ("filesystem", "read", &[("path", "path")]),
    (
        "filesystem",
        "move",
        &[("source", "path"), ("destination", "path"), ("mode", "mode")],
    ),
    ("filesystem", "copy", &[("from", "path"), ("to", "path")]),
    (
        "git",
        "push",
        &[("path", "path"), ("remote", "remote"), ("branch", "branch")],
    ),
    ("git", "add", &[("path", "path"), ("files", "path")]),
    (
        "fetch",
        "get",
        &[("url", "url"), ("mode", "mode"), ("other", "path")],
    ),
    (
        "github",
        "open",
        &[
            ("owner", "name"),
            ("repo", "name"),
            ("branch", "branch"),
            ("mode", "mode"),
        ],
    ),
    (
        "mail",
        "send",
        &[("to", "email"), ("share", "name"), ("mode", "mode")],
    ),
    ("mail", "attach", &[("to", "email"), ("path", "path")]),
    (
        "notes",
        "put",
        &[("path", "path"), ("mode", "mode"), ("url", "url")],
    ),
];

/// The tools that only [`more_documents`](super::arbitrary::more_documents) has.
const MORE: &[Tool] = &[
    ("files", "list", &[("paths", "path"), ("mode", "mode")]),
    ("files", "any", &[("path", "path"), ("mode", "mode")]),
    ("files", "remove", &[("path", "path"), ("file", "alias")]),
    ("files", "edit", &[("edits", "edits"), ("mode", "mode")]),
    ("files", "compare", &[("one", "path"), ("other", "path")]),
    ("vcs", "add", &[("repo", "path"), ("files", "path")]),
    ("own", "label", &[("label", "name"), ("mode", "mode")]),
    ("own", "init", &[("name", "bare")]),
    ("proxy", "add", &[("domain", "host")]),
];

/// All tools: those of [`TOOLS`], more, and those of a world.
pub(super) fn all_tools() -> impl Iterator<Item = Tool> {
    TOOLS.iter().chain(MORE).chain(worlds::TOOLS).copied()
}

/// Pseudo-random choices, so that calls cost less than what judges them.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most.max(1)
    }

    pub(super) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(self.below(from.len())).copied().unwrap_or_default()
    }
}

fn text(kind: &str, random: &mut Random) -> String {
    match kind {
        "path" => {
            let begin = [
                "/",
                "/srv",
                "/srv/app",
                "/srv/app/in",
                "/etc",
                "/etc/shadow",
                "/home/u",
                "/home/u/.ssh",
                "/srv/applications",
                "~",
                "~/.ssh",
                ".",
                "app",
                "/SRV/App",
                "/ETC/SHADOW",
                "/opt",
            ];
            let end = [
                "",
                "",
                "/a",
                "/.env",
                "/key",
                "/in/x",
                "/../x",
                "/.env/b",
                "/a/b/.env",
                "/",
            ];
            if random.below(40) == 0 {
                return random
                    .pick(&["", "~bob/x", "/proc/self/cwd", "file:///x", "-x", "[1]"])
                    .to_owned();
            }
            format!("{}{}", random.pick(&begin), random.pick(&end))
        }
        "url" => {
            let scheme = ["https://", "https://", "http://", "HTTPS://u:p@", "ftp://"];
            let host = [
                "good.test",
                "evil.test",
                "api.good.test",
                "x.api.good.test",
                "GITHUB.com",
                "a.example",
                "example",
                "127.0.0.1",
                "192.0.2.7",
                "192.0.2.9",
                "[::1]",
                "[2001:DB8:0::1]",
                "[2001:db8::2]",
                "[::ffff:127.0.0.1]",
                "[::ffff:192.0.2.9]",
                "localhost",
                "other.org",
                "good.test.",
            ];
            let end = ["", "/", "/x?q=/", ":8080/"];
            if random.below(30) == 0 {
                return random
                    .pick(&["", "not a url", "file:///x", "http://a b", "mailto:x"])
                    .to_owned();
            }
            format!(
                "{}{}{}",
                random.pick(&scheme),
                random.pick(&host),
                random.pick(&end)
            )
        }
        "remote" => {
            let begin = ["https://", "ssh://git@", "git://", "ftp://"];
            let host = [
                "github.com",
                "good.test",
                "api.good.test",
                "evil.test",
                "127.0.0.1",
                "[::1]",
                "[::ffff:192.0.2.9]",
                "other.org",
            ];
            let end = ["/acme/w.git", "/acme/w", "/acme/other", "/Acme/W", "/x/y/z", ""];
            match random.below(12) {
                0 => "origin".to_owned(),
                1 => format!("git@{}:acme/w", random.pick(&host)),
                2 => random
                    .pick(&["", "/srv/app", "ext::sh", "x@y@good.test:a/b"])
                    .to_owned(),
                _ => format!(
                    "{}{}{}",
                    random.pick(&begin),
                    random.pick(&host),
                    random.pick(&end)
                ),
            }
        }
        "address" => worlds::address(random),
        "bare" => match random.below(4) {
            0 => text("path", random),
            _ => random
                .pick(&["app", "in", "x", "acme", "~", ".env", "some-file", ".."])
                .to_owned(),
        },
        "host" => {
            let begin = ["", "", "", "https://", "http://u@", "ftp://"];
            let host = [
                "good.test",
                "api.good.test",
                "x.api.good.test",
                "EVIL.test",
                "github.com",
                "127.0.0.1",
                "other.org",
            ];
            let end = ["", "", "/", "/acme/w", "/acme/x"];
            format!(
                "{}{}{}",
                random.pick(&begin),
                random.pick(&host),
                random.pick(&end)
            )
        }
        "branch" => random
            .pick(&[
                "main",
                "heads/main",
                "heads/x",
                "dev",
                "x",
                "refs/heads/main",
                "+main",
                "a:dev",
                "HEAD",
                "@",
                "",
                "tags/x",
                "MAIN",
                "acme",
                "-x",
            ])
            .to_owned(),
        "email" => random
            .pick(&[
                "eve@evil.test",
                "EVE@evil.test",
                "Eve <eve@evil.test>",
                "bob@good.test",
                "x@y.test",
                "main",
                "",
                "mailto:bob@good.test",
                "<bob@good.test>, <eve@evil.test>",
            ])
            .to_owned(),
        _ => random
            .pick(&[
                "acme",
                "ACME",
                "w",
                "main",
                "dev",
                "other",
                "reader",
                "good.test",
                "x.good.test",
                "",
                "/etc/shadow",
            ])
            .to_owned(),
    }
}

/// The value of an argument; `None`: absent.
fn argument(kind: &str, random: &mut Random) -> Option<Value> {
    if kind == "mode" {
        return match random.below(12) {
            0..=3 => None,
            4 => Some(json!("list")),
            5 => Some(json!("dry")),
            6 => Some(json!(1)),
            7 => Some(json!(true)),
            8 => Some(json!("1")),
            9 => Some(Value::Null),
            10 => Some(json!("")),
            _ => Some(json!("else")),
        };
    }
    if kind == "edits" {
        let path = argument("path", random);
        return path.map(|path| json!([{"path": path}]));
    }
    if kind == "alias" && random.below(4) > 0 {
        return None;
    }
    let kind = if kind == "alias" { "path" } else { kind };
    match random.below(24) {
        0..=2 => None,
        3 => Some(select_odd(random)),
        4..=8 => {
            let count = random.below(3) + 1;
            Some((0..count).map(|_| text(kind, random)).collect())
        }
        _ => Some(Value::from(text(kind, random))),
    }
}

fn select_odd(random: &mut Random) -> Value {
    match random.below(6) {
        4 => json!([]),
        5 => json!(true),
        0 => Value::Null,
        1 => json!(1),
        2 => json!({"path": "/etc"}),
        _ => json!([["/etc"]]),
    }
}

/// The arguments of a call of one of [`all_tools`].
pub(super) fn arguments(tool: usize, random: &mut Random) -> Value {
    let mut members = Map::new();
    let found = all_tools().nth(tool);
    for (name, kind) in found.map(|(_, _, arguments)| arguments).unwrap_or_default() {
        if let Some(value) = argument(kind, random) {
            members.insert((*name).to_owned(), value);
        }
    }
    if random.below(20) == 0 {
        members.insert("unheard-of".to_owned(), Value::from(text("path", random)));
    }
    Value::Object(members)
}

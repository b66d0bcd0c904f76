//! Generates configuration files, with syntax and white space that git accepts or refuses.

use super::random::Random;

/// Names of remotes. The last ones are not in any configuration.
pub(crate) const REMOTES: &[&str] = &[
    "origin",
    "up",
    "Up",
    "a b",
    "x/y",
    "dots.in.it",
    "voilà",
    "w",
    "all",
    "nick",
    "/abs",
    "nothing",
];

const URLS: &[&str] = &[
    "https://github.com/acme/app.git",
    "gh:acme/app",
    "gh:x",
    "git@forge.example:me/app.git",
    "/srv/git/a b.git",
    "../relative",
    "w",
    "https://voilà.example/é",
    "ssh://git@h.example/p",
    "nick",
    "http://h.example/#a;b",
    "x:y/z",
];

const PREFIXES: &[&str] = &[
    "gh:",
    "gh:a",
    "https://",
    "https://github.com/",
    "w",
    "nick",
    "x:",
    "x:y",
    "/srv/",
    "",
    "git@",
];

const BASES: &[&str] = &[
    "https://one.example/",
    "https://two.example/",
    "/three/",
    "gh:",
    "git@four.example:",
    "é:",
    "",
];

const BRANCHES: &[&str] = &["main", "feature/x", "Main", "voilà", "l3", "a\\b"];

const CONDITIONS: &[&str] = &[
    "gitdir:WORK/",
    "gitdir:WORK/.git",
    "gitdir:WORK",
    "gitdir:~/../work/",
    "gitdir:work/",
    "gitdir/i:PLACE/WORK/",
    "gitdir:./",
    "gitdir:../",
    "gitdir:./.git",
    "gitdir:**/work/**",
    "gitdir:PLACE/*/.git",
    "gitdir:PLACE/**/.git",
    "gitdir:PLACE/wor[k]/",
    "gitdir:~/",
    "gitdir:WORK/.git/",
    "gitdir:PLACE/real/",
    "gitdir:real.git",
    "gitdir:bare/",
    "gitdir:PLACE/bare/",
    "gitdir:PLACE/bare",
    "gitdir:**/worktrees/*",
    "gitdir:PLACE/link/",
    "gitdir/i:WoRK/",
    "gitdir:",
    "gitdir:*",
    "gitdir:/",
    "gitdir:PLACE/**",
    "gitdir/i:PLACE/w[A-Z]rk/**",
    "gitdir:work/.gi?",
    "onbranch:main",
    "onbranch:feature/",
    "onbranch:feature/*",
    "onbranch:*",
    "onbranch:**",
    "onbranch:m[a-z]in",
    "onbranch:voil\u{e0}",
    "onbranch:voil?",
    "onbranch:voil??",
    "onbranch:[[:upper:]]ain",
    "onbranch:l?",
    "hasconfig:remote.*.url:https://**",
    "hasconfig:remote.*.url:*",
    "hasconfig:remote.*.url:gh:*",
    "hasconfig:remote.*.url:https://github.com/*/*",
    "hasconfig:remote.*.url:w",
];

const INCLUDES: &[&str] = &[
    "one",
    "two",
    "three",
    "PLACE/one",
    "~/one",
    "~/two",
    "../one",
    "../../two",
    "PLACE/linked/three",
    "missing",
    "~/three",
    "./two",
    "PLACE//one",
    "two/",
    "é",
];

/// A configuration file. `has_empty_urls` is `true` if it may have an empty URL.
pub(crate) struct Config {
    pub(crate) bytes: Vec<u8>,
    pub(crate) has_empty_urls: bool,
}

/// Sections of a configuration file. `PLACE` and `WORK` stand for directories.
pub(crate) fn sections(random: &mut Random, count: usize, is_odd: bool) -> Config {
    let mut config = Config {
        bytes: Vec::new(),
        has_empty_urls: false,
    };
    if is_odd && random.is(5) {
        config.bytes.extend_from_slice(random.of(&[
            &b"\xef\xbb\xbf"[..],
            b"\xef\xbb",
            b"\xef\xbb\xbf\xef\xbb\xbf",
        ]));
    }
    for _ in 0..count {
        section(random, &mut config, is_odd);
    }
    if is_odd && random.is(6) {
        break_somewhere(random, &mut config.bytes);
        config.has_empty_urls = true;
    }
    config
}

fn section(random: &mut Random, config: &mut Config, is_odd: bool) {
    match random.below(100) {
        0..38 => {
            header(random, config, "remote", random_remote, is_odd);
            for _ in 0..=random.below(2) {
                key(random, config, "url", URLS, is_odd);
            }
            if random.is(25) {
                key(random, config, "pushurl", URLS, is_odd);
            }
            if random.is(2) {
                key(random, config, "vcs", &["hg", "", "https"], is_odd);
            }
            if random.is(20) {
                key(
                    random,
                    config,
                    "fetch",
                    &["+refs/heads/*:refs/remotes/o/*"],
                    false,
                );
            }
        }
        38..55 => {
            header(random, config, "url", |random| random.of(BASES), is_odd);
            for _ in 0..=random.below(3) {
                let name = random.of(&["insteadOf", "insteadOf", "pushInsteadOf"]);
                key(random, config, name, PREFIXES, is_odd);
            }
        }
        55..67 => {
            header(random, config, "branch", |random| random.of(BRANCHES), is_odd);
            key(random, config, "remote", REMOTES, is_odd);
            if random.is(40) {
                key(random, config, "pushRemote", REMOTES, is_odd);
            }
        }
        67..71 => {
            line(config, b"[remote]\n");
            key(random, config, "pushDefault", REMOTES, is_odd);
        }
        71..79 => {
            line(config, b"[include]\n");
            if is_odd && random.is(3) {
                key(
                    random,
                    config,
                    "path",
                    &["", "../", "~nobody/one", "%(prefix)/one"],
                    false,
                );
            }
            key(random, config, "path", INCLUDES, is_odd);
        }
        79..93 => {
            header(random, config, "includeIf", |random| random.of(CONDITIONS), false);
            key(random, config, "path", INCLUDES, false);
            if is_odd && random.is(3) {
                line(config, b"[includeIf \"moon:full\"]\npath = one\n");
            }
        }
        93..95 => {
            line(config, b"[remotes]\n");
            key(random, config, "all", &["origin up", "w\tnick", ""], is_odd);
        }
        95 => {
            line(config, b"[fetch]\n");
            key(random, config, "all", &["true", "0", "no", "perhaps"], is_odd);
        }
        96 => line(
            config,
            random.of(&[
                &b"[core]\nbare = false\n"[..],
                b"[core]\nbare\n",
                b"[core]\nworktree = ..\n",
                b"[core]\nworktree = none\n",
            ]),
        ),
        97 => line(
            config,
            random.of(&[
                &b"[extensions]\nworktreeConfig = true\n"[..],
                b"[extensions]\nworktreeConfig\n",
                b"[extensions]\nobjectFormat = sha1\n",
                b"[extensions]\nnoop\n",
                b"[extensions]\nunheard = of\n",
                b"[core]\nrepositoryFormatVersion = 1\n",
            ]),
        ),
        98 => line(
            config,
            random.of(&[
                &b"[user]\nname = \"a\\tb\" # c\n"[..],
                b"[alias]\nx = !y\n",
                b"[diff \"x\"]\nz\n",
            ]),
        ),
        _ => line(
            config,
            random.of(&[
                &b"# a comment\\\n"[..],
                b"; another [remote \"x\"]\n",
                b"\n\n\r\n",
                b" \t\n",
            ]),
        ),
    }
}

fn random_remote(random: &mut Random) -> &'static str {
    REMOTES[random.below(REMOTES.len() - 1)]
}

fn header(
    random: &mut Random,
    config: &mut Config,
    section: &str,
    name: impl Fn(&mut Random) -> &'static str,
    is_odd: bool,
) {
    let name = name(random);
    let section = if random.is(10) {
        section.to_uppercase()
    } else {
        section.to_owned()
    };
    let quoted = name.replace('\\', "\\\\");
    let text = if is_odd && random.is(6) {
        match random.below(6) {
            0 => format!("[{section}.{name}]"),
            1 => format!("[{section}\t \"{quoted}\"]"),
            2 => format!("[{section} \"{quoted}\" ]"),
            3 => format!("[{section}\"{quoted}\"]"),
            4 => format!("[{section} \"\\{quoted}\"]"),
            _ => format!("[{section} \"{quoted}\"] # c"),
        }
    } else {
        format!("[{section} \"{quoted}\"]")
    };
    line(config, text.as_bytes());
    line(config, random.of(&[&b"\n"[..], b"\n", b"\n", b"\r\n", b" "]));
}

fn key(random: &mut Random, config: &mut Config, key: &str, values: &[&str], is_odd: bool) {
    let value = random.of(values);
    let is_url = key.ends_with("rl");
    let key = if random.is(10) {
        key.to_uppercase()
    } else {
        key.to_owned()
    };
    line(config, random.of(&[&b"\t"[..], b"", b"  "]));
    line(config, key.as_bytes());
    if is_odd && random.is(2) {
        line(config, b"\n");
        return;
    }
    let value = if is_odd && random.is(2) { "" } else { value };
    config.has_empty_urls |= is_url && value.is_empty();
    line(config, random.of(&[&b" = "[..], b"=", b" =", b"=\t"]));
    if is_odd && random.is(25) {
        config.has_empty_urls |= is_url;
        odd_value(random, config, value);
    } else if value.contains(['#', ';', '\\', '"']) || value.starts_with(' ') {
        line(
            config,
            format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")).as_bytes(),
        );
    } else {
        line(config, value.as_bytes());
    }
    line(
        config,
        random.of(&[&b"\n"[..], b"\n", b"\n", b"\r\n", b" \n", b" # c\n"]),
    );
}

/// Writes the value in unusual syntax, or unusual syntax instead of it.
fn odd_value(random: &mut Random, config: &mut Config, value: &str) {
    const ODD: &[&[u8]] = &[
        b" ",
        b"\t",
        b"\x0b",
        b"\x0c",
        b"\xa0",
        b"\xc2\xa0",
        b"\r",
        b"\"",
        b"\"\"",
        b"\\",
        b"\\\n",
        b"\\\r\n",
        b"\\t",
        b"\\n",
        b"\\b",
        b"\\\\",
        b"\\\"",
        b"\\x",
        b"#",
        b";",
        b"\xff",
        b"\0",
        b"  ",
        b"\" \"",
        b" \\\n ",
        b"\xe2\x80\xa8",
        b"=",
    ];
    let (start, end) = value.split_at(
        value
            .char_indices()
            .map(|(at, _)| at)
            .nth(value.chars().count() / 2)
            .unwrap_or(0),
    );
    let odd = random.of(ODD);
    match random.below(4) {
        0 => line(config, &[odd, value.as_bytes()].concat()),
        1 => line(config, &[value.as_bytes(), odd].concat()),
        2 => line(config, &[start.as_bytes(), odd, end.as_bytes()].concat()),
        _ => line(
            config,
            &[&b"\""[..], start.as_bytes(), odd, end.as_bytes(), b"\""].concat(),
        ),
    }
}

/// Inserts, removes or replaces one byte.
fn break_somewhere(random: &mut Random, bytes: &mut Vec<u8>) {
    const BYTES: &[u8] = b"[]\"\\\n\r \t=#;.-a\x0b\x0c\xff";
    let at = random.below(bytes.len() + 1);
    let byte = BYTES[random.below(BYTES.len())];
    match random.below(3) {
        0 => bytes.insert(at, byte),
        1 if at < bytes.len() => bytes[at] = byte,
        _ if at < bytes.len() => drop(bytes.remove(at)),
        _ => bytes.truncate(at / 2),
    }
}

fn line(config: &mut Config, text: &[u8]) {
    config.bytes.extend_from_slice(text);
}

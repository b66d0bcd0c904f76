//! Patterns of names that say which files of a directory a tool reads, held against the protected paths.
//!
//! A pattern that ranges over a directory, such as `src/**` or `*.ts`, is judged as that directory is. One that names a protected path is
//! refused as that path would be: a name in it may be the last one of the path, and does not begin with `*`, or begins with it and
//! stands for nothing else (`*.env` for `.env`, `*.pem` for `*.pem`).

use super::arguments::alternatives;

/// How many pairs of characters are compared for one pattern. Whoever needs more is refused.
const MOST_STEPS: usize = 2_000_000;

/// A protected path.
pub(super) struct Protected {
    /// As it is written in the documents.
    pub(super) text: String,
    /// A file of the agent's settings in a folder of theirs: many other files have its name, so the pattern has to name the folder too.
    pub(super) is_of_settings: bool,
}

impl Protected {
    pub(super) fn of_settings(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_of_settings: true,
        }
    }
}

/// One character of a name, or several.
#[derive(Clone, Copy, PartialEq, Eq)]
enum One {
    Char(char),
    /// Any character.
    Any,
    /// Any text.
    Many,
}

/// A part of a pattern, between two slashes.
enum Part {
    /// `**`.
    Names,
    Name {
        text: Vec<One>,
        /// It begins with `*`, and so with any name.
        is_open: bool,
    },
}

/// The protected path that a pattern names, if it names one.
///
/// # Errors
/// The pattern stands for too much to be looked at.
pub(super) fn named<'p>(
    pattern: &str,
    directories: &[String],
    protected: &'p [Protected],
    home: &str,
) -> Result<Option<&'p str>, &'static str> {
    const TOO_MUCH: &str = "is a pattern that stands for too much, expected a shorter one";
    let texts = alternatives(pattern).ok_or(TOO_MUCH)?;
    let mut steps = MOST_STEPS;
    let is_separator = |one: char| one == ',' || one.is_whitespace();
    for one in texts.iter().flat_map(|text| text.split(is_separator)) {
        // What is left out is read less.
        if one.is_empty() || one.starts_with('!') {
            continue;
        }
        for directory in directories {
            let parts = glob(one, directory);
            for entry in protected {
                let path = entry.text.strip_prefix('~').map(|rest| format!("{home}{rest}"));
                let path = path_parts(path.as_deref().unwrap_or(&entry.text));
                let is_named = reaches(&parts, &path, entry.is_of_settings, &mut steps);
                if is_named.ok_or(TOO_MUCH)? {
                    return Ok(Some(&entry.text));
                }
            }
        }
    }
    Ok(None)
}

/// The parts of a pattern as tools read it, below a directory.
fn glob(pattern: &str, directory: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    if !pattern.starts_with('/') {
        parts.extend(path_parts(directory));
        // Some tools look for it at any depth.
        parts.push(Part::Names);
    }
    let names = pattern.split('/').filter(|name| !matches!(*name, "" | "."));
    parts.extend(names.map(|name| match name {
        "**" | ".." => Part::Names,
        name => glob_name(name),
    }));
    parts
}

fn glob_name(name: &str) -> Part {
    let (mut text, mut is_open) = (Vec::new(), name.starts_with('*'));
    let mut rest = name.chars().peekable();
    while let Some(one) = rest.next() {
        if rest.peek() == Some(&'(') && "@?+*!".contains(one) {
            // A group of alternatives may be any text, and one that is named.
            is_open &= !text.is_empty();
            rest.by_ref().find(|one| *one == ')');
            text.push(One::Many);
            continue;
        }
        text.push(match one {
            '*' => One::Many,
            '?' => One::Any,
            '[' => {
                rest.by_ref().skip(1).find(|one| *one == ']');
                One::Any
            }
            '\\' => One::Char(folded(rest.next().unwrap_or('\\'))),
            one => One::Char(folded(one)),
        });
    }
    Part::Name { text, is_open }
}

/// The parts of a protected path, in which only `*` has a meaning, but for those at the end that say nothing.
fn path_parts(path: &str) -> Vec<Part> {
    let names = path.split('/').filter(|name| !name.is_empty());
    let mut parts: Vec<Part> = names
        .map(|name| match name {
            "**" => Part::Names,
            name => Part::Name {
                text: name
                    .chars()
                    .map(|one| {
                        if one == '*' {
                            One::Many
                        } else {
                            One::Char(folded(one))
                        }
                    })
                    .collect(),
                is_open: name.starts_with('*'),
            },
        })
        .collect();
    let says_nothing = |part: &Part| match part {
        Part::Names => true,
        Part::Name { text, .. } => text.iter().all(|one| *one == One::Many),
    };
    while parts.last().is_some_and(says_nothing) {
        parts.pop();
    }
    parts
}

/// Names may be compared without regard to case.
fn folded(one: char) -> char {
    one.to_lowercase().next().unwrap_or(one)
}

/// Returns `true` if a name of the pattern may be the last one of the path, and names it; `None` if that takes too many steps.
fn reaches(pattern: &[Part], path: &[Part], is_whole: bool, steps: &mut usize) -> Option<bool> {
    let Some(last) = path.len().checked_sub(1) else {
        return Some(false);
    };
    // Which parts of the path the parts of the pattern so far may have led to.
    let mut open = vec![false; path.len()];
    if let Some(first) = open.first_mut() {
        *first = true;
    }
    for part in pattern {
        // `**` in the path may stand for nothing.
        for (at, own) in path.iter().enumerate() {
            if matches!(own, Part::Names) && open.get(at) == Some(&true) {
                *open.get_mut(at + 1)? = true;
            }
        }
        let mut next = vec![false; path.len()];
        let mut is_absorbed = false;
        for (at, own) in path.iter().enumerate() {
            let is_here = open.get(at).copied().unwrap_or_default();
            match (part, own) {
                (Part::Names, own) => {
                    let may_absorb = !is_whole || matches!(own, Part::Names);
                    let is_reached = is_here || is_absorbed;
                    *next.get_mut(at)? |= is_reached;
                    is_absorbed = is_reached && may_absorb;
                }
                (Part::Name { .. }, Part::Names) => *next.get_mut(at)? |= is_here,
                (Part::Name { text, is_open }, Part::Name { text: own, .. }) => {
                    if !is_here || !may_be_same(text, own, steps)? {
                        continue;
                    }
                    if at < last {
                        *next.get_mut(at + 1)? = true;
                    } else if !is_open || stands_for(text, own) {
                        return Some(true);
                    }
                }
            }
        }
        open = next;
    }
    Some(false)
}

/// Returns `true` if a pattern that begins with `*` stands for this name and hardly anything else: nothing is left of it but the name
/// without its stars, or every text that it matches is one that the name, itself a pattern, matches.
fn stands_for(text: &[One], own: &[One]) -> bool {
    let fixed = |text: &[One]| {
        text.iter()
            .copied()
            .filter(|one| *one != One::Many)
            .collect::<Vec<_>>()
    };
    match own.split_first() {
        Some((One::Many, rest)) if !rest.contains(&One::Many) => text.ends_with(rest),
        _ => text == own || (!own.contains(&One::Many) && fixed(text) == own),
    }
}

/// Returns `true` if both may be the same text; `None` if there are no steps left.
fn may_be_same(one: &[One], other: &[One], steps: &mut usize) -> Option<bool> {
    *steps = steps.checked_sub((one.len() + 1) * (other.len() + 1))?;
    // Which beginnings of the other may be the same as the beginning so far.
    let mut row = vec![true];
    row.extend(other.iter().scan(true, |all, one| {
        *all &= *one == One::Many;
        Some(*all)
    }));
    for one in one {
        let mut next = Vec::with_capacity(row.len());
        next.push(*one == One::Many && row.first().copied()?);
        for (at, other) in other.iter().enumerate() {
            let (above, beside) = (row.get(at + 1).copied()?, next.get(at).copied()?);
            let both = row.get(at).copied()?;
            next.push(match (one, other) {
                (One::Many, _) | (_, One::Many) => above || beside || both,
                (One::Any, _) | (_, One::Any) => both,
                (one, other) => both && one == other,
            });
        }
        row = next;
    }
    row.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(texts: &[&str]) -> Vec<Protected> {
        let entry = |text: &&str| Protected {
            text: (*text).to_owned(),
            is_of_settings: text.contains(".claude"),
        };
        texts.iter().map(entry).collect()
    }

    const ENTRIES: [&str; 7] = [
        "~/.ssh",
        "**/.env",
        "**/*.pem",
        "/p/callgate.json",
        "**/.aws/credentials",
        "**/secrets/**",
        "**/.claude/settings.json",
    ];

    fn found(pattern: &str, directory: &str) -> Result<bool, &'static str> {
        let entries = protected(&ENTRIES);
        named(pattern, &[directory.to_owned()], &entries, "/home/u").map(|found| found.is_some())
    }

    #[test]
    fn a_pattern_that_names_a_protected_path_is_found() {
        for pattern in [
            ".env",
            ".env*",
            "**/.env",
            ".{env,x}",
            "{a,.env}",
            ".e*",
            ".e?v",
            ".[e]nv",
            "[.]env",
            "?env",
            "\\.env",
            "*.env",
            "**/*.env*",
            "src/**/.env",
            "./.env",
            "*.ts,.env",
            "*.ts .env",
            "@(.env|x)",
            ".@(env)",
            ".ENV",
            "*.pem",
            "a*.pem",
            "**/key.pem",
            "callgate.*",
            "/p/callgate.json",
            "credentials",
            "**/.aws/cred*",
            "secrets/*",
            "**/secrets/**",
            ".claude/settings.json",
            "**/.claude/*/../settings.json",
        ] {
            assert_eq!(found(pattern, "/p"), Ok(true), "{pattern}");
        }
        assert_eq!(found(".ssh/*", "/home/u"), Ok(true));
        assert_eq!(found("/home/u/.ssh/id*", "/p"), Ok(true));
    }

    #[test]
    fn a_pattern_that_ranges_over_a_directory_is_not() {
        for pattern in [
            "**/*.ts",
            "*.{ts,tsx}",
            "src/**",
            "**",
            "*",
            "**/*",
            "*.json",
            "*.js *.ts",
            "!.env",
            "!**/.env*",
            ".env.example",
            ".envrc",
            "env",
            "environment.ts",
            "*.env.example",
            ".github/**",
            "*.p?m2",
            "settings.json",
            "**/settings.json",
            ".claude/**",
            "**/.aws/**",
            "src/callgate.json",
            ".ssh/*",
        ] {
            assert_eq!(found(pattern, "/p"), Ok(false), "{pattern}");
        }
        // It is another directory's file.
        assert_eq!(found("callgate.json", "/p/src"), Ok(false));
    }

    #[test]
    fn what_stands_for_too_much_is_refused() {
        let long = "*a".repeat(8_000);
        for pattern in ["{a,b}".repeat(9), format!("{long}/{long}"), "a".repeat(20_000)] {
            assert!(found(&pattern, "/p").is_err(), "{}", pattern.len());
        }
    }
}

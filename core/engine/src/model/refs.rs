//! The meaning of a text under the role `branch-name` to git: a branch, in one of several spellings, or something that
//! cannot be told (SPEC §4).

/// The ref that git may take a text for.
///
/// The name of a branch is the end of the text, from this byte on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ref {
    /// The branch of this name.
    Branch(usize),
    /// One of two branches: `heads/x` may be short for `refs/heads/x` or for `refs/heads/heads/x`.
    Either(usize, usize),
    /// The branch that is checked out: `HEAD`, or nothing at all.
    Current,
    /// Something that only git can tell: a tag, a pattern, a revision expression, an invalid name.
    Unknown,
}

impl Ref {
    /// Reads a branch, a revision or a refspec, of which the destination counts.
    pub fn read(text: &str) -> Self {
        let branch = |name: &str| text.len() - name.len();
        let (name, is_written_to) = match text.strip_prefix('+').unwrap_or(text).split_once(':') {
            Some((_, destination)) => (destination, true),
            None => (text.strip_prefix('+').unwrap_or(text), false),
        };
        if text.is_empty() || (name == "HEAD" && !is_written_to) {
            return Self::Current;
        }
        if !is_ref_name(name) || is_pseudo_ref(name) {
            return Self::Unknown;
        }
        if let Some(below) = name.strip_prefix("refs/") {
            let below = below.strip_prefix("heads/");
            return below.map_or(Self::Unknown, |name| Self::Branch(branch(name)));
        }
        match name.split_once('/') {
            Some(("heads", below)) => Self::Either(branch(below), branch(name)),
            Some(("tags" | "remotes", _)) => Self::Unknown,
            Some(_) | None => Self::Branch(branch(name)),
        }
    }
}

/// The branches that the entry of a list may name: each of its spellings is a name of its own as well.
pub fn named_by(entry: &str) -> impl Iterator<Item = &str> {
    let short = entry.strip_prefix("heads/");
    let full = entry.strip_prefix("refs/heads/");
    [Some(entry), short, full].into_iter().flatten()
}

/// The branch that an entry of a list names where it grants.
pub fn granted_by(entry: &str) -> &str {
    entry.strip_prefix("refs/heads/").unwrap_or(entry)
}

/// Returns `true` if git accepts the name as it is (`git-check-ref-format(1)`). One pass over a name in ASCII.
fn is_ref_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends_locked = |end: usize| bytes.get(..end).is_some_and(|before| before.ends_with(b".lock"));
    // A component begins after a slash.
    let mut before = b'/';
    for (at, byte) in bytes.iter().copied().enumerate() {
        let is_refused = match byte {
            b'~' | b'^' | b':' | b'?' | b'*' | b'[' | b'\\' | b' ' => true,
            b'/' => before == b'/' || ends_locked(at),
            b'.' => matches!(before, b'/' | b'.'),
            b'{' => before == b'@',
            _ => byte.is_ascii_control(),
        };
        if is_refused {
            return false;
        }
        before = byte;
    }
    let is_foreign = |one: char| one.is_control() || one.is_whitespace();
    !matches!(before, b'/' | b'.')
        && !ends_locked(bytes.len())
        && name != "@"
        && !name.starts_with('-')
        && (name.is_ascii() || !name.contains(is_foreign))
}

/// `HEAD` in any case, since a file system may ignore it, and the likes of `FETCH_HEAD`.
fn is_pseudo_ref(name: &str) -> bool {
    let ends_with = |end: &[u8]| {
        let bytes = name.as_bytes();
        let start = bytes.len().checked_sub(end.len());
        let last = start.and_then(|start| bytes.get(start..));
        last.is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    name.eq_ignore_ascii_case("HEAD") || ends_with(b"_HEAD")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::config;

    /// The rules of `git-check-ref-format(1)`, one after the other.
    fn is_ref_name_by_the_rules(name: &str) -> bool {
        let is_foreign = |c: char| {
            let is_special = matches!(c, '~' | '^' | ':' | '?' | '*' | '[' | '\\');
            is_special || c.is_control() || c.is_whitespace()
        };
        let is_component = |component: &str| {
            !component.is_empty() && !component.starts_with('.') && !component.ends_with(".lock")
        };
        name != "@"
            && !name.starts_with('-')
            && !name.ends_with('.')
            && !name.contains("..")
            && !name.contains("@{")
            && !name.contains(is_foreign)
            && name.split('/').all(is_component)
    }

    proptest! {
        #![proptest_config(config(20_000))]

        #[test]
        fn one_pass_finds_what_the_rules_refuse(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "a", "main", "/", ".", "..", "-", "@", "{", "}", ".lock", "lock", "~", "^", ":", "?", "*", "[", "\\",
                    " ", "\t", "\u{b}", "\u{7f}", "\u{85}", "\u{a0}", "\u{2003}", "é",
                ]),
                0..6,
            ),
        ) {
            let name = pieces.concat();
            prop_assert_eq!(is_ref_name(&name), is_ref_name_by_the_rules(&name), "{:?}", name);
        }
    }

    /// The names of the branches that a text may be.
    fn branches(text: &str) -> Vec<&str> {
        let name = |at: usize| text.get(at..).unwrap();
        match Ref::read(text) {
            Ref::Branch(at) => vec![name(at)],
            Ref::Either(one, other) => vec![name(one), name(other)],
            Ref::Current | Ref::Unknown => Vec::new(),
        }
    }

    #[test]
    fn a_branch_has_many_spellings() {
        for text in [
            "main",
            "+main",
            "refs/heads/main",
            "+refs/heads/main",
            "HEAD:main",
            "feature:main",
            ":main",
            "+:main",
            "a:refs/heads/main",
        ] {
            assert_eq!(branches(text), ["main"], "{text}");
        }
        for text in ["heads/main", "HEAD:heads/main", "+heads/main"] {
            assert_eq!(branches(text), ["main", "heads/main"], "{text}");
        }
        for text in ["feature/main", "origin/main", "v1.0", "a@b", "main.lock.x", "é"] {
            assert_eq!(branches(text), [text], "{text}");
        }
        for text in ["", "HEAD", "+HEAD"] {
            assert_eq!(Ref::read(text), Ref::Current, "{text}");
        }
    }

    #[test]
    fn an_entry_names_a_branch_in_every_spelling() {
        let named = |entry| named_by(entry).collect::<Vec<_>>();
        assert_eq!(named("main"), ["main"]);
        assert_eq!(named("heads/main"), ["heads/main", "main"]);
        assert_eq!(named("refs/heads/main"), ["refs/heads/main", "main"]);
    }

    #[test]
    fn what_only_git_can_tell_is_unknown() {
        for text in [
            "@",
            "+",
            ":",
            "+:",
            "main:",
            "HEAD:",
            "main:HEAD",
            "head",
            "FETCH_HEAD",
            "orig_head",
            "tags/v1",
            "refs/tags/v1",
            "refs/heads/",
            "refs/heads/*",
            "refs/remotes/origin/main",
            "remotes/origin/main",
            "refs/for/main",
            "main~1",
            "main^",
            "main@{1}",
            "@{u}",
            "a..b",
            "^main",
            "ma*n",
            "m?in",
            "[m]ain",
            "ma\\in",
            " main",
            "main ",
            "a b",
            "main\n",
            "/main",
            "main/",
            "refs//heads/main",
            "refs/heads//main",
            ".main",
            "main.",
            "main.lock",
            "-",
            "a:b:main",
        ] {
            assert_eq!(Ref::read(text), Ref::Unknown, "{text:?}");
        }
    }
}

//! Texts that look like paths and bear no path role.

use std::borrow::Cow;

use memchr::memchr2_iter;
use serde_json::value::RawValue;

use super::value::{Unreadable, Value, each_item};
use crate::model::PointerTree;
use crate::net;
use crate::program::Program;
use crate::role::RoleSet;

/// A string that looks like a path.
pub struct PathLike<'c> {
    /// The member of the arguments that holds it.
    pub argument: usize,
    /// The string, or what it holds beside its lone surrogates; of a `file:` URI one of the paths that are read from it.
    pub text: Cow<'c, str>,
    /// `true` if it is well-formed Unicode.
    pub is_well_formed: bool,
}

/// Which texts are looked at, by the roles that they have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Those that any program may take for a path: nobody says what they mean, or they name a resource.
    Any,
    /// Those that begin as a path does: the annotation says that they name no resource.
    Begun,
    /// None: they are data.
    Nothing,
}

impl Look {
    fn of(program: &Program, roles: RoleSet) -> Self {
        let names_resource = roles.intersects(program.resource_roles);
        if !program.defaults.looks_by_role || roles.is_empty() || names_resource {
            Self::Any
        } else if roles.intersects(RoleSet::DATA) {
            Self::Nothing
        } else {
            Self::Begun
        }
    }

    /// Returns `true` if the text is looked at.
    fn takes(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Begun => begins_as_path(text),
            Self::Nothing => false,
        }
    }
}

/// The pointers that lead to a value, and the roles of those that end around it.
struct Way<'w> {
    nodes: &'w [&'w PointerTree],
    roles: RoleSet,
    depth: usize,
}

/// Strings that look like a path, in arrays of any depth too: the heuristic of SPEC §8.3.2. Objects are not looked into,
/// and cannot hide them. `role` has the roles of the pointers, by their numbers, and `roles` are those of the whole argument.
///
/// # Errors
/// Arrays are nested too deep.
pub(super) fn collect<'c>(
    program: &Program,
    (argument, pointers, roles): (usize, Option<&PointerTree>, RoleSet),
    value: &'c Value<'c>,
    role: &dyn Fn(usize) -> RoleSet,
    found: &mut Vec<PathLike<'c>>,
) -> Result<(), Unreadable> {
    if !program.heuristic_paths || program.protected.is_empty() {
        return Ok(());
    }
    match value {
        Value::Text(text) if !may_look_like_path(text) => Ok(()),
        _ => {
            let way = Way {
                nodes: pointers.as_slice(),
                roles,
                depth: 0,
            };
            let mut search = Search {
                program,
                argument,
                role,
                found,
            };
            search.visit(value, &way)
        }
    }
}

struct Search<'s, 'c> {
    program: &'s Program,
    argument: usize,
    role: &'s dyn Fn(usize) -> RoleSet,
    found: &'s mut Vec<PathLike<'c>>,
}

impl<'c> Search<'_, 'c> {
    fn visit(&mut self, value: &'c Value<'c>, way: &Way<'_>) -> Result<(), Unreadable> {
        match value {
            Value::Raw(raw) => self.visit_raw(raw, way),
            Value::Array(items) => {
                let Some(roles) = self.enter(way)? else {
                    return Ok(());
                };
                let mut items = items.iter().enumerate();
                items.try_for_each(|(at, item)| self.visit(item, &way.item(at, roles, &mut Vec::new())))
            }
            one => {
                self.push(self.look(way), string(one));
                Ok(())
            }
        }
    }

    /// The same of JSON text. The call's text was read as JSON before, so each item is found.
    fn visit_raw(&mut self, raw: &'c RawValue, way: &Way<'_>) -> Result<(), Unreadable> {
        if !raw.get().starts_with('[') {
            self.push(self.look(way), raw_string(raw));
            return Ok(());
        }
        let Some(roles) = self.enter(way)? else {
            return Ok(());
        };
        let mut at = 0;
        each_item(raw.get(), |item| {
            let visited = self.visit_raw(item, &way.item(at, roles, &mut Vec::new()));
            at += 1;
            visited
        })
    }

    /// The roles at this place.
    fn roles(&self, way: &Way<'_>) -> RoleSet {
        let ends = way.nodes.iter().flat_map(|node| &node.ends);
        ends.fold(way.roles, |roles, rank| roles.union((self.role)(*rank)))
    }

    fn look(&self, way: &Way<'_>) -> Look {
        Look::of(self.program, self.roles(way))
    }

    /// The roles of what an array holds; `None` if none of it is looked at.
    fn enter(&self, way: &Way<'_>) -> Result<Option<RoleSet>, Unreadable> {
        if way.depth > 0 && !self.program.defaults.looks_by_role {
            return Ok(None);
        }
        let most = self.program.limits.depth;
        let roles = self.roles(way);
        let is_leaf = way.nodes.iter().all(|node| node.is_leaf());
        if is_leaf && Look::of(self.program, roles) == Look::Nothing {
            return Ok(None);
        }
        match way.depth < most {
            true => Ok(Some(roles)),
            false => Err(Unreadable::TooDeep(most)),
        }
    }

    fn push(&mut self, look: Look, string: Option<(Cow<'c, str>, bool)>) {
        let program = self.program;
        let are_enough = are_enough(program, self.found.len());
        let Some((text, is_well_formed)) = string.filter(|_| !are_enough) else {
            return;
        };
        if !look.takes(&text) {
            return;
        }
        let readings = match text {
            Cow::Borrowed(text) => path_readings(text),
            Cow::Owned(text) => {
                let readings = path_readings(&text).into_iter();
                readings.map(|one| Cow::Owned(one.into_owned())).collect()
            }
        };
        self.found.extend(readings.into_iter().map(|text| PathLike {
            argument: self.argument,
            text,
            is_well_formed,
        }));
    }
}

impl<'w> Way<'w> {
    /// The way to an item of the array here, whose pointers are kept in `nodes`.
    fn item<'i>(&self, at: usize, roles: RoleSet, nodes: &'i mut Vec<&'w PointerTree>) -> Way<'i>
    where
        'w: 'i,
    {
        for node in self.nodes {
            nodes.extend(node.every());
            nodes.extend(node.item(at));
        }
        Way {
            nodes,
            roles,
            depth: self.depth + 1,
        }
    }
}

/// Returns `true` if a text that is said to name no resource may be a path all the same: one line that begins as an absolute
/// path, one of the home directory or a relative one does, or a `file:` URI.
fn begins_as_path(text: &str) -> bool {
    if text.contains(['\n', '\r']) {
        return false;
    }
    let text = text.trim_matches(is_space);
    let starts = ["/", "~/", "./", "../"];
    starts.iter().any(|start| text.starts_with(start)) || !net::file_uri_paths(text).is_empty()
}

/// A value that stood in a text of several, if it looks like a path.
pub(super) fn collect_part(
    program: &Program,
    (argument, roles): (usize, RoleSet),
    text: &str,
    path_like: &mut Vec<PathLike<'_>>,
) {
    if !program.heuristic_paths || program.protected.is_empty() || are_enough(program, path_like.len()) {
        return;
    }
    if !Look::of(program, roles).takes(text) {
        return;
    }
    path_like.extend(path_readings(text).into_iter().map(|text| PathLike {
        argument,
        text: Cow::Owned(text.into_owned()),
        is_well_formed: true,
    }));
}

/// Each is held against every protected path. If there are more, the steps run out, and the rest need not be read.
fn are_enough(program: &Program, count: usize) -> bool {
    count > 1 && count > program.limits.steps / program.protected.cost() + 1
}

/// Every path that some program reads from a text that nobody says is one; none if it does not look like a path.
///
/// Many a tool strips white space from what it is given; others take it for part of the name. A `file:` URI stands for
/// its path, which programs find in different ways.
pub fn path_readings(text: &str) -> Vec<Cow<'_, str>> {
    let stripped = text.trim_matches(is_space);
    let mut readings: Vec<Cow<'_, str>> = [stripped, text].into_iter().map(Cow::Borrowed).collect();
    readings.dedup();
    readings.extend(net::file_uri_paths(stripped).into_iter().map(Cow::Owned));
    readings.retain(|one| looks_like_path(one));
    readings
}

/// Returns `true` if a text without a role may be a path all the same.
fn looks_like_path(text: &str) -> bool {
    let is_dots = |name: &str| name == "..";
    // Texts are long, and a `..` behind a `/` is rare.
    text.starts_with(['/', '.', '~']) || (text.contains("/..") && text.split('/').any(is_dots))
}

/// White space to any program that strips it: Unicode's, the separators of information and the byte order mark, which
/// Python and JavaScript strip, and the control characters that the URL standard strips.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || character <= ' ' || character == '\u{feff}'
}

/// The text of a string, and whether it is well-formed; `None` if it is known not to look like a path.
fn string<'c>(value: &'c Value<'c>) -> Option<(Cow<'c, str>, bool)> {
    match value {
        Value::Text(text) => may_look_like_path(text).then_some((Cow::Borrowed(text), true)),
        Value::IllFormed(rest) => Some((Cow::Borrowed(rest), false)),
        Value::Raw(raw) => raw_string(raw),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)
        | Value::Unread => None,
    }
}

/// The same of JSON text, in which an escape may stand for any character.
fn raw_string(raw: &RawValue) -> Option<(Cow<'_, str>, bool)> {
    let text = raw.get().strip_prefix('"')?;
    if !may_look_like_path(text) {
        return None;
    }
    match Value::Raw(raw).read(0).ok()?.into_owned() {
        Value::Text(text) => Some((text, true)),
        Value::IllFormed(rest) => Some((rest, false)),
        _ => None,
    }
}

/// How many bytes of a text are looked at one by one. Most texts are not longer than that; in a longer one, searching for two
/// bytes at once is faster.
const HEAD: usize = 64;

/// Returns `false` only if the text of a string, escaped as in JSON or not, has no readings as a path. Most strings are not read any
/// further.
fn may_look_like_path(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes.first() {
        None => return false,
        // White space may be of more than one byte.
        Some(b'/' | b'.' | b'~' | b'\\' | 0..=b' ' | 0x80..) => return true,
        Some(_) => {}
    }
    // `\u002e` and `\u002f` are a dot and a slash, and a lone surrogate may stand between them, such as `\ud800`.
    let may_be_dots = |at: usize| {
        let found = bytes.get(at..).unwrap_or_default();
        matches!(
            found,
            [b'/', b'.', b'.', ..] | [b'\\', b'u', b'0', b'0', b'2', ..] | [b'\\', b'u', b'd' | b'D', ..]
        )
    };
    let (head, rest) = bytes.split_at_checked(HEAD).unwrap_or((bytes, &[]));
    let mut marks = (0..head.len()).filter(|at| matches!(head.get(*at), Some(b'/' | b':' | b'\\')));
    marks.any(|at| may_be_dots(at) || net::may_be_file_scheme(bytes, at))
        || (!rest.is_empty() && memchr2_iter(b'/', b'\\', rest).any(|at| may_be_dots(HEAD + at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_read(text: &str) -> bool {
        let json = serde_json::to_string(text).unwrap();
        may_look_like_path(json.strip_prefix('"').unwrap())
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(path_readings(text), expected, "{text:?}");
        assert!(
            expected.is_empty() || (is_read(text) && may_look_like_path(text)),
            "{text:?}"
        );
    }

    #[test]
    fn white_space_hides_no_path() {
        for space in [
            " ",
            "\t",
            "\n",
            "\u{b}",
            "\u{c}",
            "\r",
            "\0",
            "\u{1c}",
            "\u{1f}",
            "\u{85}",
            "\u{a0}",
            "\u{1680}",
            "\u{2003}",
            "\u{2028}",
            "\u{202f}",
            "\u{3000}",
            "\u{feff}",
            " \u{a0}\n",
        ] {
            check(&format!("{space}/a"), &["/a"]);
            check(&format!("{space}~/a{space}"), &["~/a"]);
            check(&format!("/a{space}"), &["/a", &format!("/a{space}")]);
        }
        check("", &[]);
        check("a", &[]);
        check("a/b..", &[]);
        check("a/../b", &["a/../b"]);
        check("a\u{200b}/b", &[]);
    }

    #[test]
    fn a_file_uri_stands_for_every_path_that_programs_read_from_it() {
        for uri in [
            "file:///a/b",
            "FILE:///a/b",
            "file:/a/b",
            "file:a/b",
            "file://localhost/a/b",
            "file://host/a/b",
            " file:///a/b",
            "view-source:file:///a/b",
            "fi\nle:///a/b",
            "file:\\\\\\a\\b",
            "file:///a/b?x#y",
            "file:///%61/b",
            "file:////a/b",
            "jar:file:/a/b!/c",
            "\u{feff}file:///a/b#",
            "file:///x/../a/b",
            "file:///x/%2e%2e/a/b",
        ] {
            let readings = path_readings(uri);
            let mut collapsed = readings
                .iter()
                .map(|one| crate::path::lexical(one, "/").into_owned());
            assert!(
                collapsed.any(|one| one == "/a/b" || one == "/a/b!/c"),
                "{uri:?}: {readings:?}"
            );
            assert!(is_read(uri) && may_look_like_path(uri), "{uri:?}");
        }
        assert!(path_readings("file://~/a").contains(&Cow::Borrowed("~/a")));
        for text in [
            "profile:/a",
            "file",
            "files:/a",
            "see file:///a",
            "https://a/b",
            "file name: /a",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn a_lone_surrogate_hides_no_way_up() {
        for json in [
            r#""a/\ud800../b""#,
            r#""a/.\uDFFF./b""#,
            r#""a/..\udc00/b""#,
            r#""a\ud83d/../b""#,
        ] {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            let (text, is_well_formed) = raw_string(raw).unwrap();
            assert!(!is_well_formed);
            assert_eq!(path_readings(&text), ["a/../b"], "{json}");
        }
    }
}

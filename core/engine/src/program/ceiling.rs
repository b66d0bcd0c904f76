//! The compiled form of a capability ceiling: what it says about each tool, before any argument is known.

use std::collections::BTreeMap;

use crate::cost::{GLOB, GLOB_BYTES};
use crate::glob::Glob;
use crate::model::{ArgumentName, PointerTree, Semantics};
use crate::policy;
use crate::text::strip_directory;

/// A ceiling for one home and one current directory.
pub struct Ceiling {
    document: policy::Ceiling,
    /// Sets of directories, absolute and lexical. A path must be within a directory of each set.
    pub roots: Box<[Box<[Box<str>]>]>,
    /// In the order of the document.
    pub constraints: Box<[ArgumentConstraint]>,
}

/// The patterns of which one argument must match one.
pub struct ArgumentConstraint {
    pub patterns: Box<[Pattern]>,
    /// The directory that relative patterns start from, absolute and lexical; `None`: the sandbox's first.
    pub workspace: Option<Box<str>>,
    /// The patterns as a reason shows them.
    pub shown: Box<str>,
}

/// A pattern, and the directory that it is relative to.
pub struct Pattern {
    /// The pattern as written.
    pub text: Glob,
    /// The rest of it, below that directory.
    pub below: Glob,
    pub place: PatternPlace,
}

/// The directory that a pattern for paths is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternPlace {
    /// The root.
    Root,
    /// The home directory.
    Home,
    /// The workspace.
    Workspace,
}

impl ArgumentConstraint {
    fn new(constraint: &policy::ToolArgConstraint, workspace: Option<Box<str>>) -> Self {
        let shown: Vec<String> = constraint
            .arg_patterns
            .iter()
            .map(|pattern| format!("\"{}\"", pattern.as_str()))
            .collect();
        Self {
            patterns: constraint.arg_patterns.iter().map(Pattern::new).collect(),
            workspace,
            shown: match shown.as_slice() {
                [] => "patterns, of which there are none".into(),
                [one] => format!("pattern {one}").into(),
                _ => format!("patterns {}", shown.join(", ")).into(),
            },
        }
    }
}

impl Pattern {
    fn new(text: &Glob) -> Self {
        let (place, below) = if text.as_str().starts_with('/') {
            (PatternPlace::Root, text.clone())
        } else if let Some(below) = text.strip_prefix("~/") {
            (PatternPlace::Home, below)
        } else if text.as_str() == "~" {
            (
                PatternPlace::Home,
                text.strip_prefix("~").unwrap_or_else(|| text.clone()),
            )
        } else {
            let below = text.strip_prefix("./").unwrap_or_else(|| text.clone());
            (PatternPlace::Workspace, below)
        };
        Self {
            text: text.clone(),
            below,
            place,
        }
    }

    /// How many steps it takes to hold the pattern against texts of this length together. At worst a matcher goes back to a
    /// star for each byte.
    pub fn cost(&self, bytes: usize) -> usize {
        GLOB + self.text.as_str().len().saturating_mul(bytes) / GLOB_BYTES
    }

    /// Returns `true` if the pattern matches an absolute path without `.` and `..`.
    ///
    /// The workspace and the home directory are each given as written and as they appear in the path, where they may be
    /// canonical. A pattern that leads through one of them matches below it, whatever links lead to it.
    pub fn holds(&self, path: &str, places: [Option<(&str, &str)>; 2]) -> bool {
        let [workspace, home] = places;
        match self.place {
            PatternPlace::Root => {
                let mut through = places.into_iter().flatten();
                self.text.matches(path)
                    || through.any(|(written, meant)| {
                        strip_directory(path, meant).is_some_and(|rest| self.holds_below(written, rest))
                    })
            }
            PatternPlace::Home => home.is_some_and(|(_, meant)| self.holds_within(meant, path)),
            PatternPlace::Workspace => workspace.is_some_and(|(_, meant)| self.holds_within(meant, path)),
        }
    }

    fn holds_within(&self, directory: &str, path: &str) -> bool {
        // Only `**` matches the directory itself: a `*` is a name.
        strip_directory(path, directory)
            .is_some_and(|rest| (!rest.is_empty() || self.below.as_str() == "**") && self.below.matches(rest))
    }

    fn holds_below(&self, written: &str, rest: &str) -> bool {
        if rest.is_empty() {
            return self.text.as_str() == written;
        }
        let prefix = format!("{}/", written.trim_end_matches('/'));
        self.text.matches_after(&prefix, rest) == Some(true)
    }
}

/// The ceiling as it concerns one tool.
#[derive(Default)]
pub struct ToolCeiling {
    /// Why all calls of the tool are refused.
    pub refusal: Option<Box<str>>,
    /// The constraints on it: their indices in [`Ceiling::constraints`], and what they look at.
    pub constraints: Box<[(usize, Constrained)]>,
    /// The places in `constraints` of those that look at the same.
    pub groups: Box<[Vec<usize>]>,
    /// The places in the arguments that constraints look at.
    pub places: PointerTree,
}

/// The values in the calls of one tool that a constraint looks at.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub enum Constrained {
    /// The argument that it names, whatever its value.
    Argument(ArgumentName),
    /// The first of the tool's `path_params` that holds a string.
    PathParams(Box<[ArgumentName]>),
}

impl Constrained {
    /// The arguments, in the order in which they are looked at.
    pub fn names(&self) -> &[ArgumentName] {
        match self {
            Self::Argument(name) => std::slice::from_ref(name),
            Self::PathParams(names) => names,
        }
    }
}

impl ToolCeiling {
    /// Every argument that a constraint looks at.
    pub fn names(&self) -> impl Iterator<Item = &ArgumentName> {
        self.constraints
            .iter()
            .flat_map(|(_, looked_at)| looked_at.names())
    }
}

impl Ceiling {
    /// `absolute` makes a directory absolute and lexical; `is_sandbox` says that the roots are the sandbox.
    pub(super) fn new(
        document: policy::Ceiling,
        is_sandbox: bool,
        absolute: impl Fn(&str) -> Box<str>,
    ) -> Self {
        let set = |roots: &[Box<str>]| roots.iter().map(|root| absolute(root)).collect();
        let constraints = document.tool_arg_constraints.iter();
        Self {
            roots: document.root_sets().map(set).collect(),
            constraints: constraints
                .map(|one| {
                    let root = one.workspace_root.as_deref().filter(|_| is_sandbox);
                    ArgumentConstraint::new(one, root.map(&absolute))
                })
                .collect(),
            document,
        }
    }

    /// The sets of directories of the ceilings that this one was narrowed from.
    pub fn outer_roots(&self) -> &[Box<[Box<str>]>] {
        let own = usize::from(!self.document.workspace_roots.is_empty());
        self.roots.get(own..).unwrap_or_default()
    }

    /// The ceiling as it was read.
    pub fn document(&self) -> &policy::Ceiling {
        &self.document
    }

    /// Why the tool may not be called, whatever the arguments.
    pub fn refusal(&self, server: &str, tool: &str, semantics: &Semantics) -> Option<String> {
        let level = semantics.side_effect_level;
        self.document
            .refusal(server, tool, level, &semantics.capabilities)
    }

    pub(super) fn of_tool(&self, server: &str, tool: &str, semantics: &Semantics) -> ToolCeiling {
        let schema = &semantics.arg_schema;
        let constraints = self.document.tool_arg_constraints.iter().enumerate();
        let constraints = constraints
            .filter(|(_, constraint)| constraint.concerns(server, tool))
            .filter_map(|(at, constraint)| {
                let looked_at = match &constraint.arg_key {
                    // An alias is renamed before anything is judged.
                    Some(key) => Constrained::Argument(ArgumentName::parse(schema.key_of(key)).ok()?),
                    None => Constrained::PathParams(schema.path_names().into()),
                };
                Some((at, looked_at))
            });
        let constraints: Box<[(usize, Constrained)]> = constraints.collect();
        let mut groups: BTreeMap<&Constrained, Vec<usize>> = BTreeMap::new();
        for (place, (_, looked_at)) in constraints.iter().enumerate() {
            groups.entry(looked_at).or_default().push(place);
        }
        let places = PointerTree::of_names(groups.keys().flat_map(|looked_at| looked_at.names()));
        let groups = groups.into_values().collect();
        ToolCeiling {
            refusal: self.refusal(server, tool, semantics).map(Box::from),
            constraints,
            groups,
            places,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn a_pattern_holds_below_the_directory_that_it_is_relative_to() {
        // The workspace `/box` is a link to `/mnt/box`, the home directory is where it is written.
        for (pattern, path, expected) in [
            ("src/*", "/mnt/box/src/a", true),
            ("./src/*", "/mnt/box/src/a", true),
            ("src/*", "/box/src/a", false),
            ("src/*", "/mnt/box2/src/a", false),
            ("src/*", "/mnt/box/src/a/b", false),
            ("**/*.md", "/mnt/box/a.md", true),
            ("**/*.md", "/etc/a.md", false),
            ("**", "/mnt/box", true),
            ("**", "/mnt", false),
            ("/box/src/*", "/mnt/box/src/a", true),
            ("/mnt/box/src/*", "/mnt/box/src/a", true),
            ("/box", "/mnt/box", true),
            ("/box/*", "/mnt/box", false),
            ("/etc/*", "/etc/passwd", true),
            ("/**", "/etc/passwd", true),
            ("~/x/*", "/home/u/x/a", true),
            ("*", "/mnt/box", false),
            ("~/**", "/home/u", true),
            ("~/*", "/home/v", false),
            ("/home/u/*", "/home/u/a", true),
            ("./!a", "/mnt/box/b", false),
            ("/box/!a", "/mnt/box/b", false),
        ] {
            let pattern = Pattern::new(&Glob::parse(pattern, &Limits::default()).unwrap());
            let places = [Some(("/box", "/mnt/box")), Some(("/home/u", "/home/u"))];
            let found = pattern.holds(path, places);
            assert_eq!(found, expected, "{} {path}", pattern.text.as_str());
        }
        let root = Pattern::new(&Glob::parse("a/*", &Limits::default()).unwrap());
        assert!(root.holds("/a/b", [Some(("/", "/")), None]));
        assert!(!root.holds("/a/b", [None, Some(("/", "/"))]));
    }
}

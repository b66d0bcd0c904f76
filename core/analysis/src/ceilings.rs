//! The patterns of a capability ceiling for a tool, and the directories that they begin in.

use crate::imagined::Imagined;
use callgate_engine::program::{ArgumentConstraint, Pattern, PatternPlace, Program, Tool};

/// Characters that have a meaning in a pattern.
const SPECIAL: &[char] = &['*', '?', '[', '{', '\\'];

/// The directories that the ceiling's patterns for the tool begin in: what stands before the first name with a special
/// character.
pub(super) fn directories(imagined: &Imagined<'_>, tool: &Tool) -> Vec<String> {
    let program = imagined.program();
    let constraints = constraints(program, tool).into_iter();
    let patterns = constraints.flat_map(|(_, constraint)| {
        let each = constraint.patterns.iter();
        each.map(move |pattern| beginning(program, constraint, pattern).0)
    });
    patterns
        .flat_map(|directory| imagined.forms(&directory).into_all())
        .collect()
}

/// The constraints on the tool, each with its place in the tool's list.
pub(super) fn constraints<'p>(program: &'p Program, tool: &Tool) -> Vec<(usize, &'p ArgumentConstraint)> {
    let Some(ceiling) = &program.ceiling else {
        return Vec::new();
    };
    let own = tool.ceiling.constraints.iter().enumerate();
    own.filter_map(|(nth, (at, _))| Some((nth, ceiling.constraints.get(*at)?)))
        .collect()
}

/// The directory that the pattern begins in, and the rest of it.
pub(super) fn beginning(
    program: &Program,
    constraint: &ArgumentConstraint,
    pattern: &Pattern,
) -> (String, String) {
    let (anchor, below) = match pattern.place {
        PatternPlace::Root => ("/", pattern.text.as_str().trim_start_matches('/')),
        PatternPlace::Home => (&*program.home, pattern.below.as_str()),
        PatternPlace::Workspace => (workspace(program, constraint), pattern.below.as_str()),
    };
    let mut directory = anchor.trim_end_matches('/').to_owned();
    let mut rest = below;
    while !rest.is_empty() {
        let (name, after) = rest.split_once('/').unwrap_or((rest, ""));
        if name.contains(SPECIAL) {
            break;
        }
        directory.push('/');
        directory.push_str(name);
        rest = after;
    }
    if directory.is_empty() {
        directory.push('/');
    }
    (directory, rest.to_owned())
}

pub(super) fn workspace<'p>(program: &'p Program, constraint: &'p ArgumentConstraint) -> &'p str {
    let sandbox = program
        .sandbox
        .first()
        .map_or(&*program.current, |first| &**first);
    constraint.workspace.as_deref().unwrap_or(sandbox)
}

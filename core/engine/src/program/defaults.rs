//! `options.compatibility`, taken apart: what the careful defaults do that the existing runtime does not.

use crate::config::Compatibility;

/// What holds under the careful defaults; under those of the existing runtime nothing of it does (SPEC §12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// Names of arguments are refused that readers of JSON take for one another, and values come in the annotation's order.
    pub reads_names: bool,
    /// Arguments are read as servers read them: by their schemas, with null for an absent one, and a URI for what it names.
    pub reads_values: bool,
    /// Which texts look like paths is told by their roles, in arrays of any depth.
    pub looks_by_role: bool,
    /// A branch is every ref that git would take it for.
    pub reads_refs: bool,
    /// The remotes of a call are those of every repository that it names.
    pub asks_all_repositories: bool,
    /// A value is refused that programs read in different ways, and that its server could not be sent as it was judged.
    pub wants_one_reading: bool,
    /// What a call changes below the places that it names is judged.
    pub judges_below: bool,
    /// Only a URL that every program reads alike is granted, and further URLs in its query are judged.
    pub grants_clear_urls: bool,
    /// Rules hear what the sandbox grants, and the sandbox alone allows no call of a tool that acts.
    pub hears_granted: bool,
    /// An approval compares every argument that tells what the call does.
    pub approves_arguments: bool,
    /// Reasons name the argument and the value that they are about.
    pub names_arguments: bool,
    /// A directory grants only where it lay when the engine was built, or lies as it is written.
    pub grants_known_directories: bool,
    /// An escalation by a domain allowlist leaves the rules their say.
    pub allowlist_asks: bool,
}

impl Defaults {
    pub(super) fn of(compatibility: Compatibility) -> Self {
        let is_careful = compatibility == Compatibility::Careful;
        Self {
            reads_names: is_careful,
            reads_values: is_careful,
            looks_by_role: is_careful,
            reads_refs: is_careful,
            asks_all_repositories: is_careful,
            wants_one_reading: is_careful,
            judges_below: is_careful,
            grants_clear_urls: is_careful,
            hears_granted: is_careful,
            approves_arguments: is_careful,
            names_arguments: is_careful,
            grants_known_directories: is_careful,
            allowlist_asks: is_careful,
        }
    }
}

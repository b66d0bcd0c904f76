//! The reference pages, as text.
//!
//! They are Markdown, the same in this documentation, in `callgate help TOPIC` and in the npm package (`docs/`).
//!
//! ```
//! let page = callgate_core::docs::page("roles").unwrap();
//! assert!(page.text.starts_with("# Roles"));
//! ```

/// A reference page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The topic, for example `policy`.
    pub topic: &'static str,
    /// The subject of the page, in a few words.
    pub summary: &'static str,
    /// The page itself, in Markdown.
    pub text: &'static str,
}

/// The page about a topic.
pub fn page(topic: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.topic == topic)
}

macro_rules! pages {
    ($($module:ident = $topic:literal, $file:literal, $summary:literal;)+) => {
        /// Every page, in the order in which to read them.
        pub const PAGES: &[Page] = &[$(Page {
            topic: $topic,
            summary: $summary,
            text: include_str!($file),
        },)+];

        $(#[doc = include_str!($file)]
        pub mod $module {})+
    };
}

pages! {
    overview = "overview", "../docs/overview.md", "how a verdict comes about, what is promised, what it costs";
    policy = "policy", "../docs/policy.md", "rules, their conditions, and how they are tried";
    annotations = "annotations", "../docs/annotations.md", "what the arguments of each tool mean";
    roles = "roles", "../docs/roles.md", "the roles an argument can have, and roles of your own";
    lists = "lists", "../docs/lists.md", "names that several rules share, kept in a document of their own";
    programs = "programs", "../docs/programs.md", "programs of your own that shell commands run";
    protected_paths = "protected-paths", "../docs/protected-paths.md", "paths that no call may touch, and patterns of them";
    options = "options", "../docs/options.md", "what else can be chosen, and every limit";
    structural_rules = "structural-rules", "../docs/structural-rules.md", "what the engine decides before any rule, and what to do about it";
    worlds = "worlds", "../docs/worlds.md", "places with addresses, and ceilings";
    invariants = "invariants", "../docs/invariants.md", "statements about all calls, which `callgate check` proves or refutes";
    scenarios = "scenarios", "../docs/scenarios.md", "calls with what is expected of them, which `callgate test` runs";
    lint = "lint", "../docs/lint.md", "what validate and lint say, code by code, and what would allow a call";
    recipes = "recipes", "../docs/recipes.md", "whole bundles for usual cases";
    specification = "specification", "../docs/specification.md", "what the engine decides, exactly: the contract";
}

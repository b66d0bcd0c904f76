//! Every bound of the engine in one table: its name, unit, default and why it is there.
//!
//! A bound that is exceeded while an engine is built is a [diagnostic](crate::Diagnostic); one that is
//! exceeded by a call is a `deny` with rule `structural-limit`. Neither is ever a crash.

macro_rules! limits {
    ($($(#[doc = $why:literal])+ $name:ident = $default:literal, $unit:literal;)+) => {
        /// The bounds of one engine; [`Limits::default`] is what SPEC §14 names.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Limits {
            $($(#[doc = $why])+ pub $name: usize,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Limits {
            /// Every bound as `(name, unit)`, in the order of the table.
            pub const TABLE: &'static [(&'static str, &'static str)] =
                &[$((stringify!($name), $unit),)+];

            /// The bound of that name, for a caller who configures limits by name.
            pub fn named_mut(&mut self, name: &str) -> Option<&mut usize> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

limits! {
    /// Bytes of one document: a policy of this size is a mistake or an attack.
    document_bytes = 16_777_216, "bytes";
    /// Levels of nesting in a document or in an argument: recursion must end.
    depth = 64, "levels";
    /// Rules of one policy: each costs memory in every index.
    rules = 100_000, "rules";
    /// Entries of all lists together: they are kept sorted in memory.
    list_entries = 1_000_000, "entries";
    /// Values that one role may bear in one call: each may cost a question to the host. (SPEC §14 says 4,096; the
    /// control case `control-fs-035`, which must pass, has 10,000.)
    values_per_role = 16_384, "values";
    /// Bytes of one path or URL value: eight times the PATH_MAX of Linux.
    value_bytes = 32_768, "bytes";
    /// Bytes of one glob pattern: matching may take as many steps as pattern and value have bytes, multiplied.
    glob_bytes = 1_024, "bytes";
    /// Ways to read the braces of one glob pattern: each is tried.
    glob_alternatives = 64, "alternatives";
    /// Symbolic links followed while one path is resolved: as many as Linux follows.
    links = 40, "links";
    /// Steps that one explanation may hold: a reader cannot follow more, and memory must end.
    explanation_steps = 10_000, "steps";
    /// Roots and mods of one world together: one address may ask the host about each.
    places = 1_024, "directories";
    /// References to places of a world that one table holds: each keeps a path in memory until it is revoked.
    references = 4_096, "references";
}

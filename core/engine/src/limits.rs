//! Every bound of the engine in one table: its name, unit, default and reason.
//!
//! Exceeding a bound while an engine is built is a [diagnostic](crate::diagnostic::Diagnostic); a call that exceeds one is denied
//! by the rule `structural-limit`. Neither ever crashes.

macro_rules! limits {
    ($($(#[doc = $why:literal])+ $name:ident = $default:literal, $unit:literal;)+) => {
        /// The bounds of one engine; [`Limits::default`] follows SPEC §14.
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

            /// The bound with this name.
            pub fn named_mut(&mut self, name: &str) -> Option<&mut usize> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

/// The message about a count above a limit.
pub fn exceeded(found: usize, what: &str, name: &str, most: usize) -> String {
    format!("`{found}` {what}, expected at most {most} (limit `{name}`)")
}

limits! {
    /// Bytes of one document: a policy of this size is a mistake or an attack.
    document_bytes = 16_777_216, "bytes";
    /// Levels of nesting in a document or an argument: recursion must be bounded.
    depth = 64, "levels";
    /// Rules of one policy: each costs memory in every index.
    rules = 100_000, "rules";
    /// Entries of all lists together: they are kept in memory, sorted.
    list_entries = 1_000_000, "entries";
    /// Programs that a document adds to those that are known: each is a tool of its own.
    programs = 4_096, "programs";
    /// Values of one role in one call: each may cost a question to the host. (SPEC §14 says 4,096; the control case
    /// `control-fs-035`, which must pass, has 10,000.)
    values_per_role = 16_384, "values";
    /// Bytes of one path or URL value: eight times Linux's PATH_MAX.
    value_bytes = 32_768, "bytes";
    /// Bytes of a string that is looked up as a path although no role says that it is one: Linux's PATH_MAX. A longer
    /// one is compared by its lexical form, and is not a path where that is longer too.
    path_like_bytes = 4_096, "bytes";
    /// Bytes of one glob pattern: matching may take as many steps as the product of the lengths of pattern and value.
    glob_bytes = 1_024, "bytes";
    /// Ways to read the braces of one glob pattern: all of them are tried.
    glob_alternatives = 64, "alternatives";
    /// Symbolic links followed while resolving one path: Linux's limit.
    links = 40, "links";
    /// Steps of one verdict: at most 50 ms of work natively. The comparison of two paths is one, a look-up in a list two,
    /// a question to the host thirty-two, and each value of a call beyond as many as one role may have ninety-six. They are counted,
    /// not timed, so every host ends at the same one.
    steps = 2_000_000, "steps";
    /// Bytes of a host name, in its canonical form (RFC 1035, section 2.3.4). A longer one cannot be looked up.
    host_bytes = 253, "bytes";
    /// Steps of one explanation: nobody reads more, and memory must be bounded.
    explanation_steps = 10_000, "steps";
    /// Approvals in one list: each of a tool may be compared with an escalated call of it.
    approvals = 4_096, "approvals";
    /// Constraints of one approval, and rules that it names: more than a person reads before approving.
    approval_constraints = 64, "constraints";
    /// Roots and mods of one world together: one address may cost a question to the host for each.
    places = 1_024, "directories";
    /// Valid references in one table: each keeps a path in memory until it is revoked.
    references = 4_096, "references";
}

//! One value of a call with its canonical form, as judging looks at it.

use std::sync::Arc;

use url::Url;

use crate::bind::{BoundValue, Origin, PointerToken};
use crate::path::{CanonicalPath, Pathspec, Unresolvable};
use crate::program::Program;
use crate::role::RoleId;
use crate::world::{Located, Reply};

/// One bound value with its canonical form.
pub struct Operand<'p, 'c> {
    pub bound: BoundValue<'p, 'c>,
    pub form: Form,
    /// The URL that the text of a role of URLs is.
    pub(super) url: Option<Url>,
}

/// The thing that a value names.
pub enum Form {
    /// A path.
    Path {
        canonical: CanonicalPath,
        /// Further forms of the path.
        rest: PathRest,
    },
    /// An address of the world: its place, or the reply that refuses it.
    Address(Result<Located, Box<Reply>>),
    /// Any other text: a URL, an identifier or opaque data.
    Text,
    /// Nothing that every program would agree on.
    Unresolvable(Unresolvable),
    /// Something that is not in the call, and that nobody could tell: it meets every restriction and no grant.
    Unknown,
}

/// The forms that a few paths have beside their canonical one.
#[derive(Default)]
pub struct PathRest {
    /// The value on the host's side, where it came from the container's directory.
    pub(super) moved: Option<String>,
    /// Where the link itself is, when the path is one and the call removes it.
    pub(super) entry: Option<CanonicalPath>,
    /// The paths that programs may take the value for beside the canonical one, where they read it as a pattern or a URI.
    pub(super) readings: Vec<CanonicalPath>,
    /// The pattern of git that ranges over the canonical path.
    pub(super) pattern: Option<Pathspec>,
    /// The path of the argument that it is relative to.
    pub(super) base: Option<Arc<str>>,
    /// Other paths that lead there, which patterns of protected paths are held against: the lexical form, and where the
    /// link is. None without such patterns.
    pub(super) written: Vec<String>,
}

impl<'p, 'c> Operand<'p, 'c> {
    pub fn new(bound: BoundValue<'p, 'c>, form: Form) -> Self {
        Self {
            bound,
            form,
            url: None,
        }
    }

    /// The text that is judged, which is the one that was given unless that is a URI; empty where it is not well-formed.
    pub(super) fn given(&self) -> &str {
        self.bound.text.as_deref().unwrap_or_default()
    }

    /// The text that holds it among other values: the argument, and the place in it.
    pub(super) fn text_of_parts(&self) -> Option<(Origin, &[PointerToken])> {
        self.bound.part?;
        let (_, place) = self.bound.place.split_last()?;
        Some((self.bound.origin(), place))
    }

    /// The canonical path.
    pub fn path(&self) -> Option<&CanonicalPath> {
        match &self.form {
            Form::Path { canonical, .. } => Some(canonical),
            Form::Address(_) | Form::Text | Form::Unresolvable(_) | Form::Unknown => None,
        }
    }

    /// The canonical path, where the link itself is, and every other path that the value may stand for.
    pub fn paths(&self) -> impl Iterator<Item = &CanonicalPath> {
        let readings = self.path_rest().into_iter().flat_map(|rest| &rest.readings);
        self.path().into_iter().chain(self.entry()).chain(readings)
    }

    /// The canonical path, and every other one that the value may stand for.
    pub(super) fn read_paths(&self) -> impl Iterator<Item = &CanonicalPath> {
        let readings = self.path_rest().into_iter().flat_map(|rest| &rest.readings);
        self.path().into_iter().chain(readings)
    }

    /// Where the link itself is, when the path is one and the call removes it.
    pub(super) fn entry(&self) -> Option<&CanonicalPath> {
        self.path_rest().and_then(|rest| rest.entry.as_ref())
    }

    /// Returns `true` if the argument takes paths and URLs, and the value is an absolute path, which no program takes for a URL.
    pub(super) fn is_path_for(&self, role: RoleId) -> bool {
        let is_absolute = match self.given().as_bytes() {
            [b'/'] | [b'~', b'/', ..] => true,
            [b'/', next, ..] => !matches!(next, b'/' | b'\\'),
            _ => false,
        };
        role == RoleId::FETCH_URL && is_absolute && self.path().is_some()
    }

    /// The forms of a path beside its canonical one.
    pub(super) fn path_rest(&self) -> Option<&PathRest> {
        match &self.form {
            Form::Path { rest, .. } => Some(rest),
            Form::Address(_) | Form::Text | Form::Unresolvable(_) | Form::Unknown => None,
        }
    }

    /// Returns `true` if the call only reads what the value names.
    pub(super) fn is_read(&self, program: &Program) -> bool {
        let places = program.path_roles.union(program.address_roles);
        let mut roles = self
            .bound
            .roles
            .iter()
            .filter(|role| places.contains(**role))
            .peekable();
        roles.peek().is_some() && roles.all(|role| *role == RoleId::READ_PATH)
    }

    /// The pattern of git that ranges over the canonical path, if the value is one.
    pub(super) fn pattern(&self) -> Option<&Pathspec> {
        self.path_rest().and_then(|rest| rest.pattern.as_ref())
    }

    /// Other paths that lead to the canonical one, where patterns of protected paths are to be held against them.
    pub fn written(&self) -> &[String] {
        self.path_rest().map_or(&[], |rest| &rest.written)
    }

    /// The place that an address names.
    pub fn located(&self) -> Option<&Located> {
        match &self.form {
            Form::Address(resolution) => resolution.as_ref().ok(),
            Form::Path { .. } | Form::Text | Form::Unresolvable(_) | Form::Unknown => None,
        }
    }
}
